//! Registers, lists, shows and deletes targets (monitored URLs), and lists results of their checks.

mod view;

use linklet_domain::{
    AuditAction, AuditContext, AuditSubject, Day, Host, PageToken, Reach, Scope, Target, TargetId, TargetUrl,
};
use linklet_dynamodb::{
    AuditTable, DeleteTargetOutcome, RegisteredTarget, ResultsCursor, TargetRegistration, WatchTable, Workspaces,
};
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, ShortUrls, StatusCode, created, json, list_response,
    mark_as_replay, no_content,
};
use linklet_lambda::identity::{Authenticator, Caller};

use serde::Deserialize;

use self::view::{Check, OneTarget, Targets, TargetsWithHealth};

/// `POST` and `GET /v1/targets`, `GET` and `DELETE /v1/targets/{id}`, `GET /v1/targets/{id}/results`.
pub struct Watch {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of targets.
    pub targets: WatchTable,
    /// The audit log, for what others than their owner do to targets.
    pub audit_log: AuditTable,
    /// Knows who created a workspace.
    pub users: Workspaces,
    /// Knows the addresses of the shortener itself.
    pub short_urls: ShortUrls,
    /// What checks reach.
    pub reach: Reach,
}

impl Handler for Watch {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let may = async |scope| self.authenticator.require(request, scope).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["v1", "targets"]) => self.register(request, &may(Scope::LinksWrite).await?).await,
            (&Method::GET, ["v1", "targets"]) => self.list(request, &may(Scope::LinksRead).await?).await,
            (&Method::GET, ["v1", "targets", id]) => self.one(&may(Scope::LinksRead).await?, id).await,
            (&Method::DELETE, ["v1", "targets", id]) => self.delete(request, &may(Scope::LinksWrite).await?, id).await,
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
    /// Responds 201 with a new target, and 200 with the existing one of the URL or of the idempotency key.
    async fn register(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let (NewTarget { url }, key) = (request.json()?, request.idempotency_key()?);
        // Before the URL is judged: what was accepted at the first request may be refused since.
        if let Some(key) = &key
            && let Some(first) = self.targets.first_registration(&caller.workspace, key, request.received_at).await?
        {
            return Ok(answer(first));
        }
        let wanted = self.wanted(url, request, caller)?;
        let creator = self.users.creator(&wanted.workspace).await?.unwrap_or(wanted.owner);
        let wanted = Target { workspace_creator: creator, ..wanted };
        match self.targets.register(&wanted, key.as_ref(), &request.correlation_id).await? {
            TargetRegistration::Done(registered) => Ok(answer(registered)),
            TargetRegistration::Full => Err(Problem::TargetQuotaReached.into()),
        }
    }

    fn wanted(&self, url: TargetUrl, request: &Request, caller: &Caller) -> Result<Target> {
        // Each check of a short link would count as a click.
        self.short_urls.refuse_own(request, "url", &url)?;
        self.reach.require(&url).map_err(|refused| refused.in_field("url"))?;
        let (workspace, owner) = (caller.workspace, caller.user);
        let target = Target::new(url, workspace, owner, request.received_at);
        Ok(target.map_err(|refused| refused.in_field("url"))?)
    }

    async fn list(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let limit = request.page_size()?;
        let host = request.parsed("host", Host::parse)?;
        let after = request.parsed("page_token", PageToken::decode)?;
        // Lists leave health out, since it takes further reads for each target.
        let shows_health = request.flag("health")?.unwrap_or_default();
        let page = self.targets.list(&caller.workspace, host.as_ref(), limit, after.as_ref()).await?;
        if !shows_health {
            return Ok(json(StatusCode::OK, &Targets::from(page)));
        }
        let health = self.targets.healths(&caller.workspace, &page.items, request.received_at).await?;
        Ok(json(StatusCode::OK, &TargetsWithHealth::new(page, health)))
    }

    async fn one(&self, caller: &Caller, id: &str) -> Result<Response> {
        let target = self.target(caller, id).await?;
        Ok(json(StatusCode::OK, &OneTarget::from(target)))
    }

    async fn delete(&self, request: &Request, caller: &Caller, id: &str) -> Result<Response> {
        let Some(target) = self.look_up(caller, id).await? else { return Ok(no_content()) };
        caller.require_owner(&target.owner)?;
        self.authenticator.confirm(request, caller, &target.owner, Scope::LinksWrite).await?;
        let deleted = if target.owner == caller.user {
            self.targets.delete(&target).await
        } else {
            let origin = AuditContext {
                actor: caller.actor(),
                at: request.received_at,
                address: None,
                correlation_id: request.correlation_id.clone(),
            };
            let subject = AuditSubject::Target(target.id.clone());
            let entry = origin.in_workspace(&target.workspace, AuditAction::TargetDeleted, subject);
            self.targets.delete_anothers(&target, &self.audit_log, &entry).await
        };
        match deleted? {
            DeleteTargetOutcome::Deleted => Ok(no_content()),
            DeleteTargetOutcome::Watched => Err(ApiError::Problem(Problem::TargetWatched)),
        }
    }

    async fn results(&self, request: &Request, caller: &Caller, id: &str) -> Result<Response> {
        let (limit, since) = (request.page_size()?, request.moment("since", Day::start)?);
        let after = request.after(ResultsCursor::decode)?;
        let target = self.target(caller, id).await?;
        let (results, rest) =
            self.targets.results(&target, (since, after.as_ref()), limit, request.received_at).await?;
        let checks = results.into_iter().map(Check::from).collect();
        Ok(list_response("items", checks, request.next_page(rest.map(|cursor| cursor.encode()))))
    }

    /// Reads a target of the caller's workspace.
    async fn target(&self, caller: &Caller, id: &str) -> Result<Target> {
        self.look_up(caller, id).await?.ok_or(UNKNOWN)
    }

    async fn look_up(&self, caller: &Caller, id: &str) -> Result<Option<Target>> {
        let Ok(id) = TargetId::parse(id) else { return Ok(None) };
        let target = self.targets.find(&id).await?;
        target.as_ref().map_or(Ok(()), |target| caller.require_workspace(&target.workspace))?;
        Ok(target)
    }
}

fn answer(RegisteredTarget { target, is_new, is_repeated }: RegisteredTarget) -> Response {
    let location = format!("targets/{}", target.id);
    let body = OneTarget::from(target);
    let response = if is_new { created(&location, &body) } else { json(StatusCode::OK, &body) };
    if is_repeated { mark_as_replay(response) } else { response }
}

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
