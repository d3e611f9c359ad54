use linklet_lambda::http::{
    self, HeaderValue, Request, Response, StatusCode, VARIES, accepts_gzip, header, matches, not_modified,
    prefers_brotli,
};

/// What a route always answers, as it is and compressed in two ways.
#[derive(Debug)]
pub struct Content {
    pub content_type: &'static str,
    pub plain: Form,
    pub gzip: Form,
    pub brotli: Form,
}

/// The bytes of one form, and the strong tag that stands for them.
#[derive(Debug)]
pub struct Form {
    pub coding: Option<&'static str>,
    pub bytes: &'static [u8],
    pub tag: &'static str,
}

/// A [`Content`] that the build script has published under this name.
macro_rules! content {
    ($name:literal, $content_type:literal) => {
        $crate::content::Content {
            content_type: $content_type,
            plain: $crate::content::content!(@form None, $name, ""),
            gzip: $crate::content::content!(@form Some("gzip"), $name, ".gz"),
            brotli: $crate::content::content!(@form Some("br"), $name, ".br"),
        }
    };
    (@form $coding:expr, $name:literal, $ending:literal) => {
        $crate::content::Form {
            coding: $coding,
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, $ending)),
            tag: include_str!(concat!(env!("OUT_DIR"), "/", $name, $ending, ".etag")),
        }
    };
}
pub(crate) use content;

impl Content {
    /// The smallest form that the client accepts, or 304 if it has that form already.
    pub fn answer(&self, request: &Request, cache_control: &'static str) -> Response {
        let form = self.form(request.header(header::ACCEPT_ENCODING));
        let mut response =
            if matches(request.header(header::IF_NONE_MATCH), form.tag) { not_modified() } else { self.whole(form) };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_static(form.tag));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
        headers.insert(header::VARY, VARIES);
        response
    }

    fn form(&self, accepted: Option<&str>) -> &Form {
        if prefers_brotli(accepted) {
            &self.brotli
        } else if accepts_gzip(accepted) {
            &self.gzip
        } else {
            &self.plain
        }
    }

    fn whole(&self, form: &Form) -> Response {
        let Some(coding) = form.coding else {
            // As text, so that it isn't sent in Base64.
            return http::content(StatusCode::OK, self.content_type, String::from_utf8_lossy(form.bytes).into_owned());
        };
        let mut response = http::content(StatusCode::OK, self.content_type, form.bytes);
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        response
    }
}
