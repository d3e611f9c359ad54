//! The jobs that close workspaces and bring them back.
//!
//! Such a job is in no queue: it begins whatever runs or waits, and ends that. It rests, under way all the same, until a mark beside it is
//! gone, which DynamoDB deletes by its TTL.

use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{Closure, Job, JobId, JobState, Timestamp, WorkspaceId};
use serde::Serialize;

use super::{
    JobsTable, QueueItem,
    item::{JobItem, job_key, workspace_partition},
    named,
};
use crate::{
    RepositoryError,
    item::{Key, number, text},
};

/// What lets a job go on that rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobMark {
    /// Environments hold nothing any more of what the workspace was before, or it is time to look whether the job has come to its end.
    Revisit,
    /// Nobody can bring the workspace back any more.
    Closed,
}

/// That the mark of a job is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueMark {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// Which mark it was.
    pub mark: JobMark,
}

impl JobMark {
    const ALL: [Self; 2] = [Self::Revisit, Self::Closed];

    /// What its sort key begins with. The filter of the stream in `template.yaml` names it.
    fn prefix(self) -> &'static str {
        match self {
            Self::Revisit => "REVISIT#",
            Self::Closed => "CLOSED#",
        }
    }

    fn key(self, workspace: &WorkspaceId, job: &JobId) -> Key {
        Key::new(workspace_partition(workspace), format!("{}{job}", self.prefix()))
    }

    /// Which mark has this sort key, and of which job.
    pub(super) fn of(sort_key: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|mark| Some((mark, sort_key.strip_prefix(mark.prefix())?)))
    }
}

/// `WS#<workspace>` / `REVISIT#<job>` or `CLOSED#<job>`: the mark beside a job that rests.
#[derive(Debug, Serialize)]
struct MarkItem {
    #[serde(flatten)]
    key: Key,
    ttl: i64,
}

impl MarkItem {
    fn new(workspace: &WorkspaceId, job: &JobId, mark: JobMark, due: Timestamp) -> Self {
        // Rounded up, since a mark that is gone before its time has to be written again.
        let ttl = due.plus(Duration::from_millis(999)).unix_seconds();
        Self { key: mark.key(workspace, job), ttl }
    }
}

const OVERTAKE: &str = "begin a job in place of all others";
const MARK: &str = "mark a job that rests";

impl JobsTable {
    /// The actions that begin a job at once, and cancel all that run or wait in the queue of its workspace.
    pub(crate) async fn overtaken_by(&self, job: &Job) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let mut begun = JobItem::from(job);
        begun.state = JobState::Running;
        (begun.started_at, begun.noted_at) = (Some(job.created_at), Some(job.created_at));
        let mut actions = vec![self.0.put_new(OVERTAKE, &begun)?];
        let queue = self.queue(&job.workspace).await?;
        let waiting = queue.waiting.iter().map(|waiting| waiting.id);
        let queued: Vec<_> = queue.running.into_iter().chain(waiting).collect();
        if queued.is_empty() {
            return Ok(actions);
        }
        for id in &queued {
            // One that can't be read is parked when its turn comes.
            if let Ok(Some(other)) = self.find(&job.workspace, id).await
                && !other.state.is_over()
            {
                actions.push(self.cancelled(OVERTAKE, &other, &job.creator(), job.created_at)?);
            }
        }
        actions.push(self.queue_as(OVERTAKE, &QueueItem { running: None, waiting: Vec::new(), ..queue })?);
        Ok(actions)
    }

    /// The action that puts a mark beside a job.
    pub(crate) fn mark_action(
        &self,
        job: &Job,
        mark: JobMark,
        due: Timestamp,
    ) -> Result<TransactWriteItem, RepositoryError> {
        self.0.put(MARK, &MarkItem::new(&job.workspace, &job.id, mark, due))
    }

    /// The action that has a job looked at once all environments know what has become of its workspace, and until it is over, also if
    /// all of its turns are lost.
    pub(crate) fn looked_at_again(&self, job: &Job) -> Result<TransactWriteItem, RepositoryError> {
        self.mark_action(job, JobMark::Revisit, job.created_at.plus(Closure::SETTLES_WITHIN))
    }

    /// The action that takes a mark away, if it is there.
    pub(crate) fn unmark_action(
        &self,
        workspace: &WorkspaceId,
        job: &JobId,
        mark: JobMark,
    ) -> Result<TransactWriteItem, RepositoryError> {
        self.0.delete(MARK, mark.key(workspace, job)).action()
    }

    /// Has a job go on at this time.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark(
        &self,
        workspace: &WorkspaceId,
        job: &JobId,
        mark: JobMark,
        due: Timestamp,
    ) -> Result<(), RepositoryError> {
        self.0.put_item(MARK, &MarkItem::new(workspace, job, mark, due))?.or_fail().await
    }

    /// Has a job that has failed begin anew. It changes nothing if another delivery was faster.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn revive(&self, job: &Job, at: Timestamp) -> Result<(), RepositoryError> {
        const REVIVED: &str =
            "SET #state = :running, noted_at = :at REMOVE ended_at, #ttl, reason, #after ADD #turn :one";
        self.0
            .update("begin a job anew", job_key(&job.workspace, &job.id), REVIVED)
            .only_if("#state = :failed AND #turn = :turn")
            .values([(":running", JobState::Running), (":failed", JobState::Failed)].map(named))
            .values([(":at", text(&at)), (":one", number(&1)), (":turn", number(&job.turn))])
            .unless_refused()
            .await
            .map(|_| ())
    }

    /// Deletes all jobs of a workspace with what is beside them, and last of all this one, without which nobody would delete the rest.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_workspace(&self, last: &Job) -> Result<(), RepositoryError> {
        const OPERATION: &str = "delete the jobs of a workspace";
        let own = job_key(&last.workspace, &last.id);
        let mut keys = self.0.keys_of(OPERATION, &workspace_partition(&last.workspace)).await?;
        keys.retain(|key| *key != own);
        self.0.delete_all(OPERATION, keys.into_iter().map(Key::into_item).collect()).await?;
        self.0.delete_all(OPERATION, vec![own.into_item()]).await
    }
}
