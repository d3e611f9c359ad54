//! Lambda's side of a function: starts its process and hands it events, as the service does.
//!
//! This is the Runtime API (2018-06-01) and the Extensions API (2020-01-01) on loopback. An environment works on one event at a
//! time. It is through with it when its runtime and all its extensions have asked for the next one: until then, Lambda bills.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io::{self, PipeReader, Read as _},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, Response, StatusCode, body::Incoming, http::response::Builder, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    net::TcpListener,
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::timeout,
};

use crate::functions::Variables;

const RUNTIME: &str = "/2018-06-01/runtime";
const EXTENSION: &str = "/2020-01-01/extension";
const FUNCTION_ARN: &str = "arn:aws:lambda:eu-central-1:123456789012:function:bench";
/// As the template's functions have it.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// So much of what a process has printed is shown if it fails.
const LAST_OUTPUT: usize = 4_096;
/// Debian's root certificates in one file, as Amazon Linux has them. Debian has them again beside it, each in a file of its own.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// What to run.
#[derive(Debug, Clone)]
pub struct Program {
    /// An executable and its arguments.
    pub command: Vec<PathBuf>,
    /// Its variables, beside those that Lambda sets.
    pub variables: Variables,
    /// In MB. A function is told of it, and not held to it.
    pub memory: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum LambdaError {
    #[error("{program} could not be started")]
    Start { program: String, source: io::Error },
    #[error("{reason}; it has printed:\n{output}")]
    Function { reason: String, output: String },
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
    /// From handing the event out until all had asked for the next one.
    pub done: Duration,
}

/// An execution environment. Its process ends with it.
pub struct Environment {
    process: Child,
    started: Instant,
    api: Arc<Api>,
    server: JoinHandle<()>,
}

impl Environment {
    /// Starts a function's process, as it would be on AWS: with its variables and no others, without input, its output read.
    ///
    /// # Errors
    /// When it can't be started.
    pub async fn start(program: &Program) -> Result<Self, LambdaError> {
        let failed = |source| LambdaError::Start { program: program.command[0].display().to_string(), source };
        let api = Arc::new(Api::default());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (output, writer) = io::pipe().map_err(failed)?;
        let mut command = command(program, address);
        command.stdin(Stdio::null()).stderr(writer.try_clone().map_err(failed)?).stdout(writer);
        let started = Instant::now();
        let process = command.spawn().map_err(failed)?;
        let (reading, serving) = (api.clone(), api.clone());
        thread::spawn(move || reading.read(output));
        Ok(Self { process, started, api, server: tokio::spawn(serving.serve(listener)) })
    }

