use linklet_domain::{
    Availability, CanonicalUrl, Link, LinkId, LinkIdentity, LinkMetadata, ReservedCodes, Revision, ShortCode,
    TargetUrl, Timestamp, optional,
};
use linklet_lambda::{
    http::{ApiError, BodyLimit, JsonObject, Request},
    identity::Caller,
    link_view::LINK_BODY,
};
use serde::Deserialize;

pub(crate) const BODY_LIMIT: BodyLimit = LINK_BODY
    .text("url", TargetUrl::MAX_LENGTH)
    .bytes("custom_code", ShortCode::MAX_LENGTH)
    .word("reuse")
    .word("watch");

/// The members of the body that aren't [`LinkMetadata`].
#[derive(Deserialize)]
struct Body {
    url: TargetUrl,
    #[serde(default, deserialize_with = "optional")]
    custom_code: Option<String>,
    #[serde(default, deserialize_with = "optional")]
    reuse: Option<bool>,
    #[serde(default, deserialize_with = "optional")]
    watch: Option<bool>,
    #[serde(default, deserialize_with = "optional")]
    expires_at: Option<Timestamp>,
}

/// The parsed request for a short link.
pub(crate) struct NewLink {
    pub target: TargetUrl,
    pub custom_code: Option<ShortCode>,
    /// Whether an existing link of the URL may be returned: not if the request has a custom code or an expiry.
    pub may_reuse: bool,
    /// Whether the link watches its URL.
    pub watch: bool,
    expires_at: Option<Timestamp>,
    pub metadata: LinkMetadata,
}

impl NewLink {
    /// Reads the body.
    pub(crate) fn read(object: &JsonObject<'_>, request: &Request, reserved: &ReservedCodes) -> Result<Self, ApiError> {
        object.refuse(&Link::UNSUPPORTED)?;
        let (body, metadata) = (object.read::<Body>()?, object.read()?);
        // A code that a person chose obeys stricter rules than a stored one.
        let custom_code = body.custom_code.map(|code| ShortCode::custom(&code, reserved)).transpose();
        let custom_code = custom_code.map_err(|refused| refused.in_field("custom_code"))?;
        request.require_future("expires_at", body.expires_at)?;
        let watch = body.watch.unwrap_or_default();
        if watch {
            // Not every URL that can be followed can be a target.
            CanonicalUrl::of(&body.url).map_err(|refused| refused.in_field("url"))?;
        }
        Ok(Self {
            target: body.url,
            watch,
            may_reuse: body.reuse.unwrap_or(true) && custom_code.is_none() && body.expires_at.is_none(),
            custom_code,
            expires_at: body.expires_at,
            metadata,
        })
    }

    /// Whether the new link may be returned to later requests for its URL: it never expires.
    pub(crate) fn is_reusable(&self) -> bool {
        self.expires_at.is_none()
    }

    pub(crate) fn link(&self, id: LinkId, caller: &Caller, request: &Request) -> Link {
        Link {
            identity: LinkIdentity { id, workspace: *caller.workspace(), owner: *caller.user() },
            target: self.target.clone(),
            created_at: request.received_at(),
            updated_at: request.received_at(),
            availability: Availability { expires_at: self.expires_at, ..Availability::default() },
            expiry_is_published: false,
            metadata: self.metadata.clone(),
            watch: self.watch,
            archived: false,
            revision: Revision::FIRST,
        }
    }
}
