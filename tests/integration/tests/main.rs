//! Repositories and handlers against a real DynamoDB implementation: `tables` one suite per repository, `routes` one file per
//! function behind the API, `pipeline` from the streams to the counted click; `operations` is what `template.yaml` has to watch
//! over them.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod fixture;
mod operations;
mod pipeline;
mod routes;
mod tables;
