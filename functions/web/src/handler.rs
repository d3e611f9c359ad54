//! The web application, the API's description for programs (OpenAPI), the page that shows it to people, the way from the root,
//! and the health check.
//!
//! Everything was made when the function was built (`build/`), so it needs no other service and no right, and the health check
//! doesn't fail when another service does.

mod app;
mod content;
mod home;
// The build script's, so that its tests are run.
#[cfg(test)]
#[path = "../build/modules.rs"]
mod modules;

use std::time::Duration;

use linklet_domain::ShortCode;
use linklet_lambda::following::page;
use linklet_lambda::http::{
    ApiError, Handler, HeaderValue, Method, Pages, Problem, Request, Response, StatusCode, content, json,
};
use serde_json::json;

use self::content::{Content, content};
pub use self::{app::largest_file, home::Home};

/// Browsers ask again after five minutes, and get 304 as long as nobody has deployed another version.
const FOR_MINUTES: &str = "public, max-age=300";
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// What the page may load and do. It has the hash of its script, so it was made together with the page.
const POLICY: &str = include_str!(concat!(env!("OUT_DIR"), "/docs.csp"));
/// What the page writes behind RapiDoc's address, as `v`.
const RAPIDOC_VERSION: &str = include_str!(concat!(env!("OUT_DIR"), "/rapidoc.version"));

static DOCUMENT: Content = content!("openapi.json", "application/json");
static PAGE: Content = content!("docs.html", "text/html; charset=utf-8");
static RAPIDOC: Content = content!("rapidoc.js", "text/javascript; charset=utf-8");

/// `GET /`, `GET /app`, `GET /app/{proxy+}`, `GET /api/openapi.json`, `GET /api/docs`, `GET /api/docs/rapidoc.js`,
/// `GET /health`, `GET /.well-known/security.txt`, and whatever has no route of its own.
#[derive(Debug)]
pub struct Web {
    /// Where the root leads.
    pub home: Home,
    /// Answers with pages.
    pub pages: Pages,
    /// The commit that is deployed, if it is known.
    pub commit: Option<String>,
}

impl Handler for Web {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        self.answer(request).or_else(|error| page::about(error, request, self.pages, None))
    }
}

impl Web {
    fn answer(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, [""]) => Ok(self.home.redirect(FOR_MINUTES)),
            (&Method::GET, ["app"]) => Ok(app::page(request, self.pages)),
            (&Method::GET, ["app", ""]) => Ok(Home::beside("app", request.raw_query())?.redirect(FOR_MINUTES)),
            (&Method::GET, ["app", path @ ..]) => app::file(request, path),
            (&Method::GET, ["api", "openapi.json"]) => Ok(DOCUMENT.answer(request, FOR_MINUTES)),
            (&Method::GET, ["api", "docs"]) => Ok(self.page(request)),
            (&Method::GET, ["api", "docs", "rapidoc.js"]) => Ok(rapidoc(request)),
            (&Method::GET, ["health"]) => Ok(self.health()),
            (&Method::GET, [".well-known", "security.txt"]) => self.security_txt(request),
            // API Gateway refuses a route that ends with a slash. A greedy one, as `/r/{proxy+}` is, would take all unknown paths of
            // several segments at the root as well. So this one gets here, as all that has no route.
            (&Method::GET, [code, ""]) => Ok(beside(code, request)?.redirect(FOR_MINUTES)),
            // The password of a link, which the browser sends again.
            (&Method::POST, [code, ""]) => {
                let mut response = beside(code, request)?.redirect("no-store");
                *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
                Ok(response)
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }

    fn health(&self) -> Response {
        let version = env!("CARGO_PKG_VERSION");
        json(StatusCode::OK, &json!({"status": "ok", "service": "linklet", "version": version, "commit": self.commit}))
    }

    /// Whom to tell about abuse and weaknesses (RFC 9116).
    fn security_txt(&self, request: &Request) -> Result<Response, ApiError> {
        const VALID_FOR: Duration = Duration::from_secs(180 * 86_400);
        let contact = self.pages.contact.ok_or(Problem::RouteUnknown)?;
        let text = format!("Contact: mailto:{contact}\nExpires: {}\n", request.received_at.plus(VALID_FOR));
        Ok(content(StatusCode::OK, "text/plain; charset=utf-8", text))
    }

    fn page(&self, request: &Request) -> Response {
        self.pages.protected(PAGE.answer(request, FOR_MINUTES), request, HeaderValue::from_static(POLICY))
    }
}

/// The address of a link without the slash at its end.
fn beside(code: &str, request: &Request) -> Result<Home, ApiError> {
    let code = ShortCode::parse(code).map_err(|_| Problem::RouteUnknown)?;
    Home::beside(code.as_str(), request.raw_query())
}

/// Only an address with the version can't get another content later.
fn rapidoc(request: &Request) -> Response {
    let is_this = request.query("v") == Some(RAPIDOC_VERSION);
    RAPIDOC.answer(request, if is_this { FOR_EVER } else { FOR_MINUTES })
}
