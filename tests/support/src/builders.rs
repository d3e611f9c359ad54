use aws_lambda_events::sqs::SqsEvent;
use linklet_domain::{
    Actor, ApiKey, ApiKeySecret, AuditContext, Availability, ClickId, CorrelationId, EmailAddress, Event, EventDetail,
    Generation, IpHash, KeyName, KeysLeft, Link, LinkId, LinkIdentity, LinkMetadata, LinkWrite, Member,
    RedirectOptions, Revision, Role, Salt, Scopes, SessionId, ShortCode, Tags, Target, TargetUrl, Timestamp,
    UrlClicked, UserId, Visitor, WorkspaceId,
};
use linklet_dynamodb::Removal;
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::token_of;

/// Builds a link; what a test doesn't say is some valid value.
#[derive(Debug, Clone)]
pub struct LinkBuilder(Link);

impl LinkBuilder {
    /// An active link with this code.
    ///
    /// # Panics
    /// When the code is none.
    pub fn new(code: &str) -> Self {
        // One moment for both: a link that was changed later is another matter.
        let now = Timestamp::now();
        Self(Link {
            identity: LinkIdentity { id: link_id(code), workspace: WorkspaceId::generate(), owner: UserId::generate() },
            target: TargetUrl::parse("https://example.com/landing").expect("a URL"),
            created_at: now,
            updated_at: now,
            availability: Availability::default(),
            expiry_is_published: false,
            metadata: LinkMetadata::default(),
            options: RedirectOptions::default(),
            routing: None,
            watch: false,
            archived: false,
            imported_clicks: None,
            imported_from: None,
            revision: Revision::FIRST,
            last_write: LinkWrite::of(&CorrelationId::generate()),
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
        self.0.identity.workspace = *workspace;
        self
    }

    /// Created by this person.
    #[must_use]
    pub fn owned_by(mut self, owner: &UserId) -> Self {
        self.0.identity.owner = *owner;
        self
    }

    /// Created at this time.
    #[must_use]
    pub fn created_at(mut self, at: Timestamp) -> Self {
        self.0.created_at = at;
        self.0.updated_at = at;
        self
    }

    /// Expiring at this time.
    #[must_use]
    pub fn expires_at(mut self, at: Timestamp) -> Self {
        self.0.availability.expires_at = Some(at);
        self
    }

    /// Beginning at this time.
    #[must_use]
    pub fn valid_from(mut self, at: Timestamp) -> Self {
        self.0.availability.valid_from = Some(at);
        self
    }

    /// On these options, as a request has them.
    ///
    /// # Panics
    /// When they are none.
    #[must_use]
    pub fn with_options(mut self, options: &Value) -> Self {
        self.0.options = serde_json::from_value(options.clone()).expect("options");
        self
    }

    /// With these tags.
    ///
    /// # Panics
    /// When they are none.
    #[must_use]
    pub fn tagged(mut self, tags: &[&str]) -> Self {
        self.0.metadata.tags = tags_of(tags);
        self
    }

    /// Another one than the link that was built with its code before.
    ///
    /// # Panics
    /// When there is no randomness.
    #[must_use]
    pub fn of_another_generation(mut self) -> Self {
        self.0.identity.id.generation = Generation::generate().expect("randomness");
        self
    }

    /// Watching where it leads.
    #[must_use]
    pub fn watching(mut self) -> Self {
        self.0.watch = true;
        self
    }

    /// Put away.
    #[must_use]
    pub fn archived(mut self) -> Self {
        self.0.archived = true;
        self
    }

    /// The link.
    pub fn build(self) -> Link {
        self.0
    }
}

/// Somebody with an account and a workspace of their own.
#[derive(Debug, Clone)]
pub struct Person {
    /// Who it is.
    pub id: UserId,
    /// Their address.
    pub email: EmailAddress,
    /// The workspace of which they are the admin.
    pub workspace: WorkspaceId,
}

impl Person {
    /// A token of theirs for this workspace, in which they have this role.
    pub fn token(&self, role: Role) -> String {
        token_of(&self.id, &self.workspace, role)
    }

    /// This person as somebody who joins a workspace now.
    pub fn as_member(&self, role: Role) -> Member {
        let (user, email, joined_at) = (self.id, self.email.clone(), Timestamp::now());
        Member { user, email, full_name: None, role, joined_at, paused_at: None }
    }
}

/// These tags of a link.
///
/// # Panics
/// When they are none.
pub fn tags_of(tags: &[&str]) -> Tags {
    tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>().try_into().expect("tags")
}

/// Where a change of this person's comes from that comes now.
pub fn an_origin(user: &UserId) -> AuditContext {
    AuditContext { actor: Actor::Person(*user), ..operator() }
}

/// Where a change of this person's comes from that comes at this time.
pub fn an_origin_at(user: &UserId, at: Timestamp) -> AuditContext {
    AuditContext { at, ..an_origin(user) }
}

/// Where what an operator does now comes from.
pub fn operator() -> AuditContext {
    AuditContext::command(Timestamp::now())
}

/// A session that has just begun.
pub fn a_session() -> SessionId {
    SessionId::beginning_at(Timestamp::now())
}

/// The removal of a member by this person, or by themselves, who keeps no keys.
pub fn removal<'a>(workspace: &'a WorkspaceId, caller: &'a UserId, user: &'a UserId) -> Removal<'a> {
    let origin = an_origin(caller);
    Removal { workspace, caller, user, keys: KeysLeft::Revoked, at: origin.at, origin }
}

