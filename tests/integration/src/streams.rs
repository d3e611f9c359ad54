//! What Lambda hands to consumers of streams, and what it makes of their answers.

use std::cell::RefCell;

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use aws_lambda_events::streams::DynamoDbEventResponse;
use linklet_clock::Clock;
use linklet_domain::Timestamp;
use linklet_jobs::JobRunner;
use linklet_lambda::batch::Consumer;
use linklet_test_support::{StreamReader, Template, TestDynamoDb, in_role_of};
use serde_json::Value;

/// JobsTable's stream, as the template hands it to the function `jobs`.
pub struct JobsStream(RefCell<StreamReader>);

impl JobsStream {
    pub fn of(db: &TestDynamoDb) -> Self {
        Self(RefCell::new(db.stream_reader("JobsTable")))
    }

    /// What is new, as far as the template's filter lets it through.
    pub fn news(&self) -> Vec<EventRecord> {
        let mut records = self.0.borrow_mut().read_on("").records;
        records.retain(|record| is_let_through("JobsStream", record));
        records
    }

    /// Hands what is new to the function, also what it writes itself.
    pub async fn carry(&self, runner: &JobRunner) {
        loop {
            let news = self.news();
            if news.is_empty() {
                return;
            }
            for record in &news {
                assert_eq!(retry_from(&job_step(runner, record).await), None);
            }
        }
    }
}

/// Hands a record to the function `jobs`.
pub async fn job_step(runner: &JobRunner, record: &EventRecord) -> DynamoDbEventResponse {
    in_role_of::<JobRunner, _>(runner.consume(batch_of(std::slice::from_ref(record)))).await
}

/// Deletes the marks beside jobs whose time has come. DynamoDB's TTL never does.
pub async fn delete_due_marks(db: &TestDynamoDb, now: Timestamp) {
    in_role_of::<Clock, _>(db.jobs().delete_due_marks(now)).await.unwrap();
}

/// A batch of these records.
pub fn batch_of(records: &[EventRecord]) -> StreamEvent {
    let mut batch = StreamEvent::default();
    batch.records = records.to_vec();
    batch
}

/// The sequence number from which Lambda delivers a batch again, if any.
pub fn retry_from(response: &DynamoDbEventResponse) -> Option<String> {
    assert!(response.batch_item_failures.len() <= 1);
    response.batch_item_failures.first().and_then(|failure| failure.item_identifier.clone())
}

/// Whether an event source hands a record to its function, as Lambda evaluates filters.
pub fn is_let_through(source: &str, record: &EventRecord) -> bool {
    let record = json_of(record);
    patterns_of(source).iter().any(|pattern| matches(pattern, Some(&record)))
}

/// The records that only the condition on `eventName` in the filters of an event source leaves out.
pub fn left_out_by_event_name(source: &str, mut batch: StreamEvent) -> StreamEvent {
    let mut patterns = patterns_of(source);
    patterns.retain_mut(|pattern| pattern.as_object_mut().unwrap().remove("eventName").is_some());
    batch.records.retain(|record| {
        let json = json_of(record);
        !is_let_through(source, record) && patterns.iter().any(|pattern| matches(pattern, Some(&json)))
    });
    batch
}

fn patterns_of(source: &str) -> Vec<Value> {
    let filters = &Template::load().properties(source)["FilterCriteria"]["Filters"];
    let patterns = filters.as_array().unwrap().iter().map(|filter| filter["Pattern"].as_str().unwrap());
    patterns.map(|pattern| serde_json::from_str(pattern).unwrap()).collect()
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
