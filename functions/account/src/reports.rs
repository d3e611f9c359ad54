//! The reports of a workspace that its members want by mail, each for themselves.

use linklet_domain::{
    Invalid, ReportEvery, ReportId, ReportNotMailed, ReportSubscription, SortOrder, Tag, Timestamp, optional,
};
use linklet_dynamodb::SubscribeOutcome;
use linklet_lambda::http::{Problem, Request, Response, Result, StatusCode, created, json, list_response, no_content};
use linklet_lambda::identity::Caller;
use serde::{Deserialize, Serialize};

use crate::Account;

/// Where the list is: a report has no address of its own to read.
const LIST: &str = "reports";

impl Account {
    pub(crate) async fn list_reports(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let reports = self.users.reports(&caller.workspace, &caller.user).await?;
        let key = |report: &ReportSubscription| format!("{}#{}", report.created_at, report.id());
        let (reports, next) = request.page_of(reports, SortOrder::Ascending, key)?;
        let not_mailed = self.reports_not_mailed(request, caller).await?;
        let shown = reports.into_iter().map(|report| ReportView::new(report, not_mailed));
        Ok(list_response("reports", shown.collect(), next))
    }

    /// 201 with the report, or 200 if the caller wanted it before.
    pub(crate) async fn want_report(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let not_mailed = self.reports_not_mailed(request, caller).await?;
        let wanted = request.json_object()?.read::<NewReport>()?;
        let tag = wanted.tag.as_deref().filter(|tag| !tag.trim().is_empty()).map(Tag::parse).transpose();
        let tag = tag.map_err(|refused: Invalid| refused.in_field("tag"))?;
        let id = ReportId::new(wanted.every, caller.workspace, tag.as_ref());
        let subscription = ReportSubscription::new(&id, caller.user, tag, request.received_at);
        let origin = self.origin(request, caller);
        match self.users.want_report(subscription, &origin).await? {
            SubscribeOutcome::Added(report) => Ok(created(LIST, &ReportView::new(report, not_mailed))),
            SubscribeOutcome::Known(report) => Ok(json(StatusCode::OK, &ReportView::new(report, not_mailed))),
            SubscribeOutcome::TooMany => Err(Problem::ReportLimit.into()),
        }
    }

    pub(crate) async fn end_report(&self, request: &Request, caller: &Caller, id: &str) -> Result<Response> {
        // One of another workspace is none of this one.
        let id = ReportId::parse(id).ok().filter(|id| id.workspace == caller.workspace);
        if let Some(id) = id {
            self.users.end_report(&id, &caller.user, &self.origin(request, caller)).await?;
        }
        Ok(no_content())
    }

    /// Why the caller would get no report if one were due.
    ///
    /// # Errors
    /// 401 when they have no account any more.
    async fn reports_not_mailed(&self, request: &Request, caller: &Caller) -> Result<Option<ReportNotMailed>> {
        let address = self.users.recipients().address(&caller.user, request.received_at).await?;
        let address = address.ok_or(Problem::Unauthorized)?;
        Ok(match (self.mails.are_placed(), address.is_verified, address.is_undeliverable) {
            (false, ..) => Some(ReportNotMailed::MailOff),
            (true, false, _) => Some(ReportNotMailed::Unverified),
            (true, true, true) => Some(ReportNotMailed::Undeliverable),
            (true, true, false) => None,
        })
    }
}

#[derive(Deserialize)]
struct NewReport {
    every: ReportEvery,
    #[serde(default, deserialize_with = "optional")]
    tag: Option<String>,
}

#[derive(Serialize)]
struct ReportView {
    id: ReportId,
    every: ReportEvery,
    tag: Option<Tag>,
    created_at: Timestamp,
    not_mailed: Option<ReportNotMailed>,
}

impl ReportView {
    fn new(report: ReportSubscription, not_mailed: Option<ReportNotMailed>) -> Self {
        let id = report.id();
        let ReportSubscription { every, tag, created_at, .. } = report;
        Self { id, every, tag, created_at, not_mailed }
    }
}
