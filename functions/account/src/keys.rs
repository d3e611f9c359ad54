//! The API keys of a workspace.

use std::collections::BTreeSet;

use linklet_domain::{
    AccountChange, ApiKey, ApiKeySecret, Invalid, KeyName, KeyPrefix, Role, Scope, Scopes, SortOrder, Timestamp,
    UserId, optional,
};
use linklet_dynamodb::{ChangedKey, CreateKeyOutcome, CreationAnswer, KeyChange, KeyOutcome};
use linklet_lambda::http::{
    ApiError, Belonging, Immutable, JsonObject, Once, Problem, Request, Response, Result, StatusCode, created, json,
    list_response, no_content, with_secret,
};
use linklet_lambda::identity::Caller;
use serde::{Deserialize, Serialize};

use crate::Account;

const NO_KEY: ApiError = ApiError::Problem(Problem::ApiKeyNotFound);

/// Where the list is, which has a new key: a key has no address of its own to read.
const LIST: &str = "keys";
const LIST_FROM_A_KEY: &str = "../../keys";

/// How often a key is made again whose prefix is taken, or whose predecessor was changed meanwhile.
const TRIES: u32 = 5;

impl Account {
    /// 201 with a new key of the caller's, which no other answer shows.
    pub(crate) async fn create_key(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let body = request.json_object()?;
        let once = Once::in_workspace(request, &caller.workspace, &body)?;
        let wanted = body.read::<Body>();
        // Before the body is judged: an expiry that was in the future at the first request may have passed since.
        if let Some(first) = self.first_answer(request, &caller.user, &once).await? {
            return Ok(first);
        }
        let wanted = NewKey::read(wanted?, request)?;
        let origin = self.origin(request, caller);
        for _ in 0..TRIES {
            let secret = (self.generate_key)().map_err(ApiError::internal)?;
            let key = wanted.key(&secret, caller, request.received_at);
            let answer = answer_to_repetition(&once, &key, LIST)?;
            let session = caller.acting()?.session;
            match self.users.create_key(&key, session, once.with_key(&answer), &origin).await? {
                CreateKeyOutcome::PrefixTaken | CreateKeyOutcome::NotAsRead => {}
                outcome => {
                    return self.creation_response(request, caller, (&once, outcome), (&key, &secret), LIST).await;
                }
            }
        }
        Err(Problem::TryAgain.into())
    }

    /// 201 with a key that is to be used instead of one, which ends some time later.
    pub(crate) async fn rotate_key(&self, request: &Request, caller: &Caller, prefix: &str) -> Result<Response> {
        let body = if request.has_body() { request.json_object()? } else { JsonObject::default() };
        let once = Once::in_workspace(request, &caller.workspace, &body)?;
        let wanted = if request.has_body() { body.read() } else { Ok(Rotation::default()) };
        if let Some(first) = self.first_answer(request, &caller.user, &once).await? {
            return Ok(first);
        }
        let Rotation { expires_at } = wanted?;
        let (prefix, now) = (KeyPrefix::parse(prefix).map_err(|_| NO_KEY)?, request.received_at);
        request.require_future("expires_at", expires_at)?;
        let origin = self.origin(request, caller);
        for _ in 0..TRIES {
            let key = self.users.key(&caller.workspace, &prefix, now).await?.ok_or(NO_KEY)?;
            // Whoever makes the successor sees it, and it acts for the creator, so an admin can't make it either.
            if key.created_by != caller.user {
                return Err(ApiError::Forbidden(Belonging::Creator));
            }
            if key.rotated_to.is_some() || !key.is_valid_at(now) {
                return self.first_answer_or(request, &caller.user, &once, Problem::ApiKeyNotRotatable).await;
            }
            let ends_at = key.end_of_rotated(expires_at, now)?;
            let secret = (self.generate_key)().map_err(ApiError::internal)?;
            let successor = key.successor(&secret, now);
            let answer = answer_to_repetition(&once, &successor, LIST_FROM_A_KEY)?;
            let (acting, kept) = (caller.acting()?, once.with_key(&answer));
            match self.users.rotate_key((&key, ends_at), &successor, acting, kept, &origin).await? {
                CreateKeyOutcome::PrefixTaken | CreateKeyOutcome::NotAsRead => {}
                CreateKeyOutcome::TooMany => {
                    return self.first_answer_or(request, &caller.user, &once, Problem::ApiKeyNotRotatable).await;
                }
                outcome => {
                    let made = (&successor, &secret);
                    return self.creation_response(request, caller, (&once, outcome), made, LIST_FROM_A_KEY).await;
                }
            }
        }
        Err(Problem::TryAgain.into())
    }

