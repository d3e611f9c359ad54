//! Keys and attributes of UsersTable.

use std::collections::BTreeSet;

use linklet_domain::{
    Account, ApiKey, CorrelationId, EmailAddress, FullName, Handover, Invalid, Invitation, InvitationId, KeyHash,
    KeyName, KeyPrefix, KeysLeft, Member, Membership, PageToken, Role, Scopes, SessionId, Timestamp, TokenHash, UserId,
    Workspace, WorkspaceId, WorkspaceName, WorkspaceSettings, WorkspaceSlug, lifetimes,
};
use serde::{Deserialize, Serialize};

use super::{HandoverStage, NewToken, OpenHandover, TokenDelivery};
use crate::{Cursor, item::Key};

pub(super) const USER: &str = "USER";
pub(super) const MEMBER_PREFIX: &str = "MEMBER#";
pub(super) const KEY_PREFIX: &str = "KEY#";
pub(crate) const WORKSPACE_PREFIX: &str = "WS#";
pub(crate) const HANDOVER_PREFIX: &str = "HANDOVER#";
pub(crate) const REVISIT_PREFIX: &str = "REVISIT#";

pub(super) fn user_partition(user: &UserId) -> String {
    format!("USER#{user}")
}

/// What a person may do: their memberships, and which of their sessions were ended. It is a partition of its own, since functions
/// that verify tokens may read it, and not the password hash. IAM roles in `template.yaml` name its prefix.
pub(super) fn access_partition(user: &UserId) -> String {
    format!("ACCESS#{user}")
}

pub(super) fn user_key(user: &UserId) -> Key {
    Key::new(user_partition(user), USER)
}

pub(super) fn email_key(email: &EmailAddress) -> Key {
    Key::new(format!("EMAIL#{email}"), "EMAIL")
}

pub(super) fn slug_key(slug: &WorkspaceSlug) -> Key {
    Key::new(format!("SLUG#{slug}"), "SLUG")
}

pub(super) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("{WORKSPACE_PREFIX}{workspace}")
}

pub(super) fn workspace_key(workspace: &WorkspaceId) -> Key {
    Key::new(workspace_partition(workspace), "WS")
}

pub(super) fn member_key(user: &UserId, workspace: &WorkspaceId) -> Key {
    Key::new(access_partition(user), format!("{MEMBER_PREFIX}{workspace}"))
}

pub(super) fn ended_sessions_key(user: &UserId) -> Key {
    Key::new(access_partition(user), "SESSIONS")
}

pub(super) fn address_key(user: &UserId) -> Key {
    Key::new(access_partition(user), "ADDRESS")
}

/// The key of a token's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn reset_key(token: &TokenHash) -> Key {
    Key::new(format!("RESET#{token}"), "RESET")
}

/// The key of a token's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn verification_key(token: &TokenHash) -> Key {
    Key::new(format!("VERIFICATION#{token}"), "VERIFICATION")
}

pub(super) fn workspace_member_key(workspace: &WorkspaceId, user: &UserId) -> Key {
    Key::new(workspace_partition(workspace), format!("{MEMBER_PREFIX}{user}"))
}

pub(super) fn handover_key(workspace: &WorkspaceId, leaver: &UserId) -> Key {
    Key::new(workspace_partition(workspace), format!("{HANDOVER_PREFIX}{leaver}"))
}

/// The key of an API key's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn api_key_key(hash: &KeyHash) -> Key {
    Key::new(format!("{KEY_PREFIX}{hash}"), "KEY")
}

pub(super) fn workspace_api_key_key(workspace: &WorkspaceId, prefix: &KeyPrefix) -> Key {
    Key::new(workspace_partition(workspace), format!("{KEY_PREFIX}{prefix}"))
}

/// The open invitations of a workspace. They are a partition of their own, so that who mails them reads no API keys and members.
/// IAM roles in `template.yaml` name its prefix.
pub(super) fn invitations_partition(workspace: &WorkspaceId) -> String {
    format!("INVITATIONS#{workspace}")
}

pub(super) fn invitation_key(workspace: &WorkspaceId, id: &InvitationId) -> Key {
    Key::new(invitations_partition(workspace), id.as_str())
}

/// The key of an invitation's token. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn invitation_token_key(token: &TokenHash) -> Key {
    Key::new(format!("INVITATION#{token}"), "INVITATION")
}

/// `USER#<id>` / `USER`: an account.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UserItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_name: Option<FullName>,
    pub password_hash: String,
    pub created_at: Timestamp,
}

impl From<&Account> for UserItem {
    fn from(account: &Account) -> Self {
        Self {
            key: user_key(&account.id),
            user_id: account.id.clone(),
            email: account.email.clone(),
            full_name: account.full_name.clone(),
            password_hash: account.password_hash.clone(),
            created_at: account.created_at,
        }
    }
}

