//! HTTP functions: from API Gateway's event to an answer.
//!
//! A handler gets a [`Request`] and returns an answer or an [`ApiError`]. Everything that holds for all routes happens here,
//! once: the correlation id, problem documents, the log line, empty bodies for HEAD, the members of a body that do nothing.

mod csv;
mod edge;
mod error;
mod export;
mod gateway;
mod invocation;
mod json;
mod listing;
mod members;
mod nearest;
mod negotiation;
mod once;
mod operations;
mod pages;
mod problem;
mod representation;
mod request;
mod response;
mod revisions;
mod short_urls;
mod unread;
mod weights;

use std::convert::Infallible;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lambda_http::Body;
use lambda_http::http::HeaderName;
pub use lambda_http::http::{HeaderValue, Method, StatusCode, header};
use lambda_runtime::{LambdaEvent, Runtime, service_fn, tower::util::ThenLayer};
use linklet_domain::{IpHash, ShortCode};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use tracing::{Instrument as _, Span};

pub use self::csv::{Format, TableRows, linked};
pub use self::edge::Edge;
pub use self::error::{ApiError, Belonging, Result};
pub use self::export::{ExportPage, exported};
use self::gateway::GatewayAnswer;
pub use self::gateway::{GatewayEvent, HttpContext, RequestContext};
pub use self::invocation::Invocation;
pub use self::json::{Immutable, InvalidBody, JsonObject};
pub use self::listing::{ListPage, NextPage, list_response};
pub use self::negotiation::{accepts_gzip, matches, prefers_brotli};
pub use self::once::{Once, is_replayed, mark_as_replay, response_of};
use self::operations::Ending;
pub use self::pages::{Pages, escaped, policy_of_form, policy_of_style, policy_of_styles};
pub use self::problem::Problem;
pub use self::representation::VARIES;
pub use self::request::{BODY_BYTES, LARGE_BODY_BYTES, LOGO_BODY_BYTES, Request};
pub use self::response::{
    Response, accepted, content, created, empty, json, json_text, located, no_content, not_modified, with_secret,
};
pub use self::revisions::tagged;
pub use self::short_urls::ShortUrls;
pub use self::unread::{MOST_IGNORED, naming};
pub use self::weights::weighted;
use crate::StartError;
use crate::actor::Actor;
use crate::metrics::{self, Measured, Metric};
use crate::telemetry::{milliseconds, span_of};

/// A function behind the API whose work is done with its response.
pub trait Handler: Send + Sync {
    /// Handles one request.
    fn handle(&self, request: &Request) -> impl Future<Output = Result<Response>> + Send;
}

/// A function behind the API that may defer work until its response has left. Each [`Handler`] is one that never does.
pub trait DeferringHandler: Send + Sync {
    /// The data of deferred work.
    type Deferred: Send;

    /// Decides the response to one request, and which work is deferred.
    fn answer(&self, request: &Request) -> impl Future<Output = Answer<Self::Deferred>> + Send;

    /// Does the deferred work of a request, after its response has left.
    ///
    /// Lambda bills this time as part of the invocation, and the function's timeout includes it. If the environment dies
    /// meanwhile, the deferred work is lost.
    fn after_response(&self, request: &Request, deferred: Self::Deferred) -> impl Future<Output = ()> + Send;
}

/// The result of a [`DeferringHandler`].
#[derive(Debug)]
pub struct Answer<D> {
    /// The response to the client.
    pub response: Result<Response>,
    /// The work to do after the response has left.
    pub deferred: Option<D>,
}

impl<H: Handler> DeferringHandler for H {
    type Deferred = Infallible;

    async fn answer(&self, request: &Request) -> Answer<Infallible> {
        let response = self.handle(request).await;
        let response = response.map(|answered| representation::represented(request, request.name_ignored(answered)));
        Answer { response, deferred: None }
    }

    async fn after_response(&self, _: &Request, never: Infallible) {
        match never {}
    }
}

/// Answers requests until the execution environment ends.
///
/// Lambda sends an answer to the client as soon as the runtime has handed it over, and freezes the environment only when the
/// runtime asks for the next request. In between is the time for [`DeferringHandler::after_response`], and for the log line.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn serve(handler: impl DeferringHandler) -> Result<(), StartError> {
    let exchanges = &Exchanges::of(&handler);
    exchanges.run(async |event: GatewayEvent| Ok(exchanges.answer(event).await)).await
}

/// The same for a function that also carries out operators' commands, which come by direct invocation.
///
/// # Errors
/// When the Runtime API can't be reached.
pub async fn serve_with_commands<A: Serialize>(
    handler: &impl DeferringHandler,
    carry_out: impl AsyncFn(Value) -> Result<A, StartError>,
) -> Result<(), StartError> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Either<A> {
        Response(GatewayAnswer),
        Answer(A),
    }
    let exchanges = &Exchanges::of(handler);
    // Of an event of another type, the runtime would log what is in it.
    let invoked = async |event: Box<RawValue>| {
        Ok(match Invocation::of(&event)? {
            Invocation::Request(event) => Either::Response(exchanges.answer(*event).await),
            Invocation::Command(command) => Either::Answer(carry_out(command).await?),
        })
    };
    exchanges.run(invoked).await
}

