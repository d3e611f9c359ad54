//! The events that subjects are handed, and what they have to answer.

use std::{fs, rc::Rc, time::Duration};

use linklet_domain::{Role, Timestamp};
use linklet_test_support::{Person, token_of};
use serde_json::{Value, json};

use crate::tables::{CLICKS, COUNTED, FOLLOWED, HOT, LOCKED, Tables, code, target};

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

    pub fn event(&self, number: usize) -> String {
        (self.event)(number)
    }

    /// Whether an answer is the right one.
    pub fn is_right(&self, number: usize, answer: &[u8]) -> bool {
        serde_json::from_slice(answer).is_ok_and(|answer: Value| (self.expected)(number, &answer))
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

    /// Ten links of a workspace.
    pub fn list(tables: &Tables) -> Self {
        let event = authorized(&sample("list", "urls"), &tables.lister);
        let expected = |_, answer: &Value| body(answer)["urls"].as_array().is_some_and(|urls| urls.len() == 10);
        Self::new(move |_| event.clone(), expected)
    }

    /// A workspace at a glance.
    pub fn overview(tables: &Tables) -> Self {
        let event = authorized(&sample("overview", "overview"), &tables.lister);
        Self::new(move |_| event.clone(), |_, answer| body(answer)["links"]["total"].as_u64() >= Some(10))
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

    /// Who the caller is, by their token.
    pub fn me(tables: &Tables) -> Self {
        let (event, id) = (authorized(&sample("auth", "me"), &tables.creator), tables.creator.id.to_string());
        Self::new(move |_| event.clone(), move |_, answer| body(answer)["user_id"] == id)
    }

    /// A workspace, its members and its keys, in turns.
    pub fn workspace(tables: &Tables) -> Self {
        let samples =
            ["workspace", "members", "keys"].map(|name| authorized(&sample("account", name), &tables.creator));
        Self::new(move |number| samples[number % samples.len()].clone(), |_, answer| answer["statusCode"] == 200)
    }

    /// One person logs in again and again, after having registered.
    pub fn logins() -> Self {
        let (register, login) = (sample("auth", "register"), sample("auth", "login"));
        Self::new(
            move |number| if number == 0 { register.clone() } else { login.clone() },
            |number, answer| answer["statusCode"] == if number == 0 { 201 } else { 200 },
        )
    }

    /// Another link is deleted each time, until all are.
    pub fn delete(tables: &Tables) -> Self {
        let event = Self::about_links(tables, &sample("delete", "delete"));
        Self::new(event, |_, answer| answer["statusCode"] == 204)
    }

    /// Another link gets a title each time.
    pub fn rename(tables: &Tables) -> Self {
        let (event, links) = (Self::about_links(tables, &sample("update", "change")), tables.links);
        Self::new(event, move |number, answer| body(answer)["title"] == format!("Spring {}", code(number % links)))
    }

    /// The password of a link is sent again and again, as the page that asks for it does.
    pub fn unlock() -> Self {
        let event = with(&sample("unlock", "unlock"), "launch", LOCKED);
        Self::new(
            move |_| event.clone(),
            |_, answer| answer["statusCode"] == 303 && header(answer, "location") == Some(&target(LOCKED)),
        )
    }

    /// The description of the API.
    pub fn document() -> Self {
        let event = sample("web", "document");
        Self::new(move |_| event.clone(), |_, answer| answer["statusCode"] == 200)
    }

    /// The first sample event of a function.
    ///
    /// # Panics
    /// When it has none.
    pub fn sample_of(function: &str) -> Self {
        let folder = format!("{}/../../functions/{function}/events", env!("CARGO_MANIFEST_DIR"));
        let files = fs::read_dir(folder).expect("a function has sample events");
        let first = files.flatten().map(|file| file.path()).min().expect("a function has a sample event");
        let event = sample(function, &first.file_stem().unwrap_or_default().to_string_lossy());
        Self::new(move |_| event.clone(), |_, answer| answer["statusCode"].as_u64().is_some_and(|status| status < 400))
    }

    /// A workspace's jobs.
    pub fn jobs(tables: &Tables) -> Self {
        let event = authorized(&sample("jobs-api", "jobs"), &tables.creator);
        Self::new(move |_| event.clone(), |_, answer| body(answer)["jobs"].is_array())
    }

    /// A page of what is stored about somebody.
    pub fn export(tables: &Tables) -> Self {
        let event = authorized(&sample("leave", "export"), &tables.creator);
        Self::new(move |_| event.clone(), |_, answer| body(answer)["items"].is_array())
    }

    /// Another URL to monitor each time.
    pub fn register_target(tables: &Tables) -> Self {
        let event = authorized(&sample("watch", "register"), &tables.creator);
        let event = move |number| with(&event, "https://example.com/", &format!("https://example.com/{number}"));
        Self::new(event, |_, answer| answer["statusCode"] == 201)
    }

    /// Another round of the only lane each time, which begins when the one before is over.
    pub fn rounds() -> Self {
        const INTERVAL: Duration = Duration::from_secs(10);
        let (event, start) = (sample("watch-check", "round"), Timestamp::now().unix_seconds());
        let start = Timestamp::from_unix_seconds(start).expect("it is a time");
        let slot = move |number| start.plus(INTERVAL * u32::try_from(number).expect("there are few rounds"));
        let event = move |number| {
            let event = with(&event, "2026-03-02T14:05:15.000Z", &slot(number).to_string());
            with(&event, r#"\"interval_seconds\": 15"#, r#"\"interval_seconds\": 10"#)
        };
        Self::new(event, |_, answer| answer["batchItemFailures"].as_array().is_some_and(Vec::is_empty))
    }

    /// A sample event, each time about another link of the creator.
    fn about_links(tables: &Tables, sample: &str) -> impl Fn(usize) -> String + 'static {
        let (event, links) = (authorized(sample, &tables.creator), tables.links);
        move |number| with(&event, "launch", &code(number % links))
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
