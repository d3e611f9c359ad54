//! The loop of a function that EventBridge Scheduler invokes.
//!
//! The scheduler invokes at least once, so a job must be idempotent per scheduled time. Lambda retries a failed job as the
//! template configures.

use std::{error::Error, future::Future};

use lambda_runtime::{LambdaEvent, service_fn};
use linklet_domain::Timestamp;
use serde::Deserialize;

use crate::{StartError, metrics, telemetry::chain};

/// The event that the schedule in the template sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Call {
    /// The scheduled time; the invocation may come later.
    pub scheduled_time: Timestamp,
}

/// A job that runs by schedule.
pub trait Job: Send + Sync {
    /// The error of a failed job.
    type Error: Error + Send + Sync + 'static;

    /// Runs the job for one call.
    fn run(&self, call: Call) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Runs a job for each invocation until the execution environment ends.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn run(job: impl Job) -> Result<(), StartError> {
    let job = &job;
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Call>| {
        let done = Box::pin(metrics::scope(job.run(event.payload))).await;
        if let Err(error) = &done {
            tracing::error!(error = chain(error), "the scheduled job failed");
        }
        done.map_err(StartError::from)
    }))
    .await
}
