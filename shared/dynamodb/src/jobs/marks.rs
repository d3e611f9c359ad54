//! What runs at once: the jobs that close workspaces and bring them back, which end whatever runs or waits, and tasks.
//!
//! None is in a queue. Beside each is a mark, which the function `clock` deletes when it is due: then it is looked at again, also if it
//! rests. DynamoDB's TTL would delete it, too, some days later.

use std::time::Duration;

use aws_sdk_dynamodb::types::TransactWriteItem;
use futures_util::{StreamExt as _, stream};
use linklet_domain::{Closure, Job, JobId, JobState, Run, Task, Timestamp, WorkId, WorkspaceId};
use serde::Serialize;

use super::item::{JobItem, TaskItem, handover_partition, job_key, work_key, workspace_partition};
use super::{JobsTable, QueueItem, named};
use crate::Result;
use crate::item::{Key, from_item, number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};

/// What has a job or a task looked at again. Its sort key begins with the name and `#`, as the filter of the stream in `template.yaml` has
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "UPPERCASE")]
pub enum JobMark {
    /// Environments hold nothing any more of what the workspace was before, or it is time to look whether the job has come to its end.
    Revisit,
    /// Nobody can bring the workspace back any more.
    Closed,
}

impl JobMark {
    pub(super) fn key(self, id: &WorkId) -> Key {
        let Key { pk, sk } = work_key(id);
        Key::new(pk, format!("{self}#{sk}"))
    }

    /// Which mark has this key, and the key of what it is beside.
    pub(super) fn of(Key { pk, sk }: &Key) -> Option<(Self, Key)> {
        let (mark, beside) = sk.split_once('#')?;
        Some((mark.parse().ok()?, Key::new(pk, beside)))
    }
}

/// `REVISIT#…` or `CLOSED#…`, and the sort key of a job or a task: the mark beside it.
#[derive(Debug, Serialize)]
struct MarkItem {
    #[serde(flatten)]
    key: Key,
    by_due_pk: &'static str,
    ttl: i64,
}

impl MarkItem {
    fn new(id: &WorkId, mark: JobMark, due: Timestamp) -> Self {
        // Rounded up, since a mark that is gone before its time has to be written again.
        let ttl = due.plus(Duration::from_millis(999)).unix_seconds();
        Self { key: mark.key(id), by_due_pk: DUE, ttl }
    }
}

const MARK: &str = "mark a job that rests";

/// The only partition of the index `by-due`, which has all marks.
const DUE: &str = "DUE";

impl JobsTable {
    /// The actions that begin a job at once, and cancel all that run or wait in the queue of its workspace.
    pub(crate) async fn preempted_by(&self, job: &Job) -> Result<Vec<TransactWriteItem>> {
        let begun_at = Some(job.created_at);
        let begun = Job { state: JobState::Running, started_at: begun_at, noted_at: begun_at, ..job.clone() };
        let mut actions = vec![self.0.put_new(&JobItem::from(&begun))?];
        let queue = self.queue(&job.workspace).await?;
        let waiting = queue.waiting.iter().map(|waiting| waiting.id);
        let queued: Vec<_> = queue.running.into_iter().chain(waiting).collect();
        if queued.is_empty() {
            return Ok(actions);
        }
        for id in &queued {
            // One that can't be read is parked when its step comes.
            if let Ok(Some(other)) = self.find(&job.workspace, id).await
                && !other.state.is_over()
            {
                actions.push(self.cancelled(&other, &job.creator(), job.created_at)?);
            }
        }
        actions.push(self.queue_as(&QueueItem { running: None, waiting: Vec::new(), ..queue })?);
        Ok(actions)
    }

    /// The actions that begin a task, and have it looked at again until it is over. It replaces an earlier task about the same.
    pub(crate) fn begin(&self, task: &Task) -> Result<[TransactWriteItem; 2]> {
        Ok([self.0.put(&TaskItem::from(task))?, self.schedule_task_recheck(task)?])
    }

