//! Metrics in the
//! [embedded metric format](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
//!
//! They are part of the log line of each request or batch, from which CloudWatch extracts them, so they need no call of their
//! own. The namespace is the stack's name, the dimension the function's name. Without a namespace, the line has the numbers
//! only, and CloudWatch makes no metrics of them.
//!
//! [`add`] and [`concerns`] have an effect only while a request or batch is processed.

use std::{cell::RefCell, fmt::Write as _, future::Future, sync::OnceLock};

use linklet_domain::{CorrelationId, Timestamp};
use strum::VariantArray as _;

/// A metric, of something that AWS does not measure itself. Only metrics that are not zero are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
pub enum Metric {
    /// Number of responses with a status of 500 or above.
    Errors,
    /// Number of responses with status 429.
    Throttles,
    /// Number of first requests or batches of an execution environment.
    ColdStarts,
    /// Number of redirects whose link was cached in the execution environment.
    CacheHits,
    /// Number of clicks that could not be stored and were sent to the analytics queue.
    ClicksParked,
    /// Number of clicks that were lost, since they could be neither stored nor sent to the analytics queue.
    ClicksDropped,
    /// Number of clicks that were added to the statistics.
    ClicksCounted,
    /// Number of events that had been processed before and were ignored.
    DedupeHits,
    /// Number of messages or stream records in a batch that failed and will be redelivered.
    BatchFailures,
    /// Number of mails that SES accepted.
    MailsSent,
    /// Number of mails that SES refused.
    MailsFailed,
    /// Number of failed calls of ThrottleTable: in redirect, merges; in shorten, requests that were allowed uncounted; in
    /// auth, guesses and hashes.
    ThrottleUnavailable,
    /// Number of parts of answers that could not be read, and of overviews that could not be renewed.
    Degraded,
    /// Number of requests that were refused, since there was no room for their hashes.
    HashesRefused,
    /// Number of times that the circuit breaker opened, or reopened after a failed probe.
    BreakerOpened,
    /// Number of jobs and tasks that failed for a reason of ours, such as the purge of a closed workspace.
    JobsFailed,
    /// Number of checks of monitored URLs that failed.
    ChecksFailed,
    /// Number of checks that were skipped, since there was no time for them before the target's next check.
    ChecksSkipped,
    /// Number of targets without a check in a tick, since others of their host were checked until its end.
    ChecksHeldBack,
    /// Number of checks whose result could not be stored.
    ChecksLost,
    /// Number of ticks that left out targets that were not read: there were more than a tick reads, some could not be read, the partition
    /// could not be taken, or the tick came too late.
    TicksCut,
    /// Number of links whose expiry was published.
    LinksExpired,
    /// Number of expired links that were replaced by their tombstones.
    LinksRemoved,
}

impl Metric {
    /// All metrics.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The metric's name in CloudWatch.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The metrics of one request or batch, and the requests that a batch comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    sums: [f64; Metric::ALL.len()],
    /// The correlation ids of the first of these requests.
    requests: Vec<String>,
}

impl Measured {
    /// A batch that comes from more requests names the first of them, so that its line stays short.
    pub const MOST_NAMED: usize = 10;

    /// The sum of a metric.
    pub fn get(&self, metric: Metric) -> f64 {
        self.sums[metric as usize]
    }

    fn add_request(&mut self, correlation_id: &CorrelationId) {
        // A request may have caused several events.
        let is_known = self.requests.iter().any(|known| known == correlation_id.as_str());
        if !is_known && self.requests.len() < Self::MOST_NAMED {
            self.requests.push(correlation_id.as_str().to_owned());
        }
    }

