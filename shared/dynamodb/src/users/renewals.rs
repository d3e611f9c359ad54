//! Sessions that can be renewed: which refresh token is the latest.

use linklet_domain::{RefreshToken, RenewableSession};

use super::UsersTable;
use super::item::{EndedSessionsItem, SessionItem, ended_sessions_key, session_key};
use crate::item::{from_found, number, text};
use crate::{Consistency, Result};

impl UsersTable {
    /// How far the refresh tokens of a session have come; `None` if it was ended, or can't be renewed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn renewable_session(&self, token: &RefreshToken) -> Result<Option<RenewableSession>> {
        const OPERATION: &str = "read a session";
        let keys = [session_key(&token.user, &token.session), ended_sessions_key(&token.user)].map(Some);
        let [own, ended] = self.0.get_each(OPERATION, keys, Consistency::Strong).await?;
        let has_ended = |item: EndedSessionsItem| item.has_ended(&token.session);
        if from_found(OPERATION, ended)?.is_some_and(has_ended) {
            return Ok(None);
        }
        Ok(from_found(OPERATION, own)?.and_then(SessionItem::renewable))
    }

    /// Makes the successor of the latest refresh token of a session the latest one. Returns `false` if the token was not the latest
    /// one any more, or the session was ended.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn renew_session(&self, token: &RefreshToken, renewed: &RenewableSession) -> Result<bool> {
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
