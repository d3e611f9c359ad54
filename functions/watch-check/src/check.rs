//! A check: an attempt at a URL, and up to two more.

use std::{future::Future, time::Duration};

use http::StatusCode;
use linklet_domain::TargetUrl;
use tokio::time::{Instant, sleep};

use crate::{FetchError, Fetcher, Network, destination::Destination};

/// How long to wait before the second and the third attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// What came of a check.
#[derive(Debug)]
pub struct Check {
    /// The status of the answer, after redirects, or why there was none.
    pub outcome: Result<StatusCode, FetchError>,
    /// How long the last attempt took, redirects and body included.
    pub latency: Duration,
    /// How many attempts there were, at least one.
    pub attempts: u32,
}

impl<N: Network> Fetcher<N> {
    /// Checks a URL: fetches it, and again after 200 ms and after 400 ms while the server fails or can't be reached. An answer
    /// below 500 is an answer, and what is refused here would be refused again.
    pub async fn check(&self, url: &TargetUrl) -> Check {
        with_retries(|| async { self.fetch(Destination::of(url)?).await }).await
    }
}

async fn with_retries<F>(mut attempt: impl FnMut() -> F) -> Check
where
    F: Future<Output = Result<StatusCode, FetchError>>,
{
    let mut check = timed(1, attempt()).await;
    for (attempts, pause) in (2..).zip(PAUSES) {
        if !may_pass(&check.outcome) {
            break;
        }
        sleep(pause).await;
        check = timed(attempts, attempt()).await;
    }
    check
}

async fn timed(attempts: u32, attempt: impl Future<Output = Result<StatusCode, FetchError>>) -> Check {
    let started = Instant::now();
    let outcome = attempt.await;
    Check { outcome, latency: started.elapsed(), attempts }
}

fn may_pass(outcome: &Result<StatusCode, FetchError>) -> bool {
    match outcome {
        Ok(status) => status.is_server_error(),
        Err(error) => error.may_pass(),
    }
}
