//! Requests as text, so that a sample can be read and mutated: `GET /path?query`, header lines, an empty line, the body.

use linklet_lambda::http::GatewayEvent;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::text;

/// The address that API Gateway saw.
pub const SOURCE_IP: &str = "203.0.113.9";

/// The event that API Gateway makes of a request: names are lower-case, repeated headers joined by commas, and the path is
/// decoded. `None` for what doesn't get through it, such as a method that is none.
pub fn event(input: &[u8]) -> Option<GatewayEvent> {
    let text = text(input);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let (method, target) = lines.next()?.split_once(' ')?;
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = percent_decode_str(path).decode_utf8_lossy();
    let mut headers = Map::new();
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        match headers.entry(name.to_ascii_lowercase()).or_insert_with(|| json!("")) {
            Value::String(known) if known.is_empty() => value.trim().clone_into(known),
            Value::String(known) => *known = format!("{known},{}", value.trim()),
            _ => {}
        }
    }
    let event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query, "headers": headers,
        "requestContext": {"http": {"method": method, "path": path, "sourceIp": SOURCE_IP}, "stage": "$default"},
        "body": body, "isBase64Encoded": false,
    });
    serde_json::from_value(event).ok()
}
