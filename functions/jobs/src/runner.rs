//! Carries out jobs and tasks. A step does pieces of work for some time and notes how far that has come. The note is in the stream of
//! the table, and brings the next step. So work of any size ends, goes on after a crash where it was, and waits for a table that is
//! unavailable; and as the notes of all workspaces take turns, none waits for the long job of another.

use std::time::{Duration, Instant};

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use aws_lambda_events::streams::DynamoDbEventResponse;
use linklet_domain::{Invalid, Job, JobFailure, JobProgress, JobState, Timestamp, Work, WorkId};
use linklet_dynamodb::{
    JobEnd, JobMark, JobSignal, JobsTable, Reached, RepositoryError, Result, Workspaces, stream::job_signal,
};
use linklet_lambda::batch::{Consumer, DeadLetterQueue};
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::stream as records;
use linklet_lambda::telemetry::chain;
use serde::{Serialize, de::DeserializeOwned};

use crate::Kinds;

/// A piece of work that is done: as much as takes some seconds at most. It may have been done before, by a step that died or lost its
/// note, and then has to come to the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<C = String> {
    /// What has come of it.
    pub progress: JobProgress,
    /// What comes next.
    pub next: Next<C>,
}

/// What comes after a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next<C = String> {
    /// The piece that begins at this checkpoint.
    GoOn(C),
    /// Nothing, until a mark is gone: the one that is there, or one for this time.
    Rest(C, Option<Timestamp>),
    /// Nothing: all is done.
    End,
    /// Nothing: another job is to do the rest.
    Preempted,
}

impl<C> Next<C> {
    pub(crate) fn map<D>(self, checkpoint: impl FnOnce(C) -> D) -> Next<D> {
        match self {
            Self::GoOn(reached) => Next::GoOn(checkpoint(reached)),
            Self::Rest(reached, until) => Next::Rest(checkpoint(reached), until),
            Self::End => Next::End,
            Self::Preempted => Next::Preempted,
        }
    }
}

impl<C> Piece<C> {
    /// One that has changed nothing that is counted.
    pub(crate) fn then(next: Next<C>) -> Self {
        Self { progress: JobProgress::default(), next }
    }
}

impl<C: Serialize> Piece<C> {
    /// With the checkpoint as it is stored.
    pub(crate) fn encoded(self) -> Result<Piece> {
        let next = match self.next {
            Next::GoOn(reached) => Next::GoOn(encode(&reached)?),
            Next::Rest(reached, until) => Next::Rest(encode(&reached)?, until),
            Next::End => Next::End,
            Next::Preempted => Next::Preempted,
        };
        Ok(Piece { progress: self.progress, next })
    }
}

/// A checkpoint as it is stored.
pub(crate) fn encode<C: Serialize>(checkpoint: &C) -> Result<String> {
    serde_json::to_string(checkpoint).map_err(RepositoryError::unexpected_item("write a checkpoint"))
}

/// A stored checkpoint.
pub(crate) fn decode<C: DeserializeOwned>(checkpoint: Option<&str>) -> Result<Option<C>> {
    let decoded = checkpoint.map(serde_json::from_str).transpose();
    let unreadable = |_| Invalid::new("the checkpoint is not one of this kind of job");
    decoded.map_err(unreadable).map_err(RepositoryError::unexpected_item("read a checkpoint"))
}

/// What becomes of a job or a task whose mark is gone.
pub(crate) enum Recheck {
    /// Nothing: it waits for another mark.
    None,
    /// The mark came too early, and comes again at this time.
    Later(Timestamp),
    /// It goes on if it rests.
    Now,
}

/// The consumer of JobsTable's stream, of which the event source's filter leaves what begins a step.
pub struct JobRunner {
    /// The repository of jobs and tasks.
    pub jobs: JobsTable,
    /// The repository of what stands behind jobs.
    pub users: Workspaces,
    /// What is done, by the kind of the job or task.
    pub kinds: Kinds,
    /// The dead-letter queue, for records that can't be read.
    pub dead_letters: DeadLetterQueue,
    /// How long a step takes before it notes how far it has come.
    pub step: Duration,
    /// What time it is.
    pub clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

impl records::InOrder for JobRunner {
    async fn process(&self, record: &EventRecord) -> bool {
        let (id, signal) = match job_signal(record) {
            Ok(Some(signal)) => signal,
            Ok(None) => return true,
            Err(error) => return records::park(&self.dead_letters, record, &chain(&error)).await,
        };
        let taken = match signal {
            JobSignal::Step(step) => self.take(&id, step).await,
            JobSignal::Due(mark) => self.wake(&id, mark).await,
        };
        match taken {
            Ok(()) => true,
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                records::park(&self.dead_letters, record, &chain(&error)).await
            }
            Err(error) => {
                let (workspace_id, job_id, user_id, short_code) = names(&id);
                tracing::error!(
                    workspace_id,
                    job_id,
                    user_id,
                    short_code,
                    error = chain(&error),
                    "a step of a job failed"
                );
                false
            }
        }
    }
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for JobRunner {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        records::one_by_one(batch, self).await
    }
}

