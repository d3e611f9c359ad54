//! The cookie with the refresh token, and which pages may have it sent.

use std::time::Duration;

use linklet_domain::OwnAddress;
use linklet_lambda::config;
use linklet_lambda::http::{HeaderValue, Problem, Request, Response, Result, header};
use url::Url;

/// The name of the cookie.
const NAME: &str = "linklet_refresh";

/// A cookie of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BrowserCookie {
    /// Its name.
    pub name: String,
    /// The path for which it is, below the base, without a slash at its beginning.
    pub path: String,
    /// Which sites' pages may have it sent.
    pub same_site: SameSite,
}

/// Which sites' pages may have a cookie sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameSite {
    /// Pages of the same site.
    Strict,
    /// And links and redirects to the API of others.
    Lax,
}

/// Where people reach the API, which decides where the cookie is sent to, and whose pages may send it.
#[derive(Debug, Clone, Default)]
pub struct ApiAddress(Option<Url>);

impl ApiAddress {
    /// The address in `PUBLIC_BASE_URL`, which is optional: without one, the API is at the root of the host that was called.
    pub fn from_env() -> Self {
        Self::new(config::optional("PUBLIC_BASE_URL").as_deref())
    }

    /// The API at this address, such as `https://go.example.com`.
    pub fn new(base: Option<&str>) -> Self {
        Self(base.and_then(|base| Url::parse(base).ok()))
    }

    /// Refuses what a page of another site may have sent: browsers say which site that is, and no form can send JSON. A page of a
    /// sibling subdomain is another site's, too, though `SameSite` lets it send the cookie.
    ///
    /// # Errors
    /// 415 if the body isn't declared as JSON, 403 if the page is another site's.
    pub(crate) fn require_own_page(&self, request: &Request) -> Result<()> {
        Problem::JsonRequired.unless(request.is_json())?;
        let is_foreign_site = request.header("sec-fetch-site").is_some_and(|site| site != "same-origin");
        let page = request.header(header::ORIGIN);
        Problem::ForeignPage.when(is_foreign_site || page.is_some_and(|page| !self.is_own(request, page)))?;
        Ok(())
    }

    /// Whether an origin is that of the API, as it was called or as it is configured.
    fn is_own(&self, request: &Request, page: &str) -> bool {
        let Ok(page) = Url::parse(page) else { return false };
        let is_safe = page.scheme() == "https" || is_local(&page);
        let called = Url::parse(&format!("{}://{}", page.scheme(), request.host())).ok().filter(|_| is_safe);
        called.iter().chain(&self.0).any(|own| own.origin() == page.origin())
    }

    /// The response with a refresh token in a cookie that no script reads, and that a browser sends to the routes below
    /// `/api/auth` of this API only.
    pub(crate) fn with_cookie(&self, response: Response, request: &Request, token: &str, lasts: Duration) -> Response {
        self.with(response, request, token, lasts.as_secs())
    }

    /// As [`Self::with_cookie`], for a browser that is sent here from elsewhere, and says nothing of a page.
    pub(crate) fn with_cookie_for_visitor(
        &self,
        response: Response,
        request: &Request,
        token: &str,
        lasts: Duration,
    ) -> Response {
        let cookie = BrowserCookie { name: NAME.to_owned(), path: "api/auth".to_owned(), same_site: SameSite::Strict };
        self.with_own(response, request, &cookie, token, lasts.as_secs())
    }

    /// The address below which people reach the API, without a slash at its end.
    pub(crate) fn base(&self, request: &Request) -> String {
        let base = self.0.as_ref().map_or_else(|| request.origin(), Url::to_string);
        base.trim_end_matches('/').to_owned()
    }

    /// The response with another cookie, besides those that it has. No script reads it.
    pub(crate) fn with_own(
        &self,
        mut response: Response,
        request: &Request,
        cookie: &BrowserCookie,
        value: &str,
        seconds: u64,
    ) -> Response {
        let BrowserCookie { name, path, same_site } = cookie;
        let base = Url::parse(&self.base(request)).ok();
        let below = base.as_ref().map_or("", |base| base.path().trim_end_matches('/'));
        let secure = if base.as_ref().is_some_and(is_local) { "" } else { "; Secure" };
        let cookie =
            format!("{name}={value}; Path={below}/{path}; Max-Age={seconds}; HttpOnly; SameSite={same_site:?}{secure}");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }

    /// The response that has a browser forget the cookie.
    pub(crate) fn without_cookie(&self, response: Response, request: &Request) -> Response {
        self.with(response, request, "", 0)
    }

