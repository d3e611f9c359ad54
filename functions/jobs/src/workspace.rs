//! Closing a workspace, bringing it back, and purging what nobody can bring back any more.
//!
//! Each piece of work looks at the workspace first and does what that says now. So a job whose workspace is otherwise by now leaves off, and
//! the one that was begun since does the rest.
//!
//! Environments hold for a minute what a token or a key is worth, and an index is some moments behind. So what has begun before all of them
//! know is done once more.

use std::{convert::Infallible, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    AccountChange, Closure, Job, JobProgress, JobState, Link, LinkEdit, LinkId, Record, SortOrder, Suspension,
    Timestamp, Workspace, WorkspaceJob,
};
use linklet_dynamodb::{
    ClosedWorkspaces, Cursor, DueMark, EditContext, JobMark, JobsTable, LinkRange, LinksTable, Reached,
    RepositoryError, StatsTable, WatchTable,
};
use linklet_lambda::email_requests::EmailRequests;
use serde::{Deserialize, Serialize};

use crate::{Next, Piece};

/// The kind of job that closes workspaces and brings them back.
pub struct WorkspaceWork {
    /// The repository of workspaces, memberships and API keys.
    pub workspaces: ClosedWorkspaces,
    /// The repository of jobs, for the marks beside those that rest.
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
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
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
enum Step {
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

/// Where a job is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Checkpoint {
    wanted: DesiredState,
    /// When the first pass began, which marks memberships and API keys. Until then environments may look them up without a mark.
    first: Timestamp,
    /// When the pass began.
    since: Timestamp,
    #[serde(flatten)]
    step: Step,
}

impl Checkpoint {
    fn read(text: Option<&str>) -> Option<Self> {
        text.and_then(|text| serde_json::from_str(text).ok())
    }

    fn at(self, step: Step) -> Self {
        Self { step, ..self }
    }

    /// The beginning of another pass.
    fn again(self, now: Timestamp) -> Self {
        Self { since: now, step: Step::Access, ..self }
    }

    /// When all environments know what the workspace is.
    fn settled_at(&self) -> Timestamp {
        self.first.plus(Closure::SETTLES_WITHIN)
    }

    /// Whether the pass has begun after that.
    fn is_settled(&self) -> bool {
        self.settled_at() <= self.since
    }

    fn written(&self) -> Result<String, RepositoryError> {
        serde_json::to_string(self).map_err(RepositoryError::unwritable("note where a job is"))
    }
}

/// Whether a job rests.
pub(crate) fn rests(job: &Job) -> bool {
    Checkpoint::read(job.after.as_deref()).is_some_and(|place| place.step == Step::Rest)
}

/// Whether nothing is left to do for a job until its workspace can't be brought back any more.
fn waits_for_purge(job: &Job) -> bool {
    let place = Checkpoint::read(job.after.as_deref());
    place.is_some_and(|place| place.step == Step::Rest && place.is_settled())
}

impl WorkspaceWork {
    /// How many links are written at once.
    const CONCURRENCY: usize = 16;

    /// With a hundred links to a page, by the system's clock.
    #[must_use]
    pub fn new(
        workspaces: ClosedWorkspaces,
        jobs: JobsTable,
        (links, stats, targets): (LinksTable, StatsTable, WatchTable),
        mails: EmailRequests,
    ) -> Self {
        Self { workspaces, jobs, links, stats, targets, mails, links_at_once: 100, clock: Box::new(Timestamp::now) }
    }

    /// Does the next piece.
    pub(crate) async fn next(
        &self,
        job: &Job,
        work: WorkspaceJob,
        after: Option<&str>,
    ) -> Result<Piece, RepositoryError> {
        let now = (self.clock)();
        let Some(workspace) = self.workspaces.find(&job.workspace).await? else {
            // A turn died between the last two writes of a purge.
            self.jobs.forget_workspace(job).await?;
            return Ok(Piece::last());
        };
        let Some(wanted) = DesiredState::of(job, work, &workspace, now) else { return Ok(Piece::overtaken()) };
        let place = match Checkpoint::read(after) {
            Some(place) if place.wanted == wanted => place,
            Some(place) => Checkpoint { wanted, ..place.again(now) },
            None => Checkpoint { wanted, first: now, since: now, step: Step::Access },
        };
        let mut progress = JobProgress::default();
        let step = match place.step.clone() {
            Step::Access => self.settle_access(job, &workspace, wanted).await?,
            Step::Links { after } => {
                let (step, seen, changed) = self.settle_links(job, wanted, after.as_deref()).await?;
                (progress.seen, progress.changed) = (seen, changed);
                step
            }
            Step::Tombstones { after } => self.purge_tombstones(job, after.as_deref()).await?,
            Step::Targets => self.purge_targets(&workspace).await?,
            Step::Remains => return self.purge_remains(job, &workspace, place).await,
            Step::Rest => return Ok(Piece { progress, next: Next::Rest(place.written()?) }),
        };
        match step {
            Some(step) => Ok(Piece { progress, next: Next::GoOn(place.at(step).written()?) }),
            None => self.end_pass(job, place, progress).await,
        }
    }

