//! Deleting what is stored about a person whose account is closed.

use linklet_domain::UserId;
use linklet_dynamodb::{Forgotten, JobsTable, NotificationsTable, RepositoryError, ThrottleTable, WatchTable};
use linklet_lambda::metrics;

/// Deletes what is stored about people: notifications, sessions, and where they have signed in from. Doing it again changes nothing, so
/// it takes one turn, and begins anew if that dies.
pub struct PersonWork {
    /// The repository of jobs.
    pub jobs: JobsTable,
    /// The repository of what people may do.
    pub people: Forgotten,
    /// The repository of notifications.
    pub notifications: NotificationsTable,
    /// The repository of guesses, and of where people have signed in from.
    pub guesses: ThrottleTable,
    /// The repository of monitored URLs, for how many a person has in all workspaces that they have founded.
    pub targets: WatchTable,
}

impl PersonWork {
    pub(crate) async fn forget(&self, user: &UserId) -> Result<(), RepositoryError> {
        let Some(person) = self.jobs.closed_person(user).await? else { return Ok(()) };
        metrics::concerns(&person.correlation_id);
        self.people.forget(user).await?;
        self.notifications.forget(user).await?;
        self.guesses.forget_account(&person.guessed).await?;
        self.targets.forget_founder(user).await?;
        tracing::info!(user_id = %user, "a person is forgotten");
        self.jobs.end_forgetting(user).await
    }
}
