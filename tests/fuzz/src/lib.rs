//! What must hold for any input at all.
//!
//! A target is a function that takes any bytes and panics if a property is broken. `tests/fuzz.rs` runs each for a bounded
//! number of inputs, and `make fuzz` for as long as you like, guided by coverage. A new parser of something from outside
//! belongs into [`TARGETS`], with a folder of samples in `corpus/`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a target that meets an unexpected error has found something"
)]

mod bodies;
mod codes;
mod credentials;
mod cursors;
mod edges;
mod events;
mod imports;
mod log;
mod raw_http;
mod requests;
mod urls;
mod user_agents;

use std::borrow::Cow;

pub use events::is_readable;

/// Something that is fed with inputs.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// How `make fuzz TARGET=…` and the folder of its corpus name it.
    pub name: &'static str,
    /// Panics if a property is broken.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: [Target; 12] = [
    Target { name: "bodies", run: bodies::json_bodies },
    Target { name: "codes", run: codes::codes_and_ids },
    Target { name: "cursors", run: cursors::cursors },
    Target { name: "edges", run: edges::edge_headers },
    Target { name: "imports", run: imports::exports },
    Target { name: "keys", run: credentials::api_keys },
    Target { name: "messages", run: events::queue_messages },
    Target { name: "records", run: events::stream_records },
    Target { name: "requests", run: requests::requests },
    Target { name: "tokens", run: credentials::bearer_tokens },
    Target { name: "urls", run: urls::target_urls },
    Target { name: "user_agents", run: user_agents::user_agents },
];

/// The target with this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.into_iter().find(|target| target.name == name)
}

fn text(input: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(input)
}
