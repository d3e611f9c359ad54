//! Registers, lists, shows and deletes targets (monitored URLs), and lists results of their checks.

mod view;

use linklet_domain::{Day, Host, PageToken, Scope, Target, TargetId, TargetUrl};
use linklet_dynamodb::{DeleteTargetOutcome, WatchTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Problem, Request, Response, ShortUrls, StatusCode, created, json, no_content},
    identity::{Authenticator, Caller},
};

use serde::Deserialize;

use self::view::{Checks, OneTarget, Targets};

/// `POST` and `GET /v1/targets`, `GET` and `DELETE /v1/targets/{id}`, `GET /v1/targets/{id}/results`.
pub struct Watch {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of targets.
    pub targets: WatchTable,
    /// Knows the addresses of the shortener itself.
    pub short_urls: ShortUrls,
}

const BODY_LIMIT: usize = 4_096;

impl Handler for Watch {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let may = async |scope| self.authenticator.require(request, scope).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["v1", "targets"]) => self.register(request, &may(Scope::LinksWrite).await?).await,
            (&Method::GET, ["v1", "targets"]) => self.list(request, &may(Scope::LinksRead).await?).await,
            (&Method::GET, ["v1", "targets", id]) => self.one(&may(Scope::LinksRead).await?, id).await,
            (&Method::DELETE, ["v1", "targets", id]) => self.delete(&may(Scope::LinksWrite).await?, id).await,
            (&Method::GET, ["v1", "targets", id, "results"]) => {
                self.results(request, &may(Scope::LinksRead).await?, id).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

/// The body of a request to monitor a URL.
#[derive(Deserialize)]
struct NewTarget {
    url: TargetUrl,
}

impl Watch {
    /// Responds 201 with a new target, or 200 with the existing one of the URL or the idempotency key.
    async fn register(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let wanted = self.wanted(request, caller)?;
        let key = request.idempotency_key()?;
        let registered = self.targets.register(&wanted, key.as_ref(), request.correlation_id()).await?;
        let location = format!("targets/{}", registered.target.id);
        let body = OneTarget::from(registered.target);
        Ok(if registered.is_new { created(&location, &body) } else { json(StatusCode::OK, &body) })
    }

    fn wanted(&self, request: &Request, caller: &Caller) -> Result<Target, ApiError> {
        let NewTarget { url } = request.json(BODY_LIMIT)?;
        // Each check of a short link would count as a click.
        self.short_urls.refuse_own(request, &url)?;
        let (workspace, owner, email) = (caller.workspace().clone(), caller.user().clone(), caller.email().clone());
        let target = Target::new(url, workspace, owner, email, request.received_at());
        Ok(target.map_err(|refused| refused.in_field("url"))?)
    }

    async fn list(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let limit = request.page_size()?;
        let host = request.parsed("host", Host::parse)?;
        let after = request.parsed("page_token", PageToken::decode)?;
        let page = self.targets.list(caller.workspace(), host.as_ref(), limit, after.as_ref()).await?;
        Ok(json(StatusCode::OK, &Targets::from(page)))
    }

    async fn one(&self, caller: &Caller, id: &str) -> Result<Response, ApiError> {
        let target = self.target(caller, id).await?;
        Ok(json(StatusCode::OK, &OneTarget::from(target)))
    }

    async fn delete(&self, caller: &Caller, id: &str) -> Result<Response, ApiError> {
        let target = self.target(caller, id).await?;
        if !caller.role().may_change(&target.owner, caller.user()) {
            return Err(FORBIDDEN);
        }
        match self.targets.delete(&target.id).await? {
            DeleteTargetOutcome::Deleted => Ok(no_content()),
            DeleteTargetOutcome::Watched => Err(ApiError::Problem(Problem::TargetWatched)),
        }
    }

    async fn results(&self, request: &Request, caller: &Caller, id: &str) -> Result<Response, ApiError> {
        let (limit, since) = (request.page_size()?, request.moment("since", Day::start)?);
        let target = self.target(caller, id).await?;
        let results = self.targets.results(&target, since, limit, request.received_at()).await?;
        Ok(json(StatusCode::OK, &Checks::from(results)))
    }

    /// Reads a target of the caller's workspace.
    async fn target(&self, caller: &Caller, id: &str) -> Result<Target, ApiError> {
        let id = TargetId::parse(id).map_err(|_| UNKNOWN)?;
        let target = self.targets.find(&id).await?.ok_or(UNKNOWN)?;
        if target.workspace == *caller.workspace() { Ok(target) } else { Err(FORBIDDEN) }
    }
}

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
const FORBIDDEN: ApiError = ApiError::Problem(Problem::Forbidden);
