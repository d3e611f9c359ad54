//! Keys and attributes of UsersTable: all keys, and the items of accounts and workspaces. The others' attributes are beside it.

mod invitations;
mod keys;
mod tokens;

use linklet_domain::{
    Account, EmailAddress, FullName, IdempotencyKey, Identity, IdentityHash, Invalid, InvitationId, IpHash, KeyHash,
    KeyPrefix, LastingSession, Logo, LogoId, MailChoice, Member, Membership, PublicWorkspace, RefreshToken,
    RenewableSession, ReportEvery, ReportId, SessionId, SignInPlace, Timestamp, TokenHash, UserId, Workspace,
    WorkspaceId, WorkspaceSlug, ends_at, lifetimes,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

pub(super) use self::invitations::{InvitationItem, InvitationTokenItem, InvitedTo};
pub(super) use self::keys::{KeyItem, LastUse};
pub(super) use self::tokens::TokenItem;
pub(super) use crate::item::workspace_partition;
use crate::item::{Key, Stored, is_zero};

/// An address that a person wants instead of theirs, as long as they can show that it is theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAddress {
    /// The address.
    pub email: EmailAddress,
    /// How long they can.
    pub until: Timestamp,
}

/// How a session begins.
#[derive(Debug, Clone)]
pub struct SignIn {
    /// Where, in words.
    pub place: SignInPlace,
    /// The hash of the network where.
    pub address: IpHash,
    /// The first refresh token, if the session can be renewed.
    pub first_token: Option<RefreshToken>,
    /// When the session ends however often it is renewed.
    pub until: Option<Timestamp>,
}

pub(super) const USER: &str = "USER";
pub(super) const MEMBER_PREFIX: &str = "MEMBER#";
pub(super) const SESSION_PREFIX: &str = "SESSION#";
pub(super) const KEY_PREFIX: &str = "KEY#";
pub(super) const IDENTITY_PREFIX: &str = "IDENTITY#";

pub(super) fn user_partition(user: &UserId) -> String {
    format!("USER#{user}")
}

/// What a person may do: their memberships, and what became of their sessions. It is a partition of its own, since functions
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

/// The key of an identity's account. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn identity_key(hash: &IdentityHash) -> Key {
    Key::new(format!("{IDENTITY_PREFIX}{hash}"), "IDENTITY")
}

/// The key of an identity beside what its person may do.
pub(super) fn own_identity_key(user: &UserId, hash: &IdentityHash) -> Key {
    Key::new(access_partition(user), format!("{IDENTITY_PREFIX}{hash}"))
}

pub(super) fn slug_key(slug: &WorkspaceSlug) -> Key {
    Key::new(format!("SLUG#{slug}"), "SLUG")
}

pub(super) fn workspace_key(workspace: &WorkspaceId) -> Key {
    Key::new(workspace_partition(workspace), "WS")
}

/// The key of what strangers may know of a workspace. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn public_key(workspace: &WorkspaceId) -> Key {
    Key::new(format!("PUBLIC#{workspace}"), "PUBLIC")
}

/// The key of a logo. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn logo_key(id: &LogoId) -> Key {
    Key::new(format!("LOGO#{id}"), "LOGO")
}

pub(super) fn member_key(user: &UserId, workspace: &WorkspaceId) -> Key {
    Key::new(access_partition(user), format!("{MEMBER_PREFIX}{workspace}"))
}

pub(super) fn ended_sessions_key(user: &UserId) -> Key {
    Key::new(access_partition(user), "SESSIONS")
}

pub(super) fn session_key(user: &UserId, session: &SessionId) -> Key {
    Key::new(access_partition(user), format!("{SESSION_PREFIX}{session}"))
}

pub(super) fn address_key(user: &UserId) -> Key {
    Key::new(access_partition(user), "ADDRESS")
}

/// What a person was answered who made something with this idempotency key.
pub(super) fn creation_key(user: &UserId, key: &IdempotencyKey) -> Key {
    Key::new(access_partition(user), format!("CREATION#{key}"))
}

/// Whose address has this key.
pub(super) fn user_of_address(key: &Key) -> Result<UserId, Invalid> {
    UserId::parse(key.pk.strip_prefix("ACCESS#").unwrap_or_default())
}

/// The key of a token's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn reset_key(token: &TokenHash) -> Key {
    Key::new(format!("RESET#{token}"), "RESET")
}

/// The key of a token's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn verification_key(token: &TokenHash) -> Key {
    Key::new(format!("VERIFICATION#{token}"), "VERIFICATION")
}

/// The key of a token's item. IAM roles in `template.yaml` name the prefix of the partition key.
pub(super) fn keep_key(token: &TokenHash) -> Key {
    Key::new(format!("KEEP#{token}"), "KEEP")
}

pub(super) fn workspace_member_key(workspace: &WorkspaceId, user: &UserId) -> Key {
    Key::new(workspace_partition(workspace), format!("{MEMBER_PREFIX}{user}"))
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
    Key::new(invitations_partition(workspace), id.to_string())
}

