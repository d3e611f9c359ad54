use std::collections::BTreeSet;

use linklet_test_support::Template;
use serde_json::Value;

use super::{alarms, metrics, services};

/// What stands in the dashboard's text for the stack's name, which is the namespace of our metrics.
const NAMESPACE: &str = "${StackName}";

fn widgets(template: &Template) -> Vec<Value> {
    let text = template.properties("Dashboard")["DashboardBody"].as_str().unwrap();
    let body: Value = serde_json::from_str(text).unwrap();
    body["widgets"].as_array().unwrap().clone()
}

/// Every line of every chart: namespace, metric, dimensions, or an expression.
fn lines(template: &Template) -> Vec<Vec<Value>> {
    let of = |widget: &Value| widget["properties"]["metrics"].as_array().cloned().unwrap_or_default();
    widgets(template).iter().flat_map(of).map(|line| line.as_array().unwrap().clone()).collect()
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
    let shown = resources(template.properties("Dashboard")["DashboardBody"].as_str().unwrap());

    let kinds = ["AWS::Serverless::Function", "AWS::DynamoDB::Table", "AWS::SQS::Queue"];
    let watched = kinds.into_iter().flat_map(|kind| template.of_type(kind));
    for (id, _) in watched.chain(alarms(template, "full")) {
        assert!(shown.contains(id), "{id}");
    }
}

#[test]
fn requests_and_durations_of_every_function_behind_the_api_are_on_the_dashboard() {
    let template = Template::load();
    let routes = template.routes();
    let behind_api: BTreeSet<&str> = routes.iter().map(|route| route.function.as_str()).collect();
    let lines = lines(template);

    for metric in ["Invocations", "Duration"] {
        let of_metric = lines.iter().filter(|line| line.get(1).is_some_and(|name| name == metric));
        let shown: BTreeSet<_> = of_metric.filter_map(|line| line.last()?["label"].as_str()).collect();
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
