//! Plans the rounds of the next minute.
//!
//! The scheduler can't call more than once a minute, and intervals are shorter. So each call sends one message per round, and the
//! queue keeps it back until the round begins. A call that comes twice sends its rounds twice: their checks have the same
//! deduplication ids, and the results the same keys.

use std::time::Instant;

use linklet_domain::{CheckInterval, PlannedRound, Timestamp};
use linklet_lambda::{
    batch,
    publisher::{Message, Publisher},
    schedule::{Call, Job},
};

/// Plans rounds.
pub struct Tick {
    /// Where rounds wait for their time.
    pub rounds: Publisher,
    /// How often each target is checked.
    pub interval: CheckInterval,
}

/// Why not all rounds were planned.
#[derive(Debug, thiserror::Error)]
pub enum TickError {
    /// A round could not be written down.
    #[error("a round could not be written as a message")]
    Message(#[from] serde_json::Error),
    /// The queue doesn't take them.
    #[error("{0} rounds did not get into their queue")]
    Refused(usize),
}

impl Job for Tick {
    type Error = TickError;

    async fn run(&self, call: Call) -> Result<(), TickError> {
        let started = Instant::now();
        let now = Timestamp::now();
        // If Lambda repeats a call, which it does after a minute, some may be over.
        let rounds = PlannedRound::planned_by(call.scheduled_time, self.interval).filter(|round| !round.is_over(now));
        let messages = rounds.map(|round| Ok(Message::new(&round)?.after(now.until(round.slot))));
        let messages = messages.collect::<Result<Vec<_>, TickError>>()?;
        let refused = self.rounds.send_all(&messages).await;
        batch::log(messages.len(), refused, started);
        if refused == 0 { Ok(()) } else { Err(TickError::Refused(refused)) }
    }
}
