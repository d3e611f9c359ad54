//! Adds up what is known of a workspace's links: of their summaries, counts of clicks, and days. Each of them has a bound: what goes
//! beyond is left out, and the [`Tally`] says so.

use std::ops::RangeInclusive;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    CoveredLinks, Day, Followed, LinkId, OverviewPart, OverviewQuestion, SortOrder, Tally, Timestamp, WorkspaceId,
};
use linklet_dynamodb::{ByteBudget, LinkRange, LinksTable, RepositoryError, Result, StatsTable};
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::throttle::StatsQueryLimiter;

/// How many links have their days read at a time.
const LINKS_AT_A_TIME: usize = 4;

/// What is known of a workspace while it is added up. It is read part by part, so that little of it is in memory.
pub struct Gathering<'g> {
    links: &'g LinksTable,
    stats: &'g StatsTable,
    /// The workspace that it is about.
    pub workspace: &'g WorkspaceId,
    /// What is asked about it.
    pub question: &'g OverviewQuestion,
    now: Timestamp,
    tally: Mutex<Tally>,
    /// Until when days of links are read.
    until: Instant,
}

impl<'g> Gathering<'g> {
    /// Nothing yet.
    pub fn of(
        (links, stats): (&'g LinksTable, &'g StatsTable),
        workspace: &'g WorkspaceId,
        question: &'g OverviewQuestion,
        now: Timestamp,
    ) -> Self {
        let tally = Mutex::new(Tally::new(question.clone(), now));
        let until = Instant::now() + StatsQueryLimiter::READ_FOR;
        Self { links, stats, workspace, question, now, tally, until }
    }

    /// Compares the days that the question is about [with these](Tally::against).
    #[must_use]
    pub fn against(self, before: RangeInclusive<Day>) -> Self {
        Self { tally: Mutex::new(self.tally.into_inner().against(before)), ..self }
    }

    /// What was added so far. It must not be held while something is read.
    pub fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock()
    }

    /// All that was added.
    pub fn finish(self) -> Tally {
        self.tally.into_inner()
    }

    /// Adds links and their clicks, one after the other if the links tell whose clicks are meant.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn add_followed(&self) -> Result<()> {
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
        let mut summaries = self.links.summaries(&range);
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
        let mut counts = self.stats.counts_of_workspace(self.workspace);
        while let Some(links) = counts.next().await? {
            let mut tally = self.tally.lock();
            links.iter().for_each(|(link, totals)| tally.clicks(link, totals));
        }
        if !counts.is_at_end() {
            self.tally.lock().lacks(OverviewPart::Clicks);
        }
        Ok(())
    }

    /// Whether links and clicks tell all that an overview says of clicks, and days add nothing.
    pub fn is_recent(&self) -> bool {
        self.question.is_recent(self.now)
    }

    /// Adds the days of the links with most clicks, of each link all days or none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn add_days(&self) -> Result<()> {
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
        let (read, read_from) = self.stats.days_back(link, days, budget).await?;
        let is_whole = read_from == *days.start();
        if is_whole {
            self.tally.lock().days(link, &read);
        }
        Ok(is_whole)
    }
}
