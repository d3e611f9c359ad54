//! ClicksTable: the raw clicks, written by `redirect` and deleted by `analytics` when a link is purged.

pub(crate) mod item;

use aws_sdk_dynamodb::Client;
use linklet_domain::{Click, EventId, ShortCode};

use self::item::{ClickItem, SHARDS, click_key, partition};
use crate::{
    RepositoryError,
    item::{Table, text, to_item},
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

    /// Deletes up to 1,000 clicks of a link and says whether there may be more, so that a caller with little time can stop in
    /// between and go on another time.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn purge_some(&self, code: &ShortCode) -> Result<Purged, RepositoryError> {
        const OPERATION: &str = "purge clicks";
        const AT_ONCE: usize = 1_000;
        for shard in 0..SHARDS {
            let query = self
                .0
                .client
                .query()
                .key_condition_expression("pk = :shard")
                .expression_attribute_values(":shard", text(&partition(code, shard)))
                .projection_expression("pk, sk");
            let keys = self.0.query_all(OPERATION, query, AT_ONCE).await?;
            if !keys.is_empty() {
                self.0.delete_all(OPERATION, keys).await?;
                return Ok(Purged::Some);
            }
        }
        Ok(Purged::All)
    }

    /// Deletes one click.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(&self, code: &ShortCode, id: &EventId) -> Result<(), RepositoryError> {
        self.0
            .client
            .delete_item()
            .table_name(&self.0.name)
            .set_key(Some(click_key(code, id).into_item()))
            .send()
            .await
            .map_err(RepositoryError::unavailable("delete a click"))?;
        Ok(())
    }
}

/// How far purging has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purged {
    /// Some clicks are gone, there may be more.
    Some,
    /// None is left.
    All,
}
