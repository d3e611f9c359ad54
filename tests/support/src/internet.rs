//! A simulated internet in memory: names, addresses and servers.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use linklet_fetch::{CheckedAddress, Network};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio_rustls::TlsAcceptor;

use crate::faults::lock;

type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The function with which a server handles a connection.
pub type Server = Arc<dyn Fn(DuplexStream) -> Session + Send + Sync>;

/// A public address.
pub const PUBLIC: &str = "93.184.216.34";
/// Another public address.
pub const OTHER: &str = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";

/// A simulated internet. Clones share its state.
#[derive(Clone, Default)]
pub struct Internet(Arc<Mutex<State>>);

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
    pub fn name(self, name: &str, addresses: &[&str]) -> Self {
        self.name_that_changes(name, &[addresses])
    }

    /// Adds a name whose lookups return these addresses one after another, and then always the last.
    pub fn name_that_changes(self, name: &str, answers: &[&[&str]]) -> Self {
        let answers =
            answers.iter().map(|addresses| addresses.iter().map(|text| text.parse().expect("an IP address")).collect());
        lock(&self.0).names.insert(name.to_owned(), answers.collect());
        self
    }

    /// Adds a server at all ports of an address.
    pub fn server(self, address: &str, server: Server) -> Self {
        lock(&self.0).servers.insert(address.parse().expect("an IP address"), server);
        self
    }

    /// Adds an address that doesn't answer connection attempts.
    pub fn silence(self, address: &str) -> Self {
        lock(&self.0).silent.push(address.parse().expect("an IP address"));
        self
    }

    /// The names that were resolved, in order.
    pub fn resolved(&self) -> Vec<String> {
        lock(&self.0).resolved.clone()
    }

    /// The addresses of all connection attempts, in order.
    pub fn connected(&self) -> Vec<String> {
        lock(&self.0).connected.iter().map(SocketAddr::to_string).collect()
    }

    /// Number of open connections.
    pub fn open(&self) -> usize {
        lock(&self.0).open
    }
}

impl Network for Internet {
    type Stream = DuplexStream;

    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut state = lock(&self.0);
        state.resolved.push(name.to_owned());
        let answers = state.names.get_mut(name).ok_or_else(|| io::Error::other("no such name"))?;
        Ok(if answers.len() > 1 { answers.pop_front().expect("there are several") } else { answers[0].clone() })
    }

    async fn connect(&self, address: CheckedAddress) -> io::Result<DuplexStream> {
        let ip = address.get().ip();
        let (server, is_silent) = {
            let mut state = lock(&self.0);
            state.connected.push(address.get());
            (state.servers.get(&ip).cloned(), state.silent.contains(&ip))
        };
        if is_silent {
            std::future::pending::<()>().await;
        }
        let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
        let (near, far) = tokio::io::duplex(16 * 1024);
        let (internet, session) = (self.clone(), server(far));
        lock(&internet.0).open += 1;
        tokio::spawn(async move {
            session.await;
            lock(&internet.0).open -= 1;
        });
        Ok(near)
    }
}

/// A server that handles each connection with this function.
pub fn server<F>(session: impl Fn(DuplexStream) -> F + Send + Sync + 'static) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |stream| Box::pin(session(stream)))
}

/// A web server that gives each request the next of its responses, and then always the last.
#[derive(Clone)]
pub struct Web(Arc<Mutex<WebState>>);

struct WebState {
    answers: VecDeque<String>,
    requests: Vec<String>,
}

impl Web {
    /// With these responses.
    pub fn new<'a>(answers: impl IntoIterator<Item = &'a str>) -> Self {
        let answers = answers.into_iter().map(str::to_owned).collect();
        Self(Arc::new(Mutex::new(WebState { answers, requests: Vec::new() })))
    }

    /// The heads of the requests, in order.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.0).requests.clone()
    }

    /// Serves it.
    pub fn server(&self) -> Server {
        let web = self.clone();
        server(move |stream| web.clone().serve(stream))
    }

    /// Serves one connection.
    pub async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        while let Some(head) = read_head(&mut stream).await {
            let answer = {
                let mut state = lock(&self.0);
                state.requests.push(head);
                if state.answers.len() > 1 {
                    state.answers.pop_front().expect("there are several")
                } else {
                    state.answers[0].clone()
                }
            };
            if stream.write_all(answer.as_bytes()).await.is_err() || answer.contains("connection: close") {
                return;
            }
        }
    }
}

/// An HTTP/1.1 server with TLS.
pub fn encrypted(acceptor: TlsAcceptor, web: Web) -> Server {
    server(move |stream| {
        let (acceptor, web) = (acceptor.clone(), web.clone());
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                web.serve(stream).await;
            }
        }
    })
}

/// The head of the next request; `None` at the end of the connection.
pub async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A response with a body.
pub fn answer(status: u16) -> String {
    format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 5\r\n\r\nhello")
}

/// A response that redirects.
pub fn redirect(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

/// A server that always responds with this status.
pub fn always(status: u16) -> Server {
    Web::new([answer(status).as_str()]).server()
}
