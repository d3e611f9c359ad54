use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use lambda_http::http::{HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

use super::{Request, Response, response::content};
use crate::config;

/// Browsers use only https with this host for a year. Subdomains may be somebody else's, so they are left out.
const HTTPS_FOR_A_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Answers with HTML pages, which get here the headers that tell a browser what a page may do. `nosniff` is not among them,
/// since every answer has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pages {
    /// Whether browsers are told to use https only.
    https_only: bool,
    /// The mail address for reports of abuse.
    pub contact: Option<&'static str>,
}

impl Pages {
    /// The pages of the service whose base is in `PUBLIC_BASE_URL`, and the address for reports of abuse in `ABUSE_CONTACT`. Both
    /// variables are optional.
    pub fn from_env() -> Self {
        // It is there as long as the environment, so that pages are copied like a flag.
        let contact = config::optional("ABUSE_CONTACT").map(|contact| &*contact.leak());
        Self { contact, ..Self::of(config::optional("PUBLIC_BASE_URL").as_deref()) }
    }

    /// The pages of a service with this base, such as `https://go.example.com`. Only who has a domain of their own decides
    /// whether it speaks https only.
    pub fn of(public_base: Option<&str>) -> Self {
        Self { https_only: public_base.is_some_and(|base| base.starts_with("https://")), contact: None }
    }

    /// A page that was made for this request.
    pub fn html(self, request: &Request, status: StatusCode, page: String, policy: HeaderValue) -> Response {
        self.protected(content(status, "text/html; charset=utf-8", page), request, policy)
    }

    /// A response that is a page, or says that the client has it already, with the headers of every page. `policy` is its
    /// `Content-Security-Policy`.
    pub fn protected(self, mut response: Response, request: &Request, policy: HeaderValue) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        if self.https_only && request.is_https() {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_FOR_A_YEAR);
        }
        response
    }
}

/// The `Content-Security-Policy` of a page that has this text as its only style element and needs nothing else.
pub fn policy_of_style(style: &str) -> HeaderValue {
    policy(&[style], "'none'", "")
}

/// The policy of a page that has these texts as its style elements, and pictures of ours.
pub fn policy_of_styles(styles: &[&str], has_form: bool) -> HeaderValue {
    policy(styles, if has_form { ANYWHERE } else { "'none'" }, " img-src 'self';")
}

/// Where the answer to a form may lead.
const ANYWHERE: &str = "'self' http: https:";

/// The same of a page with a form, whose answer is a redirect to anywhere. Chromium holds `form-action` against that, too.
pub fn policy_of_form(style: &str) -> HeaderValue {
    policy(&[style], ANYWHERE, "")
}

fn policy(styles: &[&str], form_action: &str, images: &str) -> HeaderValue {
    let hashes: Vec<_> =
        styles.iter().map(|style| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style)))).collect();
    let hashes = hashes.join(" ");
    let policy = format!(
        "default-src 'none'; style-src {hashes};{images} frame-ancestors 'none'; base-uri 'none'; form-action {form_action}"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// A text of people's as HTML, also in an attribute.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let replaced = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&#39;")];
    Cow::Owned(replaced.iter().fold(text.to_owned(), |text, (character, entity)| text.replace(character, entity)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::GatewayEvent;

    /// What a page tells a browser about https, with this base and this `X-Forwarded-Proto`.
    fn https_only(public_base: Option<&str>, scheme: Option<&str>) -> Option<HeaderValue> {
        let mut event = GatewayEvent::default();
        if let Some(scheme) = scheme {
            event.headers.insert("x-forwarded-proto", scheme.parse().unwrap());
        }
        let policy = HeaderValue::from_static("default-src 'none'");
        let page = Pages::of(public_base).html(&event.into(), StatusCode::OK, String::new(), policy);
        page.headers().get(header::STRICT_TRANSPORT_SECURITY).cloned()
    }

    #[test]
    fn a_page_under_an_own_domain_reached_by_https_demands_https() {
        assert_eq!(https_only(Some("https://go.example.com"), Some("https")), Some(HTTPS_FOR_A_YEAR));

        for (base, scheme) in [
            (None, Some("https")),
            (Some("http://127.0.0.1:4566/_aws/execute-api/c0ffee00"), Some("https")),
            (Some("https://go.example.com"), Some("http")),
            (Some("https://go.example.com"), None),
        ] {
            assert_eq!(https_only(base, scheme), None, "{base:?} {scheme:?}");
        }
    }
}
