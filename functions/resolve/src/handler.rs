//! Tells where a URL leads, so that a link leads to the page itself and not to another shortener.
//!
//! It makes requests to servers that its callers choose, so it has a function and a role of its own, which reaches no link.
//! [`linklet_fetch`] keeps it from all but the public internet.

use std::time::Duration;

use linklet_domain::{LimitedRoute, RateLimit, Scope, TargetUrl};
use linklet_dynamodb::ThrottleTable;
use linklet_fetch::{FetchError, Fetcher, Lost, Network, Resolved, SystemNetwork};
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, ShortUrls, StatusCode, json,
};
use linklet_lambda::identity::Authenticator;
use linklet_lambda::throttle::admit_person;
use serde::{Deserialize, Serialize};

/// What servers are told as the purpose of a request.
pub const PURPOSE: &str = "link resolving";

/// For how long a URL is followed.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// `POST /api/resolve`.
pub struct Resolve<N = SystemNetwork> {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// Counts the calls of a person.
    pub calls: ThrottleTable,
    /// Follows URLs.
    pub fetcher: Fetcher<N>,
    /// Knows the addresses of the shortener itself.
    pub short_urls: ShortUrls,
}

impl<N: Network + 'static> Handler for Resolve<N> {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "resolve"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                let Given { url } = request.json()?;
                self.short_urls.refuse_own(request, "url", &url)?;
                let limit = (LimitedRoute::Resolve, RateLimit::RESOLVED_URLS);
                admit_person(&self.calls, limit, request, &caller.user).await?;
                self.resolve(request, &url).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

/// The body of a request.
#[derive(Deserialize)]
struct Given {
    url: TargetUrl,
}

/// Where a URL leads.
#[derive(Serialize)]
struct View {
    url: TargetUrl,
    hops: usize,
    /// What the server there has answered. From 400 on, the page may not work for visitors.
    status: u16,
}

impl<N: Network> Resolve<N> {
    async fn resolve(&self, request: &Request, url: &TargetUrl) -> Result<Response> {
        let Resolved { url, status, hops } = self.fetcher.resolve(url).await.map_err(refusal)?;
        let unfit = |rule| ApiError::UrlUnreachable(format!("it leads to a URL that no link can have: {rule}"));
        let url = TargetUrl::parse(&url).map_err(unfit)?;
        // The fetcher doesn't know where the client has reached us.
        self.short_urls.refuse_own(request, "url", &url).map_err(unfit)?;
        Ok(json(StatusCode::OK, &View { url, hops, status: status.as_u16() }))
    }
}

/// Says at which host the way ends, and why. A host is no secret of the caller's, as a path or a query may be.
fn refusal(Lost { host, error }: Lost) -> ApiError {
    let reason = match error {
        FetchError::Dns(_) => "couldn't be found",
        FetchError::NotPublic => "has no public address",
        FetchError::PortNotAllowed => "leads to a port that isn't allowed",
        FetchError::Connect(_) => "couldn't be reached",
        FetchError::Tls(_) => "couldn't be reached securely",
        FetchError::Timeout => "took too long to answer",
        FetchError::Answer(_) | FetchError::TooLarge => "gave no valid answer",
        FetchError::TooManyRedirects => "redirects too many times",
        FetchError::InvalidRedirect | FetchError::InvalidUrl => "redirects to where no link can lead",
    };
    ApiError::UrlUnreachable(format!("{host} {reason}"))
}
