//! Every click counts exactly once, whatever happens.
//!
//! `schedules` lets consumers live through random misfortunes; then each number is compared with a [`model`](model) that is
//! computed from the clicks alone. A failing run is repeated with the seed that it prints, and a longer one is asked for with
//! more cases:
//!
//! ```text
//! PROPTEST_RNG_SEED=1234 cargo test --workspace --test exactness schedules
//! PROPTEST_CASES=100000 cargo test --workspace --test exactness schedules
//! ```
//!
//! Shrinking ends after two minutes; `PROPTEST_MAX_SHRINK_ITERS=0` leaves it out. The seed decides the schedule, and with it
//! every call's place and every fault. What it doesn't decide: how long a consumer waits after it has met another one.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod model;
mod observed;
mod plan;
mod purges;
mod schedules;
mod seed;
mod turns;

use linklet_integration::fixture;
