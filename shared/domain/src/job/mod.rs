//! Jobs: work on many things of a workspace, which takes longer than a request may. And [tasks](Task), which nobody sees.
//!
//! A job is carried out in steps. What it is about is its [`JobWork`]; all else here is the same for every kind.

mod backing;
mod links;
mod run;
mod task;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Changer, CorrelationId, JobId, KeyPrefix, Role, ShortCode, Timestamp, UserId, WorkspaceId};

pub use self::backing::Backing;
pub use self::links::{GivenFilter, LinkJob, LinkTask};
pub use self::run::{Run, Work, WorkId};
pub use self::task::{ClosedPerson, Task, TaskWork};

/// A job of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Which job it is.
    #[serde(rename = "job_id")]
    pub id: JobId,
    /// The workspace.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// What is to be done.
    #[serde(flatten)]
    pub work: JobWork,
    /// The role in which its creator has asked for it: it may do what this role may, whatever else its creator becomes.
    pub role: Role,
    /// Who has asked for it.
    pub created_by: UserId,
    /// The API key with which they have.
    pub created_with: Option<KeyPrefix>,
    /// The correlation id of the request, which all that the job writes has.
    pub correlation_id: CorrelationId,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// How many things there were for it then, if all were counted.
    pub expected: Option<u64>,
    /// Where it stands.
    pub state: JobState,
    /// What it has done.
    #[serde(flatten)]
    pub progress: JobProgress,
    /// Where the next step goes on; `None` at the beginning.
    pub checkpoint: Option<String>,
    /// How many steps have noted how far they came.
    pub step: u64,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When a step noted last how far it came; at first, when the job began.
    pub noted_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it has failed.
    pub reason: Option<JobFailure>,
    /// Who has cancelled it.
    pub cancelled_by: Option<Changer>,
}

impl Job {
    /// How many jobs of one person wait in a workspace while another one runs.
    pub const MOST_WAITING_OF_ONE: usize = 2;
    /// How many jobs may wait for another one to find a place behind them.
    pub const MOST_WAITING: usize = 4;
    /// How many jobs wait at most: an admin's finds a place that no member can take. Closing a workspace cancels all of them in one
    /// transaction, which has 100 actions at most.
    pub const MOST_WAITING_WITH_ADMINS: usize = 40;
    /// For how long a job may come no further before it is given up.
    pub const PATIENCE: Duration = Duration::from_secs(3_600);

    /// A new job of a workspace, whose creator asks for it in this role.
    pub fn new(
        workspace: WorkspaceId,
        work: JobWork,
        (creator, role): (Changer, Role),
        (created_at, correlation_id): (Timestamp, CorrelationId),
        expected: Option<u64>,
    ) -> Self {
        Self {
            id: JobId::generate(),
            workspace,
            work,
            role,
            created_by: creator.user,
            created_with: creator.key,
            correlation_id,
            created_at,
            expected,
            state: JobState::Queued,
            progress: JobProgress::default(),
            checkpoint: None,
            step: 0,
            started_at: None,
            noted_at: None,
            ended_at: None,
            reason: None,
            cancelled_by: None,
        }
    }

    /// Whether it finds a place behind the jobs that wait, which these people have asked for.
    pub fn finds_place(&self, creators: &[UserId]) -> bool {
        let of_creator = creators.iter().filter(|creator| **creator == self.created_by).count();
        let most = if self.role == Role::Admin { Self::MOST_WAITING_WITH_ADMINS } else { Self::MOST_WAITING };
        of_creator < Self::MOST_WAITING_OF_ONE && creators.len() < most
    }

    /// Who has asked for it, and with which API key.
    pub fn creator(&self) -> Changer {
        Changer { user: self.created_by, key: self.created_with.clone(), name: None }
    }

    /// Whose doing it is that it has ended so: whoever has cancelled it, or else asked for it.
    pub fn ended_by(&self) -> Changer {
        let canceller = self.cancelled_by.clone().filter(|_| self.state == JobState::Cancelled);
        canceller.unwrap_or_else(|| self.creator())
    }

    /// Whether it has begun and come no further for so long that it is given up.
    pub fn is_stuck(&self, now: Timestamp) -> bool {
        self.work.is_of_links() && self.state.is_under_way() && self.run().has_stood_still(now)
    }

    /// How far it has come.
    pub fn run(&self) -> Run<'_> {
        Run {
            id: WorkId::Job { workspace: self.workspace, job: self.id },
            correlation_id: &self.correlation_id,
            created_at: self.created_at,
            state: self.state,
            progress: &self.progress,
            checkpoint: self.checkpoint.as_deref(),
            step: self.step,
            noted_at: self.noted_at,
        }
    }
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum JobState {
    /// It waits for the jobs before it.
    Queued,
    /// Its steps are taken.
    Running,
    /// It ends as soon as what has begun of it is done.
    Cancelling,
    /// All is done.
    Done,
    /// It was given up.
    Failed,
    /// Somebody has ended it.
    Cancelled,
}

impl JobState {
    /// Whether steps of it are taken.
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }

    /// Whether nothing more happens to it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// Why a job has failed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum JobFailure {
    /// Who has asked for it may not do it any more.
    RightsLost,
    /// It came no further for an hour.
    NoProgress,
    /// Something that it has to read can't be read.
    InternalError,
}

impl JobFailure {
    /// The word for programs.
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// The sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::RightsLost => "the member who started it can no longer do this",
            Self::NoProgress => "it made no progress for an hour",
            Self::InternalError => "something went wrong on Linklet's side",
        }
    }
}

