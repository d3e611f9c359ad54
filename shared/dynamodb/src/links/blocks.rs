//! What operators have blocked, and the links that this affects.

use linklet_domain::{Block, Blocked, Link, Record, SuspensionReason};
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
    reason: String,
}

impl BlockItem {
    /// `None` for something that only a later version blocks. A reason that this version doesn't know is another one.
    fn into_block(self) -> Option<Block> {
        let reason = self.reason.parse().unwrap_or(SuspensionReason::Other);
        Some(Block { blocked: Blocked::parse(&self.key.sk).ok()?, reason })
    }
}

/// What a page of the table has.
#[derive(Debug, Default)]
pub struct ScannedLinks {
    /// The links that were looked for.
    pub links: Vec<Link>,
    /// The codes of links that can't be read.
    pub unreadable: Vec<String>,
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
        Ok(items.into_iter().filter_map(BlockItem::into_block).collect())
    }

    /// Stores a block, in place of an earlier one of the same.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn block(&self, block: &Block) -> Result<()> {
        let item = BlockItem { key: block_key(&block.blocked), reason: block.reason.to_string() };
        self.0.put_item("block", &item)?.send().await.map(|_| ())
    }

    /// Removes a block.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unblock(&self, blocked: &Blocked) -> Result<()> {
        self.0.delete("unblock", block_key(blocked)).send().await.map(|_| ())
    }

    /// Reads up to 1 MB of the table, in no order, from where an earlier page has ended, and returns the links of which this is true.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or no page has ended there.
    pub async fn scan(&self, after: Option<&str>, is_meant: impl Fn(&Link) -> bool) -> Result<ScannedLinks> {
        const OPERATION: &str = "scan links";
        let after =
            after.map(serde_json::from_str::<Key>).transpose().map_err(RepositoryError::unexpected_item(OPERATION))?;
        let scan = self.0.client.scan().table_name(&self.0.name).set_exclusive_start_key(after.map(Key::into_item));
        // Most items are no links. The spelling of a host isn't stored in one form, so DynamoDB can't look for it.
        let scan = scan.filter_expression("sk = :link").expression_attribute_values(":link", text("LINK"));
        let page = scan.consistent_read(true).send().await.map_err(RepositoryError::unavailable(OPERATION))?;
        let mut found = ScannedLinks::default();
        for item in page.items.unwrap_or_default() {
            let key = from_item::<Key>(OPERATION, item.clone())?;
            match record_of(OPERATION, item) {
                Ok(Record::Link(link)) if is_meant(&link) => found.links.push(link),
                Ok(_) => {}
                Err(_) => found.unreadable.push(key.pk.trim_start_matches("LINK#").to_owned()),
            }
        }
        let next = page.last_evaluated_key.map(|key| from_item::<Key>(OPERATION, key)).transpose()?;
        let next = next.map(|key| serde_json::to_string(&key)).transpose();
        found.next = next.map_err(RepositoryError::unexpected_item(OPERATION))?;
        Ok(found)
    }
}

fn block_key(blocked: &Blocked) -> Key {
    Key::new(PARTITION, blocked.to_string())
}