    /// Hands out an event and waits until it is worked on.
    ///
    /// # Errors
    /// When the function fails, ends, or takes too long.
    pub async fn invoke(&self, event: String) -> Result<Invocation, LambdaError> {
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

    /// What the process talks to.
    pub fn api(&self) -> Arc<Api> {
        self.api.clone()
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        self.server.abort();
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
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
            ("AWS_LAMBDA_FUNCTION_NAME", "bench"),
            ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
            ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
            ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/bench"),
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

/// Who asks for events. The runtime gets them first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Participant {
    Runtime,
    Extension(usize),
}

/// An event on its way to a participant.
struct HandedOut {
    number: u64,
    event: Bytes,
}

/// What a process talks to.
#[derive(Default)]
pub struct Api {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// For each extension, whether it is told of events.
    extensions: Vec<bool>,
    waiting: BTreeMap<Participant, oneshot::Sender<HandedOut>>,
    number: u64,
    handed_out: Option<Instant>,
    answer: Option<(Bytes, Instant)>,
    /// When the latest participant has asked for an event.
    asked: Option<Instant>,
    failure: Option<String>,
    output: Vec<u8>,
}

impl State {
    /// Whether the next event can be handed out: all are through with the previous one, and with their start.
    fn is_ready(&self) -> bool {
        self.waiting.contains_key(&Participant::Runtime) && self.waiting.len() == self.extensions.len() + 1
    }

    fn is_told(&self, participant: Participant) -> bool {
        match participant {
            Participant::Runtime => true,
            Participant::Extension(index) => self.extensions[index],
        }
    }

    fn error(&self, reason: &str) -> LambdaError {
        let output = String::from_utf8_lossy(&self.output).into_owned();
        LambdaError::Function { reason: reason.to_owned(), output }
    }
}

impl Api {
    /// Whether the answer to the latest event has been received.
    pub fn is_answered(&self) -> bool {
        self.state.lock().answer.is_some()
    }

    async fn invoke(&self, event: String) -> Result<Invocation, LambdaError> {
        self.until(State::is_ready).await?;
        self.hand_out(&event.into());
        self.until(|state| state.answer.is_some() && state.is_ready()).await?;
        self.invocation()
    }

    fn hand_out(&self, event: &Bytes) {
        let mut state = self.state.lock();
        state.number += 1;
        state.answer = None;
        let number = state.number;
        let told: Vec<_> = state.waiting.keys().copied().filter(|participant| state.is_told(*participant)).collect();
        state.handed_out = Some(Instant::now());
        for participant in told {
            let event = if participant == Participant::Runtime { event.clone() } else { Bytes::new() };
            if let Some(waiting) = state.waiting.remove(&participant) {
                // Who has hung up is missed when the next event is due.
                drop(waiting.send(HandedOut { number, event }));
            }
        }
    }

    fn invocation(&self) -> Result<Invocation, LambdaError> {
        let state = self.state.lock();
        let (Some(start), Some((answer, received)), Some(asked)) = (state.handed_out, &state.answer, state.asked)
        else {
            return Err(state.error("there is no answer"));
        };
        let (answer, received) = (answer.clone(), *received);
        Ok(Invocation { answer, received, answered: received - start, done: asked - start })
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) -> Result<(), LambdaError> {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                match self.check(&is_so) {
                    Ok(false) => changed.await,
                    ended => return ended.map(drop),
                }
            }
        };
        timeout(TIME_LIMIT, waiting)
            .await
            .unwrap_or_else(|_| Err(self.state.lock().error("the function takes too long")))
    }

    fn check(&self, is_so: impl Fn(&State) -> bool) -> Result<bool, LambdaError> {
        let state = self.state.lock();
        state.failure.as_ref().map_or_else(|| Ok(is_so(&state)), |failure| Err(state.error(failure)))
    }

    fn fail(&self, reason: String) {
        self.state.lock().failure.get_or_insert(reason);
        self.changed.notify_one();
    }

