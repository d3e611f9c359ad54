//! What happens once a minute: it plans the ticks of the next minute, and deletes the marker items of jobs that are due.
//!
//! The scheduler can't invoke a function more than once a minute, but check intervals are shorter. So each call sends one
//! message per tick and partition, with a delay until the tick starts. A repeated call sends its ticks twice, which is harmless:
//! one worker takes the partition, and for the other the message is done with.
//!
//! While there are no targets, no ticks are planned: an idle system only looks for targets and marker items, once a minute.

use std::time::Instant;

use linklet_domain::{CheckInterval, Concurrency, PlannedTick, Timestamp};
use linklet_dynamodb::{JobsTable, RepositoryError, WatchTable};
use linklet_lambda::batch;
use linklet_lambda::publisher::{Message, Publisher};
use linklet_lambda::schedule::{Call, Job};
use linklet_lambda::telemetry::warn_of;

/// The job that the scheduler runs each minute.
pub struct Clock {
    /// The repository of targets.
    pub targets: WatchTable,
    /// The repository of jobs and tasks.
    pub jobs: JobsTable,
    /// The queue of ticks.
    pub ticks: Publisher,
    /// How often each target is checked.
    pub interval: CheckInterval,
    /// How many checks run at a time, over all partitions.
    pub places: Concurrency,
}

/// Why a call has failed.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// A tick could not be serialised.
    #[error("a tick could not be serialised")]
    Message(#[from] serde_json::Error),
    /// This number of ticks could not be sent to the queue.
    #[error("{0} ticks could not be sent to their queue")]
    Refused(usize),
    /// Jobs and tasks that are due go on later.
    #[error("marker items of jobs that are due could not be deleted")]
    Jobs(#[from] RepositoryError),
}

impl Job for Clock {
    type Error = ClockError;

    async fn run(&self, call: Call) -> Result<(), ClockError> {
        // Ticks come first, since they are late in seconds. If both fail, the next call tells of the jobs.
        let planned = self.plan(&call).await;
        let due = self.jobs.delete_due_marks(Timestamp::now()).await;
        planned.and(due.map_err(ClockError::from))
    }
}

impl Clock {
    async fn plan(&self, call: &Call) -> Result<(), ClockError> {
        let started = Instant::now();
        let messages = if self.may_have_targets().await { self.messages(call)? } else { Vec::new() };
        let refused = self.ticks.send_all(&messages).await;
        batch::log(messages.len(), refused, started);
        if refused == 0 { Ok(()) } else { Err(ClockError::Refused(refused)) }
    }

    /// Whether there are targets to check. If the table can't say so, there may be some: an outage of the table must not
    /// keep ticks from being planned that begin when it is over.
    async fn may_have_targets(&self) -> bool {
        let has_targets = self.targets.has_targets().await;
        warn_of(has_targets, "ticks are planned without knowing whether there are targets").unwrap_or(true)
    }

    fn messages(&self, call: &Call) -> Result<Vec<Message>, ClockError> {
        let now = Timestamp::now();
        // Lambda retries a failed call after a minute, when some of its ticks may be over.
        let ticks = PlannedTick::planned_by(call.scheduled_time, &call.correlation_id, self.interval, self.places)
            .filter(|tick| !tick.is_over(now));
        ticks.map(|tick| Ok(Message::new(&tick)?.delayed(now.until(tick.slot)))).collect()
    }
}
