//! JobsTable: what is done to many things of a workspace, and how far that has come.
//!
//! ```text
//! request ──→ job, which runs at once or waits in the queue of its workspace; or task, which runs at once
//!               │ stream: a step, which notes how far it has come; that is in the stream again, so another step follows
//!             all is done, or somebody cancels it, or it is given up ──→ the job is over, and the next in the queue runs
//! ```
//! Each write of a step is conditional on the number of the step, so one that is repeated or comes late changes nothing. What runs and
//! what waits changes in one transaction with the jobs themselves.

pub(crate) mod item;
mod marks;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    Changer, IdempotencyKey, Job, JobFailure, JobId, JobProgress, JobState, Run, Timestamp, UserId, Work, WorkId,
    WorkspaceId,
};
use serde::Deserialize;

use self::item::{
    JOB_PREFIX, JobItem, QueueItem, TaskItem, WaitingJob, answer_key, job_key, job_sort_key, kept_until, queue_key,
    work_key, work_of, workspace_partition,
};
pub use self::marks::JobMark;
use crate::item::{IS_NEW, Item, Key, SortKeys, Table, from_item, number, text, to_attributes};
use crate::stream::StreamError;
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::write::{ACTION, Write};
use crate::{CreationAnswer, Cursor, Page, RepositoryError, Result};

/// The repository of jobs: JobsTable.
#[derive(Debug, Clone)]
pub struct JobsTable(pub Table);

/// How far a step has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// What was done until then.
    pub progress: JobProgress,
    /// Where the next step goes on.
    pub checkpoint: Option<String>,
}

/// How a job ends.
#[derive(Debug, Clone, Copy)]
pub struct JobEnd<'a> {
    /// Its last state.
    pub state: JobState,
    /// Why it has failed.
    pub reason: Option<JobFailure>,
    /// What it has done.
    pub progress: &'a JobProgress,
    /// When.
    pub at: Timestamp,
}

/// What of a transaction was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// The job isn't as it was read.
    Job,
    /// The queue isn't as it was read.
    Queue,
    /// The job that would come next doesn't wait any more.
    Next,
}

/// Why a job isn't stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotStarted {
    /// It [finds no place](Job::finds_place).
    NoPlace,
    /// Another request with the same idempotency key was faster; its answer is the answer.
    IdempotencyKeyTaken,
}

/// What to answer to a request for a job that is stored like this.
pub type AnswerOfJob<'a> = &'a (dyn Fn(&Job) -> Result<CreationAnswer, serde_json::Error> + Send + Sync);

impl JobsTable {
    /// Stores a new job, which runs at once if no other does, and what its creator is answered if their request has an idempotency key.
    /// Returns the job as it is then.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(
        &self,
        job: &Job,
        answer: Option<(&IdempotencyKey, AnswerOfJob<'_>)>,
    ) -> Result<Result<Job, NotStarted>> {
        const OPERATION: &str = "create a job";
        retry_on_conflict(OPERATION, || async {
            let mut queue = self.queue(&job.workspace).await?;
            let mut job = job.clone();
            if queue.running.is_none() {
                job.state = JobState::Running;
                (job.started_at, job.noted_at) = (Some(job.created_at), Some(job.created_at));
                queue.running = Some(job.id);
            } else if job.finds_place(&queue.creators()) {
                queue.waiting.push(WaitingJob { id: job.id, created_by: job.created_by });
            } else {
                return Ok(Some(Err(NotStarted::NoPlace)));
            }
            let kept = answer.map(|(key, answer)| {
                let answer = answer(&job).map_err(RepositoryError::unavailable(OPERATION))?;
                self.0.keep_answer(answer_key(&job.workspace, &job.created_by, key), &answer, job.created_at)
            });
            Transaction::new(OPERATION)
                .and_each(kept.transpose()?, Some(Err(NotStarted::IdempotencyKeyTaken)))
                .and(self.0.put_new(&JobItem::from(&job))?, None)
                .and(self.queue_as(&queue)?, None)
                .commit(&self.0.client, Ok(job))
                .await
        })
        .await
    }

    /// What a request of a person with this key was answered in the last 24 hours.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first_answer(
        &self,
        workspace: &WorkspaceId,
        user: &UserId,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<CreationAnswer>> {
        self.0.kept_answer(answer_key(workspace, user, key), now).await
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, workspace: &WorkspaceId, id: &JobId) -> Result<Option<Job>> {
        const OPERATION: &str = "read a job";
        Ok(self.0.get::<JobItem>(OPERATION, job_key(workspace, id)).await?.map(|item| item.value))
    }

