//! Closing a workspace, bringing it back, and purging what nobody can bring back any more.
//!
//! Each piece of work looks at the workspace first and does what that says now. So a job whose workspace is otherwise by now leaves off, and
//! the one that was begun since does the rest.

use std::convert::Infallible;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    AccountChange, Closure, Job, JobProgress, Link, LinkEdit, LinkId, Record, SortOrder, SuspensionReason, Suspensions,
    Timestamp, Workspace, WorkspaceJob,
};
use linklet_dynamodb::{
    Cursor, EditContext, JobMark, JobsTable, LinkRange, LinksTable, RepositoryError, Result, StatsTable, UsersTable,
    WatchTable,
};
use linklet_lambda::email_requests::EmailRequests;
use serde::{Deserialize, Serialize};

use crate::pass::{Pass, PassStep};
use crate::{Next, Piece, Recheck, decode};

/// The kind of job that closes workspaces and brings them back.
pub struct WorkspaceWork {
    /// The repository of workspaces, memberships and API keys.
    pub users: UsersTable,
    /// The repository of jobs, which are purged with their workspace.
    pub jobs: JobsTable,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, for overviews, and for links that have expired or were deleted.
    pub stats: StatsTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// Where it is ordered that members are told.
    pub mails: EmailRequests,
    /// How many links are looked at with one read.
    pub links_at_once: usize,
}

/// What is to become of a workspace, by what it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DesiredState {
    Open,
    Closed,
    Gone,
}

impl DesiredState {
    /// `None` if the job isn't the workspace's any more.
    fn of(job: &Job, work: WorkspaceJob, workspace: &Workspace, now: Timestamp) -> Option<Self> {
        match (work, workspace.closure) {
            (WorkspaceJob::ReopenWorkspace, None) => Some(Self::Open),
            (WorkspaceJob::CloseWorkspace, Some(closure)) if closure.job == job.id => {
                Some(if closure.is_over(now) { Self::Gone } else { Self::Closed })
            }
            _ => None,
        }
    }
}

/// How far a pass has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(crate) enum Step {
    /// Memberships and API keys.
    Access,
    /// Links, from after this one on.
    Links { after: Option<String> },
    /// Links that are gone and have statistics, from after this one on.
    Tombstones { after: Option<String> },
    /// Monitored URLs.
    Targets,
    /// What else there is, and at last the workspace.
    Remains,
    /// Nothing, until a mark is gone.
    Rest,
}

impl PassStep for Step {
    const FIRST: Self = Self::Access;
    const REST: Self = Self::Rest;
}

/// Where a job is. Its first pass marks memberships and API keys; until then environments may look them up without a mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    wanted: DesiredState,
    #[serde(flatten)]
    pub pass: Pass<Step>,
}

impl Checkpoint {
    /// The beginning of another pass.
    pub(crate) fn again(self, now: Timestamp) -> Self {
        Self { pass: self.pass.again(now), ..self }
    }

    fn at(self, step: Step) -> Self {
        Self { pass: self.pass.at(step), ..self }
    }

    /// Another pass, at once or when it is time.
    fn once_more(self, now: Timestamp) -> Next<Self> {
        let Self { wanted, pass } = self;
        pass.once_more(now).map(|pass| Self { wanted, pass })
    }
}

impl WorkspaceWork {
    /// How many links are written at once.
    const CONCURRENCY: usize = 16;

    /// With a hundred links to a page.
    pub fn new(
        users: UsersTable,
        jobs: JobsTable,
        (links, stats, targets): (LinksTable, StatsTable, WatchTable),
        mails: EmailRequests,
    ) -> Self {
        Self { users, jobs, links, stats, targets, mails, links_at_once: 100 }
    }

