//! Changes links. Where they lead can be changed only in workspaces that allow it, so that visitors of all others can trust a link
//! that they have followed before.

mod bulk;
mod put;

use std::time::Instant;

use linklet_domain::{
    Destinations, Invalid, Link, LinkEdit, LinkName, LinkPassword, LinkPatch, LinkStatus, Precondition, Record, Scope,
    TagChange, Timestamp, patched,
};
use linklet_dynamodb::{EditContext, EditOutcome, Names, StatsTable};
use linklet_lambda::bulk::Bulk;
use linklet_lambda::http::{
    ApiError, Edge, Handler, Immutable, JsonObject, Method, Problem, Request, Response, Result, StatusCode, json,
    tagged,
};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::link_view::{LinkTables, OneLink};
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::rules::{GivenRules, RulesView, refuse_own};
use linklet_lambda::throttle::Throttle;
use serde::Deserialize;

/// `PATCH /api/links/{code}`, `PUT /api/links/ext:{external_id}`, `PATCH /api/links/bulk` and `PUT /api/links/{code}/rules`.
pub struct Update {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// Creates links, and has what changes them.
    pub writer: LinkWriter,
    /// Limits new links.
    pub throttle: Throttle,
    /// The repository of statistics, for the link's click count.
    pub stats: StatsTable,
    /// The repository of people's names, for that of the link's creator.
    pub people: Names,
    /// Counts the links of requests about many.
    pub bulk: Bulk,
    /// The edge that tells visitors' countries, without which no rule about them holds.
    pub edge: Edge,
}

