//! Invitations into workspaces. Nobody becomes a member without having accepted one.

use serde::{Deserialize, Serialize};

use crate::{EmailAddress, InvitationId, Role, Timestamp, TokenHash, UserId, WorkspaceId, lifetimes};

/// An invitation of an address into a workspace.
///
/// It is the workspace's, so it lasts when the admin who made it is no admin any more, unless it is withdrawn with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The invitation's id, derived from the workspace and the address.
    #[serde(rename = "invitation_id")]
    pub id: InvitationId,
    /// The workspace.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// Who is invited: only an account with this address can accept.
    pub email: EmailAddress,
    /// The role that comes with it.
    pub role: Role,
    /// The admin who made it.
    pub invited_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
    /// The hash of the token that was shown to that admin. It tells this invitation from others of the same address.
    #[serde(rename = "token_hash")]
    pub token: TokenHash,
    /// When a mail with a token of its own was sent; `None` as long as none was.
    pub mailed_at: Option<Timestamp>,
    /// Why no mail is sent; `None` if one was, or is on its way.
    pub not_mailed: Option<NotMailed>,
}

/// Why an invitation is not mailed. It says nothing about whether the address has an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum NotMailed {
    /// No mail is configured.
    MailOff,
    /// The inviter has not verified an address of their own.
    InviterUnverified,
    /// The inviter has had as many invitations mailed as one person may.
    LimitReached,
    /// The address has been mailed invitations recently, by whomever.
    MailedRecently,
}

impl Invitation {
    /// How many open invitations a workspace may have.
    pub const MAX_PER_WORKSPACE: usize = 100;

    /// An invitation that is made now.
    pub fn new(
        workspace: &WorkspaceId,
        email: EmailAddress,
        role: Role,
        invited_by: &UserId,
        token: TokenHash,
        created_at: Timestamp,
    ) -> Self {
        let id = InvitationId::derived_from(workspace, &email);
        let (mailed_at, not_mailed) = (None, None);
        Self {
            id,
            workspace: *workspace,
            email,
            role,
            invited_by: *invited_by,
            created_at,
            token,
            mailed_at,
            not_mailed,
        }
    }

    /// When it can't be accepted any more.
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(lifetimes::INVITATIONS)
    }

    /// Whether it can still be accepted.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{OneTimeToken, TokenPurpose};

    fn invitation(workspace: &WorkspaceId, email: &str, created_at: Timestamp) -> Invitation {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap().hash();
        let email = EmailAddress::parse(email).unwrap();
        Invitation::new(workspace, email, Role::Member, &UserId::generate(), token, created_at)
    }

    #[test]
    fn an_address_has_one_id_in_a_workspace_and_another_one_elsewhere() {
        let (here, elsewhere, now) = (WorkspaceId::generate(), WorkspaceId::generate(), Timestamp::now());
        let first = invitation(&here, "ada@example.com", now);

        assert_eq!(first.id, invitation(&here, "Ada@Example.com", now).id);
        assert_ne!(first.id, invitation(&here, "bob@example.com", now).id);
        assert_ne!(first.id, invitation(&elsewhere, "ada@example.com", now).id);
        assert_eq!(InvitationId::parse(&first.id.to_string()), Ok(first.id));
    }

    #[test]
    fn an_invitation_is_open_until_but_not_at_its_expiry() {
        let now = Timestamp::now();
        let invitation = invitation(&WorkspaceId::generate(), "ada@example.com", now);
        let end = now.plus(lifetimes::INVITATIONS);

        assert_eq!(invitation.expires_at(), end);
        assert!(invitation.is_open(end.minus(Duration::from_millis(1))));
        assert!(!invitation.is_open(end));
    }
}