    /// What comes of a request that makes a key.
    async fn creation_response(
        &self,
        request: &Request,
        caller: &Caller,
        (once, outcome): (&Once, CreateKeyOutcome),
        (key, secret): (&ApiKey, &ApiKeySecret),
        list: &str,
    ) -> Result<Response> {
        match outcome {
            CreateKeyOutcome::Created => {
                let prefix = key.prefix.clone();
                let created_key = |workspace_name| AccountChange::KeyCreated { prefix, workspace_name };
                self.tell(request, &key.created_by, &caller.workspace, created_key).await;
                Ok(with_secret(created(list, &CreatedKey { key: secret.reveal(), shown: KeyView::from(key) })))
            }
            CreateKeyOutcome::TooMany => {
                self.first_answer_or(request, &caller.user, once, Problem::TooManyApiKeys).await
            }
            CreateKeyOutcome::NotAllowed => Err(not_allowed(caller, &key.created_by)),
            CreateKeyOutcome::IdempotencyKeyTaken | CreateKeyOutcome::PrefixTaken | CreateKeyOutcome::NotAsRead => {
                self.first_answer_or(request, &caller.user, once, Problem::TryAgain).await
            }
        }
    }

    /// The keys of the workspace for an admin, and for others their own.
    pub(crate) async fn list_keys(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let mut keys = self.users.keys(&caller.workspace, request.received_at).await?;
        keys.retain(|key| caller.role.may_change(&key.created_by, &caller.user));
        let key = |key: &ApiKey| format!("{}#{}", key.created_at, key.prefix);
        let (keys, next) = request.page_of(keys, SortOrder::Descending, key)?;
        Ok(list_response("keys", keys.iter().map(KeyView::from).collect(), next))
    }

    /// Renames a key, pauses it, or lets it work again.
    pub(crate) async fn change_key(&self, request: &Request, caller: &Caller, prefix: &str) -> Result<Response> {
        let Patch { name, is_active } = request.json_object()?.read_patch(&[IMMUTABLE])?;
        let prefix = KeyPrefix::parse(prefix).map_err(|_| NO_KEY)?;
        let (change, origin) = (KeyChange { name, is_active }, self.origin(request, caller));
        let outcome = self.users.change_key(&caller.workspace, caller.acting()?, &prefix, &change, &origin).await?;
        let ChangedKey { key, was_active } = match outcome {
            KeyOutcome::Done(changed) => *changed,
            KeyOutcome::NoKey => return Err(NO_KEY),
            KeyOutcome::NotAllowed(creator) => return Err(not_allowed(caller, &creator)),
        };
        let told = |workspace_name| match key.paused_at {
            None => AccountChange::KeyResumed { prefix, workspace_name },
            Some(_) => AccountChange::KeyPaused { prefix, workspace_name },
        };
        if key.paused_at.is_none() != was_active {
            self.tell(request, &key.created_by, &caller.workspace, told).await;
        }
        Ok(json(StatusCode::OK, &KeyView::from(&key)))
    }

    pub(crate) async fn revoke_key(&self, request: &Request, caller: &Caller, prefix: &str) -> Result<Response> {
        let Ok(prefix) = KeyPrefix::parse(prefix) else { return Ok(no_content()) };
        let origin = self.origin(request, caller);
        let key = match self.users.revoke_key(&caller.workspace, &caller.user, &prefix, &origin).await? {
            KeyOutcome::Done(key) => key,
            KeyOutcome::NoKey => return Ok(no_content()),
            KeyOutcome::NotAllowed(creator) => return Err(not_allowed(caller, &creator)),
        };
        let revoked = |workspace_name| AccountChange::KeyRevoked { prefix, workspace_name };
        self.tell(request, &key.created_by, &caller.workspace, revoked).await;
        Ok(no_content())
    }
}

