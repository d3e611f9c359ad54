use std::error::Error;

use linklet_domain::Refusal;

/// What a table access returns.
pub type Result<T, E = RepositoryError> = std::result::Result<T, E>;

/// An error of a table access. Outcomes that callers act on, such as a code that is taken, are return values instead.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// DynamoDB refused the call, failed or timed out; the same call may succeed later.
    #[error("DynamoDB failed to {operation}")]
    Unavailable {
        /// The operation that failed, for example `read a link`.
        operation: &'static str,
        /// The SDK's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// An item could not be deserialised or serialised: it doesn't have the attributes that this version of Linklet writes.
    #[error("failed to {operation}: unexpected item attributes")]
    UnexpectedItem {
        /// The operation that failed, for example `read a link`.
        operation: &'static str,
        /// The (de)serialisation error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The workspace has [read](crate::ReadMeter) too much in this minute.
    #[error("the workspace has read too much to {operation}")]
    ReadTooMuch {
        /// The operation that read no further, for example `list a workspace's links`.
        operation: &'static str,
        /// The limit, and when it is over.
        refusal: Refusal,
    },
}

impl RepositoryError {
    /// Wraps an SDK error, for `map_err`.
    pub(crate) fn unavailable<E: Error + Send + Sync + 'static>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Unavailable { operation, source: Box::new(source) }
    }

    /// The error of a batch of which DynamoDB left a part unprocessed after all retries.
    pub(crate) fn incomplete(operation: &'static str) -> Self {
        Self::Unavailable { operation, source: "part of the batch stayed unprocessed".into() }
    }

    /// The error of a write that met conflicting writes in all of its retries.
    pub(crate) fn contention(operation: &'static str) -> Self {
        Self::Unavailable { operation, source: "conflicting writes to the same items in all retries".into() }
    }

    /// The error of a write that nothing should refuse.
    pub(crate) fn refused(operation: &'static str) -> Self {
        Self::Unavailable { operation, source: "the condition of the write has failed".into() }
    }

    /// Names the item that is unexpected, where its key says nothing about a person.
    pub(crate) fn of_item(self, key: String) -> Self {
        match self {
            Self::UnexpectedItem { operation, source } => {
                Self::UnexpectedItem { operation, source: Box::new(UnexpectedIn { key, source }) }
            }
            other => other,
        }
    }

    /// Wraps what is wrong with an item or a text of it, for `map_err`.
    pub fn unexpected_item<E: Error + Send + Sync + 'static>(operation: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::UnexpectedItem { operation, source: Box::new(source) }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the item {key}")]
struct UnexpectedIn {
    key: String,
    #[source]
    source: Box<dyn Error + Send + Sync>,
}
