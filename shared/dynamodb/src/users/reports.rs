//! Who wants reports by mail.
//!
//! `REPORTS#week` and `REPORTS#month` are a sparse index: who wants none has no item, so a run reads nothing but those who do, workspace by
//! workspace. Nothing deletes an item when its person leaves, or when the workspace or the account goes: the next run finds it without a
//! membership and does.

use linklet_domain::{
    AuditAction, AuditContext, EmailRequestId, ReportEvery, ReportId, ReportPeriod, ReportSubscription, UserId,
    WorkspaceId,
};

use super::UsersTable;
use super::item::{AddressItem, MemberItem, address_key, member_key, report_key, reports_partition};
use crate::item::{Answers, Item, SortKeys, Stored, Table, from_found, from_item, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::Outcome;
use crate::{Consistency, Result};

type ReportItem = Stored<ReportSubscription>;

fn report_item(subscription: &ReportSubscription) -> ReportItem {
    let key = report_key(&subscription.id(), &subscription.user_id);
    ReportItem { key, value: subscription.clone(), ttl: None }
}

/// The repository for sending reports: the items of UsersTable that say who wants them, and whether they may have them.
#[derive(Debug, Clone)]
pub struct Reports(pub Table);

/// Whether somebody may be mailed the reports of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportReader {
    /// Yes.
    Reachable,
    /// Not now: their membership is paused, the workspace is closed, their address isn't confirmed, or mail to it comes back.
    Unreachable,
    /// No, since they are no member.
    Gone,
}

/// Those who want reports, one answer of DynamoDB after another, sorted by workspace.
#[derive(Debug)]
pub struct SubscriptionReader(Answers);

/// That a report is sent now by whoever has this, and by nobody else.
#[derive(Debug, Clone)]
pub struct ReportClaim {
    report: ReportId,
    user: UserId,
    period: ReportPeriod,
    /// New for each attempt, so that a write that the SDK repeats is recognized, and no other attempt is.
    by: EmailRequestId,
}

/// What came of the wish for a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscribeOutcome {
    /// It was added.
    Added(ReportSubscription),
    /// It was there.
    Known(ReportSubscription),
    /// The person has [as many](ReportSubscription::MOST) of the workspace as they may.
    TooMany,
}

impl SubscriptionReader {
    const OPERATION: &str = "read who wants reports";

    /// The next ones; `None` after the last.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn next(&mut self) -> Result<Option<Vec<ReportSubscription>>> {
        let Some(items) = self.0.next().await? else { return Ok(None) };
        items.into_iter().map(subscription_of).collect::<Result<_>>().map(Some)
    }
}

fn subscription_of(item: Item) -> Result<ReportSubscription> {
    from_item::<ReportItem>(SubscriptionReader::OPERATION, item).map(|item| item.value)
}

impl Reports {
    /// All who want reports so often.
    pub fn wanted(&self, every: ReportEvery) -> SubscriptionReader {
        let query = self.0.query(&reports_partition(every), SortKeys::All);
        SubscriptionReader(self.0.query_answers(SubscriptionReader::OPERATION, query))
    }

