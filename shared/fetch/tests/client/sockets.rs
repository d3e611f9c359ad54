//! Tests with real sockets and servers on this machine.

use std::time::Duration;

use futures_util::FutureExt;
use linklet_domain::Reach;
use linklet_fetch::{Fetcher, SystemNetwork};
use linklet_test_support::internet::{Web, answer, read_head};
use linklet_test_support::some_roots;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::{TIMEOUT, fetch_with};

fn fetcher(reach: Reach) -> Fetcher {
    // Longer than any of these tests takes on a busy machine.
    Fetcher::on((SystemNetwork, some_roots()), "link monitoring", reach, Duration::from_secs(60)).unwrap()
}

async fn listener() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn a_server_on_this_machine_is_fetched_in_tests_only() {
    let (listener, port) = listener().await;

    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1", "0177.0.0.1", "0x7f000001"] {
        let attempt = fetch_with(&fetcher(Reach::Public), &format!("http://{host}:{port}/")).await;
        assert_eq!((attempt.outcome, attempt.is_transient), (Err("not_public"), false), "{host}");
    }
    assert!(listener.accept().now_or_never().is_none(), "somebody connected");

    let web = Web::new([answer(200).as_str()]);
    let serving = web.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serving.clone().serve(stream));
        }
    });
    let fetcher = fetcher(Reach::PublicAndLoopback);
    let refused = Err("not_public");
    for (host, seen) in [("127.0.0.1", Ok(200)), ("localhost", Ok(200)), ("[::]", refused), ("[fe80::1]", refused)] {
        assert_eq!(fetch_with(&fetcher, &format!("http://{host}:{port}/")).await.outcome, seen, "{host}");
    }
    assert_eq!(web.requests().len(), 2);
}

#[tokio::test]
async fn a_reset_is_an_error() {
    let (listener, port) = listener().await;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            read_head(&mut stream).await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello").await.ok();
            reset(stream);
        }
    });

    let attempt = fetch_with(&fetcher(Reach::PublicAndLoopback), &format!("http://127.0.0.1:{port}/")).await;

    assert_eq!((attempt.outcome, attempt.is_transient), (Err("other"), true));
}

fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[tokio::test]
async fn a_port_at_which_nobody_listens_is_an_error_of_connecting() {
    let (listener, port) = listener().await;
    drop(listener);

    let attempt = fetch_with(&fetcher(Reach::PublicAndLoopback), &format!("http://127.0.0.1:{port}/")).await;

    assert_eq!(attempt.outcome, Err("connect"));
}

#[test]
fn the_systems_certificates_are_trusted() {
    assert!(Fetcher::new("link monitoring", Reach::Public, TIMEOUT).is_ok());
}
