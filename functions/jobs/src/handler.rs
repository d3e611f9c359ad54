//! Carries out jobs of workspaces, in [turns](turns). What a turn does is up to the kind of the job.

mod links;
mod turns;

use linklet_domain::{Job, JobWork};
use linklet_dynamodb::RepositoryError;

pub use self::{
    links::LinkWork,
    turns::{Piece, Turns, Work},
};

/// The kinds of jobs that there are.
pub struct Kinds {
    /// Jobs that do the same to many links.
    pub links: LinkWork,
}

impl Work for Kinds {
    async fn next(&self, job: &Job, after: Option<&str>) -> Result<Piece, RepositoryError> {
        match &job.work {
            JobWork::Links(work) => self.links.next(job, work, after).await,
        }
    }
}
