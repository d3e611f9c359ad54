//! What `make cost` computes with of the template: `infra/costs/units.json`, which the calculator reads, has to say the same.
//! `make units` has it written down.

use std::collections::BTreeMap;

use linklet_test_support::{Template, cost_units, write_cost_units};
use serde_json::{Value, json};

use super::{alarms, billed_metrics, folder, of_monitoring};

/// How many queues Lambda asks for messages all the time.
fn polled_queues(template: &Template) -> usize {
    let sources = template.of_type("AWS::Lambda::EventSourceMapping");
    sources
        .filter(|(_, source)| source["EventSourceArn"].as_str().is_some_and(|arn| arn.ends_with("Queue.Arn")))
        .count()
}

/// A number for each value of the parameter `Monitoring`.
fn by_monitoring(template: &Template, number: impl Fn(&str) -> usize) -> BTreeMap<&str, usize> {
    let values = template.parameters()["Monitoring"]["AllowedValues"].as_array().unwrap();
    values.iter().filter_map(Value::as_str).map(|monitoring| (monitoring, number(monitoring))).collect()
}

#[test]
fn a_budget_tells_the_alarm_address_three_times() {
    let template = Template::load();
    let budget = template.properties("Budget");
    let notifications = budget["NotificationsWithSubscribers"].as_array().unwrap();

    let thresholds: Vec<_> = notifications.iter().map(|each| each["Notification"]["Threshold"].clone()).collect();

    assert_eq!(thresholds, [50, 80, 100]);
    for each in notifications {
        assert_eq!(each["Subscribers"], json!([{"SubscriptionType": "EMAIL", "Address": "AlarmEmail"}]));
    }
    assert_eq!(template.condition("Budget"), Some("HasBudget"));
    assert_eq!(
        (&template.conditions()["HasBudget"], &template.parameters()["MonthlyBudget"]["Default"]),
        (&json!([["MonthlyBudget", "0"]]), &json!(0))
    );
}

#[test]
fn the_calculator_knows_what_the_template_deploys() {
    let template = Template::load();
    let default = |parameter: &str| template.parameters()[parameter]["Default"].clone();
    let functions = template.functions();
    let billed: BTreeMap<String, Value> = cost_units("log_bytes");
    let functions = || functions.values().filter(|function| billed.contains_key(&folder(function)));
    let memory: BTreeMap<_, _> =
        functions().map(|function| (folder(function), function["MemorySize"].clone())).collect();
    let verifies = functions().filter(|function| !function["Environment"]["Variables"]["JWT_SECRET_ID"].is_null());
    let verifies_tokens: BTreeMap<_, _> = verifies.map(|function| (folder(function), true)).collect();
    let (clicks, analytics) = (template.properties("ClicksStream"), template.properties("AnalyticsSource"));
    assert_eq!(clicks["MaximumBatchingWindowInSeconds"], "ClicksBatchWindowSeconds");
    assert_eq!(analytics["MaximumBatchingWindowInSeconds"], "AnalyticsBatchWindowSeconds");

    let alarm_metrics =
        |monitoring: &str| alarms(template, monitoring).iter().map(|(_, alarm)| billed_metrics(alarm)).sum();
    let dashboards = |monitoring: &str| of_monitoring(template, "AWS::CloudWatch::Dashboard", monitoring).len();
    let deployed = json!({
        "memory_mb": memory,
        "verifies_tokens": verifies_tokens,
        "monitoring": default("Monitoring"),
        "alarm_metrics": by_monitoring(template, alarm_metrics),
        "dashboards": by_monitoring(template, dashboards),
        // That of identity providers exists only where there are some.
        "secrets": template.of_type("AWS::SecretsManager::Secret").filter(|(id, _)| *id != "OidcSecret").count(),
        "polled_queues": polled_queues(template),
        "relay_batch": clicks["BatchSize"],
        "relay_window_seconds": default("ClicksBatchWindowSeconds"),
        "analytics_batch": analytics["BatchSize"],
        "analytics_window_seconds": default("AnalyticsBatchWindowSeconds"),
        "check_interval_seconds": default("CheckIntervalSeconds"),
        "max_concurrency": default("MaxConcurrency").as_str().unwrap().parse::<u8>().unwrap(),
        "log_retention_days": default("LogRetentionDays"),
        "log_level": default("LogLevel"),
        "tracing": default("Tracing"),
        "access_log": default("AccessLog"),
        "click_table_class": template.properties("ClicksTable")["TableClass"],
        "click_recovery": default("ClickRecovery"),
        "notification_recovery": template.properties("NotificationsTable").get("PointInTimeRecoverySpecification").is_some(),
        "raw_click_days": default("RawClickDays"),
    });

    write_cost_units("template", &deployed);
    let known: Value = cost_units("template");
    assert_eq!(deployed, known, "if the change is meant, `make units` writes it down");
}