    /// The log line's members with the sums, with a comma before each. With a namespace, also the member that makes metrics of
    /// them. They have no unit, since each byte of the line costs money.
    fn embed(&self, namespace: Option<&str>, at: Timestamp) -> String {
        let measured: Vec<_> = Metric::ALL.iter().filter(|metric| self.get(**metric) > 0.0).collect();
        let mut text = String::new();
        if let Some(namespace) = namespace.filter(|_| !measured.is_empty()) {
            let names: Vec<String> =
                measured.iter().map(|metric| format!(r#"{{"Name":"{}"}}"#, metric.name())).collect();
            text = format!(
                r#","_aws":{{"Timestamp":{},"CloudWatchMetrics":[{{"Namespace":{},"Dimensions":[["service"]],"Metrics":[{}]}}]}}"#,
                at.unix_millis(),
                serde_json::Value::from(namespace),
                names.join(","),
            );
        }
        for metric in measured {
            // Writing to a String can't fail.
            let _ = write!(text, r#","{}":{}"#, metric.name(), self.get(*metric));
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

/// Whether metrics are on.
pub(crate) fn are_on() -> bool {
    NAMESPACE.get().is_some()
}

/// Adds a count to a metric.
pub fn add(metric: Metric, count: usize) {
    // Outside of a request or batch there is no log line that could contain the metric.
    let _ = MEASURED.try_with(|measured| measured.borrow_mut().sums[metric as usize] += count as f64);
}

/// Says that the current batch comes from this request, so that its log lines are found by the request's id.
pub fn concerns(correlation_id: &CorrelationId) {
    let _ = MEASURED.try_with(|measured| measured.borrow_mut().add_request(correlation_id));
}

/// The ids of the requests that the current batch comes from, separated by spaces. As long as none is known, it is a new one, which
/// the batch keeps. `None` outside of a batch.
pub(crate) fn requests() -> Option<String> {
    let named = |measured: &RefCell<Measured>| {
        let mut measured = measured.borrow_mut();
        if measured.requests.is_empty() {
            measured.add_request(&CorrelationId::generate());
        }
        measured.requests.join(" ")
    };
    MEASURED.try_with(named).ok()
}

/// What the current request or batch has measured, for the field `emf` of its log line; in embedded metric format if metrics
/// are on. `None` if it has measured nothing.
pub(crate) fn emf() -> Option<String> {
    let namespace = NAMESPACE.get().map(String::as_str);
    let members = MEASURED.try_with(|measured| measured.borrow().embed(namespace, Timestamp::now())).ok();
    members.filter(|members| !members.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at() -> Timestamp {
        Timestamp::parse("2026-03-02T14:05:09.120Z").unwrap()
    }

    #[tokio::test]
    async fn what_is_measured_stands_in_the_members_that_cloudwatch_reads() {
        let ((), measured) = observe(async {
            add(Metric::ClicksCounted, 2);
            add(Metric::ClicksCounted, 1);
            add(Metric::ColdStarts, 1);
        })
        .await;

        let members = measured.embed(Some("linklet"), at());

        let line: Value = serde_json::from_str(&format!(r#"{{"service":"redirect"{members}}}"#)).unwrap();
        let metrics = json!([{"Name": "ColdStarts"}, {"Name": "ClicksCounted"}]);
        let directive = json!([{"Namespace": "linklet", "Dimensions": [["service"]], "Metrics": metrics}]);
        assert_eq!(
            line,
            json!({
                "service": "redirect",
                "_aws": {"Timestamp": 1_772_460_309_120_i64, "CloudWatchMetrics": directive},
                "ColdStarts": 1, "ClicksCounted": 3,
            })
        );
    }

    #[tokio::test]
    async fn without_a_namespace_there_are_numbers_and_no_metrics() {
        let ((), measured) = observe(async { add(Metric::ClicksCounted, 2) }).await;

        assert_eq!(measured.embed(None, at()), r#","ClicksCounted":2"#);
        assert_eq!(Measured::default().embed(Some("linklet"), at()), "");
    }

    #[tokio::test]
    async fn a_batch_names_its_first_requests() {
        let ids = |number: usize| (0..number).map(|id| CorrelationId::parse(&format!("click-{id}")).unwrap());
        let named = async |number| {
            scope(async {
                ids(number).for_each(|id| concerns(&id));
                [requests(), requests()]
            })
            .await
        };

        let [of_none, again] = named(0).await;
        assert!(CorrelationId::parse(of_none.as_deref().unwrap()).is_ok() && of_none == again, "{of_none:?} {again:?}");
        let named = async |number| named(number).await[0].clone();
        assert_eq!(named(2).await.as_deref(), Some("click-0 click-1"));
        assert_eq!(named(Measured::MOST_NAMED + 1).await, named(Measured::MOST_NAMED).await);
        assert_eq!(named(Measured::MOST_NAMED).await.unwrap().split(' ').count(), Measured::MOST_NAMED);
    }

    #[tokio::test]
    async fn a_request_that_caused_several_events_is_named_once() {
        let id = CorrelationId::parse("purge-1").unwrap();

        let named = scope(async {
            (0..20).for_each(|_| concerns(&id));
            requests()
        });

        assert_eq!(named.await.as_deref(), Some("purge-1"));
    }

    #[tokio::test]
    async fn requests_that_are_processed_at_once_are_measured_apart() {
        let work = async |count| {
            add(Metric::BatchFailures, count);
            tokio::task::yield_now().await;
            add(Metric::BatchFailures, count);
        };

        let (((), one), ((), other)) = tokio::join!(observe(work(1)), observe(work(10)));

        assert_eq!((one.get(Metric::BatchFailures), other.get(Metric::BatchFailures)), (2.0, 20.0));
    }

    #[test]
    fn outside_of_a_request_nothing_is_measured() {
        add(Metric::Errors, 1);
        concerns(&CorrelationId::parse("click-1").unwrap());

        assert_eq!((emf(), requests()), (None, None));
    }
}