/// Builds an API key; what a test doesn't say is some valid value.
#[derive(Debug, Clone)]
pub struct ApiKeyBuilder(ApiKey);

impl ApiKeyBuilder {
    /// A key with all scopes that lasts for ever, created now by this person in their workspace.
    ///
    /// # Panics
    /// Never: what it is made of is valid.
    pub fn new(secret: &ApiKeySecret, creator: &Person) -> Self {
        Self(ApiKey {
            workspace: creator.workspace,
            prefix: secret.prefix(),
            hash: secret.hash(),
            name: KeyName::parse("CI").expect("a name"),
            scopes: Scopes::parse(&["links:read", "links:write", "analytics:read"]).expect("scopes"),
            created_by: creator.id,
            created_at: Timestamp::now(),
            expires_at: None,
            last_used_at: None,
            paused_at: None,
            closed_at: None,
            rotated_to: None,
            first_prefix: None,
        })
    }

    /// With these scopes.
    ///
    /// # Panics
    /// When one is none.
    #[must_use]
    pub fn with_scopes(mut self, scopes: &[&str]) -> Self {
        self.0.scopes = Scopes::parse(scopes).expect("scopes");
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

    /// The key as it is stored.
    pub fn build(self) -> ApiKey {
        self.0
    }
}

/// Builds a monitored URL; what a test doesn't say is some valid value.
#[derive(Debug, Clone)]
pub struct TargetBuilder {
    url: TargetUrl,
    workspace: WorkspaceId,
    owner: UserId,
    created_at: Timestamp,
}

impl TargetBuilder {
    /// A target with this URL.
    ///
    /// # Panics
    /// When it is no URL.
    pub fn new(url: &str) -> Self {
        Self {
            url: TargetUrl::parse(url).expect("a URL"),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            created_at: Timestamp::now(),
        }
    }

    /// Belonging to this workspace.
    #[must_use]
    pub fn in_workspace(mut self, workspace: &WorkspaceId) -> Self {
        self.workspace = *workspace;
        self
    }

    /// Registered by this person.
    #[must_use]
    pub fn owned_by(mut self, owner: &UserId) -> Self {
        self.owner = *owner;
        self
    }

    /// Registered at this time.
    #[must_use]
    pub fn created_at(mut self, at: Timestamp) -> Self {
        self.created_at = at;
        self
    }

