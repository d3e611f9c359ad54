use std::time::Duration;

use linklet_test_support::internet::{Internet, PUBLIC, Web, always, answer, read_head, server};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::{advance, sleep};

use super::{fetch_with, fetcher};

#[tokio::test(start_paused = true)]
async fn a_connection_is_used_again() {
    let internet = Internet::default().name("example.com", &[PUBLIC]).server(PUBLIC, always(200));
    let fetcher = fetcher(&internet);

    for path in ["", "/a", "/b?c"] {
        let attempt = fetch_with(&fetcher, &format!("http://example.com{path}")).await;
        assert_eq!(attempt.outcome, Ok(200));
    }

    assert_eq!((internet.connected().len(), internet.resolved().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_used_for_another_host_port_or_scheme() {
    let internet =
        Internet::default().name("a.example", &[PUBLIC]).name("b.example", &[PUBLIC]).server(PUBLIC, always(200));
    let fetcher = fetcher(&internet);

    for other in ["http://a.example/", "http://b.example/", "http://a.example:8080/", "https://a.example:80/"] {
        fetch_with(&fetcher, other).await;
    }

    assert_eq!(internet.resolved(), ["a.example", "b.example", "a.example", "a.example"]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_not_used_after_a_minute() {
    let internet =
        Internet::default().name_that_changes("example.com", &[&[PUBLIC], &["10.0.0.1"]]).server(PUBLIC, always(200));
    let fetcher = fetcher(&internet);

    for _ in 0..4 {
        assert_eq!(fetch_with(&fetcher, "http://example.com/").await.outcome, Ok(200));
        advance(Duration::from_secs(15)).await;
    }

    assert_eq!(fetch_with(&fetcher, "http://example.com/").await.outcome, Err("not_public"));
    assert_eq!(internet.connected().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_closes_is_reopened_within_the_attempt() {
    for under_a_request in [false, true] {
        let once = server(move |mut stream: DuplexStream| async move {
            read_head(&mut stream).await;
            stream.write_all(answer(200).as_bytes()).await.ok();
            if under_a_request {
                read_head(&mut stream).await;
            }
        });
        let internet = Internet::default().server(PUBLIC, once);
        let fetcher = fetcher(&internet);

        for _ in 0..3 {
            let attempt = fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await;
            if !under_a_request {
                sleep(Duration::from_secs(1)).await;
            }
            assert_eq!(attempt.outcome, Ok(200));
        }

        assert_eq!(internet.connected().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_kept_connection_that_fell_silent_costs_one_attempt() {
    let once = server(|mut stream: DuplexStream| async move {
        read_head(&mut stream).await;
        stream.write_all(answer(200).as_bytes()).await.ok();
        std::future::pending::<()>().await;
    });
    let internet = Internet::default().server(PUBLIC, once);
    let fetcher = fetcher(&internet);
    fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await;

    let [first, second] = [
        fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await,
        fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await,
    ];

    assert_eq!((first.outcome, first.is_transient, second.outcome), (Err("timeout"), true, Ok(200)));
}

#[tokio::test(start_paused = true)]
async fn an_unfinished_answer_leaves_no_connection_behind() {
    let long = format!("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{}", "x".repeat(100_000));
    let internet = Internet::default().server(PUBLIC, Web::new([long.as_str()]).server());
    let fetcher = fetcher(&internet);

    for _ in 0..2 {
        assert_eq!(fetch_with(&fetcher, &format!("http://{PUBLIC}/")).await.outcome, Ok(200));
    }

    assert_eq!(internet.connected().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn few_connections_are_kept_however_many_hosts_are_fetched() {
    let hosts: Vec<_> = (0..100).map(|host| format!("{host}.example")).collect();
    let internet = hosts.iter().fold(Internet::default(), |internet, host| internet.name(host, &[PUBLIC]));
    let internet = internet.server(PUBLIC, always(200));
    let fetcher = fetcher(&internet);

    for host in hosts.iter().chain([&hosts[99], &hosts[68], &hosts[67]]) {
        assert_eq!(fetch_with(&fetcher, &format!("http://{host}/")).await.outcome, Ok(200));
    }

    sleep(Duration::from_millis(1)).await;
    assert_eq!(internet.open(), 32);
    // The latest 32 connections are in the pool. Number 67 is older than these.
    assert_eq!(internet.connected().len(), 101);
}
