//! Keys and attributes of ThrottleTable.

use std::time::Duration;

use linklet_domain::{LimitedRoute, ThrottleSubject, Timestamp, Window};
use serde::Deserialize;

use crate::item::Key;

/// How long an item is kept after the end of its window, to allow for clock differences. The TTL only cleans up: whether a
/// window is over is decided by `window_ends`.
const KEPT_AFTER_END: Duration = Duration::from_secs(60);

/// `IP#<hash>` or `KEY#<hash>` / `<route>`: the window of a subject on a route.
pub(super) fn window_key(route: LimitedRoute, subject: &ThrottleSubject) -> Key {
    let partition = match subject {
        ThrottleSubject::Address(hash) => format!("IP#{hash}"),
        ThrottleSubject::ApiKey(hash) => format!("KEY#{hash}"),
    };
    Key::new(partition, route.as_str())
}

pub(super) fn ttl(window_ends: Timestamp) -> i64 {
    window_ends.plus(KEPT_AFTER_END).unix_seconds()
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
