//! Follows short links and records clicks.
//!
//! The answer costs one eventually consistent read. Nothing is ever deleted or changed on this path.

mod page;

use linklet_domain::{Click, IpHash, LinkStatus, Record, RedirectTarget, Salt, ShortCode, Visitor};
use linklet_dynamodb::{ClicksTable, LinksTable};
use linklet_lambda::{
    http::{ApiError, Edge, Handler, HeaderValue, Method, Request, Response, StatusCode, header, html, no_content},
    telemetry::chain,
};

/// `GET` and `HEAD` of `/r/{code}` and `/{code}`.
pub struct Redirect {
    /// Where codes lead.
    pub links: LinksTable,
    /// Where clicks go.
    pub clicks: ClicksTable,
    /// Hides addresses.
    pub salt: Salt,
    /// Whose headers are believed.
    pub edge: Edge,
}

impl Handler for Redirect {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let code = match (request.method(), request.segments().as_slice()) {
            (&Method::GET | &Method::HEAD, ["r", code] | [code]) => ShortCode::parse(code).map_err(|_| UNKNOWN),
            _ => Err(UNKNOWN),
        };
        let followed = match code {
            Ok(code) => self.follow(request, &code).await,
            Err(unknown) => Err(unknown),
        };
        match followed {
            Err(error @ (ApiError::NotFound(_) | ApiError::Gone(_))) if request.wants_html() => {
                Ok(noindex(html(error.status(), page::of(&error))))
            }
            other => other,
        }
    }
}

const UNKNOWN: ApiError = ApiError::NotFound("this short link does not exist");

impl Redirect {
    async fn follow(&self, request: &Request, code: &ShortCode) -> Result<Response, ApiError> {
        let link = match self.links.redirect_target(code).await?.ok_or(UNKNOWN)? {
            Record::Link(link) => link,
            Record::Tombstone(tombstone) => return Err(ApiError::gone(tombstone.reason)),
        };
        match link.status(request.received_at()) {
            LinkStatus::Active => {}
            status => return Err(ApiError::gone(status)),
        }
        let response = redirect_to(&link, request)?;
        if request.method() == Method::GET {
            self.record(request, &link).await;
        }
        Ok(response)
    }

    /// A click that can't be stored is reported; the visitor gets to the target all the same.
    async fn record(&self, request: &Request, link: &RedirectTarget) {
        let click = Click::on(link, request.received_at(), self.visitor(request), request.correlation_id().clone());
        if let Err(error) = self.clicks.record(&click).await {
            tracing::error!(short_code = link.code.as_str(), error = chain(&error), "a click was lost");
        }
    }

    fn visitor(&self, request: &Request) -> Visitor {
        Visitor::new(IpHash::of(&self.edge.address(request), &self.salt))
            .with_headers(
                request.header_lossy(header::USER_AGENT).as_deref(),
                request.header_lossy(header::REFERER).as_deref(),
            )
            .at_place(self.edge.country(request), self.edge.city(request).as_deref())
            .prefetching(request.is_prefetch())
    }
}

fn redirect_to(link: &RedirectTarget, request: &Request) -> Result<Response, ApiError> {
    let header_value = |text: &str| HeaderValue::from_str(text).map_err(|error| ApiError::Internal(Box::new(error)));
    let max_age = link.cacheable_for(request.received_at()).as_secs();
    let mut response = no_content();
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response.headers_mut().insert(header::LOCATION, header_value(&link.target.location())?);
    response.headers_mut().insert(header::CACHE_CONTROL, header_value(&format!("private, max-age={max_age}"))?);
    Ok(noindex(response))
}

/// Search engines should list the target, not the short link.
fn noindex(mut response: Response) -> Response {
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}
