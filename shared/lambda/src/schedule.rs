//! The loop of a function that EventBridge Scheduler invokes.
//!
//! The scheduler invokes at least once, so a job must be idempotent per scheduled time. Lambda retries a failed job as the
//! template configures.

use std::{error::Error, future::Future};

use lambda_runtime::{LambdaEvent, service_fn};
use linklet_domain::{CorrelationId, Timestamp};
use serde::Deserialize;
use tracing::Instrument as _;

use crate::telemetry::{chain, span_of};
use crate::{StartError, metrics};

/// The event that the schedule in the template sends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Call {
    /// The scheduled time; the invocation may come later.
    pub scheduled_time: Timestamp,
    /// What the log lines and messages of this call have in common.
    #[serde(skip, default = "CorrelationId::generate")]
    pub correlation_id: CorrelationId,
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
        Box::pin(metrics::scope(invoke(job, event.payload))).await.map_err(StartError::from)
    }))
    .await
}

/// Runs a job for one call. Each of its log lines has the call's correlation id.
///
/// # Errors
/// When the job fails, which is logged.
pub async fn invoke<J: Job>(job: &J, call: Call) -> Result<(), J::Error> {
    let span = span_of(&call.correlation_id);
    let done = job.run(call).instrument(span.clone()).await;
    if let Err(error) = &done {
        span.in_scope(|| tracing::error!(error = chain(error), "the scheduled job failed"));
    }
    done
}
