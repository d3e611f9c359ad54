use linklet_lambda::http::{
    self, HeaderValue, Request, Response, StatusCode, VARIES, accepts_gzip, header, matches, not_modified,
};

/// What a route always answers, as it is and compressed.
#[derive(Debug)]
pub struct Content {
    pub content_type: &'static str,
    pub plain: &'static str,
    pub plain_tag: &'static str,
    pub gzip: &'static [u8],
    pub gzip_tag: &'static str,
}

/// A [`Content`] that the build script has published under this name.
macro_rules! content {
    ($name:literal, $content_type:literal) => {
        $crate::content::Content {
            content_type: $content_type,
            plain: include_str!(concat!(env!("OUT_DIR"), "/", $name)),
            plain_tag: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".etag")),
            gzip: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz")),
            gzip_tag: include_str!(concat!(env!("OUT_DIR"), "/", $name, ".gz.etag")),
        }
    };
}
pub(crate) use content;

impl Content {
    /// The form that the client accepts, or 304 if it has that form already.
    pub fn answer(&self, request: &Request, cache_control: &'static str) -> Response {
        let is_compressed = accepts_gzip(request.header(header::ACCEPT_ENCODING));
        let tag = if is_compressed { self.gzip_tag } else { self.plain_tag };
        let mut response = if matches(request.header(header::IF_NONE_MATCH), tag) {
            not_modified()
        } else {
            self.whole(is_compressed)
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, HeaderValue::from_static(tag));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache_control));
        headers.insert(header::VARY, VARIES);
        response
    }

    fn whole(&self, is_compressed: bool) -> Response {
        if !is_compressed {
            return http::content(StatusCode::OK, self.content_type, self.plain);
        }
        let mut response = http::content(StatusCode::OK, self.content_type, self.gzip);
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    }
}