    /// Begins a task, unless it has begun already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn begin_once(&self, task: &Task) -> Result<()> {
        const OPERATION: &str = "begin a task";
        retry_on_conflict(OPERATION, || async {
            let begun = Transaction::new(OPERATION)
                .and(self.0.put_new(&TaskItem::from(task))?, ())
                .and(self.schedule_task_recheck(task)?, ());
            Ok((begun.send(&self.0.client).await? != TransactionOutcome::InConflict).then_some(()))
        })
        .await
    }

    fn schedule_task_recheck(&self, task: &Task) -> Result<TransactWriteItem> {
        self.mark_action(&task.id(), JobMark::Revisit, task.created_at.plus(Closure::CACHES_EXPIRE_WITHIN))
    }

    /// The action that puts a mark beside a job or a task.
    pub(crate) fn mark_action(&self, id: &WorkId, mark: JobMark, due: Timestamp) -> Result<TransactWriteItem> {
        self.0.put(&MarkItem::new(id, mark, due))
    }

    /// The action that has a job looked at once all environments know what has become of its workspace, and until it is over, also if
    /// all of its steps are lost.
    pub(crate) fn schedule_recheck(&self, job: &Job) -> Result<TransactWriteItem> {
        self.mark_action(&job.run().id, JobMark::Revisit, job.created_at.plus(Closure::CACHES_EXPIRE_WITHIN))
    }

    /// The action that takes a mark away, if it is there.
    pub(crate) fn unmark_action(
        &self,
        workspace: &WorkspaceId,
        job: &JobId,
        mark: JobMark,
    ) -> Result<TransactWriteItem> {
        self.0.delete(MARK, mark.key(&WorkId::Job { workspace: *workspace, job: *job })).action()
    }

    /// Has a job or a task looked at again at this time.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark(&self, id: &WorkId, mark: JobMark, due: Timestamp) -> Result<()> {
        self.0.put_item(MARK, &MarkItem::new(id, mark, due))?.or_fail().await
    }

    /// Deletes the marks that are due, at most as many as a call has time for. One that can't be deleted keeps none of the others.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete_due_marks(&self, now: Timestamp) -> Result<()> {
        const OPERATION: &str = "delete marks that are due";
        const MOST: usize = 250;
        const CONCURRENCY: usize = 8;
        let now = number(&now.unix_seconds());
        let due =
            self.0.client.query().index_name("by-due").key_condition_expression("by_due_pk = :due AND #ttl <= :now");
        let due = due.expression_attribute_names("#ttl", "ttl").expression_attribute_values(":due", text(DUE));
        let due = due.expression_attribute_values(":now", now.clone()).projection_expression("pk, sk");
        let deletes = self.0.query_all(OPERATION, due, MOST).await?.into_iter().map(async |item| {
            // It may be for a later time by now.
            let delete = self.0.delete(OPERATION, from_item(OPERATION, item)?).only_if("#ttl <= :now");
            delete.value(":now", now.clone()).unless_refused().await
        });
        let deleted: Vec<Result<bool>> = stream::iter(deletes).buffer_unordered(CONCURRENCY).collect().await;
        deleted.into_iter().try_for_each(|deleted| deleted.map(|_| ()))
    }

    /// Has a job or a task that has failed begin anew. It changes nothing if another delivery was faster.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn revive(&self, run: &Run<'_>, at: Timestamp) -> Result<()> {
        const REVIVED: &str =
            "SET #state = :running, noted_at = :at REMOVE ended_at, #ttl, reason, #checkpoint ADD #step :one";
        self.0
            .update("begin a job anew", work_key(&run.id), REVIVED)
            .only_if("#state = :failed AND #step = :step")
            .values([(":running", JobState::Running), (":failed", JobState::Failed)].map(named))
            .values([(":at", text(&at)), (":one", number(&1)), (":step", number(&run.step))])
            .unless_refused()
            .await
            .map(|_| ())
    }

    /// Deletes all jobs of a workspace with what is beside them, and last of all this one, without which nobody would delete the rest.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_workspace(&self, last: &Job) -> Result<()> {
        const OPERATION: &str = "delete the jobs of a workspace";
        let own = job_key(&last.workspace, &last.id);
        let mut keys = self.0.keys_of(OPERATION, &workspace_partition(&last.workspace)).await?;
        keys.retain(|key| *key != own);
        keys.extend(self.0.keys_of(OPERATION, &handover_partition(&last.workspace)).await?);
        self.0.delete_all(OPERATION, keys.into_iter().map(Key::into_item).collect()).await?;
        self.0.delete_all(OPERATION, vec![own.into_item()]).await
    }
}
