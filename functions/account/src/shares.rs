//! Sharing the statistics of a link or of a tag with people who have no account.

use linklet_domain::{
    LinkPassword, LinkStatus, Record, RedirectTarget, Role, Share, ShareId, ShareToken, Shared, ShortCode, SortOrder,
    Tag, Timestamp, UserId, optional,
};
use linklet_dynamodb::{Consistency, CreateShareOutcome, EndShareOutcome, LinksTable, StatsTable};
use linklet_lambda::app::shared_page;
use linklet_lambda::hashing::LinkHashing;
use linklet_lambda::http::{
    ApiError, Belonging, Once, Problem, Request, Response, Result, ShortUrls, StatusCode, created, list_response,
    no_content, with_secret,
};
use linklet_lambda::identity::Caller;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::Account;

/// What sharing needs besides what members and API keys do.
pub struct Sharing {
    /// The repository of statistics, which has the shares.
    pub table: StatsTable,
    /// The repository of links, for their existence and workspace.
    pub links: LinksTable,
    /// Hashes the passwords of shares.
    pub hashing: LinkHashing,
    /// Knows the address of the application.
    pub short_urls: ShortUrls,
}

/// Where the list of all shares is, which has a new one: from the shares of a link or of a tag.
const LIST: &str = "../../shares";

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

impl Account {
    /// 201 with a new share of a link, whose token no other answer shows.
    pub(crate) async fn share_link(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let record = self.link(caller, code).await?;
        if record.is_purged() {
            return Err(ApiError::gone(LinkStatus::Purged));
        }
        self.share(request, caller, Shared::Link(record.identity().id.clone())).await
    }

    async fn link(&self, caller: &Caller, code: &str) -> Result<Record<RedirectTarget>> {
        let code = ShortCode::parse(code).map_err(|_| UNKNOWN)?;
        let record = self.sharing.links.redirect_target(&code).await?.ok_or(UNKNOWN)?;
        caller.require_workspace(&record.identity().workspace)?;
        Ok(record)
    }

    /// 201 with a new share of a tag, which no link has to have yet.
    pub(crate) async fn share_tag(&self, request: &Request, caller: &Caller, tag: &str) -> Result<Response> {
        self.share(request, caller, Shared::Tag(tag_in_path(tag)?)).await
    }

    async fn share(&self, request: &Request, caller: &Caller, shared: Shared) -> Result<Response> {
        let body = if request.has_body() { request.json_object()? } else { Default::default() };
        let once = Once::in_workspace(request, &caller.workspace, &body)?;
        let wanted = if request.has_body() { body.read() } else { Ok(Body::default()) };
        // Before the body is judged: an expiry that was in the future at the first request may have passed since.
        if let Some(first) = self.first_answer(request, &caller.user, &once).await? {
            return Ok(first);
        }
        let Body { expires_at, password } = wanted?;
        request.require_future("expires_at", expires_at)?;
        let password_hash = match &password {
            Some(password) => Some(self.sharing.hashing.hash(request, &caller.user, password, None).await?),
            None => None,
        };
        let token = ShareToken::generate(caller.workspace).map_err(ApiError::internal)?;
        let share = Share {
            id: token.id.clone(),
            workspace: caller.workspace,
            shared,
            token_hash: token.hash(),
            password_hash,
            created_by: caller.user,
            created_at: request.received_at,
            expires_at,
        };
        let shown = ShareView::from(&share);
        let answer = once.answer(StatusCode::CREATED, &shown, LIST).map_err(ApiError::internal)?;
        let (kept, origin) = (once.with_key(&answer), self.origin(request, caller));
        let table = &self.sharing.table;
        match self.users.create_share(table, &share, caller.acting()?, kept, &origin).await? {
            CreateShareOutcome::Created => {
                let url = shared_page(&self.sharing.short_urls.base(request), &share.shared, &token);
                Ok(with_secret(created(LIST, &CreatedShare { url, shown })))
            }
            CreateShareOutcome::TooMany => {
                self.first_answer_or(request, &caller.user, &once, Problem::TooManyShares).await
            }
            CreateShareOutcome::NotAllowed => Err(not_allowed(caller, &caller.user)),
            CreateShareOutcome::IdempotencyKeyTaken => {
                self.first_answer_or(request, &caller.user, &once, Problem::TryAgain).await
            }
        }
    }