    /// Reads a job or a task.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn work(&self, id: &WorkId) -> Result<Option<Work>> {
        if let WorkId::Job { workspace, job } = id {
            return Ok(self.find(workspace, job).await?.map(Work::from));
        }
        let found = self.0.get::<TaskItem>("read a task", work_key(id)).await?;
        Ok(found.map(|item| Work::Task(item.value)))
    }

    /// Lists a workspace's jobs, newest first: at most `limit`, starting after the cursor.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        limit: usize,
        after: Option<&Cursor<JobId>>,
    ) -> Result<Page<Job, JobId>> {
        const OPERATION: &str = "list jobs";
        let before = after.map(|cursor| job_sort_key(&cursor.id));
        let sort_keys = match &before {
            Some(before) => SortKeys::Between(JOB_PREFIX, before),
            None => SortKeys::Beginning(JOB_PREFIX),
        };
        let query = self.0.query(&workspace_partition(workspace), sort_keys).scan_index_forward(false);
        // One more shows that there is a next page, and one may be that of the cursor.
        let items = self.0.query_all(OPERATION, query, limit + 2).await?.into_iter();
        let jobs = items.map(|item| Ok(from_item::<JobItem>(OPERATION, item)?.value));
        let mut jobs = jobs.collect::<Result<Vec<_>>>()?;
        jobs.retain(|job| after.is_none_or(|cursor| cursor.id != job.id));
        Ok(Page::of(jobs, limit, |job: &Job| Cursor { at: job.created_at, id: job.id }))
    }

    /// Notes how far a step has come, unless another one has noted that, or all is over. The stream then brings the next step.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note(&self, run: &Run<'_>, reached: &Reached, at: Timestamp) -> Result<()> {
        const OPERATION: &str = "note how far a job has come";
        let checkpoint = reached.checkpoint.as_deref().map_or(AttributeValue::Null(true), text);
        let values = progress_values(OPERATION, &reached.progress)?;
        let change = format!("SET {}, #checkpoint = :checkpoint, noted_at = :at ADD #step :one", assignments(&values));
        self.0
            .update(OPERATION, work_key(&run.id), change)
            .only_if(IS_STEP)
            .values(step_values(run))
            .values(placed(values))
            .values([(":checkpoint", checkpoint), (":at", text(&at)), (":one", number(&1))])
            .unless_refused()
            .await
            .map(|_| ())
    }

    /// Ends a job or a task whose step is this one. The next job of the workspace begins, and a task that is done is deleted with its mark. It changes
    /// nothing if another step has come further, or all is over; then it returns `false`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end(&self, work: &Work, end: &JobEnd<'_>) -> Result<bool> {
        let run = work.run();
        match work {
            Work::Job(job) => {
                let ended = self.ended(&run, end)?.action()?;
                retry_on_conflict(END, || self.hand_on(&job.workspace, &job.id, end.at, Some(ended.clone()))).await
            }
            Work::Task(_) if end.state == JobState::Done => {
                let delete = self.0.delete(END, work_key(&run.id)).only_if(IS_STEP);
                let is_ended = delete.values(step_values(&run)).unless_refused().await?;
                if is_ended {
                    // The clock would delete it, too, when it is due.
                    self.0.delete(END, JobMark::Revisit.key(&run.id)).or_fail().await?;
                }
                Ok(is_ended)
            }
            Work::Task(_) => self.ended(&run, end)?.unless_refused().await,
        }
    }

    /// Lets the next job of a workspace begin in place of one, with the action that ends that one, and says whether it has ended it;
    /// `None` if others were faster.
    async fn hand_on(
        &self,
        workspace: &WorkspaceId,
        over: &JobId,
        at: Timestamp,
        ended: Option<TransactWriteItem>,
    ) -> Result<Option<bool>> {
        let mut queue = self.queue(workspace).await?;
        if queue.running != Some(*over) && ended.is_none() {
            return Ok(Some(false));
        }
        let mut transaction = Transaction::new(END).and_each(ended, Refused::Job);
        let mut next = None;
        if queue.running == Some(*over) {
            next = (!queue.waiting.is_empty()).then(|| queue.waiting.remove(0).id);
            queue.running = next;
            transaction = transaction.and(self.queue_as(&queue)?, Refused::Queue);
        }
        if let Some(next) = &next {
            transaction = transaction.and(self.started(workspace, next, at)?, Refused::Next);
        }
        Ok(match (transaction.send(&self.0.client).await?, next) {
            (TransactionOutcome::Committed, _) => Some(true),
            (TransactionOutcome::Refused(Refused::Job), _) => Some(false),
            (TransactionOutcome::Refused(Refused::Next), Some(next)) => {
                self.forget(workspace, &next).await?;
                None
            }
            (TransactionOutcome::Refused(_) | TransactionOutcome::InConflict, _) => None,
        })
    }

    /// Cancels a job: at once if it waits, or else as soon as what has begun of it is done. One that is over stays as it is. Returns
    /// it as it is then; `None` if there is none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn cancel(
        &self,
        workspace: &WorkspaceId,
        id: &JobId,
        by: &Changer,
        at: Timestamp,
    ) -> Result<Option<Job>> {
        retry_on_conflict(CANCEL, || async {
            let Some(job) = self.find(workspace, id).await? else { return Ok(Some(None)) };
            let is_done = match job.state {
                JobState::Queued => self.leave_queue(&job, by, at).await?,
                JobState::Running => {
                    let change = "SET #state = :cancelling, cancelled_by = :by";
                    let update = self.0.update(CANCEL, job_key(workspace, id), change).only_if("#state = :running");
                    let states = [(":running", JobState::Running), (":cancelling", JobState::Cancelling)].map(named);
                    update.values(states).value(":by", text(by)).unless_refused().await?
                }
                _ => return Ok(Some(Some(job))),
            };
            Ok(if is_done { Some(self.find(workspace, id).await?) } else { None })
        })
        .await
    }

    async fn leave_queue(&self, job: &Job, by: &Changer, at: Timestamp) -> Result<bool> {
        let mut queue = self.queue(&job.workspace).await?;
        queue.forget(&job.id);
        let cancelled = self.cancelled(job, by, at)?;
        let transaction = Transaction::new(CANCEL).and(cancelled, ()).and(self.queue_as(&queue)?, ());
        Ok(transaction.send(&self.0.client).await? == TransactionOutcome::Committed)
    }

    /// The action that cancels a job in the state that was read, also one that runs: what has begun of it is done, and not noted.
    fn cancelled(&self, job: &Job, by: &Changer, at: Timestamp) -> Result<TransactWriteItem> {
        const CANCELLED: &str = "SET #state = :cancelled, cancelled_by = :by, ended_at = :at, #ttl = :ttl";
        self.0
            .update(ACTION, job_key(&job.workspace, &job.id), CANCELLED)
            .only_if("#state = :state")
            .values([(":state", job.state), (":cancelled", JobState::Cancelled)].map(named))
            .values([(":by", text(by)), (":at", text(&at)), (":ttl", number(&kept_until(at)))])
            .action()
    }

    /// Gives up the job of a workspace that runs, if it came no further for too long, isn't there or can't be read, and lets the next
    /// one begin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn give_up_stuck(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<()> {
        let Some(running) = self.queue(workspace).await?.running else { return Ok(()) };
        match self.find(workspace, &running).await {
            Ok(Some(job)) if !job.is_stuck(now) => Ok(()),
            Ok(Some(job)) => {
                let (state, reason) = job.run().given_up();
                let progress = job.progress.clone();
                let end = JobEnd { state, reason, progress: &progress, at: now };
                self.end(&job.into(), &end).await.map(|_| ())
            }
            Ok(None) | Err(RepositoryError::UnexpectedItem { .. }) => {
                retry_on_conflict(END, || self.hand_on(workspace, &running, now, None)).await.map(|_| ())
            }
            Err(error) => Err(error),
        }
    }

    async fn queue(&self, workspace: &WorkspaceId) -> Result<QueueItem> {
        let found = self.0.get("read which jobs wait", queue_key(workspace)).await?;
        Ok(found.unwrap_or_else(|| QueueItem::empty(workspace)))
    }

    /// The action that writes a queue, unless it was written since it was read.
    fn queue_as(&self, queue: &QueueItem) -> Result<TransactWriteItem> {
        let next = QueueItem { version: queue.version + 1, ..queue.clone() };
        let put = self.0.put_item(ACTION, &next)?;
        if queue.version == 0 {
            return put.only_if(IS_NEW).action();
        }
        put.only_if("#version = :version").value(":version", number(&queue.version)).action()
    }

    /// The write that ends a job, or notes that a task has failed.
    fn ended(&self, run: &Run<'_>, end: &JobEnd<'_>) -> Result<Write<'_>> {
        let mut values = progress_values(END, end.progress)?;
        values.extend([
            ("state".to_owned(), text(&end.state)),
            ("ended_at".to_owned(), text(&end.at)),
            ("ttl".to_owned(), number(&kept_until(end.at))),
        ]);
        values.extend(end.reason.map(|reason| ("reason".to_owned(), text(reason.code()))));
        Ok(self
            .0
            .update(END, work_key(&run.id), format!("SET {}", assignments(&values)))
            .only_if(IS_STEP)
            .values(step_values(run))
            .values(placed(values)))
    }

    /// The action that begins a job which waits.
    fn started(&self, workspace: &WorkspaceId, id: &JobId, at: Timestamp) -> Result<TransactWriteItem> {
        self.0
            .update(END, job_key(workspace, id), "SET #state = :running, started_at = :at, noted_at = :at")
            .only_if("#state = :queued")
            .values([(":queued", JobState::Queued), (":running", JobState::Running)].map(named))
            .value(":at", text(&at))
            .action()
    }

    /// Takes a job out of the queue that isn't there to begin: somebody has taken it away by hand.
    async fn forget(&self, workspace: &WorkspaceId, id: &JobId) -> Result<()> {
        if self.find(workspace, id).await?.is_some_and(|job| job.state == JobState::Queued) {
            return Ok(());
        }
        let mut queue = self.queue(workspace).await?;
        queue.forget(id);
        Transaction::new(END).and(self.queue_as(&queue)?, ()).send(&self.0.client).await.map(|_| ())
    }
}

