//! Follows a link as a visitor does, every five minutes, and sees that the clicks on it are counted.
//!
//! It tells what no metric of the parts tells: that nobody reaches the API, or that clicks are lost though nothing fails. It has no
//! rights in AWS, since it goes through the public address only: for the short URL, and for the link's public statistics.
//!
//! A run clicks, and succeeds if a click since the run before is counted. That is the click of the run before, or else its own one,
//! for which it waits a while: on a link that is new, after an outage, or while clicks are counted late. So a run needs no memory,
//! and repeating it does no harm.

mod fetcher;

use std::time::Duration;

use linklet_domain::{ShortCode, Timestamp};
use linklet_lambda::http::ShortUrls;
use linklet_lambda::schedule::{Call, Job};
use serde::Deserialize;
use tokio::time::{Instant, sleep};

pub use self::fetcher::FetchError;
use self::fetcher::Fetcher;

/// The job that the scheduler runs every five minutes.
pub struct Canary {
    /// How long a run waits for a click to be counted.
    pub patience: Duration,
    /// How long it waits before it looks again.
    pub pause: Duration,
    fetcher: Fetcher,
    short_url: String,
    statistics: String,
}

/// Why a run has failed.
#[derive(Debug, thiserror::Error)]
pub enum CanaryError {
    /// The short URL doesn't answer.
    #[error("the short URL doesn't answer")]
    Redirect(#[source] FetchError),
    /// The short URL answers with a status that isn't a redirect.
    #[error("the short URL answers {0} and no redirect")]
    NoRedirect(u16),
    /// The link's statistics can't be read.
    #[error("the link's statistics can't be read")]
    Statistics(#[source] FetchError),
    /// The link's statistics answer with a status that isn't 200.
    #[error("the link's statistics answer {0}")]
    NoStatistics(u16),
    /// The link's statistics have another form.
    #[error("the link's statistics can't be understood")]
    Form(#[from] serde_json::Error),
    /// No click of this run or the run before is counted.
    #[error("no click since {0} is counted")]
    NotCounted(Timestamp),
}

/// The part of a link's statistics that matters.
#[derive(Debug, Deserialize)]
struct Statistics {
    last_click_at: Option<Timestamp>,
}

impl Canary {
    /// How often the schedule calls.
    pub const INTERVAL: Duration = Duration::from_secs(300);

    /// Follows the link with this code below the public base, or else at the endpoint of the API.
    pub fn new(public_base: Option<&str>, api_endpoint: &str, code: &ShortCode) -> Self {
        let base = public_base.unwrap_or(api_endpoint).trim_end_matches('/');
        Self {
            patience: Duration::from_secs(45),
            pause: Duration::from_secs(3),
            fetcher: Fetcher::new(),
            short_url: ShortUrls::new(public_base).at_origin(base, code),
            statistics: format!("{base}/api/stats/{code}"),
        }
    }

    async fn click(&self) -> Result<(), CanaryError> {
        let answer = self.fetcher.get(&self.short_url).await.map_err(CanaryError::Redirect)?;
        if (300..400).contains(&answer.status) { Ok(()) } else { Err(CanaryError::NoRedirect(answer.status)) }
    }

    async fn last_counted(&self) -> Result<Option<Timestamp>, CanaryError> {
        let answer = self.fetcher.get(&self.statistics).await.map_err(CanaryError::Statistics)?;
        if answer.status != 200 {
            return Err(CanaryError::NoStatistics(answer.status));
        }
        Ok(serde_json::from_slice::<Statistics>(&answer.body)?.last_click_at)
    }
}

impl Job for Canary {
    type Error = CanaryError;

    async fn run(&self, call: Call) -> Result<(), CanaryError> {
        let (began, since) = (Instant::now(), call.scheduled_time.minus(Self::INTERVAL));
        self.click().await?;
        while self.last_counted().await? < Some(since) {
            if began.elapsed() >= self.patience {
                return Err(CanaryError::NotCounted(since));
            }
            sleep(self.pause).await;
        }
        Ok(())
    }
}
