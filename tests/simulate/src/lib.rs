//! What Linklet does under more traffic than a machine can make.
//!
//! The product's own code runs in simulated time: redirect's recorder, the relay, analytics, and what reads totals, with the real
//! SDK, on the DynamoDB of the tests. Around it AWS is modelled by its published limits ([`limits`]): partitions, warm
//! throughput, streams with their pollers, a queue that shuffles, repeats and delays, environments and their processors.

#![expect(clippy::expect_used, reason = "whatever goes wrong here has to end the simulation")]

pub mod limits;
pub mod report;
pub mod traces;

mod capacity;
mod clock;
mod consumers;
mod dynamodb;
mod lambda;
mod queue;
mod sdk;
mod settings;
mod shortcut;
mod stream;
mod visitors;
mod world;

use tokio::runtime::{Builder, LocalOptions};

use self::report::Report;
use self::traces::{Pace, Trace};

/// Plays a trace. Time stands still while code runs, and leaps to the next moment at which something happens.
pub fn play(trace: &Trace) -> Report {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build_local(LocalOptions::default());
    runtime.expect("a runtime can be built").block_on(traces::play(trace, Pace::Simulated))
}

/// Plays a trace in real time, with HTTP between the SDK and the tables, which shows whether the model is right.
pub fn play_in_real_time(trace: &Trace) -> Report {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    runtime.expect("a runtime can be built").block_on(traces::play(trace, Pace::Real))
}
