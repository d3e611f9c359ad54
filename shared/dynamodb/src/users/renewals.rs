//! Sessions that can be renewed: which refresh token is the latest.

use linklet_domain::{RefreshToken, RenewableSession};

use super::{
    UsersTable,
    item::{EndedSessionsItem, SessionItem, ended_sessions_key, session_key},
};
use crate::{
    RepositoryError,
    item::{Key, from_item, number, text},
};

impl UsersTable {
    /// How far the refresh tokens of a session have come; `None` if it was ended, or can't be renewed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn renewable_session(&self, token: &RefreshToken) -> Result<Option<RenewableSession>, RepositoryError> {
        const OPERATION: &str = "read a session";
        let ended = ended_sessions_key(&token.user);
        let keys = vec![session_key(&token.user, &token.session), ended.clone()];
        let mut found = None;
        for item in self.0.batch_get(OPERATION, keys, true, None).await? {
            let Key { sk, .. } = from_item(OPERATION, item.clone())?;
            let has_ended = if sk == ended.sk {
                from_item::<EndedSessionsItem>(OPERATION, item)?.has_ended(&token.session)
            } else {
                found = from_item::<SessionItem>(OPERATION, item)?.renewable();
                false
            };
            if has_ended {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// Makes the successor of the latest refresh token of a session the latest one. Returns `false` if the token was not the latest
    /// one any more, or the session was ended.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn renew_session(
        &self,
        token: &RefreshToken,
        renewed: &RenewableSession,
    ) -> Result<bool, RepositoryError> {
        const RENEWED: &str = "SET generation = :next, renewed_at = :now, address = :address, #ttl = :ttl";
        let update = self
            .0
            .update("renew a session", session_key(&token.user, &token.session), RENEWED)
            .only_if("generation = :used AND attribute_not_exists(ended_at)")
            .values([(":used", number(&token.generation)), (":next", number(&renewed.generation))])
            .values([(":now", text(&renewed.renewed_at)), (":address", text(&renewed.address))])
            .value(":ttl", number(&renewed.ends_at().unix_seconds()));
        update.unless_refused().await
    }
}
