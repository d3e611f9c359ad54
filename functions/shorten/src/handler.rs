//! Creates short links.

use linklet_domain::{Invalid, Link, LinkState, Role, ShortCode, TargetUrl, Timestamp};
use linklet_dynamodb::{CreateOutcome, LinksTable};
use linklet_lambda::{
    http::{ApiError, Handler, JsonObject, Method, Request, Response, ShortUrls, StatusCode, json},
    identity::{Authenticator, Caller},
};
use serde::Serialize;

/// `POST /api/shorten`.
pub struct Shorten {
    links: LinksTable,
    authenticator: Authenticator,
    short_urls: ShortUrls,
    generate_code: CodeGenerator,
}

/// Where generated codes come from.
pub type CodeGenerator = fn() -> Result<ShortCode, getrandom::Error>;

const BODY_LIMIT: usize = 4_096;

impl Shorten {
    /// Codes come from the operating system's generator.
    #[must_use]
    pub fn new(links: LinksTable, authenticator: Authenticator, short_urls: ShortUrls) -> Self {
        Self { links, authenticator, short_urls, generate_code: ShortCode::generate }
    }

    /// The same with another source of codes.
    #[must_use]
    pub fn with_codes(self, generate_code: CodeGenerator) -> Self {
        Self { generate_code, ..self }
    }
}

impl Handler for Shorten {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "shorten"]) => {
                let caller = self.authenticator.require(request, Role::Member)?;
                self.shorten(request, &caller).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}

impl Shorten {
    async fn shorten(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let wanted = NewLink::parse(&request.json(BODY_LIMIT)?, request.received_at())?;
        wanted.target.refuse_hosts(self.short_urls.own_hosts(request))?;
        let link = match &wanted.custom_code {
            Some(code) => self.create(wanted.link(code.clone(), caller, request), request).await?,
            None => self.create_with_generated_code(&wanted, caller, request).await?,
        };
        let created = Created {
            short_url: self.short_urls.of(request, &link.code),
            short_code: link.code,
            original_url: link.target,
            created_at: link.created_at,
            expires_at: link.expires_at,
            title: link.title,
            tags: link.tags,
            reused: false,
        };
        Ok(json(StatusCode::CREATED, &created))
    }

    async fn create(&self, link: Link, request: &Request) -> Result<Link, ApiError> {
        match self.links.create(&link, request.correlation_id()).await? {
            CreateOutcome::Created => Ok(link),
            CreateOutcome::CodeTaken => Err(ApiError::Conflict("short code already taken")),
        }
    }

    /// Tries five codes. With a billion links, one try in 3,500 meets a taken code.
    async fn create_with_generated_code(
        &self,
        wanted: &NewLink,
        caller: &Caller,
        request: &Request,
    ) -> Result<Link, ApiError> {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            let code = (self.generate_code)().map_err(|error| ApiError::Internal(Box::new(error)))?;
            let link = wanted.link(code, caller, request);
            if self.links.create(&link, request.correlation_id()).await? == CreateOutcome::Created {
                return Ok(link);
            }
        }
        Err(ApiError::Unavailable("could not generate unique code; try again"))
    }
}

#[derive(Serialize)]
struct Created {
    short_code: ShortCode,
    short_url: String,
    original_url: TargetUrl,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    tags: Vec<String>,
    reused: bool,
}

/// What somebody asks for when they shorten a URL.
struct NewLink {
    target: TargetUrl,
    custom_code: Option<ShortCode>,
    expires_at: Option<Timestamp>,
    title: Option<String>,
    description: Option<String>,
    tags: Vec<String>,
}

impl NewLink {
    fn parse(body: &JsonObject, now: Timestamp) -> Result<Self, Invalid> {
        let expires_at = body.timestamp("expires_at")?;
        if expires_at.is_some_and(|expiry| expiry <= now) {
            return Err(Invalid::new("expires_at must be in the future"));
        }
        Ok(Self {
            target: TargetUrl::parse(body.string("url")?.unwrap_or_default())?,
            custom_code: body.string("custom_code")?.map(ShortCode::custom).transpose()?,
            expires_at,
            title: body.short_string("title", Link::MAX_TITLE)?,
            description: body.short_string("description", Link::MAX_DESCRIPTION)?,
            tags: Link::parse_tags(&body.strings("tags")?)?,
        })
    }

    fn link(&self, code: ShortCode, caller: &Caller, request: &Request) -> Link {
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
            state: LinkState::Active,
        }
    }
}
