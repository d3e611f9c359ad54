//! Lists the caller's notifications.

use linklet_domain::{EventId, Notification, NotificationStatus, NotificationSubject, Timestamp};
use linklet_dynamodb::{Cursor, NotificationsTable};
use linklet_lambda::{
    http::{ApiError, Handler, Method, Problem, Request, Response, StatusCode, json},
    identity::{Caller, TokenVerifier},
};
use serde::Serialize;

/// `GET /api/notifications`.
pub struct Notifications {
    /// Verifies tokens.
    pub tokens: TokenVerifier,
    /// The repository of notifications.
    pub notifications: NotificationsTable,
}

impl Handler for Notifications {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "notifications"]) => {
                let caller = self.tokens.authenticate(request).await?;
                self.list(request, &caller).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Notifications {
    async fn list(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let limit = request.page_size()?;
        let after = request.parsed("after", Cursor::decode)?;
        let page = self.notifications.list(caller.user(), limit, after.as_ref()).await?;
        let notifications = page.items.iter().map(NotificationView::from).collect();
        Ok(json(StatusCode::OK, &Feed { notifications, next_cursor: page.next.map(|cursor| cursor.encode()) }))
    }
}

#[derive(Serialize)]
struct Feed<'a> {
    notifications: Vec<NotificationView<'a>>,
    next_cursor: Option<String>,
}

#[derive(Serialize)]
struct NotificationView<'a> {
    id: &'a EventId,
    event_type: &'a str,
    status: NotificationStatus,
    created_at: Timestamp,
    sent_at: Option<Timestamp>,
    message: &'a str,
    #[serde(flatten)]
    about: &'a NotificationSubject,
}

impl<'a> From<&'a Notification> for NotificationView<'a> {
    fn from(notification: &'a Notification) -> Self {
        Self {
            id: &notification.id,
            event_type: &notification.event_type,
            status: notification.status,
            created_at: notification.created_at,
            sent_at: notification.sent_at,
            message: &notification.message,
            about: &notification.about,
        }
    }
}