/// What comes after a piece of work.
enum Then {
    GoOn,
    Rest,
    End(JobState, Option<JobFailure>),
    /// Another step has come further, or all is over.
    Leave,
}

impl JobRunner {
    /// Takes a step, unless it was taken, or another one has come further, or all is over: records come twice, in another order, and
    /// hours late.
    async fn take(&self, id: &WorkId, step: u64) -> Result<()> {
        let Some(work) = self.jobs.work(id).await? else { return Ok(()) };
        let run = work.run();
        if run.step != step || !run.state.is_under_way() || self.kinds.rests(&work) {
            return Ok(());
        }
        metrics::concerns(run.correlation_id);
        if run.has_stood_still((self.clock)()) {
            // Steps that are killed say nothing, so this one looks before it begins. Others wait for its place in the stream.
            let (state, reason) = run.given_up();
            return self.end(&work, state, reason, run.progress).await;
        }
        match self.carry_on(&work).await {
            Err(error @ RepositoryError::UnexpectedItem { .. }) => {
                let (workspace_id, job_id, user_id, short_code) = names(id);
                tracing::error!(workspace_id, job_id, user_id, short_code, error = chain(&error), "a job is given up");
                self.end(&work, JobState::Failed, Some(JobFailure::InternalError), run.progress).await?;
                // Nobody sees a task, so its record goes to the dead-letter queue.
                if matches!(work, Work::Task(_)) { Err(error) } else { Ok(()) }
            }
            taken => taken,
        }
    }

