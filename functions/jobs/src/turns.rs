//! The frame of all jobs: a turn does pieces of work for some time and notes how far that has come. The note is in the stream of the
//! table, and brings the next turn. So work of any size ends, goes on after a crash where it was, and waits for a table that is
//! unavailable; and as the notes of all workspaces take turns, none waits for the long job of another.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use aws_lambda_events::{
    dynamodb::{Event as StreamEvent, EventRecord},
    streams::DynamoDbEventResponse,
};
use linklet_domain::{Job, JobFailure, JobProgress, JobState, Timestamp, UserId};
use linklet_dynamodb::{
    DueMark, JobEnd, JobSignal, JobTurn, JobsTable, Reached, RepositoryError, Workspaces, stream::job_signal,
};
use linklet_lambda::{
    batch::{Consumer, DeadLetterQueue},
    metrics, stream as records,
    telemetry::chain,
};

/// What is done for a job.
pub trait Work: Send + Sync {
    /// Waits until all is there that a job looks at.
    fn settle(&self, job: &Job) -> impl Future<Output = ()> + Send;

    /// Does the next piece of a job: as much as takes some seconds at most. It may have been done before, by a turn that died or lost
    /// its note, and then has to come to the same.
    fn next(&self, job: &Job, after: Option<&str>) -> impl Future<Output = Result<Piece, RepositoryError>> + Send;

    /// Whether a job waits until it is [woken](Self::wake).
    fn rests(&self, job: &Job) -> bool;

    /// Lets a job go on whose mark is gone.
    fn wake(&self, due: &DueMark) -> impl Future<Output = Result<(), RepositoryError>> + Send;

    /// Deletes what is stored about a person whose account is closed.
    fn forget(&self, user: &UserId) -> impl Future<Output = Result<(), RepositoryError>> + Send;
}

/// A piece of work that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What has come of it.
    pub progress: JobProgress,
    /// What comes next.
    pub next: Next,
}

/// What comes after a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The piece that begins here.
    GoOn(String),
    /// Nothing until the job is woken, which is then here.
    Rest(String),
    /// Nothing: all is done.
    End,
    /// Nothing: another job is to do the rest.
    Overtaken,
}

impl Piece {
    /// Nothing was left to do.
    pub(crate) fn last() -> Self {
        Self { progress: JobProgress::default(), next: Next::End }
    }

    /// Nothing is left to do for this job.
    pub(crate) fn overtaken() -> Self {
        Self { progress: JobProgress::default(), next: Next::Overtaken }
    }
}

/// The consumer of JobsTable's stream, of which the event source's filter leaves what begins a turn.
pub struct Turns<W> {
    /// The repository of jobs.
    pub jobs: JobsTable,
    /// The repository of what stands behind jobs.
    pub users: Workspaces,
    /// What the kinds of jobs do.
    pub work: W,
    /// The dead-letter queue, for records that can't be read.
    pub dead_letters: DeadLetterQueue,
    /// How long a turn takes before it notes how far it has come.
    pub turn: Duration,
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl<W: Work> records::InOrder for Turns<W> {
    async fn process(&self, record: &EventRecord) -> bool {
        let signal = match job_signal(record) {
            Ok(Some(signal)) => signal,
            Ok(None) => return true,
            Err(error) => return records::park(&self.dead_letters, record, &chain(&error)).await,
        };
        let taken = match &signal {
            JobSignal::Turn(turn) => self.take(turn).await,
            JobSignal::Due(due) => self.work.wake(due).await,
            JobSignal::Forget(user) => self.work.forget(user).await,
        };
        match taken {
            Ok(()) => true,
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                records::park(&self.dead_letters, record, &chain(&error)).await
            }
            Err(error) => {
                log_failure(&signal, &error);
                false
            }
        }
    }
}

impl<W: Work> Consumer<StreamEvent, DynamoDbEventResponse> for Turns<W> {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        records::one_by_one(batch, self).await
    }
}

/// What comes after a piece of work.
enum Then {
    GoOn,
    Rest,
    End(JobState, Option<JobFailure>),
    /// Another turn has come further, or the job is over.
    Leave,
}

