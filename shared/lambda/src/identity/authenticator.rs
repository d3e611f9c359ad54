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

/// Turns tokens and API keys into callers.
pub struct Authenticator {
    tokens: TokenVerifier,
    keys: KeyVerifier,
}

impl Authenticator {
    /// Accepts the tokens that `JWT_SECRET_ID` signs, and the keys in `USERS_TABLE`.
    ///
    /// # Errors
    /// When one of these variables is missing, or the secret can't be read.
    pub async fn from_env(aws: &SdkConfig, tables: &DynamoDb) -> Result<Self, StartError> {
        let keys = ApiKeysTable::new(tables.clone(), config::required("USERS_TABLE")?);
        Ok(Self::new(TokenVerifier::from_env(aws).await?, keys))
    }

    /// Accepts these tokens, and the keys of this table.
    #[must_use]
    pub fn new(tokens: TokenVerifier, keys: ApiKeysTable) -> Self {
        Self { tokens, keys: KeyVerifier::new(keys) }
    }

    /// What accepts tokens only, for a route without a scope.
    #[must_use]
    pub fn tokens(&self) -> &TokenVerifier {
        &self.tokens
    }

    /// Who sent the request, if they may do this: with a token the role decides, with a key its scopes.
    ///
    /// A request with an `Authorization` header is judged by that alone, so that nobody has to guess which of two credentials
    /// counted.
    ///
    /// # Errors
    /// 401 without a valid token or key, 403 if role or scopes don't suffice, 503 if the keys can't be read.
    pub async fn require(&self, request: &Request, scope: Scope) -> Result<Caller, ApiError> {
        if request.has_header(header::AUTHORIZATION) || !request.has_header(KeyVerifier::HEADER) {
            self.tokens.require(request, scope.least_role()).await
        } else {
            self.keys.require(request, scope).await
        }
    }
}
