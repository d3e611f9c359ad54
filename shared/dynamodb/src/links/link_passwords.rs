//! Passwords of links, of which only the hash is stored, apart from the links.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::LinkId;

use super::LinksTable;
use super::item::{LinkPasswordItem, link_password_key};
use crate::{Result, write::ACTION};

impl LinksTable {
    /// The hash of a link's password; `None` if it has none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn password_hash(&self, link: &LinkId) -> Result<Option<String>> {
        let found = self.0.get::<LinkPasswordItem>("read a link's password", link_password_key(link)).await?;
        Ok(found.map(|lock| lock.password_hash))
    }

    /// The action that gives a link a password, or takes it away.
    pub(super) fn set_link_password(&self, link: &LinkId, password_hash: Option<&str>) -> Result<TransactWriteItem> {
        match password_hash {
            Some(hash) => {
                let lock = LinkPasswordItem { key: link_password_key(link), password_hash: hash.to_owned() };
                self.0.put(&lock)
            }
            None => self.0.delete(ACTION, link_password_key(link)).action(),
        }
    }
}