    /// Reads what the process prints, so that it never waits for a reader, and keeps the end of it.
    fn read(&self, mut output: PipeReader) {
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = output.read(&mut buffer) {
            let mut state = self.state.lock();
            state.output.extend_from_slice(&buffer[..length]);
            let surplus = state.output.len().saturating_sub(LAST_OUTPUT);
            state.output.drain(..surplus);
        }
        self.fail("the function's process has ended".to_owned());
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) {
        while let Ok((connection, _)) = listener.accept().await {
            // Without it, an answer in two parts waits 40 ms for the client's delayed acknowledgement.
            if let Err(error) = connection.set_nodelay(true) {
                self.fail(error.to_string());
            }
            let api = self.clone();
            let service = service_fn(move |request| {
                let api = api.clone();
                async move { Ok::<_, Infallible>(api.answer(request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        if let Some(path) = path.strip_prefix(RUNTIME) {
            return match (&parts.method, path) {
                (&Method::GET, "/invocation/next") => self.next_event().await,
                (&Method::POST, path) => self.accept(path, body).await,
                _ => respond(StatusCode::NOT_FOUND, ""),
            };
        }
        let id = parts.headers.get("lambda-extension-identifier").and_then(|id| id.to_str().ok());
        match (&parts.method, path.strip_prefix(EXTENSION), id) {
            (&Method::POST, Some("/register"), _) => self.register(body).await,
            (&Method::GET, Some("/event/next"), Some(id)) => self.next_notice(id).await,
            _ => respond(StatusCode::NOT_FOUND, ""),
        }
    }

    async fn next_event(&self) -> Response<Full<Bytes>> {
        let Some(HandedOut { number, event }) = self.next(Participant::Runtime).await else { return shut_down() };
        let response = headed(StatusCode::OK)
            .header("lambda-runtime-aws-request-id", request_id(number))
            .header("lambda-runtime-deadline-ms", deadline())
            .header("lambda-runtime-invoked-function-arn", FUNCTION_ARN)
            .header("lambda-runtime-trace-id", trace_id());
        finish(response, event)
    }

    async fn next_notice(&self, id: &str) -> Response<Full<Bytes>> {
        let known = (0..self.state.lock().extensions.len()).find(|index| extension_id(*index) == id);
        let Some(index) = known else { return respond(StatusCode::FORBIDDEN, "") };
        let Some(HandedOut { number, .. }) = self.next(Participant::Extension(index)).await else { return shut_down() };
        let notice = json!({
            "eventType": "INVOKE", "deadlineMs": deadline(), "requestId": request_id(number),
            "invokedFunctionArn": FUNCTION_ARN, "tracing": {"type": "X-Amzn-Trace-Id", "value": trace_id()},
        });
        finish(
            headed(StatusCode::OK).header("lambda-extension-event-identifier", request_id(number)),
            notice.to_string(),
        )
    }

    async fn next(&self, participant: Participant) -> Option<HandedOut> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.state.lock();
            state.waiting.insert(participant, sender);
            state.asked = Some(Instant::now());
        }
        self.changed.notify_one();
        receiver.await.ok()
    }

    /// Takes what a runtime posts: an answer, or an error.
    async fn accept(&self, path: &str, body: Incoming) -> Response<Full<Bytes>> {
        let Ok(body) = body.collect().await else { return respond(StatusCode::BAD_REQUEST, "") };
        let (body, received) = (body.to_bytes(), Instant::now());
        let mut state = self.state.lock();
        if path == format!("/invocation/{}/response", request_id(state.number)) {
            state.answer = Some((body, received));
        } else {
            drop(state);
            self.fail(format!("the function posts to {path}: {}", String::from_utf8_lossy(&body)));
        }
        respond(StatusCode::ACCEPTED, r#"{"status":"OK"}"#)
    }

    async fn register(&self, body: Incoming) -> Response<Full<Bytes>> {
        let Ok(body) = body.collect().await else { return respond(StatusCode::BAD_REQUEST, "") };
        let body: serde_json::Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        let is_told = body["events"].as_array().is_some_and(|events| events.iter().any(|event| event == "INVOKE"));
        let mut state = self.state.lock();
        state.extensions.push(is_told);
        let id = extension_id(state.extensions.len() - 1);
        let answer = json!({"functionName": "bench", "functionVersion": "$LATEST", "handler": "bootstrap"});
        finish(headed(StatusCode::OK).header("lambda-extension-identifier", id), answer.to_string())
    }
}

fn request_id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

fn extension_id(index: usize) -> String {
    format!("00000000-0000-4000-9000-{index:012x}")
}

fn trace_id() -> &'static str {
    "Root=1-69a5995f-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=0"
}

fn deadline() -> u64 {
    let deadline = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TIME_LIMIT;
    u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)
}

fn headed(status: StatusCode) -> Builder {
    Response::builder().status(status).header("content-type", "application/json")
}

fn finish(head: Builder, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    head.body(Full::new(body.into())).unwrap_or_else(|_| Response::new(Full::default()))
}

fn respond(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    finish(headed(status), body)
}

/// To whoever waits when the environment is gone.
fn shut_down() -> Response<Full<Bytes>> {
    respond(StatusCode::GONE, "")
}

#[cfg(test)]
mod tests {
    use hyper_util::{
        client::legacy::{Client, connect::HttpConnector},
        rt::TokioExecutor,
    };

    use super::*;

    /// A function, as far as its service sees it.
    #[derive(Clone)]
    struct Function {
        client: Client<HttpConnector, Full<Bytes>>,
        address: SocketAddr,
    }

    impl Function {
        async fn start() -> (Arc<Api>, Self) {
            let (api, listener) = (Arc::new(Api::default()), TcpListener::bind(("127.0.0.1", 0)).await.unwrap());
            let address = listener.local_addr().unwrap();
            tokio::spawn(api.clone().serve(listener));
            (api, Self { client: Client::builder(TokioExecutor::new()).build_http(), address })
        }

        async fn call(&self, method: Method, path: &str, extension: &str, body: &str) -> Response<Bytes> {
            let request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
            let request = request.header("lambda-extension-identifier", extension);
            let response = self.client.request(request.body(Full::from(body.to_owned())).unwrap()).await.unwrap();
            let (head, body) = response.into_parts();
            Response::from_parts(head, body.collect().await.unwrap().to_bytes())
        }

        /// Asks for an event, and answers with it.
        async fn answer_next(&self) {
            let event = self.call(Method::GET, "/2018-06-01/runtime/invocation/next", "", "").await;
            let id = event.headers()["lambda-runtime-aws-request-id"].to_str().unwrap().to_owned();
            let path = format!("/2018-06-01/runtime/invocation/{id}/response");
            let body = String::from_utf8(event.into_body().to_vec()).unwrap();
            assert_eq!(self.call(Method::POST, &path, "", &body).await.status(), StatusCode::ACCEPTED);
        }

        async fn register(&self, events: &str) -> String {
            let response = self.call(Method::POST, "/2020-01-01/extension/register", "", events).await;
            response.headers()["lambda-extension-identifier"].to_str().unwrap().to_owned()
        }

        async fn next_notice(&self, extension: &str) -> Response<Bytes> {
            self.call(Method::GET, "/2020-01-01/extension/event/next", extension, "").await
        }

        /// Answers events for ever.
        fn run(&self) {
            let function = self.clone();
            tokio::spawn(async move {
                loop {
                    function.answer_next().await;
                }
            });
        }
    }

    fn shell(script: &str) -> Program {
        let command = ["/bin/sh", "-c", script].map(PathBuf::from).into();
        Program { command, variables: [("GREETING".to_owned(), "hello".to_owned())].into(), memory: 256 }
    }

    #[tokio::test]
    async fn a_function_gets_events_one_after_another_and_its_answers_are_received() {
        let (api, function) = Function::start().await;
        function.run();

        for event in ["first", "second"] {
            let invocation = api.invoke(event.to_owned()).await.unwrap();

            assert_eq!(invocation.answer, event);
            assert!(invocation.answered <= invocation.done);
            assert!(api.is_answered());
        }
    }

    #[tokio::test]
    async fn an_invocation_is_done_when_the_extensions_have_asked_again() {
        let (api, function) = Function::start().await;
        let told = function.register(r#"{"events":["INVOKE"]}"#).await;
        let not_told = function.register(r#"{"events":[]}"#).await;
        let idle = function.clone();
        tokio::spawn(async move { idle.next_notice(&not_told).await });
        let working = tokio::spawn({
            let api = api.clone();
            async move { api.invoke("event".to_owned()).await.unwrap() }
        });

        let ((), notice) = tokio::join!(function.answer_next(), function.next_notice(&told));
        function.run();
        while !api.state.lock().waiting.contains_key(&Participant::Runtime) {
            tokio::task::yield_now().await;
        }
        let asked = Instant::now();
        tokio::spawn(async move { function.next_notice(&told).await });
        let invocation = working.await.unwrap();

        let notice: serde_json::Value = serde_json::from_slice(notice.body()).unwrap();
        assert_eq!((&notice["eventType"], &notice["requestId"]), (&json!("INVOKE"), &json!(request_id(1))));
        assert!(invocation.received <= asked);
        assert!(invocation.received - invocation.answered + invocation.done >= asked);
    }

    #[tokio::test]
    async fn who_is_not_registered_gets_nothing() {
        let (_api, function) = Function::start().await;

        assert_eq!(function.next_notice(&extension_id(0)).await.status(), StatusCode::FORBIDDEN);
        assert_eq!(function.call(Method::GET, "/", "", "").await.status(), StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn an_error_that_a_runtime_posts_is_a_failure() {
        let (api, function) = Function::start().await;
        function.call(Method::POST, "/2018-06-01/runtime/init/error", "", "no table").await;

        let error = api.invoke(String::new()).await.unwrap_err().to_string();

        assert!(error.contains("/init/error: no table"), "{error}");
    }

    #[tokio::test]
    async fn a_process_that_ends_is_a_failure_with_what_it_has_printed() {
        let environment =
            Environment::start(&shell("echo $GREETING; echo $_HANDLER >&2; env -u HOME; exit 1")).await.unwrap();

        let error = environment.invoke(String::new()).await.unwrap_err().to_string();

        assert!(error.contains("has ended") && error.contains("hello\nbootstrap\n"), "{error}");
        assert!(error.contains("AWS_LAMBDA_RUNTIME_API=127.0.0.1:") && !error.contains("CARGO"), "{error}");
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_a_failure() {
        let program = Program { command: vec!["/nowhere".into()], ..shell("") };

        let error = Environment::start(&program).await.err().unwrap().to_string();

        assert_eq!(error, "/nowhere could not be started");
    }
}