    /// Does the next piece.
    pub(crate) async fn next(
        &self,
        job: &Job,
        work: WorkspaceJob,
        checkpoint: Option<Checkpoint>,
        now: Timestamp,
    ) -> Result<Piece<Checkpoint>> {
        let Some(workspace) = self.users.workspace(&job.workspace).await? else {
            // A step died between the last two writes of a purge.
            self.jobs.forget_workspace(job).await?;
            return Ok(Piece::then(Next::End));
        };
        let Some(wanted) = DesiredState::of(job, work, &workspace, now) else {
            return Ok(Piece::then(Next::Preempted));
        };
        let checkpoint = match checkpoint {
            Some(checkpoint) if checkpoint.wanted == wanted => checkpoint,
            Some(checkpoint) => Checkpoint { wanted, ..checkpoint.again(now) },
            None => Checkpoint { wanted, pass: Pass::first(now.plus(Closure::CACHES_EXPIRE_WITHIN), now) },
        };
        let mut progress = JobProgress::default();
        let step = match checkpoint.pass.step.clone() {
            Step::Access => self.apply_to_access(job, &workspace, wanted).await?,
            Step::Links { after } => {
                let (step, seen, changed) = self.apply_to_links(job, wanted, after.as_deref(), now).await?;
                (progress.seen, progress.changed) = (seen, changed);
                step
            }
            Step::Tombstones { after } => self.purge_tombstones(job, after.as_deref(), now).await?,
            Step::Targets => self.purge_targets(&workspace).await?,
            Step::Remains => return Ok(Piece::then(self.purge_remains(job, &workspace, checkpoint, now).await?)),
            Step::Rest => return Ok(Piece::then(Next::Rest(checkpoint, None))),
        };
        let next = match step {
            Some(step) => Next::GoOn(checkpoint.at(step)),
            None => end_pass(checkpoint, now),
        };
        Ok(Piece { progress, next })
    }

    /// Marks memberships and API keys or takes the marks away, and tells members. API keys of what is purged go at once.
    async fn apply_to_access(&self, job: &Job, workspace: &Workspace, wanted: DesiredState) -> Result<Option<Step>> {
        let workspace_name = workspace.name.clone();
        let restorable_until = workspace.closure.map(|closure| closure.restorable_until);
        let change = match wanted {
            DesiredState::Open => AccountChange::WorkspaceRestored { workspace_name },
            DesiredState::Closed => AccountChange::WorkspaceClosed { workspace_name, restorable_until },
            DesiredState::Gone => AccountChange::WorkspaceClosed { workspace_name, restorable_until: None },
        };
        let closed_at = workspace.closure.map(|closure| closure.closed_at);
        // Before they are marked, since a step that dies in between finds nobody to tell when it is repeated.
        let members = self.users.unmarked_members(&workspace.id, closed_at).await?;
        self.mails.tell_all(&job.correlation_id, &members, &change).await;
        self.users.mark_members(&workspace.id, closed_at).await?;
        // Nobody makes one any more. A workspace that is restored shares anew.
        if wanted != DesiredState::Open {
            self.stats.forget_shares(&workspace.id).await?;
        }
        match wanted {
            DesiredState::Open | DesiredState::Closed => self.users.mark_keys(&workspace.id, closed_at).await?,
            DesiredState::Gone => self.users.delete_keys(&workspace.id).await?,
        }
        Ok(Some(Step::Links { after: None }))
    }

