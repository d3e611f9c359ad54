//! Lists the caller's notifications, and notes which they have seen.

use linklet_domain::{
    EventId, Invalid, Notification, NotificationKind, NotificationStatus, NotificationSubject, Timestamp, WorkspaceId,
};
use linklet_dynamodb::Cursor;
use linklet_lambda::http::{NextPage, Request, Response, Result, StatusCode, json, no_content};
use linklet_lambda::identity::Caller;
use serde::{Deserialize, Serialize};

use crate::Account;

impl Account {
    pub(crate) async fn list_notifications(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let limit = request.page_size()?;
        let after = request.after(Cursor::decode)?;
        let kinds: Result<Vec<_>, Invalid> = request.queries("kind").map(NotificationKind::parse).collect();
        let kinds = kinds.map_err(|refused| refused.in_field("kind"))?;
        let feed = self.notifications.list(&caller.user, &kinds, limit, after.as_ref()).await?;
        let body = FeedView {
            notifications: feed.page.items.iter().map(NotificationView::from).collect(),
            next: request.next_page(feed.page.next.map(|cursor| cursor.encode())),
            seen_at: after.is_none().then_some(feed.seen_at),
        };
        Ok(json(StatusCode::OK, &body))
    }

    pub(crate) async fn mark_seen(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let Seen { seen_at } = request.json()?;
        // A clock that is ahead must not have seen what is yet to come.
        self.notifications.mark_seen(&caller.user, seen_at.min(request.received_at)).await?;
        Ok(no_content())
    }
}

#[derive(Deserialize)]
struct Seen {
    seen_at: Timestamp,
}

#[derive(Serialize)]
struct FeedView<'a> {
    notifications: Vec<NotificationView<'a>>,
    #[serde(flatten)]
    next: NextPage,
    /// Only the first page has it, also if it is `null`, since nothing was seen yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_at: Option<Option<Timestamp>>,
}

#[derive(Serialize)]
struct NotificationView<'a> {
    id: &'a EventId,
    event_type: &'a str,
    status: NotificationStatus,
    created_at: Timestamp,
    sent_at: Option<Timestamp>,
    message: &'a str,
    workspace_id: &'a WorkspaceId,
    #[serde(flatten)]
    about: &'a NotificationSubject,
}

impl<'a> From<&'a Notification> for NotificationView<'a> {
    fn from(notification: &'a Notification) -> Self {
        let Notification { id, event_type, message, workspace: workspace_id, about, .. } = notification;
        let Notification { status, created_at, sent_at, .. } = *notification;
        Self { id, event_type, status, created_at, sent_at, message, workspace_id, about }
    }
}
