//! The API keys of a workspace.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use linklet_domain::{
    AccountChange, ApiKey, ApiKeySecret, Invalid, KeyName, KeyPrefix, Scope, Scopes, Timestamp, UserId, optional,
};
use linklet_dynamodb::{ChangedKey, CreateKeyOutcome, KeyChange, KeyOutcome};
use linklet_lambda::http::{
    ApiError, Immutable, Problem, Request, Response, Result, StatusCode, created, json, no_content, with_secret,
};
use linklet_lambda::identity::Caller;
use serde::{Deserialize, Serialize};

use crate::{Account, NOT_ALLOWED};

const NO_KEY: ApiError = ApiError::Problem(Problem::ApiKeyNotFound);

impl Account {
    pub(crate) async fn create_key(&self, request: &Request, caller: &Caller) -> Result<Response> {
        const TRIES: u32 = 5;
        let wanted = NewKey::read(request)?;
        let origin = self.origin(request, caller);
        for _ in 0..TRIES {
            let secret = (self.generate_key)().map_err(ApiError::internal)?;
            let key = wanted.key(&secret, caller, request.received_at);
            match self.users.create_key(&key, caller.acting()?.session, &origin).await? {
                CreateKeyOutcome::Created => {
                    let prefix = key.prefix.clone();
                    let created_key = |workspace_name| AccountChange::KeyCreated { prefix, workspace_name };
                    self.tell(request, &caller.user, &caller.workspace, created_key).await;
                    let ApiKey { ref prefix, ref name, ref scopes, expires_at, .. } = key;
                    let shown = CreatedKey { key: secret.reveal(), prefix, name, scopes, expires_at };
                    // The list has it: a key has no address of its own to read.
                    return Ok(with_secret(created("keys", &shown)));
                }
                CreateKeyOutcome::PrefixTaken => {}
                CreateKeyOutcome::TooMany => return Err(Problem::TooManyApiKeys.into()),
                CreateKeyOutcome::CallerNotAdmin => return Err(NOT_ALLOWED),
            }
        }
        Err(ApiError::Problem(Problem::NoFreeCode))
    }

    pub(crate) async fn list_keys(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let keys = self.users.keys(&caller.workspace, request.received_at).await?;
        let keys: Vec<_> = keys.iter().map(KeyView::from).collect();
        Ok(json(StatusCode::OK, &BTreeMap::from([("keys", keys)])))
    }

    /// Renames a key, pauses it, or lets it work again.
    pub(crate) async fn change_key(&self, request: &Request, caller: &Caller, prefix: &str) -> Result<Response> {
        let Patch { name, is_active } = request.json_object()?.read_patch(&[IMMUTABLE])?;
        let prefix = KeyPrefix::parse(prefix).map_err(|_| NO_KEY)?;
        let (change, origin) = (KeyChange { name, is_active }, self.origin(request, caller));
        let outcome = self.users.change_key(&caller.workspace, caller.acting()?, &prefix, &change, &origin).await?;
        let ChangedKey { key, was_active } = done(outcome)?;
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
        let prefix = KeyPrefix::parse(prefix).map_err(|_| NO_KEY)?;
        let origin = self.origin(request, caller);
        let key = done(self.users.revoke_key(&caller.workspace, &caller.user, &prefix, &origin).await?)?;
        let revoked = |workspace_name| AccountChange::KeyRevoked { prefix, workspace_name };
        self.tell(request, &key.created_by, &caller.workspace, revoked).await;
        Ok(no_content())
    }
}

fn done<T>(outcome: KeyOutcome<T>) -> Result<T> {
    match outcome {
        KeyOutcome::Done(done) => Ok(*done),
        KeyOutcome::NoKey => Err(NO_KEY),
        KeyOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
    }
}

/// What nobody can change of a key.
const IMMUTABLE: Immutable = Immutable {
    members: &["key", "prefix", "scopes", "created_by", "created_at", "expires_at", "last_used_at", "paused_at"],
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

/// The parsed request for a new API key.
struct NewKey {
    name: KeyName,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
}

impl NewKey {
    fn read(request: &Request) -> Result<Self> {
        let Body { name, scopes, expires_at } = request.json()?;
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
        }
    }
}

/// The response with a new key, the only one that contains the key in plain text.
#[derive(Serialize)]
struct CreatedKey<'a> {
    key: &'a str,
    prefix: &'a KeyPrefix,
    name: &'a KeyName,
    scopes: &'a Scopes,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct KeyView<'a> {
    prefix: &'a KeyPrefix,
    name: &'a KeyName,
    scopes: &'a Scopes,
    created_by: UserId,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    is_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<Timestamp>,
}

impl<'a> From<&'a ApiKey> for KeyView<'a> {
    fn from(key: &'a ApiKey) -> Self {
        let ApiKey { ref prefix, ref name, ref scopes, created_by, created_at, .. } = *key;
        let ApiKey { expires_at, last_used_at, paused_at, .. } = *key;
        let is_active = paused_at.is_none();
        Self { prefix, name, scopes, created_by, created_at, expires_at, last_used_at, is_active, paused_at }
    }
}
