use std::collections::BTreeSet;

use linklet_test_support::Template;
use serde_json::Value;

use super::{alarms, functions_of_api, metrics, of_conditions, services};

/// What stands in the dashboard's text for the stack's name, which is the namespace of our metrics.
const NAMESPACE: &str = "${StackName}";

/// The dashboard's text, with its own variables put in.
fn body(template: &Template) -> String {
    let body = &template.properties("Dashboard")["DashboardBody"];
    let mut text = body[0].as_str().unwrap().to_owned();
    for (name, value) in body[1].as_object().unwrap() {
        let value = match (value[0].as_str(), &value[1]) {
            (None, _) => value.as_str().unwrap().to_owned(),
            (Some(between), Value::Array(listed)) => joined(between, listed.iter().filter_map(Value::as_str)),
            // With a canary
            (Some("HasCanary"), _) => value[1].as_str().unwrap().to_owned(),
            (Some(between), of_api) => {
                assert_eq!(of_api, "FunctionsOfApi");
                joined(between, functions_of_api(template))
            }
        };
        text = text.replace(&format!("${{{name}}}"), &value);
    }
    text
}

/// What `Fn::Join` makes of the names of resources.
fn joined<'n>(between: &str, names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("${{{name}}}")).collect::<Vec<_>>().join(between)
}

fn widgets(template: &Template) -> Vec<Value> {
    let body: Value = serde_json::from_str(&body(template)).unwrap();
    body["widgets"].as_array().unwrap().clone()
}

/// Every line of every chart: namespace, metric, dimensions, or an expression. A dot stands for what is above it.
fn lines(template: &Template) -> Vec<Vec<Value>> {
    let of = |widget: &Value| widget["properties"]["metrics"].as_array().cloned().unwrap_or_default();
    let mut lines = Vec::<Vec<Value>>::new();
    for line in widgets(template).iter().flat_map(of) {
        let mut line = line.as_array().unwrap().clone();
        for (place, value) in line.iter_mut().enumerate().filter(|(_, value)| *value == ".") {
            *value = lines.last().unwrap()[place].clone();
        }
        lines.push(line);
    }
    lines
}

/// The name of our metric that a line shows, and of the service unless it shows all.
fn ours(line: &[Value]) -> Option<(String, Option<String>)> {
    if let Some(search) = line[0]["expression"].as_str() {
        let name = search.split("MetricName=\"").nth(1)?.split('"').next()?;
        return search.contains(NAMESPACE).then(|| (name.to_owned(), None));
    }
    let texts: Vec<_> = line.iter().filter_map(Value::as_str).collect();
    let [NAMESPACE, name, "service", service] = texts[..] else { return None };
    Some((name.to_owned(), Some(service.to_owned())))
}

/// `Links` of `${LinksTable}` and `${LinksTable.Arn}`.
fn resources(text: &str) -> BTreeSet<String> {
    let named = |part: &str| part.split(['}', '.']).next().unwrap_or_default().to_owned();
    text.split("${").skip(1).map(named).collect()
}

#[test]
fn the_dashboard_shows_our_metrics_and_no_others() {
    let template = Template::load();
    let services = services(template);
    let shown: Vec<_> = lines(template).iter().filter_map(|line| ours(line)).collect();

    let names: BTreeSet<_> = shown.iter().map(|(name, _)| name.clone()).collect();

    assert_eq!(names, metrics());
    for (name, service) in &shown {
        assert!(service.as_ref().is_none_or(|service| services.contains(service)), "{name} of {service:?}");
    }
}

#[test]
fn every_function_table_queue_and_alarm_is_on_the_dashboard() {
    let template = Template::load();
    let shown = resources(&body(template));

    let kinds = ["AWS::Serverless::Function", "AWS::DynamoDB::Table", "AWS::SQS::Queue"];
    let watched = kinds.into_iter().flat_map(|kind| template.of_type(kind));
    let alarms = alarms(template, "full").into_iter().chain(of_conditions(
        template,
        "AWS::CloudWatch::Alarm",
        &[Some("HasCanary")],
    ));
    for (id, _) in watched.chain(alarms) {
        assert!(shown.contains(id), "{id}");
    }
}

#[test]
fn the_dashboard_shows_requests_and_durations_of_every_api_function() {
    let template = Template::load();
    let behind_api: BTreeSet<_> = functions_of_api(template).map(|id| format!("${{{id}}}")).collect();
    let lines = lines(template);

    for metric in ["Invocations", "Duration"] {
        let of_metric = lines.iter().filter(|line| line.get(1).is_some_and(|name| name == metric));
        let shown: BTreeSet<_> = of_metric.filter_map(|line| line.get(3)?.as_str().map(str::to_owned)).collect();
        assert!(shown.is_superset(&behind_api), "{metric}: {:?}", behind_api.difference(&shown));
    }
}

#[test]
fn no_widget_covers_another() {
    let mut taken = BTreeSet::new();

    for widget in widgets(Template::load()) {
        let number = |name: &str| widget[name].as_u64().unwrap();
        assert!(number("x") + number("width") <= 24, "{widget}");
        for x in number("x")..number("x") + number("width") {
            for y in number("y")..number("y") + number("height") {
                assert!(taken.insert((x, y)), "{widget}");
            }
        }
    }
}
