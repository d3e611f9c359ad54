//! Creates short links, one or many, with rate limits. And tells which codes are free.

mod bulk;
mod creation;
mod new_link;

use linklet_domain::{
    AnswerKey, HashBudget, LimitedRoute, Record, RedirectTarget, ReservedCodes, Scope, ShortCode, Unavailable,
};
use linklet_dynamodb::LinksTable;
use linklet_lambda::{
    bulk::Bulk,
    hashing::LinkHashing,
    http::{ApiError, Handler, Method, Problem, Request, Response, ShortUrls, StatusCode, json},
    identity::{Authenticator, Caller},
    throttle::Throttle,
    watching::TargetRoom,
};
use serde::Serialize;

/// `POST /api/shorten`, `POST /api/links/bulk` and `GET /api/codes/{code}`.
pub struct Shorten {
    links: LinksTable,
    room: TargetRoom,
    authenticator: Authenticator,
    short_urls: ShortUrls,
    throttle: Throttle,
    throttle_of_codes: Throttle,
    bulk: Bulk,
    hashing: LinkHashing,
    reserved: ReservedCodes,
    generate_code: CodeGenerator,
}

/// Where generated codes come from.
pub type CodeGenerator = fn() -> Result<ShortCode, getrandom::Error>;

impl Shorten {
    /// Codes come from the operating system's generator.
    #[must_use]
    pub fn new(
        links: LinksTable,
        room: TargetRoom,
        authenticator: Authenticator,
        short_urls: ShortUrls,
        throttle: Throttle,
    ) -> Self {
        let (reserved, generate_code) = (ReservedCodes::default(), ShortCode::generate);
        let throttle_of_codes = throttle.of(LimitedRoute::Codes);
        let (hashing, bulk) =
            (LinkHashing::beside(&throttle, HashBudget::default()), Bulk::new(throttle.table.clone()));
        Self {
            links,
            room,
            authenticator,
            short_urls,
            throttle,
            throttle_of_codes,
            bulk,
            hashing,
            reserved,
            generate_code,
        }
    }

    /// Gives these codes to no link.
    #[must_use]
    pub fn with_reserved(self, reserved: ReservedCodes) -> Self {
        Self { reserved, ..self }
    }

    /// Hashes so many passwords of links in a second.
    #[must_use]
    pub fn with_hashes(self, budget: HashBudget) -> Self {
        Self { hashing: LinkHashing::beside(&self.throttle, budget), ..self }
    }

    /// Begins with further links of a request about many as this says.
    #[must_use]
    pub fn with_bulk(self, bulk: Bulk) -> Self {
        Self { bulk, ..self }
    }

    /// This handler with another source of codes.
    #[must_use]
    pub fn with_codes(self, generate_code: CodeGenerator) -> Self {
        Self { generate_code, ..self }
    }
}

impl Handler for Shorten {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "shorten"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.throttle.admit(request, caller.user()).await?;
                let key = request.idempotency_key()?.map(|key| AnswerKey { key, index: None });
                let body = request.large_json_object()?;
                self.link_for(request, &body, &caller, key, None).await
            }
            (&Method::POST, ["api", "links", "bulk"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                // Boxed, so that requests about one link carry no state of those about many.
                Box::pin(self.shorten_many(request, &caller)).await
            }
            (&Method::GET, ["api", "codes", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.throttle_of_codes.admit(request, caller.user()).await?;
                self.availability(&caller, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Shorten {
    /// Whether a new link of the caller's can have a code. Somebody else may take it the next moment.
    async fn availability(&self, caller: &Caller, text: &str) -> Result<Response, ApiError> {
        let reason = match ShortCode::candidate(text, &self.reserved) {
            Err(reason) => Some(reason),
            Ok(code) => {
                let record = self.links.redirect_target(&code).await?;
                let is_free = |record: Record<RedirectTarget>| {
                    record.is_purged() && record.identity().workspace == *caller.workspace()
                };
                record.is_some_and(|record| !is_free(record)).then_some(Unavailable::Taken)
            }
        };
        Ok(json(StatusCode::OK, &CodeAvailability { available: reason.is_none(), reason }))
    }
}

#[derive(Serialize)]
struct CodeAvailability {
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Unavailable>,
}
