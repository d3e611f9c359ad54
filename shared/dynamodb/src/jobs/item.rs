//! Keys and attributes of JobsTable.

use linklet_domain::{
    Event, EventDetail, EventId, Invalid, Job, JobFinished, JobId, JobProgress, Task, Timestamp, UserId, WorkId,
    WorkspaceId, lifetimes,
};
use serde::{Deserialize, Serialize};

use crate::item::{Key, Stored};

const WORKSPACE_PREFIX: &str = "WS#";
const PERSON_PREFIX: &str = "USER#";

pub(crate) const JOB_PREFIX: &str = "JOB#";
const HANDOVER_PREFIX: &str = "HANDOVER#";
const RECLAIM: &str = "RECLAIM";
const FORGET: &str = "FORGET";

pub(super) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("{WORKSPACE_PREFIX}{workspace}")
}

pub(super) fn job_key(workspace: &WorkspaceId, job: &JobId) -> Key {
    Key::new(workspace_partition(workspace), job_sort_key(job))
}

pub(super) fn job_sort_key(job: &JobId) -> String {
    format!("{JOB_PREFIX}{job}")
}

/// The key of a job or a task.
pub(super) fn work_key(id: &WorkId) -> Key {
    match id {
        WorkId::Job { workspace, job } => job_key(workspace, job),
        WorkId::Handover { workspace, leaver } => {
            Key::new(workspace_partition(workspace), format!("{HANDOVER_PREFIX}{leaver}"))
        }
        WorkId::Reclaim(user) => Key::new(format!("{PERSON_PREFIX}{user}"), RECLAIM),
        WorkId::Forget(user) => Key::new(format!("{PERSON_PREFIX}{user}"), FORGET),
    }
}

/// Which job or task has this key; `None` if it is another item's.
pub(super) fn work_of(Key { pk, sk }: &Key) -> Result<Option<WorkId>, Invalid> {
    let workspace = || WorkspaceId::parse(pk.strip_prefix(WORKSPACE_PREFIX).unwrap_or_default());
    let person = || UserId::parse(pk.strip_prefix(PERSON_PREFIX).unwrap_or_default());
    if let Some(job) = sk.strip_prefix(JOB_PREFIX) {
        return Ok(Some(WorkId::Job { workspace: workspace()?, job: JobId::parse(job)? }));
    }
    if let Some(leaver) = sk.strip_prefix(HANDOVER_PREFIX) {
        return Ok(Some(WorkId::Handover { workspace: workspace()?, leaver: UserId::parse(leaver)? }));
    }
    Ok(match sk.as_str() {
        RECLAIM => Some(WorkId::Reclaim(person()?)),
        FORGET => Some(WorkId::Forget(person()?)),
        _ => None,
    })
}

/// `WS#<workspace>` / `JOB#<id>`: a job. The stream of its changes is what carries it out, and says that it is over.
pub(crate) type JobItem = Stored<Job>;

/// `WS#<workspace>` / `HANDOVER#<leaver>`, `USER#<user>` / `RECLAIM` or `FORGET`: a task. The stream of its changes is what carries it out.
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
