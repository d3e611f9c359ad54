//! The limit on mails that somebody can have sent to an address by asking for them.

use linklet_domain::{AccountHash, EmailAddress, EventId, Salt, Timestamp};
use linklet_dynamodb::{RepositoryError, ThrottleTable};

use crate::{StartError, config, secrets};

/// Lets an address get as many mails as [`MailLimit`](linklet_domain::MailLimit) says, whoever asks for them.
pub struct MailLimiter {
    /// The table that has the counts.
    pub table: ThrottleTable,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

impl MailLimiter {
    /// The limit with the table and the salt that the environment names.
    ///
    /// # Errors
    /// When a variable is missing, or the salt can't be read.
    pub async fn from_env(
        tables: &aws_sdk_dynamodb::Client,
        secrets: &aws_sdk_secretsmanager::Client,
    ) -> Result<Self, StartError> {
        let table = ThrottleTable::new(tables.clone(), config::required("THROTTLE_TABLE")?);
        let salt = secrets::current(secrets, &config::required("CLICK_SALT_ID")?).await?;
        Ok(Self { table, salt: Salt::parse(&salt)? })
    }

    /// Whether a mail may be sent, which is counted then. The same event may ask again, because its mail could not be sent; it is
    /// counted once.
    ///
    /// # Errors
    /// When ThrottleTable doesn't answer in time. Unlike a request, a message comes again, so nothing is sent uncounted.
    pub async fn admits(
        &self,
        recipient: &EmailAddress,
        event: &EventId,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        self.table.admit_mail(&AccountHash::of(recipient.as_str(), &self.salt), event, now).await
    }
}
