//! Items of invitations.

use linklet_domain::{
    EmailAddress, Invitation, InvitationId, Role, Timestamp, TokenHash, UserId, WorkspaceId, lifetimes,
};
use serde::{Deserialize, Serialize};

use super::{invitation_key, invitation_token_key};
use crate::item::Key;

/// `INVITATIONS#<workspace>` / `<id>`: an open invitation.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct InvitationItem {
    #[serde(flatten)]
    pub key: Key,
    pub invitation_id: InvitationId,
    pub workspace_id: WorkspaceId,
    pub email: EmailAddress,
    pub role: Role,
    pub invited_by: UserId,
    pub created_at: Timestamp,
    /// The hash of the token that was shown, by which the invitation is told from others of its address.
    pub token_hash: TokenHash,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mailed_at: Option<Timestamp>,
    pub ttl: i64,
}

impl From<&Invitation> for InvitationItem {
    fn from(invitation: &Invitation) -> Self {
        Self {
            key: invitation_key(&invitation.workspace, &invitation.id),
            invitation_id: invitation.id,
            workspace_id: invitation.workspace,
            email: invitation.email.clone(),
            role: invitation.role,
            invited_by: invitation.invited_by,
            created_at: invitation.created_at,
            token_hash: invitation.token.clone(),
            mailed_at: invitation.mailed_at,
            ttl: invitation.expires_at().unix_seconds(),
        }
    }
}

impl From<InvitationItem> for Invitation {
    fn from(item: InvitationItem) -> Self {
        Self {
            id: item.invitation_id,
            workspace: item.workspace_id,
            email: item.email,
            role: item.role,
            invited_by: item.invited_by,
            created_at: item.created_at,
            token: item.token_hash,
            mailed_at: item.mailed_at,
        }
    }
}

/// `INVITATION#<sha256>` / `INVITATION`: a token that was given to somebody who is invited.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct InvitationTokenItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub to: InvitedTo,
    /// Whether it was only ever mailed.
    pub mailed: bool,
    pub ttl: i64,
}

/// What a token is for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(in crate::users) enum InvitedTo {
    /// The invitation with this id, if it is still the one whose first token has this hash.
    Workspace { workspace_id: WorkspaceId, invitation_id: InvitationId, shown_token: TokenHash },
    /// Registering with this address and a workspace of one's own.
    Register { email: EmailAddress },
}

impl InvitationTokenItem {
    pub(in crate::users) fn of(invitation: &Invitation, token: &TokenHash, mailed: bool) -> Self {
        let to = InvitedTo::Workspace {
            workspace_id: invitation.workspace,
            invitation_id: invitation.id,
            shown_token: invitation.token.clone(),
        };
        Self { key: invitation_token_key(token), to, mailed, ttl: invitation.expires_at().unix_seconds() }
    }

    pub(in crate::users) fn to_register(email: &EmailAddress, token: &TokenHash, now: Timestamp) -> Self {
        let to = InvitedTo::Register { email: email.clone() };
        let ttl = now.plus(lifetimes::INVITATIONS).unix_seconds();
        Self { key: invitation_token_key(token), to, mailed: false, ttl }
    }
}