    /// Suspends a page of links, lifts that, or purges them. Returns the step after it, how many links it has seen and how many it has
    /// changed.
    async fn apply_to_links(
        &self,
        job: &Job,
        wanted: DesiredState,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<(Option<Step>, u64, u64)> {
        let after =
            after.map(Cursor::decode).transpose().map_err(RepositoryError::unexpected_item("read a checkpoint"))?;
        let range = LinkRange {
            workspace: &job.workspace,
            created: (None, None),
            order: SortOrder::Ascending,
            after,
            // The link of the cursor is read as well.
            wanted: Some(self.links_at_once.saturating_sub(1)),
        };
        let mut reader = self.links.whole(&range);
        let page = reader.next().await?.unwrap_or_default();
        let seen = page.len() as u64;
        let edits: Vec<_> = page.into_iter().map(|link| self.apply_to_link(job, wanted, link, now)).collect();
        let edited: Vec<bool> = stream::iter(edits).buffer_unordered(Self::CONCURRENCY).try_collect().await?;
        let changed = edited.into_iter().filter(|is_changed| *is_changed).count() as u64;
        let step = match (reader.rest().map(Cursor::encode), wanted) {
            (Some(after), _) => Some(Step::Links { after: Some(after) }),
            (None, DesiredState::Gone) => Some(Step::Tombstones { after: None }),
            (None, DesiredState::Open | DesiredState::Closed) => None,
        };
        Ok((step, seen, changed))
    }

    /// Does to a link what is left to do, and says whether there was anything.
    async fn apply_to_link(&self, job: &Job, wanted: DesiredState, link: Link, now: Timestamp) -> Result<bool> {
        let edit = |record: &Record<Link>| match (wanted, record) {
            (DesiredState::Gone, _) => LinkEdit::purge(record, now),
            (DesiredState::Open, Record::Link(link)) => LinkEdit::lift(link, Suspensions::of(SuspensionReason::Closed)),
            (DesiredState::Closed, Record::Link(link)) => LinkEdit::suspend(link, SuspensionReason::Closed),
            (DesiredState::Open | DesiredState::Closed, Record::Tombstone(_)) => LinkEdit::Keep,
        };
        self.edit(job, Record::Link(link), edit).await
    }

    async fn edit(&self, job: &Job, record: Record<Link>, edit: impl Fn(&Record<Link>) -> LinkEdit) -> Result<bool> {
        let context = EditContext::unconditional(&job.created_by, &job.correlation_id);
        let edited = self.links.edit(record, &context, |record| Ok::<_, Infallible>(edit(record))).await?;
        edited.is_written()
    }

    /// Purges what is left of links that have given way to their tombstones, for whose statistics there is no other way to find them.
    async fn purge_tombstones(&self, job: &Job, after: Option<&str>, now: Timestamp) -> Result<Option<Step>> {
        let unreadable = RepositoryError::unexpected_item("read a checkpoint");
        let after = after.map(LinkId::parse).transpose().map_err(&unreadable)?;
        let (followed, rest) = self.stats.followed(&job.workspace, after.as_ref()).await?;
        let purged: Vec<_> = followed.iter().map(|link| self.purge_tombstone(job, link, now)).collect();
        stream::iter(purged).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        Ok(Some(rest.map_or(Step::Targets, |link| Step::Tombstones { after: Some(link.to_string()) })))
    }

    async fn purge_tombstone(&self, job: &Job, link: &LinkId, now: Timestamp) -> Result<()> {
        match self.links.find(&link.code).await? {
            Some(record) if record.identity().id == *link => {
                self.edit(job, record, |record| LinkEdit::purge(record, now)).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Purges a page of monitored URLs, one after another, since each counts down what the workspace and its creator have. As they go,
    /// the next page is the first one again, until the index knows of none.
    async fn purge_targets(&self, workspace: &Workspace) -> Result<Option<Step>> {
        const AT_ONCE: usize = 100;
        let page = self.targets.list(&workspace.id, None, AT_ONCE, None).await?;
        for target in &page.items {
            self.targets.purge(&target.id).await?;
        }
        Ok(Some(if page.items.is_empty() { Step::Remains } else { Step::Targets }))
    }

    /// Deletes what else a workspace has, and at last itself and its jobs, if nothing can be created in it any more.
    async fn purge_remains(
        &self,
        job: &Job,
        workspace: &Workspace,
        checkpoint: Checkpoint,
        now: Timestamp,
    ) -> Result<Next<Checkpoint>> {
        let id = &workspace.id;
        self.users.delete_invitations(id).await?;
        self.stats.forget_overviews(id).await?;
        self.stats.forget_shares(id).await?;
        self.links.forget_cleanup(id).await?;
        self.targets.forget_workspace(id).await?;
        if !checkpoint.pass.is_last() {
            return Ok(checkpoint.once_more(now));
        }
        self.users.delete_members(id).await?;
        self.users.forget_workspace(workspace, now).await?;
        tracing::info!(workspace_id = %id, "a workspace is purged");
        self.jobs.forget_workspace(job).await?;
        Ok(Next::End)
    }

    /// What becomes of a job whose mark is gone.
    pub(crate) async fn recheck(&self, job: &Job, mark: JobMark, now: Timestamp) -> Result<Recheck> {
        let closure = self.users.workspace(&job.workspace).await?.and_then(|workspace| workspace.closure);
        let is_restorable = |closure: &Closure| closure.job == job.id && !closure.is_over(now);
        Ok(match (mark, closure.filter(is_restorable)) {
            // Somebody has deleted it by hand.
            (JobMark::Closed, Some(closure)) => Recheck::Later(closure.restorable_until),
            // Nothing is left to do until the workspace can't be brought back any more.
            (JobMark::Revisit, Some(_)) if waits_for_purge(job) => Recheck::None,
            _ => Recheck::Now,
        })
    }
}

/// What comes after a pass: another one, if this one has begun before all environments knew what the workspace is.
fn end_pass(checkpoint: Checkpoint, now: Timestamp) -> Next<Checkpoint> {
    match checkpoint.wanted {
        DesiredState::Open if checkpoint.pass.is_last() => Next::End,
        DesiredState::Closed if checkpoint.pass.is_last() => Next::Rest(checkpoint.at(Step::Rest), None),
        _ => checkpoint.once_more(now),
    }
}

fn waits_for_purge(job: &Job) -> bool {
    let checkpoint = decode::<Checkpoint>(job.checkpoint.as_deref());
    matches!(checkpoint, Ok(Some(checkpoint)) if checkpoint.pass.rests() && checkpoint.pass.is_last())
}
