//! Items of API keys.

use linklet_domain::{ApiKey, KeyHash, KeyName, KeyPrefix, Scopes, Timestamp, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};

use super::{api_key_key, workspace_api_key_key};
use crate::item::Key;

/// `KEY#<sha256>` / `KEY`: an API key under its hash, for authentication.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct ApiKeyItem {
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
pub(in crate::users) struct WorkspaceKeyItem {
    #[serde(flatten)]
    pub key: Key,
    pub key_hash: KeyHash,
    #[serde(flatten)]
    pub attributes: KeyAttributes,
}

/// The attributes that both items of an API key have. Only these change: a key that its creator leaves behind is the heir's,
/// and a key can be renamed and paused.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::users) struct KeyAttributes {
    pub prefix: KeyPrefix,
    pub name: KeyName,
    pub scopes: Scopes,
    pub created_by: UserId,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
}

/// The attributes of [`ApiKeyItem`] that the list of keys reads.
#[derive(Debug, Deserialize)]
pub(in crate::users) struct LastUse {
    pub key_hash: KeyHash,
    pub last_used_at: Option<Timestamp>,
}

impl WorkspaceKeyItem {
    /// Whether its TTL isn't over, after which it may or may not be there.
    pub(in crate::users) fn is_kept(&self, now: Timestamp) -> bool {
        self.attributes.ttl.is_none_or(|ttl| now.unix_seconds() < ttl)
    }
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
            created_at: self.created_at,
            expires_at: self.expires_at,
            last_used_at,
            paused_at: self.paused_at,
            closed_at: self.closed_at,
        }
    }
}

impl From<&ApiKey> for KeyAttributes {
    fn from(key: &ApiKey) -> Self {
        Self {
            prefix: key.prefix.clone(),
            name: key.name.clone(),
            scopes: key.scopes.clone(),
            created_by: key.created_by,
            created_at: key.created_at,
            expires_at: key.expires_at,
            paused_at: key.paused_at,
            closed_at: key.closed_at,
            ttl: key.kept_until().map(Timestamp::unix_seconds),
        }
    }
}

impl From<&ApiKey> for ApiKeyItem {
    fn from(key: &ApiKey) -> Self {
        Self {
            key: api_key_key(&key.hash),
            key_hash: key.hash.clone(),
            workspace_id: key.workspace,
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
    pub(in crate::users) fn into_key(self, workspace: WorkspaceId, last_used_at: Option<Timestamp>) -> ApiKey {
        self.attributes.into_key(workspace, self.key_hash, last_used_at)
    }
}