/// Why somebody can't do something with a key that this person has made.
fn not_allowed(caller: &Caller, creator: &UserId) -> ApiError {
    let of_others = ApiError::Forbidden(Belonging::Member);
    if *creator == caller.user { ApiError::RoleTooLow(Role::Member) } else { of_others }
}

/// What a repeated request for a key is answered, which doesn't show the key.
fn answer_to_repetition(once: &Once, key: &ApiKey, list: &str) -> Result<CreationAnswer> {
    once.answer(StatusCode::CREATED, &KeyView::from(key), list).map_err(ApiError::internal)
}

/// What nobody can change of a key.
const IMMUTABLE: Immutable = Immutable {
    members: &[
        "key",
        "prefix",
        "scopes",
        "created_by",
        "created_at",
        "expires_at",
        "last_used_at",
        "paused_at",
        "rotated_to",
    ],
    sentence: None,
};

/// The body of a request to change a key.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Patch {
    name: Option<KeyName>,
    is_active: Option<bool>,
}

/// Whether a request says that a membership which is paused goes on. Nobody pauses one by the API: who is to get out is removed.
pub(crate) fn resumes(paused: Option<bool>) -> Result<bool, Invalid> {
    match paused {
        Some(true) => Err(Invalid::new("paused can only be set to false").in_field("paused")),
        paused => Ok(paused.is_some()),
    }
}

/// The body of a request for a key.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Body {
    name: KeyName,
    scopes: Option<BTreeSet<Scope>>,
    expires_at: Option<Timestamp>,
}

/// The body of a request to rotate a key: when the key ends.
#[derive(Default, Deserialize)]
struct Rotation {
    #[serde(default, deserialize_with = "optional")]
    expires_at: Option<Timestamp>,
}

/// The parsed request for a new API key.
struct NewKey {
    name: KeyName,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
}

impl NewKey {
    fn read(Body { name, scopes, expires_at }: Body, request: &Request) -> Result<Self> {
        request.require_future("expires_at", expires_at)?;
        // A key that nobody says more of is for what most programs do: they read links and make them.
        let scopes = scopes.unwrap_or_else(|| BTreeSet::from([Scope::LinksRead, Scope::LinksWrite]));
        Ok(Self { name, scopes: scopes.try_into().map_err(|refused: Invalid| refused.in_field("scopes"))?, expires_at })
    }

    fn key(&self, secret: &ApiKeySecret, caller: &Caller, now: Timestamp) -> ApiKey {
        ApiKey {
            workspace: caller.workspace,
            prefix: secret.prefix(),
            hash: secret.hash(),
            name: self.name.clone(),
            scopes: self.scopes.clone(),
            created_by: caller.user,
            created_at: now,
            expires_at: self.expires_at,
            last_used_at: None,
            paused_at: None,
            closed_at: None,
            rotated_to: None,
            first_prefix: None,
        }
    }
}

/// The response with a new key, the only one that contains the key in plain text.
#[derive(Serialize)]
struct CreatedKey<'a> {
    key: &'a str,
    #[serde(flatten)]
    shown: KeyView<'a>,
}

#[derive(Serialize)]
struct KeyView<'a> {
    prefix: &'a KeyPrefix,
    name: &'a KeyName,
    scopes: &'a Scopes,
    created_by: UserId,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    is_active: bool,
    paused_at: Option<Timestamp>,
    rotated_to: Option<&'a KeyPrefix>,
}

impl<'a> From<&'a ApiKey> for KeyView<'a> {
    fn from(key: &'a ApiKey) -> Self {
        let ApiKey { ref prefix, ref name, ref scopes, created_by, created_at, .. } = *key;
        let ApiKey { expires_at, last_used_at, paused_at, .. } = *key;
        let (is_active, rotated_to) = (paused_at.is_none(), key.rotated_to.as_ref());
        Self {
            prefix,
            name,
            scopes,
            created_by,
            created_at,
            expires_at,
            last_used_at,
            is_active,
            paused_at,
            rotated_to,
        }
    }
}
