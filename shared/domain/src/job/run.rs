//! What is the same for all that runs in the background: jobs and tasks.

use super::{Job, JobFailure, JobProgress, JobState, Task};
use crate::{CorrelationId, JobId, LinkId, Timestamp, UserId, WorkspaceId};

/// A job or a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// What somebody has asked for, and can see.
    Job(Job),
    /// What a request leaves to do.
    Task(Task),
}

/// Which job or task it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkId {
    /// A job of a workspace.
    Job {
        /// The workspace.
        workspace: WorkspaceId,
        /// The job.
        job: JobId,
    },
    /// Handing over what a member leaves behind.
    Handover {
        /// The workspace.
        workspace: WorkspaceId,
        /// The member.
        leaver: UserId,
    },
    /// Pausing what others may have made in the name of this person's account.
    Reclaim(UserId),
    /// Deleting what is stored about this person.
    Forget(UserId),
    /// Deleting the clicks of this purged link.
    PurgeClicks(LinkId),
}

/// How far a job or a task has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<'a> {
    /// Which job or task it is.
    pub id: WorkId,
    /// The correlation id of the request, which all that it writes has.
    pub correlation_id: &'a CorrelationId,
    /// The time of the request.
    pub created_at: Timestamp,
    /// Whether it waits, runs or is over.
    pub state: JobState,
    /// What it has done.
    pub progress: &'a JobProgress,
    /// Where the next step goes on; `None` at the beginning.
    pub checkpoint: Option<&'a str>,
    /// How many steps have noted how far they came.
    pub step: u64,
    /// When a step noted last how far it came; at first, when it began.
    pub noted_at: Option<Timestamp>,
}

impl Work {
    /// How far it has come.
    pub fn run(&self) -> Run<'_> {
        match self {
            Self::Job(job) => job.run(),
            Self::Task(task) => task.run(),
        }
    }
}

impl From<Job> for Work {
    fn from(job: Job) -> Self {
        Self::Job(job)
    }
}

impl Run<'_> {
    /// Whether no step has noted anything for so long that none will.
    pub fn has_stood_still(&self, now: Timestamp) -> bool {
        self.noted_at.is_some_and(|noted| noted.plus(Job::PATIENCE) <= now)
    }

    /// What becomes of it when it is given up: if it was to be cancelled, it is.
    pub fn given_up(&self) -> (JobState, Option<JobFailure>) {
        match self.state {
            JobState::Cancelling => (JobState::Cancelled, None),
            _ => (JobState::Failed, Some(JobFailure::NoProgress)),
        }
    }
}
