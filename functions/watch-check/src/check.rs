//! A check of a URL: one attempt and up to two retries.

use std::{future::Future, time::Duration};

use http::StatusCode;
use linklet_domain::TargetUrl;
use tokio::time::{Instant, sleep};

use crate::{FetchError, Fetcher, Network, destination::Destination};

/// The pauses before the second and the third attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(400)];

/// The outcome of a check.
#[derive(Debug)]
pub struct Check {
    /// The HTTP status of the last attempt, after redirects, or its error.
    pub outcome: Result<StatusCode, FetchError>,
    /// Duration of the last attempt, including redirects and body.
    pub latency: Duration,
    /// Number of attempts, at least one.
    pub attempts: u32,
}

impl<N: Network> Fetcher<N> {
    /// Checks a URL. An attempt that fails with a 5xx status or a transient error is retried, after 200 ms and after 400 ms.
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
        if !is_transient(&check.outcome) {
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

fn is_transient(outcome: &Result<StatusCode, FetchError>) -> bool {
    match outcome {
        Ok(status) => status.is_server_error(),
        Err(error) => error.is_transient(),
    }
}