    /// The target, not registered and not watched by anybody yet.
    ///
    /// # Panics
    /// When its URL is too long for a target.
    pub fn build(self) -> Target {
        Target::new(self.url, self.workspace, self.owner, self.created_at).expect("a target")
    }
}

/// The link with this code of which the builders make properties and clicks, unless a test says otherwise.
///
/// # Panics
/// When the code is none.
pub fn link_id(code: &str) -> LinkId {
    let generation = Generation::parse("x7Kf2a").expect("a generation");
    LinkId { code: ShortCode::parse(code).expect("a code"), generation }
}

/// The workspace of clicks for which a test names none.
///
/// # Panics
/// Never: it is a UUID.
pub fn some_workspace() -> WorkspaceId {
    WorkspaceId::parse("0198c0de-0000-7000-8000-00000000000a").expect("a workspace")
}

/// A click on this link, in [`some_workspace`], at this time, by somebody with a browser.
///
/// # Panics
/// When the code is none.
pub fn click_event(code: &str, clicked_at: Timestamp) -> Event {
    ClickBuilder::new(code).at(clicked_at).build()
}

/// A click on this workspace's link at this time.
///
/// # Panics
/// When the code is none.
pub fn click_in(workspace: &WorkspaceId, code: &str, clicked_at: Timestamp) -> Event {
    ClickBuilder::new(code).in_workspace(workspace).at(clicked_at).build()
}

/// Builds the event of a click; what a test doesn't say is some valid value.
#[derive(Debug, Clone)]
pub struct ClickBuilder {
    clicked_at: Timestamp,
    workspace: WorkspaceId,
    detail: UrlClicked,
}

impl ClickBuilder {
    /// Chrome on Windows.
    pub const BROWSER: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";

    /// A click on this link, now, by somebody with a browser.
    ///
    /// # Panics
    /// When the code is none.
    pub fn new(code: &str) -> Self {
        let detail = UrlClicked {
            link: link_id(code),
            user_id: UserId::generate(),
            visitor: Visitor::new(hashed("203.0.113.9")).with_headers(Some(Self::BROWSER), None),
        };
        Self { clicked_at: Timestamp::now(), workspace: some_workspace(), detail }
    }

    /// On this workspace's link.
    #[must_use]
    pub fn in_workspace(mut self, workspace: &WorkspaceId) -> Self {
        self.workspace = *workspace;
        self
    }

    /// On the link of this generation.
    #[must_use]
    pub fn of_generation(mut self, generation: Generation) -> Self {
        self.detail.link.generation = generation;
        self
    }

    /// At this time.
    #[must_use]
    pub fn at(mut self, clicked_at: Timestamp) -> Self {
        self.clicked_at = clicked_at;
        self
    }

    /// From this address.
    #[must_use]
    pub fn by(mut self, address: &str) -> Self {
        self.detail.visitor.ip_hash = hashed(address);
        self
    }

    /// With this user agent.
    #[must_use]
    pub fn with(mut self, user_agent: &str) -> Self {
        self.detail.visitor.user_agent = user_agent.to_owned();
        self
    }

    /// Coming from this page.
    #[must_use]
    pub fn from(mut self, referer: &str) -> Self {
        let agent = std::mem::take(&mut self.detail.visitor.user_agent);
        self.detail.visitor = self.detail.visitor.with_headers(Some(&agent), Some(referer));
        self
    }

    /// In this country.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn in_country(mut self, country: &str) -> Self {
        self.detail.visitor.country = Some(country.parse().expect("a country"));
        self
    }

    /// By the short link with this query.
    #[must_use]
    pub fn coming_with(mut self, query: &str) -> Self {
        self.detail.visitor = self.detail.visitor.coming_with(query, "");
        self
    }

    /// Looking ahead.
    #[must_use]
    pub fn prefetching(mut self) -> Self {
        self.detail.visitor.prefetch = true;
        self
    }

    /// Of this person's link.
    #[must_use]
    pub fn owned_by(mut self, owner: &UserId) -> Self {
        self.detail.user_id = *owner;
        self
    }

    /// The event, with the id of a click at its time.
    pub fn build(self) -> Event {
        Event {
            event_id: ClickId::generate(self.clicked_at).into(),
            occurred_at: self.clicked_at,
            correlation_id: CorrelationId::generate(),
            workspace_id: self.workspace,
            detail: EventDetail::UrlClicked(self.detail),
        }
    }
}

fn hashed(address: &str) -> IpHash {
    IpHash::of(address, &Salt::parse(&"salt".repeat(8)).expect("a salt"))
}

/// A batch of messages with these bodies, as SQS delivers it for the first time. The message ids are `0`, `1`, ….
///
/// # Panics
/// Never: the batch has SQS's form.
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
pub fn event_batch(events: &[Event]) -> SqsEvent {
    message_batch(events)
}

/// A batch of messages with these contents.
///
/// # Panics
/// When one can't be serialised.
pub fn message_batch(contents: &[impl Serialize]) -> SqsEvent {
    let bodies: Vec<_> = contents.iter().map(|each| serde_json::to_string(each).expect("a message is JSON")).collect();
    queue_batch(&bodies)
}
