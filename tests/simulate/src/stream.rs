//! The stream of the table of clicks, by its shards.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use aws_lambda_events::dynamodb::EventRecord;
use linklet_domain::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Records that wait to be read, by shard. Within a shard they stay in order.
#[derive(Debug, Clone, Default)]
pub struct Stream(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    shards: BTreeMap<usize, VecDeque<EventRecord>>,
    written: u64,
}

impl Stream {
    /// Appends the record of a new item.
    pub fn append(&self, shard: usize, item: &Value, now: Timestamp) {
        let mut waiting = self.0.lock();
        waiting.written += 1;
        let number = waiting.written.to_string();
        let record = json!({
            "eventID": number, "eventName": "INSERT", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
            "awsRegion": "eu-central-1",
            "dynamodb": {
                "ApproximateCreationDateTime": now.unix_seconds(), "Keys": {"pk": item["pk"], "sk": item["sk"]},
                "NewImage": item, "SequenceNumber": number, "SizeBytes": 700, "StreamViewType": "NEW_IMAGE",
            },
        });
        let record = serde_json::from_value(record).expect("a record has Lambda's form");
        waiting.shards.entry(shard).or_default().push_back(record);
    }

    /// How many shards have had a record.
    pub fn shards(&self) -> usize {
        self.0.lock().shards.keys().next_back().map_or(0, |last| last + 1)
    }

    /// How many records wait in a shard.
    pub fn waiting(&self, shard: usize) -> usize {
        self.0.lock().shards.get(&shard).map_or(0, VecDeque::len)
    }

    /// Takes the oldest records of a shard, at most so many.
    pub fn take(&self, shard: usize, most: usize) -> Vec<EventRecord> {
        let mut waiting = self.0.lock();
        let Some(records) = waiting.shards.get_mut(&shard) else { return Vec::new() };
        let most = most.min(records.len());
        records.drain(..most).collect()
    }

    /// Puts records back that have to be delivered again.
    pub fn give_back(&self, shard: usize, records: Vec<EventRecord>) {
        let mut waiting = self.0.lock();
        let shard = waiting.shards.entry(shard).or_default();
        records.into_iter().rev().for_each(|record| shard.push_front(record));
    }
}
