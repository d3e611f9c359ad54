//! `GET /api/links/{code}/history`: who has changed where or whether a link leads.

use linklet_domain::{FullName, HistoryEntry, LinkChanges, Timestamp, UserId};
use linklet_dynamodb::Cursor;
use linklet_lambda::http::{NextPage, Request, Response, Result, StatusCode, json};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_view::{CreatorNames, NAMES, within_budget};
use serde::Serialize;

use crate::List;

impl List {
    pub(crate) async fn history(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let (limit, after) = (request.page_size()?, request.after(Cursor::decode)?);
        let link = self.link(caller, code).await?;
        let page = self.links.history(link.id(), limit, after.as_ref()).await?;
        let people = page.items.iter().map(|entry| &entry.by).collect();
        let names = within_budget(NAMES, self.people.names(people)).await;
        let view = HistoryView {
            degraded: names.is_none().then_some(NAMES).into_iter().collect(),
            history: page.items.into_iter().map(|entry| EntryView::new(entry, names.as_ref())).collect(),
            next: request.next_page(page.next.map(|cursor| cursor.encode())),
        };
        Ok(json(StatusCode::OK, &view))
    }
}

#[derive(Serialize)]
struct HistoryView {
    history: Vec<EntryView>,
    #[serde(flatten)]
    next: NextPage,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<&'static str>,
}

#[derive(Serialize)]
struct EntryView {
    at: Timestamp,
    by: UserId,
    by_name: Option<FullName>,
    changes: LinkChanges,
}

impl EntryView {
    fn new(HistoryEntry { at, by, changes }: HistoryEntry, names: Option<&CreatorNames>) -> Self {
        Self { at, by, by_name: names.and_then(|names| names.get(&by)).cloned(), changes }
    }
}
