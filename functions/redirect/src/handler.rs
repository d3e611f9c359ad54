//! Follows short links and records clicks.
//!
//! The answer is decided with one eventually consistent read, or none while many follow the same link, and with no other I/O.
//! When it has left, the click is stored and calls are merged, both at once. No link is ever deleted or changed on this path.

mod hot_links;
mod limiter;
mod pace;
mod page;
mod recorder;
mod spreading;

use std::time::Duration;

use linklet_domain::{
    Click, CountsAs, Decision, Intent, IpHash, LimitedRoute, Record, RedirectTarget, Salt, ShortCode, TargetUrl,
    ThrottleSubject, Timestamp, Visitor, Window,
};
use linklet_dynamodb::{LinksTable, RepositoryError, ThrottleTable};
use linklet_lambda::{
    http::{
        Answer, ApiError, DeferringHandler, Edge, HeaderValue, Method, Pages, Problem, Request, Response, StatusCode,
        header, no_content,
    },
    metrics::{self, Metric},
    telemetry::chain,
};

pub use self::{
    hot_links::HotLinks,
    limiter::Limiter,
    recorder::{ClickRecording, Recorder},
    spreading::{Advice, Spreading},
};

/// `GET` and `HEAD` of `/r/{code}` and `/{code}`.
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
    /// Answers with pages.
    pub pages: Pages,
}

impl DeferringHandler for Redirect {
    type Deferred = Deferred;

    async fn answer(&self, request: &Request) -> Answer<Deferred> {
        let senders = ThrottleSubject::all_at(&self.edge.address(request), &self.salt);
        let followed = match self.limiter.count(&senders, request.received_at()) {
            Ok(allowance) => {
                allowance.into_iter().for_each(|allowance| request.note_allowance(allowance));
                self.follow(request).await
            }
            Err(refusal) => Err(ApiError::Throttled(refusal)),
        };
        let (clicked, response) = match followed {
            Ok((clicked, response)) => (clicked, Ok(response)),
            Err(error) => (None, self.as_page(error, request)),
        };
        let deferred = Deferred { senders, clicked };
        match self.recording {
            ClickRecording::AfterResponse => Answer { response, deferred: Some(deferred) },
            ClickRecording::Inline => {
                Box::pin(self.after_response(request, deferred)).await;
                Answer { response, deferred: None }
            }
        }
    }

    /// Records the click and merges calls, both at once.
    async fn after_response(&self, request: &Request, Deferred { senders, clicked }: Deferred) {
        let record = async {
            if let Some(link) = &clicked {
                self.recorder.record(self.click(request, link)).await;
            }
        };
        let merge = async {
            for sender in &senders {
                if let Some(calls) = self.limiter.due(sender, request.received_at()) {
                    Box::pin(self.merge(sender, calls, request.received_at())).await;
                }
            }
        };
        tokio::join!(record, merge);
    }
}

/// The status of a redirect. Browsers may keep the answer, so its `Cache-Control` says for how long.
pub const REDIRECT: StatusCode = StatusCode::MOVED_PERMANENTLY;

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

/// What remains to be done for a request when its answer is decided.
#[derive(Debug)]
pub struct Deferred {
    /// Whom the call counts for.
    senders: Vec<ThrottleSubject>,
    /// The link, if following it was a click.
    clicked: Option<RedirectTarget>,
}

impl Redirect {
    /// The link, if following it was a click, and the answer.
    async fn follow(&self, request: &Request) -> Result<(Option<RedirectTarget>, Response), ApiError> {
        let code = match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["r", code] | ["r", code, ""] | [code]) => ShortCode::parse(code).map_err(|_| UNKNOWN)?,
            (_, ["r", ..]) => return Err(UNKNOWN),
            _ => return Err(Problem::RouteUnknown.into()),
        };
        let now = request.received_at();
        let record = self.look_up(&code, now).await?.ok_or(UNKNOWN)?;
        let intent = if request.is_head() { Intent::Inspect } else { Intent::Visit };
        match Decision::on(record, intent, now) {
            Decision::Follow { target, cache, counts_as } => {
                let response = redirect_to(&target.target, cache)?;
                Ok((Some(target).filter(|_| counts_as == CountsAs::Click), response))
            }
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

    async fn merge(&self, sender: &ThrottleSubject, calls: Window, received_at: Timestamp) {
        match self.calls.merge(LimitedRoute::Redirect, sender, calls, received_at).await {
            Ok(total) => self.limiter.merged(sender, calls, total),
            Err(error) => {
                metrics::add(Metric::ThrottleUnavailable, 1);
                tracing::warn!(error = chain(&error), "calls were not merged");
            }
        }
    }

    fn click(&self, request: &Request, link: &RedirectTarget) -> Click {
        Click::on(link, request.received_at(), self.visitor(request), request.correlation_id().clone())
    }

    fn visitor(&self, request: &Request) -> Visitor {
        Visitor::new(IpHash::of(&self.edge.address(request), &self.salt))
            .with_headers(
                request.header_lossy(header::USER_AGENT).as_deref(),
                request.header_lossy(header::REFERER).as_deref(),
            )
            .at_place(self.edge.country(request), self.edge.city(request).as_deref())
            .prefetching(request.is_prefetch())
    }

    /// A page for people whom a link doesn't redirect, with the headers of the problem document that everybody else gets.
    fn as_page(&self, error: ApiError, request: &Request) -> Result<Response, ApiError> {
        if !request.wants_html() {
            return Err(error);
        }
        let page = page::of(error.problem());
        let (parts, _) = error.into_response(request).into_parts();
        let mut response = self.pages.html(request, parts.status, page, page::policy());
        for (name, value) in parts.headers.iter().filter(|(name, _)| *name != header::CONTENT_TYPE) {
            response.headers_mut().insert(name, value.clone());
        }
        Ok(noindex(response))
    }
}

fn redirect_to(target: &TargetUrl, cache: Duration) -> Result<Response, ApiError> {
    let header_value = |text: &str| HeaderValue::from_str(text).map_err(|error| ApiError::Internal(Box::new(error)));
    let max_age = cache.as_secs();
    let mut response = no_content();
    *response.status_mut() = REDIRECT;
    response.headers_mut().insert(header::LOCATION, header_value(&target.location())?);
    response.headers_mut().insert(header::CACHE_CONTROL, header_value(&format!("private, max-age={max_age}"))?);
    Ok(noindex(response))
}

/// Search engines should list the target, not the short link.
fn noindex(mut response: Response) -> Response {
    response.headers_mut().insert("x-robots-tag", HeaderValue::from_static("noindex"));
    response
}
