//! What functions order of the one that mails.
//!
//! An order isn't an event: no table has changed with it, and nobody but notify reads it.

use serde::{Deserialize, Serialize};

use crate::{
    CorrelationId, EmailAddress, EmailRequestId, InvitationId, KeyPrefix, Report, Role, SignInPlace, Timestamp, UserId,
    WorkspaceId, WorkspaceName,
};

/// An order of a mail. A token for it is made when the mail is, and never is in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailRequest {
    /// Identifies the order; the same at every redelivery.
    pub order_id: EmailRequestId,
    /// When it was placed.
    pub ordered_at: Timestamp,
    /// The correlation id of the request that has placed it.
    pub correlation_id: CorrelationId,
    /// What is to be mailed.
    #[serde(flatten)]
    pub mail: RequestedEmail,
}

impl EmailRequest {
    /// A new order, of a mail that this request causes.
    pub fn new(cause: &CorrelationId, ordered_at: Timestamp, mail: RequestedEmail) -> Self {
        Self { order_id: EmailRequestId::generate(), ordered_at, correlation_id: cause.clone(), mail }
    }
}

/// The mails that can be ordered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(tag = "mail", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RequestedEmail {
    /// A token to set a new password without the old one.
    PasswordReset {
        /// The address that somebody has given, of which nobody knows yet whether it has an account.
        email: EmailAddress,
    },
    /// A token to show that an address is one's own.
    Verification {
        /// The address, of which nobody knows yet whether it has an account.
        email: EmailAddress,
    },
    /// A token to show that the address is one's own which somebody wants instead of theirs.
    AddressChange {
        /// Whose account it is.
        user_id: UserId,
        /// The address that they want, of which nobody knows yet whether it has an account.
        email: EmailAddress,
    },
    /// What the owner of an address hears when somebody wants another one for the account, with a token to stop that.
    AddressChangeNotice {
        /// Whose account it is.
        user_id: UserId,
        /// The address that is wanted instead.
        email: EmailAddress,
    },
    /// What the owner of an address hears that an account has no longer.
    AddressChanged {
        /// Whose account it is.
        user_id: UserId,
        /// The address that the account had.
        old: EmailAddress,
    },
    /// A token to join a workspace.
    Invitation {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// What it is called, which the mail shows.
        workspace_name: WorkspaceName,
        /// The invitation, which may have been withdrawn meanwhile.
        invitation_id: InvitationId,
    },
    /// A report that a person wants.
    Report(Box<Report>),
    /// What a person should hear of, whoever has changed it.
    AccountChange {
        /// Whose account it is, who is told.
        user_id: UserId,
        /// What was changed.
        #[serde(flatten)]
        change: AccountChange,
    },
}

impl RequestedEmail {
    /// The name of the kind of mail, as in the message.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

/// What was changed of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum AccountChange {
    /// The password, by somebody who knew it.
    PasswordChanged,
    /// The password, by somebody with a token. All sessions ended.
    PasswordReset {
        /// Whether that was the first proof that the address is the person's, so that what others may have made in the account's
        /// name is paused.
        pauses: bool,
    },
    /// An identity at an identity provider, with which somebody can sign in from now on.
    IdentityConnected {
        /// What the provider is called.
        provider: String,
        /// Whether nothing had shown before that the address is the person's, so that what others may have made in the account's name
        /// is paused.
        pauses: bool,
    },
    /// An identity with which nobody can sign in any more. All other sessions ended.
    IdentityRemoved {
        /// What the provider is called.
        provider: String,
    },
    /// The password, which was taken away. All other sessions ended.
    PasswordRemoved,
    /// The password of a colleague, which an operator has let somebody set.
    ResetIssued {
        /// The colleague's address.
        email: EmailAddress,
    },
    /// A session that has begun at a network from which nobody had logged in for long.
    SignedIn(SignInPlace),
    /// All sessions ended, since somebody has logged out everywhere.
    SessionsEnded,
    /// A new API key.
    KeyCreated {
        /// Its prefix.
        prefix: KeyPrefix,
        /// The name of its workspace.
        workspace_name: WorkspaceName,
    },
    /// An API key that doesn't work any more.
    KeyRevoked {
        /// Its prefix.
        prefix: KeyPrefix,
        /// The name of its workspace.
        workspace_name: WorkspaceName,
    },
    /// An API key that an admin has paused.
    KeyPaused {
        /// Its prefix.
        prefix: KeyPrefix,
        /// The name of its workspace.
        workspace_name: WorkspaceName,
    },
    /// An API key that was paused, and works again.
    KeyResumed {
        /// Its prefix.
        prefix: KeyPrefix,
        /// The name of its workspace.
        workspace_name: WorkspaceName,
    },
    /// A membership that has begun.
    Joined {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
        /// The person's role there.
        role: Role,
    },
    /// Another role in a workspace.
    RoleChanged {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
        /// The person's role there.
        role: Role,
    },
    /// A membership that was paused.
    MembershipPaused {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
    },
    /// A membership that was paused, and opens its workspace again.
    MembershipResumed {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
        /// The person's role there.
        role: Role,
    },
    /// A workspace that was closed, and with it the membership.
    WorkspaceClosed {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
        /// Until when one who was its admin can bring it back; `None` if nobody can.
        restorable_until: Option<Timestamp>,
    },
    /// A workspace that was closed, and is open again.
    WorkspaceRestored {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
    },
    /// A membership that has ended.
    Removed {
        /// The name of the workspace.
        workspace_name: WorkspaceName,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_order_is_one_flat_object() {
        let order = EmailRequest {
            order_id: EmailRequestId::parse("0198c0de-0000-7000-8000-000000000001").unwrap(),
            ordered_at: Timestamp::parse("2026-03-02T14:05:09Z").unwrap(),
            correlation_id: CorrelationId::parse("req-1").unwrap(),
            mail: RequestedEmail::AccountChange {
                user_id: UserId::parse("0198c0de-0000-7000-8000-000000000002").unwrap(),
                change: AccountChange::PasswordReset { pauses: true },
            },
        };

        let on_the_wire = serde_json::to_value(&order).unwrap();

        let expected = json!({
            "order_id": "0198c0de-0000-7000-8000-000000000001",
            "ordered_at": "2026-03-02T14:05:09.000Z",
            "correlation_id": "req-1",
            "mail": "account_change",
            "user_id": "0198c0de-0000-7000-8000-000000000002",
            "change": "password_reset",
            "pauses": true,
        });
        assert_eq!(on_the_wire, expected);
        assert_eq!(on_the_wire["mail"], order.mail.kind());
        assert_eq!(serde_json::from_value::<EmailRequest>(on_the_wire).unwrap(), order);
    }
}
