use std::{num::NonZeroUsize, time::Duration};

use lambda_http::http::header;
use linklet_domain::{ApiKey, ApiKeySecret, KeyHash, KeyPrefix, Scope, Timestamp};
use linklet_dynamodb::{ApiKeys, RepositoryError};
use lru::LruCache;
use parking_lot::Mutex;

use super::{Actor, Caller, Credential, sessions::Freshness};
use crate::http::{ApiError, Problem, Request, Result};
use crate::telemetry::warn_of;

/// Authenticates requests with API keys.
///
/// A valid key is cached for up to 60 seconds after it was read, so revoking a key takes effect within a minute. Unknown keys
/// aren't cached, so a new key works at once, and made-up keys can't fill the memory.
pub struct KeyVerifier {
    table: ApiKeys,
    cache: Mutex<Cache>,
}

impl KeyVerifier {
    /// The name of the header that contains an API key.
    pub const HEADER: &str = "x-api-key";

    /// Accepts the keys of this table.
    pub fn new(table: ApiKeys) -> Self {
        Self { table, cache: Mutex::default() }
    }

    /// Authenticates a request by its API key, which must have this scope.
    ///
    /// # Errors
    /// 401 without a valid key, 403 without the scope, 503 if the keys can't be read. The response doesn't reveal why a key is
    /// invalid.
    pub(super) async fn require(&self, request: &Request, scope: Scope, freshness: Freshness) -> Result<Caller> {
        // Text in another form is refused without reading the table.
        let offered = offered(request).and_then(|text| ApiKeySecret::parse(text).ok());
        let Some(offered) = offered else { return Err(refused("malformed key", None, None)) };
        if freshness == Freshness::Now {
            self.cache.lock().0.pop(&offered.hash());
        }
        let key = match self.find(&offered.hash(), request.received_at).await? {
            Found::Valid(key) => key,
            Found::Invalid(key) => {
                let reason = match () {
                    () if key.paused_at.is_some() => "paused key",
                    () if key.closed_at.is_some() => "key of a closed workspace",
                    () => "expired key",
                };
                return Err(refused(reason, Some(&key.prefix), Some(&Actor::with_key(&key))));
            }
            Found::Unknown => return Err(refused("unknown key", Some(&offered.prefix()), None)),
        };
        request.note_actor(Actor::with_key(&key));
        if !key.scopes.contains(scope) {
            return Err(ApiError::ScopeMissing(scope));
        }
        request.require_known_parameters()?;
        Ok(caller_with(key))
    }

    /// The key with this hash.
    async fn find(&self, hash: &KeyHash, now: Timestamp) -> Result<Found, RepositoryError> {
        if let Some(key) = self.cache.lock().get(hash, now) {
            return Ok(Found::of(key, now));
        }
        let found = self.table.find(hash).await?.map_or(Found::Unknown, |key| Found::of(key, now));
        let Found::Valid(key) = found else {
            self.cache.lock().0.pop(hash);
            return Ok(found);
        };
        // The age counts from the request's arrival, before the key was read, so that a key which is revoked meanwhile isn't
        // cached for longer than 60 seconds after that.
        self.cache.lock().insert(key.clone(), now);
        self.touch(&key, now).await;
        Ok(Found::Valid(key))
    }

    /// Stores the time of the key's last use. It is called when a key is read, at most once a minute per environment.
    async fn touch(&self, key: &ApiKey, now: Timestamp) {
        if key.last_used_at.is_some_and(|stored| now < stored.plus(ApiKey::LAST_USED_PRECISION)) {
            return;
        }
        warn_of(self.table.touch(&key.hash, now).await, "the last use of an API key could not be stored");
    }
}

/// What a hash leads to.
enum Found {
    Valid(ApiKey),
    /// A key that has expired, or is paused.
    Invalid(ApiKey),
    /// No key, or one that was revoked: it is deleted then.
    Unknown,
}

impl Found {
    fn of(key: ApiKey, now: Timestamp) -> Self {
        if key.is_valid_at(now) { Self::Valid(key) } else { Self::Invalid(key) }
    }
}

/// The text of a request's API key, which stands in a header of its own or is a bearer token. A token comes before the header.
fn offered(request: &Request) -> Option<&str> {
    match request.has_header(header::AUTHORIZATION) {
        true => request.bearer_token().filter(|text| ApiKeySecret::is_like(text)),
        false => request.only_header(KeyVerifier::HEADER),
    }
}

