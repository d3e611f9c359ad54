//! Reports by mail.
//!
//! An order may come several times: SQS delivers at least once, and a run that is repeated orders anew what isn't mailed yet. So the one
//! conditional write of a person and period stands right before the mail, and whoever comes second finds it done. If SES refuses the mail,
//! the claim is given up, and the message comes again until it ends in the dead-letter queue. If SES gives no answer, the mail may be on its
//! way, so the call isn't repeated and the claim stays: that report may be missing, which is logged and counted as a mail that failed, but
//! nobody gets two. Nothing else limits these mails.

use linklet_domain::{ClickCount, EmailRequest, Report, ReportEvery, UnsubscribeToken};
use linklet_dynamodb::{MailAddress, Recipient};
use linklet_lambda::telemetry::warn_of;

use crate::addresses::Addresses;
use crate::invitation_mail::plain_words;
use crate::mail::{Mail, MailKind};
use crate::mailer::Addressee;
use crate::{DeliveryError, Mailer, Notify};

impl Notify {
    /// Mails a report, unless it was mailed, or its person doesn't want it any more or can't have it.
    pub(crate) async fn mail_report(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        report: &Report,
    ) -> Result<(), DeliveryError> {
        let (user, id, now) = (&report.user_id, &report.report_id, (self.clock)());
        let address = match self.people.find(user, &id.workspace, now).await? {
            Recipient::Member(address) => address,
            Recipient::NoMember => None,
        };
        let Some(email) = address.as_ref().and_then(MailAddress::reachable) else {
            tracing::info!(order_id = %order.order_id, "no mail: nobody to send the report to");
            return Ok(());
        };
        let Some(claim) = self.reports.claim(id, user, report.period).await? else {
            tracing::info!(order_id = %order.order_id, "no mail: the report was sent, or isn't wanted any more");
            return Ok(());
        };
        let mail = mail(&self.addresses, report, &mailer.unsubscribe_token(user, now));
        let sent = mailer.send(&mail, Addressee { email, user: Some(user) }).await;
        if sent.is_err() && !matches!(sent, Err(DeliveryError::Unanswered(_))) {
            warn_of(self.reports.release(&claim).await, "a report that was not mailed won't be tried again");
        }
        sent
    }
}

fn mail(addresses: &Addresses, report: &Report, token: &UnsubscribeToken) -> Mail {
    let Report { report_id, period, numbers, .. } = report;
    let last = if period.every() == ReportEvery::Week { "last week" } else { "last month" };
    let (about, clicks) = (subject_of(report), counted(numbers.count.clicks));
    let mut mail = Mail::new(MailKind::Report, format!("{about}: {clicks} {last}"))
        .paragraph(format!(
            "{about} had {clicks} {last} ({} to {}, UTC), {} of them human.",
            period.first,
            period.last,
            grouped(numbers.count.human_clicks)
        ))
        .paragraph(change(period.every(), numbers.count, numbers.before));
    if !numbers.is_complete {
        mail = mail.paragraph("There were too many links to count all of them, so there were more clicks than that.");
    }
    if !numbers.top.is_empty() {
        let top = numbers.top.iter().map(|(code, clicks)| (addresses.short_link(code), counted(*clicks)));
        mail = mail.paragraph("Top links:").counts(top.collect());
    }
    let words = if report.tag.is_some() { "View tag" } else { "View overview" };
    let footnote = match period.every() {
        ReportEvery::Week => "You get this report every Monday.",
        ReportEvery::Month => "You get this report on the first of each month.",
    };
    mail.button(words, addresses.of_report(report))
        .footnote(footnote, "Unsubscribe", addresses.unsubscribe(token, Some(report_id)))
        .unsubscribed_at(addresses.one_click(token, Some(report_id)))
}

/// What a report is about. The person has named the tag, and others the workspace.
fn subject_of(report: &Report) -> String {
    let words = plain_words(report.workspace_name.as_str());
    let workspace = if words.is_empty() { "Your workspace".to_owned() } else { words };
    report.tag.as_ref().map_or(workspace.clone(), |tag| format!("“{}” in {workspace}", tag.as_str()))
}

/// What has changed since the period before, in words.
fn change(every: ReportEvery, now: ClickCount, before: ClickCount) -> String {
    let period = if every == ReportEvery::Week { "the week before" } else { "the month before" };
    let (now, before) = (now.clicks, before.clicks);
    if before == 0 {
        return format!("There were no clicks {period}.");
    }
    let known = grouped(before);
    let percent = (now.abs_diff(before).saturating_mul(100) + before / 2) / before;
    match (now.cmp(&before), percent) {
        (std::cmp::Ordering::Equal, _) => format!("That’s the same as {period}."),
        (_, 0) => format!("That’s about the same as {period} ({known})."),
        (std::cmp::Ordering::Greater, _) => format!("That’s {}% more than {period} ({known}).", grouped(percent)),
        (std::cmp::Ordering::Less, _) => format!("That’s {percent}% less than {period} ({known})."),
    }
}

fn counted(clicks: u64) -> String {
    if clicks == 1 { "1 click".to_owned() } else { format!("{} clicks", grouped(clicks)) }
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_in_words() {
        let told = |now, before| {
            let count = |clicks| ClickCount { clicks, human_clicks: 0 };
            change(ReportEvery::Week, count(now), count(before))
        };

        for (now, before, expected) in [
            (1_204, 1_075, "That’s 12% more than the week before (1,075)."),
            (30_000, 1, "That’s 2,999,900% more than the week before (1)."),
            (537, 1_075, "That’s 50% less than the week before (1,075)."),
            (0, 1_234_567, "That’s 100% less than the week before (1,234,567)."),
            (1_001, 1_000, "That’s about the same as the week before (1,000)."),
            (7, 7, "That’s the same as the week before."),
            (7, 0, "There were no clicks the week before."),
        ] {
            assert_eq!(told(now, before), expected);
        }
        assert!(
            change(ReportEvery::Month, ClickCount::default(), ClickCount::default()).ends_with("the month before.")
        );
    }
}
