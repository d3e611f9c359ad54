//! What requests were answered that made something and had an idempotency key. Such an answer is put in the transaction that makes it, on
//! the condition that the key is free, so requests with one key make one thing.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{IdempotencyKey, Timestamp, lifetimes};
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::item::{Key, Stored, Table, number};

/// What a request was answered that made something, to be answered again to whoever repeats it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreationAnswer {
    /// A digest of the request, which is the same for all requests with one key.
    pub fingerprint: String,
    /// The body of the answer, without a secret that only the first one shows.
    #[serde(rename = "answer")]
    pub body: String,
    /// The status of the answer.
    pub status: u16,
    /// Where the answer says that the thing is.
    pub location: String,
}

/// The answer to keep, and the idempotency key of its request; `None` if the request has no key.
pub type KeptAnswer<'a> = Option<(&'a IdempotencyKey, &'a CreationAnswer)>;

/// An answer under the key of its request.
pub(crate) type CreationItem = Stored<CreationAnswer>;

impl Table {
    /// The action that keeps an answer for a day, unless its key was used within one.
    pub(crate) fn keep_answer(&self, key: Key, answer: &CreationAnswer, now: Timestamp) -> Result<TransactWriteItem> {
        const IS_FREE: &str = "attribute_not_exists(pk) OR #ttl <= :now";
        let ttl = Some(now.plus(lifetimes::IDEMPOTENCY_KEYS).unix_seconds());
        let item = CreationItem { key, value: answer.clone(), ttl };
        self.put_if(&item, IS_FREE, [(":now", number(&now.unix_seconds()))])
    }

    /// The answer that was kept under a key within a day.
    pub(crate) async fn kept_answer(&self, key: Key, now: Timestamp) -> Result<Option<CreationAnswer>> {
        let found = self.get::<CreationItem>("look up a first answer", key).await?;
        Ok(found.and_then(|item| item.current(now)))
    }
}
