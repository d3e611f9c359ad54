//! What is done, by its name.

use serde_with::{DeserializeFromStr, SerializeDisplay};
use strum::VariantArray as _;

use crate::Invalid;

/// Declares the actions with their names, of which the part before the dot is what they are about.
macro_rules! actions {
    ($($(#[$doc:meta])* $action:ident = $name:literal,)+) => {
        /// What was done, by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
        #[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
        #[strum(parse_err_ty = Invalid, parse_err_fn = no_action)]
        pub enum AuditAction {
            $($(#[$doc])* #[strum(serialize = $name)] $action,)+
        }
    };
}

actions! {
    /// A workspace was created.
    WorkspaceCreated = "workspace.created",
    /// Its name, slug, settings or whether links may be led elsewhere.
    WorkspaceChanged = "workspace.changed",
    /// A workspace was closed.
    WorkspaceClosed = "workspace.closed",
    /// A workspace that was closed is open again.
    WorkspaceRestored = "workspace.restored",
    /// Somebody has accepted an invitation.
    MemberJoined = "member.joined",
    /// A member has another role.
    MemberRoleChanged = "member.role_changed",
    /// A membership that was paused goes on.
    MemberResumed = "member.resumed",
    /// A membership is paused.
    MemberPaused = "member.paused",
    /// A member was removed by somebody else.
    MemberRemoved = "member.removed",
    /// A member has left.
    MemberLeft = "member.left",
    /// Somebody was invited.
    InvitationCreated = "invitation.created",
    /// An invitation was withdrawn.
    InvitationWithdrawn = "invitation.withdrawn",
    /// An API key was made.
    KeyCreated = "key.created",
    /// An API key has another name.
    KeyChanged = "key.changed",
    /// An API key is replaced by another one, and ends some time later.
    KeyRotated = "key.rotated",
    /// An API key opens nothing until it goes on.
    KeyPaused = "key.paused",
    /// An API key that was paused goes on.
    KeyResumed = "key.resumed",
    /// An API key was revoked.
    KeyRevoked = "key.revoked",
    /// An API key that a member has left is somebody else's.
    KeyKept = "key.kept",
    /// Somebody else than its owner has changed a link, or switched it on or off.
    LinkChanged = "link.changed",
    /// An operator has suspended a link.
    LinkSuspended = "link.suspended",
    /// An operator has lifted the suspension of a link.
    LinkResumed = "link.resumed",
    /// Somebody else than its owner has deleted a link.
    LinkDeleted = "link.deleted",
    /// A link was purged.
    LinkPurged = "link.purged",
    /// Statistics were shared.
    ShareCreated = "share.created",
    /// Statistics are no longer shared.
    ShareEnded = "share.ended",
    /// Somebody else than its owner has deleted a monitored URL.
    TargetDeleted = "target.deleted",
    /// A job is over.
    JobFinished = "job.finished",
    /// An account was registered.
    AccountRegistered = "account.registered",
    /// The person's name was changed.
    AccountRenamed = "account.renamed",
    /// Another address was asked for.
    AccountAddressRequested = "account.address_requested",
    /// The account has another address.
    AccountAddressChanged = "account.address_changed",
    /// Another address that was asked for was dropped.
    AccountAddressKept = "account.address_kept",
    /// The person has shown that the address is theirs.
    AccountAddressVerified = "account.address_verified",
    /// The password was changed, or chosen for the first time.
    AccountPasswordChanged = "account.password_changed",
    /// The password was taken away.
    AccountPasswordRemoved = "account.password_removed",
    /// The password was set with a token.
    AccountPasswordReset = "account.password_reset",
    /// The account has another identity at an identity provider, with which its person signs in.
    AccountIdentityConnected = "account.identity_connected",
    /// An identity was taken away from the account.
    AccountIdentityRemoved = "account.identity_removed",
    /// An operator has made a token with which the password can be set.
    AccountResetIssued = "account.reset_issued",
    /// An operator was given what is stored about the person.
    AccountExported = "account.exported",
    /// The person wants other mail.
    AccountMailChanged = "account.mail_changed",
    /// Mail to the address came back.
    AccountUndeliverable = "account.undeliverable",
    /// The account was closed.
    AccountClosed = "account.closed",
    /// Somebody has signed in.
    SessionBegan = "session.began",
    /// A session was ended.
    SessionEnded = "session.ended",
    /// All sessions were ended.
    SessionAllEnded = "session.all_ended",
    /// Somebody has guessed the password wrong until they had to wait.
    SessionGuessed = "session.guessed",
}

impl AuditAction {
    /// All actions.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// What it is about: the part of its name before the dot.
    pub fn group(self) -> &'static str {
        <&str>::from(self).split('.').next().unwrap_or_default()
    }
}

fn no_action(_: &str) -> Invalid {
    Invalid::new("there is no such action")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_has_one_name_and_is_about_something() {
        for action in AuditAction::ALL {
            assert_eq!(action.to_string().parse(), Ok(*action));
            assert!(action.to_string().starts_with(&format!("{}.", action.group())));
        }
    }
}
