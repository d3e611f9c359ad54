//! What AWS allows, and how long it takes. Each constant names the page that says so, or says that it is an assumption.

use std::time::Duration;

// ------------------------------------------------------------------------------------------------------------- DynamoDB

/// Write units a second that one partition takes.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html>
pub const PARTITION_WRITES: f64 = 1_000.0;
/// Read units a second that one partition gives; the same page.
pub const PARTITION_READS: f64 = 3_000.0;
/// Write units a second of a new table on demand.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/warm-throughput-scenarios.html>
pub const NEW_TABLE_WRITES: f64 = 4_000.0;
/// A table's warm throughput for reads is three times that for writes; the same page for a new table.
pub const READS_PER_WRITE: f64 = 3.0;
/// How long a partition is at its limit before it is split, each half with the limits of a whole one. AWS says "sustained"; a
/// measurement of AWS's own saw it within ten minutes.
/// <https://aws.amazon.com/blogs/database/part-2-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/>
pub const SPLIT_AFTER: Duration = Duration::from_mins(10);
/// A call of DynamoDB with one item: "single-digit milliseconds".
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Introduction.html>
pub const CALL: Duration = Duration::from_millis(5);

// -------------------------------------------------------------------------------------------------------------- Streams

/// How often Lambda polls each shard of a stream.
/// <https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html>
pub const STREAM_POLL: Duration = Duration::from_millis(250);

// ------------------------------------------------------------------------------------------------------------------ SQS

/// A call of SQS with a batch. An assumption.
pub const SEND: Duration = Duration::from_millis(10);
/// A standard queue delivers in no order. Assumed: most messages within this time after they were sent,
pub const USUAL_DELAY: Duration = Duration::from_millis(200);
/// one in [`RARE`] within this time,
pub const RARE_DELAY: Duration = Duration::from_secs(20);
/// and as many twice.
pub const RARE: u32 = 100;
/// What Lambda hands over at once.
/// <https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>
pub const PAYLOAD: usize = 6 * 1_024 * 1_024;
/// Batches of a queue that Lambda begins with, and how many more it takes at a time with each second.
/// <https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html>
pub const POLLERS_AT_FIRST: usize = 5;
/// See [`POLLERS_AT_FIRST`]: 300 a minute.
pub const NEW_POLLERS: f64 = 5.0;

// --------------------------------------------------------------------------------------------------------------- Lambda

/// New environments of a function in [`STARTS_WITHIN`].
/// <https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html>
pub const STARTS: f64 = 1_000.0;
/// See [`STARTS`].
pub const STARTS_WITHIN: Duration = Duration::from_secs(10);
/// Requests a second for each of the account's concurrent executions; the same page.
pub const REQUESTS_PER_EXECUTION: f64 = 10.0;
/// A new environment of a Rust function, from `make bench` with AWS's part. An assumption.
pub const COLD_START: Duration = Duration::from_millis(100);
/// Memory with which a function has one processor, in MB.
/// <https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html>
pub const PROCESSOR: f64 = 1_769.0;
/// How long Lambda waits before it hands a batch to a function again that was throttled. An assumption.
pub const THROTTLED: Duration = Duration::from_secs(1);

// ------------------------------------------------------------------------------------------- Processor time, whole ones

/// An answer of redirect without a read: 1 ms with 256 MB, by `make bench`.
pub const ANSWER: Duration = Duration::from_micros(145);
/// A call by the SDK, TLS included. Such that a scattered click takes what `infra/costs/assumptions.toml` has, 2.5 ms with 256 MB.
pub const CALL_WORK: Duration = Duration::from_micros(120);
/// Reading a click from a stream, and writing it into a message: 0.2 ms with 256 MB, from the same file.
pub const RELAY_WORK: Duration = Duration::from_micros(29);
/// Reading and classifying a click, and adding it up: 0.1 ms with 256 MB, from the same file.
pub const COUNT_WORK: Duration = Duration::from_nanos(14_500);
