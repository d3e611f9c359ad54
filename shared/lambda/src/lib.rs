//! What every function needs around its handler.
//!
//! - [`http`]: requests, answers, problem documents, and the loop of a function behind API Gateway
//! - [`identity`]: tokens, API keys, and the [`identity::Caller`] that no protected handler works without
//! - [`batch`]: the loop of a consumer, batch item failures, and the dead-letter queue for unreadable messages
//! - [`stream`]: what a consumer of a stream answers, and where it leaves records that it can't process
//! - [`publisher`]: sending events and other messages to a queue
//! - [`email_requests`]: ordering mails with tokens, and about changes of accounts
//! - [`schedule`]: the loop of a function that the scheduler calls
//! - [`link_view`], [`workspace_view`]: a link and a workspace as the API shows them
//! - [`link_writer`]: creating links
//! - [`gathering`]: adding up the links of a workspace and their clicks
//! - [`bulk`]: requests about many links
//! - [`link_filter`]: which links a list or a job means
//! - [`public_workspaces`]: what answers to strangers need of workspaces
//! - [`app`]: addresses of pages of the web application
//! - [`metrics`]: what is counted on the way
//! - [`breaker`]: what keeps requests from waiting for tables that don't answer
//! - [`throttle`], [`guesses`]: limits that are counted in a table
//! - [`admission`]: who may register and create workspaces
//! - [`config`], [`secrets`], [`aws`], [`telemetry`]: start-up

mod actor;
pub mod admission;
pub mod app;
pub mod audit_log;
pub mod aws;
pub mod batch;
pub mod blocks;
pub mod breakdown_view;
pub mod breaker;
pub mod bulk;
pub mod config;
pub mod email_requests;
pub mod following;
pub mod gathering;
pub mod guesses;
pub mod hashing;
pub mod http;
pub mod identity;
pub mod limiter;
pub mod link_filter;
pub mod link_view;
pub mod link_writer;
pub mod metrics;
pub mod order;
pub mod passwords;
pub mod proofs;
pub mod public_workspaces;
pub mod publisher;
pub mod rules;
pub mod schedule;
pub mod secrets;
pub mod shares;
pub mod stream;
pub mod telemetry;
pub mod throttle;
pub mod watching;
pub mod workspace_view;
pub mod zone;

use std::{future::Future, process::ExitCode};

use tokio::runtime::{Builder, LocalOptions};

/// Any reason why an execution environment can't start or go on.
pub type StartError = lambda_runtime::Error;

/// Runs a function: starts its logs, then whatever its `main` wires up. An error ends the execution environment with one
/// line that names the cause, such as a missing environment variable. There is one thread, since a function has one request at a time.
pub fn start(service: &'static str, function: impl Future<Output = Result<(), StartError>> + 'static) -> ExitCode {
    // First, since the level of lines with metrics depends on it.
    if let Some(namespace) = config::optional("METRICS_NAMESPACE") {
        metrics::write_to(namespace);
    }
    telemetry::init(service);
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let ended = runtime.map_err(StartError::from).and_then(|runtime| {
        // As a task, since whatever wakes the runtime's own future makes a system call for it.
        let ended = runtime.block_on(runtime.spawn_local(function));
        // Otherwise it waits for what has begun, such as looking up a name.
        runtime.shutdown_background();
        ended?
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = telemetry::chain(&*error), "the function cannot run");
            ExitCode::FAILURE
        }
    }
}
