//! Tests of a deployed system, through its API alone wherever possible.
//!
//! `API_URL` names the system. The tests that reach behind the API, to a queue, also need `STACK_NAME` and the usual AWS
//! variables; without `STACK_NAME` they say so and pass. Every test makes its own accounts and links, so the tests can run
//! at the same time and against a system in use.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that meets an unexpected error has failed")]

mod admission;
mod api;
mod behind_the_api;
mod closing;
mod contract;
mod guesses;
mod jobs;
mod limits;
mod links;
mod logs;
mod mailbox;
mod mails;
mod main_path;
mod outage;
mod redeploy;
mod stack;
mod targets;
mod terms;
mod ticks;
mod watch;
mod watch_load;
mod workspace;
