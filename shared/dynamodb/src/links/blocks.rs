//! What operators have blocked, and the links that this affects.

use linklet_domain::{Block, Blocked, Link, Record};
use serde::{Deserialize, Serialize};

use super::{LinksTable, record_of};
use crate::item::{Key, SortKeys, from_item, text};
use crate::{RepositoryError, Result};

const PARTITION: &str = "BLOCK#ALL";

/// `BLOCK#ALL` / `host:<host>` or `workspace:<id>`: a block. All are in one partition, since whoever asks wants to know of all.
#[derive(Serialize, Deserialize)]
struct BlockItem {
    #[serde(flatten)]
    key: Key,
    #[serde(flatten)]
    block: Block,
}

/// The links of a page of the table that a block affects.
#[derive(Debug, Default)]
pub struct AffectedLinks {
    /// The links.
    pub links: Vec<Link>,
    /// From where to read on; `None` at the end.
    pub next: Option<String>,
}

impl LinksTable {
    /// Reads all blocks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn blocks(&self) -> Result<Vec<Block>> {
        let items = self.0.list::<BlockItem>("read blocks", PARTITION, SortKeys::All).await?;
        Ok(items.into_iter().map(|item| item.block).collect())
    }

    /// Stores a block, in place of an earlier one of the same.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn block(&self, block: &Block) -> Result<()> {
        let item = BlockItem { key: block_key(&block.blocked), block: block.clone() };
        self.0.put_item("block", &item)?.send().await.map(|_| ())
    }

    /// Removes a block.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unblock(&self, blocked: &Blocked) -> Result<()> {
        self.0.delete("unblock", block_key(blocked)).send().await.map(|_| ())
    }

    /// Reads up to 1 MB of the table, in no order, from where an earlier page has ended.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or no page has ended there.
    pub async fn affected_by(&self, blocked: &Blocked, after: Option<&str>) -> Result<AffectedLinks> {
        const OPERATION: &str = "look for links that a block affects";
        let after =
            after.map(serde_json::from_str::<Key>).transpose().map_err(RepositoryError::unexpected_item(OPERATION))?;
        let scan = self.0.client.scan().table_name(&self.0.name).set_exclusive_start_key(after.map(Key::into_item));
        // Most items are no links. The spelling of a host isn't stored in one form, so DynamoDB can't look for it.
        let scan = scan.filter_expression("sk = :link").expression_attribute_values(":link", text("LINK"));
        let page = scan.consistent_read(true).send().await.map_err(RepositoryError::unavailable(OPERATION))?;
        let mut links = Vec::new();
        for item in page.items.unwrap_or_default() {
            if let Record::Link(link) = record_of(OPERATION, item)?
                && blocked.affects(&link)
            {
                links.push(link);
            }
        }
        let next = page.last_evaluated_key.map(|key| from_item::<Key>(OPERATION, key)).transpose()?;
        let next = next.map(|key| serde_json::to_string(&key)).transpose();
        Ok(AffectedLinks { links, next: next.map_err(RepositoryError::unexpected_item(OPERATION))? })
    }
}

fn block_key(blocked: &Blocked) -> Key {
    Key::new(PARTITION, blocked.to_string())
}
