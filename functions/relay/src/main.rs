//! From streams to queues. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_sqs::Client as Sqs;
use linklet_dynamodb::LinksTable;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, publisher::Publisher};
use linklet_relay::Relay;

fn main() -> ExitCode {
    linklet_lambda::start("relay", run())
}

async fn run() -> Result<(), StartError> {
    let (analytics, notify) = (config::required("ANALYTICS_QUEUE_URL")?, config::required("NOTIFY_QUEUE_URL")?);
    let keep_expired = config::expired_links_lifetime()?;
    let aws = aws::load().await;
    let sqs = Sqs::new(&aws);
    batch::run(Relay {
        links: aws::Tables::without_breaker(&aws).at("LINKS_TABLE", LinksTable)?,
        keep_expired,
        analytics: Publisher::new(sqs.clone(), analytics),
        notify: Publisher::new(sqs.clone(), notify),
        dead_letters: DeadLetterQueue::new(sqs, config::required("RELAY_DLQ_URL")?).shared_by("relay"),
    })
    .await
}
