//! Adds up an overview, of summaries of links, counts of clicks, and the status of monitored URLs. Each of them has a bound: what
//! goes beyond is left out, and the overview says so.

use std::time::Duration;

use linklet_domain::{Overview, OverviewPart, SortOrder, Tally, Timestamp, WorkspaceId};
use linklet_dynamodb::{LinkRange, RepositoryError};
use parking_lot::Mutex;

use crate::Overviews;

/// Whoever waits longer gets the old overview, or an error. The function itself may run for ten seconds.
const BUDGET: Duration = Duration::from_secs(8);

impl Overviews {
    /// A new overview. What it is made of is read at the same time, part by part, so that little of it is in memory.
    pub(crate) async fn gather(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Overview, RepositoryError> {
        let tally = Mutex::new(Tally::new(now));
        let reads = async {
            tokio::try_join!(
                self.add_links(workspace, &tally),
                self.add_clicks(workspace, &tally),
                self.add_down(workspace, &tally),
            )
        };
        let too_slow =
            |elapsed| RepositoryError::Unavailable { operation: "add up an overview", source: Box::new(elapsed) };
        tokio::time::timeout(BUDGET, reads).await.map_err(too_slow)??;
        Ok(tally.into_inner().finish())
    }

    async fn add_links(&self, workspace: &WorkspaceId, tally: &Mutex<Tally>) -> Result<(), RepositoryError> {
        let range =
            LinkRange { workspace, created: (None, None), order: SortOrder::Descending, after: None, wanted: None };
        let mut summaries = self.links.summaries(&range);
        while let Some(links) = summaries.next().await? {
            let mut tally = tally.lock();
            links.iter().for_each(|link| tally.link(link));
        }
        if summaries.rest().is_some() {
            tally.lock().lacks(OverviewPart::Links);
        }
        Ok(())
    }

    async fn add_clicks(&self, workspace: &WorkspaceId, tally: &Mutex<Tally>) -> Result<(), RepositoryError> {
        let mut counts = self.stats.counts_of_workspace(workspace);
        while let Some(links) = counts.next().await? {
            let mut tally = tally.lock();
            links.iter().for_each(|(link, totals)| tally.clicks(link, totals));
        }
        if !counts.is_at_end() {
            tally.lock().lacks(OverviewPart::Clicks);
        }
        Ok(())
    }

    async fn add_down(&self, workspace: &WorkspaceId, tally: &Mutex<Tally>) -> Result<(), RepositoryError> {
        let down = self.targets.down(workspace).await?;
        let mut tally = tally.lock();
        down.targets.into_iter().for_each(|target| tally.down(target));
        if !down.is_complete {
            tally.lacks(OverviewPart::Down);
        }
        Ok(())
    }
}
