//! Adds up what is known of links: of their summaries, counts of clicks, days, and the status of monitored URLs. Each of them has a
//! bound: what goes beyond is left out, and the answer says so.

use std::{cmp::Reverse, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    CoveredLinks, DownTarget, Followed, LinkId, Overview, OverviewBreakdowns, OverviewPart, OverviewQuestion,
    SortOrder, Tally, Timestamp, WorkspaceId,
};
use linklet_dynamodb::{ByteBudget, DownTargets, Kept, LinkRange, RepositoryError, Result};
use linklet_lambda::throttle::StatsQueryLimiter;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Overviews;

/// Whoever waits longer gets the old answer, or an error. The function itself may run for ten seconds.
const BUDGET: Duration = Duration::from_secs(8);

/// Of how many targets that are down it is looked up whether a link with a tag watches them.
const MOST_JUDGED: usize = 100;

const TARGETS_AT_A_TIME: usize = 8;

/// How many links have their days read at a time.
const LINKS_AT_A_TIME: usize = 4;

/// What is known of a workspace while it is added up.
pub(crate) struct Gathering<'g> {
    overviews: &'g Overviews,
    workspace: &'g WorkspaceId,
    question: &'g OverviewQuestion,
    now: Timestamp,
    tally: Mutex<Tally>,
    /// Until when days of links are read.
    until: Instant,
}

/// Something about a workspace that is added up when somebody asks.
pub(crate) trait Gathered: Kept {
    /// A new one. What it is made of is read at the same time, part by part, so that little of it is in memory.
    async fn gather(gathering: Gathering<'_>) -> Result<Self>;
}

impl Gathered for Overview {
    async fn gather(gathering: Gathering<'_>) -> Result<Self> {
        within_budget(async {
            let Gathering { overviews, workspace, question, now, .. } = &gathering;
            let (down, ()) = tokio::try_join!(overviews.targets.down(workspace), gathering.add_followed())?;
            gathering.add_down(down).await?;
            if question.is_recent(*now) { Ok(()) } else { gathering.add_days().await }
        })
        .await?;
        Ok(gathering.tally.into_inner().finish())
    }
}

impl Gathered for OverviewBreakdowns {
    async fn gather(gathering: Gathering<'_>) -> Result<Self> {
        within_budget(async {
            gathering.add_followed().await?;
            gathering.add_days().await
        })
        .await?;
        Ok(gathering.tally.into_inner().finish_breakdowns())
    }
}

async fn within_budget(reads: impl Future<Output = Result<()>>) -> Result<()> {
    let too_slow =
        |elapsed| RepositoryError::Unavailable { operation: "add up an overview", source: Box::new(elapsed) };
    tokio::time::timeout(BUDGET, reads).await.map_err(too_slow)?
}

impl<'g> Gathering<'g> {
    pub(crate) fn of(
        overviews: &'g Overviews,
        workspace: &'g WorkspaceId,
        question: &'g OverviewQuestion,
        now: Timestamp,
    ) -> Self {
        let tally = Mutex::new(Tally::new(question.clone(), now));
        Self { overviews, workspace, question, now, tally, until: Instant::now() + StatsQueryLimiter::READ_FOR }
    }

    /// Adds links and their clicks, one after the other if the links tell whose clicks are meant.
    async fn add_followed(&self) -> Result<()> {
        if self.question.tag.is_none() {
            return tokio::try_join!(self.add_links(), self.add_clicks()).map(|_| ());
        }
        self.add_links().await?;
        self.add_clicks().await
    }

    async fn add_links(&self) -> Result<()> {
        let range = LinkRange {
            workspace: self.workspace,
            created: (None, None),
            order: SortOrder::Descending,
            after: None,
            wanted: None,
        };
        let mut summaries = self.overviews.links.summaries(&range);
        while let Some(links) = summaries.next().await? {
            let mut tally = self.tally.lock();
            links.iter().for_each(|link| tally.link(link));
        }
        if summaries.rest().is_some() {
            self.tally.lock().lacks(OverviewPart::Links);
        }
        Ok(())
    }

    async fn add_clicks(&self) -> Result<()> {
        let mut counts = self.overviews.stats.counts_of_workspace(self.workspace);
        while let Some(links) = counts.next().await? {
            let mut tally = self.tally.lock();
            links.iter().for_each(|(link, totals)| tally.clicks(link, totals));
        }
        if !counts.is_at_end() {
            self.tally.lock().lacks(OverviewPart::Clicks);
        }
        Ok(())
    }

    /// Adds the days of the links with most clicks, of each link all days or none.
    async fn add_days(&self) -> Result<()> {
        let Followed { links, clicks: of } = self.tally.lock().followed();
        let budget = ByteBudget::of(StatsQueryLimiter::READ_BYTES);
        let mut covered = 0;
        let reads = stream::iter(links).map(|(link, clicks)| {
            let budget = &budget;
            async move { Ok::<_, RepositoryError>((self.add_days_of(&link, budget).await?, clicks)) }
        });
        let mut reads = reads.buffered(LINKS_AT_A_TIME);
        while let Some((is_added, clicks)) = reads.try_next().await? {
            covered += if is_added { clicks } else { 0 };
        }
        if covered < of {
            self.tally.lock().covers(CoveredLinks { clicks: covered, of });
        }
        Ok(())
    }

    /// Adds the days of a link, if all of them can be read. Returns whether they were.
    async fn add_days_of(&self, link: &LinkId, budget: &ByteBudget) -> Result<bool> {
        let Some(days) = self.question.days.as_ref().filter(|_| Instant::now() < self.until) else { return Ok(false) };
        let (read, read_from) = self.overviews.stats.days_back(link, days, budget).await?;
        let is_whole = read_from == *days.start();
        if is_whole {
            self.tally.lock().days(link, &read);
        }
        Ok(is_whole)
    }

    /// Adds what is down, and if the question asks for a tag, only what one of its links watches.
    async fn add_down(&self, down: DownTargets) -> Result<()> {
        let DownTargets { mut targets, mut is_complete } = down;
        if self.question.tag.is_some() {
            targets.sort_unstable_by_key(|target| Reverse(target.since));
            is_complete &= targets.len() <= MOST_JUDGED;
            targets.truncate(MOST_JUDGED);
            let checked = self.watched(targets).await?;
            is_complete &= checked.is_complete;
            targets = checked.targets;
        }
        let mut tally = self.tally.lock();
        targets.into_iter().for_each(|target| tally.down(target));
        if !is_complete {
            tally.lacks(OverviewPart::Down);
        }
        Ok(())
    }

    /// Those of these targets that a link watches that the question is about, as far as their watchers can be read.
    async fn watched(&self, targets: Vec<DownTarget>) -> Result<DownTargets> {
        let budget = ByteBudget::of(StatsQueryLimiter::READ_BYTES);
        let checked = stream::iter(targets).map(|target| {
            let budget = &budget;
            async move {
                let (watchers, is_all) = self.overviews.targets.watchers(&target.id, budget).await?;
                let is_watched = watchers.iter().any(|link| self.tally.lock().is_about(link));
                Ok::<_, RepositoryError>((is_watched.then_some(target), is_watched || is_all))
            }
        });
        let checked: Vec<_> = checked.buffered(TARGETS_AT_A_TIME).try_collect().await?;
        let is_complete = checked.iter().all(|(_, is_certain)| *is_certain);
        Ok(DownTargets { targets: checked.into_iter().filter_map(|(target, _)| target).collect(), is_complete })
    }
}
