//! For how long everything is kept that DynamoDB deletes by itself.
//!
//! The same numbers are in one table for people, `docs/deploying.md`, which a test compares with these; other documents and
//! tests have none of their own. A new lifetime holds for what is stored from then on: a row keeps the one that was written
//! into its attribute `ttl`.

use std::time::Duration;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Raw clicks, from the click on: thirteen months, so that a full year can be compared with the one before. Answers with days
/// and recounting reach back as far.
pub const RAW_CLICKS: Duration = Duration::from_secs(396 * DAY);

/// The ids of counted clicks, from the latest one in their row on: longer than a message can live. It has 4 days in the queue
/// and up to 14 in the dead-letter queue, both counted from the day it was sent, and the same once more when it is sent back
/// from there.
pub const COUNTED_IDS: Duration = Duration::from_secs(40 * DAY);

/// That a link has stopped watching a URL: longer than the news of the link's creation can be on its way, for the same reason
/// as the [ids of counted clicks](COUNTED_IDS).
pub const ENDED_WATCHES: Duration = Duration::from_secs(40 * DAY);

/// Notifications, from their creation on: long enough to look back, short enough to cost nothing.
pub const NOTIFICATIONS: Duration = Duration::from_secs(90 * DAY);

/// Results of checks: a month to look back.
pub const CHECK_RESULTS: Duration = Duration::from_secs(30 * DAY);

/// An expired link, from its expiry on: clocks that differ can't make it vanish early.
pub const EXPIRED_LINKS: Duration = Duration::from_secs(HOUR);

/// The tombstone of a purged link, which reserves its code: longer than anything that still leads to it is likely to be looked
/// at.
pub const PURGED_LINKS: Duration = Duration::from_secs(400 * DAY);

/// An expired API key, from its expiry on: so that its owner still finds it in the list.
pub const EXPIRED_API_KEYS: Duration = Duration::from_secs(30 * DAY);

/// What was answered to an idempotency key: longer than a client goes on trying.
pub const IDEMPOTENCY_KEYS: Duration = Duration::from_secs(24 * HOUR);

/// A client's calls, from the end of their window on: conditions compare that end, so this is for DynamoDB's housekeeping
/// only, and a minute lets clocks differ.
pub const COUNTED_CALLS: Duration = Duration::from_secs(60);

/// How many whole days a lifetime has.
#[must_use]
pub const fn in_days(lifetime: Duration) -> u64 {
    lifetime.as_secs() / DAY
}
