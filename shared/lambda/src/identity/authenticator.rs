use aws_config::SdkConfig;
use lambda_http::http::header;
use linklet_domain::{Scope, UserId};
use linklet_dynamodb::ApiKeys;

use super::{Caller, KeyVerifier, TokenVerifier, api_key, sessions::Freshness};
use crate::StartError;
use crate::aws::Tables;
use crate::http::{Request, Result};

/// Authenticates requests with tokens or API keys.
pub struct Authenticator {
    /// The verifier for tokens only, for routes that API keys can't use.
    pub tokens: TokenVerifier,
    keys: KeyVerifier,
}

impl Authenticator {
    /// Accepts tokens that are signed with the secret `JWT_SECRET_ID`, and the API keys in `USERS_TABLE`.
    ///
    /// # Errors
    /// When one of these variables is missing, or the secret can't be read.
    pub async fn from_env(aws: &SdkConfig, tables: &Tables) -> Result<Self, StartError> {
        let keys = tables.at("USERS_TABLE", ApiKeys)?;
        Ok(Self::new(TokenVerifier::from_env(aws, tables).await?, keys))
    }

    /// Accepts tokens that this verifier accepts, and the API keys of this table.
    pub fn new(tokens: TokenVerifier, keys: ApiKeys) -> Self {
        Self { tokens, keys: KeyVerifier::new(keys) }
    }

    /// Whether a request has a token or an API key, good or bad, for routes on which these only show more.
    pub fn is_offered_credentials(&self, request: &Request) -> bool {
        request.has_header(header::AUTHORIZATION) || request.has_header(KeyVerifier::HEADER)
    }

    /// Authenticates a request by its token or API key. A token needs the scope's minimum role, a key the scope itself.
    ///
    /// An API key may stand in `Authorization`, too. If that has a token, the key in another header is ignored.
    ///
    /// # Errors
    /// 401 without a valid token or key, 403 without the role or scope, 503 if the keys can't be read.
    pub async fn require(&self, request: &Request, scope: Scope) -> Result<Caller> {
        if api_key::is_offered(request) {
            self.keys.require(request, scope, Freshness::LastMinute).await
        } else {
            self.tokens.require(request, scope.minimum_role()).await
        }
    }

    /// Authenticates a request by what the tables say at this moment: for what can't be undone, or changes what is others'.
    ///
    /// # Errors
    /// As [`Self::require`].
    pub async fn require_now(&self, request: &Request, scope: Scope) -> Result<Caller> {
        let caller = if api_key::is_offered(request) {
            self.keys.require(request, scope, Freshness::Now).await?
        } else {
            self.tokens.require_now(request, scope.minimum_role()).await?
        };
        Ok(Caller { is_current: true, ..caller })
    }

    /// Looks at the tables of this moment before a caller changes what is somebody else's, which takes an admin, unless they were
    /// looked at for this request already.
    ///
    /// # Errors
    /// As [`Self::require`], and 403 if the caller is no admin any more.
    pub async fn confirm(&self, request: &Request, caller: &Caller, owner: &UserId, scope: Scope) -> Result<()> {
        if *owner == caller.user || caller.is_current {
            return Ok(());
        }
        self.require_now(request, scope).await?.require_owner(owner)
    }
}
