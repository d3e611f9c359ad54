//! Creates short links, one or many, with rate limits, also those of other systems. And tells which codes are free.

mod bulk;
mod import;

use linklet_domain::{AnswerKey, Scope, ShortCode, Unavailable};
use linklet_dynamodb::ClicksTable;
use linklet_lambda::bulk::Bulk;
use linklet_lambda::http::{Handler, Method, Problem, Request, Response, Result, StatusCode, json};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::throttle::Throttle;
use serde::Serialize;

/// `POST /api/shorten`, `POST /api/links/bulk`, `POST /api/import` and `GET /api/codes/{code}`.
pub struct Shorten {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// Creates links.
    pub writer: LinkWriter,
    /// Limits new links.
    pub throttle: Throttle,
    /// Limits questions about codes.
    pub throttle_of_codes: Throttle,
    /// Counts the links of requests about many.
    pub bulk: Bulk,
    /// Where imported clicks are stored.
    pub clicks: ClicksTable,
    /// Whether an imported code may have the form of generated ones.
    pub may_look_generated: bool,
}

impl Handler for Shorten {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "shorten"] | ["api", "links"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.throttle.admit(request, &caller.user).await?;
                let key = request.idempotency_key()?.map(|key| AnswerKey { key, index: None });
                let body = request.large_json_object()?;
                self.writer.link_for(request, &body, &caller, key, None).await
            }
            (&Method::POST, ["api", "links", "bulk"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                // Boxed, so that requests about one link carry no state of those about many.
                Box::pin(self.shorten_many(request, &caller)).await
            }
            (&Method::POST, ["api", "import"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                Box::pin(self.import(request, &caller)).await
            }
            (&Method::GET, ["api", "codes", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.throttle_of_codes.admit(request, &caller.user).await?;
                self.availability(&caller, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Shorten {
    /// Whether a new link of the caller's can have a code. Somebody else may take it the next moment.
    async fn availability(&self, caller: &Caller, text: &str) -> Result<Response> {
        let reason = match ShortCode::candidate(text, &self.writer.reserved) {
            Err(reason) => Some(reason),
            Ok(code) => {
                let record = self.writer.links.redirect_target(&code).await?;
                let is_taken = record.is_some_and(|record| !record.leaves_its_code_to(&caller.workspace));
                is_taken.then_some(Unavailable::Taken)
            }
        };
        Ok(json(StatusCode::OK, &CodeAvailability { available: reason.is_none(), reason }))
    }
}

#[derive(Serialize)]
struct CodeAvailability {
    available: bool,
    reason: Option<Unavailable>,
}
