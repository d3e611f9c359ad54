//! Keys and attributes of UsersTable.

use linklet_domain::{
    Account, EmailAddress, Membership, Role, Timestamp, UserId, WorkspaceId, WorkspaceName, WorkspaceSlug,
};
use serde::{Deserialize, Serialize};

use crate::item::Key;

pub(super) const USER: &str = "USER";
pub(super) const MEMBER_PREFIX: &str = "MEMBER#";

pub(super) fn user_partition(user: &UserId) -> String {
    format!("USER#{user}")
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

/// `USER#<id>` / `USER`: an account.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UserItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
    pub email: EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_name: Option<String>,
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

/// `EMAIL#<address>` / `EMAIL`: this address is taken, and by whom.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EmailItem {
    #[serde(flatten)]
    pub key: Key,
    pub user_id: UserId,
}

/// `USER#<id>` / `MEMBER#<workspace>`: a person's place in a workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MemberItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub role: Role,
    pub joined_at: Timestamp,
}

impl MemberItem {
    pub(super) fn new(user: &UserId, membership: &Membership) -> Self {
        Self {
            key: Key::new(user_partition(user), format!("{MEMBER_PREFIX}{}", membership.workspace)),
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

/// `WS#<id>` / `WS`: a workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkspaceItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
    pub name: WorkspaceName,
    pub slug: WorkspaceSlug,
    pub created_at: Timestamp,
}

impl WorkspaceItem {
    pub(super) fn new(id: &WorkspaceId, name: &WorkspaceName, slug: &WorkspaceSlug, created_at: Timestamp) -> Self {
        Self {
            key: Key::new(format!("WS#{id}"), "WS"),
            workspace_id: id.clone(),
            name: name.clone(),
            slug: slug.clone(),
            created_at,
        }
    }
}

/// `SLUG#<slug>` / `SLUG`: this slug is taken, and by which workspace.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SlugItem {
    #[serde(flatten)]
    pub key: Key,
    pub workspace_id: WorkspaceId,
}
