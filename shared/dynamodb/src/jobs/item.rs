//! Keys and attributes of JobsTable.

use linklet_domain::{
    Event, EventDetail, EventId, IdempotencyKey, Invalid, Job, JobFinished, JobId, JobProgress, LinkId, Task,
    Timestamp, UserId, WorkId, WorkspaceId, lifetimes,
};
use serde::{Deserialize, Serialize};

pub(super) use crate::item::workspace_partition;
use crate::item::{Key, Stored, WORKSPACE_PREFIX};

pub(crate) const JOB_PREFIX: &str = "JOB#";
const HANDOVER_PREFIX: &str = "HANDOVER#";
const RECLAIM_PREFIX: &str = "RECLAIM#";
const FORGET_PREFIX: &str = "FORGET#";
const PURGE_PREFIX: &str = "PURGE#";
const TASK: &str = "TASK";

pub(super) fn job_key(workspace: &WorkspaceId, job: &JobId) -> Key {
    Key::new(workspace_partition(workspace), job_sort_key(job))
}

pub(super) fn job_sort_key(job: &JobId) -> String {
    format!("{JOB_PREFIX}{job}")
}

/// What a person was answered who started a job of this workspace with this idempotency key.
pub(super) fn answer_key(workspace: &WorkspaceId, user: &UserId, key: &IdempotencyKey) -> Key {
    Key::new(workspace_partition(workspace), format!("ANSWER#{user}#{key}"))
}

/// The key of a job or a task.
pub(super) fn work_key(id: &WorkId) -> Key {
    match id {
        WorkId::Job { workspace, job } => job_key(workspace, job),
        WorkId::Handover { workspace, leaver } => Key::new(handover_partition(workspace), leaver.to_string()),
        WorkId::Reclaim(user) => Key::new(format!("{RECLAIM_PREFIX}{user}"), TASK),
        WorkId::Forget(user) => Key::new(format!("{FORGET_PREFIX}{user}"), TASK),
        WorkId::PurgeClicks(link) => Key::new(format!("{PURGE_PREFIX}{link}"), TASK),
    }
}

/// The handovers of a workspace. Each kind of task has a partition of its own, so that whoever may put it may put no job. IAM roles in
/// `template.yaml` name the prefixes.
pub(super) fn handover_partition(workspace: &WorkspaceId) -> String {
    format!("{HANDOVER_PREFIX}{workspace}")
}

/// Which job or task has this key; `None` if it is another item's.
pub(super) fn work_of(Key { pk, sk }: &Key) -> Result<Option<WorkId>, Invalid> {
    if let (Some(workspace), Some(job)) = (pk.strip_prefix(WORKSPACE_PREFIX), sk.strip_prefix(JOB_PREFIX)) {
        return Ok(Some(WorkId::Job { workspace: WorkspaceId::parse(workspace)?, job: JobId::parse(job)? }));
    }
    if sk.contains('#') {
        return Ok(None);
    }
    if let Some(workspace) = pk.strip_prefix(HANDOVER_PREFIX) {
        let (workspace, leaver) = (WorkspaceId::parse(workspace)?, UserId::parse(sk)?);
        return Ok(Some(WorkId::Handover { workspace, leaver }));
    }
    if let Some(user) = pk.strip_prefix(RECLAIM_PREFIX) {
        return Ok(Some(WorkId::Reclaim(UserId::parse(user)?)));
    }
    if let Some(link) = pk.strip_prefix(PURGE_PREFIX) {
        return Ok(Some(WorkId::PurgeClicks(LinkId::parse(link)?)));
    }
    pk.strip_prefix(FORGET_PREFIX).map(|user| UserId::parse(user).map(WorkId::Forget)).transpose()
}

/// `WS#<workspace>` / `JOB#<id>`: a job. The stream of its changes is what carries it out, and says that it is over.
pub(crate) type JobItem = Stored<Job>;

/// `HANDOVER#<workspace>` / `<leaver>`, or `RECLAIM#<user>`, `FORGET#<user>` or `PURGE#<link>` / `TASK`: a task. The stream of its changes is
/// what carries it out.
pub(super) type TaskItem = Stored<Task>;

/// Until when a job is kept that ended at this time.
pub(super) fn kept_until(ended_at: Timestamp) -> i64 {
    ended_at.plus(lifetimes::ENDED_JOBS).unix_seconds()
}

impl From<&Job> for JobItem {
    fn from(job: &Job) -> Self {
        Self { key: work_key(&job.run().id), value: job.clone(), ttl: job.ended_at.map(kept_until) }
    }
}

impl From<&Task> for TaskItem {
    fn from(task: &Task) -> Self {
        Self { key: work_key(&task.id()), value: task.clone(), ttl: None }
    }
}

impl JobItem {
    /// The event that the job is over, if it is.
    pub(crate) fn finished_event(self) -> Option<Event> {
        let job = self.value;
        let by = job.ended_by();
        let Job { id, workspace, work, created_by, correlation_id, state, progress, ended_at, reason, .. } = job;
        // Whom it concerns that a workspace is closed or open again was told otherwise.
        let ended_at = ended_at.filter(|_| state.is_over() && work.is_of_links())?;
        let JobProgress { changed, failed, .. } = progress;
        let finished = JobFinished { job_id: id, user_id: created_by, by, work, state, changed, failed, reason };
        Some(Event {
            event_id: EventId::of_job(&id),
            occurred_at: ended_at,
            correlation_id,
            workspace_id: workspace,
            detail: EventDetail::JobFinished(Box::new(finished)),
        })
    }
}

pub(super) fn queue_key(workspace: &WorkspaceId) -> Key {
    Key::new(workspace_partition(workspace), "QUEUE")
}

/// `WS#<workspace>` / `QUEUE`: which job of a workspace runs, and which wait for it, in their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct QueueItem {
    #[serde(flatten)]
    pub key: Key,
    pub running: Option<JobId>,
    #[serde(default)]
    pub waiting: Vec<WaitingJob>,
    /// How often the item was written.
    pub version: u64,
}

/// A job that waits, and who has asked for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct WaitingJob {
    pub id: JobId,
    pub created_by: UserId,
}

impl QueueItem {
    pub(super) fn empty(workspace: &WorkspaceId) -> Self {
        Self { key: queue_key(workspace), running: None, waiting: Vec::new(), version: 0 }
    }

    /// Who has asked for the jobs that wait.
    pub(super) fn creators(&self) -> Vec<UserId> {
        self.waiting.iter().map(|waiting| waiting.created_by).collect()
    }

    /// Takes a job out that waits.
    pub(super) fn forget(&mut self, job: &JobId) {
        self.waiting.retain(|waiting| waiting.id != *job);
    }
}