const END: &str = "end a job";

const CANCEL: &str = "cancel a job";

/// The condition that this step is the next one of the same job or task, which isn't over. A later task about the same is another one.
const IS_STEP: &str = "#step = :step AND created_at = :created_at AND #state IN (:running, :cancelling)";

/// The values of [`IS_STEP`].
fn step_values(run: &Run<'_>) -> [(&'static str, AttributeValue); 4] {
    let [running, cancelling] = [(":running", JobState::Running), (":cancelling", JobState::Cancelling)].map(named);
    [(":step", number(&run.step)), (":created_at", text(&run.created_at)), running, cancelling]
}

fn named((name, state): (&'static str, JobState)) -> (&'static str, AttributeValue) {
    (name, text(&state))
}

/// The attributes that say what a job has done.
fn progress_values(operation: &'static str, progress: &JobProgress) -> Result<Vec<(String, AttributeValue)>> {
    let attributes: Item = to_attributes(operation, progress)?;
    Ok(attributes.into_iter().collect())
}

/// `#seen = :seen, …`.
fn assignments(values: &[(String, AttributeValue)]) -> String {
    let each: Vec<_> = values.iter().map(|(name, _)| format!("#{name} = :{name}")).collect();
    each.join(", ")
}

fn placed(values: Vec<(String, AttributeValue)>) -> impl Iterator<Item = (String, AttributeValue)> {
    values.into_iter().map(|(name, value)| (format!(":{name}"), value))
}

/// What a record of the stream says about a job or a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSignal {
    /// The step with this number begins.
    Step(u64),
    /// This mark beside it is gone.
    Due(JobMark),
}

/// What of a job or a task says which step begins.
#[derive(Debug, Deserialize)]
pub(crate) struct StepItem {
    state: JobState,
    step: u64,
}

impl JobSignal {
    /// What it means that there is an item with this key, and what it says; `None` if nothing.
    pub(crate) fn of(
        key: &Key,
        item: impl FnOnce() -> Result<StepItem, StreamError>,
    ) -> Result<Option<(WorkId, Self)>, StreamError> {
        let Some(id) = work_of(key)? else { return Ok(None) };
        let StepItem { state, step } = item()?;
        Ok(state.is_under_way().then_some((id, Self::Step(step))))
    }

    /// What it means that the item with this key is gone. Also if somebody has deleted it by hand.
    pub(crate) fn of_gone(key: &Key) -> Result<Option<(WorkId, Self)>, StreamError> {
        let Some((mark, beside)) = JobMark::of(key) else { return Ok(None) };
        Ok(work_of(&beside)?.map(|id| (id, Self::Due(mark))))
    }
}
