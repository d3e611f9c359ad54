//! HTTP connections to servers, and a pool of idle ones.

use std::{collections::VecDeque, future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, Version};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::FetchError;
use crate::destination::{Asking, Destination, Origin};

/// Maximum size in bytes of a response's head, and of the buffered part of its body.
const BUFFER: u32 = 64 * 1024;

/// Maximum age of a connection. It limits how long a changed DNS record or an expired certificate goes unnoticed.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Maximum number of idle connections to all servers, so that an environment that checks thousands doesn't run out of sockets.
const MAX_IDLE: usize = 32;

/// An open connection. Dropping it closes it at once, even if the server is still sending.
pub(crate) struct Connection {
    origin: Origin,
    sender: Sender,
    opened: Instant,
    tasks: Tasks,
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Opens an HTTP/1.1 connection over a stream.
    pub(crate) async fn http1(origin: Origin, stream: impl Stream) -> Result<Self, FetchError> {
        let tasks = Tasks::default();
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(BUFFER as usize)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(FetchError::Answer)?;
        tasks.execute(driver);
        Ok(Self { origin, sender: Sender::Http1(sender), opened: Instant::now(), tasks })
    }

    /// Opens an HTTP/2 connection over a stream.
    pub(crate) async fn http2(origin: Origin, stream: impl Stream) -> Result<Self, FetchError> {
        let tasks = Tasks::default();
        let (sender, driver) = http2::Builder::new(tasks.clone())
            .initial_stream_window_size(BUFFER)
            .initial_connection_window_size(BUFFER)
            .max_header_list_size(BUFFER)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(FetchError::Answer)?;
        tasks.execute(driver);
        Ok(Self { origin, sender: Sender::Http2(sender), opened: Instant::now(), tasks })
    }

    /// Sends a request and waits for the head of the response.
    pub(crate) async fn send(
        &mut self,
        destination: &Destination,
        asking: &Asking<'_>,
    ) -> Result<Response<Incoming>, FetchError> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await.map_err(FetchError::Answer)?;
                sender.send_request(destination.request(Version::HTTP_11, asking)?).await
            }
            Sender::Http2(sender) => {
                sender.ready().await.map_err(FetchError::Answer)?;
                sender.send_request(destination.request(Version::HTTP_2, asking)?).await
            }
        }
        .map_err(FetchError::Answer)
    }

    fn is_usable(&self) -> bool {
        let is_closed = match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        };
        !is_closed && self.opened.elapsed() < MAX_AGE
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.abort();
    }
}

/// A byte stream for a connection: TCP or TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// The background tasks that read from and write to a connection.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<AbortHandle>>>);

impl Tasks {
    fn abort(&self) {
        for task in self.0.lock().drain(..) {
            task.abort();
        }
    }
}

impl<F> Executor<F> for Tasks
where
    F: Future<Output: Send> + Send + 'static,
{
    /// Spawns a task. Its output is ignored, since an error of the connection is also returned by the request.
    fn execute(&self, future: F) {
        let task = tokio::spawn(future).abort_handle();
        self.0.lock().push(task);
    }
}

/// A pool of idle connections.
#[derive(Default)]
pub(crate) struct ConnectionPool(Mutex<VecDeque<Connection>>);

impl ConnectionPool {
    /// Takes the most recently used connection to this origin.
    pub(crate) fn take(&self, origin: &Origin) -> Option<Connection> {
        let mut idle = self.0.lock();
        idle.retain(Connection::is_usable);
        let position = idle.iter().rposition(|connection| connection.origin == *origin)?;
        idle.remove(position)
    }

    /// Returns a connection to the pool. Its last response must have been read completely.
    pub(crate) fn put(&self, connection: Connection) {
        let mut idle = self.0.lock();
        idle.push_back(connection);
        if idle.len() > MAX_IDLE {
            idle.pop_front();
        }
    }
}
