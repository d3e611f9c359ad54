//! How many mails there were.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Correspondent, MailCount, MailLimit, Timestamp};

use super::{ThrottleTable, item::mails_key, item::ttl, once};
use crate::Result;
use crate::item::{Item, number, text};
use crate::write::Outcome;

/// Whether a mail may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailAdmission {
    /// No: there were as many as there may be.
    Refused,
    /// Yes.
    Admitted,
    /// Yes, and until the window ends it is the last one.
    Last,
}

impl ThrottleTable {
    /// Counts a mail for a mailbox or a person, unless there were [as many as there may be](MailLimit). If the
    /// message that asks for it comes again, because the mail could not be sent, it is counted once; `id` is the message's.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the mail may or may not be counted then. Asking again is safe.
    pub async fn admit_mail(
        &self,
        whose: &Correspondent,
        count: MailCount,
        id: &str,
        now: Timestamp,
    ) -> Result<MailAdmission> {
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
                .values([(":requests", AttributeValue::Ss(vec![id.to_owned()])), (":request", text(id))])
        };
        let begins = update(
            "SET hits = :one, window_ends = :ends, not_before = :next, latest = :request, requests = :requests, #ttl = :ttl",
            BEGINS,
        )
        .value(":ends", number(&window_ends.unix_millis()));
        let admission =
            |item: &Item| if is_last(item, id, limit) { MailAdmission::Last } else { MailAdmission::Admitted };
        let found = match once(begins, Self::TIMEOUT_OF_GUESSES).await? {
            Outcome::Done(item) => return Ok(admission(&item)),
            Outcome::Refused(found) => found,
        };
        if let Some(item) = found.filter(|item| is_counted(item, id)) {
            return Ok(admission(&item));
        }
        let change =
            "SET hits = hits + :one, not_before = :next, latest = :request, #ttl = :ttl ADD requests :requests";
        let joins = update(change, JOINS).value(":most", number(&limit.mails));
        Ok(match once(joins, Self::TIMEOUT_OF_GUESSES).await? {
            Outcome::Done(item) => admission(&item),
            Outcome::Refused(_) => MailAdmission::Refused,
        })
    }
}

/// Whether the mail of this message was counted in the window. Others may have been counted after it.
fn is_counted(item: &Item, id: &str) -> bool {
    let requests = item.get("requests").and_then(|requests| requests.as_ss().ok());
    requests.is_some_and(|requests| requests.iter().any(|counted| counted == id))
}

/// Whether the mail of this message was counted last of as many as there may be.
fn is_last(item: &Item, id: &str, limit: MailLimit) -> bool {
    item.get("latest") == Some(&text(id)) && item.get("hits") == Some(&number(&limit.mails))
}
