//! Telling people. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sesv2::Client as Ses;
use aws_sdk_sns::Client as Sns;
use aws_sdk_sqs::Client as Sqs;
use linklet_domain::{Salt, Timestamp};
use linklet_dynamodb::{AuditTable, Invitations, Names, NotificationsTable, OneTimeTokens, Recipients, ThrottleTable};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, secrets};
use linklet_notify::{Addresses, MailLimit, Mailer, Notify, Topic};

#[tokio::main(flavor = "local")]
async fn main() -> ExitCode {
    linklet_lambda::start("notify", run()).await
}

/// The mailer, which needs the salt for the limit of mails to one address.
async fn mailer(aws: &SdkConfig, tables: &DynamoDb, sender: String) -> Result<Mailer, StartError> {
    let (table, salt) = (config::required("THROTTLE_TABLE")?, config::required("CLICK_SALT_ID")?);
    let salt = Salt::parse(&secrets::current(&SecretsManager::new(aws), &salt).await?)?;
    let limit = MailLimit { table: ThrottleTable::new(tables.clone(), table), salt };
    let mailer = Mailer::new(Ses::new(aws), sender, limit);
    Ok(mailer.with_configuration_set(config::optional("MAIL_CONFIGURATION_SET")))
}

async fn run() -> Result<(), StartError> {
    let (table, dead_letters) = (config::required("NOTIFICATIONS_TABLE")?, config::required("NOTIFY_DLQ_URL")?);
    let (topic, max_receives) = (config::required("TOPIC_ARN")?, config::parsed("MAX_RECEIVES")?);
    let (users, sender) = (config::required("USERS_TABLE")?, config::optional("MAIL_SENDER"));
    let addresses = Addresses::from_env()?;
    let audit_log = config::required("AUDIT_TABLE")?;
    let aws = aws::load().await;
    let tables = DynamoDb::new(&aws);
    let mailer = match sender {
        Some(sender) => Some(mailer(&aws, &tables, sender).await?),
        None => None,
    };
    batch::run(Notify {
        notifications: NotificationsTable::new(tables.clone(), table),
        people: Recipients::new(tables.clone(), &users),
        tokens: OneTimeTokens::new(tables.clone(), &users),
        invitations: Invitations::new(tables.clone(), &users),
        addresses,
        audit_log: AuditTable::new(tables.clone(), audit_log),
        names: Names::new(tables, users),
        topic: Topic::new(Sns::new(&aws), topic),
        mailer,
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), dead_letters),
        max_receives,
        clock: Box::new(Timestamp::now),
    })
    .await
}
