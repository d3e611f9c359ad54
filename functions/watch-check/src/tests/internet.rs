//! A simulated internet in memory: names, addresses and servers.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};

use crate::{CheckedAddress, Network};

type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The function with which a server handles a connection.
pub(super) type Server = Arc<dyn Fn(DuplexStream) -> Session + Send + Sync>;

/// A simulated internet. Clones share its state.
#[derive(Clone, Default)]
pub(super) struct Internet(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: HashMap<String, VecDeque<Vec<IpAddr>>>,
    servers: HashMap<IpAddr, Server>,
    silent: Vec<IpAddr>,
    resolved: Vec<String>,
    connected: Vec<SocketAddr>,
    open: usize,
}

impl Internet {
    /// Adds a name that always resolves to these addresses.
    pub(super) fn name(self, name: &str, addresses: &[&str]) -> Self {
        self.name_that_changes(name, &[addresses])
    }

    /// Adds a name whose lookups return these addresses one after another, and then always the last.
    pub(super) fn name_that_changes(self, name: &str, answers: &[&[&str]]) -> Self {
        let answers = answers.iter().map(|addresses| addresses.iter().map(|text| text.parse().unwrap()).collect());
        self.0.lock().unwrap().names.insert(name.to_owned(), answers.collect());
        self
    }

    /// Adds a server at all ports of an address.
    pub(super) fn server(self, address: &str, server: Server) -> Self {
        self.0.lock().unwrap().servers.insert(address.parse().unwrap(), server);
        self
    }

    /// Adds an address that doesn't answer connection attempts.
    pub(super) fn silence(self, address: &str) -> Self {
        self.0.lock().unwrap().silent.push(address.parse().unwrap());
        self
    }

    /// The names that were resolved, in order.
    pub(super) fn resolved(&self) -> Vec<String> {
        self.0.lock().unwrap().resolved.clone()
    }

    /// The addresses of all connection attempts, in order.
    pub(super) fn connected(&self) -> Vec<String> {
        self.0.lock().unwrap().connected.iter().map(SocketAddr::to_string).collect()
    }

    /// Number of open connections.
    pub(super) fn open(&self) -> usize {
        self.0.lock().unwrap().open
    }
}

impl Network for Internet {
    type Stream = DuplexStream;

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut state = self.0.lock().unwrap();
        state.resolved.push(name.to_owned());
        let answers = state.names.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() })
    }

    async fn connect(&self, address: CheckedAddress) -> io::Result<DuplexStream> {
        let ip = address.get().ip();
        let (server, is_silent) = {
            let mut state = self.0.lock().unwrap();
            state.connected.push(address.get());
            (state.servers.get(&ip).cloned(), state.silent.contains(&ip))
        };
        if is_silent {
            std::future::pending::<()>().await;
        }
        let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
        let (near, far) = tokio::io::duplex(16 * 1024);
        let (internet, session) = (self.clone(), server(far));
        internet.0.lock().unwrap().open += 1;
        tokio::spawn(async move {
            session.await;
            internet.0.lock().unwrap().open -= 1;
        });
        Ok(near)
    }
}

/// A server that handles each connection with this function.
pub(super) fn server<F>(session: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |stream| Box::pin(session(stream)))
}

/// A web server that gives each request the next of its responses, and then always the last.
#[derive(Clone)]
pub(super) struct Web(Arc<Mutex<WebState>>);

struct WebState {
    answers: VecDeque<String>,
    requests: Vec<String>,
}

impl Web {
    pub(super) fn new<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        let answers = answers.into_iter().map(str::to_owned).collect();
        Self(Arc::new(Mutex::new(WebState { answers, requests: Vec::new() })))
    }

    /// The heads of the requests, in order.
    pub(super) fn requests(&self) -> Vec<String> {
        self.0.lock().unwrap().requests.clone()
    }

    pub(super) fn server(&self) -> Server {
        let web = self.clone();
        server(move |stream| web.clone().serve(stream))
    }

    pub(super) async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        while let Some(head) = read_head(&mut stream).await {
            let answer = {
                let mut state = self.0.lock().unwrap();
                state.requests.push(head);
                if state.answers.len() > 1 { state.answers.pop_front().unwrap() } else { state.answers[0].clone() }
            };
            if stream.write_all(answer.as_bytes()).await.is_err() || answer.contains("connection: close") {
                return;
            }
        }
    }
}

/// The head of the next request; `None` at the end of the connection.
pub(super) async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A response with a body.
pub(super) fn answer(status: u16) -> String {
    format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 5\r\n\r\nhello")
}

/// A response that redirects.
pub(super) fn redirect(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

/// A server that always responds with this status.
pub(super) fn always(status: u16) -> Server {
    Web::new([answer(status).as_str()]).server()
}
