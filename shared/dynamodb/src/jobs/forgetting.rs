//! The job that deletes what is stored about a person whose account is closed.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{AccountHash, CorrelationId, Invalid, JobState, Origin, UserId};
use serde::{Deserialize, Serialize};

use super::JobsTable;
use crate::{RepositoryError, item::Key};

const PERSON_PREFIX: &str = "USER#";
const FORGETTING: &str = "FORGETTING";

/// A person whose account is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedPerson {
    /// Who it was.
    pub user: UserId,
    /// The hash under which guesses at their password were counted, and where they have signed in from.
    pub guessed: AccountHash,
    /// The correlation id of the request that has closed the account.
    pub correlation_id: CorrelationId,
}

/// `USER#<id>` / `FORGETTING`: that what is stored about a person is to be deleted. It goes when that is done.
#[derive(Debug, Serialize, Deserialize)]
struct ForgettingItem {
    #[serde(flatten)]
    key: Key,
    /// Always `running`, by which the filter of the stream lets it through.
    state: JobState,
    guessed: AccountHash,
    correlation_id: CorrelationId,
}

fn key_of(user: &UserId) -> Key {
    Key::new(format!("{PERSON_PREFIX}{user}"), FORGETTING)
}

impl JobsTable {
    /// The action that begins the job.
    pub(crate) fn forgetting(
        &self,
        user: &UserId,
        guessed: &AccountHash,
        origin: &Origin,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let (guessed, correlation_id) = (guessed.clone(), origin.correlation_id.clone());
        let item = ForgettingItem { key: key_of(user), state: JobState::Running, guessed, correlation_id };
        self.0.put("forget a person", &item)
    }

    /// What there is to forget about a person; `None` if that is done.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn closed_person(&self, user: &UserId) -> Result<Option<ClosedPerson>, RepositoryError> {
        let found = self.0.get::<ForgettingItem>("read what to forget about a person", key_of(user)).await?;
        let person = |item: ForgettingItem| ClosedPerson {
            user: *user,
            guessed: item.guessed,
            correlation_id: item.correlation_id,
        };
        Ok(found.map(person))
    }

    /// Ends the job.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_forgetting(&self, user: &UserId) -> Result<(), RepositoryError> {
        self.0.delete("end forgetting a person", key_of(user)).send().await.map(|_| ())
    }
}

/// Whom the item with this key is about, if it begins such a job.
pub(super) fn person_of(Key { pk, sk }: &Key) -> Result<Option<UserId>, Invalid> {
    let user = pk.strip_prefix(PERSON_PREFIX).filter(|_| sk == FORGETTING);
    user.map(UserId::parse).transpose()
}
