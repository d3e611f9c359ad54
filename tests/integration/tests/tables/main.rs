//! Repositories against a real DynamoDB implementation.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod api_keys;
mod audit;
mod clicks;
mod edits;
mod guesses;
mod identities;
mod jobs;
mod link_events;
mod links;
mod notifications;
mod one_time;
mod reports;
mod stats;
mod throttle;
mod users;
mod watch;

use linklet_integration::fixture;
