use linklet_domain::{Invalid, TargetUrl, encode_tail};
use linklet_lambda::http::{ApiError, HeaderValue, Response, Result, StatusCode, header};

/// Where the root of the API leads.
#[derive(Debug, Clone)]
pub struct Home(HeaderValue);

impl Home {
    /// The web application. Its address is relative, since locally the root has a path, such as
    /// `/_aws/execute-api/c0ffee00/`; it always ends in a slash, or the request would not come here.
    pub fn app() -> Self {
        Self(HeaderValue::from_static("app"))
    }

    /// The same address without the slash at its end, for the web application or a short link. There, a page's own relative addresses
    /// would lead nowhere.
    pub(crate) fn beside(last: &str, query: &str) -> Result<Self> {
        let mark = if query.is_empty() { "" } else { "?" };
        let address = format!("../{}", encode_tail(&format!("{last}{mark}{query}")));
        HeaderValue::from_str(&address).map(Self).map_err(ApiError::internal)
    }

    /// An http or https URL, or a path of this host other than the root, which would lead to itself.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("it must be an http or https URL, or a path such as /about");
        if is_path(text) {
            return HeaderValue::from_str(&encode_tail(text)).map(Self).map_err(|_| invalid());
        }
        let url = TargetUrl::parse(text).map_err(|_| invalid())?;
        HeaderValue::from_str(&url.location()).map(Self).map_err(|_| invalid())
    }

    pub(crate) fn redirect(&self, cache_control: &'static str) -> Response {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::FOUND;
        response.headers_mut().insert(header::LOCATION, self.0.clone());
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
        response
    }
}

/// Browsers read a second slash, or a backslash, as the beginning of a host.
fn is_path(text: &str) -> bool {
    let is_visible = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let begins = text.strip_prefix('/').is_some_and(|rest| rest.starts_with(|first: char| !"/?#".contains(first)));
    begins && text.bytes().all(is_visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_a_url_or_a_path() {
        for home in ["https://example.com", "http://example.com/a?b=c#d", "/about", "/app/?a=b", "/api/docs"] {
            assert_eq!(Home::parse(home).unwrap().0, home);
        }
    }

    #[test]
    fn nothing_else_is_a_home() {
        for text in [
            "",
            "/",
            "//evil.example",
            "/\\evil.example",
            "/?a",
            "/#a",
            "/a b",
            "/a\nb",
            "/ä",
            "about",
            "ftp://example.com",
            "javascript:alert(1)",
            "https://",
            "example.com",
        ] {
            let error = Home::parse(text).unwrap_err();
            assert_eq!(error.to_string(), "it must be an http or https URL, or a path such as /about", "{text}");
        }
    }
}
