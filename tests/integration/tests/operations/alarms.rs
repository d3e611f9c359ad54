use std::{collections::BTreeSet, fs, path::Path};

use linklet_test_support::{Contract, Template};
use serde_json::{Value, json};

use super::{alarms, billed_metrics, documents::anchor, folder, functions_of_api, metrics, services};

/// What an alarm looks at.
struct Metric {
    namespace: String,
    name: String,
    dimensions: Vec<(String, String)>,
}

impl Metric {
    /// From an alarm's properties, or from an entry of its `Metrics`.
    fn of(properties: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let dimensions = properties["Dimensions"].as_array().cloned().unwrap_or_default();
        Self {
            namespace: text(&properties["Namespace"]),
            name: text(&properties["MetricName"]),
            // One that is put together is no text here.
            dimensions: dimensions
                .iter()
                .map(|each| (text(&each["Name"]), each["Value"].as_str().unwrap_or_default().to_owned()))
                .collect(),
        }
    }

    fn is(&self, namespace: &str, name: &str, dimension: (&str, &str)) -> bool {
        let is_dimension = |(name, value): &(String, String)| (name.as_str(), value.as_str()) == dimension;
        self.namespace == namespace && self.name == name && self.dimensions.iter().any(is_dimension)
    }
}

fn metrics_of(alarm: &Value) -> Vec<Metric> {
    let Some(queries) = alarm["Metrics"].as_array() else { return vec![Metric::of(alarm)] };
    queries.iter().filter_map(|query| query.pointer("/MetricStat/Metric")).map(Metric::of).collect()
}

/// What the alarms look at with a value of the parameter `Monitoring`.
fn watched_metrics(template: &Template, monitoring: &str) -> Vec<Metric> {
    alarms(template, monitoring).into_iter().flat_map(|(_, alarm)| metrics_of(alarm)).collect()
}

fn headings(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    text.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

#[test]
fn every_alarm_tells_one_topic_when_it_starts_and_when_it_is_over() {
    for (id, alarm) in Template::load().of_type("AWS::CloudWatch::Alarm") {
        let actions = &alarm["AlarmActions"];
        assert!([json!(["AlarmTopic"]), json!(["TicketTopic"])].contains(actions), "{id}: {actions}");
        assert_eq!(alarm["OKActions"], *actions, "{id}");
    }
}

#[test]
fn without_monitoring_there_are_no_alarms() {
    let template = Template::load();
    let conditions = template.conditions();

    assert_eq!(conditions["IsMonitored"], json!([["Monitoring", "none"]]), "unless it is none");
    assert_eq!(conditions["IsFullyMonitored"], json!(["Monitoring", "full"]));
    assert_eq!(conditions["IsEssential"], json!(["Monitoring", "essential"]));
    assert_eq!(conditions["IsFull"], json!(["Monitoring", "full"]));
    assert_eq!(conditions["HasAlarms"], json!(["IsMonitored", "IsGradual"]));
    assert_eq!(template.condition("Observability"), Some("IsMonitored"));
    assert_eq!(template.condition("Dashboard"), Some("IsFull"));
    for topic in ["AlarmTopic", "TicketTopic"] {
        assert_eq!(template.condition(topic), Some("HasAlarms"));
    }
    assert_eq!(conditions["MailsAlarms"][0], "HasAlarms");
    assert_eq!(conditions["MailsTickets"], json!(["HasAlarms", ["HasTicketEmail", "MailsAlarms"]]));
    assert_eq!(conditions["HasAlarmsOnAws"], json!(["HasAlarms", "IsOnAws"]));
}

#[test]
fn essential_alarms_look_at_thirteen_metrics_that_always_exist() {
    let template = Template::load();
    let essential = alarms(template, "essential");

    let billed: usize = essential.iter().map(|(_, alarm)| billed_metrics(alarm)).sum();

    assert!((1..=13).contains(&billed), "{billed} metrics");
    let filtered = filtered_metrics(template);
    for (id, alarm) in essential {
        for metric in metrics_of(alarm) {
            let is_of_aws = metric.namespace.starts_with("AWS/");
            assert!(is_of_aws || filtered.contains(metric.name.as_str()), "{id}: {}", metric.name);
        }
    }
}

/// The metrics that CloudWatch Logs makes of lines, without dimensions.
fn filtered_metrics(template: &Template) -> BTreeSet<&str> {
    let filters = template.of_type("AWS::Logs::MetricFilter");
    filters.filter_map(|(_, filter)| filter["MetricTransformations"][0]["MetricName"].as_str()).collect()
}

#[test]
fn lost_clicks_are_found_by_the_line_that_functions_log() {
    let recorder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/lambda/src/following/recorder.rs");
    let source = fs::read_to_string(recorder).unwrap();

    let filters: Vec<_> = Template::load().of_type("AWS::Logs::MetricFilter").collect();

    assert_eq!(filters.len(), 2, "of redirect and unlock");
    for (id, filter) in filters {
        let message = filter["FilterPattern"].as_str().unwrap().split('"').nth(1).unwrap();
        assert!(source.contains(&format!("tracing::error!(short_code, error, \"{message}\")")), "{id}: {message}");
    }
}

/// As many times as fast as its budget is spent, an alarm about an objective goes off.
#[test]
fn burn_rates_are_those_of_two_windows() {
    for (id, hours, rate) in [("FastBurnAlarm", 1, 14.4), ("SlowBurnAlarm", 6, 6.0)] {
        let alarm = Template::load().properties(id);
        let periods: Vec<_> = alarm["Metrics"].as_array().unwrap()[1..].iter().collect();
        assert!(periods.iter().all(|query| query["MetricStat"]["Period"] == hours * 3_600), "{id}");
        assert_eq!(alarm["Threshold"].as_f64(), Some(rate), "{id}");
        let percent = format!("{} % or more", rate / 10.0);
        assert!(alarm["AlarmDescription"].as_str().unwrap().contains(&percent), "{id}: {percent}");
    }
}

/// With a gradual deployment they are there though functions may write no metrics.
#[test]
fn alarms_that_stop_a_deployment_need_no_metrics_of_ours() {
    let template = Template::load();

    for (id, alarm) in template.of_type("AWS::CloudWatch::Alarm") {
        if template.condition(id) == Some("HasDeploymentAlarms") {
            assert!(metrics_of(alarm).iter().all(|metric| metric.namespace.starts_with("AWS/")), "{id}");
        }
    }
}

#[test]
fn every_alarm_names_a_heading_of_a_runbook() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");

    for (id, alarm) in Template::load().of_type("AWS::CloudWatch::Alarm") {
        let description = alarm["AlarmDescription"].as_str().unwrap();
        let place = description.split_whitespace().find(|word| word.starts_with("infra/runbooks/"));
        let (page, heading) =
            place.and_then(|place| place.split_once('#')).unwrap_or_else(|| panic!("{id}: no runbook"));
        assert!(headings(&root.join(page)).contains(heading), "{id}: {page} has no heading {heading}");
    }
}

