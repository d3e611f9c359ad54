use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{ApiKey, ApiKeySecret, KeyHash, Scope, Timestamp};
use linklet_dynamodb::{ApiKeysTable, RepositoryError};
use lru::LruCache;
use parking_lot::Mutex;

use super::Caller;
use crate::{
    http::{ApiError, Request},
    telemetry::chain,
};

/// Turns API keys into callers.
///
/// A valid key is held for up to 60 seconds after it was read, so a revoked one opens nothing any more a minute later. One that
/// isn't known is asked for each time: a new key works at once, and nobody can fill the memory with keys that they made up.
pub struct KeyVerifier {
    table: ApiKeysTable,
    held: Mutex<Held>,
}

impl KeyVerifier {
    /// The header that a key is sent in.
    pub const HEADER: &str = "x-api-key";

    /// Accepts the keys of this table.
    #[must_use]
    pub fn new(table: ApiKeysTable) -> Self {
        Self { table, held: Mutex::default() }
    }

    /// Who sent the request, if their key has this scope.
    ///
    /// # Errors
    /// 401 without a valid key, 403 without the scope, 503 if the keys can't be read. The answer never says what is wrong with a
    /// key.
    pub(super) async fn require(&self, request: &Request, scope: Scope) -> Result<Caller, ApiError> {
        // What isn't a key costs no look into the table.
        let offered = request.only_header(Self::HEADER).and_then(|text| ApiKeySecret::parse(text).ok());
        let hash = offered.ok_or(ApiError::Unauthorized)?.hash();
        let key = self.find(&hash, request.received_at()).await?.ok_or_else(|| {
            tracing::info!("an API key was refused");
            ApiError::Unauthorized
        })?;
        if key.scopes.contains(scope) {
            Ok(caller_with(key))
        } else {
            Err(ApiError::Forbidden("the API key lacks the scope for this"))
        }
    }

    /// The key with this hash, if it is valid now.
    async fn find(&self, hash: &KeyHash, now: Timestamp) -> Result<Option<ApiKey>, RepositoryError> {
        if let Some(key) = self.held.lock().get(hash, now) {
            return Ok(Some(key).filter(|key| key.is_valid_at(now)));
        }
        let Some(key) = self.table.find(hash).await?.filter(|key| key.is_valid_at(now)) else {
            self.held.lock().0.pop(hash);
            return Ok(None);
        };
        // As of the request's arrival, before the key was read: what was revoked since then is held no longer than it may be.
        self.held.lock().insert(key.clone(), now);
        self.touch(&key, now).await;
        Ok(Some(key))
    }

    /// Notes that the key is in use. Since a key is read once a minute here, this comes once a minute at most.
    async fn touch(&self, key: &ApiKey, now: Timestamp) {
        if key.last_used_at.is_some_and(|noted| now < noted.plus(ApiKey::USE_NOTED_EVERY)) {
            return;
        }
        if let Err(error) = self.table.touch(&key.hash, now).await {
            tracing::warn!(error = chain(&error), "the use of an API key could not be noted");
        }
    }
}

/// No public conversion, which would make a caller of any key that somebody has read.
fn caller_with(key: ApiKey) -> Caller {
    Caller {
        role: key.role(),
        user: key.created_by,
        email: key.created_by_email,
        workspace: key.workspace,
        api_key: Some(key.hash),
    }
}

/// The keys that were valid when they were read, with the time of that.
struct Held(LruCache<KeyHash, (ApiKey, Timestamp)>);

impl Held {
    const LONGEST: Duration = Duration::from_secs(60);
    const MOST: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    fn get(&self, hash: &KeyHash, now: Timestamp) -> Option<ApiKey> {
        self.0.peek(hash).filter(|(_, since)| is_fresh(*since, now)).map(|(key, _)| key.clone())
    }

    fn insert(&mut self, key: ApiKey, now: Timestamp) {
        self.0.put(key.hash.clone(), (key, now));
    }
}

impl Default for Held {
    fn default() -> Self {
        Self(LruCache::sparse(Self::MOST))
    }
}

/// A clock that was set back makes nothing fresh.
fn is_fresh(since: Timestamp, now: Timestamp) -> bool {
    since <= now && now < since.plus(Held::LONGEST)
}

#[cfg(test)]
mod tests {
    use linklet_domain::{EmailAddress, KeyName, Scopes, UserId, WorkspaceId};

    use super::*;

    fn key() -> ApiKey {
        let secret = ApiKeySecret::generate().unwrap();
        ApiKey {
            workspace: WorkspaceId::generate(),
            prefix: secret.prefix(),
            hash: secret.hash(),
            name: KeyName::parse("CI").unwrap(),
            scopes: Scopes::parse(&["links:read"]).unwrap(),
            created_by: UserId::generate(),
            created_by_email: EmailAddress::parse("ada@example.com").unwrap(),
            created_at: Timestamp::now(),
            expires_at: None,
            last_used_at: None,
        }
    }

    fn in_millis(start: Timestamp, millis: u64) -> Timestamp {
        start.plus(Duration::from_millis(millis))
    }

    #[test]
    fn a_key_is_held_for_a_minute_and_not_by_a_clock_that_was_set_back() {
        let (key, start) = (key(), Timestamp::now());
        let mut held = Held::default();

        held.insert(key.clone(), start);

        assert_eq!(held.get(&key.hash, in_millis(start, 59_999)).as_ref(), Some(&key));
        assert_eq!(held.get(&key.hash, in_millis(start, 60_000)), None);
        assert_eq!(held.get(&key.hash, start.minus(Duration::from_millis(1))), None);
    }

    #[test]
    fn a_thousand_keys_are_held_at_most_and_the_oldest_goes_first() {
        let start = Timestamp::now();
        let mut held = Held::default();
        let keys: Vec<_> = (0..1_002).map(|_| key()).collect();

        for (millis, key) in (0..).zip(&keys) {
            held.insert(key.clone(), in_millis(start, millis));
        }

        let now = in_millis(start, 1_002);
        assert_eq!(held.0.len(), 1_000);
        let is_held: Vec<_> = keys.iter().map(|key| held.get(&key.hash, now).is_some()).collect();
        assert_eq!(is_held.iter().take_while(|is_held| !**is_held).count(), 2);
        assert!(is_held[2..].iter().all(|is_held| *is_held));
    }
}
