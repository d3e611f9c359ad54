//! The events that subjects are handed, and what they have to answer.

use std::{fs, rc::Rc, time::Duration};

use linklet_domain::{Role, Timestamp};
use linklet_test_support::{FakeLambda, Invocation, Person, token_of};
use serde_json::{Value, json};

use crate::tables::{CLICKS, COUNTED, FOLLOWED, HOT, Tables, code, target};

/// So many visitors follow links.
const VISITORS: usize = 5_000;

/// Events, and what is to be answered to them. Each has a number, so that no two need be alike.
#[derive(Clone)]
pub struct Workload {
    event: Rc<dyn Fn(usize) -> String>,
    expected: Rc<Expected>,
}

/// Whether this is the answer to the event with that number.
type Expected = dyn Fn(usize, &Value) -> bool;

impl Workload {
    /// How many links a request about many names.
    pub const LINKS: usize = 100;

    fn new(event: impl Fn(usize) -> String + 'static, expected: impl Fn(usize, &Value) -> bool + 'static) -> Self {
        Self { event: Rc::new(event), expected: Rc::new(expected) }
    }

    /// Has an environment work on the event with this number.
    ///
    /// # Panics
    /// When its answer isn't the right one.
    pub async fn ask(&self, name: &str, environment: &FakeLambda, number: usize) -> Invocation {
        let invocation = environment.invoke((self.event)(number)).await;
        let answer = serde_json::from_slice(&invocation.answer);
        let is_right = answer.is_ok_and(|answer: Value| (self.expected)(number, &answer));
        assert!(is_right, "{name} answers wrongly: {}", String::from_utf8_lossy(&invocation.answer));
        invocation
    }

    /// Any event, and an empty answer.
    pub fn nothing() -> Self {
        let event = sample("redirect", "follow");
        Self::new(move |_| event.clone(), |_, answer| answer["statusCode"] == 200)
    }

    /// Another link each time, out of so many.
    pub fn cold_links(links: usize) -> Self {
        Self::redirect(move |number| code(number % links))
    }