#[test]
fn the_runbooks_list_every_alarm() {
    let index =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra/runbooks/README.md")).unwrap();

    for (id, _) in Template::load().of_type("AWS::CloudWatch::Alarm") {
        assert!(index.contains(&format!("`{id}`")), "{id}");
    }
}

/// So that an alarm reads the same in either file. One parameter is the list of all functions behind the API.
#[test]
fn each_parameter_of_the_child_stack_is_the_resource_of_its_name() {
    let template = Template::load();
    let passed = template.properties("Observability")["Parameters"].as_object().unwrap();

    let names: BTreeSet<_> = passed.keys().collect();

    assert_eq!(names, template.child_parameters().keys().collect());
    let of_routes: BTreeSet<_> = Contract::load().routes().into_iter().map(|route| route.function).collect();
    let of_api: BTreeSet<_> = functions_of_api(template).map(|id| folder(&template.functions()[id])).collect();
    assert_eq!(of_api, of_routes);
    for (name, value) in passed.iter().filter(|(name, _)| *name != "FunctionsOfApi") {
        // An alarm that isn't always there is empty then. A number that follows from the account is otherwise a parameter.
        let value = match &value[2] {
            Value::Null => value,
            parameter if parameter != "" => parameter,
            _ => &value[1],
        };
        let source = value.as_str().unwrap().trim_start_matches("AWS::");
        assert_eq!(source.split('.').next(), Some(name.as_str()), "{value}");
    }
}

/// In how many minutes an alarm goes off while all calls fail.
fn minutes_until(alarm: &Value) -> f64 {
    let number = |value: &Value| value.as_f64().unwrap();
    let threshold = number(&alarm["Threshold"]);
    let Some(queries) = alarm["Metrics"].as_array() else {
        let age = match alarm["MetricName"].as_str().unwrap() {
            "ApproximateAgeOfOldestMessage" => threshold,
            "IteratorAge" => threshold / 1_000.0,
            _ => 0.0,
        };
        return (number(&alarm["Period"]) * number(&alarm["DatapointsToAlarm"]) + age) / 60.0;
    };
    let period = number(&queries[1]["MetricStat"]["Period"]);
    // Errors of all of the window, which are one in a thousand if the rate is 1.
    let periods =
        if queries[0]["Label"] == "Burn rate" { threshold / 1_000.0 } else { number(&alarm["DatapointsToAlarm"]) };
    (period * periods / 60.0).ceil()
}

