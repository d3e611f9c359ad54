//! Following links: what the functions have in common that lead visitors to where links lead.

pub mod page;

mod brand;
mod pace;
mod recorder;
mod spreading;
mod used_up;
mod visit;

use linklet_domain::TargetUrl;
use linklet_dynamodb::{Exhaustion, LinksTable};

pub use self::brand::{Brand, Brands};
pub use self::pace::Pace;
pub use self::recorder::{ClickRecording, Recorder};
pub use self::spreading::{Advice, Spreading};
pub use self::used_up::{Use, UsedUp};
pub use self::visit::{Lead, Visit, platforms_of};
use crate::http::{ApiError, HeaderValue, Response, Result, StatusCode, empty, header};
use crate::telemetry::chain;

/// An answer that leads somewhere once, and is never kept.
///
/// # Errors
/// When the location can't be in a header.
pub fn led_to(location: &str, status: StatusCode) -> Result<Response> {
    let location = HeaderValue::from_str(location).map_err(ApiError::internal)?;
    let mut response = empty(status);
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(page::noindex(response))
}

/// The answer to somebody whom a link leads to its fallback.
///
/// # Errors
/// When the location can't be in a header.
pub fn diverted(fallback: &TargetUrl) -> Result<Response> {
    led_to(&fallback.location(), StatusCode::FOUND)
}

/// Notes that a link is used up. If that fails, the next visitor is refused and tries it again.
pub async fn note_end(links: &LinksTable, end: &Exhaustion) {
    if let Err(error) = links.note_exhaustion(end).await {
        let short_code = end.link.code.as_str();
        tracing::warn!(short_code, error = chain(&error), "it was not noted that a link is used up");
    }
}
