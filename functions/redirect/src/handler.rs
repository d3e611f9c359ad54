//! Follows short links and records clicks.
//!
//! The answer is decided with one eventually consistent read, or none while many follow the same link, and with no other I/O.
//! When it has left, the click is stored and calls are merged, both at once. No link is ever deleted or changed on this path. A link
//! that may be followed so many times only is the one exception: a use is taken before the answer.

mod hot_links;

use linklet_domain::{
    Caching, Click, CountsAs, Decision, Intent, LimitedRoute, LinkStatus, LogoId, Record, RedirectTarget, Salt,
    ShortCode, ThrottleSubject, Timestamp, WorkspaceId,
};
use linklet_dynamodb::{Exhaustion, LinksTable, RepositoryError, ThrottleTable};
use linklet_lambda::following::{
    Brands, ClickRecording, Lead, Recorder, Use, UsedUp, Visit, diverted, led_to, note_end, page,
};
use linklet_lambda::http::{
    Answer, ApiError, DeferringHandler, Edge, HeaderValue, Method, Pages, Problem, Request, Response, Result,
    ShortUrls, StatusCode, content, header,
};
use linklet_lambda::limiter::Limiter;
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::telemetry::chain;

pub use self::hot_links::HotLinks;

/// `GET` and `HEAD` of `/r/{code}`, `/{code}`, and `/api/logos/{id}`, which its pages show.
pub struct Redirect {
    /// The table of links.
    pub links: LinksTable,
    /// Links held in memory because many requests ask for them.
    pub hot_links: HotLinks,
    /// Stores clicks.
    pub recorder: Recorder,
    /// Whether clicks are stored before or after the response.
    pub recording: ClickRecording,
    /// The table that the counts of calls are merged into.
    pub calls: ThrottleTable,
    /// Counts the calls in this environment.
    pub limiter: Limiter,
    /// The salt of hashed addresses.
    pub salt: Salt,
    /// The edge whose headers about visitors are trusted.
    pub edge: Edge,
    /// Links of which nothing is left.
    pub used_up: UsedUp,
    /// Answers with pages.
    pub pages: Pages,
    /// Builds the address that link previews are told.
    pub short_urls: ShortUrls,
    /// What workspaces show of themselves on pages.
    pub brands: Brands,
}

impl DeferringHandler for Redirect {
    type Deferred = Deferred;

    async fn answer(&self, request: &Request) -> Answer<Deferred> {
        if *request.method() != Method::GET {
            // Not counted, since it is no redirect.
            let response = page::about(Problem::RouteUnknown.into(), request, self.pages, None);
            return Answer { response, deferred: None };
        }
        let senders = ThrottleSubject::all_at(&self.edge.address(request), &self.salt);
        let followed = match self.limiter.count(&senders, request.received_at) {
            Ok(allowance) => {
                allowance.into_iter().for_each(|allowance| request.note_allowance(allowance));
                self.follow(request).await
            }
            Err(refusal) => {
                request.note_refused(&senders);
                Err(ApiError::Throttled(refusal))
            }
        };
        let (visit, response) = followed.unwrap_or_else(|error| (Visited::default(), Err(error)));
        let response = match response {
            Ok(response) => Ok(response),
            Err(error) => page::about_link(error, request, self.pages, (&self.brands, visit.workspace)).await,
        };
        let deferred = Deferred { senders, visit };
        match self.recording {
            ClickRecording::AfterResponse => Answer { response, deferred: Some(deferred) },
            ClickRecording::Inline => {
                Box::pin(self.after_response(request, deferred)).await;
                Answer { response, deferred: None }
            }
        }
    }