    /// Whether somebody may be mailed the reports of a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reader(&self, user: &UserId, workspace: &WorkspaceId) -> Result<ReportReader> {
        // A read that costs half may lack what was written a moment ago: what is gone for good is certain.
        match self.read(user, workspace, Consistency::Eventual).await? {
            ReportReader::Gone => self.read(user, workspace, Consistency::Strong).await,
            found => Ok(found),
        }
    }

    async fn read(&self, user: &UserId, workspace: &WorkspaceId, consistency: Consistency) -> Result<ReportReader> {
        const OPERATION: &str = "look up who gets a report";
        let keys = [member_key(user, workspace), address_key(user)].map(Some);
        let [member, address] = self.0.get_each(OPERATION, keys, consistency).await?;
        let Some(member) = from_found::<MemberItem>(OPERATION, member)? else { return Ok(ReportReader::Gone) };
        let address = from_found::<AddressItem>(OPERATION, address)?;
        let is_reachable = member.value.is_active() && address.and_then(AddressItem::reachable).is_some();
        Ok(if is_reachable { ReportReader::Reachable } else { ReportReader::Unreachable })
    }

    /// Ends a report of somebody.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end(&self, report: &ReportId, user: &UserId) -> Result<()> {
        self.0.delete("end a report", report_key(report, user)).or_fail().await
    }

    /// Claims the report of a period, or of a later one than was ever claimed. `None` if it was claimed before, or is wanted no more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn claim(&self, report: &ReportId, user: &UserId, period: ReportPeriod) -> Result<Option<ReportClaim>> {
        let by = EmailRequestId::generate();
        let update = self
            .0
            .update("claim a report", report_key(report, user), "SET sent_for = :period, claimed_by = :by")
            .only_if("sent_for < :period")
            .values([(":period", text(&period.first)), (":by", text(&by))]);
        let is_ours = match update.send().await? {
            Outcome::Done(_) => true,
            // The SDK repeats a write of which it knows no answer.
            Outcome::Refused(found) => found.is_some_and(|item| item.get("claimed_by") == Some(&text(&by))),
        };
        Ok(is_ours.then(|| ReportClaim { report: report.clone(), user: *user, period, by }))
    }

    /// Gives up a claim, so that the report is sent at another attempt.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn release(&self, claim: &ReportClaim) -> Result<()> {
        let key = report_key(&claim.report, &claim.user);
        let update = self.0.update("release a report", key, "SET sent_for = :before REMOVE claimed_by");
        let values = [(":before", text(&claim.period.before().first)), (":by", text(&claim.by))];
        update.only_if("claimed_by = :by").values(values).unless_refused().await.map(|_| ())
    }
}

impl UsersTable {
    /// The reports that a person wants of a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reports(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Vec<ReportSubscription>> {
        const OPERATION: &str = "list reports";
        let mine = format!("{workspace}#{user}");
        let [weekly, monthly] = ReportEvery::ALL.map(reports_partition);
        let (weekly, monthly) = tokio::try_join!(
            self.0.list::<ReportItem>(OPERATION, &weekly, SortKeys::Beginning(&mine)),
            self.0.list::<ReportItem>(OPERATION, &monthly, SortKeys::Beginning(&mine)),
        )?;
        Ok(weekly.into_iter().chain(monthly).map(|item| item.value).collect())
    }

    /// Adds a report that a person wants. Requests at once may add some more than [a person may have](ReportSubscription::MOST), which
    /// does no harm.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn want_report(&self, wanted: ReportSubscription, origin: &AuditContext) -> Result<SubscribeOutcome> {
        const OPERATION: &str = "add a report";
        let (id, user) = (wanted.id(), &wanted.user_id);
        retry_on_conflict(OPERATION, async || {
            let have = self.reports(&id.workspace, user).await?;
            let count = have.len();
            if let Some(known) = have.into_iter().find(|report| report.id() == id) {
                return Ok(Some(SubscribeOutcome::Known(known)));
            }
            if count >= ReportSubscription::MOST {
                return Ok(Some(SubscribeOutcome::TooMany));
            }
            let entry = origin.of_person(user, AuditAction::AccountMailChanged).to(&told(&wanted));
            Transaction::new(OPERATION)
                .and(self.0.put_new(&report_item(&wanted))?, None)
                .and(self.entry(&entry)?, None)
                .commit(&self.0.client, SubscribeOutcome::Added(wanted.clone()))
                .await
        })
        .await
    }

    /// Ends a report that a person wants, if they do.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_report(&self, id: &ReportId, user: &UserId, origin: &AuditContext) -> Result<()> {
        const OPERATION: &str = "end a report";
        retry_on_conflict(OPERATION, async || {
            let key = report_key(id, user);
            let Some(item) = self.0.get::<ReportItem>(OPERATION, key.clone()).await? else { return Ok(Some(())) };
            let entry = origin.of_person(user, AuditAction::AccountMailChanged).from(&told(&item.value));
            let delete = self.0.delete(OPERATION, key).only_if("attribute_exists(pk)");
            Transaction::new(OPERATION)
                .and(delete.action()?, None)
                .and(self.entry(&entry)?, None)
                .commit(&self.0.client, ())
                .await
        })
        .await
    }
}

/// What the audit log says of a report.
fn told(report: &ReportSubscription) -> String {
    let about = report.tag.as_ref().map(|tag| format!(": {}", tag.as_str())).unwrap_or_default();
    format!("{} report{about}", if report.every == ReportEvery::Week { "weekly" } else { "monthly" })
}
