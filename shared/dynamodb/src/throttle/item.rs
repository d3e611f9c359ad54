//! Keys and attributes of ThrottleTable.

use linklet_domain::{LimitedRoute, ThrottleSubject, Timestamp, Window, lifetimes};
use serde::Deserialize;

use crate::item::Key;

/// `IP#<hash>` or `KEY#<hash>` / `<route>`: the window of a subject on a route.
pub(super) fn window_key(route: LimitedRoute, subject: &ThrottleSubject) -> Key {
    let partition = match subject {
        ThrottleSubject::Address(_, hash) => format!("IP#{hash}"),
        ThrottleSubject::ApiKey(hash) => format!("KEY#{hash}"),
    };
    Key::new(partition, route.as_str())
}

pub(super) fn ttl(window_ends: Timestamp) -> i64 {
    window_ends.plus(lifetimes::COUNTED_CALLS).unix_seconds()
}

/// The attributes of a window's item besides its key.
#[derive(Debug, Deserialize)]
pub(super) struct WindowItem {
    hits: u32,
    window_ends: Timestamp,
}

impl From<WindowItem> for Window {
    fn from(item: WindowItem) -> Self {
        Self { ends_at: item.window_ends, hits: item.hits }
    }
}