/// All who want reports so often. IAM roles in `template.yaml` name the prefix.
pub(super) fn reports_partition(every: ReportEvery) -> String {
    format!("REPORTS#{every}")
}

/// The key of a report that a person wants: `<workspace>#<user>`, and behind it a hash of the tag that it is about.
pub(super) fn report_key(report: &ReportId, user: &UserId) -> Key {
    let about = if report.tag_hash().is_empty() { "" } else { "#" };
    Key::new(reports_partition(report.every), format!("{}#{user}{about}{}", report.workspace, report.tag_hash()))
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
    #[serde(flatten)]
    pub account: Account,
    pub password_changed_at: Option<Timestamp>,
    /// When the person last had another name or address.
    pub updated_at: Option<Timestamp>,
}

impl From<&Account> for UserItem {
    fn from(account: &Account) -> Self {
        let (key, account) = (user_key(&account.id), account.clone());
        Self { key, account, password_changed_at: None, updated_at: None }
    }
}

/// `EMAIL#<address>` / `EMAIL`: the account of an email address, which makes the address unique.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EmailItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    /// When an operator closed the account. The address stays taken.
    pub closed_at: Option<Timestamp>,
}

impl EmailItem {
    pub(super) fn new(user: &UserId, email: &EmailAddress) -> Self {
        Self { key: email_key(email), user_id: *user, closed_at: None }
    }
}

/// `IDENTITY#<hash>` / `IDENTITY`: the account of somebody's identity at a provider, which makes it the only one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct IdentityItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
}

/// `ACCESS#<user>` / `IDENTITY#<hash>`: an identity with which a person signs in.
pub(super) type OwnIdentityItem = Stored<Identity>;

/// `ACCESS#<user>` / `MEMBER#<workspace>`: a membership under its user, for logins and for the verification of tokens.
pub(super) type MemberItem = Stored<Membership>;

/// `ACCESS#<user>` / `ADDRESS`: where a person gets mail, when they showed that the address is theirs, and what they are called.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AddressItem {
    #[serde(flatten)]
    pub key: Key,
    pub email: EmailAddress,
    /// What the person is called: a copy of the account's, which those can't read who show the name.
    pub full_name: Option<FullName>,
    pub verified_at: Option<Timestamp>,
    /// When the person has reclaimed the account, by the first proof of the address, from somebody else who may have used it.
    pub reclaimed_at: Option<Timestamp>,
    /// Whether the account has no password yet, since it is chosen with a mailed token. What mails tokens can't read the account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_password: bool,
    /// Which notifications the person gets by mail.
    #[serde(default, skip_serializing_if = "MailChoice::is_default")]
    pub mail: MailChoice,
    /// When a mail to the address came back, unless the person has shown since that it is theirs.
    pub undeliverable_at: Option<Timestamp>,
    /// The address that the person wants instead, until they show that it is theirs.
    pub pending_email: Option<EmailAddress>,
    /// How long that can be shown.
    pub pending_until: Option<Timestamp>,
    /// How often the person has joined a workspace or created another one, so that a change of the copies which memberships have
    /// misses none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub joinings: u64,
    /// Since when the person is closing their account, and joins nothing.
    pub closing_at: Option<Timestamp>,
    /// When an operator closed the account.
    pub closed_at: Option<Timestamp>,
}

impl AddressItem {
    pub(super) fn new(account: &Account, verified_at: Option<Timestamp>) -> Self {
        Self {
            key: address_key(&account.id),
            email: account.email.clone(),
            full_name: account.full_name.clone(),
            verified_at,
            reclaimed_at: None,
            // Who has shown already that the address is theirs signs in otherwise.
            awaits_password: account.password_hash.is_none() && verified_at.is_none(),
            mail: MailChoice::default(),
            undeliverable_at: None,
            pending_email: None,
            pending_until: None,
            joinings: 0,
            closing_at: None,
            closed_at: None,
        }
    }

    /// The address that the person wants instead, as long as they can show that it is theirs.
    pub(super) fn pending(&self, now: Timestamp) -> Option<PendingAddress> {
        let (email, until) = (self.pending_email.clone()?, self.pending_until.filter(|until| now < *until)?);
        Some(PendingAddress { email, until })
    }

    /// The address, if the person has shown that it is theirs, and mails get there.
    pub(super) fn reachable(self) -> Option<EmailAddress> {
        Some(self.email).filter(|_| self.verified_at.is_some() && self.undeliverable_at.is_none())
    }
}

/// `ACCESS#<user>` / `SESSIONS`: a time by which all sessions had ended, but for one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EndedSessionsItem {
    #[serde(flatten)]
    pub key: Key,
    pub ended_at: Timestamp,
    pub but: Option<SessionId>,
    /// As long as a session that had begun by then could be renewed.
    pub ttl: i64,
}

