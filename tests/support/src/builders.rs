use aws_lambda_events::sqs::SqsEvent;
use linklet_domain::{
    CorrelationId, EmailAddress, Event, EventDetail, EventId, IpHash, Link, LinkState, Salt, ShortCode, TargetUrl,
    Timestamp, UrlClicked, UserId, WorkspaceId,
};
use serde_json::{Value, json};

/// Builds a link; what a test doesn't say is some valid value.
#[derive(Debug, Clone)]
pub struct LinkBuilder(Link);

impl LinkBuilder {
    /// An active link with this code.
    ///
    /// # Panics
    /// When the code is none.
    #[must_use]
    pub fn new(code: &str) -> Self {
        Self(Link {
            code: ShortCode::parse(code).expect("a code"),
            target: TargetUrl::parse("https://example.com/landing").expect("a URL"),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            owner_email: EmailAddress::parse("ada@example.com").expect("an address"),
            created_at: Timestamp::now(),
            expires_at: None,
            title: None,
            description: None,
            tags: Vec::new(),
            state: LinkState::Active,
        })
    }

    /// Leading here.
    ///
    /// # Panics
    /// When it is no URL.
    #[must_use]
    pub fn to(mut self, url: &str) -> Self {
        self.0.target = TargetUrl::parse(url).expect("a URL");
        self
    }

    /// Belonging to this workspace.
    #[must_use]
    pub fn in_workspace(mut self, workspace: &WorkspaceId) -> Self {
        self.0.workspace = workspace.clone();
        self
    }

    /// Created by this person.
    #[must_use]
    pub fn owned_by(mut self, owner: &UserId) -> Self {
        self.0.owner = owner.clone();
        self
    }

    /// Created at this time.
    #[must_use]
    pub fn created_at(mut self, at: Timestamp) -> Self {
        self.0.created_at = at;
        self
    }

    /// Expiring at this time.
    #[must_use]
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.0.expires_at = Some(at);
        self
    }

    /// The link.
    #[must_use]
    pub fn build(self) -> Link {
        self.0
    }
}

/// A click on this link, in some workspace, at this time.
///
/// # Panics
/// When the code is none.
#[must_use]
pub fn click_event(code: &str, clicked_at: Timestamp) -> Event {
    click_in(&WorkspaceId::generate(), code, clicked_at)
}

/// A click on this workspace's link at this time.
///
/// # Panics
/// When the code is none.
#[must_use]
pub fn click_in(workspace: &WorkspaceId, code: &str, clicked_at: Timestamp) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: clicked_at,
        correlation_id: CorrelationId::generate(),
        detail: EventDetail::UrlClicked(UrlClicked {
            short_code: ShortCode::parse(code).expect("a code"),
            workspace_id: workspace.clone(),
            user_id: UserId::generate(),
            ip_hash: IpHash::of("203.0.113.9", &Salt::parse(&"salt".repeat(8)).expect("a salt")),
            user_agent: "Mozilla/5.0".to_owned(),
            referer: None,
        }),
    }
}

/// A batch of messages with these bodies, as SQS delivers it for the first time. The message ids are `0`, `1`, ….
///
/// # Panics
/// Never: the batch has SQS's form.
#[must_use]
pub fn queue_batch(bodies: &[String]) -> SqsEvent {
    let records: Vec<Value> = bodies
        .iter()
        .enumerate()
        .map(|(id, body)| {
            json!({
                "messageId": id.to_string(), "receiptHandle": "handle", "body": body,
                "attributes": {"ApproximateReceiveCount": "1"}, "messageAttributes": {},
                "eventSource": "aws:sqs", "awsRegion": "eu-central-1",
            })
        })
        .collect();
    serde_json::from_value(json!({"Records": records})).expect("a batch of messages")
}

/// A batch of these events.
///
/// # Panics
/// Never: events can be serialised.
#[must_use]
pub fn event_batch(events: &[Event]) -> SqsEvent {
    let bodies: Vec<_> = events.iter().map(|event| serde_json::to_string(event).expect("an event is JSON")).collect();
    queue_batch(&bodies)
}
