use futures_util::FutureExt as _;
use linklet_domain::{CorrelationId, Day, ShortCode, TargetUrl};
use linklet_lambda::http::{self, ApiError, Handler, Method, Request, Response, ShortUrls, StatusCode, json};
use linklet_lambda::metrics;
use serde_json::json;
use url::Url;

use crate::{log::logged, raw_http};

/// Everything between API Gateway and a handler.
pub fn requests(input: &[u8]) {
    let Some(event) = raw_http::event(input) else { return };
    let request = Request::from(event.clone());
    reads(&request);

    let mut answer = None;
    let exchange = async {
        let (response, exchange) = http::answer(&Probe, event.into()).await;
        exchange.finish(&Probe).await;
        response
    };
    let lines = logged(|| answer = metrics::scope(exchange).now_or_never());
    let answer = answer.expect("the probe waits for nothing");

    assert!([200, 400, 405, 413, 415].contains(&answer.status().as_u16()), "{answer:?}");
    for (name, value) in answer.headers() {
        assert!(!value.as_bytes().iter().any(u8::is_ascii_control), "{name} splits the answer");
    }
    let id = answer.headers()["x-correlation-id"].to_str().unwrap();
    assert!(CorrelationId::parse(id).is_ok());
    assert!(answer.body().is_empty() || serde_json::from_slice::<serde_json::Value>(answer.body()).is_ok());
    assert_eq!(lines.len(), 1, "one line for a request");
    for (name, value) in [("correlation_id", json!(id)), ("route", json!(request.route())), ("service", json!("fuzz"))]
    {
        assert_eq!(lines[0].get(name), Some(&value), "{name} in {:?}", lines[0]);
    }
}

fn reads(request: &Request) {
    assert_eq!(request.source_ip(), raw_http::SOURCE_IP, "a header has changed the address");
    assert!(request.page_size().is_err() || matches!(request.page_size(), Ok(1..=100)));

    let (code, short_urls) = (ShortCode::parse("abc1234").unwrap(), ShortUrls::new(None));
    let short_url = short_urls.of(request, &code);
    assert!(!short_url.contains(|character: char| character.is_control() || character.is_whitespace()));
    // A host that is none, such as an address of five numbers, can't have brought the request here.
    let Ok(url) = Url::parse(&short_url) else { return };
    assert!(["http", "https"].contains(&url.scheme()), "{short_url}");
    assert_eq!((url.path(), url.query(), url.fragment()), ("/r/abc1234", None, None), "{short_url}");
    assert_eq!((url.username(), url.password()), ("", None), "{short_url}");
    // Nor can one that DNS can't have.
    let Ok(target) = TargetUrl::parse(&short_url) else { return };
    assert!(short_urls.refuse_own(request, "url", &target).is_err(), "the loop to {short_url} was not seen");
}

/// Asks a request for everything that a handler could want.
struct Probe;

impl Handler for Probe {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let body = match request.method() {
            &Method::POST => request.json_object()?.canonical().to_owned(),
            _ => String::new(),
        };
        let from = request.moment("from", Day::start)?;
        let seen = json!({
            "segments": request.segments(),
            "q": request.query("q"),
            "limit": request.page_size()?,
            "from": from,
            "body": body,
            "agent": request.header_lossy("user-agent"),
            "prefetch": request.is_prefetch(),
            "html": request.wants_html(),
            "origin": request.origin(),
        });
        Ok(json(StatusCode::OK, &seen))
    }
}
