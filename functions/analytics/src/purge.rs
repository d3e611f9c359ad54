//! Deleting the clicks and statistics of a purged link.

use std::time::Instant;

use linklet_domain::{Event, ShortCode};
use linklet_dynamodb::{Purged, RepositoryError};
use linklet_lambda::telemetry::chain;

use crate::{Analytics, batches::QueuedClick};

/// Whether a purge is complete.
enum Progress {
    Done,
    More,
}

impl Analytics {
    /// Deletes a link's clicks and statistics, and returns whether the message is done. A link with very many clicks takes more
    /// than one invocation. The event is then sent again, since a message that fails repeatedly would end in the dead-letter
    /// queue.
    pub(crate) async fn purge(&self, event: &Event, until: Instant) -> bool {
        let linklet_domain::EventDetail::UrlPurged(purged) = &event.detail else { return false };
        let code = &purged.short_code;
        match self.purge_until(code, event, until).await {
            Ok(Progress::Done) => {
                tracing::info!(
                    short_code = code.as_str(),
                    correlation_id = event.correlation_id.as_str(),
                    "clicks and statistics purged"
                );
                true
            }
            Ok(Progress::More) => self.later(event).await,
            Err(error) => {
                tracing::error!(short_code = code.as_str(), error = chain(&error), "a link could not be purged");
                false
            }
        }
    }

    /// Sends the event again, for another invocation.
    pub(crate) async fn later(&self, event: &Event) -> bool {
        self.queue.send(&[event]).await.is_empty()
    }

    async fn purge_until(&self, code: &ShortCode, event: &Event, until: Instant) -> Result<Progress, RepositoryError> {
        // First the numbers, after which nothing is counted any more; then the clicks, which may be many.
        self.stats.purge(code, event.occurred_at).await?;
        while self.clicks.purge_some(code).await? == Purged::Some {
            if Instant::now() >= until {
                return Ok(Progress::More);
            }
        }
        Ok(Progress::Done)
    }

    /// Deletes clicks that were in the queue when their link was purged.
    pub(crate) async fn forget(&self, code: &ShortCode, clicks: &[QueuedClick]) -> Result<(), RepositoryError> {
        for QueuedClick { click, .. } in clicks {
            self.clicks.delete(code, &click.id).await?;
        }
        tracing::info!(short_code = code.as_str(), clicks = clicks.len(), "clicks of a purged link dropped");
        Ok(())
    }
}
