//! Deletes links, with or without their statistics.

use linklet_domain::{Link, Record, Scope, ShortCode};
use linklet_dynamodb::{DeleteOutcome, LinksTable, PurgeOutcome};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Problem, Request, Response, no_content},
    identity::{Authenticator, Caller},
};

/// `DELETE /api/urls/{code}` deletes, `DELETE /api/links/{code}` purges.
pub struct Delete {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
}

impl Handler for Delete {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::DELETE, ["api", "urls", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.delete(request, &caller, code).await
            }
            (&Method::DELETE, ["api", "links", code]) => {
                // A purge can't be undone.
                let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
                self.purge(request, &caller, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Delete {
    async fn delete(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        let record = self.changeable(caller, code).await?.ok_or(ApiError::Problem(Problem::NotFound))?;
        self.authenticator.confirm(request, caller, &record.identity().owner, Scope::LinksWrite).await?;
        // The response is the same if the link was deleted or has expired before, so that the request is idempotent.
        if let Record::Link(link) = record {
            let precondition = request.precondition(&link.id().generation);
            let (now, correlation_id) = (request.received_at(), request.correlation_id());
            let outcome = self.links.delete_if(&link, &precondition, caller.user(), now, correlation_id).await?;
            if outcome == DeleteOutcome::Stale {
                return Err(Problem::PreconditionFailed.into());
            }
        }
        Ok(no_content())
    }

    /// Replaces the link with a tombstone. That publishes `url.purged`, on which analytics deletes clicks and statistics.
    async fn purge(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        if let Some(record) = self.changeable(caller, code).await? {
            let precondition = request.precondition(&record.identity().id.generation);
            let (now, correlation_id) = (request.received_at(), request.correlation_id());
            if self.links.purge_if(&record, &precondition, now, correlation_id).await? == PurgeOutcome::Stale {
                return Err(Problem::PreconditionFailed.into());
            }
        }
        Ok(no_content())
    }

    /// Reads the link or tombstone of a code; an error if the caller may not delete it.
    async fn changeable(&self, caller: &Caller, code: &str) -> Result<Option<Record<Link>>, ApiError> {
        let Ok(code) = ShortCode::parse(code) else { return Ok(None) };
        let record = self.links.find(&code).await?;
        if record.as_ref().is_some_and(|record| !caller.may_change(record)) {
            return Err(ApiError::Problem(Problem::Forbidden));
        }
        Ok(record)
    }
}
