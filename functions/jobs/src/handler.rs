//! Carries out jobs of workspaces, in [turns](turns). What a turn does is up to the kind of the job.

mod links;
mod person;
mod turns;
mod workspace;

use linklet_domain::{Job, JobWork, UserId};
use linklet_dynamodb::{DueMark, RepositoryError};

pub use self::{
    links::LinkWork,
    person::PersonWork,
    turns::{Next, Piece, Turns, Work},
    workspace::WorkspaceWork,
};

/// The kinds of jobs that there are.
pub struct Kinds {
    /// Jobs that do the same to many links.
    pub links: LinkWork,
    /// Jobs that close workspaces and bring them back.
    pub workspaces: WorkspaceWork,
    /// What is deleted about people whose accounts are closed.
    pub people: PersonWork,
}

impl Work for Kinds {
    async fn settle(&self, job: &Job) {
        if job.work.is_of_links() {
            self.links.settle(job).await;
        }
    }

    async fn next(&self, job: &Job, after: Option<&str>) -> Result<Piece, RepositoryError> {
        match &job.work {
            // Either has a large future, of which only one is needed.
            JobWork::Links(work) => Box::pin(self.links.next(job, work, after)).await,
            JobWork::Workspace(work) => Box::pin(self.workspaces.next(job, *work, after)).await,
        }
    }

    fn rests(&self, job: &Job) -> bool {
        matches!(job.work, JobWork::Workspace(_)) && workspace::rests(job)
    }

    async fn wake(&self, due: &DueMark) -> Result<(), RepositoryError> {
        Box::pin(self.workspaces.wake(due)).await
    }

    async fn forget(&self, user: &UserId) -> Result<(), RepositoryError> {
        self.people.forget(user).await
    }
}
