//! From streams and queues to what consumers make of them: counted clicks, mails, jobs, monitored URLs.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod account_mail;
mod analytics;
mod audit_log;
mod canary;
mod closing;
mod cost;
mod expiry;
mod handover;
mod invitation_mail;
mod jobs;
mod notify;
mod operate;
mod parked_clicks;
mod purge;
mod reclaim;
mod reconcile;
mod relay;
mod reports;
mod samples;
mod stored_forms;
mod suspension;
mod units;
mod wanted_mail;
mod watch;
mod watch_links;
mod whole;

use linklet_integration::{fixture, streams};
