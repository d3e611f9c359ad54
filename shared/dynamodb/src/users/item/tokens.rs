//! The item of a token that is mailed or shown once.

use std::time::Duration;

use linklet_domain::{EmailAddress, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use crate::item::Key;
use crate::users::{NewToken, TokenDelivery};

/// `RESET#<sha256>` / `RESET`: a token for a new password, under its hash.
/// `VERIFICATION#<sha256>` / `VERIFICATION`: one for an address.
/// `KEEP#<sha256>` / `KEEP`: one with which somebody keeps their address, although another one is wanted.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct TokenItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    /// The address that it is about: to keep one, the address that is wanted instead.
    pub email: EmailAddress,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// Whether only a mail had the token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mailed: bool,
    /// Whether an operator has made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_operator: bool,
    pub ttl: i64,
}

impl TokenItem {
    pub(in crate::users) fn new(key: Key, token: &NewToken<'_>, works_for: Duration, delivery: TokenDelivery) -> Self {
        let expires_at = token.issued_at.plus(works_for);
        Self {
            key,
            user_id: *token.user,
            email: token.email.clone(),
            issued_at: token.issued_at,
            expires_at,
            mailed: delivery == TokenDelivery::Mailed,
            by_operator: false,
            ttl: expires_at.unix_seconds(),
        }
    }
}
