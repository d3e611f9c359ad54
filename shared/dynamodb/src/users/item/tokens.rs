//! Items of tokens that are mailed or shown once.

use linklet_domain::{EmailAddress, Timestamp, UserId, lifetimes};
use serde::{Deserialize, Serialize};

use super::{keep_key, reset_key, verification_key};
use crate::{
    item::Key,
    users::{NewToken, TokenDelivery},
};

/// `RESET#<sha256>` / `RESET`: a token for a new password, under its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct ResetItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// Whether only a mail had the token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mailed: bool,
    pub ttl: i64,
}

impl ResetItem {
    pub(in crate::users) fn new(token: &NewToken<'_>, delivery: TokenDelivery) -> Self {
        let expires_at = token.issued_at.plus(lifetimes::PASSWORD_RESETS);
        Self {
            key: reset_key(token.hash),
            user_id: *token.user,
            email: token.email.clone(),
            issued_at: token.issued_at,
            expires_at,
            mailed: delivery == TokenDelivery::Mailed,
            ttl: expires_at.unix_seconds(),
        }
    }
}

/// `KEEP#<sha256>` / `KEEP`: a mailed token with which somebody keeps their address, under its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct KeepItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    /// The address that is wanted instead.
    pub email: EmailAddress,
    pub expires_at: Timestamp,
    pub ttl: i64,
}

impl KeepItem {
    pub(in crate::users) fn new(token: &NewToken<'_>) -> Self {
        let expires_at = token.issued_at.plus(lifetimes::ADDRESS_VERIFICATIONS);
        Self {
            key: keep_key(token.hash),
            user_id: *token.user,
            email: token.email.clone(),
            expires_at,
            ttl: expires_at.unix_seconds(),
        }
    }
}

/// `VERIFICATION#<sha256>` / `VERIFICATION`: a mailed token for an address, under its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct VerificationItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    pub expires_at: Timestamp,
    pub ttl: i64,
}

impl VerificationItem {
    pub(in crate::users) fn new(token: &NewToken<'_>) -> Self {
        let expires_at = token.issued_at.plus(lifetimes::ADDRESS_VERIFICATIONS);
        Self {
            key: verification_key(token.hash),
            user_id: *token.user,
            email: token.email.clone(),
            expires_at,
            ttl: expires_at.unix_seconds(),
        }
    }
}
