//! Deleting the clicks, statistics and history of a purged link.

use linklet_domain::{ClickId, Event, LinkEvent, LinkId};
use linklet_dynamodb::{Purged, Result};
use linklet_lambda::telemetry::chain;
use tokio::time::Instant;

use crate::{Analytics, batches::Purge};

/// Whether a purge is complete.
enum Progress {
    Done,
    More,
}

impl Analytics {
    /// Deletes a link's clicks and statistics, and returns whether the message is done. A link with very many clicks takes more
    /// than one invocation. The event is then sent again, since a message that fails repeatedly would end in the dead-letter
    /// queue.
    pub(crate) async fn purge(&self, Purge { purged, event, .. }: &Purge, until: Instant) -> bool {
        let short_code = purged.link.code.as_str();
        match self.purge_until(purged, event, until).await {
            Ok(Progress::Done) => {
                tracing::info!(short_code, "clicks and statistics purged");
                true
            }
            Ok(Progress::More) => self.later(event).await,
            Err(error) => {
                tracing::error!(short_code, error = chain(&error), "a link could not be purged");
                false
            }
        }
    }

    /// Sends the event again, for another invocation.
    pub(crate) async fn later(&self, event: &Event) -> bool {
        self.queue.send(&[event]).await.is_empty()
    }

    async fn purge_until(&self, purged: &LinkEvent, event: &Event, until: Instant) -> Result<Progress> {
        let LinkEvent { link, .. } = purged;
        // First the numbers, after which nothing is counted any more; then the clicks, which may be many.
        self.stats.purge(&event.workspace_id, link, event.occurred_at).await?;
        self.links.delete_history(link).await?;
        while self.clicks.purge_some(link).await? == Purged::Some {
            if Instant::now() >= until {
                return Ok(Progress::More);
            }
        }
        Ok(Progress::Done)
    }

    /// Deletes clicks that were in the queue when their link was purged, and what they may have left behind: one may have been
    /// written to its day after the purge had deleted that.
    pub(crate) async fn forget(&self, link: &LinkId, clicks: impl IntoIterator<Item = &ClickId>) -> Result<()> {
        let clicks: Vec<&ClickId> = clicks.into_iter().collect();
        self.clicks.delete(link, clicks.iter().copied()).await?;
        self.stats.delete_rows(link).await?;
        tracing::info!(short_code = link.code.as_str(), clicks = clicks.len(), "clicks of a purged link dropped");
        Ok(())
    }
}
