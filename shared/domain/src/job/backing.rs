//! What stands behind a job, which ends without it.

use super::Job;
use crate::{Role, Timestamp, reclaim};

/// What stands behind a job at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backing {
    /// The role of the job's creator, if their membership opens the workspace.
    pub role: Option<Role>,
    /// Whether the API key opens anything with which they have asked for the job.
    pub has_valid_key: bool,
    /// When the account of the creator was reclaimed, if it was.
    pub reclaimed_at: Option<Timestamp>,
}

impl Job {
    /// Whether the job may go on: its creator may still do what it does, the API key still opens what it was begun with, and whoever has
    /// begun it still has the account.
    pub fn is_backed_by(&self, backing: &Backing) -> bool {
        let is_permitted = backing.role.is_some_and(|role| role >= self.role);
        let has_access = self.created_with.is_none() || backing.has_valid_key;
        let is_others = backing.reclaimed_at.is_some_and(|at| reclaim::may_predate(self.created_at, at));
        is_permitted && has_access && !is_others
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::{ApiKeySecret, Changer, CorrelationId, UserId, WorkspaceId};

    fn members_job() -> Job {
        let work = serde_json::from_value(json!({"kind": "archive", "filter": {"all": true}})).unwrap();
        let creator = (Changer::in_person(&UserId::generate()), Role::Member);
        Job::new(WorkspaceId::generate(), work, creator, (Timestamp::now(), CorrelationId::generate()), None)
    }

    #[test]
    fn a_job_needs_the_role_in_which_it_was_asked_for() {
        let job = members_job();
        let is_backed = |role| job.is_backed_by(&Backing { role, ..Backing::default() });

        assert!(is_backed(Some(Role::Member)) && is_backed(Some(Role::Admin)));
        assert!(!is_backed(Some(Role::Viewer)) && !is_backed(None));
    }

    #[test]
    fn a_job_of_an_api_key_needs_the_key() {
        let created_with = Some(ApiKeySecret::generate().unwrap().prefix());
        let job = Job { created_with, ..members_job() };
        let is_backed =
            |has_valid_key| job.is_backed_by(&Backing { role: Some(Role::Admin), has_valid_key, reclaimed_at: None });

        assert!(is_backed(true) && !is_backed(false));
    }

    #[test]
    fn a_job_from_before_its_account_was_reclaimed_is_not_backed() {
        let job = members_job();
        let is_backed = |reclaimed_at| {
            let backing = Backing { role: Some(Role::Admin), reclaimed_at: Some(reclaimed_at), ..Backing::default() };
            job.is_backed_by(&backing)
        };

        assert!(!is_backed(job.created_at.plus(Duration::from_secs(1))));
        assert!(!is_backed(job.created_at.minus(Duration::from_secs(5))), "by a clock that is behind");
        assert!(is_backed(job.created_at.minus(Duration::from_secs(6))));
    }
}
