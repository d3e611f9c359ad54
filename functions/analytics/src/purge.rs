//! Deleting the clicks, statistics and history of a purged link.

use linklet_domain::{ClickId, Event, LinkEvent, LinkId, Task, TaskWork};
use linklet_dynamodb::{Purged, Result};
use linklet_lambda::telemetry::chain;
use tokio::time::Instant;

use crate::{Analytics, batches::Purge};

impl Analytics {
    /// Deletes a link's clicks and statistics, and returns whether the message is done. What is left of very many clicks becomes a task of
    /// the job runner: Lambda stops a function that keeps sending messages to its own queue
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>).
    pub(crate) async fn purge(&self, Purge { purged, event, .. }: &Purge, until: Instant) -> bool {
        let short_code = purged.link.code.as_str();
        match self.purge_until(purged, event, until).await {
            Ok(is_complete) => {
                tracing::info!(short_code, is_complete, "clicks and statistics purged");
                true
            }
            Err(error) => {
                tracing::error!(short_code, error = chain(&error), "a link could not be purged");
                false
            }
        }
    }

    async fn purge_until(&self, purged: &LinkEvent, event: &Event, until: Instant) -> Result<bool> {
        let LinkEvent { link, .. } = purged;
        // First the numbers, after which nothing is counted any more; then the clicks, which may be many.
        self.stats.purge(&event.workspace_id, link, event.occurred_at).await?;
        self.stats.end_shares_of(&event.workspace_id, link).await?;
        self.links.delete_history(link).await?;
        while self.clicks.purge_some(link).await? == Purged::Some {
            if Instant::now() >= until {
                let rest = TaskWork::PurgeClicks(link.clone());
                // The message may have waited for hours, and the runner gives up what makes no progress for one.
                self.jobs.begin_once(&Task::new(rest, (self.clock)(), &event.correlation_id)).await?;
                return Ok(false);
            }
        }
        Ok(true)
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