impl From<UserItem> for Account {
    fn from(item: UserItem) -> Self {
        Self {
            id: item.user_id,
            email: item.email,
            full_name: item.full_name,
            password_hash: item.password_hash,
            created_at: item.created_at,
        }
    }
}

/// `EMAIL#<address>` / `EMAIL`: the account of an email address, which makes the address unique.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EmailItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
}

/// `ACCESS#<user>` / `MEMBER#<workspace>`: a membership under its user, for logins and for the verification of tokens.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MemberItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub role: Role,
    pub joined_at: Timestamp,
}

/// `ACCESS#<user>` / `ADDRESS`: where a person gets mail, and when they showed that the address is theirs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AddressItem {
    #[serde(flatten)]
    pub key: Key,
    pub email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
}

impl AddressItem {
    pub(super) fn new(account: &Account, verified_at: Option<Timestamp>) -> Self {
        Self { key: address_key(&account.id), email: account.email.clone(), verified_at }
    }

    /// The address, if the person has shown that it is theirs.
    pub(super) fn verified(self) -> Option<EmailAddress> {
        self.verified_at.map(|_| self.email)
    }
}

/// `ACCESS#<user>` / `SESSIONS`: which sessions were ended: all that had begun at a time, but for one, and single ones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndedSessionsItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub but: Option<SessionId>,
    #[serde(default, skip_serializing)]
    pub ended: BTreeSet<SessionId>,
    pub ttl: i64,
}

impl EndedSessionsItem {
    /// As many single sessions as fit into what one read unit reads.
    const MOST: usize = 50;

    pub(super) fn new(user: &UserId, at: Timestamp, but: Option<&SessionId>) -> Self {
        Self {
            key: ended_sessions_key(user),
            ended_at: Some(at),
            but: but.cloned(),
            ended: BTreeSet::new(),
            ttl: at.plus(lifetimes::SESSIONS).unix_seconds(),
        }
    }

    pub(super) fn has_ended(&self, session: &SessionId) -> bool {
        let with_all = self.ended_at.is_some_and(|at| session.began_at() <= at) && self.but.as_ref() != Some(session);
        with_all || self.ended.contains(session)
    }

    /// The oldest sessions of a list that is too long, and the time by which they had begun.
    pub(super) fn too_many(self) -> Option<(Vec<String>, Timestamp)> {
        let excess = self.ended.len().checked_sub(Self::MOST).filter(|excess| *excess > 0)?;
        // Ids begin with the time, so they are in the order in which the sessions began.
        let dropped: Vec<_> = self.ended.into_iter().take(excess).collect();
        let last = dropped.last()?.began_at();
        Some((dropped.iter().map(SessionId::to_string).collect(), last))
    }
}

impl MemberItem {
    pub(super) fn new(user: &UserId, membership: &Membership) -> Self {
        Self {
            key: member_key(user, &membership.workspace),
            workspace_id: membership.workspace.clone(),
            role: membership.role,
            joined_at: membership.joined_at,
        }
    }
}

impl From<MemberItem> for Membership {
    fn from(item: MemberItem) -> Self {
        Self { workspace: item.workspace_id, role: item.role, joined_at: item.joined_at }
    }
}

/// `RESET#<sha256>` / `RESET`: a token for a new password, under its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResetItem {
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
    pub(super) fn new(token: &NewToken<'_>, delivery: TokenDelivery) -> Self {
        let expires_at = token.issued_at.plus(lifetimes::PASSWORD_RESETS);
        Self {
            key: reset_key(token.hash),
            user_id: token.user.clone(),
            email: token.email.clone(),
            issued_at: token.issued_at,
            expires_at,
            mailed: delivery == TokenDelivery::Mailed,
            ttl: expires_at.unix_seconds(),
        }
    }
}

/// `VERIFICATION#<sha256>` / `VERIFICATION`: a mailed token for an address, under its hash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VerificationItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    pub expires_at: Timestamp,
    pub ttl: i64,
}

impl VerificationItem {
    pub(super) fn new(token: &NewToken<'_>) -> Self {
        let expires_at = token.issued_at.plus(lifetimes::ADDRESS_VERIFICATIONS);
        Self {
            key: verification_key(token.hash),
            user_id: token.user.clone(),
            email: token.email.clone(),
            expires_at,
            ttl: expires_at.unix_seconds(),
        }
    }
}

/// `WS#<id>` / `MEMBER#<user>`: a membership under its workspace, for the member list. Email address and name are copies, so
/// that the list takes one query. Nothing changes them in an account so far; code that does has to change them here, too.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceMemberItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_name: Option<FullName>,
    pub role: Role,
    pub joined_at: Timestamp,
}

