//! Connections to servers, and the few that are kept for the next check.

use std::{collections::VecDeque, future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, Version};
use http_body_util::Empty;
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
    rt::Executor,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::AbortHandle,
    time::Instant,
};

use crate::{
    FetchError,
    destination::{Destination, Origin},
};

/// How much of an answer's head is read, and how much of a body waits to be read.
const BUFFER: u32 = 64 * 1024;

/// How long a connection is used. A server that moved, or let its certificate expire, is noticed after that at the latest.
const MAX_AGE: Duration = Duration::from_secs(60);

/// How many connections are kept, over all servers. An environment that checks thousands would run out of sockets.
const MAX_KEPT: usize = 32;

/// An open connection. Dropping it closes it at once, whatever the server still sends.
pub(crate) struct Connection {
    origin: Origin,
    sender: Sender,
    opened: Instant,
    tasks: Tasks,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Connection {
    /// Speaks HTTP/1.1 over a stream.
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

    /// Speaks HTTP/2 over a stream.
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

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn get(&mut self, destination: &Destination) -> Result<Response<Incoming>, FetchError> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await.map_err(FetchError::Answer)?;
                sender.send_request(destination.request(Version::HTTP_11)?).await
            }
            Sender::Http2(sender) => {
                sender.ready().await.map_err(FetchError::Answer)?;
                sender.send_request(destination.request(Version::HTTP_2)?).await
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

/// What a connection can be spoken over.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for S {}

/// What reads and writes a connection in the background.
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
    /// What comes out is of no interest: an error of the connection is the request's as well.
    fn execute(&self, future: F) {
        let task = tokio::spawn(future).abort_handle();
        self.0.lock().push(task);
    }
}

/// Connections that wait for the next check.
#[derive(Default)]
pub(crate) struct Kept(Mutex<VecDeque<Connection>>);

impl Kept {
    /// Takes the connection that was used last.
    pub(crate) fn take(&self, origin: &Origin) -> Option<Connection> {
        let mut kept = self.0.lock();
        kept.retain(Connection::is_usable);
        let position = kept.iter().rposition(|connection| connection.origin == *origin)?;
        kept.remove(position)
    }

    /// Keeps a connection whose answer was read to its end.
    pub(crate) fn put(&self, connection: Connection) {
        let mut kept = self.0.lock();
        kept.push_back(connection);
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}