    /// Another link each time, that is only looked at: HEAD is no click.
    pub fn looks(links: usize) -> Self {
        let Self { event, expected } = Self::cold_links(links);
        Self { event: Rc::new(move |number| with(&event(number), r#""method":"GET""#, r#""method":"HEAD""#)), expected }
    }

    /// One link all the time.
    pub fn hot_link() -> Self {
        Self::redirect(|_| HOT.to_owned())
    }

    fn redirect(code: impl Fn(usize) -> String + Clone + 'static) -> Self {
        let (event, followed) = (sample("redirect", "follow"), code.clone());
        let event = move |number| {
            let event = with(&event, "launch", &followed(number));
            with(&event, "203.0.113.9", &visitor(number))
        };
        Self::new(event, move |number, answer| {
            is_redirect(answer) && header(answer, "location") == Some(&target(&code(number)))
        })
    }

    /// A new link each time.
    pub fn shorten(tables: &Tables) -> Self {
        let event = authorized(&sample("shorten", "shorten"), &tables.creator);
        let url = |number| format!("https://example.com/created/{number}");
        let event = move |number| {
            let event = with(&event, "https://example.com/spring-sale?ref=newsletter", &url(number));
            with(&event, "203.0.113.9", &visitor(number))
        };
        Self::new(event, move |number, answer| {
            answer["statusCode"] == 201 && body(answer)["original_url"] == url(number)
        })
    }

    /// A hundred new links each time.
    pub fn shorten_many(tables: &Tables) -> Self {
        let event = authorized(&sample("shorten", "create_many"), &tables.creator);
        let event = move |number| {
            let url = |link| json!({"url": format!("https://example.com/bulk/{number}/{link}"), "tags": ["bulk"]});
            let links: Vec<_> = (0..Self::LINKS).map(url).collect();
            let mut event: Value = serde_json::from_str(&event).expect("an event is JSON");
            event["body"] = json!({ "links": links }).to_string().into();
            event.to_string()
        };
        Self::new(event, |_, answer| {
            let results = body(answer)["results"].as_array().cloned().unwrap_or_default();
            results.len() == Self::LINKS && results.iter().all(|result| result["status"] == 201)
        })
    }

    /// Who somebody is.
    pub fn me(tables: &Tables) -> Self {
        let event = authorized(&sample("auth", "me"), &tables.creator);
        let id = json!(tables.creator.id);
        let is_theirs = move |answer: &Value| body(answer)["user_id"] == id;
        Self::new(move |_| event.clone(), move |_, answer| answer["statusCode"] == 200 && is_theirs(answer))
    }

    /// Ten links of a workspace.
    pub fn list(tables: &Tables) -> Self {
        let event = authorized(&sample("list", "urls"), &tables.lister);
        let expected = |_, answer: &Value| body(answer)["urls"].as_array().is_some_and(|urls| urls.len() == 10);
        Self::new(move |_| event.clone(), expected)
    }

    /// A page of 20 of somebody's links.
    pub fn page(owner: &Person, query: &str) -> Self {
        let event = with(&authorized(&sample("list", "urls"), owner), "/api/urls", "/api/links");
        let event = with(&event, r#""limit=10""#, &format!("{query:?}"));
        let expected = |_, answer: &Value| body(answer)["links"].as_array().is_some_and(|links| links.len() == 20);
        Self::new(move |_| event.clone(), expected)
    }

    /// A link's statistics.
    pub fn stats() -> Self {
        let event = with(&sample("stats", "summary"), "launch", COUNTED);
        Self::new(move |_| event.clone(), |_, answer| body(answer)["total_clicks"] == CLICKS)
    }

    /// What somebody asks about the clicks of their link, those of 30 days if the query is about a time.
    pub fn question(owner: &Person, route: &str, query: &str) -> Self {
        let path = format!("/api/stats/{FOLLOWED}{route}");
        let event = with(&authorized(&sample("stats", "clicks"), owner), "/api/stats/launch/clicks", &path);
        let now = Timestamp::now();
        let days = format!("from={}&to={}", now.minus(Duration::from_secs(29 * 86_400)).day(), now.day());
        let event = asking(&event, &query.replace("DAYS", &days));
        Self::new(move |_| event.clone(), |_, answer| answer["statusCode"] == 200)
    }

    /// What the clicks of many links have in common, on other days each time, since answers are kept.
    pub fn breakdowns(owner: &Person) -> Self {
        let (event, now) = (authorized(&sample("overview", "breakdowns"), owner), Timestamp::now());
        let event = move |number: usize| {
            let from = now.minus(Duration::from_secs(86_400 * (30 + number as u64))).day();
            asking(&event, &format!("from={from}"))
        };
        Self::new(event, |_, answer| body(answer)["total_clicks"].as_u64() > Some(0))
    }
}

/// A function's sample event, as small as API Gateway sends it.
fn sample(function: &str, name: &str) -> String {
    let path = format!("{}/../../functions/{function}/events/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("a function has sample events");
    serde_json::from_str::<Value>(&text).expect("an event is JSON").to_string()
}

/// A sample event with another query.
fn asking(event: &str, query: &str) -> String {
    let mut event: Value = serde_json::from_str(event).expect("an event is JSON");
    event["rawQueryString"] = query.into();
    event.to_string()
}

fn authorized(event: &str, person: &Person) -> String {
    with(event, "TOKEN", &token_of(&person.id, &person.workspace, Role::Admin))
}

/// The event with something else in place of what a sample has.
fn with(event: &str, sample: &str, other: &str) -> String {
    assert!(event.contains(sample), "a sample event has no {sample} any more: {event}");
    event.replace(sample, other)
}

fn visitor(number: usize) -> String {
    let visitor = number % VISITORS;
    format!("198.51.{}.{}", visitor / 250, visitor % 250)
}

fn is_redirect(answer: &Value) -> bool {
    answer["statusCode"].as_u64().is_some_and(|status| (300..400).contains(&status))
}

fn header<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    let headers = answer["headers"].as_object()?;
    headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
}

fn body(answer: &Value) -> Value {
    answer["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default()
}
