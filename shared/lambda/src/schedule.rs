//! What the scheduler calls.
//!
//! It calls at least once, so a job has to bear being called twice for one time. A job that failed is called again by Lambda, as
//! the template says.

use std::{error::Error, future::Future};

use lambda_runtime::{LambdaEvent, service_fn};
use linklet_domain::Timestamp;
use serde::Deserialize;

use crate::{StartError, metrics, telemetry::chain};

/// What the schedule in the template sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Call {
    /// The time that the call is meant for; it may come later.
    pub scheduled_time: Timestamp,
}

/// Something that is done by schedule.
pub trait Job: Send + Sync {
    /// Why it wasn't done.
    type Error: Error + Send + Sync + 'static;

    /// Does it for one call.
    fn run(&self, call: Call) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Does a job at each call, until the execution environment ends.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn run(job: impl Job) -> Result<(), StartError> {
    let job = &job;
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Call>| {
        let done = Box::pin(metrics::scope(job.run(event.payload))).await;
        if let Err(error) = &done {
            tracing::error!(error = chain(error), "the job was not done");
        }
        done.map_err(StartError::from)
    }))
    .await
}
