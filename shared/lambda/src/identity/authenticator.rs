use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client as DynamoDb;
use lambda_http::http::header;
use linklet_domain::Scope;
use linklet_dynamodb::ApiKeysTable;

use super::{Caller, KeyVerifier, TokenVerifier};
use crate::{
    StartError, config,
    http::{ApiError, Request},
};

/// Authenticates requests with tokens or API keys.
pub struct Authenticator {
    tokens: TokenVerifier,
    keys: KeyVerifier,
}

impl Authenticator {
    /// Accepts tokens that are signed with the secret `JWT_SECRET_ID`, and the API keys in `USERS_TABLE`.
    ///
    /// # Errors
    /// When one of these variables is missing, or the secret can't be read.
    pub async fn from_env(aws: &SdkConfig, tables: &DynamoDb) -> Result<Self, StartError> {
        let keys = ApiKeysTable::new(tables.clone(), config::required("USERS_TABLE")?);
        Ok(Self::new(TokenVerifier::from_env(aws).await?, keys))
    }

    /// Accepts tokens that this verifier accepts, and the API keys of this table.
    #[must_use]
    pub fn new(tokens: TokenVerifier, keys: ApiKeysTable) -> Self {
        Self { tokens, keys: KeyVerifier::new(keys) }
    }

    /// The verifier for tokens only, for routes that API keys can't use.
    #[must_use]
    pub fn tokens(&self) -> &TokenVerifier {
        &self.tokens
    }

    /// Whether a request has a token or an API key, good or bad, for routes on which these only show more.
    #[must_use]
    pub fn is_offered_credentials(&self, request: &Request) -> bool {
        request.has_header(header::AUTHORIZATION) || request.has_header(KeyVerifier::HEADER)
    }

    /// Authenticates a request by its token or API key. A token needs the scope's minimum role, a key the scope itself.
    ///
    /// If a request has an `Authorization` header, its API key is ignored.
    ///
    /// # Errors
    /// 401 without a valid token or key, 403 without the role or scope, 503 if the keys can't be read.
    pub async fn require(&self, request: &Request, scope: Scope) -> Result<Caller, ApiError> {
        if request.has_header(header::AUTHORIZATION) || !request.has_header(KeyVerifier::HEADER) {
            self.tokens.require(request, scope.minimum_role()).await
        } else {
            self.keys.require(request, scope).await
        }
    }
}