impl Handler for Update {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let writer = async || self.authenticator.require(request, Scope::LinksWrite).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::PATCH, ["api", "links", "bulk"]) => {
                let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
                // Boxed, so that requests about one link carry no state of those about many.
                Box::pin(self.update_many(request, &caller)).await
            }
            (&Method::PATCH, ["api", "links", code]) => self.update(request, &writer().await?, code).await,
            (&Method::PUT, ["api", "links", name]) => self.put(request, &writer().await?, name).await,
            (&Method::PUT, ["api", "links", code, "rules"]) => {
                self.replace_rules(request, &writer().await?, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Update {
    async fn update(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let change = Change::read(request, &request.large_json_object()?)?;
        let link = self.change(request, caller, code, change, None).await?;
        Ok(self.shown_alone(request, StatusCode::OK, link).await)
    }

    async fn shown_alone(&self, request: &Request, status: StatusCode, link: Link) -> Response {
        let (generation, revision) = (link.id().generation.clone(), link.revision);
        let tables = LinkTables { links: &self.writer.links, stats: &self.stats, people: &self.people };
        let body = OneLink::load(request, &self.writer.short_urls, tables, link).await;
        tagged(json(status, &body), &generation, revision)
    }

    async fn replace_rules(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let routing = request.json::<GivenRules>()?.into_routing()?;
        if let Some(routing) = &routing {
            refuse_own(&self.writer.short_urls, request, routing)?;
        }
        let patch = LinkPatch { routing: Some(routing), ..LinkPatch::default() };
        let change = Change { patch, ..Change::default() };
        let link = self.change(request, caller, code, change, None).await?;
        let view = RulesView::new(link.routing.as_ref(), self.edge);
        Ok(tagged(json(StatusCode::OK, &view), &link.id().generation, link.revision))
    }

    /// Changes a link, and returns it as it is then. `If-Match` counts for a request about one link only. The password of one of many
    /// may wait until a time for its turn to be hashed.
    async fn change(
        &self,
        request: &Request,
        caller: &Caller,
        code: &str,
        mut change: Change,
        among_many_until: Option<Instant>,
    ) -> Result<Link> {
        let link = self.changeable(request, caller, code).await?;
        // What is refused in any case is refused before something is looked up or hashed for it.
        let edit = self.decide(request, &change, &link)?;
        let changer = caller.named_to(&link.identity.owner, among_many_until.is_some());
        let precondition = match among_many_until {
            None => request.precondition(&link.id().generation),
            Some(_) => Precondition::None,
        };
        Problem::PreconditionFailed.unless(precondition.admits(link.revision))?;
        let LinkEdit::Change(after) = edit else { return Ok(link) };
        change.destinations = self.destinations(&link, &after, request.received_at).await?;
        let password_hash = match &change.password {
            Some(Some(password)) => {
                Some(Some(self.writer.hashing.hash(request, &caller.user, password, among_many_until).await?))
            }
            Some(None) => Some(None),
            None => None,
        };
        if let Some(target) = after.target_watched_anew(&link) {
            self.writer.room.require(&link.identity.workspace, &link.identity.owner, &target).await?;
        }
        let context = EditContext {
            precondition: &precondition,
            by: &caller.user,
            changer: changer.as_ref(),
            password_hash: password_hash.as_ref().map(Option::as_deref),
            correlation_id: &request.correlation_id,
        };
        let decide = |record: &Record<Link>| self.decide(request, &change, open(record)?);
        match self.writer.links.edit(Record::Link(link), &context, decide).await? {
            EditOutcome::Kept(Record::Link(link)) | EditOutcome::Written(Record::Link(link)) => Ok(link),
            EditOutcome::Kept(_) | EditOutcome::Written(_) | EditOutcome::Gone => {
                Err(ApiError::gone(LinkStatus::Purged))
            }
            EditOutcome::Stale => Err(Problem::PreconditionFailed.into()),
            EditOutcome::ExternalIdTaken(by) => Err(ApiError::ExternalIdTaken(by)),
            EditOutcome::Refused(refusal) => Err(refusal),
            EditOutcome::Contended => Err(Problem::TryAgain.into()),
        }
    }

    /// The link with a code, if the caller may change it.
    async fn changeable(&self, request: &Request, caller: &Caller, code: &str) -> Result<Link> {
        const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
        let name = LinkName::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.writer.links.find_named(&caller.workspace, &name).await?.ok_or(UNKNOWN)?;
        caller.require_link(&record)?;
        self.authenticator.confirm(request, caller, &record.identity().owner, Scope::LinksWrite).await?;
        open(&record).cloned()
    }

    /// What becomes of a link, by nothing but what the request says and what the link is.
    fn decide(&self, request: &Request, change: &Change, before: &Link) -> Result<LinkEdit> {
        let patch = &change.patch;
        if change.custom_code.as_deref().is_some_and(|code| code != before.id().code.as_str()) {
            return Err(Invalid::new(CODE_STAYS).in_field("custom_code").into());
        }
        let mut after = before.changed_by(patch, request.received_at);
        after.metadata.tags = change.tags.made_to(&after.metadata.tags)?;
        if change.password.is_none() && after.is_as(before) {
            return Ok(LinkEdit::Keep);
        }
        after.availability.check_window()?;
        if let Some(url) = &patch.url {
            self.writer.short_urls.refuse_own(request, "url", url)?;
        }
        if after.watch && (patch.url.is_some() || !before.watch) {
            // Not every URL that can be followed can be a target.
            let member = if patch.url.is_some() { "url" } else { "watch" };
            self.writer.room.reach.require(&after.target).map_err(|refused| refused.in_field(member))?;
        }
        if let Some(Some(fallback)) = &patch.fallback_url {
            self.writer.short_urls.refuse_own(request, "fallback_url", fallback)?;
        }
        self.writer.short_urls.refuse_own_image(request, patch.preview.iter().flatten().next())?;
        let is_fixed = change.destinations == Destinations::Fixed;
        Problem::DestinationFixed.when(is_fixed && !after.adds_no_destination(before))?;
        Ok(LinkEdit::Change(Box::new(after)))
    }

    /// Whether the link's workspace lets people lead it elsewhere, which is looked up only for a change that does.
    ///
    /// # Errors
    /// 403 if it doesn't, or an operator has blocked where the link would lead.
    async fn destinations(&self, before: &Link, after: &Link, now: Timestamp) -> Result<Destinations> {
        if after.adds_no_destination(before) {
            return Ok(Destinations::Fixed);
        }
        self.writer.blocks.refuse(after, now).await?;
        let workspace = self.writer.room.users.workspace(&before.identity.workspace).await?;
        match workspace.map(|workspace| workspace.destinations).unwrap_or_default() {
            Destinations::Fixed => Err(Problem::DestinationFixed.into()),
            editable @ Destinations::Editable => Ok(editable),
        }
    }
}

/// The link, if it can still be changed.
fn open(record: &Record<Link>) -> Result<&Link> {
    match record {
        Record::Tombstone(tombstone) => Err(ApiError::gone(tombstone.reason.into())),
        Record::Link(link) if link.availability.is_deleted() => Err(ApiError::gone(LinkStatus::Deleted)),
        Record::Link(link) => Ok(link),
    }
}

const CODE_STAYS: &str = "the code of a link never changes; create another link";

/// What nobody can change of a link.
const IMMUTABLE: [Immutable; 3] = [
    Immutable {
        members: &["rules", "variants", "has_rules"],
        sentence: Some("rules and variants are changed with PUT /api/links/{code}/rules"),
    },
    Immutable { members: &["custom_code", "short_code", "short_url"], sentence: Some(CODE_STAYS) },
    Immutable {
        members: &[
            "id",
            "workspace_id",
            "user_id",
            "created_by",
            "created_by_name",
            "created_at",
            "updated_at",
            "status",
            "total_clicks",
            "used",
            "exhausted_at",
            "imported_clicks",
            "suspended_for",
            "is_protected",
        ],
        sentence: None,
    },
];

/// What a request changes.
#[derive(Clone)]
struct Change {
    patch: LinkPatch,
    /// What becomes of the link's tags, whatever tags others give it meanwhile.
    tags: TagChange,
    password: Option<Option<LinkPassword>>,
    /// The code that the link must have.
    custom_code: Option<String>,
    /// Whether the link may lead elsewhere.
    destinations: Destinations,
}

impl Default for Change {
    fn default() -> Self {
        let (patch, tags, destinations) = (LinkPatch::default(), TagChange::default(), Destinations::Editable);
        Self { patch, tags, password: None, custom_code: None, destinations }
    }
}

/// The member of the body that isn't kept with the link.
#[derive(Deserialize)]
struct Secret {
    #[serde(default, deserialize_with = "patched")]
    password: Option<Option<LinkPassword>>,
}

impl Change {
    fn read(request: &Request, body: &JsonObject) -> Result<Self> {
        Self::of(request, body, body.read_patch(&IMMUTABLE)?)
    }

    fn of(request: &Request, body: &JsonObject, patch: LinkPatch) -> Result<Self> {
        let Secret { password } = body.read()?;
        request.require_future("expires_at", patch.expires_at.flatten())?;
        let patch = LinkPatch { is_protected: password.as_ref().map(Option::is_some), ..patch };
        Ok(Self { patch, password, ..Self::default() })
    }
}