impl WorkspaceMemberItem {
    pub(super) fn new(workspace: &WorkspaceId, member: &Member) -> Self {
        Self {
            key: workspace_member_key(workspace, &member.user),
            user_id: member.user.clone(),
            email: member.email.clone(),
            full_name: member.full_name.clone(),
            role: member.role,
            joined_at: member.joined_at,
        }
    }
}

impl From<WorkspaceMemberItem> for Member {
    fn from(item: WorkspaceMemberItem) -> Self {
        Self {
            user: item.user_id,
            email: item.email,
            full_name: item.full_name,
            role: item.role,
            joined_at: item.joined_at,
        }
    }
}

/// `WS#<id>` / `WS`: a workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub name: WorkspaceName,
    pub slug: WorkspaceSlug,
    #[serde(default)]
    pub settings: WorkspaceSettings,
    /// Number of members that are admins; at least 1.
    pub admins: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl WorkspaceItem {
    /// A new workspace with one admin.
    pub(super) fn new(id: &WorkspaceId, name: &WorkspaceName, slug: &WorkspaceSlug, created_at: Timestamp) -> Self {
        Self {
            key: workspace_key(id),
            workspace_id: id.clone(),
            name: name.clone(),
            slug: slug.clone(),
            settings: WorkspaceSettings::default(),
            admins: 1,
            created_at,
            updated_at: created_at,
        }
    }
}

impl From<WorkspaceItem> for Workspace {
    fn from(item: WorkspaceItem) -> Self {
        Self {
            id: item.workspace_id,
            name: item.name,
            slug: item.slug,
            settings: item.settings,
            created_at: item.created_at,
            updated_at: item.updated_at,
        }
    }
}

/// `SLUG#<slug>` / `SLUG`: the workspace of a slug, which makes the slug unique.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SlugItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
}

/// `KEY#<sha256>` / `KEY`: an API key under its hash, for authentication.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ApiKeyItem {
    #[serde(flatten)]
    pub key: Key,
    pub key_hash: KeyHash,
    pub workspace_id: WorkspaceId,
    #[serde(flatten)]
    pub attributes: KeyAttributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

/// `WS#<workspace>` / `KEY#<prefix>`: an API key under its workspace, for the list of keys.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceKeyItem {
    #[serde(flatten)]
    pub key: Key,
    pub key_hash: KeyHash,
    #[serde(flatten)]
    pub attributes: KeyAttributes,
}

/// The attributes that both items of an API key have. Of these, only the creator changes: a key that its creator leaves behind is the heir's.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeyAttributes {
    pub prefix: KeyPrefix,
    pub name: KeyName,
    pub scopes: Scopes,
    pub created_by: UserId,
    pub created_by_email: EmailAddress,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
}

/// The attributes of [`ApiKeyItem`] that the list of keys reads.
#[derive(Debug, Deserialize)]
pub(super) struct LastUse {
    pub key_hash: KeyHash,
    pub last_used_at: Option<Timestamp>,
}

impl KeyAttributes {
    fn into_key(self, workspace: WorkspaceId, hash: KeyHash, last_used_at: Option<Timestamp>) -> ApiKey {
        ApiKey {
            workspace,
            prefix: self.prefix,
            hash,
            name: self.name,
            scopes: self.scopes,
            created_by: self.created_by,
            created_by_email: self.created_by_email,
            created_at: self.created_at,
            expires_at: self.expires_at,
            last_used_at,
        }
    }
}

impl From<&ApiKey> for KeyAttributes {
    fn from(key: &ApiKey) -> Self {
        Self {
            prefix: key.prefix.clone(),
            name: key.name.clone(),
            scopes: key.scopes.clone(),
            created_by: key.created_by.clone(),
            created_by_email: key.created_by_email.clone(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            ttl: key.kept_until().map(Timestamp::unix_seconds),
        }
    }
}

impl From<&ApiKey> for ApiKeyItem {
    fn from(key: &ApiKey) -> Self {
        Self {
            key: api_key_key(&key.hash),
            key_hash: key.hash.clone(),
            workspace_id: key.workspace.clone(),
            attributes: key.into(),
            last_used_at: key.last_used_at,
        }
    }
}

impl From<ApiKeyItem> for ApiKey {
    fn from(item: ApiKeyItem) -> Self {
        item.attributes.into_key(item.workspace_id, item.key_hash, item.last_used_at)
    }
}

impl From<&ApiKey> for WorkspaceKeyItem {
    fn from(key: &ApiKey) -> Self {
        Self {
            key: workspace_api_key_key(&key.workspace, &key.prefix),
            key_hash: key.hash.clone(),
            attributes: key.into(),
        }
    }
}

impl WorkspaceKeyItem {
    pub(super) fn into_key(self, workspace: WorkspaceId, last_used_at: Option<Timestamp>) -> ApiKey {
        self.attributes.into_key(workspace, self.key_hash, last_used_at)
    }
}

/// `WS#<id>` / `HANDOVER#<user>`: what is to be handed over since this person has left, and how far that has come. The stream
/// of its changes is what carries it out.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HandoverItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub heir: UserId,
    pub keeps_keys: bool,
    pub left_at: Timestamp,
    pub stage: Stage,
    /// The last link or target that the stage has come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    pub is_last: bool,
    /// How often the item was written.
    pub turn: u64,
    pub correlation_id: CorrelationId,
}

