use linklet_domain::{
    Availability, ExternalId, Link, LinkId, LinkIdentity, LinkMetadata, LinkPassword, LinkState, LinkWrite, Reach,
    RedirectOptions, ReservedCodes, Revision, Routing, ShortCode, TargetUrl, Timestamp, optional,
};
use serde::Deserialize;

use crate::http::{JsonObject, Request, Result, ShortUrls};
use crate::identity::Caller;
use crate::rules::{GivenRules, refuse_own};

/// The members of the body that are neither [`LinkMetadata`] nor [`RedirectOptions`], rules or variants.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Body {
    #[serde(alias = "original_url")]
    url: TargetUrl,
    custom_code: Option<String>,
    reuse: Option<bool>,
    watch: Option<bool>,
    expires_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
    password: Option<LinkPassword>,
}

/// The parsed request for a short link.
pub(crate) struct NewLink {
    pub target: TargetUrl,
    pub custom_code: Option<ShortCode>,
    /// Whether the new link may be returned to later requests for its URL: it leads everybody there, for ever.
    pub is_reusable: bool,
    /// Whether an existing link of the URL may be returned: not if the request wants more of it than the URL.
    pub may_reuse: bool,
    /// Whether the link watches its URL.
    pub watch: bool,
    pub password: Option<LinkPassword>,
    availability: Availability,
    pub metadata: LinkMetadata,
    options: RedirectOptions,
    routing: Option<Routing>,
    archived: bool,
}

/// What a link has that `PUT` creates, besides what other new links may have.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Its external id.
    pub id: &'a ExternalId,
    /// Whether it is switched on; without it, it is.
    pub is_active: Option<bool>,
    /// Whether it is put away.
    pub archived: Option<bool>,
}

impl NewLink {
    /// Reads the body.
    pub(crate) fn read(
        object: &JsonObject,
        request: &Request,
        reserved: &ReservedCodes,
        short_urls: &ShortUrls,
        reach: Reach,
    ) -> Result<Self> {
        let (body, metadata) = (object.read::<Body>()?, object.read::<LinkMetadata>()?);
        let options = object.read::<RedirectOptions>()?;
        let routing = object.read::<GivenRules>()?.into_routing()?;
        // A code that a person chose obeys stricter rules than a stored one.
        let custom_code = body.custom_code.map(|code| ShortCode::custom(&code, reserved)).transpose();
        let custom_code = custom_code.map_err(|refused| refused.in_field("custom_code"))?;
        request.require_future("expires_at", body.expires_at)?;
        let availability = Availability {
            valid_from: body.valid_from,
            expires_at: body.expires_at,
            is_protected: body.password.is_some(),
            ..Availability::default()
        };
        availability.check_window()?;
        let watch = body.watch.unwrap_or_default();
        if watch {
            // Not every URL that can be followed can be a target.
            reach.require(&body.url).map_err(|refused| refused.in_field("url"))?;
        }
        short_urls.refuse_own(request, "url", &body.url)?;
        if let Some(fallback) = &options.fallback_url {
            short_urls.refuse_own(request, "fallback_url", fallback)?;
        }
        short_urls.refuse_own_image(request, options.preview.as_ref())?;
        if let Some(routing) = &routing {
            refuse_own(short_urls, request, routing)?;
        }
        let is_reusable = availability.is_unlimited() && options.are_none() && routing.is_none();
        Ok(Self {
            target: body.url,
            watch,
            is_reusable,
            // A link that others know may have public numbers.
            may_reuse: body.reuse.unwrap_or(true)
                && custom_code.is_none()
                && is_reusable
                && metadata.statistics.is_none(),
            custom_code,
            password: body.password,
            availability,
            metadata,
            options,
            routing,
            archived: false,
        })
    }

    /// A link of its own that is named like this.
    pub(crate) fn named(mut self, Named { id, is_active, archived }: Named<'_>) -> Self {
        self.metadata.external_id = Some(id.clone());
        if is_active == Some(false) {
            self.availability.state = LinkState::Inactive;
        }
        self.archived = archived.unwrap_or_default();
        self.may_reuse = false;
        self.is_reusable &= is_active != Some(false) && !self.archived;
        self
    }

    pub(crate) fn link(&self, id: LinkId, caller: &Caller, request: &Request) -> Link {
        Link {
            identity: LinkIdentity { id, workspace: caller.workspace, owner: caller.user },
            target: self.target.clone(),
            created_at: request.received_at,
            updated_at: request.received_at,
            availability: self.availability,
            expiry_is_published: false,
            metadata: self.metadata.clone(),
            options: self.options.clone(),
            routing: self.routing.clone(),
            watch: self.watch,
            archived: self.archived,
            revision: Revision::FIRST,
            last_write: LinkWrite::of(&request.correlation_id),
        }
    }
}
