//! Changes links. The destination can't be changed, so that visitors can trust a link that they have followed before.

use linklet_domain::{Link, LinkPatch, LinkStatus, Record, Scope, ShortCode};
use linklet_dynamodb::{LinksTable, Names, StatsTable, UpdateOutcome};
use linklet_lambda::{
    http::{
        ApiError, BodyLimit, Handler, Immutable, Method, Problem, Request, Response, ShortUrls, StatusCode, json,
        tagged,
    },
    identity::{Authenticator, Caller},
    link_view::{LINK_BODY, OneLink},
    watching::TargetRoom,
};

/// `PATCH /api/links/{code}`.
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
}

const BODY_LIMIT: BodyLimit = LINK_BODY.word("is_active").word("watch").word("archived");

impl Handler for Update {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::PATCH, ["api", "links", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.update(request, &caller, code).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Update {
    async fn update(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response, ApiError> {
        const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);
        let patch = read_patch(request)?;
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.links.find(&code).await?.ok_or(UNKNOWN)?;
        if !caller.may_change(&record) {
            return Err(ApiError::Problem(Problem::Forbidden));
        }
        self.authenticator.confirm(request, caller, &record.identity().owner, Scope::LinksWrite).await?;
        let link = match record {
            Record::Tombstone(tombstone) => return Err(ApiError::gone(tombstone.reason.into())),
            Record::Link(link) if link.availability.is_deleted() => return Err(ApiError::gone(LinkStatus::Deleted)),
            Record::Link(link) => link,
        };
        let precondition = request.precondition(&link.id().generation);
        if let Some(target) = link.target_watched_longer(&patch) {
            self.room.require(&link.identity.workspace, &link.identity.owner, &target).await?;
        }
        let (now, correlation_id) = (request.received_at(), request.correlation_id());
        let link = match self.links.update(link.id(), &patch, &precondition, now, correlation_id).await? {
            UpdateOutcome::Changed(link) => *link,
            UpdateOutcome::Stale => return Err(Problem::PreconditionFailed.into()),
            UpdateOutcome::Gone => return Err(self.gone_meanwhile(&code).await?),
            UpdateOutcome::ExternalIdTaken => return Err(Problem::ExternalIdTaken.into()),
        };
        let (generation, revision) = (link.id().generation.clone(), link.revision);
        let body = OneLink::load(request, &self.short_urls, (&self.stats, &self.people), link).await;
        Ok(tagged(json(StatusCode::OK, &body), &generation, revision))
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
const IMMUTABLE: [Immutable; 3] = [
    Immutable {
        members: &["url", "original_url"],
        sentence: Some("the destination of a link never changes; create another link"),
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
        ],
        sentence: None,
    },
];

fn read_patch(request: &Request) -> Result<LinkPatch, ApiError> {
    let body = request.json_object(BODY_LIMIT)?;
    body.refuse(&Link::UNSUPPORTED)?;
    let patch: LinkPatch = body.read_patch(&IMMUTABLE)?;
    request.require_future("expires_at", patch.expires_at.flatten())?;
    Ok(patch)
}
