//! Deleting what is stored about a person whose account is closed.

use linklet_domain::ClosedPerson;
use linklet_dynamodb::{NotificationsTable, Result, ThrottleTable, UsersTable, WatchTable};

/// The kind of task that deletes what is stored about people: notifications, sessions, and where they have signed in from. Doing it again
/// changes nothing, so it takes one step, and begins anew if that dies.
pub struct PersonWork {
    /// The repository of what people may do.
    pub users: UsersTable,
    /// The repository of notifications.
    pub notifications: NotificationsTable,
    /// The repository of guesses, and of where people have signed in from.
    pub guesses: ThrottleTable,
    /// The repository of monitored URLs, for how many a person has in all workspaces that they have created.
    pub targets: WatchTable,
}

impl PersonWork {
    pub(crate) async fn forget(&self, ClosedPerson { user, guessed }: &ClosedPerson) -> Result<()> {
        self.users.forget_person(user).await?;
        self.notifications.forget(user).await?;
        self.guesses.forget_account(guessed).await?;
        self.targets.forget_creator(user).await
    }
}
