use linklet_domain::{
    Availability, ExternalId, Link, LinkId, LinkIdentity, LinkMetadata, LinkPassword, LinkState, LinkWrite, Reach,
    RedirectOptions, ReservedCodes, Revision, Routing, ShortCode, TargetUrl, Timestamp, optional,
};
use linklet_dynamodb::AnyCase;
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
#[derive(Clone)]
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
    past: Option<Past>,
    /// The code of an imported link, which obeys other rules than one that is chosen.
    old_code: Option<ShortCode>,
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

/// What an imported link has behind it.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// How often it was clicked.
    pub clicks: Option<u64>,
    /// The host of its short URL.
    pub host: Option<String>,
    /// Whether it is switched on.
    pub is_active: bool,
    /// Whether it is put away.
    pub archived: bool,
}

impl NewLink {
    /// Reads the body of a link that begins now.
    pub(crate) fn read(
        object: &JsonObject,
        request: &Request,
        reserved: &ReservedCodes,
        short_urls: &ShortUrls,
        reach: Reach,
    ) -> Result<Self> {
        let wanted = Self::read_of_any_time(object, request, reserved, short_urls, reach)?;
        request.require_future("expires_at", wanted.availability.expires_at)?;
        Ok(wanted)
    }

    /// Reads the body of a link that may have expired.
    pub(crate) fn read_of_any_time(
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
            past: None,
            old_code: None,
        })
    }

    /// A link that comes from another system.
    pub(crate) fn with(mut self, past: Past) -> Self {
        if !past.is_active {
            self.availability.state = LinkState::Inactive;
        }
        self.archived = past.archived;
        self.is_reusable &= past.is_active && !past.archived;
        self.may_reuse &= self.is_reusable;
        self.past = Some(past);
        self
    }

    /// The link with the code that it had in another system.
    pub(crate) fn coded(self, code: ShortCode) -> Self {
        Self { old_code: Some(code), ..self }
    }

    /// The code that the link has to have.
    pub(crate) fn code(&self) -> Option<&ShortCode> {
        self.custom_code.as_ref().or(self.old_code.as_ref())
    }

    /// Whether its code is found in any case. Of those that are typed from paper, imported ones may differ by case alone.
    pub(crate) fn any_case(&self) -> AnyCase {
        match self.code() {
            Some(_) if self.custom_code.is_some() => AnyCase::Always,
            Some(code) if !code.has_generated_form() => AnyCase::IfFree,
            _ => AnyCase::Never,
        }
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
        let now = request.received_at;
        let past = self.past.as_ref();
        let created_at = past.and_then(|past| past.created_at).map_or(now, |at| at.min(now));
        Link {
            identity: LinkIdentity { id, workspace: caller.workspace, owner: caller.user },
            target: self.target.clone(),
            created_at,
            updated_at: created_at,
            availability: self.availability,
            // Nobody hears of an expiry that was over before the link came.
            expiry_is_published: self.availability.expires_at.is_some_and(|at| at <= now),
            metadata: self.metadata.clone(),
            options: self.options.clone(),
            routing: self.routing.clone(),
            watch: self.watch,
            archived: self.archived,
            imported_from: past.and_then(|past| past.host.clone()),
            imported_clicks: past.map(|past| past.clicks.unwrap_or_default()),
            revision: Revision::FIRST,
            last_write: LinkWrite::of(&request.correlation_id),
        }
    }
}
