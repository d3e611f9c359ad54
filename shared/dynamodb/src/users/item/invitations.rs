//! Items of invitations.

use linklet_domain::{EmailAddress, Invitation, InvitationId, Timestamp, TokenHash, WorkspaceId, lifetimes};
use serde::{Deserialize, Serialize};

use super::{invitation_key, invitation_token_key};
use crate::item::{Key, Stored};

/// `INVITATIONS#<workspace>` / `<id>`: an open invitation.
pub(in crate::users) type InvitationItem = Stored<Invitation>;

impl From<&Invitation> for InvitationItem {
    fn from(invitation: &Invitation) -> Self {
        let ttl = Some(invitation.expires_at().unix_seconds());
        Self { key: invitation_key(&invitation.workspace, &invitation.id), value: invitation.clone(), ttl }
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