#[test]
fn each_failure_names_the_alarm_that_tells_and_its_delay() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/failures.md");
    let page = fs::read_to_string(page).unwrap();
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| What")).collect();
    assert!(rows.len() > 50, "only {}", rows.len());

    for row in rows {
        let told_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for named in told_by.split(", ").filter(|named| !named.starts_with("none: ")) {
            let (id, minutes) = named.strip_prefix('`').and_then(|named| named.split_once("` ")).expect(row);
            let alarm = Template::load().properties(id);
            assert_eq!(minutes.parse::<f64>().ok(), Some(minutes_until(alarm)), "{id}: {row}");
        }
    }
}

#[test]
fn every_dead_letter_queue_has_an_alarm() {
    let template = Template::load();
    let from_queues =
        template.of_type("AWS::SQS::Queue").map(|(_, queue)| &queue["RedrivePolicy"]["deadLetterTargetArn"]);
    let sources = template.of_type("AWS::Lambda::EventSourceMapping");
    let from_streams = sources.map(|(_, source)| &source["DestinationConfig"]["OnFailure"]["Destination"]);
    let dead: BTreeSet<_> = from_queues.chain(from_streams).filter_map(Value::as_str).collect();
    assert!(dead.len() >= 3, "only {dead:?}");

    for monitoring in ["essential", "full"] {
        let metrics = watched_metrics(template, monitoring);
        for queue in &dead {
            let name = queue.trim_end_matches(".Arn");
            let is_watched =
                |metric: &Metric| metric.is("AWS/SQS", "ApproximateNumberOfMessagesVisible", ("QueueName", name));
            assert!(metrics.iter().any(is_watched), "{monitoring}: {queue}");
        }
    }
}

#[test]
fn every_event_source_is_watched_for_errors_and_for_lateness() {
    let template = Template::load();
    let metrics = watched_metrics(template, "full");

    for (id, source) in template.of_type("AWS::Lambda::EventSourceMapping") {
        let function = source["FunctionName"].as_str().unwrap();
        let has = |namespace: &str, name: &str, dimension: (&str, &str)| {
            metrics.iter().any(|metric| metric.is(namespace, name, dimension))
        };
        assert!(has("AWS/Lambda", "Errors", ("FunctionName", function)), "{id}: errors of {function}");
        let origin = source["EventSourceArn"].as_str().unwrap();
        let is_late = match origin.strip_suffix(".StreamArn") {
            Some(_) => has("AWS/Lambda", "IteratorAge", ("FunctionName", function)),
            None => {
                let queue = origin.trim_end_matches(".Arn");
                has("AWS/SQS", "ApproximateAgeOfOldestMessage", ("QueueName", queue))
            }
        };
        assert!(is_late, "{id}: lateness of {origin}");
    }
}

#[test]
fn alarms_on_our_metrics_name_those_that_functions_write() {
    let template = Template::load();
    let services = services(template);
    let is_ours = |metric: &Metric| ["AWS::StackName", "StackName"].contains(&metric.namespace.as_str());
    let ours: Vec<_> = watched_metrics(template, "full").into_iter().filter(is_ours).collect();
    assert!(!ours.is_empty());

    for metric in ours {
        assert!(metrics().contains(&metric.name), "{}", metric.name);
        if metric.dimensions.is_empty() && filtered_metrics(template).contains(metric.name.as_str()) {
            continue;
        }
        let [(dimension, service)] = metric.dimensions.as_slice() else {
            panic!("{}: {:?}", metric.name, metric.dimensions)
        };
        assert_eq!(dimension, "service", "{}", metric.name);
        assert!(services.contains(service), "{}: {service}", metric.name);
    }
}

#[test]
fn an_alarm_needs_no_more_data_points_than_it_looks_at() {
    for (id, alarm) in Template::load().of_type("AWS::CloudWatch::Alarm") {
        let number = |name: &str| alarm[name].as_u64().unwrap_or_else(|| panic!("{id}: {name}"));
        assert!((1..=number("EvaluationPeriods")).contains(&number("DatapointsToAlarm")), "{id}");
        let of_missing: &[&str] = match alarm["ComparisonOperator"].as_str() {
            Some("LessThanThreshold") => &["breaching"],
            _ => &["notBreaching", "ignore"],
        };
        assert!(of_missing.contains(&alarm["TreatMissingData"].as_str().unwrap()), "{id}");
    }
}
