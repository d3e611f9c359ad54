//! Reads `template.yaml`: whether alarms, dashboard, traces and gradual deployment cover what is deployed, and whether the
//! calculator of costs and the documents know what it has.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod alarms;
mod browsers;
mod costs;
mod dashboard;
mod documents;
mod functions;
mod imports;
mod quotas;
mod roles;

use std::collections::BTreeSet;

use linklet_integration::fixture;
use linklet_lambda::metrics::Metric;
use linklet_test_support::Template;
use serde_json::Value;

/// The metrics that functions write, each with the dimension `service`.
fn metrics() -> BTreeSet<String> {
    Metric::ALL.iter().map(|metric| metric.name().to_owned()).collect()
}

/// The alarms that there are with a value of the parameter `Monitoring`, when no deployment is gradual.
fn alarms<'t>(template: &'t Template, monitoring: &str) -> Vec<(&'t str, &'t Value)> {
    of_monitoring(template, "AWS::CloudWatch::Alarm", monitoring)
}

/// The resources of a type that observe the system with a value of the parameter `Monitoring`, when no deployment is gradual.
fn of_monitoring<'t>(template: &'t Template, kind: &str, monitoring: &str) -> Vec<(&'t str, &'t Value)> {
    let conditions: &[Option<&str>] = match monitoring {
        "none" => &[],
        // What has no condition is in the child stack, which has one itself.
        "essential" => &[None, Some("IsEssential")],
        "full" => &[None, Some("IsFull"), Some("HasDeploymentAlarms")],
        other => panic!("unknown: {other}"),
    };
    of_conditions(template, kind, conditions)
}

/// The resources of a type that are there on one of these conditions.
fn of_conditions<'t>(template: &'t Template, kind: &str, conditions: &[Option<&str>]) -> Vec<(&'t str, &'t Value)> {
    template.of_type(kind).filter(|(id, _)| conditions.contains(&template.condition(id))).collect()
}

/// How many metrics an alarm looks at, each of which costs as much as an alarm.
fn billed_metrics(alarm: &Value) -> usize {
    let is_metric = |query: &&Value| query.get("MetricStat").is_some();
    alarm["Metrics"].as_array().map_or(1, |queries| queries.iter().filter(is_metric).count())
}

/// The functions that the parent stack hands to the dashboard as those behind the API, by their logical ids.
fn functions_of_api(template: &Template) -> impl Iterator<Item = &str> {
    let joined = &template.properties("Observability")["Parameters"]["FunctionsOfApi"];
    joined[1].as_array().unwrap().iter().filter_map(Value::as_str)
}

/// A function's folder.
fn folder(function: &Value) -> String {
    let path = function["CodeUri"].as_str().unwrap().trim_end_matches('/');
    path.rsplit('/').next().unwrap().to_owned()
}

/// A function's name in the log and in metrics: its folder's.
fn services(template: &Template) -> BTreeSet<String> {
    template.functions().values().map(folder).collect()
}