    /// What comes after a pass: another one, if this one has begun before all environments knew what the workspace is.
    async fn end_pass(&self, job: &Job, place: Checkpoint, progress: JobProgress) -> Result<Piece, RepositoryError> {
        let next = match place.wanted {
            DesiredState::Open if place.is_settled() => Next::End,
            DesiredState::Closed if place.is_settled() => Next::Rest(place.at(Step::Rest).written()?),
            _ => self.once_more(job, place).await?,
        };
        Ok(Piece { progress, next })
    }

    /// Another pass, at once or when it is time.
    async fn once_more(&self, job: &Job, place: Checkpoint) -> Result<Next, RepositoryError> {
        let (now, due) = ((self.clock)(), place.settled_at());
        if due <= now {
            return Ok(Next::GoOn(place.again(now).written()?));
        }
        self.jobs.mark(&job.workspace, &job.id, JobMark::Revisit, due).await?;
        Ok(Next::Rest(place.at(Step::Rest).written()?))
    }

    /// Marks memberships and API keys or takes the marks away, and tells members. API keys of what is purged go at once.
    async fn settle_access(
        &self,
        job: &Job,
        workspace: &Workspace,
        wanted: DesiredState,
    ) -> Result<Option<Step>, RepositoryError> {
        let workspace_name = workspace.name.clone();
        let restorable_until = workspace.closure.map(|closure| closure.restorable_until);
        let change = match wanted {
            DesiredState::Open => AccountChange::WorkspaceRestored { workspace_name },
            DesiredState::Closed => AccountChange::WorkspaceClosed { workspace_name, restorable_until },
            DesiredState::Gone => AccountChange::WorkspaceClosed { workspace_name, restorable_until: None },
        };
        let closed_at = workspace.closure.map(|closure| closure.closed_at);
        // Before they are marked, since a turn that dies in between finds nobody to tell when it is repeated.
        let members = self.workspaces.unmarked_members(&workspace.id, closed_at).await?;
        self.mails.tell_all(&job.correlation_id, &members, &change).await;
        self.workspaces.mark_members(&workspace.id, closed_at).await?;
        match wanted {
            DesiredState::Open | DesiredState::Closed => self.workspaces.mark_keys(&workspace.id, closed_at).await?,
            DesiredState::Gone => self.workspaces.delete_keys(&workspace.id).await?,
        }
        Ok(Some(Step::Links { after: None }))
    }

    /// Suspends a page of links, lifts that, or purges them. Returns the step after it, how many links it has seen and how many it has
    /// changed.
    async fn settle_links(
        &self,
        job: &Job,
        wanted: DesiredState,
        after: Option<&str>,
    ) -> Result<(Option<Step>, u64, u64), RepositoryError> {
        let after = after.map(Cursor::decode).transpose().map_err(RepositoryError::unreadable("read a job's place"))?;
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
        let settled: Vec<_> = page.into_iter().map(|link| self.settle_link(job, wanted, link)).collect();
        let settled: Vec<bool> = stream::iter(settled).buffer_unordered(Self::CONCURRENCY).try_collect().await?;
        let changed = settled.into_iter().filter(|is_changed| *is_changed).count() as u64;
        let step = match (reader.rest().map(Cursor::encode), wanted) {
            (Some(after), _) => Some(Step::Links { after: Some(after) }),
            (None, DesiredState::Gone) => Some(Step::Tombstones { after: None }),
            (None, DesiredState::Open | DesiredState::Closed) => None,
        };
        Ok((step, seen, changed))
    }

    /// Does to a link what is left to do, and says whether there was anything.
    async fn settle_link(&self, job: &Job, wanted: DesiredState, link: Link) -> Result<bool, RepositoryError> {
        let edit = |record: &Record<Link>| match (wanted, record) {
            (DesiredState::Gone, _) => LinkEdit::purge(record, (self.clock)()),
            (DesiredState::Open, Record::Link(link)) => {
                LinkEdit::suspend(link, link.availability.suspensions.without(Suspension::Closed))
            }
            (DesiredState::Closed, Record::Link(link)) => {
                LinkEdit::suspend(link, link.availability.suspensions.with(Suspension::Closed))
            }
            (DesiredState::Open | DesiredState::Closed, Record::Tombstone(_)) => LinkEdit::Keep,
        };
        self.edit(job, Record::Link(link), edit).await
    }