    /// Records the click, notes that a link is used up, and merges calls, all at once.
    async fn after_response(&self, request: &Request, Deferred { senders, visit }: Deferred) {
        let record = async {
            if let Some((link, lead)) = visit.clicked {
                let visitor = self.visit(request).visitor(lead.as_ref());
                let click = Click::on(&link, request.received_at, visitor, request.correlation_id.clone());
                self.recorder.record(click).await;
            }
        };
        let note = async {
            if let Some(end) = &visit.end {
                Box::pin(note_end(&self.links, end)).await;
            }
        };
        let merge = self.limiter.merge_due((&self.calls, LimitedRoute::Redirect), &senders, request.received_at);
        tokio::join!(record, note, merge);
    }
}

/// The status of a plain link's redirect. Browsers may keep the answer, so its `Cache-Control` says for how long.
pub const REDIRECT: StatusCode = StatusCode::MOVED_PERMANENTLY;

/// What a logo may do that is opened as a document: nothing.
const POLICY_OF_LOGO: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

/// What remains to be done for a request when its answer is decided.
#[derive(Debug)]
pub struct Deferred {
    /// Whom the call counts for.
    senders: Vec<ThrottleSubject>,
    visit: Visited,
}

/// What has come of a visit.
#[derive(Debug, Default)]
struct Visited {
    /// The link, if following it was a click, and where it has led, if it has.
    clicked: Option<(RedirectTarget, Option<Lead>)>,
    /// The end of the link's uses, if it is to be noted.
    end: Option<Exhaustion>,
    /// Whose link it is, if there is one.
    workspace: Option<WorkspaceId>,
}

impl Redirect {
    /// What has come of the visit, and the answer.
    async fn follow(&self, request: &Request) -> Result<(Visited, Result<Response>)> {
        let code = match request.segments().as_slice() {
            ["r", code] | ["r", code, ""] | [code] => ShortCode::followed(code).map_err(|_| UNKNOWN)?,
            ["api", "logos", id] => return Ok(answered((Visited::default(), Box::pin(self.logo(request, id)).await?))),
            ["r", ..] => return Err(UNKNOWN),
            _ => return Err(Problem::RouteUnknown.into()),
        };
        let record = self.look_up(&code, request.received_at).await?.ok_or(UNKNOWN)?;
        // Nobody is led to the owner of a link that does harm.
        let workspace = Some(record.identity().workspace).filter(|_| !record.is_suspended_by_operators());
        let followed = match self.decide(request, record) {
            Decision::Follow { target, counts_as, .. } if target.limit().is_some() => {
                Box::pin(self.follow_limited(request, target, counts_as)).await
            }
            decision => self.answer_with(request, decision).await.map(answered),
        };
        let (visited, response) = followed.unwrap_or_else(|error| (Visited::default(), Err(error)));
        Ok((Visited { workspace, ..visited }, response))
    }

    /// The picture with an id. Its address changes with it, so it may be kept for ever.
    async fn logo(&self, request: &Request, id: &str) -> Result<Response> {
        let id = LogoId::parse(id).map_err(|_| UNKNOWN)?;
        let png = self.brands.workspaces.logo(&id).await?.ok_or(UNKNOWN)?;
        let picture = content(StatusCode::OK, "image/png", png);
        let mut response = self.pages.protected(picture, request, HeaderValue::from_static(POLICY_OF_LOGO));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
        // With CORS, API Gateway adds headers for some origins only, so an answer to one origin isn't right for another.
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        Ok(response)
    }

    fn decide(&self, request: &Request, record: Record<RedirectTarget>) -> Decision {
        let intent = if request.is_head { Intent::Inspect } else { Intent::Visit };
        Decision::on(record, intent, request.received_at, || self.visit(request).asker())
    }

