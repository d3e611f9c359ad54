//! Telling people. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_sesv2::Client as Ses;
use aws_sdk_sns::Client as Sns;
use aws_sdk_sqs::Client as Sqs;
use linklet_domain::Timestamp;
use linklet_dynamodb::NotificationsTable;
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config};
use linklet_notify::{Mailer, Notify, Topic};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("notify", run()).await
}

async fn run() -> Result<(), StartError> {
    let (table, dead_letters) = (config::required("NOTIFICATIONS_TABLE")?, config::required("NOTIFY_DLQ_URL")?);
    let (topic, max_receives) = (config::required("TOPIC_ARN")?, config::parsed("MAX_RECEIVES")?);
    let sender = config::optional("MAIL_SENDER");
    let aws = aws::load().await;
    batch::run(Notify {
        notifications: NotificationsTable::new(DynamoDb::new(&aws), table),
        topic: Topic::new(Sns::new(&aws), topic),
        mailer: sender.map(|sender| Mailer::new(Ses::new(&aws), sender)),
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters),
        max_receives,
        clock: Box::new(Timestamp::now),
    })
    .await
}
