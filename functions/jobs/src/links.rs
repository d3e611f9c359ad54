//! Doing the same to many links: as each link's own route would do it, with its rules.
//!
//! A page of links is read and each is changed if it still is as it was read; otherwise it is read again and judged again. So whoever
//! changes the same link meanwhile loses nothing.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use linklet_domain::{
    Destinations, Invalid, Job, JobProgress, LinkJob, LinkPatch, LinkRefusal, LinkStep, LinkTask, Precondition, Record,
    ShortCode, SortOrder, Timestamp, Verdict,
};
use linklet_dynamodb::{
    Cursor, DeleteOutcome, Deletion, LinkRange, LinkUpdate, LinksTable, Purge, PurgeOutcome, RepositoryError,
    TracedLink, UpdateOutcome, back_off,
};
use linklet_lambda::{
    http::{ApiError, Problem},
    link_filter::LinkQuery,
    watching::TargetRoom,
};

use crate::{Next, Piece};

/// The kind of job that changes links.
pub struct LinkWork {
    /// The repository of links.
    pub links: LinksTable,
    /// Knows whether there is room for what an extended link watches.
    pub room: TargetRoom,
    /// How many links are looked at with one read.
    pub links_at_once: usize,
    /// For how long the index may not know of a change.
    pub index_lags: Duration,
}

/// What has come of a link that is meant.
enum Treated {
    Kept,
    Changed,
    Refused(ApiError),
}

/// Why a link is not treated yet.
enum Again {
    /// It has changed since it was read.
    Stale,
    /// A table failed.
    Failed(RepositoryError),
    /// It can't be changed so.
    Refused(ApiError),
}

impl From<RepositoryError> for Again {
    fn from(error: RepositoryError) -> Self {
        Self::Failed(error)
    }
}

impl LinkWork {
    /// How many links are changed at once.
    const CONCURRENCY: usize = 16;
    /// How often a link is tried that others change as well.
    const TRIES: u32 = 8;

    /// With a hundred links to a page, of an index that is ten seconds behind at most.
    #[must_use]
    pub fn new(links: LinksTable, room: TargetRoom) -> Self {
        Self { links, room, links_at_once: 100, index_lags: Duration::from_secs(10) }
    }

    /// Treats the next page of links.
    pub(crate) async fn next(&self, job: &Job, work: &LinkJob, after: Option<&str>) -> Result<Piece, RepositoryError> {
        let unreadable = RepositoryError::unreadable("read what a job is about");
        let query = LinkQuery::of(&work.filter).map_err(&unreadable)?.naming(work.short_code.as_ref());
        let after = after.map(Cursor::decode).transpose().map_err(&unreadable)?;
        let (from, to) = query.created;
        let range = LinkRange {
            workspace: &job.workspace,
            created: (from, Some(to.map_or(job.created_at, |to| to.min(job.created_at)))),
            order: SortOrder::Ascending,
            after,
            // The link of the cursor is read as well.
            wanted: Some(self.links_at_once.saturating_sub(1)),
        };
        let mut reader = self.links.traced(&range);
        let page = reader.next().await?.unwrap_or_default();
        let meant = Meant { job, task: &work.task, query: &query };
        let treated: Vec<_> = page.into_iter().map(|link| self.treat(&meant, link)).collect();
        // All that has begun is brought to its end, also if one of them fails.
        let treated: Vec<_> = stream::iter(treated).buffer_unordered(Self::CONCURRENCY).collect().await;
        let mut progress = JobProgress::default();
        for treated in treated {
            if let (code, Some(treated)) = treated? {
                progress.add(counted(code, treated));
            }
        }
        Ok(Piece { progress, next: reader.rest().map(Cursor::encode).map_or(Next::End, Next::GoOn) })
    }

    /// Waits until the index certainly has all that there was when the job began, also what the job before it has changed.
    pub(crate) async fn settle(&self, job: &Job) {
        let settled_at = job.started_at.unwrap_or(job.created_at).plus(self.index_lags);
        // Another clock has measured when it began, and may be ahead.
        tokio::time::sleep(Timestamp::now().until(settled_at).min(self.index_lags)).await;
    }

    /// Does what is left to do to a link; `None` if it isn't meant.
    async fn treat(
        &self,
        meant: &Meant<'_>,
        found: TracedLink,
    ) -> Result<(ShortCode, Option<Treated>), RepositoryError> {
        let id = found.link.id().clone();
        let mut current = Some(found);
        for tried in 0..Self::TRIES {
            let Some(found) = &current else { return Ok((id.code, None)) };
            match self.attempt(meant, found).await {
                Ok(treated) => return Ok((id.code, treated)),
                Err(Again::Refused(refusal)) => return Ok((id.code, Some(Treated::Refused(refusal)))),
                Err(Again::Failed(error)) => return Err(error),
                Err(Again::Stale) => {
                    back_off(tried).await;
                    current = self.links.retrace(&id).await?;
                }
            }
        }
        Ok((id.code, Some(Treated::Refused(Problem::TryAgain.into()))))
    }

