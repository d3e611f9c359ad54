//! Linkwatch: monitored URLs, the schedule of their checks, and the results.

mod canonical_url;
mod check;
mod page_token;
mod plan;
mod reach;
mod rounds;
mod target;
mod watcher;

pub use self::{
    canonical_url::{CanonicalUrl, Host},
    check::{CheckError, CheckOutcome, CheckResult, TargetHealth, TargetMark},
    page_token::PageToken,
    plan::PlannedRound,
    reach::Reach,
    rounds::{CheckInterval, CheckPartition, Concurrency, HostShard},
    target::{Target, TargetId, TargetStatus},
    watcher::{Watcher, WatcherState},
};
