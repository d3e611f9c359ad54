//! Changes links. Where they lead can be changed only in workspaces that allow it, so that visitors of all others can trust a link
//! that they have followed before.

mod bulk;

use std::time::Instant;

use linklet_domain::{
    Destinations, Link, LinkPassword, LinkPatch, LinkStatus, Precondition, Record, Scope, ShortCode, TagChange,
    TargetUrl, patched,
};
use linklet_dynamodb::{LinkUpdate, LinksTable, Names, StatsTable, UpdateOutcome, back_off};
use linklet_lambda::{
    bulk::Bulk,
    hashing::LinkHashing,
    http::{
        ApiError, BodyLimit, Edge, Handler, Immutable, Method, Problem, Request, Response, ShortUrls, StatusCode, json,
        tagged,
    },
    identity::{Authenticator, Caller},
    link_view::{LINK_BODY, LinkTables, OneLink},
    rules::{GivenRules, RULES_BODY, RulesView, refuse_own},
    watching::TargetRoom,
};
use serde::Deserialize;

/// `PATCH /api/links/{code}`, `PATCH /api/links/bulk` and `PUT /api/links/{code}/rules`.
pub struct Update {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, for the link's click count.
    pub stats: StatsTable,
    /// Knows whether there is room for what an extended link watches.
    pub room: TargetRoom,
    /// The repository of people's names, for that of the link's creator.
    pub people: Names,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
    /// Hashes the passwords of links.
    pub hashing: LinkHashing,
    /// Counts the links of requests about many.
    pub bulk: Bulk,
    /// The edge that tells visitors' countries, without which no rule about them holds.
    pub edge: Edge,
}

const BODY_LIMIT: BodyLimit =
    LINK_BODY.text("url", TargetUrl::MAX_LENGTH).word("is_active").word("watch").word("archived");

