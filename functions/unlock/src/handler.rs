//! Leads visitors on who know the password of a link.
//!
//! The link's status is judged before the password, since hashing costs most. A wrong password takes no use of the link, and rules
//! are judged last. The click is stored before the answer, since whoever waits for a hash doesn't notice.

use std::sync::OnceLock;

use linklet_domain::{
    Asker, Click, Decision, Intent, Invalid, LinkStatus, Record, RedirectTarget, Salt, ShortCode, TypedPassword,
    WorkspaceId, encode_tail,
};
use linklet_dynamodb::LinksTable;
use linklet_lambda::following::{Brands, Recorder, Use, UsedUp, Visit, diverted, led_to, note_end, page};
use linklet_lambda::hashing::LinkHashing;
use linklet_lambda::http::{
    ApiError, Edge, Handler, Method, Pages, Problem, Request, Response, Result, ShortUrls, StatusCode,
};
use serde::Deserialize;

/// `POST` of `/r/{code}`, `/r/{code}/` and `/{code}`.
pub struct Unlock {
    /// The table of links.
    pub links: LinksTable,
    /// Verifies passwords, and lets those wait who guess.
    pub hashing: LinkHashing,
    /// Stores clicks.
    pub recorder: Recorder,
    /// Links of which nothing is left.
    pub used_up: UsedUp,
    /// The salt of hashed addresses.
    pub salt: Salt,
    /// The edge whose headers about visitors are trusted.
    pub edge: Edge,
    /// Builds the addresses of links.
    pub short_urls: ShortUrls,
    /// Answers with pages.
    pub pages: Pages,
    /// What workspaces show of themselves on pages.
    pub brands: Brands,
}

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

#[derive(Deserialize)]
struct Body {
    password: Option<TypedPassword>,
}

impl Handler for Unlock {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let workspace = OnceLock::new();
        match self.unlock(request, &workspace).await {
            Ok(response) => Ok(response),
            Err(error) => page::about_link(error, request, self.pages, (&self.brands, workspace.get().copied())).await,
        }
    }
}

/// Where somebody is led who has sent a password.
enum Opened {
    /// To where the link leads.
    Target(RedirectTarget),
    /// To the link's own address, where it is followed like any other: it has no password, as when that was taken away while
    /// somebody typed it.
    Link,
}

impl Unlock {
    /// Notes whose the link is, if there is one.
    async fn unlock(&self, request: &Request, workspace: &OnceLock<WorkspaceId>) -> Result<Response> {
        let code = match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["r", code] | ["r", code, ""] | [code]) => {
                ShortCode::followed(code).map_err(|_| UNKNOWN)?
            }
            _ => return Err(Problem::RouteUnknown.into()),
        };
        let password = password_in(request)?;
        match self.open(request, &code, &password, workspace).await? {
            Opened::Target(target) => self.lead(request, target).await,
            Opened::Link => {
                let (short_url, query) = (self.short_urls.of(request, &code), request.raw_query());
                let mark = if query.is_empty() { "" } else { "?" };
                led_to(&format!("{short_url}{}", encode_tail(&format!("{mark}{query}"))), StatusCode::SEE_OTHER)
            }
        }
    }

    /// The link with a code, if this is its password. Whoever tries passwords or codes waits longer and longer.
    async fn open(
        &self,
        request: &Request,
        code: &ShortCode,
        password: &TypedPassword,
        workspace: &OnceLock<WorkspaceId>,
    ) -> Result<Opened> {
        let open = async || {
            let record = self.links.redirect_target(code).await?.ok_or(UNKNOWN)?;
            if !record.is_suspended_by_operators() {
                workspace.get_or_init(|| record.identity().workspace);
            }
            match decide(request, record) {
                Decision::Lock { target } => {
                    let stored = self.links.password_hash(&target.identity.id).await?;
                    self.hashing.verify(request, &target.identity.id, password, stored.as_deref()).await?;
                    Ok(Opened::Target(target))
                }
                Decision::Withhold => Err(Problem::LinkWithheld.into()),
                Decision::Refuse { why } => Err(ApiError::gone(why)),
                Decision::Follow { .. } | Decision::Show { .. } | Decision::Divert { .. } => Ok(Opened::Link),
            }
        };
        self.hashing.guess(request, code, open).await
    }

    /// Takes a use of the link, if it has a limit, and leads its visitor on.
    async fn lead(&self, request: &Request, target: RedirectTarget) -> Result<Response> {
        if target.limit().is_some() {
            let link = &target.identity.id;
            let (is_taken, end) =
                match self.used_up.take(&self.links, link, request.received_at, &request.correlation_id).await? {
                    Use::Taken { end } => (true, end),
                    Use::Refused { end } => (false, end),
                    // What was read is out of date.
                    Use::Unlimited => return Err(Problem::TryAgain.into()),
                };
            if let Some(end) = &end {
                note_end(&self.links, end).await;
            }
            if !is_taken {
                return match target.refusal(LinkStatus::Exhausted) {
                    Decision::Divert { fallback } => diverted(&fallback),
                    _ => Err(ApiError::gone(LinkStatus::Exhausted)),
                };
            }
        }
        let visit = Visit { request, salt: &self.salt, edge: self.edge };
        let lead = visit.lead(&target);
        let response = led_to(&lead.location, StatusCode::SEE_OTHER)?;
        let visitor = visit.visitor(Some(&lead));
        let click = Click::on(&target, request.received_at, visitor, request.correlation_id.clone());
        self.recorder.record(click).await;
        Ok(response)
    }
}

/// Whoever sends a password is a person.
fn decide(request: &Request, record: Record<RedirectTarget>) -> Decision {
    Decision::on(record, Intent::Visit, request.received_at, || Asker::Person)
}

/// The password in the form that a page has sent, or in a JSON object.
fn password_in(request: &Request) -> Result<TypedPassword> {
    match request.form_field("password")? {
        Some(password) => Ok(password.into()),
        None => request.json::<Body>()?.password.ok_or_else(|| {
            Invalid::new("password is required: a link without one is followed by a GET request")
                .in_field("password")
                .into()
        }),
    }
}
