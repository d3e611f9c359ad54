//! What SES says of mails that came back, or of which somebody has complained.

use linklet_domain::{AuditContext, CorrelationId, EmailAddress, Timestamp, UserId};
use linklet_dynamodb::Result;
use linklet_lambda::telemetry::chain;
use serde::{Deserialize, Serialize};

use crate::Notify;

/// An event of SES, of which only what is needed here is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Feedback {
    event_type: String,
    mail: SentMail,
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
}

/// The mail that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentMail {
    message_id: String,
    /// When it was sent.
    timestamp: Timestamp,
    destination: Vec<String>,
    #[serde(default)]
    tags: Tags,
}

/// The tags that it was sent with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tags {
    #[serde(default)]
    user: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    timestamp: Timestamp,
    complaint_feedback_type: Option<String>,
}

impl Feedback {
    /// What is the same in each delivery.
    pub(crate) fn id(&self) -> String {
        format!("{} {}", self.event_type, self.mail.message_id)
    }

    /// Since when nothing should be mailed to the address, if that is what it says: a mail that comes back says how it was when it
    /// was sent, however long that took. A mailbox that is full may have room tomorrow,
    /// and some who report a mail say that it was taken for spam by mistake.
    fn since(&self) -> Option<Timestamp> {
        let bounced = self.bounce.as_ref().filter(|bounce| bounce.bounce_type == "Permanent");
        let complained =
            self.complaint.as_ref().filter(|about| about.complaint_feedback_type.as_deref() != Some("not-spam"));
        bounced.map(|_| self.mail.timestamp).or(complained.map(|complaint| complaint.timestamp))
    }

    /// Whose mail it was, and the address that it was sent to; `None` if it was to somebody without an account. A mail has one
    /// recipient. The addresses that came back may be others, to which theirs forwards.
    fn addressee(&self) -> Option<(UserId, EmailAddress)> {
        let ([user], [email]) = (self.mail.tags.user.as_slice(), self.mail.destination.as_slice()) else { return None };
        UserId::parse(user).ok().zip(EmailAddress::parse(email).ok())
    }
}

impl Notify {
    /// Notes to whom nothing should be mailed any more, and says whether the message is done with.
    pub(crate) async fn handle_bounce(&self, feedback: &Feedback) -> bool {
        let event_type = feedback.event_type.as_str();
        let Some(((user, email), since)) = feedback.addressee().zip(feedback.since()) else {
            tracing::info!(event_type, "a mail had an end that changes nothing");
            return true;
        };
        let marked = self.mark_undeliverable(&user, &email, since).await;
        match &marked {
            Ok(true) => tracing::info!(event_type, user_id = %user, "an address is undeliverable"),
            Ok(false) => tracing::info!(event_type, user_id = %user, "a mail had an end that changes nothing"),
            Err(error) => {
                let error = chain(error);
                tracing::error!(event_type, user_id = %user, error, "an undeliverable address could not be marked");
            }
        }
        marked.is_ok()
    }

    /// Marks an address, and writes that into its person's audit log. An entry that can't be written is when the event comes again.
    async fn mark_undeliverable(&self, user: &UserId, email: &EmailAddress, since: Timestamp) -> Result<bool> {
        let is_marked = self.people.mark_undeliverable(user, email, since).await?;
        if is_marked {
            let origin = AuditContext::consequence(&CorrelationId::generate(), since);
            self.audit_log.put(&origin.undeliverable(user)).await?;
        }
        Ok(is_marked)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::mailer::USER_TAG;

    fn feedback(rest: &Value) -> Feedback {
        let mut event = json!({
            "eventType": "Bounce",
            "mail": {
                "messageId": "0102",
                "timestamp": "2026-03-02T14:05:08.000Z",
                "destination": ["ada@example.com"],
                "tags": {"ses:configuration-set": ["linklet"], "user": ["0195a1f0-0000-7000-8000-00000000000b"]},
            },
        });
        event.as_object_mut().unwrap().append(&mut rest.as_object().unwrap().clone());
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn only_what_will_not_get_better_ends_mails() {
        const AT: &str = "2026-03-02T14:05:09.120Z";
        let bounce = |kind: &str| feedback(&json!({"bounce": {"bounceType": kind, "timestamp": AT}}));
        let complaint = |kind: Value| feedback(&json!({"complaint": {"complaintFeedbackType": kind, "timestamp": AT}}));

        assert_eq!(bounce("Permanent").since(), Timestamp::parse("2026-03-02T14:05:08.000Z").ok(), "when it was sent");
        assert_eq!(bounce("Transient").since(), None);
        assert_eq!(bounce("Undetermined").since(), None);
        assert_eq!(complaint(json!("abuse")).since(), Timestamp::parse(AT).ok());
        assert_eq!(complaint(Value::Null).since(), Timestamp::parse(AT).ok());
        assert_eq!(complaint(json!("not-spam")).since(), None);
        assert_eq!(feedback(&json!({"delivery": {"timestamp": AT}})).since(), None);
    }

    #[test]
    fn the_tag_says_whose_mail_it_was_and_not_what_came_back() {
        let user = UserId::parse("0195a1f0-0000-7000-8000-00000000000b").unwrap();
        assert_eq!(feedback(&json!({})).addressee(), Some((user, EmailAddress::parse("ada@example.com").unwrap())));

        for mail in [
            json!({"messageId": "0102", "timestamp": "2026-03-02T14:05:08.000Z", "destination": ["ada@example.com"]}),
            json!({"messageId": "0102", "timestamp": "2026-03-02T14:05:08.000Z", "destination": ["ada@example.com"], "tags": {"user": ["ada"]}}),
            json!({"messageId": "0102", "timestamp": "2026-03-02T14:05:08.000Z", "destination": [], "tags": {"user": [user.to_string()]}}),
        ] {
            assert_eq!(feedback(&json!({"mail": mail})).addressee(), None, "{mail}");
        }
    }

    #[test]
    fn the_tag_is_the_one_that_mails_are_sent_with() {
        assert_eq!(serde_json::to_value(Tags::default()).unwrap(), json!({USER_TAG: []}));
    }
}
