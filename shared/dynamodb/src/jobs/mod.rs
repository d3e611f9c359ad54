//! JobsTable: what is done to many things of a workspace, and how far that has come.
//!
//! ```text
//! request ──→ job, which runs at once or waits in the queue of its workspace
//!               │ stream: a turn, which notes how far it has come; that is in the stream again, so another turn follows
//!             all is done, or somebody cancels it, or it is given up ──→ the job is over, and the next in the queue runs
//! ```
//! Each write of a turn is conditional on the number of the turn, so one that is repeated or comes late changes nothing. What runs and
//! what waits changes in one transaction with the jobs themselves.

mod closing;
mod forgetting;
pub(crate) mod item;

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeValue, TransactWriteItem},
};
use linklet_domain::{Changer, Invalid, Job, JobFailure, JobId, JobProgress, JobState, Timestamp, UserId, WorkspaceId};

use self::item::{
    JOB_PREFIX, JobItem, QueueItem, WORKSPACE_PREFIX, WaitingJob, job_key, job_of, job_sort_key, kept_until, queue_key,
    workspace_partition,
};
pub use self::{
    closing::{DueMark, JobMark},
    forgetting::ClosedPerson,
};
use crate::{
    Cursor, Page, RepositoryError,
    item::{IS_NEW, Item, Key, SortKeys, Table, from_item, number, text, to_attributes},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
};

/// The repository of jobs: JobsTable.
#[derive(Debug, Clone)]
pub struct JobsTable(Table);

/// How far a turn of a job has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// What the job has done until then.
    pub progress: JobProgress,
    /// Where the next turn goes on.
    pub after: Option<String>,
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