/// The requests of an execution environment, one after another.
struct Exchanges<'a, H: DeferringHandler> {
    handler: &'a H,
    /// The request that is answered, until its response is sent.
    unfinished: Mutex<Option<(Exchange<H::Deferred>, Measured)>>,
}

impl<'a, H: DeferringHandler> Exchanges<'a, H> {
    fn of(handler: &'a H) -> Self {
        Self { handler, unfinished: Mutex::new(None) }
    }

    async fn answer(&self, event: GatewayEvent) -> GatewayAnswer {
        let ((response, exchange), measured) = metrics::observe(answer(self.handler, event.into())).await;
        *self.unfinished.lock() = Some((exchange, measured));
        GatewayAnswer::from(response)
    }

    async fn run<E, A>(&self, invoked: impl AsyncFn(E) -> Result<A, StartError>) -> Result<(), StartError>
    where
        E: DeserializeOwned,
        A: Serialize,
    {
        let answers = service_fn(async |event: LambdaEvent<E>| invoked(event.payload).await);
        // The runtime's service completes when Lambda has taken the response, so this layer runs after that.
        let finishing = ThenLayer::new(|sent: Result<(), StartError>| async {
            let answered = self.unfinished.lock().take();
            if let Some((exchange, measured)) = answered {
                metrics::resume(measured, exchange.finish(self.handler)).await;
            }
            sent
        });
        Runtime::new(answers).layer(finishing).run().await
    }
}

/// Handles one request. [`serve`] sends the response, and then [finishes](Exchange::finish) the exchange.
pub async fn answer<H: DeferringHandler>(handler: &H, request: Request) -> (Response, Exchange<H::Deferred>) {
    let started = Instant::now();
    let span = span_of(&request.correlation_id);
    // A route that takes any method gets the preflights of browsers, too. API Gateway adds what they ask for to a success, if
    // `CorsOrigins` allows it, and nothing else.
    let Answer { response, deferred } = if request.is_preflight() {
        Answer { response: Ok(no_content()), deferred: None }
    } else if let Err(refused) = request.require_operation() {
        Answer { response: Err(refused), deferred: None }
    } else {
        // Boxed, since the types of nested futures get deeper than the compiler follows.
        Box::pin(handler.answer(&request)).instrument(span.clone()).await
    };
    let mut response = response.unwrap_or_else(|error| span.in_scope(|| error.into_response(&request)));
    complete(&request, &mut response);
    let exchange = Exchange { status: response.status(), duration: started.elapsed(), request, deferred, span };
    (response, exchange)
}

fn complete(request: &Request, response: &mut Response) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(request.correlation_id.as_str()) {
        headers.insert("x-correlation-id", id);
    }
    if let Some(allowance) = request.allowance() {
        headers.insert("x-ratelimit-limit", allowance.limit.into());
        headers.insert("x-ratelimit-remaining", allowance.remaining.into());
        headers.insert("x-ratelimit-reset", allowance.resets_in.into());
    }
    if let Some(Ending { deprecation, sunset }) = request.ending() {
        headers.extend(
            [("deprecation", deprecation), ("sunset", sunset)]
                .into_iter()
                .filter_map(|(name, value)| Some((HeaderName::from_static(name), HeaderValue::from_str(value).ok()?))),
        );
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if request.is_head {
        *response.body_mut() = Body::Empty;
    }
}

/// A request whose response is decided, with its deferred work.
#[derive(Debug)]
pub struct Exchange<D> {
    request: Request,
    deferred: Option<D>,
    status: StatusCode,
    /// Until the answer was decided.
    duration: Duration,
    span: Span,
}

impl<D> Exchange<D> {
    /// Does the deferred work and logs the request. The log line comes last, so that its metrics include the deferred work.
    pub async fn finish(mut self, handler: &impl DeferringHandler<Deferred = D>) {
        let span = self.span.clone();
        let work = async {
            if let Some(deferred) = self.deferred.take() {
                // Boxed, or the layers around it would copy its some ten thousand bytes with each request.
                Box::pin(handler.after_response(&self.request, deferred)).await;
            }
            self.log();
        };
        work.instrument(span).await;
    }

    fn log(&self) {
        static IS_WARM: AtomicBool = AtomicBool::new(false);
        let cold_start = !IS_WARM.swap(true, Ordering::Relaxed);
        metrics::add(Metric::Errors, self.status.is_server_error().into());
        metrics::add(Metric::Throttles, (self.status == StatusCode::TOO_MANY_REQUESTS).into());
        metrics::add(Metric::ColdStarts, cold_start.into());
        let actor = self.request.actor();
        tracing::info!(
            route = self.request.route(),
            short_code = self.request.short_code().as_ref().map(ShortCode::as_str),
            user_id = actor.filter(|actor| actor.key_prefix().is_none()).map(|actor| actor.user.to_string()),
            key_prefix = actor.and_then(Actor::key_prefix),
            address_hash = self.request.refused().map(IpHash::as_str),
            status = self.status.as_u16(),
            duration_ms = milliseconds(self.duration),
            emf = metrics::emf(),
            "request answered"
        );
    }
}
