//! Reads `template.yaml`: whether alarms, dashboard, traces and gradual deployment cover what is deployed, and whether the
//! calculator of costs and the documents know what it has.

mod alarms;
mod costs;
mod dashboard;
mod documents;
mod functions;

use std::collections::BTreeSet;

use linklet_lambda::metrics::Metric;
use linklet_test_support::Template;
use serde_json::Value;

/// The metrics that functions write, each with the dimension `service`.
fn metrics() -> BTreeSet<String> {
    Metric::ALL.map(Metric::name).into()
}

/// A function's name in the log and in metrics: its folder's.
fn services(template: &Template) -> BTreeSet<String> {
    let folder = |function: &Value| function["CodeUri"].as_str().unwrap().trim_end_matches('/').to_owned();
    template.functions().values().map(|function| folder(function).rsplit('/').next().unwrap().to_owned()).collect()
}
