//! Telling people. This file only wires; `handler.rs` decides.

use std::process::ExitCode;

use aws_config::SdkConfig;
use aws_sdk_secretsmanager::Client as SecretsManager;
use aws_sdk_sesv2::Client as Ses;
use aws_sdk_sns::Client as Sns;
use aws_sdk_sqs::Client as Sqs;
use linklet_domain::{Salt, Timestamp};
use linklet_dynamodb::{
    AuditTable, Invitations, Names, NotificationsTable, OneTimeTokens, Recipients, Reports, ThrottleTable,
};
use linklet_lambda::{StartError, aws, batch, batch::DeadLetterQueue, config, secrets};
use linklet_notify::{Addresses, MailLimit, Mailer, Notify, Topic};

fn main() -> ExitCode {
    linklet_lambda::start("notify", run())
}

/// The mailer, which needs the salt for the limit of mails to one address.
async fn mailer(aws: &SdkConfig, tables: &aws::Tables, sender: String) -> Result<Mailer, StartError> {
    let salt = config::required("CLICK_SALT_ID")?;
    let salt = Salt::parse(&secrets::current(&SecretsManager::new(aws), &salt).await?)?;
    let limit = MailLimit { table: tables.at("THROTTLE_TABLE", ThrottleTable::new)?, salt };
    let mailer = Mailer::new(Ses::new(aws), sender, limit);
    Ok(mailer.with_configuration_set(config::optional("MAIL_CONFIGURATION_SET")))
}

async fn run() -> Result<(), StartError> {
    let (topic, max_receives) = (config::required("TOPIC_ARN")?, config::parsed("MAX_RECEIVES")?);
    let sender = config::optional("MAIL_SENDER");
    let addresses = Addresses::from_env()?;
    let aws = aws::load().await;
    let tables = aws::Tables::without_breaker(&aws);
    let mailer = match sender {
        Some(sender) => Some(mailer(&aws, &tables, sender).await?),
        None => None,
    };
    batch::run(Notify {
        notifications: tables.at("NOTIFICATIONS_TABLE", NotificationsTable)?,
        people: tables.at("USERS_TABLE", Recipients)?,
        tokens: tables.at("USERS_TABLE", OneTimeTokens)?,
        invitations: tables.at("USERS_TABLE", Invitations)?,
        reports: tables.at("USERS_TABLE", Reports)?,
        addresses,
        audit_log: tables.at("AUDIT_TABLE", AuditTable)?,
        names: tables.at("USERS_TABLE", Names)?,
        topic: Topic::new(Sns::new(&aws), topic),
        mailer,
        dead_letters: DeadLetterQueue::new(Sqs::new(&aws), config::required("NOTIFY_DLQ_URL")?),
        max_receives,
        clock: Box::new(Timestamp::now),
    })
    .await
}
