//! Mails that somebody had sent by asking for them.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Correspondent, MailCount, MailLimit, MailOrderId, Timestamp};

use super::{ThrottleTable, item::mails_key, item::ttl, once};
use crate::{
    RepositoryError,
    item::{Item, number},
    write::Outcome,
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
        let update = |change: &str, condition: &str| {
            let update = self.table.update("count a mail", mails_key(whose, count), change).only_if(condition);
            update
                .values([(":now", number(&now.unix_millis())), (":next", number(&next))])
                .values([(":one", number(&1)), (":ttl", number(&ttl(window_ends)))])
                .value(":request", AttributeValue::Ss(vec![order.to_string()]))
        };
        let begins = update(
            "SET hits = :one, window_ends = :ends, not_before = :next, requests = :request, #ttl = :ttl",
            BEGINS,
        )
        .value(":ends", number(&window_ends.unix_millis()));
        let found = match once(begins, Self::TIMEOUT_OF_GUESSES).await? {
            Outcome::Done(_) => return Ok(true),
            Outcome::Refused(found) => found,
        };
        if found.is_some_and(|item| is_counted(&item, order)) {
            return Ok(true);
        }
        let joins = update("SET hits = hits + :one, not_before = :next, #ttl = :ttl ADD requests :request", JOINS)
            .value(":most", number(&limit.mails));
        Ok(matches!(once(joins, Self::TIMEOUT_OF_GUESSES).await?, Outcome::Done(_)))
    }
}

/// Whether the mail of this order was counted in the window. Others may have been counted after it.
fn is_counted(item: &Item, order: &MailOrderId) -> bool {
    let requests = item.get("requests").and_then(|requests| requests.as_ss().ok());
    requests.is_some_and(|requests| requests.iter().any(|counted| *counted == order.to_string()))
}
