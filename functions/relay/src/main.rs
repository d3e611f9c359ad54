//! From streams to queues. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config};
use linklet_relay::{Publisher, Relay};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    linklet_lambda::start("relay", run()).await
}

async fn run() -> Result<(), StartError> {
    let (analytics, notify) = (config::required("ANALYTICS_QUEUE_URL")?, config::required("NOTIFY_QUEUE_URL")?);
    let dead_letters = config::required("RELAY_DLQ_URL")?;
    let sqs = Sqs::new(&aws::load().await);
    batch::run(Relay {
        analytics: Publisher::new(sqs.clone(), analytics),
        notify: Publisher::new(sqs.clone(), notify),
        dead_letters: DeadLetterQueue::new(sqs, dead_letters),
    })
    .await
}
