//! What Lambda hands to consumers of streams, and what it makes of their answers.

use aws_lambda_events::{dynamodb::EventRecord, streams::DynamoDbEventResponse};
use linklet_test_support::Template;
use serde_json::Value;

/// The sequence number from which Lambda delivers a batch again, if any.
pub fn retry_from(response: &DynamoDbEventResponse) -> Option<String> {
    assert!(response.batch_item_failures.len() <= 1);
    response.batch_item_failures.first().and_then(|failure| failure.item_identifier.clone())
}

/// Whether an event source hands a record to its function, as Lambda evaluates filters.
pub fn is_let_through(source: &str, record: &EventRecord) -> bool {
    let filters = &Template::load().properties(source)["FilterCriteria"]["Filters"];
    let patterns = filters.as_array().unwrap().iter().map(|filter| filter["Pattern"].as_str().unwrap());
    let record = json_of(record);
    patterns
        .map(|pattern| serde_json::from_str(pattern).unwrap())
        .any(|pattern: Value| matches(&pattern, Some(&record)))
}

fn matches(pattern: &Value, value: Option<&Value>) -> bool {
    match pattern {
        Value::Object(members) => {
            members.iter().all(|(name, pattern)| matches(pattern, value.and_then(|value| value.get(name))))
        }
        Value::Array(rules) => rules.iter().any(|rule| meets(value, rule)),
        other => panic!("a filter has no {other}"),
    }
}

fn meets(value: Option<&Value>, rule: &Value) -> bool {
    match (rule["prefix"].as_str(), rule["exists"].as_bool()) {
        (Some(prefix), _) => value.and_then(Value::as_str).is_some_and(|text| text.starts_with(prefix)),
        (_, Some(exists)) => value.is_some() == exists,
        _ => value == Some(rule),
    }
}

pub fn json_of(record: &EventRecord) -> Value {
    serde_json::to_value(record).unwrap()
}