    fn with(&self, mut response: Response, request: &Request, value: &str, seconds: u64) -> Response {
        let called = request.header(header::ORIGIN).map_or_else(|| request.origin(), str::to_owned);
        let base = self.0.as_ref().filter(|base| is_same_server(base, &called));
        let path = base.map_or("", |base| base.path().trim_end_matches('/'));
        let is_local = base.cloned().or_else(|| Url::parse(&called).ok()).is_some_and(|address| is_local(&address));
        let secure = if is_local { "" } else { "; Secure" };
        let cookie =
            format!("{NAME}={value}; Path={path}/api/auth; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }
}

/// Whether the API at this base was called there, so that its path is that of the base: only emulators have something before `/api`.
fn is_same_server(base: &Url, called: &str) -> bool {
    OwnAddress::parse(called)
        .zip(OwnAddress::parse(base.as_str()))
        .is_some_and(|(one, other)| one.is_same_server(&other))
}

/// The refresh token that a request has in its cookie.
pub(crate) fn refresh_token_of(request: &Request) -> Option<&str> {
    request.cookie(NAME)
}

/// Whether an address is on this machine and without TLS, where browsers may keep no `Secure` cookie.
fn is_local(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && is_loopback
}

#[cfg(test)]
mod tests {
    use linklet_lambda::http::{GatewayEvent, no_content};

    use super::*;

    fn called(scheme: &str, host: &str, headers: &[(&'static str, &str)]) -> Request {
        let mut event = GatewayEvent::default();
        for (name, value) in [("host", host), ("x-forwarded-proto", scheme), ("content-type", "application/json")] {
            // Some emulators don't say how they were called.
            if !value.is_empty() {
                event.headers.insert(name, value.parse().unwrap());
            }
        }
        for (name, value) in headers {
            event.headers.insert(*name, value.parse().unwrap());
        }
        event.into()
    }

    fn cookie(address: &ApiAddress, request: &Request) -> String {
        let response =
            address.with_cookie(no_content(), request, "a.b.c", linklet_domain::lifetimes::RENEWABLE_SESSIONS);
        response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned()
    }

    #[test]
    fn the_cookie_is_only_for_routes_that_read_it_and_no_script() {
        let request = called("https", "go.example.com", &[]);

        let expected = "linklet_refresh=a.b.c; Path=/api/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure";
        assert_eq!(cookie(&ApiAddress::new(Some("https://go.example.com")), &request), expected);
    }

    #[test]
    fn cookies_of_local_emulators_have_their_path_and_work_over_plain_http() {
        let address = ApiAddress::new(Some("http://127.0.0.1:4566/_aws/execute-api/c0ffee00/"));

        for host in ["127.0.0.1:4566", "localhost:4566"] {
            for (scheme, headers) in [
                ("http", vec![]),
                ("", vec![]),
                ("", vec![("origin", "http://localhost:4566")]),
                ("", vec![("origin", "http://127.0.0.1:4566")]),
            ] {
                let cookie = cookie(&address, &called(scheme, host, &headers));
                assert!(cookie.contains("; Path=/_aws/execute-api/c0ffee00/api/auth;"), "{cookie}");
                assert!(!cookie.contains("Secure"), "{cookie}");
            }
        }
        let own = called("", "localhost:4566", &[("origin", "http://localhost:4566")]);
        assert!(address.require_own_page(&own).is_ok());
        let foreign = called("", "localhost:4566", &[("origin", "http://localhost:8080")]);
        assert!(address.require_own_page(&foreign).is_err());
        let elsewhere = cookie(&address, &called("http", "c0ffee00.execute-api.localhost:4566", &[]));
        assert!(elsewhere.contains("; Path=/api/auth;") && !elsewhere.contains("Secure"), "{elsewhere}");
        for plain in ["go.example.com", "192.0.2.1", "localhost.example.com"] {
            assert!(cookie(&address, &called("http", plain, &[])).ends_with("; Secure"), "{plain}");
        }
    }

    #[test]
    fn behind_an_edge_the_address_of_the_page_counts() {
        let address = ApiAddress::new(Some("https://example.com/go"));
        let request = called("https", "abc.execute-api.amazonaws.com", &[("origin", "https://example.com")]);

        assert!(address.require_own_page(&request).is_ok());
        assert!(cookie(&address, &request).contains("; Path=/go/api/auth;"));
    }

    #[test]
    fn only_the_apis_own_pages_and_programs_are_let_in() {
        let address = ApiAddress::new(Some("https://go.example.com"));
        let judged = |headers: &[(&'static str, &str)]| {
            let request = called("https", "api.example.com", headers);
            address.require_own_page(&request).map_err(|error| error.problem())
        };

        for own in [
            &[][..],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", "https://api.example.com")],
            &[("origin", "https://go.example.com"), ("sec-fetch-site", "same-origin")],
        ] {
            assert_eq!(judged(own), Ok(()), "{own:?}");
        }
        for foreign in [
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "none"),
            ("origin", "https://blog.example.com"),
            ("origin", "http://api.example.com"),
            ("origin", "https://api.example.com:8443"),
            ("origin", "null"),
        ] {
            assert_eq!(judged(&[foreign]), Err(Problem::ForeignPage), "{foreign:?}");
        }
        for body in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
            assert_eq!(judged(&[("content-type", body)]), Err(Problem::JsonRequired), "{body}");
        }
        assert_eq!(judged(&[("content-type", "Application/JSON; charset=utf-8")]), Ok(()));
    }
}
