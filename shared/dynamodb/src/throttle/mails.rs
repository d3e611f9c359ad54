//! Mails that somebody had sent to an address.

use linklet_domain::{AccountHash, EventId, MailLimit, Timestamp};

use super::{ThrottleTable, Written, item::mails_key, item::ttl, once};
use crate::{
    RepositoryError,
    item::{number, text},
};

impl ThrottleTable {
    /// Counts a mail to an address, unless it has had [as many as it may](MailLimit). `request` is what asks for the mail: if it
    /// asks again, because the mail could not be sent, it is counted once.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the mail may or may not be counted then. Asking again is safe.
    pub async fn admit_mail(
        &self,
        recipient: &AccountHash,
        request: &EventId,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        const JOINS: &str = "window_ends > :now AND hits < :most AND not_before <= :now";
        const BEGINS: &str = "(attribute_not_exists(window_ends) OR window_ends <= :now)";
        let window_ends = MailLimit::window_ends(now);
        let update = || {
            let update = self.write(mails_key(recipient)).expression_attribute_names("#ttl", "ttl");
            update
                .expression_attribute_values(":now", number(&now.unix_millis()))
                .expression_attribute_values(":next", number(&MailLimit::next(now).unix_millis()))
                .expression_attribute_values(":request", text(request))
                .expression_attribute_values(":one", number(&1))
                .expression_attribute_values(":ttl", number(&ttl(window_ends)))
        };
        let begins = update()
            .update_expression(
                "SET hits = :one, window_ends = :ends, not_before = :next, latest_request = :request, #ttl = :ttl",
            )
            .condition_expression(BEGINS)
            .expression_attribute_values(":ends", number(&window_ends.unix_millis()));
        let found = match once("count a mail", begins, Self::TIMEOUT_OF_GUESSES).await? {
            Written::Done(_) => return Ok(true),
            Written::Refused(found) => found,
        };
        if found.is_some_and(|item| item.get("latest_request") == Some(&text(request))) {
            return Ok(true);
        }
        let joins = update()
            .update_expression("SET hits = hits + :one, not_before = :next, latest_request = :request, #ttl = :ttl")
            .condition_expression(JOINS)
            .expression_attribute_values(":most", number(&MailLimit::MAILS));
        Ok(matches!(once("count a mail", joins, Self::TIMEOUT_OF_GUESSES).await?, Written::Done(_)))
    }
}
