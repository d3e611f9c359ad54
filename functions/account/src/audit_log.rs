//! The audit log of a workspace, for its admins, and that of a person, for themselves.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use linklet_domain::{
    ActionFilter, Actor, AuditAction, AuditEntry, AuditFilter, AuditLog, AuditSubject, CorrelationId, CountryCode,
    EventId, FullName, IpHash, Timestamp, UserId,
};
use linklet_dynamodb::{Cursor, Page};
use linklet_lambda::http::{Format, NextPage, Request, Response, Result, StatusCode, TableRows, exported, json};
use linklet_lambda::identity::{Caller, Person};
use linklet_lambda::link_view::within_budget;
use serde::Serialize;

use crate::Account;

/// How many entries a page has unless `limit` says otherwise.
const PAGE: usize = 50;

/// How many entries a page of a table or an export has.
const ROWS: usize = 1_000;

/// What an audit log is shown for.
#[derive(Debug, Clone, Copy)]
enum Pages {
    OfList,
    OfExport,
}

impl Account {
    pub(crate) async fn show_workspace_audit_log(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let actor = request.parsed("actor", Actor::parse)?;
        self.show_audit_log(request, &AuditLog::Workspace(caller.workspace), actor, Pages::OfList).await
    }

    pub(crate) async fn export_audit_log(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let actor = request.parsed("actor", Actor::parse)?;
        self.show_audit_log(request, &AuditLog::Workspace(caller.workspace), actor, Pages::OfExport).await
    }

    pub(crate) async fn show_own_audit_log(&self, request: &Request, person: &Person) -> Result<Response> {
        self.show_audit_log(request, &AuditLog::Person(person.user), None, Pages::OfList).await
    }

    async fn show_audit_log(
        &self,
        request: &Request,
        audit_log: &AuditLog,
        actor: Option<Actor>,
        pages: Pages,
    ) -> Result<Response> {
        let (from, to) = request.time_between(("from", "to"))?;
        let action = request.parsed("action", ActionFilter::parse)?;
        let filter = AuditFilter { from, to, actor, action };
        let after = request.after(Cursor::<EventId>::decode)?;
        let format = Format::of(request)?;
        let limit = match (format, pages) {
            (Format::Json, Pages::OfList) => request.page_size_or(PAGE)?,
            (Format::Csv, _) | (_, Pages::OfExport) => request.number_of_rows(ROWS)?,
        };
        let Page { items, next } = self.users.audit_log().list(audit_log, &filter, limit, after.as_ref()).await?;
        let names = within_budget("names", self.users.names().names(people_in(&items))).await.unwrap_or_default();
        let entries: Vec<_> = items.iter().map(|entry| EntryView::new(entry, &names)).collect();
        let next = request.next_page(next.map(|cursor| cursor.encode()));
        match (format, pages) {
            (Format::Json, Pages::OfList) => Ok(json(StatusCode::OK, &AuditLogView { entries, next: &next })),
            (Format::Json, Pages::OfExport) => exported(request, &next, &BTreeMap::from([("entries", entries)])),
            (Format::Csv, _) => {
                let mut rows = TableRows::default();
                rows.add(COLUMNS)?;
                entries.iter().try_for_each(|entry| rows.add(entry.row()))?;
                rows.page(request, &next)
            }
        }
    }
}

/// Whose names are shown.
fn people_in(entries: &[AuditEntry]) -> BTreeSet<&UserId> {
    let actors = entries.iter().filter_map(|entry| entry.actor.person());
    let subjects = entries.iter().filter_map(|entry| entry.subject.as_ref()?.person());
    actors.chain(subjects).collect()
}

#[derive(Serialize)]
struct AuditLogView<'a> {
    entries: Vec<EntryView<'a>>,
    #[serde(flatten)]
    next: &'a NextPage,
}

#[derive(Serialize)]
struct EntryView<'a> {
    id: &'a EventId,
    at: Timestamp,
    actor: ActorView<'a>,
    action: AuditAction,
    subject: Option<SubjectView<'a>>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    device: Option<&'a str>,
    country: Option<&'a CountryCode>,
    address_hash: Option<&'a IpHash>,
    correlation_id: &'a CorrelationId,
}

/// Who has acted. Only a person has an id, and a name unless they have none or are gone.
#[derive(Serialize)]
struct ActorView<'a> {
    kind: &'static str,
    user_id: Option<&'a UserId>,
    name: Option<&'a FullName>,
    key_prefix: Option<&'a str>,
}

#[derive(Serialize)]
struct SubjectView<'a> {
    kind: &'static str,
    id: String,
    name: Option<&'a FullName>,
}

const COLUMNS: [&str; 15] = [
    "at",
    "action",
    "actor_kind",
    "actor_id",
    "actor_name",
    "subject_kind",
    "subject_id",
    "subject_name",
    "from",
    "to",
    "device",
    "country",
    "address_hash",
    "correlation_id",
    "id",
];

impl<'a> EntryView<'a> {
    fn new(entry: &'a AuditEntry, names: &'a HashMap<UserId, FullName>) -> Self {
        let name_of = |user: Option<&UserId>| user.and_then(|user| names.get(user));
        let key_prefix = match &entry.actor {
            Actor::Key(prefix) => Some(prefix.as_str()),
            Actor::Person(_) | Actor::Operator | Actor::Linklet => None,
        };
        let user_id = entry.actor.person();
        let name = name_of(user_id);
        let actor = ActorView { kind: entry.actor.kind(), user_id, name, key_prefix };
        let subject = |subject: &'a AuditSubject| SubjectView {
            kind: subject.kind(),
            id: subject.id(),
            name: name_of(subject.person()),
        };
        Self {
            id: &entry.id,
            at: entry.at,
            actor,
            action: entry.action,
            subject: entry.subject.as_ref().map(subject),
            from: entry.from.as_deref(),
            to: entry.to.as_deref(),
            device: entry.device.as_deref(),
            country: entry.country.as_ref(),
            address_hash: entry.address.as_ref(),
            correlation_id: &entry.correlation_id,
        }
    }

    /// The entry as a row of a table, in which what it hasn't is empty.
    fn row(&self) -> [String; COLUMNS.len()] {
        let Self { actor, subject, .. } = self;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let actor_id = actor.user_id.map(UserId::to_string).or_else(|| actor.key_prefix.map(str::to_owned));
        [
            self.at.to_string(),
            self.action.to_string(),
            actor.kind.to_owned(),
            actor_id.unwrap_or_default(),
            text(actor.name.map(FullName::as_str)),
            text(subject.as_ref().map(|subject| subject.kind)),
            text(subject.as_ref().map(|subject| subject.id.as_str())),
            text(subject.as_ref().and_then(|subject| subject.name).map(FullName::as_str)),
            text(self.from),
            text(self.to),
            text(self.device),
            text(self.country.map(CountryCode::as_str)),
            text(self.address_hash.map(IpHash::as_str)),
            self.correlation_id.to_string(),
            self.id.to_string(),
        ]
    }
}
