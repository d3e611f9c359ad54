//! Functions behind the API, through their handlers.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod account;
mod audit_log;
mod auth;
mod bodies;
mod bulk;
mod calls;
mod closing;
mod confirmation;
mod creation;
mod every_route;
mod guesses;
mod hostile;
mod hot_links;
mod invitations;
mod jobs;
mod keys;
mod large_lists;
mod leaving;
mod limits;
mod links;
mod notifications;
mod once;
mod outage;
mod overview;
mod overview_questions;
mod own_keys;
mod passwords;
mod permissions;
mod person;
mod prelude;
mod put;
mod qr;
mod questions;
mod redirect;
mod registration;
mod renewal;
mod representations;
mod reuse;
mod revisions;
mod rules;
mod sample_events;
mod sessions;
mod shorten;
mod spreading;
mod stats;
mod suspended;
mod throttling;
mod unlock;
mod update;
mod wanted_mail;
mod watch;
mod web;

pub use linklet_integration::fixture;
use linklet_integration::streams;