impl<W: Work> Turns<W> {
    /// Takes a turn, unless it was taken, or another one has come further, or the job is over: records come twice, in another order,
    /// and hours late.
    async fn take(&self, signal: &JobTurn) -> Result<(), RepositoryError> {
        let Some(job) = self.jobs.find(&signal.workspace, &signal.job).await? else { return Ok(()) };
        if job.turn != signal.turn || !job.state.is_under_way() || self.work.rests(&job) {
            return Ok(());
        }
        metrics::concerns(&job.correlation_id);
        if job.is_stuck((self.clock)()) {
            // Turns that are killed say nothing, so this one looks before it begins.
            let (state, reason) = job.given_up();
            return self.end(&job, state, reason, &job.progress).await;
        }
        match self.carry_on(&job).await {
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                log_end(&job, &chain(&error));
                self.end(&job, JobState::Failed, Some(JobFailure::InternalError), &job.progress).await
            }
            taken => taken,
        }
    }

    /// Does what fits into a turn, and notes how far that has come.
    async fn carry_on(&self, job: &Job) -> Result<(), RepositoryError> {
        let ends_at = Instant::now() + self.turn;
        self.work.settle(job).await;
        let mut reached = Reached { progress: job.progress.clone(), after: job.after.clone() };
        loop {
            match self.advance(job, &mut reached).await {
                Ok(Then::End(state, reason)) => return self.end(job, state, reason, &reached.progress).await,
                Ok(Then::GoOn) if Instant::now() < ends_at => {}
                Ok(Then::GoOn | Then::Rest) => break,
                Ok(Then::Leave) => return Ok(()),
                // What was done is noted, so that the turns of a slow table get somewhere, too.
                Err(error @ RepositoryError::Unavailable { .. }) if reached.after != job.after => {
                    tracing::warn!(error = chain(&error), "a turn of a job ended early");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.jobs.note(job, &reached, (self.clock)()).await
    }

    /// Does a piece of work, if the job may go on.
    async fn advance(&self, job: &Job, reached: &mut Reached) -> Result<Then, RepositoryError> {
        if let Some(then) = self.stop(job).await? {
            return Ok(then);
        }
        let Piece { progress, next } = self.work.next(job, reached.after.as_deref()).await?;
        reached.progress.add(progress);
        let (after, then) = match next {
            Next::End => return Ok(Then::End(JobState::Done, None)),
            Next::Overtaken => return Ok(Then::End(JobState::Cancelled, None)),
            Next::Rest(after) => (after, Then::Rest),
            Next::GoOn(after) => (after, Then::GoOn),
        };
        reached.after = Some(after);
        Ok(then)
    }

    /// What keeps a job from its next piece of work, by what the tables say at this moment.
    async fn stop(&self, job: &Job) -> Result<Option<Then>, RepositoryError> {
        let now = self.jobs.find(&job.workspace, &job.id).await?;
        Ok(match now.filter(|now| now.turn == job.turn).map(|now| now.state) {
            Some(JobState::Running) if self.is_backed(job).await? => None,
            Some(JobState::Running) => Some(Then::End(JobState::Failed, Some(JobFailure::RightsLost))),
            Some(JobState::Cancelling) => Some(Then::End(JobState::Cancelled, None)),
            _ => Some(Then::Leave),
        })
    }

    /// Whether a job has what it needs behind it.
    async fn is_backed(&self, job: &Job) -> Result<bool, RepositoryError> {
        Ok(!job.work.is_of_links() || job.is_backed_by(&self.users.backing(job, (self.clock)()).await?))
    }

    async fn end(
        &self,
        job: &Job,
        state: JobState,
        reason: Option<JobFailure>,
        progress: &JobProgress,
    ) -> Result<(), RepositoryError> {
        let (JobProgress { seen, changed, failed, .. }, at) = (progress, (self.clock)());
        if !self.jobs.end(job, &JobEnd { state, reason, progress, at }).await? {
            return Ok(());
        }
        tracing::info!(
            workspace_id = %job.workspace,
            job_id = %job.id,
            state = state.as_str(),
            reason = reason.map(JobFailure::code),
            seen,
            changed,
            failed,
            "a job is over"
        );
        Ok(())
    }
}

fn log_failure(signal: &JobSignal, error: &RepositoryError) {
    let (workspace_id, job_id, user_id) = match signal {
        JobSignal::Turn(JobTurn { workspace, job, .. }) | JobSignal::Due(DueMark { workspace, job, .. }) => {
            (Some(workspace.to_string()), Some(job.to_string()), None)
        }
        JobSignal::Forget(user) => (None, None, Some(user.to_string())),
    };
    tracing::error!(workspace_id, job_id, user_id, error = chain(error), "a turn of a job failed");
}

fn log_end(job: &Job, error: &str) {
    let (workspace_id, job_id) = (job.workspace.to_string(), job.id.to_string());
    tracing::error!(workspace_id, job_id, error, "a job is given up");
}
