//! Mails that somebody had sent by asking for them.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Correspondent, MailCount, MailLimit, MailOrderId, Timestamp};

use super::{ThrottleTable, Written, item::mails_key, item::ttl, once};
use crate::{
    RepositoryError,
    item::{Item, number},
};

impl ThrottleTable {
    /// Counts a mail for a mailbox or a person, unless there were [as many as there may be](MailLimit). If the
    /// order comes again, because the mail could not be sent, it is counted once.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the mail may or may not be counted then. Asking again is safe.
    pub async fn admit_mail(
        &self,
        whose: &Correspondent,
        count: MailCount,
        order: &MailOrderId,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        const JOINS: &str = "window_ends > :now AND hits < :most AND not_before <= :now";
        const BEGINS: &str = "(attribute_not_exists(window_ends) OR window_ends <= :now)";
        let (limit, window_ends) = (count.limit(), MailLimit::window_ends(now));
        // Without a pause there is no time to compare: clocks of environments differ.
        let next = limit.next(now).map_or(0, Timestamp::unix_millis);
        let update = || {
            let update = self.write(mails_key(whose, count)).expression_attribute_names("#ttl", "ttl");
            update
                .expression_attribute_values(":now", number(&now.unix_millis()))
                .expression_attribute_values(":next", number(&next))
                .expression_attribute_values(":request", AttributeValue::Ss(vec![order.to_string()]))
                .expression_attribute_values(":one", number(&1))
                .expression_attribute_values(":ttl", number(&ttl(window_ends)))
        };
        let begins = update()
            .update_expression(
                "SET hits = :one, window_ends = :ends, not_before = :next, requests = :request, #ttl = :ttl",
            )
            .condition_expression(BEGINS)
            .expression_attribute_values(":ends", number(&window_ends.unix_millis()));
        let found = match once("count a mail", begins, Self::TIMEOUT_OF_GUESSES).await? {
            Written::Done(_) => return Ok(true),
            Written::Refused(found) => found,
        };
        if found.is_some_and(|item| is_counted(&item, order)) {
            return Ok(true);
        }
        let joins = update()
            .update_expression("SET hits = hits + :one, not_before = :next, #ttl = :ttl ADD requests :request")
            .condition_expression(JOINS)
            .expression_attribute_values(":most", number(&limit.mails));
        Ok(matches!(once("count a mail", joins, Self::TIMEOUT_OF_GUESSES).await?, Written::Done(_)))
    }
}

/// Whether the mail of this order was counted in the window. Others may have been counted after it.
fn is_counted(item: &Item, order: &MailOrderId) -> bool {
    let requests = item.get("requests").and_then(|requests| requests.as_ss().ok());
    requests.is_some_and(|requests| requests.iter().any(|counted| counted == order.as_str()))
}
