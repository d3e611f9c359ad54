//! Items of API keys.

use linklet_domain::{ApiKey, KeyHash, Timestamp};
use serde::Deserialize;

use super::{api_key_key, workspace_api_key_key};
use crate::item::{Key, Stored};

/// `KEY#<sha256>` / `KEY`: an API key under its hash, for authentication. And `WS#<workspace>` / `KEY#<prefix>`: the same under its
/// workspace, for the list of keys, without its last use.
pub(in crate::users) type KeyItem = Stored<ApiKey>;

/// The attributes of an item under a key's hash that the list of keys reads.
#[derive(Debug, Deserialize)]
pub(in crate::users) struct LastUse {
    pub key_hash: KeyHash,
    pub last_used_at: Option<Timestamp>,
}

impl KeyItem {
    pub(in crate::users) fn under_hash(key: &ApiKey) -> Self {
        Self::at(api_key_key(&key.hash), key)
    }

    pub(in crate::users) fn under_workspace(key: &ApiKey) -> Self {
        Self::at(workspace_api_key_key(&key.workspace, &key.prefix), key)
    }

    fn at(item_key: Key, key: &ApiKey) -> Self {
        Self { key: item_key, value: key.clone(), ttl: key.kept_until().map(Timestamp::unix_seconds) }
    }

    /// Whether its TTL isn't over, after which it may or may not be there.
    pub(in crate::users) fn is_kept(&self, now: Timestamp) -> bool {
        self.ttl.is_none_or(|ttl| now.unix_seconds() < ttl)
    }
}
