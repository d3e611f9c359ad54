use std::{future::pending, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::Full;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use linklet_test_support::internet::{Internet, PUBLIC, Server, Web, answer, encrypted, read_head, server};
use linklet_test_support::{Authority, some_roots};
use rcgen::CertificateParams;
use rustls::RootCertStore;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_rustls::TlsAcceptor;

use super::{Attempt, TIMEOUT, fetch_with, fetcher_trusting};

/// An HTTP/2 server with TLS that responds with this body.
fn http2(acceptor: TlsAcceptor, body: &'static [u8]) -> Server {
    let answer = move |request: Request<Incoming>| async move {
        let is_fine = request.version() == Version::HTTP_2
            && request.uri() == "https://example.com/a?b"
            && request.headers().get("host").is_none();
        let status = if is_fine { 200 } else { 418 };
        Response::builder().status(status).body(Full::new(Bytes::from_static(body)))
    };
    server(move |stream: DuplexStream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service_fn(answer));
            connection.await.ok();
        }
    })
}

fn internet(server: Server) -> Internet {
    Internet::default().name("example.com", &[PUBLIC]).server(PUBLIC, server)
}

async fn fetch(roots: RootCertStore, server: Server) -> Attempt {
    fetch_with(&fetcher_trusting(&internet(server), roots), "https://example.com/a?b").await
}

fn fine() -> Web {
    Web::new([answer(200).as_str()])
}

#[tokio::test(start_paused = true)]
async fn only_a_trusted_valid_certificate_for_the_name_is_taken() {
    let authority = Authority::generate();
    let expired = |params: &mut CertificateParams| {
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    };
    let of = |name| authority.acceptor(name, &["http/1.1"], |_| {});
    for (roots, acceptor, expected) in [
        (authority.roots(), of("example.com"), Ok(200)),
        (some_roots(), of("example.com"), Err("tls_chain")),
        (authority.roots(), of("example.org"), Err("tls_name")),
        (authority.roots(), authority.acceptor("example.com", &[], expired), Err("tls_expired")),
    ] {
        let web = fine();
        assert_eq!(fetch(roots, encrypted(acceptor, web.clone())).await.outcome, expected);
        assert!(web.requests().iter().all(|request| request.contains("host: example.com\r\n")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_for_an_address_is_valid_for_its_url() {
    let authority = Authority::generate();
    let internet = internet(encrypted(authority.acceptor(PUBLIC, &[], |_| {}), fine()));

    let attempt = fetch_with(&fetcher_trusting(&internet, authority.roots()), &format!("https://{PUBLIC}/")).await;

    assert_eq!(attempt.outcome, Ok(200));
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tls_is_an_error_of_the_protocol() {
    let plain = server(|mut stream: DuplexStream| async move {
        stream.write_all(answer(200).as_bytes()).await.ok();
        read_head(&mut stream).await;
    });

    assert_eq!(fetch(some_roots(), plain).await.outcome, Err("tls_protocol"));
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_never_ends_times_out() {
    let stuck = server(|stream: DuplexStream| async move {
        pending::<()>().await;
        drop(stream);
    });

    let attempt = fetch(some_roots(), stuck).await;

    assert_eq!((attempt.outcome, attempt.latency), (Err("timeout"), TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn http2_is_spoken_with_servers_that_offer_it_over_one_connection() {
    let authority = Authority::generate();
    let internet = internet(http2(authority.acceptor("example.com", &["h2", "http/1.1"], |_| {}), b"hello"));
    let fetcher = fetcher_trusting(&internet, authority.roots());

    for _ in 0..3 {
        assert_eq!(fetch_with(&fetcher, "https://example.com/a?b").await.outcome, Ok(200));
    }

    assert_eq!(internet.connected().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_body_over_http2_is_cut_and_its_connection_closed() {
    let body = vec![b'x'; 10_000_000].leak();
    let authority = Authority::generate();
    let internet = internet(http2(authority.acceptor("example.com", &["h2"], |_| {}), body));
    let fetcher = fetcher_trusting(&internet, authority.roots());

    let attempt = fetch_with(&fetcher, "https://example.com/a?b").await;
    tokio::time::sleep(Duration::from_millis(1)).await;

    assert_eq!(attempt.outcome, Ok(200));
    assert_eq!(internet.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_flooded_connection_is_closed_when_its_attempt_ends() {
    let settings = b"\0\0\0\x04\0\0\0\0\0";
    let ping = b"\0\0\x08\x06\0\0\0\0\0whatever";
    let authority = Authority::generate();
    let acceptor = authority.acceptor("example.com", &["h2"], |_| {});
    // The server never reads, so responses to its pings fill the buffers until the connection can't be closed gracefully.
    let internet = internet(server(move |stream: DuplexStream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            stream.write_all(settings).await.ok();
            while stream.write_all(ping).await.is_ok() && stream.flush().await.is_ok() {}
        }
    }));

    let attempt = fetch_with(&fetcher_trusting(&internet, authority.roots()), "https://example.com/a?b").await;
    tokio::time::sleep(Duration::from_millis(1)).await;

    assert_eq!((attempt.outcome, internet.connected().len()), (Err("timeout"), 1));
    assert_eq!(internet.open(), 0);
}
