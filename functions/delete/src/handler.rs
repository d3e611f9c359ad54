//! Deactivates links.

use linklet_domain::{Role, ShortCode};
use linklet_dynamodb::LinksTable;
use linklet_lambda::{
    http::{ApiError, Handler, Method, Request, Response, no_content},
    identity::{Authenticator, Caller},
};

/// `DELETE /api/urls/{code}`.
pub struct Delete {
    /// Verifies tokens.
    pub authenticator: Authenticator,
    /// The links.
    pub links: LinksTable,
}

impl Handler for Delete {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::DELETE, ["api", "urls", code]) => {
                let caller = self.authenticator.require(request, Role::Member)?;
                self.deactivate(request, &caller, code).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl Delete {
    async fn deactivate(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        const UNKNOWN: ApiError = ApiError::NotFound("not found");
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        let link = self.links.find(&code).await?.ok_or(UNKNOWN)?;
        if link.workspace != *caller.workspace() || !caller.role().may_change(&link, caller.user()) {
            return Err(ApiError::Forbidden("forbidden"));
        }
        // Deleted now or before: the client's wish is fulfilled either way.
        self.links.delete(&code, caller.user(), request.received_at(), request.correlation_id()).await?;
        Ok(no_content())
    }
}
