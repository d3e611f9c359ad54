use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use linklet_test_support::internet::{
    Internet, OTHER, PUBLIC, Server, Web, always, answer, read_head, redirect, server,
};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep};

use super::{Attempt, TIMEOUT, fetch, fetch_server, fetch_with, fetcher};

/// Fetches from a server that responds with these bytes and then closes the connection.
async fn fetch_bytes(bytes: &'static [u8]) -> Attempt {
    fetch_server(server(move |mut stream| async move {
        read_head(&mut stream).await;
        stream.write_all(bytes).await.ok();
    }))
    .await
}

/// A server that sends `first`, and then `then` again and again with a pause, and counts the bytes after `first`.
fn endless(first: &'static [u8], then: &'static [u8], pause: Duration) -> (Server, Arc<AtomicUsize>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    let server = server(move |mut stream: DuplexStream| {
        let counter = counter.clone();
        async move {
            read_head(&mut stream).await;
            stream.write_all(first).await.ok();
            while stream.write_all(then).await.is_ok() {
                counter.fetch_add(then.len(), Ordering::Relaxed);
                sleep(pause).await;
            }
        }
    });
    (server, sent)
}

#[tokio::test(start_paused = true)]
async fn a_request_says_who_asks_and_nothing_else() {
    let web = Web::new([answer(200).as_str()]);
    let internet = Internet::default().name("example.com", &[PUBLIC]).server(PUBLIC, web.server());

    let attempt = fetch(&internet, "http://EXAMPLE.com:8080/a%20b/ü?q=1&r=|`{}#fragment").await;

    assert_eq!(attempt.outcome, Ok(200));
    let head = format!(
        "GET /a%20b/%C3%BC?q=1&r=|`{{}} HTTP/1.1\r\nuser-agent: LinkletBot/{} (link monitoring)\r\naccept: */*\r\n\
         host: example.com:8080\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(web.requests(), [head]);
}

/// A response that redirects and sets cookies.
fn setting(cookies: &[&str], location: &str) -> String {
    let cookies: String = cookies.iter().map(|cookie| format!("set-cookie: {cookie}\r\n")).collect();
    format!("HTTP/1.1 302 Found\r\n{cookies}location: {location}\r\ncontent-length: 0\r\n\r\n")
}

fn cookie_in(head: &str) -> Option<&str> {
    head.lines().find_map(|line| line.strip_prefix("cookie: "))
}

#[tokio::test(start_paused = true)]
async fn a_cookie_is_sent_back_within_one_attempt_only() {
    let (first, last) = (setting(&["a=b; Path=/; HttpOnly; Max-Age=9999"], "/next"), answer(200));
    let web = Web::new([first.as_str(), last.as_str()]);
    let internet = Internet::default().server(PUBLIC, web.server());
    let fetcher = fetcher(&internet);

    for _ in 0..2 {
        fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await;
    }

    let requests = web.requests();
    assert_eq!(requests.iter().map(|head| cookie_in(head)).collect::<Vec<_>>(), [None, Some("a=b"), None]);
    assert!(!requests[1].contains("referer"), "{}", requests[1]);
}

#[tokio::test(start_paused = true)]
async fn a_cookie_goes_to_no_other_host_whatever_its_domain() {
    let cookies = ["a=b; Domain=example.com", "c=d; Domain=com", "e=f", "g=h; Domain=b.example.com"];
    let back = Web::new([setting(&cookies, "http://b.example.com/").as_str(), answer(200).as_str()]);
    let elsewhere = Web::new([redirect("http://a.example.com/again").as_str()]);
    let internet = Internet::default()
        .name("a.example.com", &[PUBLIC])
        .name("b.example.com", &[OTHER])
        .server(PUBLIC, back.server())
        .server(OTHER, elsewhere.server());

    fetch(&internet, "http://a.example.com/").await;

    assert_eq!(cookie_in(&elsewhere.requests()[0]), None);
    let returned = back.requests()[1].clone();
    let mut returned: Vec<_> = cookie_in(&returned).unwrap().split("; ").collect();
    returned.sort_unstable();
    assert_eq!(returned, ["a=b", "c=d", "e=f", "g=h"]);
}

#[tokio::test(start_paused = true)]
async fn cookies_obey_their_path_and_deletion_and_secure_ones_stay_off_http() {
    let first = setting(&["a=b; Path=/other", "c=d; Secure", "e=f; Path=/", "g=h; Path=/"], "/next");
    let second = setting(&["e=; Path=/; Max-Age=0"], "/last");
    let web = Web::new([first.as_str(), second.as_str(), answer(200).as_str()]);

    fetch_server(web.server()).await;

    assert_eq!(cookie_in(&web.requests()[2]), Some("g=h"));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_cookies_is_cut() {
    let many: Vec<_> = (0..80).map(|number| format!("c{number}=v; Path=/")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let long = format!("long={}; Path=/", "x".repeat(4_096));
    let first = setting(&[long.as_str()].into_iter().chain(many).collect::<Vec<_>>(), "/next");
    let web = Web::new([first.as_str(), answer(200).as_str()]);

    let attempt = fetch_server(web.server()).await;

    let next = &web.requests()[1];
    assert_eq!((attempt.outcome, cookie_in(next).unwrap().split("; ").count()), (Ok(200), 50));
    assert!(!next.contains("long="));
}

#[tokio::test(start_paused = true)]
async fn an_endless_body_is_read_up_to_its_limit() {
    let chunk: &[u8] = Box::leak(format!("1000\r\n{}\r\n", "x".repeat(0x1000)).into_boxed_str().into_boxed_bytes());
    let (server, sent) =
        endless(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk, Duration::from_millis(1));

    let attempt = fetch_server(server).await;

    assert_eq!(attempt.outcome, Ok(200));
    let most = 2 * 64 * 1024 + 2 * 16 * 1024; // the limit, and what buffers hold
    assert!((64 * 1024..=most).contains(&sent.load(Ordering::Relaxed)), "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_body_announced_as_longer_than_the_limit_is_not_awaited() {
    let huge: &[u8] = Box::leak(
        format!("HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n{}", "x".repeat(64 * 1024)).into_boxed_str(),
    )
    .as_bytes();
    let stuck = server(move |mut stream: DuplexStream| async move {
        read_head(&mut stream).await;
        stream.write_all(huge).await.ok();
        pending::<()>().await;
    });

    let attempt = fetch_server(stuck).await;

    assert_eq!((attempt.outcome, attempt.latency), (Ok(200), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn whatever_is_slow_takes_the_time_of_the_attempt_and_no_more() {
    let redirects = server(|mut stream: DuplexStream| async move {
        while read_head(&mut stream).await.is_some() {
            sleep(Duration::from_secs(2)).await;
            stream.write_all(redirect("/next").as_bytes()).await.ok();
        }
    });
    let silence = server(|stream: DuplexStream| async move {
        pending::<()>().await;
        drop(stream);
    });
    let body = b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
    for (what, server) in [
        ("a body", endless(body, b"x", Duration::from_millis(100)).0),
        ("headers", endless(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", Duration::from_millis(500)).0),
        ("interim answers", endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", Duration::from_millis(10)).0),
        ("redirects", redirects),
        ("silence", silence),
    ] {
        let attempt = fetch_server(server).await;
        assert_eq!((attempt.outcome, attempt.latency), (Err("timeout"), TIMEOUT), "{what}");
    }
    let attempt = fetch(&Internet::default().silence(PUBLIC), &format!("http://{PUBLIC}/")).await;
    assert_eq!((attempt.outcome, attempt.latency), (Err("timeout"), TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn a_silent_address_leaves_time_for_the_next_one() {
    let internet = Internet::default().name("two.example", &[OTHER, PUBLIC]).silence(OTHER).server(PUBLIC, always(200));
    let started = Instant::now();

    let attempt = fetch(&internet, "http://two.example/").await;

    assert_eq!(attempt.outcome, Ok(200));
    assert_eq!(started.elapsed(), TIMEOUT / 2);
}

#[tokio::test(start_paused = true)]
async fn silent_addresses_share_the_time_equally() {
    let addresses = ["8.8.0.1", "8.8.0.2", PUBLIC];
    let internet = Internet::default().name("three.example", &addresses).silence("8.8.0.1").silence("8.8.0.2");
    let internet = internet.server(PUBLIC, always(200));

    let attempt = fetch(&internet, "http://three.example/").await;

    assert_eq!(attempt.outcome, Ok(200));
    // Tokio's timers have a resolution of one millisecond.
    assert!(attempt.latency.abs_diff(TIMEOUT * 2 / 3) < Duration::from_millis(3), "{:?}", attempt.latency);
}

#[tokio::test(start_paused = true)]
async fn of_many_addresses_three_are_tried() {
    let addresses = ["8.8.0.1", "8.8.0.2", "8.8.0.3", PUBLIC];
    let internet = Internet::default().name("many.example", &addresses).server(PUBLIC, always(200));

    let attempt = fetch(&internet, "http://many.example/").await;

    assert_eq!(attempt.outcome, Err("connect"));
    assert_eq!(internet.connected(), ["8.8.0.1:80", "8.8.0.2:80", "8.8.0.3:80"]);
}

#[tokio::test(start_paused = true)]
async fn a_response_that_is_not_http_is_an_error() {
    let cases: [&[u8]; 8] = [
        b"",
        b"hello\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
    ];
    for bytes in cases {
        let attempt = fetch_bytes(bytes).await;

        assert_eq!((attempt.outcome, attempt.is_transient), (Err("other"), true), "{}", bytes.escape_ascii());
    }
}

#[tokio::test(start_paused = true)]
async fn a_huge_head_is_an_error() {
    let one_header = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1_000_000));
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(5_000));
    for head in [one_header, many_headers] {
        let attempt = fetch_bytes(Box::leak(head.into_boxed_str()).as_bytes()).await;

        assert_eq!(attempt.outcome, Err("other"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_head_is_given_up() {
    let line: &[u8] = Box::leak(format!("x: {}\r\n", "y".repeat(1_000)).into_boxed_str()).as_bytes();
    let (server, sent) = endless(b"HTTP/1.1 200 OK\r\n", line, Duration::from_millis(1));

    let attempt = fetch_server(server).await;

    assert_eq!((attempt.outcome, attempt.is_transient), (Err("other"), true));
    assert!(sent.load(Ordering::Relaxed) < 2 * 64 * 1024, "{sent:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_decompressed() {
    // A gzip header and invalid data, which could not be decompressed.
    let rubbish =
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 14\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff\xff\xff\xff\xff";

    assert_eq!(fetch_bytes(rubbish).await.outcome, Ok(200));
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_closed_when_its_attempt_ends() {
    let stubborn = server(|mut stream: DuplexStream| async move {
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n").await.ok();
        while read_head(&mut stream).await.is_some() {}
    });
    let internet = Internet::default().server(PUBLIC, stubborn);
    let fetcher = fetcher(&internet);

    let attempt = fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await;
    sleep(Duration::from_millis(1)).await;

    assert_eq!((attempt.outcome, internet.connected().len()), (Err("timeout"), 1));
    assert_eq!(internet.open(), 0);
}
