//! Jobs as the API shows them.

use linklet_domain::{FullName, Job, JobFailure, JobId, JobProgress, JobState, JobWork, Timestamp, UserId};
use linklet_lambda::http::NextPage;
use linklet_lambda::link_view::CreatorNames;
use serde::Serialize;

/// How many links are meant.
#[derive(Serialize)]
pub(crate) struct Count {
    pub matching: u64,
    /// Whether all were counted.
    pub is_exact: bool,
}

/// A page of jobs.
#[derive(Serialize)]
pub(crate) struct Jobs {
    pub jobs: Vec<JobView>,
    #[serde(flatten)]
    pub next: NextPage,
}

/// A job, with what its creator is called.
#[derive(Serialize)]
pub(crate) struct JobView {
    id: JobId,
    #[serde(flatten)]
    work: JobWork,
    state: JobState,
    expected: Option<u64>,
    #[serde(flatten)]
    progress: JobProgress,
    reason: Option<Reason>,
    created_by: UserId,
    created_by_name: Option<FullName>,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Reason {
    code: &'static str,
    detail: &'static str,
}

impl JobView {
    pub(crate) fn new(job: Job, names: Option<&CreatorNames>) -> Self {
        let reason = |failure: JobFailure| Reason { code: failure.code(), detail: failure.sentence() };
        Self {
            id: job.id,
            work: job.work,
            state: job.state,
            expected: job.expected,
            progress: job.progress,
            reason: job.reason.map(reason),
            created_by_name: names.and_then(|names| names.get(&job.created_by)).cloned(),
            created_by: job.created_by,
            created_at: job.created_at,
            started_at: job.started_at,
            ended_at: job.ended_at,
        }
    }
}
