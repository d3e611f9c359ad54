//! A check of a URL: one attempt and up to two retries, as long as there is time.

use std::{future::Future, time::Duration};

use http::StatusCode;
use linklet_domain::{TargetUrl, Timestamp};
use linklet_fetch::{FetchError, Fetcher, Network};
use tokio::time::{Instant, sleep, timeout};

/// Tells the time. Linux may stop the clock that timeouts go by while an environment is frozen, but not this one.
pub type Clock = dyn Fn() -> Timestamp + Send + Sync;

/// A moment at which all checks stop.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'c> {
    pub at: Timestamp,
    pub clock: &'c Clock,
}

impl Deadline<'_> {
    /// How much time is left, unless it is up.
    pub(crate) fn left(self) -> Option<Duration> {
        let now = (self.clock)();
        (now < self.at).then(|| now.until(self.at))
    }
}

/// The pauses before the first, the second and the third attempt.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(200), Duration::from_millis(400)];

/// The outcome of a check.
#[derive(Debug)]
pub(crate) struct Check {
    /// The HTTP status of the last attempt, after redirects, or its error.
    pub outcome: Result<StatusCode, FetchError>,
    /// Duration of the last attempt, including redirects and body.
    pub latency: Duration,
    /// Number of attempts, at least one.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests tell by it how often a server was asked"))]
    pub attempts: u32,
}

/// Checks a URL until a moment. An attempt that fails with a 5xx status or a transient error is retried, after 200 ms and after
/// 400 ms. An attempt that the deadline cuts off doesn't count, so there is no outcome if it is the first.
pub(crate) async fn check<N: Network>(fetcher: &Fetcher<N>, url: &TargetUrl, deadline: Deadline<'_>) -> Option<Check> {
    let mut last = None;
    for (attempts, pause) in (1..).zip(PAUSES) {
        sleep(pause).await;
        let Some(check) = timed(attempts, fetcher.fetch(url), deadline).await else { break };
        let is_over = !is_transient(&check.outcome);
        last = Some(check);
        if is_over {
            break;
        }
    }
    last
}

async fn timed(
    attempts: u32,
    attempt: impl Future<Output = Result<StatusCode, FetchError>>,
    deadline: Deadline<'_>,
) -> Option<Check> {
    let (left, started) = (deadline.left()?, Instant::now());
    let outcome = timeout(left, attempt).await.ok()?;
    // An environment that was frozen meanwhile has seen what it takes for failures.
    deadline.left()?;
    Some(Check { outcome, latency: started.elapsed(), attempts })
}

fn is_transient(outcome: &Result<StatusCode, FetchError>) -> bool {
    match outcome {
        Ok(status) => status.is_server_error(),
        Err(error) => error.is_transient(),
    }
}