/// Whether a request has something that is to be an API key.
pub(super) fn is_offered(request: &Request) -> bool {
    offered(request).is_some() || !request.has_header(header::AUTHORIZATION) && request.has_header(KeyVerifier::HEADER)
}

/// The error of a request with a key to a route that takes tokens only, with the line that says so. The key isn't looked up, so the
/// answer doesn't tell whether it exists.
pub(super) fn refused_for_a_token(request: &Request) -> ApiError {
    let prefix = offered(request).and_then(|text| ApiKeySecret::parse(text).ok()).map(|key| key.prefix());
    refused("the route takes no keys", prefix.as_ref(), None);
    Problem::TokenRequired.into()
}

/// The error of a request whose key was refused, with the line that says why. The prefix is no secret: lists and paths have it.
fn refused(reason: &'static str, prefix: Option<&KeyPrefix>, actor: Option<&Actor>) -> ApiError {
    tracing::warn!(
        reason,
        key_prefix = prefix.map(KeyPrefix::as_str),
        user_id = actor.map(|actor| actor.user.to_string()),
        workspace_id = actor.and_then(Actor::workspace_id),
        "an API key was refused"
    );
    ApiError::Problem(Problem::Unauthorized)
}

/// The caller with a verified key. This isn't a public conversion, since a [`Caller`] must only come from a verifier.
fn caller_with(key: ApiKey) -> Caller {
    Caller {
        role: key.role(),
        user: key.created_by,
        workspace: key.workspace,
        credential: Credential::ApiKey(key.prefix),
        is_current: false,
    }
}

/// The cache of valid keys, with the time at which each was read.
struct Cache(LruCache<KeyHash, (ApiKey, Timestamp)>);

impl Cache {
    const MAX_AGE: Duration = Duration::from_secs(60);
    const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    fn get(&self, hash: &KeyHash, now: Timestamp) -> Option<ApiKey> {
        self.0.peek(hash).filter(|(_, since)| is_fresh(*since, now)).map(|(key, _)| key.clone())
    }

    fn insert(&mut self, key: ApiKey, now: Timestamp) {
        self.0.put(key.hash.clone(), (key, now));
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self(LruCache::sparse(Self::CAPACITY))
    }
}

/// Whether a key that was read at `since` may be used at `now`. It may not if the clock was set back.
fn is_fresh(since: Timestamp, now: Timestamp) -> bool {
    since <= now && now < since.plus(Cache::MAX_AGE)
}

#[cfg(test)]
mod tests {
    use linklet_domain::{KeyName, Scopes, UserId, WorkspaceId};

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
            created_at: Timestamp::now(),
            expires_at: None,
            last_used_at: None,
            paused_at: None,
            closed_at: None,
            rotated_to: None,
            first_prefix: None,
        }
    }

    fn in_millis(start: Timestamp, millis: u64) -> Timestamp {
        start.plus(Duration::from_millis(millis))
    }

    #[test]
    fn a_key_is_cached_for_a_minute_unless_the_clock_goes_back() {
        let (key, start) = (key(), Timestamp::now());
        let mut cache = Cache::default();

        cache.insert(key.clone(), start);

        assert_eq!(cache.get(&key.hash, in_millis(start, 59_999)).as_ref(), Some(&key));
        assert_eq!(cache.get(&key.hash, in_millis(start, 60_000)), None);
        assert_eq!(cache.get(&key.hash, start.minus(Duration::from_millis(1))), None);
    }

    #[test]
    fn at_most_a_thousand_keys_are_cached_and_the_oldest_leaves_first() {
        let start = Timestamp::now();
        let mut cache = Cache::default();
        let keys: Vec<_> = (0..1_002).map(|_| key()).collect();

        for (millis, key) in (0..).zip(&keys) {
            cache.insert(key.clone(), in_millis(start, millis));
        }

        let now = in_millis(start, 1_002);
        assert_eq!(cache.0.len(), 1_000);
        let is_held: Vec<_> = keys.iter().map(|key| cache.get(&key.hash, now).is_some()).collect();
        assert_eq!(is_held.iter().take_while(|is_held| !**is_held).count(), 2);
        assert!(is_held[2..].iter().all(|is_held| *is_held));
    }
}
