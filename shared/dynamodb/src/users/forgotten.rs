//! What the job deletes in UsersTable that forgets a person.

use aws_sdk_dynamodb::Client;
use linklet_domain::UserId;

use super::item::{access_partition, ended_sessions_key};
use crate::{
    RepositoryError,
    item::{Key, Table},
};

/// The repository for forgetting people: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct Forgotten(Table);

impl Forgotten {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Deletes all that is stored about what a person may do, but for the mark by which their tokens are refused, which goes by its TTL.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget(&self, user: &UserId) -> Result<(), RepositoryError> {
        const OPERATION: &str = "forget a person";
        let mut keys = self.0.keys_of(OPERATION, &access_partition(user)).await?;
        keys.retain(|key| *key != ended_sessions_key(user));
        self.0.delete_all(OPERATION, keys.into_iter().map(Key::into_item).collect()).await
    }
}