    async fn attempt(&self, meant: &Meant<'_>, found: &TracedLink) -> Result<Option<Treated>, Again> {
        let Meant { job, task, .. } = meant;
        let TracedLink { link, .. } = found;
        let now = meant.time();
        if meant.has_changed(found, now) {
            return Ok(Some(Treated::Changed));
        }
        if !meant.includes(found, now) {
            return Ok(None);
        }
        if link.availability.is_deleted() && !task.concerns_deleted() {
            return Err(Again::Refused(Problem::LinkDeleted.into()));
        }
        let (only, by, correlation_id) = (Precondition::only(link.revision), &job.created_by, &job.correlation_id);
        let is_stale = match task.step(link, now).map_err(refused)? {
            LinkStep::Nothing => return Ok(Some(Treated::Kept)),
            LinkStep::Change(patch) => self.change(meant, found, &patch, (&only, now)).await?,
            LinkStep::Delete => {
                let deletion = Deletion { precondition: &only, by, named: None, at: now, correlation_id };
                self.links.delete_if(link, &deletion).await? != DeleteOutcome::Deleted
            }
            LinkStep::Purge => {
                let record = Record::Link(link.clone());
                let purge = Purge { precondition: &only, named: None, at: now, correlation_id };
                self.links.purge_if(&record, &purge).await? == PurgeOutcome::Stale
            }
        };
        if is_stale { Err(Again::Stale) } else { Ok(Some(Treated::Changed)) }
    }

    /// Changes a link, and says whether it has changed otherwise meanwhile.
    async fn change(
        &self,
        Meant { job, .. }: &Meant<'_>,
        TracedLink { link, .. }: &TracedLink,
        patch: &LinkPatch,
        (precondition, at): (&Precondition, Timestamp),
    ) -> Result<bool, Again> {
        if let Some(target) = link.target_watched_longer(patch) {
            let room = self.room.require(&job.workspace, &link.identity.owner, &target).await;
            room.map_err(Again::Refused)?;
        }
        let update = LinkUpdate {
            link: link.id(),
            patch,
            precondition,
            destinations: Destinations::Fixed,
            by: &job.created_by,
            named: None,
            at,
            correlation_id: &job.correlation_id,
        };
        match self.links.update(&update).await? {
            UpdateOutcome::Changed(_) => Ok(false),
            UpdateOutcome::Stale | UpdateOutcome::Gone => Ok(true),
            UpdateOutcome::ExternalIdTaken => Err(Again::Refused(Problem::ExternalIdTaken.into())),
            UpdateOutcome::DestinationFixed => Err(Again::Refused(Problem::DestinationFixed.into())),
            UpdateOutcome::Invalid(invalid) => Err(refused(invalid)),
        }
    }
}

fn refused(invalid: Invalid) -> Again {
    Again::Refused(invalid.into())
}

fn counted(short_code: ShortCode, treated: Treated) -> JobProgress {
    let seen = JobProgress { seen: 1, ..JobProgress::default() };
    match treated {
        Treated::Kept => seen,
        Treated::Changed => JobProgress { changed: 1, ..seen },
        Treated::Refused(refusal) => {
            let (code, detail) = (refusal.problem().code().to_owned(), refusal.sentence());
            JobProgress { failed: 1, failures: vec![LinkRefusal { short_code, code, detail }], ..seen }
        }
    }
}

/// Which links are meant, and what is done to them.
struct Meant<'a> {
    job: &'a Job,
    task: &'a LinkTask,
    query: &'a LinkQuery,
}

impl Meant<'_> {
    /// What time it is, and not before the job's beginning, which another clock has measured.
    fn time(&self) -> Timestamp {
        Timestamp::now().max(self.begun_at())
    }

    fn begun_at(&self) -> Timestamp {
        self.job.started_at.unwrap_or(self.job.created_at)
    }

    /// Whether this job has changed a link already: in a turn that died, or lost its note.
    fn has_changed(&self, TracedLink { link, correlation_id }: &TracedLink, now: Timestamp) -> bool {
        let is_done = |step| matches!(step, Ok(LinkStep::Nothing));
        *correlation_id == self.job.correlation_id
            && link.updated_at >= self.begun_at()
            && is_done(self.task.step(link, now))
    }

    /// Whether a link is one of those that the job may and is to change.
    fn includes(&self, TracedLink { link, .. }: &TracedLink, now: Timestamp) -> bool {
        self.job.role.may_change(&link.identity.owner, &self.job.created_by)
            && self.query.verdict(link, now) == Verdict::Shown
    }
}
