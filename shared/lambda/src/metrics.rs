//! Metrics, in the line that a request or batch logs anyway.
//!
//! CloudWatch reads them out of the log (the
//! [embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)),
//! so they cost no call and no time. The namespace is the stack's name, the dimension the function's.
//!
//! [`add`] works wherever a request or batch is being processed, however deep, and does nothing elsewhere.

use std::{cell::RefCell, fmt::Write as _, future::Future, sync::OnceLock};

use linklet_domain::Timestamp;

/// What is measured. Only what is not zero is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// HTTP requests.
    Requests,
    /// From the request's arrival in the function to its answer, in milliseconds.
    Latency,
    /// Answers with a status of 500 or above.
    Errors,
    /// Answers with the status 429.
    Throttles,
    /// First requests or batches of an execution environment.
    ColdStarts,
    /// Redirects whose link was held in the execution environment.
    CacheHits,
    /// Clicks that were stored.
    ClicksRecorded,
    /// Clicks that could not be stored and wait in a queue for it.
    ClicksParked,
    /// Clicks that could not even be parked: the visitor was redirected, the click is lost.
    ClicksDropped,
    /// Clicks that were added to the statistics.
    ClicksCounted,
    /// Events that came again and were not counted again.
    DedupeHits,
    /// Messages or stream records in a batch.
    BatchSize,
    /// Of these, the ones that have to come again.
    BatchFailures,
    /// Mails that SES took.
    MailsSent,
    /// Mails that SES didn't take.
    MailsFailed,
    /// What the table of limits could not count: in redirect merges that failed, in shorten requests that were let through.
    ThrottleUnavailable,
    /// Times that the circuit breaker opened, or stayed open after a probe.
    BreakerOpened,
    /// Monitored URLs that were checked.
    Checks,
    /// Of these, the ones that gave no good answer.
    ChecksFailed,
    /// Checks that were left out because they could not begin before the next one of their target.
    ChecksSkipped,
    /// Targets that a round left out because their host has as many checks as it can do one after another.
    ChecksHeldBack,
    /// Checks whose result could not be stored.
    ChecksLost,
    /// Rounds that left targets out: there was no room for more checks, targets could not be read, or the round itself came too
    /// late.
    RoundsCut,
}

impl Metric {
    /// All there are.
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

    /// Its name in CloudWatch.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// How the log line announces it. Counts go without a unit: each byte here is paid for with every request.
    fn definition(self) -> String {
        match self {
            Self::Latency => format!(r#"{{"Name":"{}","Unit":"Milliseconds"}}"#, self.name()),
            _ => format!(r#"{{"Name":"{}"}}"#, self.name()),
        }
    }
}

/// What was measured while one request or batch was processed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured([f64; Metric::ALL.len()]);

impl Measured {
    /// The sum of what was added.
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

/// Has metrics written from now on, under this namespace. The first call decides.
pub fn write_to(namespace: String) {
    let _ = NAMESPACE.set(namespace);
}

/// Processes a request or batch, and measures on the way. Within [`observe`], it adds to what that measures.
pub async fn scope<F: Future>(work: F) -> F::Output {
    if MEASURED.try_with(|_| ()).is_ok() { work.await } else { MEASURED.scope(RefCell::default(), work).await }
}

/// Does something and tells what was measured meanwhile.
pub async fn observe<F: Future>(work: F) -> (F::Output, Measured) {
    go_on(Measured::default(), work).await
}

/// Does the next part of a request of which this was measured so far, and tells what was measured in all.
pub(crate) async fn go_on<F: Future>(measured: Measured, work: F) -> (F::Output, Measured) {
    let observed = async {
        let output = work.await;
        (output, MEASURED.with(RefCell::take))
    };
    MEASURED.scope(RefCell::new(measured), observed).await
}

/// Counts this many more of something.
pub fn add(metric: Metric, count: usize) {
    record(metric, count as f64);
}

/// Adds to a metric.
pub fn record(metric: Metric, value: f64) {
    // Outside of a request or batch there is no line to write it to.
    let _ = MEASURED.try_with(|measured| measured.borrow_mut().0[metric as usize] += value);
}

/// What belongs into the log line of this request or batch: the field `emf` of the line. Nothing where no namespace is set, as
/// on a developer's machine.
pub(crate) fn embedded() -> Option<String> {
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

        assert_eq!(embedded(), None);
    }

    #[test]
    fn all_metrics_are_listed_in_their_order() {
        for (position, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, position, "{}", metric.name());
        }
        assert_eq!(Measured::default().embed("linklet", Timestamp::now()), "");
    }
}
