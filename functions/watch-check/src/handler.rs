//! Checks monitored URLs.
//!
//! Users choose the URLs that Linklet requests, so [`linklet_fetch`] makes each attempt; `check` adds the retries.
//!
//! `ticks` consumes the queue: it takes the partition, reads what is `due`, has it checked by a `fair_queue` with its `concurrency`, and
//! `record`s the results.

mod check;
mod concurrency;
mod due;
mod fair_queue;
mod record;
#[cfg(test)]
mod tests;
mod ticks;

pub use check::Clock;
pub use ticks::Checker;
