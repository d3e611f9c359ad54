use std::error::Error;

/// Why a table could not be read or written. What a caller can act on (a taken code, a duplicate) is a return value instead.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// DynamoDB refused, failed or did not answer in time; the same call may succeed later.
    #[error("DynamoDB failed to {operation}")]
    Unavailable {
        /// What was tried.
        operation: &'static str,
        /// The SDK's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// An item does not have the attributes that this version of Linklet writes.
    #[error("an item read to {operation} has an unexpected form")]
    UnexpectedItem {
        /// What was tried.
        operation: &'static str,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl RepositoryError {
    /// Wraps an SDK error; made for `map_err`.
    pub(crate) fn unavailable<E: Error + Send + Sync + 'static>(operation: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::Unavailable { operation, source: Box::new(source) }
    }

    /// DynamoDB kept answering with part of a batch.
    pub(crate) fn incomplete(operation: &'static str) -> Self {
        Self::Unavailable { operation, source: "part of the batch stayed unprocessed".into() }
    }

    /// Somebody else was faster each time.
    pub(crate) fn overtaken(operation: &'static str) -> Self {
        Self::Unavailable { operation, source: "others kept changing the same items".into() }
    }

    /// Wraps a deserialisation error; made for `map_err`.
    pub(crate) fn unexpected_item<E: Error + Send + Sync + 'static>(operation: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::UnexpectedItem { operation, source: Box::new(source) }
    }
}
