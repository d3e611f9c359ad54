//! Tasks: what a request or a purge leaves to do that takes longer than an invocation may. A task is in no queue and no list, and nobody can cancel it.

use serde::{Deserialize, Serialize};

use super::{JobProgress, JobState, Run, WorkId};
use crate::reclaim::Reclaim;
use crate::{AccountHash, CorrelationId, Handover, LinkId, Timestamp, UserId};

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// What is to be done.
    #[serde(flatten)]
    pub work: TaskWork,
    /// The correlation id of the request that has left it to do.
    pub correlation_id: CorrelationId,
    /// The time of that request.
    pub created_at: Timestamp,
    /// Whether it runs or has failed.
    pub state: JobState,
    /// What it has done.
    #[serde(flatten)]
    pub progress: JobProgress,
    /// Where the next step goes on; `None` at the beginning.
    pub checkpoint: Option<String>,
    /// How many steps have noted how far they came.
    pub step: u64,
    /// When a step noted last how far it came; at first, when the task was created.
    pub noted_at: Option<Timestamp>,
}

/// What a task is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskWork {
    /// Handing over what a member leaves behind.
    HandOver(Handover),
    /// Pausing what others may have made in the name of an account.
    Reclaim(Reclaim),
    /// Deleting what is stored about a person whose account is closed.
    Forget(ClosedPerson),
    /// Deleting the clicks of a purged link, of which there are too many for one invocation.
    PurgeClicks(LinkId),
}

/// A person whose account is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedPerson {
    /// The person.
    pub user: UserId,
    /// The hash under which guesses at their password were counted, and where they have signed in from.
    pub guessed: AccountHash,
}

impl Task {
    /// A new task, which runs at once.
    pub fn new(work: TaskWork, created_at: Timestamp, correlation_id: &CorrelationId) -> Self {
        Self {
            work,
            correlation_id: correlation_id.clone(),
            created_at,
            state: JobState::Running,
            progress: JobProgress::default(),
            checkpoint: None,
            step: 0,
            noted_at: Some(created_at),
        }
    }

    /// Which task it is. A later one about the same replaces it.
    pub fn id(&self) -> WorkId {
        match &self.work {
            TaskWork::HandOver(Handover { workspace, leaver, .. }) => {
                WorkId::Handover { workspace: *workspace, leaver: *leaver }
            }
            TaskWork::Reclaim(reclaim) => WorkId::Reclaim(reclaim.user),
            TaskWork::Forget(person) => WorkId::Forget(person.user),
            TaskWork::PurgeClicks(link) => WorkId::PurgeClicks(link.clone()),
        }
    }

    /// How far it has come.
    pub fn run(&self) -> Run<'_> {
        Run {
            id: self.id(),
            correlation_id: &self.correlation_id,
            created_at: self.created_at,
            state: self.state,
            progress: &self.progress,
            checkpoint: self.checkpoint.as_deref(),
            step: self.step,
            noted_at: self.noted_at,
        }
    }
}