    async fn edit(
        &self,
        job: &Job,
        record: Record<Link>,
        edit: impl Fn(&Record<Link>) -> LinkEdit,
    ) -> Result<bool, RepositoryError> {
        let context = EditContext::unconditional(&job.created_by, &job.correlation_id);
        let edited = self.links.edit(record, &context, |record| Ok::<_, Infallible>(edit(record))).await?;
        edited.is_written()
    }

    /// Purges what is left of links that have given way to their tombstones, for whose statistics there is no other way to find them.
    async fn purge_tombstones(&self, job: &Job, after: Option<&str>) -> Result<Option<Step>, RepositoryError> {
        let unreadable = RepositoryError::unreadable("read a job's place");
        let after = after.map(LinkId::parse).transpose().map_err(&unreadable)?;
        let (followed, rest) = self.stats.followed(&job.workspace, after.as_ref()).await?;
        let purged: Vec<_> = followed.iter().map(|link| self.purge_tombstone(job, link)).collect();
        stream::iter(purged).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        Ok(Some(rest.map_or(Step::Targets, |link| Step::Tombstones { after: Some(link.to_string()) })))
    }

    async fn purge_tombstone(&self, job: &Job, link: &LinkId) -> Result<(), RepositoryError> {
        match self.links.find(&link.code).await? {
            Some(record) if record.identity().id == *link => {
                self.edit(job, record, |record| LinkEdit::purge(record, (self.clock)())).await.map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Purges a page of monitored URLs, one after another, since each counts down what the workspace and its founder have. As they go,
    /// the next page is the first one again, until the index knows of none.
    async fn purge_targets(&self, workspace: &Workspace) -> Result<Option<Step>, RepositoryError> {
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
        place: Checkpoint,
    ) -> Result<Piece, RepositoryError> {
        let id = &workspace.id;
        self.workspaces.delete_invitations(id).await?;
        self.stats.forget_overviews(id).await?;
        self.links.forget_cleanup(id).await?;
        self.targets.forget_workspace(id).await?;
        if !place.is_settled() {
            return Ok(Piece { progress: JobProgress::default(), next: self.once_more(job, place).await? });
        }
        self.workspaces.delete_members(id).await?;
        self.workspaces.forget(workspace, (self.clock)()).await?;
        tracing::info!(workspace_id = %id, "a workspace is purged");
        self.jobs.forget_workspace(job).await?;
        Ok(Piece::last())
    }

    /// Lets a job go on whose mark is gone. Until it is over or waits for the purge, another mark has it looked at again: a turn may have
    /// been lost for good, and what can't be read may be mended.
    pub(crate) async fn wake(&self, due: &DueMark) -> Result<(), RepositoryError> {
        let woken = self.look(due).await;
        if let Err(RepositoryError::UnexpectedItem { .. }) = woken {
            let tomorrow = (self.clock)().plus(FAILED_AGAIN);
            self.mark(due, due.mark, tomorrow).await?;
        }
        woken
    }

    async fn mark(&self, due: &DueMark, mark: JobMark, until: Timestamp) -> Result<(), RepositoryError> {
        self.jobs.mark(&due.workspace, &due.job, mark, until).await
    }

    async fn look(&self, due: &DueMark) -> Result<(), RepositoryError> {
        let Some(job) = self.jobs.find(&due.workspace, &due.job).await? else { return Ok(()) };
        let (now, has_failed) = ((self.clock)(), job.state == JobState::Failed);
        if !has_failed && !job.state.is_under_way() {
            return Ok(());
        }
        let closure = self.workspaces.find(&due.workspace).await?.and_then(|workspace| workspace.closure);
        let restorable_until =
            closure.filter(|one| one.job == job.id && !one.is_over(now)).map(|one| one.restorable_until);
        let goes_on = match (due.mark, restorable_until) {
            // Somebody has deleted it by hand.
            (JobMark::Closed, Some(until)) => {
                self.mark(due, JobMark::Closed, until.max(now.plus(SOON))).await?;
                false
            }
            (JobMark::Revisit, Some(_)) if waits_for_purge(&job) => return Ok(()),
            _ => {
                let again = if has_failed { FAILED_AGAIN } else { SOON };
                self.mark(due, JobMark::Revisit, now.plus(again)).await?;
                true
            }
        };
        if has_failed {
            return self.jobs.revive(&job, now).await;
        }
        if (rests(&job) && goes_on) || job.has_stood_still(now) {
            let again = Checkpoint::read(job.after.as_deref()).map(|place| place.again(now).written()).transpose()?;
            let reached = Reached { progress: job.progress.clone(), after: again };
            return self.jobs.note(&job, &reached, now).await;
        }
        Ok(())
    }
}

/// After which time a job is looked at again that isn't over.
const SOON: Duration = Duration::from_secs(60);

/// After which time one is tried again that has failed.
const FAILED_AGAIN: Duration = Duration::from_secs(24 * 3_600);
