//! Linkwatch: monitored URLs, the schedule of their checks, and the results.

mod canonical_url;
mod check;
mod page_token;
mod plan;
mod reach;
mod target;
mod ticks;
mod watcher;

pub use self::canonical_url::{CanonicalUrl, Host};
pub use self::check::{CheckError, CheckOutcome, CheckResult, TargetHealth, TargetMark};
pub use self::page_token::PageToken;
pub use self::plan::PlannedTick;
pub use self::reach::Reach;
pub use self::target::{Target, TargetId, TargetStatus};
pub use self::ticks::{CheckInterval, CheckPartition, Concurrency, HostShard};
pub use self::watcher::{Watcher, WatcherState};