    /// Does what fits into a step, and notes how far that has come.
    async fn carry_on(&self, work: &Work) -> Result<()> {
        let (ends_at, run) = (Instant::now() + self.step, work.run());
        self.kinds.wait_for_index(work, (self.clock)()).await;
        let mut reached = Reached { progress: run.progress.clone(), checkpoint: run.checkpoint.map(str::to_owned) };
        loop {
            match self.advance(work, &mut reached).await {
                Ok(Then::End(state, reason)) => return self.end(work, state, reason, &reached.progress).await,
                Ok(Then::GoOn) if Instant::now() < ends_at => {}
                Ok(Then::GoOn | Then::Rest) => break,
                Ok(Then::Leave) => return Ok(()),
                // What was done is noted, so that the steps of a slow table get somewhere, too.
                Err(error @ RepositoryError::Unavailable { .. }) if reached.checkpoint.as_deref() != run.checkpoint => {
                    tracing::warn!(error = chain(&error), "a step of a job ended early");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.jobs.note(&run, &reached, (self.clock)()).await
    }

    /// Does a piece of work, if it may go on.
    async fn advance(&self, work: &Work, reached: &mut Reached) -> Result<Then> {
        if let Some(then) = self.stop(work).await? {
            return Ok(then);
        }
        let Piece { progress, next } = self.kinds.next(work, reached.checkpoint.as_deref(), (self.clock)()).await?;
        reached.progress.add(progress);
        let (checkpoint, then) = match next {
            Next::End => return Ok(Then::End(JobState::Done, None)),
            Next::Preempted => return Ok(Then::End(JobState::Cancelled, None)),
            Next::GoOn(checkpoint) => (checkpoint, Then::GoOn),
            Next::Rest(checkpoint, until) => {
                if let Some(until) = until {
                    self.jobs.mark(&work.run().id, JobMark::Revisit, until).await?;
                }
                (checkpoint, Then::Rest)
            }
        };
        reached.checkpoint = Some(checkpoint);
        Ok(then)
    }

    /// What keeps a job from its next piece of work, by what the tables say at this moment. Nobody can cancel a task.
    async fn stop(&self, work: &Work) -> Result<Option<Then>> {
        let Work::Job(job) = work else { return Ok(None) };
        let now = self.jobs.find(&job.workspace, &job.id).await?;
        Ok(match now.filter(|now| now.step == job.step).map(|now| now.state) {
            Some(JobState::Running) if self.is_backed(job).await? => None,
            Some(JobState::Running) => Some(Then::End(JobState::Failed, Some(JobFailure::RightsLost))),
            Some(JobState::Cancelling) => Some(Then::End(JobState::Cancelled, None)),
            _ => Some(Then::Leave),
        })
    }

    /// Whether a job has what it needs behind it.
    async fn is_backed(&self, job: &Job) -> Result<bool> {
        Ok(!job.work.is_of_links() || job.is_backed_by(&self.users.backing(job, (self.clock)()).await?))
    }

    async fn end(
        &self,
        work: &Work,
        state: JobState,
        reason: Option<JobFailure>,
        progress: &JobProgress,
    ) -> Result<()> {
        let (JobProgress { seen, changed, failed, .. }, at) = (progress, (self.clock)());
        if !self.jobs.end(work, &JobEnd { state, reason, progress, at }).await? {
            return Ok(());
        }
        let is_our_fault = state == JobState::Failed && reason != Some(JobFailure::RightsLost);
        metrics::add(Metric::JobsFailed, is_our_fault.into());
        let run = work.run();
        let (workspace_id, job_id, user_id, short_code) = names(&run.id);
        let (state, reason) = (state.to_string(), reason.map(JobFailure::code));
        tracing::info!(
            workspace_id,
            job_id,
            user_id,
            short_code,
            state,
            reason,
            seen,
            changed,
            failed,
            "a job is over"
        );
        Ok(())
    }

    /// Lets go on what isn't given up and whose mark is gone. Until it is over or waits for another mark, the mark comes again: a step may
    /// have been lost for good, and what can't be read may be mended.
    async fn wake(&self, id: &WorkId, mark: JobMark) -> Result<()> {
        let woken = self.recheck(id, mark).await;
        if let Err(RepositoryError::UnexpectedItem { .. }) = woken {
            self.jobs.mark(id, mark, (self.clock)().plus(FAILED_AGAIN)).await?;
        }
        woken
    }

    async fn recheck(&self, id: &WorkId, mark: JobMark) -> Result<()> {
        let Some(work) = self.jobs.work(id).await? else { return Ok(()) };
        let (run, now) = (work.run(), (self.clock)());
        let has_failed = run.state == JobState::Failed;
        if !has_failed && !run.state.is_under_way() {
            return Ok(());
        }
        metrics::concerns(run.correlation_id);
        let is_due = match self.kinds.recheck(&work, mark, now).await? {
            Recheck::None => return Ok(()),
            Recheck::Later(at) => {
                self.jobs.mark(id, mark, at.max(now.plus(SOON))).await?;
                false
            }
            Recheck::Now => {
                let again = if has_failed { FAILED_AGAIN } else { SOON };
                self.jobs.mark(id, JobMark::Revisit, now.plus(again)).await?;
                true
            }
        };
        if has_failed {
            return self.jobs.revive(&run, now).await;
        }
        if (is_due && self.kinds.rests(&work)) || run.has_stood_still(now) {
            let reached = Reached { progress: run.progress.clone(), checkpoint: self.kinds.resumed(&work, now)? };
            return self.jobs.note(&run, &reached, now).await;
        }
        Ok(())
    }
}

/// The workspace, the job, the person and the code that a line of the log is about.
fn names(id: &WorkId) -> (Option<String>, Option<String>, Option<String>, Option<&str>) {
    match id {
        WorkId::Job { workspace, job } => (Some(workspace.to_string()), Some(job.to_string()), None, None),
        WorkId::Handover { workspace, leaver } => (Some(workspace.to_string()), None, Some(leaver.to_string()), None),
        WorkId::Reclaim(user) | WorkId::Forget(user) => (None, None, Some(user.to_string()), None),
        WorkId::PurgeClicks(link) => (None, None, None, Some(link.code.as_str())),
    }
}

/// After which time something is looked at again that isn't over.
const SOON: Duration = Duration::from_secs(60);

/// After which time something is tried again that has failed.
const FAILED_AGAIN: Duration = Duration::from_secs(24 * 3_600);
