//! Closing an account, which only an operator does.
//!
//! The account and its address stay, so that nobody registers it again. Without a password hash nobody logs in, and the mark at the
//! address and in the account makes all mailed tokens void.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{AuditAction, AuditContext, EmailAddress, Timestamp, UserId};

use super::UsersTable;
use super::item::{EmailItem, EndedSessionsItem, address_key, email_key, user_key};
use super::sessions::ENDS_MORE;
use crate::Result;
use crate::item::{Key, text};
use crate::transaction::{Transaction, retry_on_conflict};

const CLOSE: &str = "close an account";

impl UsersTable {
    /// Closes the account of an address and ends its sessions, in one transaction. Returns whose account it was, also if it was closed
    /// before; `None` if there is none. Its memberships, API keys and invitations are there still.
    ///
    /// Sessions end that have begun by `ends`, which may be in the future: none begins after this.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn close_account(
        &self,
        email: &EmailAddress,
        ends: Timestamp,
        origin: &AuditContext,
    ) -> Result<Option<UserId>> {
        retry_on_conflict(CLOSE, async || {
            let Some(EmailItem { user_id, closed_at, .. }) = self.0.get::<EmailItem>(CLOSE, email_key(email)).await?
            else {
                return Ok(Some(None));
            };
            let now = Timestamp::now();
            let ended = EndedSessionsItem::new(&user_id, ends, None);
            let mut transaction = Transaction::new(CLOSE)
                .and(self.marked(user_key(&user_id), ", password_changed_at = :at REMOVE password_hash", now)?, None)
                .and(self.marked(email_key(email), "", now)?, None)
                .and(self.marked(address_key(&user_id), " REMOVE verified_at, awaits_password", now)?, None)
                .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&ends))])?, None);
            if closed_at.is_none() {
                let closed = origin.of_person(&user_id, AuditAction::AccountClosed);
                transaction = transaction.and(self.entry(&closed)?, None);
            }
            transaction.commit(&self.0.client, Some(user_id)).await
        })
        .await
    }

    /// The action that marks an item as one of a closed account, and changes what else is written here as an update expression.
    fn marked(&self, key: Key, also: &str, at: Timestamp) -> Result<TransactWriteItem> {
        let update = self.0.update(CLOSE, key, format!("SET closed_at = if_not_exists(closed_at, :at){also}"));
        update.only_if("attribute_exists(pk)").value(":at", text(&at)).action()
    }
}