/// What a handover is about at the moment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    Links,
    Targets,
    Rests,
}

impl From<&OpenHandover> for HandoverItem {
    fn from(open: &OpenHandover) -> Self {
        let Handover { workspace, leaver, heir, keys, left_at, correlation_id } = open.handover.clone();
        let (stage, after) = match &open.stage {
            HandoverStage::Links(after) => (Stage::Links, after.as_ref().map(Cursor::encode)),
            HandoverStage::Targets(after) => (Stage::Targets, after.as_ref().map(PageToken::encode)),
            HandoverStage::Rests => (Stage::Rests, None),
        };
        Self {
            key: handover_key(&workspace, &leaver),
            workspace_id: workspace,
            user_id: leaver,
            heir,
            keeps_keys: keys == KeysLeft::Kept,
            left_at,
            stage,
            after,
            is_last: open.is_last,
            turn: open.turn,
            correlation_id,
        }
    }
}

impl TryFrom<HandoverItem> for OpenHandover {
    type Error = Invalid;

    fn try_from(item: HandoverItem) -> Result<Self, Invalid> {
        let after = item.after.as_deref();
        let stage = match item.stage {
            Stage::Links => HandoverStage::Links(after.map(Cursor::decode).transpose()?),
            Stage::Targets => HandoverStage::Targets(after.map(PageToken::decode).transpose()?),
            Stage::Rests => HandoverStage::Rests,
        };
        let handover = Handover {
            workspace: item.workspace_id,
            leaver: item.user_id,
            heir: item.heir,
            keys: if item.keeps_keys { KeysLeft::Kept } else { KeysLeft::Revoked },
            left_at: item.left_at,
            correlation_id: item.correlation_id,
        };
        Ok(Self { handover, stage, is_last: item.is_last, turn: item.turn })
    }
}

/// `WS#<id>` / `REVISIT#<user>`: the marker beside a handover that rests. Its deletion by TTL brings the last pass.
#[derive(Debug, Serialize)]
pub(super) struct RevisitItem {
    #[serde(flatten)]
    pub key: Key,
    pub ttl: i64,
}

impl RevisitItem {
    pub(super) fn new(handover: &Handover) -> Self {
        let Handover { workspace, leaver, .. } = handover;
        let key = Key::new(workspace_partition(workspace), format!("{REVISIT_PREFIX}{leaver}"));
        // Rounded up, since a marker that is gone before its time would bring the last pass too early.
        Self { key, ttl: handover.settled_at().unix_seconds() + 1 }
    }
}

/// `INVITATIONS#<workspace>` / `<id>`: an open invitation.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InvitationItem {
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
    pub ttl: i64,
}

impl From<&Invitation> for InvitationItem {
    fn from(invitation: &Invitation) -> Self {
        Self {
            key: invitation_key(&invitation.workspace, &invitation.id),
            invitation_id: invitation.id.clone(),
            workspace_id: invitation.workspace.clone(),
            email: invitation.email.clone(),
            role: invitation.role,
            invited_by: invitation.invited_by.clone(),
            created_at: invitation.created_at,
            token_hash: invitation.token.clone(),
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
        }
    }
}

/// `INVITATION#<sha256>` / `INVITATION`: a token that was given to somebody who is invited.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InvitationTokenItem {
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
pub(super) enum InvitedTo {
    /// The invitation with this id, if it is still the one whose first token has this hash.
    Workspace { workspace_id: WorkspaceId, invitation_id: InvitationId, shown_token: TokenHash },
    /// Registering with this address and a workspace of one's own.
    Register { email: EmailAddress },
}

impl InvitationTokenItem {
    pub(super) fn of(invitation: &Invitation, token: &TokenHash, mailed: bool) -> Self {
        let to = InvitedTo::Workspace {
            workspace_id: invitation.workspace.clone(),
            invitation_id: invitation.id.clone(),
            shown_token: invitation.token.clone(),
        };
        Self { key: invitation_token_key(token), to, mailed, ttl: invitation.expires_at().unix_seconds() }
    }

    pub(super) fn to_register(email: &EmailAddress, token: &TokenHash, now: Timestamp) -> Self {
        let to = InvitedTo::Register { email: email.clone() };
        let ttl = now.plus(lifetimes::INVITATIONS).unix_seconds();
        Self { key: invitation_token_key(token), to, mailed: false, ttl }
    }
}
