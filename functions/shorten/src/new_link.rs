use linklet_domain::{CanonicalUrl, Invalid, Link, LinkState, ShortCode, TargetUrl, Timestamp};
use linklet_lambda::{
    http::{JsonObject, Request},
    identity::Caller,
};
use sha2::{Digest, Sha256};

/// What somebody asks for when they shorten a URL.
pub(crate) struct NewLink {
    pub target: TargetUrl,
    pub custom_code: Option<ShortCode>,
    /// Whether a link that the URL already has will do: not for a code or an expiry of one's own.
    pub may_reuse: bool,
    /// Whether the link watches its URL.
    pub watch: bool,
    /// Tells requests apart that come with one idempotency key.
    pub fingerprint: String,
    expires_at: Option<Timestamp>,
    title: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
}

impl NewLink {
    pub(crate) fn parse(body: &JsonObject, now: Timestamp) -> Result<Self, Invalid> {
        let expires_at = body.timestamp("expires_at")?;
        if expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Invalid::new("expires_at must be in the future"));
        }
        let custom_code = body.string("custom_code")?.map(ShortCode::custom).transpose()?;
        let reuse = body.boolean("reuse")?.unwrap_or(true);
        let target = TargetUrl::parse(body.string("url")?.unwrap_or_default())?;
        let watch = body.boolean("watch")?.unwrap_or_default();
        if watch {
            // Not every URL that can be followed can be a target.
            CanonicalUrl::of(&target)?;
        }
        Ok(Self {
            target,
            watch,
            may_reuse: reuse && custom_code.is_none() && expires_at.is_none(),
            custom_code,
            fingerprint: hex::encode(Sha256::digest(body.canonical())),
            expires_at,
            title: body.short_string("title", Link::MAX_TITLE)?,
            description: body.short_string("description", Link::MAX_DESCRIPTION)?,
            tags: Link::parse_tags(&body.strings("tags")?)?,
        })
    }

    /// Whether the new link can answer later requests for its URL: it works, and goes on to.
    pub(crate) fn is_reusable(&self) -> bool {
        self.expires_at.is_none()
    }

    pub(crate) fn link(&self, code: ShortCode, caller: &Caller, request: &Request) -> Link {
        Link {
            code,
            target: self.target.clone(),
            workspace: caller.workspace().clone(),
            owner: caller.user().clone(),
            owner_email: caller.email().clone(),
            created_at: request.received_at(),
            expires_at: self.expires_at,
            title: self.title.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            watch: self.watch,
            state: LinkState::Active,
        }
    }
}