/// What a job has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobProgress {
    /// How many things it has looked at that are meant.
    pub seen: u64,
    /// How many of them it has changed. The others were as they are wanted, or refused.
    pub changed: u64,
    /// How many refused.
    pub failed: u64,
    /// The first of those.
    #[serde(default)]
    pub failures: Vec<LinkRefusal>,
}

impl JobProgress {
    /// Of how many that refused it is kept why.
    pub const MOST_FAILURES: usize = 20;

    /// Adds what was done after this.
    pub fn add(&mut self, later: Self) {
        self.seen += later.seen;
        self.changed += later.changed;
        self.failed += later.failed;
        self.failures.extend(later.failures);
        self.failures.truncate(Self::MOST_FAILURES);
    }
}

/// Why a link was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRefusal {
    /// The link.
    pub short_code: ShortCode,
    /// The code of the problem that a request to change this link alone would have met.
    pub code: String,
    /// Its sentence.
    pub detail: String,
}

/// What a job is to do. Each kind names itself by the member `kind`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobWork {
    /// Doing the same to many links.
    Links(Box<LinkJob>),
    /// Closing a workspace, or bringing it back.
    Workspace(WorkspaceJob),
}

/// What becomes of a workspace. A step does what the workspace itself says then, so this is what was asked for, and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkspaceJob {
    /// It is closed, and purged when nobody can bring it back any more.
    CloseWorkspace,
    /// It is open again.
    ReopenWorkspace,
}

impl JobWork {
    /// Whether it concerns links alone. Such a job needs its [`Backing`], can be cancelled, and is given up when it comes no
    /// further. What becomes of a workspace is decided when it is asked for.
    pub fn is_of_links(&self) -> bool {
        matches!(self, Self::Links(_))
    }

    /// What is to be done, in words that come after `to`.
    pub fn in_words(&self) -> String {
        match self {
            Self::Links(job) => job.task.in_words(),
            Self::Workspace(WorkspaceJob::CloseWorkspace) => "close the workspace".to_owned(),
            Self::Workspace(WorkspaceJob::ReopenWorkspace) => "restore the workspace".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn work(value: Value) -> JobWork {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn work_is_written_as_read_with_the_members_of_its_kind() {
        for written in [
            json!({"kind": "rename_tag", "from": "a", "to": "b", "filter": {"tag": ["a"], "archived": "all"}}),
            json!({"kind": "switch_off", "filter": {"all": true}}),
            json!({"kind": "set_expiry", "expires_at": "2027-01-01T00:00:00.000Z", "filter": {"tag": ["a", "-b"]}}),
            json!({"kind": "set_expiry", "expires_at": null, "filter": {"search": "x"}}),
            json!({"kind": "close_workspace"}),
            json!({"kind": "reopen_workspace"}),
        ] {
            assert_eq!(serde_json::to_value(work(written.clone())).unwrap(), written);
        }
    }

    #[test]
    fn a_job_done_despite_its_cancellation_was_ended_by_its_creator() {
        let (ada, bob) = (Changer::in_person(&UserId::generate()), Changer::in_person(&UserId::generate()));
        let asked = (Timestamp::now(), CorrelationId::generate());
        let work = work(json!({"kind": "close_workspace"}));
        let job = Job::new(WorkspaceId::generate(), work, (ada.clone(), Role::Admin), asked, None);
        let job = Job { cancelled_by: Some(bob.clone()), ..job };

        for (state, by) in [(JobState::Cancelled, &bob), (JobState::Done, &ada), (JobState::Failed, &ada)] {
            assert_eq!(Job { state, ..job.clone() }.ended_by(), *by, "{state:?}");
        }
    }

    #[test]
    fn admins_may_queue_more_jobs_than_members_but_nobody_a_third() {
        let [ada, bob, carol] = [(); 3].map(|()| UserId::generate());
        let finds_place = |creator: &UserId, role, creators: &[UserId]| {
            let asked = (Timestamp::now(), CorrelationId::generate());
            let creator = (Changer::in_person(creator), role);
            Job::new(WorkspaceId::generate(), work(json!({"kind": "close_workspace"})), creator, asked, None)
                .finds_place(creators)
        };

        assert!(finds_place(&ada, Role::Member, &[ada, bob, bob]));
        assert!(!finds_place(&bob, Role::Member, &[ada, bob, bob]));
        assert!(!finds_place(&carol, Role::Member, &[ada, ada, bob, bob]));
        assert!(finds_place(&carol, Role::Admin, &[ada, ada, bob, bob]));
        assert!(!finds_place(&ada, Role::Admin, &[ada, ada]));
        assert!(!finds_place(&carol, Role::Admin, &[ada; Job::MOST_WAITING_WITH_ADMINS]));
    }

    #[test]
    fn why_links_refused_is_kept_of_the_first_twenty() {
        let refusal = |number: usize| LinkRefusal {
            short_code: ShortCode::parse(&format!("code{number}")).unwrap(),
            code: "link_deleted".to_owned(),
            detail: "this link was deleted".to_owned(),
        };
        let page = |from: usize| JobProgress {
            seen: 15,
            changed: 0,
            failed: 15,
            failures: (from..from + 15).map(refusal).collect(),
        };

        let mut all = page(0);
        all.add(page(15));

        assert_eq!((all.seen, all.failed, all.failures.len()), (30, 30, 20));
        assert_eq!(all.failures.last(), Some(&refusal(19)));
    }
}
