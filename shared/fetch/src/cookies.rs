//! Cookies within one attempt. Some servers redirect without end to a client that doesn't send theirs back.

use cookie_store::{CookieStore, RawCookie};
use http::{HeaderMap, HeaderValue, header::SET_COOKIE};
use url::Url;

/// Maximum number of cookies that are kept, as browsers keep of a site.
const MOST: usize = 50;

/// Maximum length of a `Set-Cookie` header in bytes, as browsers have it for a cookie. Longer ones are ignored.
const MAX_LENGTH: usize = 4_096;

/// The cookies that servers have set.
#[derive(Default)]
pub(crate) struct Cookies(CookieStore);

impl Cookies {
    /// Keeps what the answer to a request for this URL sets.
    pub(crate) fn keep(&mut self, url: &Url, headers: &HeaderMap) {
        for header in headers.get_all(SET_COOKIE) {
            if let Some(cookie) = host_only(header)
                && (self.0.iter_any().count() < MOST || self.has(&cookie, url))
            {
                // One that the rules don't allow, such as a secure one of http, is ignored, as browsers do.
                self.0.insert_raw(&cookie, url).ok();
            }
        }
    }

    fn has(&self, cookie: &RawCookie<'_>, url: &Url) -> bool {
        self.0.get_request_values(url).any(|(name, _)| name == cookie.name())
    }

    /// The value of the header `Cookie` of a request for this URL.
    pub(crate) fn header_for(&self, url: &Url) -> Option<HeaderValue> {
        let pairs: Vec<_> = self.0.get_request_values(url).map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| HeaderValue::from_str(&pairs.join("; ")).ok()).flatten()
    }
}

/// The cookie of a header, for its host only: without a list of public suffixes, `Domain=co.uk` would reach other people's hosts.
fn host_only(header: &HeaderValue) -> Option<RawCookie<'static>> {
    let text = header.to_str().ok().filter(|text| text.len() <= MAX_LENGTH)?;
    let mut cookie = RawCookie::parse(text.to_owned()).ok()?;
    cookie.unset_domain();
    Some(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_cookie_changes_also_when_there_is_room_for_no_other() {
        let (url, mut cookies) = (Url::parse("https://example.com/").unwrap(), Cookies::default());
        let mut set = |name: &str, value: &str| {
            let header = HeaderValue::from_str(&format!("{name}={value}")).unwrap();
            cookies.keep(&url, &HeaderMap::from_iter([(SET_COOKIE, header)]));
        };

        (0..MOST).for_each(|number| set(&format!("c{number}"), "old"));
        set("c0", "new");
        set("other", "new");

        let header = cookies.header_for(&url).unwrap();
        let mut kept: Vec<_> = header.to_str().unwrap().split("; ").filter(|pair| pair.ends_with("=new")).collect();
        kept.sort_unstable();
        assert_eq!((kept, header.to_str().unwrap().split("; ").count()), (vec!["c0=new"], MOST));
    }
}
