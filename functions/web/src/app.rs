use linklet_lambda::http::{ApiError, HeaderValue, Pages, Problem, Request, Response};

use crate::{
    FOR_EVER, FOR_MINUTES,
    content::{Content, content},
    home,
};

/// Browsers ask each time, and get 304 as long as nobody has deployed another version.
const ASK_AGAIN: &str = "no-cache";

/// What the page may load and do: only what comes from here. Pictures may also be part of a file (`data:`), or be made in the
/// browser (`blob:`), as QR codes to keep are.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; frame-ancestors 'none'; \
     base-uri 'none'; form-action 'none'";

/// The name of the folder in which the files are: their hash.
const VERSION: &str = include_str!(concat!(env!("OUT_DIR"), "/app.version"));

static PAGE: Content = content!("app.html", "text/html; charset=utf-8");
static FILES: &[(&str, Content)] = include!(concat!(env!("OUT_DIR"), "/app.rs"));

pub fn page(request: &Request, pages: Pages) -> Response {
    pages.protected(PAGE.answer(request, ASK_AGAIN), request, HeaderValue::from_static(POLICY))
}

/// The page has no slash at its end: its addresses are relative to what is before `app`, which the local system puts there.
pub fn without_slash() -> Response {
    home::redirect(HeaderValue::from_static("../app"), FOR_MINUTES)
}

/// A file of this version. Another version's is gone: a page that asks for one loads itself again.
pub fn file(request: &Request, version: &str, name: &str) -> Result<Response, ApiError> {
    let found = FILES.iter().find(|(known, _)| version == VERSION && *known == name);
    let (_, content) = found.ok_or(Problem::RouteUnknown)?;
    Ok(content.answer(request, FOR_EVER))
}
