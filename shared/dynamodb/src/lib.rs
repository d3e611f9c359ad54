//! Linklet's DynamoDB tables.
//!
//! One module per table: `item.rs` derives keys and attributes from the domain's types, `mod.rs` holds the queries.
//! Nothing outside this crate knows an attribute's name. [`stream`] reads the same items out of stream records.

mod backoff;
mod clicks;
mod cursor;
mod error;
mod item;
mod links;
mod notifications;
mod stats;
pub mod stream;
mod throttle;
mod transaction;
mod users;
mod watch;

pub use backoff::back_off;
pub use clicks::{ClicksTable, Purged};
pub use cursor::{Cursor, Page};
pub use error::RepositoryError;
pub use links::{BuryOutcome, CleanupStats, CreateOutcome, Creation, DeleteOutcome, FirstAnswer, LinksTable, Reusable};
pub use notifications::{Claim, Delivery, NotificationsTable};
pub use stats::{CommitOutcome, Correction, Counting, Life, Milestone, Room, Snapshot, StatsTable};
pub use throttle::{CountOutcome, ThrottleTable};
pub use users::{
    ApiKeysTable, CreateKeyOutcome, MemberOutcome, RegisterOutcome, Registration, RevokeOutcome, UsersTable,
    WorkspaceOutcome,
};
pub use watch::{
    DeleteTargetOutcome, DuePage, DueTarget, Health, ListedTarget, Registered, RoundOutcome, RoundRecord, Stretch,
    TargetPage, UnreadableTarget, WatchTable,
};
