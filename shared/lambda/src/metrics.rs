//! Metrics in the
//! [embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
//!
//! They are part of the log line of each request or batch, from which CloudWatch extracts them, so they need no call of their
//! own. The namespace is the stack's name, the dimension the function's name.
//!
//! [`add`] and [`record`] have an effect only while a request or batch is processed.

use std::{cell::RefCell, fmt::Write as _, future::Future, sync::OnceLock};

use linklet_domain::Timestamp;

/// A metric. Only metrics that are not zero are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Number of HTTP requests.
    Requests,
    /// Milliseconds from a request's arrival in the function to its response.
    Latency,
    /// Number of responses with a status of 500 or above.
    Errors,
    /// Number of responses with status 429.
    Throttles,
    /// Number of first requests or batches of an execution environment.
    ColdStarts,
    /// Number of redirects whose link was cached in the execution environment.
    CacheHits,
    /// Number of clicks that were stored.
    ClicksRecorded,
    /// Number of clicks that could not be stored and were sent to the clicks queue.
    ClicksParked,
    /// Number of clicks that were lost, since they could be neither stored nor sent to the clicks queue.
    ClicksDropped,
    /// Number of clicks that were added to the statistics.
    ClicksCounted,
    /// Number of events that had been processed before and were ignored.
    DedupeHits,
    /// Number of messages or stream records in a batch.
    BatchSize,
    /// Number of messages or stream records in a batch that failed and will be redelivered.
    BatchFailures,
    /// Number of mails that SES accepted.
    MailsSent,
    /// Number of mails that SES refused.
    MailsFailed,
    /// Number of failed calls of ThrottleTable: in redirect, merges; in shorten, requests that were allowed uncounted.
    ThrottleUnavailable,
    /// Number of times that the circuit breaker opened, or reopened after a failed probe.
    BreakerOpened,
    /// Number of checks of monitored URLs.
    Checks,
    /// Number of checks that failed.
    ChecksFailed,
    /// Number of checks that were skipped, since they could not start before the target's next check, or could not be sent.
    ChecksSkipped,
    /// Number of targets without a check in a round, since their host already had its share of checks.
    ChecksHeldBack,
    /// Number of checks whose result could not be stored.
    ChecksLost,
    /// Number of rounds that left out targets, not counting those of [`Self::ChecksHeldBack`]: the workers had no capacity left,
    /// targets could not be read, or the round was dispatched too late.
    RoundsCut,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 23] = [
        Self::Requests,
        Self::Latency,
        Self::Errors,
        Self::Throttles,
        Self::ColdStarts,
        Self::CacheHits,
        Self::ClicksRecorded,
        Self::ClicksParked,
        Self::ClicksDropped,
        Self::ClicksCounted,
        Self::DedupeHits,
        Self::BatchSize,
        Self::BatchFailures,
        Self::MailsSent,
        Self::MailsFailed,
        Self::ThrottleUnavailable,
        Self::BreakerOpened,
        Self::Checks,
        Self::ChecksFailed,
        Self::ChecksSkipped,
        Self::ChecksHeldBack,
        Self::ChecksLost,
        Self::RoundsCut,
    ];

    /// The metric's name in CloudWatch.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// The metric's definition in the log line. Counts have no unit, since each byte of the line costs money.
    fn definition(self) -> String {
        match self {
            Self::Latency => format!(r#"{{"Name":"{}","Unit":"Milliseconds"}}"#, self.name()),
            _ => format!(r#"{{"Name":"{}"}}"#, self.name()),
        }
    }
}

/// The metrics of one request or batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured([f64; Metric::ALL.len()]);

impl Measured {
    /// The sum of a metric.
    #[must_use]
    pub fn get(&self, metric: Metric) -> f64 {
        self.0[metric as usize]
    }

    /// The members that make a log line a metric, with a comma before each; nothing if nothing was measured.
    fn embed(&self, namespace: &str, at: Timestamp) -> String {
        let measured: Vec<Metric> = Metric::ALL.into_iter().filter(|metric| self.get(*metric) > 0.0).collect();
        if measured.is_empty() {
            return String::new();
        }
        let definitions: Vec<String> = measured.iter().map(|metric| metric.definition()).collect();
        let mut text = format!(
            r#","_aws":{{"Timestamp":{},"CloudWatchMetrics":[{{"Namespace":{},"Dimensions":[["service"]],"Metrics":[{}]}}]}}"#,
            at.unix_millis(),
            serde_json::Value::from(namespace),
            definitions.join(","),
        );
        for metric in measured {
            // Writing to a String can't fail.
            let _ = write!(text, r#","{}":{}"#, metric.name(), self.get(metric));
        }
        text
    }
}

tokio::task_local! {
    static MEASURED: RefCell<Measured>;
}

static NAMESPACE: OnceLock<String> = OnceLock::new();

/// Turns metrics on, with this namespace. Later calls have no effect.
pub fn write_to(namespace: String) {
    let _ = NAMESPACE.set(namespace);
}

/// Collects metrics while `work` runs. Within [`observe`], they are added to the observed metrics.
pub async fn scope<F: Future>(work: F) -> F::Output {
    if MEASURED.try_with(|_| ()).is_ok() { work.await } else { MEASURED.scope(RefCell::default(), work).await }
}

/// Runs `work`, and returns its output with the metrics that it has collected.
pub async fn observe<F: Future>(work: F) -> (F::Output, Measured) {
    resume(Measured::default(), work).await
}

/// Runs the next part of a request, and returns its output with the metrics of the request: `measured` and the new ones.
pub(crate) async fn resume<F: Future>(measured: Measured, work: F) -> (F::Output, Measured) {
    let observed = async {
        let output = work.await;
        (output, MEASURED.with(RefCell::take))
    };
    MEASURED.scope(RefCell::new(measured), observed).await
}

/// Adds a count to a metric.
pub fn add(metric: Metric, count: usize) {
    record(metric, count as f64);
}

/// Adds a value to a metric.
pub fn record(metric: Metric, value: f64) {
    // Outside of a request or batch there is no log line that could contain the metric.
    let _ = MEASURED.try_with(|measured| measured.borrow_mut().0[metric as usize] += value);
}

/// The metrics of the current request or batch in embedded metric format, for the field `emf` of its log line. `None` if
/// metrics are off, as on a developer's machine.
pub(crate) fn emf() -> Option<String> {
    let namespace = NAMESPACE.get()?;
    MEASURED.try_with(|measured| measured.borrow().embed(namespace, Timestamp::now())).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn what_is_measured_stands_in_the_members_that_cloudwatch_reads() {
        let ((), measured) = observe(async {
            add(Metric::Requests, 1);
            add(Metric::ClicksRecorded, 2);
            add(Metric::ClicksRecorded, 1);
            record(Metric::Latency, 1.25);
        })
        .await;

        let members = measured.embed("linklet", Timestamp::parse("2026-03-02T14:05:09.120Z").unwrap());

        let line: Value = serde_json::from_str(&format!(r#"{{"service":"redirect"{members}}}"#)).unwrap();
        let metrics = json!([
            {"Name": "Requests"},
            {"Name": "Latency", "Unit": "Milliseconds"},
            {"Name": "ClicksRecorded"},
        ]);
        let directive = json!([{"Namespace": "linklet", "Dimensions": [["service"]], "Metrics": metrics}]);
        assert_eq!(
            line,
            json!({
                "service": "redirect",
                "_aws": {"Timestamp": 1_772_460_309_120_i64, "CloudWatchMetrics": directive},
                "Requests": 1, "Latency": 1.25, "ClicksRecorded": 3,
            })
        );
    }

    #[tokio::test]
    async fn requests_that_are_processed_at_once_are_measured_apart() {
        let work = async |count| {
            add(Metric::BatchSize, count);
            tokio::task::yield_now().await;
            add(Metric::BatchSize, count);
        };

        let (((), one), ((), other)) = tokio::join!(observe(work(1)), observe(work(10)));

        assert_eq!((one.get(Metric::BatchSize), other.get(Metric::BatchSize)), (2.0, 20.0));
    }

    #[test]
    fn outside_of_a_request_nothing_is_measured() {
        add(Metric::Requests, 1);

        assert_eq!(emf(), None);
    }

    #[test]
    fn all_metrics_are_listed_in_their_order() {
        for (position, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, position, "{}", metric.name());
        }
        assert_eq!(Measured::default().embed("linklet", Timestamp::now()), "");
    }
}
