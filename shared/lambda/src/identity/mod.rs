//! Who is calling.
//!
//! A [`Caller`] can only be had from a verifier, so a function that takes one can't be reached without a token or a key:
//!
//! - [`TokenVerifier`] accepts tokens, and needs no I/O: for routes that are for people.
//! - [`Authenticator`] accepts tokens and API keys: for routes that have a [scope](linklet_domain::Scope).

mod api_key;
mod authenticator;
mod token;

use linklet_domain::{EmailAddress, KeyHash, Link, Record, Role, UserId, WorkspaceId};

pub use self::{
    api_key::KeyVerifier,
    authenticator::Authenticator,
    token::{TokenIssuer, TokenSecret, TokenSecretError, TokenVerifier},
};

/// A verified caller: a person, or a program with a key that a person created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    user: UserId,
    email: EmailAddress,
    workspace: WorkspaceId,
    role: Role,
    api_key: Option<KeyHash>,
}

impl Caller {
    /// Who it is; of a key, who created it.
    #[must_use]
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// Their address.
    #[must_use]
    pub fn email(&self) -> &EmailAddress {
        &self.email
    }

    /// The workspace that they act in.
    #[must_use]
    pub fn workspace(&self) -> &WorkspaceId {
        &self.workspace
    }

    /// What they may do there.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The key, if they came with one.
    #[must_use]
    pub fn api_key(&self) -> Option<&KeyHash> {
        self.api_key.as_ref()
    }

    /// Whether they may change or delete a link.
    #[must_use]
    pub fn may_change(&self, record: &Record<Link>) -> bool {
        *record.workspace() == self.workspace && self.role.may_change(record.owner(), &self.user)
    }
}