impl Handler for Update {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::PATCH, ["api", "links", "bulk"]) => {
                let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
                // Boxed, so that requests about one link carry no state of those about many.
                Box::pin(self.update_many(request, &caller)).await
            }
            (&Method::PATCH, ["api", "links", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.update(request, &caller, code).await
            }
            (&Method::PUT, ["api", "links", code, "rules"]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.replace_rules(request, &caller, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Update {
    async fn update(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        let link = self.patch(request, caller, code, Waiting::NotAtAll).await?;
        let (generation, revision) = (link.id().generation.clone(), link.revision);
        let tables = LinkTables { links: &self.links, stats: &self.stats, people: &self.people };
        let body = OneLink::load(request, &self.short_urls, tables, link).await;
        Ok(tagged(json(StatusCode::OK, &body), &generation, revision))
    }

    /// Changes a link as the body says, and returns it as it is then.
    async fn patch(&self, request: &Request, caller: &Caller, code: &str, waiting: Waiting) -> Result<Link, ApiError> {
        let mut change = read_patch(request)?;
        let link = self.changeable(request, caller, code).await?;
        let precondition = request.precondition(&link.id().generation);
        self.patch_as_read(request, caller, &link, (&mut change, waiting), &precondition).await
    }

    /// Changes a link as the body says, and its tags as this says, whatever tags others give it meanwhile.
    async fn retag(
        &self,
        request: &Request,
        caller: &Caller,
        code: &str,
        tags: &TagChange,
        waiting: Waiting,
    ) -> Result<Link, ApiError> {
        const TRIES: u32 = 10;
        let mut change = read_patch(request)?;
        for attempt in 0..TRIES {
            let link = self.changeable(request, caller, code).await?;
            let changed = tags.made_to(&link.metadata.tags)?;
            change.patch.tags = (changed != link.metadata.tags).then_some(Some(changed));
            if change.is_none() {
                return Ok(link);
            }
            let as_read = Precondition::only(link.revision);
            match self.patch_as_read(request, caller, &link, (&mut change, waiting), &as_read).await {
                Err(ApiError::Problem(Problem::PreconditionFailed)) => back_off(attempt).await,
                outcome => return outcome,
            }
        }
        Err(Problem::TryAgain.into())
    }

    /// Changes a link that was read, if it is of a revision that the change is meant for.
    async fn patch_as_read(
        &self,
        request: &Request,
        caller: &Caller,
        link: &Link,
        (change, waiting): (&mut Change, Waiting),
        precondition: &Precondition,
    ) -> Result<Link, ApiError> {
        self.judge(request, link, &change.patch)?;
        let destinations = self.destinations(link, &change.patch, request).await?;
        if let Some(password) = change.password.take() {
            change.patch.password = Some(match (password, waiting) {
                (Some(password), Waiting::NotAtAll) => {
                    Some(self.hashing.hash(request, caller.user(), &password).await?)
                }
                (Some(password), Waiting::Until(until)) => {
                    Some(self.hashing.hash_in_turn(request, caller.user(), &password, until).await?)
                }
                (None, _) => None,
            });
        }
        self.change(request, caller, link, (&change.patch, destinations), precondition).await
    }

    async fn replace_rules(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        let routing = request.json::<GivenRules>(RULES_BODY)?.into_routing()?;
        if let Some(routing) = &routing {
            refuse_own(&self.short_urls, request, routing)?;
        }
        let link = self.changeable(request, caller, code).await?;
        let patch = LinkPatch { routing: Some(routing), ..LinkPatch::default() };
        let destinations = self.destinations(&link, &patch, request).await?;
        let precondition = request.precondition(&link.id().generation);
        let link = self.change(request, caller, &link, (&patch, destinations), &precondition).await?;
        let view = RulesView::new(link.routing.as_ref(), self.edge);
        Ok(tagged(json(StatusCode::OK, &view), &link.id().generation, link.revision))
    }

    /// The link with a code, if the caller may change it.
    async fn changeable(&self, request: &Request, caller: &Caller, code: &str) -> Result<Link, ApiError> {
        const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.links.find(&code).await?.ok_or(UNKNOWN)?;
        if !caller.may_change(&record) {
            return Err(ApiError::Problem(Problem::Forbidden));
        }
        self.authenticator.confirm(request, caller, &record.identity().owner, Scope::LinksWrite).await?;
        match record {
            Record::Tombstone(tombstone) => Err(ApiError::gone(tombstone.reason.into())),
            Record::Link(link) if link.availability.is_deleted() => Err(ApiError::gone(LinkStatus::Deleted)),
            Record::Link(link) => Ok(link),
        }
    }

    /// Judges what depends on the link, or on where the shortener is.
    fn judge(&self, request: &Request, link: &Link, patch: &LinkPatch) -> Result<(), ApiError> {
        let after = link.changed_by(patch, request.received_at());
        after.availability.check_window()?;
        if let Some(url) = &patch.url {
            self.short_urls.refuse_own(request, "url", url)?;
            if after.watch {
                // Not every URL that can be followed can be a target.
                self.room.reach.require(url).map_err(|refused| refused.in_field("url"))?;
            }
        }
        if let Some(fallback) = patch.fallback_url.iter().flatten().next() {
            self.short_urls.refuse_own(request, "fallback_url", fallback)?;
        }
        Ok(self.short_urls.refuse_own_image(request, patch.preview.iter().flatten().next())?)
    }

    async fn change(
        &self,
        request: &Request,
        caller: &Caller,
        link: &Link,
        (patch, destinations): (&LinkPatch, Destinations),
        precondition: &Precondition,
    ) -> Result<Link, ApiError> {
        let target = link.target_watched_longer(patch);
        if let Some(target) = target.or_else(|| link.target_watched_instead(patch)) {
            self.room.require(&link.identity.workspace, &link.identity.owner, &target).await?;
        }
        let named = caller.named_to(&link.identity.owner, request);
        let update = LinkUpdate {
            link: link.id(),
            patch,
            precondition,
            destinations,
            by: caller.user(),
            named: named.as_ref(),
            at: request.received_at(),
            correlation_id: request.correlation_id(),
        };
        match self.links.update(&update).await? {
            UpdateOutcome::Changed(link) => Ok(*link),
            UpdateOutcome::Stale => Err(Problem::PreconditionFailed.into()),
            UpdateOutcome::Gone => Err(self.gone_meanwhile(link.code()).await?),
            UpdateOutcome::ExternalIdTaken => Err(Problem::ExternalIdTaken.into()),
            UpdateOutcome::DestinationFixed => Err(Problem::DestinationFixed.into()),
            UpdateOutcome::Invalid(invalid) => Err(invalid.into()),
        }
    }

    /// Whether the link's workspace lets people lead it elsewhere, which is looked up only for a change that does.
    ///
    /// # Errors
    /// 403 if it doesn't.
    async fn destinations(&self, link: &Link, patch: &LinkPatch, request: &Request) -> Result<Destinations, ApiError> {
        if link.changed_by(patch, request.received_at()).leads_only_where(link) {
            return Ok(Destinations::Fixed);
        }
        let workspace = self.room.users.workspace(&link.identity.workspace).await?;
        match workspace.map(|workspace| workspace.destinations).unwrap_or_default() {
            Destinations::Fixed => Err(Problem::DestinationFixed.into()),
            editable @ Destinations::Editable => Ok(editable),
        }
    }
}

impl Update {
    /// Why a link that was there can't be changed any more.
    async fn gone_meanwhile(&self, code: &ShortCode) -> Result<ApiError, ApiError> {
        Ok(match self.links.find(code).await? {
            Some(Record::Tombstone(tombstone)) => ApiError::gone(tombstone.reason.into()),
            // A purged link, whose code has another link by now.
            Some(Record::Link(link)) if !link.availability.is_deleted() => ApiError::gone(LinkStatus::Purged),
            Some(Record::Link(_)) | None => ApiError::gone(LinkStatus::Deleted),
        })
    }
}

/// What nobody can change of a link.
const IMMUTABLE: [Immutable; 4] = [
    Immutable { members: &["original_url"], sentence: Some("the destination of a link is changed with url") },
    Immutable {
        members: &["rules", "variants", "has_rules"],
        sentence: Some("rules and variants are changed with PUT /api/links/{code}/rules"),
    },
    Immutable {
        members: &["custom_code", "short_code", "short_url"],
        sentence: Some("the code of a link never changes; create another link"),
    },
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
            "is_protected",
        ],
        sentence: None,
    },
];

/// What a request changes.
struct Change {
    patch: LinkPatch,
    /// The new password, until it is hashed.
    password: Option<Option<LinkPassword>>,
}

impl Change {
    fn is_none(&self) -> bool {
        self.patch == LinkPatch::default() && self.password.is_none()
    }
}

/// Whether a password waits for its turn among others of the request.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    NotAtAll,
    Until(Instant),
}

/// The member of the body that isn't kept with the link.
#[derive(Deserialize)]
struct Secret {
    #[serde(default, deserialize_with = "patched")]
    password: Option<Option<LinkPassword>>,
}

fn read_patch(request: &Request) -> Result<Change, ApiError> {
    let body = request.json_object(BODY_LIMIT)?;
    let patch: LinkPatch = body.read_patch(&IMMUTABLE)?;
    let Secret { password } = body.read()?;
    request.require_future("expires_at", patch.expires_at.flatten())?;
    Ok(Change { patch, password })
}
