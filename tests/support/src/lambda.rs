use std::collections::BTreeMap;
use std::io::{self, PipeReader, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{self, Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path as UrlPath, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Request, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{CapacityMeter, Consumption, called, faults::lock, listen, serve};

/// What happened, in its order, and what the calls among it have cost. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    entries: Arc<Mutex<Vec<String>>>,
    meter: CapacityMeter,
}

impl Journal {
    fn note(&self, what: &str) {
        lock(&self.entries).push(what.to_owned());
    }

    /// All that was noted.
    pub fn entries(&self) -> Vec<String> {
        lock(&self.entries).clone()
    }

    /// What the calls to DynamoDB have cost.
    pub fn meter(&self) -> &CapacityMeter {
        &self.meter
    }

    /// Forgets all of it.
    pub fn clear(&self) {
        lock(&self.entries).clear();
        self.meter.reset();
    }

    /// How many calls have written before the answer to their event.
    pub fn early_writes(&self) -> usize {
        let (mut writes, mut is_answered) = (0, false);
        for entry in lock(&self.entries).iter() {
            match entry.as_str() {
                "next" => is_answered = false,
                "answered" => is_answered = true,
                operation => writes += usize::from(Consumption::is_write(operation) && !is_answered),
            }
        }
        writes
    }

    /// A server that notes each call of an AWS API with JSON, by its operation, and then passes it on to this one.
    pub fn in_front_of(&self, endpoint: &str) -> String {
        let (journal, endpoint) = (self.clone(), endpoint.to_owned());
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        serve(Router::new().fallback(async move |request: Request<Body>| {
            let (mut head, body) = request.into_parts();
            let operation = called(&head.headers);
            journal.note(&operation);
            let mut sent = serde_json::from_slice(&read(body).await).expect("a call is JSON");
            Consumption::ask(&operation, &mut sent);
            head.uri = endpoint.parse().expect("an endpoint is a URI");
            head.headers.remove(CONTENT_LENGTH);
            let passed_on = Request::from_parts(head, Body::from(sent.to_string()));
            let (head, body) = client.request(passed_on).await.expect("the server behind answers").into_parts();
            let answer = read(Body::new(body)).await;
            let answered: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
            journal.meter.count(&operation, &sent, &answered, !head.status.is_success()).expect("an item in it is one");
            Response::from_parts(head, Body::from(answer))
        }))
    }
}

async fn read(body: Body) -> Bytes {
    body::to_bytes(body, usize::MAX).await.expect("the connection lasts")
}

/// What to run in an execution environment.
#[derive(Debug, Clone)]
pub struct Program {
    /// An executable and its arguments.
    pub command: Vec<PathBuf>,
    /// Its variables, beside those that Lambda sets.
    pub variables: BTreeMap<String, String>,
    /// In MB. A function is told of it, and not held to it.
    pub memory: u64,
}

/// How an event was worked on.
#[derive(Debug)]
pub struct Invocation {
    /// What the function answers.
    pub answer: Bytes,
    /// When the answer was there.
    pub received: Instant,
    /// From handing the event out until then.
    pub answered: Duration,
    /// From handing the event out until the runtime has asked for the next one: until then, Lambda bills.
    pub done: Duration,
}

/// A function's executable in an execution environment: a stand-in for Lambda's
/// [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). The process ends with it.
pub struct FakeLambda {
    process: Child,
    started: Instant,
    api: Arc<RuntimeApi>,
    server: JoinHandle<()>,
}

const FUNCTION_ARN: &str = "arn:aws:lambda:eu-central-1:123456789012:function:test";
const TRACE_ID: &str = "Root=1-69a5995f-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=0";
/// Longer than anything takes that isn't stuck.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// So much of what a process has printed is shown if it fails.
const LAST_OUTPUT: usize = 4_096;
/// Debian's root certificates in one file, as Amazon Linux has them. Debian has them again beside it, each in a file of its own.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

impl FakeLambda {
    /// Starts a function's process as on AWS: with its variables and no others, without input, its output read. The journal says
    /// `next` when it asks for an event, and `answered` when it has answered one.
    ///
    /// # Panics
    /// When it can't be started, or there is no Tokio runtime.
    pub fn start(program: &Program, journal: &Journal) -> Self {
        let api = RuntimeApi { journal: journal.clone(), state: Mutex::default(), changed: Notify::new() };
        let (api, listener) = (Arc::new(api), listen().expect("a loopback port is free"));
        let address = listener.local_addr().expect("a bound socket has an address");
        let (output, writer) = io::pipe().expect("there is a pipe");
        let mut command = command(program, address);
        command.stdin(Stdio::null()).stderr(writer.try_clone().expect("a pipe can be shared")).stdout(writer);
        let (started, reader) = (Instant::now(), api.clone());
        let process = command.spawn();
        let process = process.unwrap_or_else(|error| panic!("{} can't start: {error}", program.command[0].display()));
        thread::spawn(move || reader.read(output));
        Self { process, started, server: tokio::spawn(api.clone().serve(listener)), api }
    }

    /// Hands out an event, and waits until the function asks for the next one.
    ///
    /// # Panics
    /// When it fails, ends, or doesn't do that within 20 seconds.
    pub async fn invoke(&self, event: String) -> Invocation {
        self.api.invoke(event).await
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// The process's id.
    pub fn process(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for FakeLambda {
    fn drop(&mut self) {
        self.server.abort();
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn command(program: &Program, api: SocketAddr) -> Command {
    let mut command = Command::new(&program.command[0]);
    command
        .args(&program.command[1..])
        .env_clear()
        .envs([
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_DEFAULT_REGION", "eu-central-1"),
            ("AWS_LAMBDA_FUNCTION_NAME", "test"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/test"),
            ("AWS_LAMBDA_LOG_STREAM_NAME", "2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef"),
            ("AWS_REGION", "eu-central-1"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_SESSION_TOKEN", "token"),
            ("LANG", "en_US.UTF-8"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("TZ", ":UTC"),
            ("_HANDLER", "bootstrap"),
        ])
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", program.memory.to_string())
        .env("AWS_LAMBDA_RUNTIME_API", api.to_string())
        .envs(Path::new(CERTIFICATES).exists().then_some(("SSL_CERT_FILE", CERTIFICATES)))
        .envs(&program.variables);
    command
}

/// What a process talks to.
struct RuntimeApi {
    journal: Journal,
    state: Mutex<Events>,
    changed: Notify,
}

#[derive(Default)]
struct Events {
    /// Takes an event and its number, if the runtime has asked for one.
    waiting: Option<oneshot::Sender<(u64, String)>>,
    number: u64,
    handed_out: Option<Instant>,
    answer: Option<(Bytes, Instant)>,
    asked: Option<Instant>,
    failure: Option<String>,
    output: Vec<u8>,
}

impl RuntimeApi {
    async fn serve(self: Arc<Self>, listener: TcpListener) {
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/{*path}", post(accept))
            .layer(DefaultBodyLimit::disable())
            .with_state(self);
        axum::serve(listener, router).await.expect("the stand-in serves");
    }

    async fn invoke(&self, event: String) -> Invocation {
        self.until(|events| events.waiting.is_some()).await;
        self.hand_out(event);
        self.until(|events| events.answer.is_some() && events.waiting.is_some()).await;
        let mut events = lock(&self.state);
        let (answer, received) = events.answer.take().expect("it is there");
        let (start, asked) = events.handed_out.zip(events.asked).expect("an event was asked for and handed out");
        Invocation { answer, received, answered: received - start, done: asked - start }
    }

    fn hand_out(&self, event: String) {
        let mut events = lock(&self.state);
        events.number += 1;
        let (number, waiting) = (events.number, events.waiting.take());
        events.handed_out = Some(Instant::now());
        // Who has hung up is missed when the answer is due.
        drop(waiting.map(|waiting| waiting.send((number, event))));
    }

    async fn until(&self, is_so: impl Fn(&Events) -> bool) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                match self.check(&is_so) {
                    Ok(true) => return,
                    Ok(false) => changed.await,
                    Err(failure) => self.end(&failure),
                }
            }
        };
        if timeout(TIME_LIMIT, waiting).await.is_err() {
            self.end("the function takes too long");
        }
    }

    fn check(&self, is_so: impl Fn(&Events) -> bool) -> Result<bool, String> {
        let events = lock(&self.state);
        events.failure.clone().map_or_else(|| Ok(is_so(&events)), Err)
    }

    fn end(&self, reason: &str) -> ! {
        let output = String::from_utf8_lossy(&lock(&self.state).output).into_owned();
        panic!("{reason}; it has printed:\n{output}")
    }

    fn fail(&self, reason: String) {
        lock(&self.state).failure.get_or_insert(reason);
        self.changed.notify_one();
    }

    /// Reads what the process prints, so that it never waits for a reader, and keeps the end of it.
    fn read(&self, mut output: PipeReader) {
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            let mut events = lock(&self.state);
            events.output.extend_from_slice(&buffer[..length]);
            let surplus = events.output.len().saturating_sub(LAST_OUTPUT);
            events.output.drain(..surplus);
        }
        self.fail("the function's process has ended".to_owned());
    }
}

async fn next(State(api): State<Arc<RuntimeApi>>) -> Result<impl IntoResponse, StatusCode> {
    api.journal.note("next");
    let (sender, receiver) = oneshot::channel();
    {
        let mut events = lock(&api.state);
        events.waiting = Some(sender);
        events.asked = Some(Instant::now());
    }
    api.changed.notify_one();
    let (number, event) = receiver.await.map_err(|_| StatusCode::GONE)?;
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TIME_LIMIT;
    let headers = [
        (CONTENT_TYPE.as_str(), "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", request_id(number)),
        ("lambda-runtime-deadline-ms", deadline.as_millis().to_string()),
        ("lambda-runtime-invoked-function-arn", FUNCTION_ARN.to_owned()),
        ("lambda-runtime-trace-id", TRACE_ID.to_owned()),
    ];
    Ok((headers, event))
}

/// Takes what a runtime posts: an answer, or an error.
async fn accept(
    State(api): State<Arc<RuntimeApi>>,
    UrlPath(path): UrlPath<String>,
    body: Bytes,
) -> (StatusCode, &'static str) {
    let received = Instant::now();
    let number = lock(&api.state).number;
    if path == format!("invocation/{}/response", request_id(number)) {
        api.journal.note("answered");
        lock(&api.state).answer = Some((body, received));
    } else {
        api.fail(format!("the function posts to {path}: {}", String::from_utf8_lossy(&body)));
    }
    (StatusCode::ACCEPTED, r#"{"status":"OK"}"#)
}

fn request_id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;
    use crate::TestDynamoDb;

    const TABLE: &str = "UsersTable";

    /// Posts what a runtime might, as the process's answer.
    async fn post_to(address: SocketAddr, path: &str, body: &str) {
        let request = Request::post(format!("http://{address}/2018-06-01/runtime/{path}"));
        let client: Client<_, Body> = Client::builder(TokioExecutor::new()).build_http();
        let response = client.request(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
    }

    async fn get_next(address: SocketAddr) -> Response<Body> {
        let client: Client<_, Body> = Client::builder(TokioExecutor::new()).build_http();
        let uri = format!("http://{address}/2018-06-01/runtime/invocation/next");
        client.request(Request::get(uri).body(Body::empty()).unwrap()).await.unwrap().map(Body::new)
    }

    fn start_api() -> (Arc<RuntimeApi>, SocketAddr) {
        let api = RuntimeApi { journal: Journal::default(), state: Mutex::default(), changed: Notify::new() };
        let (api, listener) = (Arc::new(api), listen().unwrap());
        let address = listener.local_addr().unwrap();
        tokio::spawn(api.clone().serve(listener));
        (api, address)
    }

    fn shell(script: &str) -> FakeLambda {
        let command = ["/bin/sh", "-c", script].map(PathBuf::from).into();
        let variables = [("GREETING".to_owned(), "hello".to_owned())].into();
        FakeLambda::start(&Program { command, variables, memory: 256 }, &Journal::default())
    }

    #[tokio::test]
    async fn an_event_is_done_when_the_function_asks_for_the_next() {
        let (api, address) = start_api();
        let working = tokio::spawn({
            let api = api.clone();
            async move { (api.invoke("first".to_owned()).await, api.invoke("second".to_owned()).await) }
        });

        let mut asked = Vec::new();
        for expected in ["first", "second"] {
            asked.push(Instant::now());
            let event = get_next(address).await;
            let id = event.headers()["lambda-runtime-aws-request-id"].to_str().unwrap().to_owned();
            assert_eq!(read(event.into_body()).await, expected);
            post_to(address, &format!("invocation/{id}/response"), expected).await;
        }
        tokio::spawn(get_next(address));
        let (first, second) = working.await.unwrap();

        assert_eq!((first.answer, second.answer), ("first".into(), "second".into()));
        assert!(first.received <= asked[1] && first.received - first.answered + first.done >= asked[1]);
        assert_eq!(api.journal.entries(), ["next", "answered", "next", "answered", "next"]);
    }

    #[tokio::test]
    #[should_panic(expected = "the function posts to init/error: no table")]
    async fn an_error_that_a_runtime_posts_is_a_failure() {
        let (api, address) = start_api();
        post_to(address, "init/error", "no table").await;

        api.invoke(String::new()).await;
    }

    #[tokio::test]
    #[should_panic(expected = "has ended; it has printed:\nhello\nbootstrap\n0 of Cargo's, ")]
    async fn a_process_that_ends_is_a_failure_with_what_it_has_printed() {
        let lambda = shell(
            "echo $GREETING; echo $_HANDLER >&2; echo $(env | grep -c ^CARGO) of Cargo\\'s, $AWS_LAMBDA_RUNTIME_API; exit 1",
        );

        lambda.invoke(String::new()).await;
    }

    #[tokio::test]
    async fn calls_are_noted_with_what_they_cost_and_passed_on() {
        let (db, journal) = (TestDynamoDb::start(), Journal::default());
        let config = db.client().config().to_builder().endpoint_url(journal.in_front_of(db.endpoint())).build();
        let client = aws_sdk_dynamodb::Client::from_conf(config);
        let item: HashMap<_, _> = ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S("a".to_owned()))).into();
        let put = || client.put_item().table_name(TABLE).set_item(Some(item.clone())).send();

        put().await.unwrap();
        let read = client.get_item().table_name(TABLE).set_key(Some(item.clone())).send().await.unwrap();
        journal.note("answered");
        put().await.unwrap();

        assert_eq!(read.item, Some(item.clone()));
        assert_eq!(journal.entries(), ["PutItem", "GetItem", "answered", "PutItem"]);
        assert_eq!(journal.early_writes(), 1);
        let meter = journal.meter();
        assert_eq!((meter.calls(), meter.read_units(), meter.write_units()), (3, 0.5, 2.0));
    }
}
