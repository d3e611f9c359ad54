//! Doing the same to many links: as each link's own route would do it, with its rules.
//!
//! A page of links is read and each is changed if it still is as it was read; otherwise it is decided again what becomes of it. So
//! whoever changes the same link meanwhile loses nothing.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use linklet_domain::{
    Invalid, Job, JobProgress, Link, LinkEdit, LinkJob, LinkRefusal, LinkTask, Record, ShortCode, SortOrder, Timestamp,
    Verdict,
};
use linklet_dynamodb::{Cursor, EditContext, EditOutcome, LinkRange, LinksTable, RepositoryError};
use linklet_lambda::http::{ApiError, Problem, Result};
use linklet_lambda::link_filter::LinkQuery;
use linklet_lambda::watching::TargetRoom;

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

/// Why a link is not edited.
enum NotEdited {
    /// It isn't among the links of the job.
    NotMeant,
    /// The job has changed it before.
    Done,
    /// It can't be so.
    Refused(ApiError),
}

impl From<Invalid> for NotEdited {
    fn from(invalid: Invalid) -> Self {
        Self::Refused(invalid.into())
    }
}

impl LinkWork {
    /// How many links are changed at once.
    const CONCURRENCY: usize = 16;

    /// With a hundred links to a page, of an index that is ten seconds behind at most.
    pub fn new(links: LinksTable, room: TargetRoom) -> Self {
        Self { links, room, links_at_once: 100, index_lags: Duration::from_secs(10) }
    }

    /// Edits the next page of links.
    pub(crate) async fn next(
        &self,
        job: &Job,
        work: &LinkJob,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<Piece, RepositoryError> {
        let unreadable = RepositoryError::unexpected_item("read what a job is about");
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
        let mut reader = self.links.whole(&range);
        let page = reader.next().await?.unwrap_or_default();
        let begun_at = job.started_at.unwrap_or(job.created_at);
        // Another clock has measured when it began.
        let job_context = JobContext { job, task: &work.task, query: &query, begun_at, now: now.max(begun_at) };
        let edits: Vec<_> = page.into_iter().map(|link| self.edit(&job_context, link)).collect();
        // All that has begun is brought to its end, also if one of them fails.
        let edits: Vec<_> = stream::iter(edits).buffer_unordered(Self::CONCURRENCY).collect().await;
        let mut progress = JobProgress::default();
        for edited in edits {
            progress.add(edited?);
        }
        Ok(Piece { progress, next: reader.rest().map(Cursor::encode).map_or(Next::End, Next::GoOn) })
    }

    /// Waits until the index certainly has all that there was when the job began, also what the job before it has changed.
    pub(crate) async fn wait_for_index(&self, job: &Job, now: Timestamp) {
        let is_complete_at = job.started_at.unwrap_or(job.created_at).plus(self.index_lags);
        // Another clock has measured when it began, and may be ahead.
        tokio::time::sleep(now.until(is_complete_at).min(self.index_lags)).await;
    }

    /// Does what is left to do to a link.
    async fn edit(&self, job_context: &JobContext<'_>, link: Link) -> Result<JobProgress, RepositoryError> {
        let JobContext { job, .. } = job_context;
        let code = link.code().clone();
        let record = Record::Link(link);
        let room = match job_context.decide(&record) {
            Ok(edit) => self.require_room(job_context, &record, &edit).await,
            Err(_) => Ok(()),
        };
        if let Err(refusal) = room {
            return Ok(refused(code, &refusal));
        }
        let context = EditContext::unconditional(&job.created_by, &job.correlation_id);
        Ok(match self.links.edit(record, &context, |record| job_context.decide(record)).await? {
            EditOutcome::Written(_) | EditOutcome::Refused(NotEdited::Done) => JobProgress { changed: 1, ..one_seen() },
            EditOutcome::Kept(_) => one_seen(),
            EditOutcome::Gone | EditOutcome::Stale | EditOutcome::Refused(NotEdited::NotMeant) => {
                JobProgress::default()
            }
            EditOutcome::ExternalIdTaken(by) => refused(code, &ApiError::ExternalIdTaken(by)),
            EditOutcome::Refused(NotEdited::Refused(refusal)) => refused(code, &refusal),
            EditOutcome::Contended => refused(code, &Problem::TryAgain.into()),
        })
    }

    /// Refuses to have something watched for longer for which there is no room.
    async fn require_room(
        &self,
        JobContext { job, .. }: &JobContext<'_>,
        record: &Record<Link>,
        edit: &LinkEdit,
    ) -> Result<()> {
        let (Record::Link(before), LinkEdit::Change(after)) = (record, edit) else { return Ok(()) };
        match after.target_watched_anew(before) {
            Some(target) => self.room.require(&job.workspace, &before.identity.owner, &target).await,
            None => Ok(()),
        }
    }
}

fn one_seen() -> JobProgress {
    JobProgress { seen: 1, ..JobProgress::default() }
}

fn refused(short_code: ShortCode, refusal: &ApiError) -> JobProgress {
    let (code, detail) = (refusal.problem().code().to_owned(), refusal.sentence());
    JobProgress { failed: 1, failures: vec![LinkRefusal { short_code, code, detail }], ..one_seen() }
}

/// The links of a job, and what it does to them.
struct JobContext<'a> {
    job: &'a Job,
    task: &'a LinkTask,
    query: &'a LinkQuery,
    begun_at: Timestamp,
    /// What time it is, and not before the job's beginning.
    now: Timestamp,
}

impl JobContext<'_> {
    /// What is left to do to a link, as it is.
    fn decide(&self, record: &Record<Link>) -> Result<LinkEdit, NotEdited> {
        let Record::Link(link) = record else { return Err(NotEdited::NotMeant) };
        let now = self.now;
        if self.has_changed(link, now) {
            return Err(NotEdited::Done);
        }
        if !self.includes(link, now) {
            return Err(NotEdited::NotMeant);
        }
        if link.availability.is_deleted() && !self.task.concerns_deleted() {
            return Err(NotEdited::Refused(Problem::LinkDeleted.into()));
        }
        Ok(self.task.edit(link, now)?)
    }

    /// Whether this job has changed a link already: in a step that died, or lost its note.
    fn has_changed(&self, link: &Link, now: Timestamp) -> bool {
        link.last_write.correlation_id == self.job.correlation_id
            && link.updated_at >= self.begun_at
            && matches!(self.task.edit(link, now), Ok(LinkEdit::Keep))
    }

    /// Whether a link is one of those that the job may and is to change.
    fn includes(&self, link: &Link, now: Timestamp) -> bool {
        self.job.role.may_change(&link.identity.owner, &self.job.created_by)
            && self.query.verdict(link, now) == Verdict::Shown
    }
}
