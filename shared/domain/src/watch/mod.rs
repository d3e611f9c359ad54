//! Linkwatch: monitored URLs, the schedule of their checks, and the results.

mod canonical_url;
mod check;
mod page_token;
mod plan;
mod reach;
mod target;
mod ticks;
mod watcher;

pub use self::{
    canonical_url::{CanonicalUrl, Host},
    check::{CheckError, CheckOutcome, CheckResult, TargetHealth, TargetMark},
    page_token::PageToken,
    plan::PlannedTick,
    reach::Reach,
    target::{Target, TargetId, TargetStatus},
    ticks::{CheckInterval, CheckPartition, Concurrency, HostShard},
    watcher::{Watcher, WatcherState},
};