impl JobsTable {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Stores a new job, which runs at once if no other does. Returns it as it is then; `None` if it [finds no place](Job::finds_place).
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(&self, job: &Job) -> Result<Option<Job>, RepositoryError> {
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
                return Ok(Some(None));
            }
            let transaction = Transaction::new(OPERATION)
                .and(self.0.put_new(OPERATION, &JobItem::from(&job))?, ())
                .and(self.queue_as(OPERATION, &queue)?, ());
            let sent = transaction.send(&self.0.client).await?;
            Ok((sent == TransactionOutcome::Committed).then_some(Some(job)))
        })
        .await
    }

    /// Reads a job.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, workspace: &WorkspaceId, id: &JobId) -> Result<Option<Job>, RepositoryError> {
        const OPERATION: &str = "read a job";
        self.0.get::<JobItem>(OPERATION, job_key(workspace, id)).await?.map(|item| job(OPERATION, item)).transpose()
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
    ) -> Result<Page<Job, JobId>, RepositoryError> {
        const OPERATION: &str = "list jobs";
        let before = after.map(|cursor| job_sort_key(&cursor.id));
        let sort_keys = match &before {
            Some(before) => SortKeys::Between(JOB_PREFIX, before),
            None => SortKeys::Beginning(JOB_PREFIX),
        };
        let query = self.0.query(&workspace_partition(workspace), sort_keys).scan_index_forward(false);
        // One more shows that there is a next page, and one may be that of the cursor.
        let items = self.0.query_all(OPERATION, query, limit + 2).await?.into_iter();
        let mut jobs = items.map(|item| job(OPERATION, from_item(OPERATION, item)?)).collect::<Result<Vec<_>, _>>()?;
        jobs.retain(|job| after.is_none_or(|cursor| cursor.id != job.id));
        Ok(Page::of(jobs, limit, |job: &Job| Cursor { at: job.created_at, id: job.id }))
    }

    /// Notes how far a turn has come, unless another one has noted that, or the job is over. The stream then brings the next turn.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note(&self, job: &Job, reached: &Reached, at: Timestamp) -> Result<(), RepositoryError> {
        const OPERATION: &str = "note how far a job has come";
        let after = reached.after.as_deref().map_or(AttributeValue::Null(true), text);
        let values = progress_values(OPERATION, &reached.progress)?;
        let change = format!("SET {}, #after = :after, noted_at = :at ADD #turn :one", assignments(&values));
        self.0
            .update(OPERATION, job_key(&job.workspace, &job.id), change)
            .only_if(IS_TURN)
            .values(turn_values(job))
            .values(placed(values))
            .values([(":after", after), (":at", text(&at)), (":one", number(&1))])
            .unless_refused()
            .await
            .map(|_| ())
    }

    /// Ends a job whose turn is this one, and lets the next one of its workspace begin. It changes nothing if another turn has come
    /// further, or the job is over; then it returns `false`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end(&self, job: &Job, end: &JobEnd<'_>) -> Result<bool, RepositoryError> {
        let ended = self.ended(job, end)?;
        retry_on_conflict(END, || self.hand_on(&job.workspace, &job.id, end.at, Some(ended.clone()))).await
    }

    /// Lets the next job of a workspace begin in place of one, with the action that ends that one, and says whether it has ended it;
    /// `None` if others were faster.
    async fn hand_on(
        &self,
        workspace: &WorkspaceId,
        over: &JobId,
        at: Timestamp,
        ended: Option<TransactWriteItem>,
    ) -> Result<Option<bool>, RepositoryError> {
        let mut queue = self.queue(workspace).await?;
        if queue.running != Some(*over) && ended.is_none() {
            return Ok(Some(false));
        }
        let mut transaction = Transaction::new(END).and_each(ended, Refused::Job);
        let mut next = None;
        if queue.running == Some(*over) {
            next = (!queue.waiting.is_empty()).then(|| queue.waiting.remove(0).id);
            queue.running = next;
            transaction = transaction.and(self.queue_as(END, &queue)?, Refused::Queue);
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
    ) -> Result<Option<Job>, RepositoryError> {
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

    async fn leave_queue(&self, job: &Job, by: &Changer, at: Timestamp) -> Result<bool, RepositoryError> {
        let mut queue = self.queue(&job.workspace).await?;
        queue.forget(&job.id);
        let cancelled = self.cancelled(CANCEL, job, by, at)?;
        let transaction = Transaction::new(CANCEL).and(cancelled, ()).and(self.queue_as(CANCEL, &queue)?, ());
        Ok(transaction.send(&self.0.client).await? == TransactionOutcome::Committed)
    }

    /// The action that cancels a job in the state that was read, also one that runs: what has begun of it is done, and not noted.
    fn cancelled(
        &self,
        operation: &'static str,
        job: &Job,
        by: &Changer,
        at: Timestamp,
    ) -> Result<TransactWriteItem, RepositoryError> {
        const CANCELLED: &str = "SET #state = :cancelled, cancelled_by = :by, ended_at = :at, #ttl = :ttl";
        self.0
            .update(operation, job_key(&job.workspace, &job.id), CANCELLED)
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
    pub async fn give_up_stuck(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<(), RepositoryError> {
        let Some(running) = self.queue(workspace).await?.running else { return Ok(()) };
        match self.find(workspace, &running).await {
            Ok(Some(job)) if !job.is_stuck(now) => Ok(()),
            Ok(Some(job)) => {
                let (state, reason) = job.given_up();
                self.end(&job, &JobEnd { state, reason, progress: &job.progress, at: now }).await.map(|_| ())
            }
            Ok(None) | Err(RepositoryError::UnexpectedItem { .. }) => {
                retry_on_conflict(END, || self.hand_on(workspace, &running, now, None)).await.map(|_| ())
            }
            Err(error) => Err(error),
        }
    }

    async fn queue(&self, workspace: &WorkspaceId) -> Result<QueueItem, RepositoryError> {
        let found = self.0.get("read which jobs wait", queue_key(workspace)).await?;
        Ok(found.unwrap_or_else(|| QueueItem::empty(workspace)))
    }

    /// The action that writes a queue, unless it was written since it was read.
    fn queue_as(&self, operation: &'static str, queue: &QueueItem) -> Result<TransactWriteItem, RepositoryError> {
        let next = QueueItem { version: queue.version + 1, ..queue.clone() };
        let put = self.0.put_item(operation, &next)?;
        if queue.version == 0 {
            return put.only_if(IS_NEW).action();
        }
        put.only_if("#version = :version").value(":version", number(&queue.version)).action()
    }

    /// The action that ends a job.
    fn ended(&self, job: &Job, end: &JobEnd<'_>) -> Result<TransactWriteItem, RepositoryError> {
        let mut values = progress_values(END, end.progress)?;
        values.extend([
            ("state".to_owned(), text(end.state.as_str())),
            ("ended_at".to_owned(), text(&end.at)),
            ("ttl".to_owned(), number(&kept_until(end.at))),
        ]);
        values.extend(end.reason.map(|reason| ("reason".to_owned(), text(reason.code()))));
        self.0
            .update(END, job_key(&job.workspace, &job.id), format!("SET {}", assignments(&values)))
            .only_if(IS_TURN)
            .values(turn_values(job))
            .values(placed(values))
            .action()
    }

    /// The action that begins a job which waits.
    fn started(
        &self,
        workspace: &WorkspaceId,
        id: &JobId,
        at: Timestamp,
    ) -> Result<TransactWriteItem, RepositoryError> {
        self.0
            .update(END, job_key(workspace, id), "SET #state = :running, started_at = :at, noted_at = :at")
            .only_if("#state = :queued")
            .values([(":queued", JobState::Queued), (":running", JobState::Running)].map(named))
            .value(":at", text(&at))
            .action()
    }

    /// Takes a job out of the queue that isn't there to begin: somebody has taken it away by hand.
    async fn forget(&self, workspace: &WorkspaceId, id: &JobId) -> Result<(), RepositoryError> {
        if self.find(workspace, id).await?.is_some_and(|job| job.state == JobState::Queued) {
            return Ok(());
        }
        let mut queue = self.queue(workspace).await?;
        queue.forget(id);
        Transaction::new(END).and(self.queue_as(END, &queue)?, ()).send(&self.0.client).await.map(|_| ())
    }
}

const END: &str = "end a job";

const CANCEL: &str = "cancel a job";

/// The condition that a job's turn is the one that was read, and that the job isn't over.
const IS_TURN: &str = "#turn = :turn AND #state IN (:running, :cancelling)";

/// The values of [`IS_TURN`].
fn turn_values(job: &Job) -> [(&'static str, AttributeValue); 3] {
    let [running, cancelling] = [(":running", JobState::Running), (":cancelling", JobState::Cancelling)].map(named);
    [(":turn", number(&job.turn)), running, cancelling]
}

fn named((name, state): (&'static str, JobState)) -> (&'static str, AttributeValue) {
    (name, text(state.as_str()))
}

/// The attributes that say what a job has done.
fn progress_values(
    operation: &'static str,
    progress: &JobProgress,
) -> Result<Vec<(String, AttributeValue)>, RepositoryError> {
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

fn job(operation: &'static str, item: JobItem) -> Result<Job, RepositoryError> {
    Job::try_from(item).map_err(RepositoryError::unexpected_item(operation))
}

/// What a record of the stream says about a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobSignal {
    /// A turn begins.
    Turn(JobTurn),
    /// The mark beside a job is gone.
    Due(DueMark),
    /// What is stored about this person is to be deleted.
    Forget(UserId),
}

/// Which turn of which job begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobTurn {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The job.
    pub job: JobId,
    /// The turn.
    pub turn: u64,
}

impl JobSignal {
    /// What it means that there is a job as this.
    pub(crate) fn of(item: &JobItem) -> Result<Option<Self>, Invalid> {
        let (workspace, job) = job_of(&item.key)?;
        Ok(item.state.is_under_way().then_some(Self::Turn(JobTurn { workspace, job, turn: item.turn })))
    }

    /// What it means that there is an item with this key which is no job.
    pub(crate) fn of_other(key: &Key) -> Result<Option<Self>, Invalid> {
        Ok(forgetting::person_of(key)?.map(Self::Forget))
    }

    /// What it means that the item with this key is gone. Also if somebody has deleted it by hand.
    pub(crate) fn of_gone(Key { pk, sk }: &Key) -> Result<Option<Self>, Invalid> {
        let Some((mark, job)) = JobMark::of(sk) else { return Ok(None) };
        let workspace = WorkspaceId::parse(pk.strip_prefix(WORKSPACE_PREFIX).unwrap_or_default())?;
        Ok(Some(Self::Due(DueMark { workspace, job: JobId::parse(job)?, mark })))
    }
}