    /// Takes a use of a link with a limit, if there is one left, before its visitor is led on.
    async fn follow_limited(
        &self,
        request: &Request,
        target: RedirectTarget,
        counts_as: CountsAs,
    ) -> Result<(Visited, Result<Response>)> {
        let (now, correlation_id) = (request.received_at, &request.correlation_id);
        match self.used_up.take(&self.links, &target.identity.id, now, correlation_id).await? {
            Use::Taken { end } => {
                let (visited, response) =
                    self.answer_with(request, Decision::Follow { target, cache: Caching::Never, counts_as }).await?;
                Ok((Visited { end, ..visited }, Ok(response)))
            }
            Use::Refused { end } => {
                let refused = self.answer_with(request, target.refusal(LinkStatus::Exhausted)).await;
                Ok((Visited { end, ..Visited::default() }, refused.map(|(_, response)| response)))
            }
            // What was read is out of date.
            Use::Unlimited => {
                let current = self.links.current_target(&target.identity.id.code).await?.ok_or(UNKNOWN)?;
                match self.decide(request, current) {
                    Decision::Follow { target, .. } if target.limit().is_some() => Err(Problem::TryAgain.into()),
                    decision => self.answer_with(request, decision).await.map(answered),
                }
            }
        }
    }

    /// The answer of a decision. Nothing of a use is left to be taken.
    async fn answer_with(&self, request: &Request, decision: Decision) -> Result<(Visited, Response)> {
        let clicked = |link, lead, counts_as| match counts_as {
            CountsAs::Click => Visited { clicked: Some((link, lead)), ..Visited::default() },
            CountsAs::Nothing => Visited::default(),
        };
        match decision {
            Decision::Follow { target, cache, counts_as } => {
                let lead = self.visit(request).lead(&target);
                let response = redirect_to(&lead.location, cache)?;
                Ok((clicked(target, Some(lead), counts_as), response))
            }
            Decision::Show { target, counts_as } => {
                let short_url = self.short_urls.of(request, &target.identity.id.code);
                let owner = &target.identity.workspace;
                let brand = Box::pin(self.brands.find(owner, request.received_at)).await;
                let response = page::teaser(target.preview(), &short_url, request, self.pages, brand.as_ref());
                Ok((clicked(target, None, counts_as), response))
            }
            Decision::Lock { .. } => Err(Problem::LinkPasswordRequired.into()),
            Decision::Divert { fallback } => Ok((Visited::default(), diverted(&fallback)?)),
            Decision::Withhold => Err(Problem::LinkWithheld.into()),
            Decision::Refuse { why } => Err(ApiError::gone(why)),
        }
    }

    /// What stands under a code: from memory if many ask for it, else from the table, or again from memory if the table can't
    /// be read.
    async fn look_up(
        &self,
        code: &ShortCode,
        now: Timestamp,
    ) -> Result<Option<Record<RedirectTarget>>, RepositoryError> {
        if let Some(held) = self.hot_links.get(code, now) {
            metrics::add(Metric::CacheHits, 1);
            return Ok(Some(held));
        }
        // Boxed, as is what comes after the answer: a redirect from memory would otherwise carry the room for a call.
        match Box::pin(self.links.redirect_target(code)).await {
            Ok(found) => {
                self.hot_links.learn(code, found.as_ref(), now);
                Ok(found)
            }
            Err(error @ RepositoryError::Unavailable { .. }) => match self.hot_links.last_resort(code, now) {
                Some(held) => {
                    let error = chain(&error);
                    tracing::warn!(short_code = code.as_str(), error, "the last known state of a link was used");
                    Ok(Some(held))
                }
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    fn visit<'a>(&'a self, request: &'a Request) -> Visit<'a> {
        Visit { request, salt: &self.salt, edge: self.edge }
    }
}

fn answered((visited, response): (Visited, Response)) -> (Visited, Result<Response>) {
    (visited, Ok(response))
}

fn redirect_to(location: &str, cache: Caching) -> Result<Response> {
    let Caching::For(time) = cache else { return led_to(location, StatusCode::FOUND) };
    let mut response = led_to(location, REDIRECT)?;
    let cache_control = HeaderValue::from_str(&format!("private, max-age={}", time.as_secs()));
    response.headers_mut().insert(header::CACHE_CONTROL, cache_control.map_err(ApiError::internal)?);
    Ok(response)
}
