//! ClicksTable: the raw clicks, written by `redirect` and nobody else.

pub(crate) mod item;

use aws_sdk_dynamodb::Client;
use linklet_domain::Click;

use self::item::ClickItem;
use crate::{
    RepositoryError,
    item::{Table, to_item},
};

/// The table of raw clicks.
#[derive(Debug, Clone)]
pub struct ClicksTable(Table);

impl ClicksTable {
    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Stores a click. Repeating it changes nothing, since its id is its key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn record(&self, click: &Click) -> Result<(), RepositoryError> {
        const OPERATION: &str = "record a click";
        self.0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &ClickItem::from(click))?))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        Ok(())
    }
}
