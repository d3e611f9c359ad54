//! Web sites that are monitored, each on an address of its own, which is this machine.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// What each of them answers.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// Sites that answer as long as this is there.
pub struct Hosts {
    addresses: Vec<SocketAddr>,
    _serving: JoinSet<()>,
}

impl Hosts {
    /// Starts so many of them.
    ///
    /// # Errors
    /// When this machine has no such addresses: on Linux it has all of 127.0.0.0/8.
    pub async fn start(count: usize) -> io::Result<Self> {
        let (mut addresses, mut serving) = (Vec::new(), JoinSet::new());
        for number in 0..count {
            let [.., third, fourth] = u32::try_from(number).unwrap_or_default().to_be_bytes();
            let listener = TcpListener::bind((Ipv4Addr::new(127, 9, third, fourth), 0)).await?;
            addresses.push(listener.local_addr()?);
            serving.spawn(serve(listener));
        }
        Ok(Self { addresses, _serving: serving })
    }

    /// A page of each of them.
    pub fn urls(&self) -> impl Iterator<Item = String> {
        self.addresses.iter().map(|address| format!("http://{address}/health"))
    }
}

async fn serve(listener: TcpListener) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers one request after another, until the client closes the connection.
async fn answer(mut stream: TcpStream) {
    let (mut request, mut buffer) = (Vec::new(), [0; 1_024]);
    while let Ok(read) = stream.read(&mut buffer).await
        && read > 0
    {
        request.extend_from_slice(&buffer[..read]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            if stream.write_all(ANSWER).await.is_err() {
                return;
            }
        }
    }
}
