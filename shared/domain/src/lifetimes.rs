//! How long data is kept that DynamoDB deletes by TTL.
//!
//! The table in `docs/parameters.md` is made of these constants and the first sentences about them. A changed lifetime applies to items
//! that are stored from then on: an item keeps the time in its attribute `ttl`.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How long a raw click is kept: thirteen months, so that a month can be compared with the same month a year before. Answers
/// with days, and recounts, reach back as far.
pub const RAW_CLICKS: Duration = Duration::from_secs(396 * DAY);

/// How long the ids of counted clicks are kept: longer than a message can live. A message can spend 4 days in its queue and 14
/// in the dead-letter queue, and as long again after a redrive.
pub const COUNTED_IDS: Duration = Duration::from_secs(40 * DAY);

/// How long the tombstone of a watcher is kept, so that a late message about the link's creation doesn't bring the watcher back:
/// longer than a message can live, as for [`COUNTED_IDS`].
pub const ENDED_WATCHES: Duration = Duration::from_secs(40 * DAY);

/// How long the overview of a workspace is kept after it was made. Somebody who asks later gets a new one in any case.
pub const OVERVIEWS: Duration = Duration::from_secs(30 * DAY);

/// How long the answer to a question about a workspace is kept after it was made: for as long as somebody looks at it, since a
/// workspace keeps few.
pub const QUESTIONS: Duration = Duration::from_secs(HOUR);

/// How long an answer to whoever has a share is kept. They see numbers that are as old at most.
pub const SHARED_ANSWERS: Duration = Duration::from_secs(5 * MINUTE);

/// How long an entry of the audit log is kept: thirteen months, so that what is looked at once a year can still be explained.
pub const AUDIT: Duration = Duration::from_secs(396 * DAY);

/// How long a notification is kept.
pub const NOTIFICATIONS: Duration = Duration::from_secs(90 * DAY);

/// How long the result of a check is kept.
pub const CHECK_RESULTS: Duration = Duration::from_secs(30 * DAY);

/// How long what a tick left to the next one is kept.
pub const PARTITION_NOTES: Duration = Duration::from_secs(24 * HOUR);

/// How long the code of a purged link stays reserved. Old copies of the link are unlikely to be followed after that.
pub const PURGED_LINKS: Duration = Duration::from_secs(400 * DAY);

/// How long an API key stays in the list after its expiry.
pub const EXPIRED_API_KEYS: Duration = Duration::from_secs(30 * DAY);

/// How long the response to an idempotency key is kept: longer than clients retry.
pub const IDEMPOTENCY_KEYS: Duration = Duration::from_secs(24 * HOUR);

/// How long the token of a login is valid, and so a session that can't be renewed.
pub const SESSIONS: Duration = Duration::from_secs(24 * HOUR);

/// How long the token of a session that can be renewed is valid.
pub const RENEWABLE_TOKENS: Duration = Duration::from_secs(HOUR);

/// How long a session can be renewed after it was renewed last.
pub const RENEWABLE_SESSIONS: Duration = Duration::from_secs(30 * DAY);

/// How long an invitation can be accepted.
pub const INVITATIONS: Duration = Duration::from_secs(7 * DAY);

/// How long a token for a new password works.
pub const PASSWORD_RESETS: Duration = Duration::from_secs(30 * MINUTE);

/// How long a mailed token that verifies an address works.
pub const ADDRESS_VERIFICATIONS: Duration = Duration::from_secs(24 * HOUR);

/// How long it is remembered that somebody has signed in to an account from an address, both hashed.
pub const FAMILIAR_ADDRESSES: Duration = Duration::from_secs(90 * DAY);

/// How long a closed workspace can be brought back before it is purged.
pub const CLOSED_WORKSPACES: Duration = Duration::from_secs(7 * DAY);

/// How long a job is kept after its end.
pub const ENDED_JOBS: Duration = Duration::from_secs(30 * DAY);

/// How long the count of a rate-limit window is kept after the window's end, to allow for clock differences.
pub const COUNTED_CALLS: Duration = Duration::from_secs(MINUTE);

/// The whole days of a lifetime.
pub const fn in_days(lifetime: Duration) -> u64 {
    lifetime.as_secs() / DAY
}
