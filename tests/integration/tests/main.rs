//! Repositories and handlers against a real DynamoDB implementation: `tables` one suite per repository, `routes` one file per
//! function behind the API, `pipeline` from the streams to the counted click.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod fixture;
mod pipeline;
mod routes;
mod tables;
