//! Carries out jobs and tasks, in [steps](runner). What a step does is up to the kind of the job or task.

mod handover;
mod links;
mod pass;
mod person;
mod reclaim;
mod runner;
mod workspace;

use linklet_domain::{JobWork, Task, TaskWork, Timestamp, Work};
use linklet_dynamodb::{ClicksTable, JobMark, Purged, Result};

use self::pass::Pass;
use self::runner::{Next, Piece, Recheck, decode, encode};
pub use self::{
    handover::HandoverWork, links::LinkWork, person::PersonWork, reclaim::ReclaimWork, runner::JobRunner,
    workspace::WorkspaceWork,
};

/// The kinds of jobs and tasks that there are.
pub struct Kinds {
    /// Jobs that do the same to many links.
    pub links: LinkWork,
    /// Jobs that close workspaces and bring them back.
    pub workspaces: WorkspaceWork,
    /// What members leave behind.
    pub handovers: HandoverWork,
    /// What others may have made in an account that its person has reclaimed.
    pub reclaims: ReclaimWork,
    /// What is deleted about people whose accounts are closed.
    pub people: PersonWork,
    /// The clicks of purged links, to delete those that a purge has left.
    pub clicks: ClicksTable,
}

impl Kinds {
    /// Waits until all is there that a job looks at.
    async fn wait_for_index(&self, work: &Work, now: Timestamp) {
        if let Work::Job(job) = work
            && job.work.is_of_links()
        {
            self.links.wait_for_index(job, now).await;
        }
    }

    /// Does the next piece. Each kind has a large future, of which only one is needed.
    async fn next(&self, work: &Work, checkpoint: Option<&str>, now: Timestamp) -> Result<Piece> {
        match work {
            Work::Job(job) => match &job.work {
                JobWork::Links(work) => Box::pin(self.links.next(job, work, checkpoint, now)).await,
                JobWork::Workspace(work) => {
                    Box::pin(self.workspaces.next(job, *work, decode(checkpoint)?, now)).await?.encoded()
                }
            },
            Work::Task(task) => match &task.work {
                TaskWork::HandOver(handover) => {
                    let next = self.handovers.next(handover, &task.correlation_id, decode(checkpoint)?, now);
                    Box::pin(next).await?.encoded()
                }
                TaskWork::Reclaim(reclaim) => {
                    let next = self.reclaims.next(reclaim, &task.correlation_id, decode(checkpoint)?);
                    Box::pin(next).await?.encoded()
                }
                TaskWork::Forget(person) => {
                    Box::pin(self.people.forget(person)).await?;
                    Ok(Piece::then(Next::End))
                }
                TaskWork::PurgeClicks(link) => match Box::pin(self.clicks.purge_some(link)).await? {
                    Purged::Some => Piece::then(Next::GoOn(())).encoded(),
                    Purged::All => Ok(Piece::then(Next::End)),
                },
            },
        }
    }

    /// Whether a job or a task waits until a mark is gone.
    fn rests(&self, work: &Work) -> bool {
        let checkpoint = work.run().checkpoint;
        match work {
            Work::Job(job) if !job.work.is_of_links() => {
                matches!(decode::<workspace::Checkpoint>(checkpoint), Ok(Some(at)) if at.pass.rests())
            }
            Work::Task(Task { work: TaskWork::HandOver(_), .. }) => {
                matches!(decode::<Pass<handover::Step>>(checkpoint), Ok(Some(pass)) if pass.rests())
            }
            Work::Job(_) | Work::Task(_) => false,
        }
    }

    /// What becomes of it when a mark is gone.
    async fn recheck(&self, work: &Work, mark: JobMark, now: Timestamp) -> Result<Recheck> {
        match work {
            Work::Job(job) => Box::pin(self.workspaces.recheck(job, mark, now)).await,
            Work::Task(task) => Ok(match &task.work {
                TaskWork::HandOver(handover) if self.rests(work) && now < handover.caches_expire_at() => {
                    Recheck::Later(handover.caches_expire_at())
                }
                _ => Recheck::Now,
            }),
        }
    }

    /// The checkpoint from which something goes on that rested, or has stood still. One that can't be parsed stays: its step fails, and
    /// what has failed begins anew.
    fn resumed(&self, work: &Work, now: Timestamp) -> Result<Option<String>> {
        let checkpoint = work.run().checkpoint;
        let again = match work {
            Work::Job(job) if !job.work.is_of_links() => match decode::<workspace::Checkpoint>(checkpoint) {
                Ok(Some(at)) => Some(encode(&at.again(now))?),
                _ => None,
            },
            Work::Task(Task { work: TaskWork::HandOver(_), .. }) => match decode::<Pass<handover::Step>>(checkpoint) {
                Ok(Some(pass)) => Some(encode(&pass.again(now))?),
                _ => None,
            },
            Work::Job(_) | Work::Task(_) => None,
        };
        Ok(again.or_else(|| checkpoint.map(str::to_owned)))
    }
}