    pub(crate) async fn list_shares_of_link(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let link = Shared::Link(self.link(caller, code).await?.identity().id.clone());
        self.list_shares(request, caller, |shared| shared.is(&link)).await
    }

    pub(crate) async fn list_shares_of_tag(&self, request: &Request, caller: &Caller, tag: &str) -> Result<Response> {
        let tag = Shared::Tag(tag_in_path(tag)?);
        self.list_shares(request, caller, |shared| shared.is(&tag)).await
    }

    pub(crate) async fn list_all_shares(&self, request: &Request, caller: &Caller) -> Result<Response> {
        self.list_shares(request, caller, |_| true).await
    }

    async fn list_shares(
        &self,
        request: &Request,
        caller: &Caller,
        is_meant: impl Fn(&Shared) -> bool,
    ) -> Result<Response> {
        let mut shares = self.sharing.table.shares(&caller.workspace, request.received_at).await?;
        shares.retain(|share| is_meant(&share.shared));
        let key = |share: &Share| format!("{}#{}", share.created_at, share.id);
        let (shares, next) = request.page_of(shares, SortOrder::Descending, key)?;
        Ok(list_response("shares", shares.iter().map(ShareView::from).collect(), next))
    }

    pub(crate) async fn end_share_of_link(
        &self,
        request: &Request,
        caller: &Caller,
        (code, id): (&str, &str),
    ) -> Result<Response> {
        let Ok(code) = ShortCode::parse(code) else { return Ok(no_content()) };
        let is_of_code = |shared: &Shared| matches!(shared, Shared::Link(link) if link.code.folded() == code.folded());
        self.end_share(request, caller, id, is_of_code).await
    }

    pub(crate) async fn end_share_of_tag(
        &self,
        request: &Request,
        caller: &Caller,
        (tag, id): (&str, &str),
    ) -> Result<Response> {
        let tag = Shared::Tag(tag_in_path(tag)?);
        self.end_share(request, caller, id, |shared| shared.is(&tag)).await
    }

    async fn end_share(
        &self,
        request: &Request,
        caller: &Caller,
        id: &str,
        is_meant: impl Fn(&Shared) -> bool,
    ) -> Result<Response> {
        let Ok(id) = ShareId::parse(id) else { return Ok(no_content()) };
        let (table, now) = (&self.sharing.table, request.received_at);
        let found = table.share(&caller.workspace, &id, now, Consistency::Strong).await?;
        let Some(share) = found.filter(|share| is_meant(&share.shared)) else { return Ok(no_content()) };
        let origin = self.origin(request, caller);
        match self.users.end_share(&self.sharing.table, &share, &caller.user, &origin).await? {
            EndShareOutcome::Ended => Ok(no_content()),
            EndShareOutcome::NotAllowed => Err(not_allowed(caller, &share.created_by)),
        }
    }
}

/// The tag that a path names. API Gateway has decoded the path but for `%25`, so what is left to decode is a per cent sign.
fn tag_in_path(segment: &str) -> Result<Tag> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| UNKNOWN)?;
    Ok(Tag::parse(&text).map_err(|refused| refused.in_field("tag"))?)
}

/// Why somebody can't share, or end a share that this person has made.
fn not_allowed(caller: &Caller, creator: &UserId) -> ApiError {
    let of_others = ApiError::Forbidden(Belonging::Member);
    if *creator == caller.user { ApiError::RoleTooLow(Role::Member) } else { of_others }
}

/// The body of a request to share.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Default, Deserialize)]
struct Body {
    expires_at: Option<Timestamp>,
    password: Option<LinkPassword>,
}

/// The response with a new share, the only one with its token.
#[derive(Serialize)]
struct CreatedShare<'a> {
    url: String,
    #[serde(flatten)]
    shown: ShareView<'a>,
}

#[derive(Serialize)]
struct ShareView<'a> {
    id: &'a ShareId,
    short_code: Option<&'a ShortCode>,
    tag: Option<&'a Tag>,
    has_password: bool,
    created_by: UserId,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
}

impl<'a> From<&'a Share> for ShareView<'a> {
    fn from(share: &'a Share) -> Self {
        let (short_code, tag) = match &share.shared {
            Shared::Link(link) => (Some(&link.code), None),
            Shared::Tag(tag) => (None, Some(tag)),
        };
        Self {
            id: &share.id,
            short_code,
            tag,
            has_password: share.password_hash.is_some(),
            created_by: share.created_by,
            created_at: share.created_at,
            expires_at: share.expires_at,
        }
    }
}