impl EndedSessionsItem {
    pub(super) fn new(user: &UserId, at: Timestamp, but: Option<&SessionId>) -> Self {
        Self {
            key: ended_sessions_key(user),
            ended_at: at,
            but: but.copied(),
            ttl: at.plus(lifetimes::RENEWABLE_SESSIONS).unix_seconds(),
        }
    }

    pub(super) fn has_ended(&self, session: &SessionId) -> bool {
        session.began_at() <= self.ended_at && self.but.as_ref() != Some(session)
    }
}

/// `ACCESS#<user>` / `SESSION#<session>`: a session: where it began, how far its refresh tokens have come if it has any, and that it
/// was ended.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub place: SignInPlace,
    /// The hash of the network that has it.
    pub address: Option<IpHash>,
    /// The number of the latest refresh token, and when that was made, if the session can be renewed.
    pub generation: Option<u64>,
    pub renewed_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// When the session ends however often it is renewed.
    pub until: Option<Timestamp>,
    /// When the person last showed in this session who they are.
    pub proved_at: Option<Timestamp>,
    pub ttl: i64,
}

impl SessionItem {
    /// A session that begins in this place, and has this refresh token if it can be renewed.
    pub(super) fn new(user: &UserId, session: &SessionId, sign_in: SignIn) -> Self {
        let SignIn { place, address, first_token, until } = sign_in;
        let lasts = if first_token.is_some() { lifetimes::RENEWABLE_SESSIONS } else { lifetimes::SESSIONS };
        let ends_at = ends_at(session.began_at().plus(lasts), until);
        Self {
            key: session_key(user, session),
            place,
            address: Some(address),
            generation: first_token.map(|token| token.generation),
            renewed_at: first_token.map(|_| session.began_at()),
            ended_at: None,
            until,
            proved_at: None,
            ttl: ends_at.unix_seconds(),
        }
    }

    /// How far the refresh tokens have come, unless the session was ended, or has none.
    pub(super) fn renewable(self) -> Option<RenewableSession> {
        let (generation, renewed_at, address, until) = (self.generation?, self.renewed_at?, self.address?, self.until);
        self.ended_at.is_none().then_some(RenewableSession { generation, renewed_at, address, until })
    }

    /// The session as its person sees it, unless it is over.
    pub(super) fn lasting(self, now: Timestamp) -> Result<Option<LastingSession>, Invalid> {
        let id = SessionId::parse(self.key.sk.strip_prefix(SESSION_PREFIX).unwrap_or_default())?;
        let ends_at = Timestamp::from_unix_seconds(self.ttl)?;
        let lasts = self.ended_at.is_none() && now < ends_at;
        Ok(lasts.then_some(LastingSession { id, place: self.place, renewed_at: self.renewed_at, ends_at }))
    }
}

impl MemberItem {
    pub(super) fn new(user: &UserId, membership: &Membership) -> Self {
        Self { key: member_key(user, &membership.workspace), value: membership.clone(), ttl: None }
    }
}

/// `WS#<id>` / `MEMBER#<user>`: a membership under its workspace, for the member list. Email address and name are copies, so
/// that the list takes one query. [Changing them](super::UsersTable::change_person) changes them here, too.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceMemberItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub member: Member,
    /// As of a [`MemberItem`].
    pub closed_at: Option<Timestamp>,
}

impl WorkspaceMemberItem {
    pub(super) fn new(workspace: &WorkspaceId, member: &Member) -> Self {
        Self { key: workspace_member_key(workspace, &member.user), member: member.clone(), closed_at: None }
    }
}

/// `WS#<id>` / `WS`: a workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub workspace: Workspace,
    /// Number of members that are admins and not paused; at least 1.
    pub admins: u64,
}

impl WorkspaceItem {
    /// A new workspace, whose creator is its one admin.
    pub(super) fn new(workspace: &Workspace) -> Self {
        Self { key: workspace_key(&workspace.id), workspace: workspace.clone(), admins: 1 }
    }
}

/// `PUBLIC#<id>` / `PUBLIC`: what strangers may know of a workspace. It is apart from the workspace, so that who answers strangers
/// reads no members and no API keys. A workspace that has not changed since an older version has none.
pub(super) type PublicItem = Stored<PublicWorkspace>;

impl PublicItem {
    pub(super) fn of(workspace: &Workspace) -> Self {
        Self { key: public_key(&workspace.id), value: workspace.in_public(), ttl: None }
    }
}

/// `LOGO#<id>` / `LOGO`: the logo of a workspace. Its id is a hash of what it is, so it never changes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LogoItem {
    #[serde(flatten)]
    pub key: Key,
    pub png: ByteBuf,
}

impl LogoItem {
    pub(super) fn new(id: &LogoId, logo: &Logo) -> Self {
        Self { key: logo_key(id), png: ByteBuf::from(logo.as_bytes()) }
    }
}

/// `SLUG#<slug>` / `SLUG`: the workspace of a slug, which makes the slug unique.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SlugItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
}
