//! The time: of the simulation, or the real one.

use std::time::Duration;

use linklet_domain::Timestamp;
use tokio::time::Instant;

/// Begins at noon of some day.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    noon: Timestamp,
}

impl Clock {
    /// A clock that shows noon now.
    pub fn start() -> Self {
        Self { start: Instant::now(), noon: Timestamp::parse("2026-03-02T12:00:00Z").expect("a time") }
    }

    /// The time since it was started.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// What it shows.
    pub fn now(&self) -> Timestamp {
        self.noon.plus(self.elapsed())
    }

    /// How long ago this was.
    pub fn since(&self, at: Timestamp) -> Duration {
        at.until(self.now())
    }
}
