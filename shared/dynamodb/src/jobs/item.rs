//! Keys and attributes of JobsTable.

use linklet_domain::{
    Changer, CorrelationId, Event, EventDetail, EventId, Invalid, Job, JobFailure, JobFinished, JobId, JobProgress,
    JobState, JobWork, KeyPrefix, Role, Timestamp, UserId, WorkspaceId, lifetimes,
};
use serde::{Deserialize, Serialize};

use crate::item::Key;

pub(super) const WORKSPACE_PREFIX: &str = "WS#";

pub(crate) const JOB_PREFIX: &str = "JOB#";

pub(super) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("{WORKSPACE_PREFIX}{workspace}")
}

pub(super) fn job_key(workspace: &WorkspaceId, job: &JobId) -> Key {
    Key::new(workspace_partition(workspace), job_sort_key(job))
}

pub(super) fn job_sort_key(job: &JobId) -> String {
    format!("{JOB_PREFIX}{job}")
}

/// Whose job a key is, and which.
pub(crate) fn job_of(key: &Key) -> Result<(WorkspaceId, JobId), Invalid> {
    let [workspace, job] = [(&key.pk, WORKSPACE_PREFIX), (&key.sk, JOB_PREFIX)]
        .map(|(part, prefix)| part.strip_prefix(prefix).unwrap_or_default());
    Ok((WorkspaceId::parse(workspace)?, JobId::parse(job)?))
}

/// `WS#<workspace>` / `JOB#<id>`: a job. The stream of its changes is what carries it out, and says that it is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct JobItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub work: JobWork,
    pub role: Role,
    pub created_by: UserId,
    pub created_with: Option<KeyPrefix>,
    pub correlation_id: CorrelationId,
    pub created_at: Timestamp,
    pub expected: Option<u64>,
    pub state: JobState,
    #[serde(flatten)]
    pub progress: JobProgress,
    pub after: Option<String>,
    pub turn: u64,
    pub started_at: Option<Timestamp>,
    pub noted_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub reason: Option<JobFailure>,
    pub cancelled_by: Option<Changer>,
    pub ttl: Option<i64>,
}

/// Until when a job is kept that ended at this time.
pub(super) fn kept_until(ended_at: Timestamp) -> i64 {
    ended_at.plus(lifetimes::ENDED_JOBS).unix_seconds()
}

impl From<&Job> for JobItem {
    fn from(job: &Job) -> Self {
        let job = job.clone();
        Self {
            key: job_key(&job.workspace, &job.id),
            work: job.work,
            role: job.role,
            created_by: job.created_by,
            created_with: job.created_with,
            correlation_id: job.correlation_id,
            created_at: job.created_at,
            expected: job.expected,
            state: job.state,
            progress: job.progress,
            after: job.after,
            turn: job.turn,
            started_at: job.started_at,
            noted_at: job.noted_at,
            ended_at: job.ended_at,
            reason: job.reason,
            cancelled_by: job.cancelled_by,
            ttl: job.ended_at.map(kept_until),
        }
    }
}

impl TryFrom<JobItem> for Job {
    type Error = Invalid;

    fn try_from(item: JobItem) -> Result<Self, Invalid> {
        let (workspace, id) = job_of(&item.key)?;
        Ok(Self {
            id,
            workspace,
            work: item.work,
            role: item.role,
            created_by: item.created_by,
            created_with: item.created_with,
            correlation_id: item.correlation_id,
            created_at: item.created_at,
            expected: item.expected,
            state: item.state,
            progress: item.progress,
            after: item.after,
            turn: item.turn,
            started_at: item.started_at,
            noted_at: item.noted_at,
            ended_at: item.ended_at,
            reason: item.reason,
            cancelled_by: item.cancelled_by,
        })
    }
}

impl JobItem {
    /// The event that the job is over, if it is.
    pub(crate) fn finished_event(self) -> Result<Option<Event>, Invalid> {
        let job = Job::try_from(self)?;
        let by = job.ended_by();
        let Job { id, workspace, work, created_by, correlation_id, state, progress, ended_at, reason, .. } = job;
        // Whom it concerns that a workspace is closed or open again was told otherwise.
        let Some(ended_at) = ended_at.filter(|_| state.is_over() && work.is_of_links()) else { return Ok(None) };
        let JobProgress { changed, failed, .. } = progress;
        let finished = JobFinished { job_id: id, user_id: created_by, by, work, state, changed, failed, reason };
        Ok(Some(Event {
            event_id: EventId::of_job(&id),
            occurred_at: ended_at,
            correlation_id,
            workspace_id: workspace,
            detail: EventDetail::JobFinished(Box::new(finished)),
        }))
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
