use linklet_lambda::http::{HeaderValue, Pages, Problem, Request, Response, Result};

use crate::FOR_EVER;
use crate::content::{Content, content};

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

/// How many bytes the largest file has without compression. The limit of the stage on files follows from it.
pub fn largest_file() -> usize {
    FILES.iter().map(|(_, content)| content.plain.bytes.len()).max().unwrap_or_default()
}

/// It has no slash at the end of its address: what it asks for is relative to what is before `app`, which the local system puts
/// there.
pub fn page(request: &Request, pages: Pages) -> Response {
    pages.protected(PAGE.answer(request, ASK_AGAIN), request, HeaderValue::from_static(POLICY))
}

/// A file of this version: its folder and its name. Another version's is gone, and a page that asks for one loads itself again.
pub fn file(request: &Request, path: &[&str]) -> Result<Response> {
    let found = FILES.iter().find(|(name, _)| path == [VERSION, name]);
    let (_, content) = found.ok_or(Problem::NotFound)?;
    Ok(content.answer(request, FOR_EVER))
}
