use std::{future::pending, time::Duration};

use linklet_domain::{OwnAddress, TargetUrl};
use linklet_fetch::{Fetcher, Lost, Resolved};
use linklet_test_support::internet::{Internet, OTHER, PUBLIC, Server, Web, encrypted, read_head, redirect, server};
use linklet_test_support::{Authority, some_roots};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::{TIMEOUT, fetcher, fetcher_trusting};

/// An answer without a body, as HEAD gets it.
fn bare(status: u16) -> String {
    format!("HTTP/1.1 {status} Whatever\r\ncontent-length: 0\r\n\r\n")
}

fn web(answers: &[&str]) -> Web {
    Web::new(answers.iter().copied())
}

/// `short.example` with these answers, which may lead to `page.example`.
fn internet(short: &Web, page: Server) -> Internet {
    Internet::default()
        .name("short.example", &[PUBLIC])
        .name("page.example", &[OTHER])
        .server(PUBLIC, short.server())
        .server(OTHER, page)
}

/// Where a URL leads, with the status and the number of redirects; or the host and the error at which the way ends.
async fn resolved(fetcher: &Fetcher<Internet>, url: &str) -> Result<(String, u16, usize), (String, &'static str)> {
    match fetcher.resolve(&TargetUrl::parse(url).unwrap()).await {
        Ok(Resolved { url, status, hops }) => Ok((url, status.as_u16(), hops)),
        Err(Lost { host, error }) => Err((host, error.class().into())),
    }
}

async fn resolve(internet: &Internet, url: &str) -> Result<(String, u16, usize), (String, &'static str)> {
    resolved(&fetcher(internet), url).await
}

fn methods(web: &Web) -> Vec<String> {
    web.requests().iter().map(|head| head.split(' ').next().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_url_leads_where_the_last_redirect_does() {
    let (short, page) = (web(&[&redirect("http://page.example/a?b=c#d")]), web(&[&redirect("/e?f"), &bare(200)]));
    let internet = internet(&short, page.server());

    let found = resolve(&internet, "http://short.example/x").await;

    // The fragment is inherited (RFC 9110, 10.2.2).
    assert_eq!(found, Ok(("http://page.example/e?f#d".into(), 200, 2)));
    assert_eq!([methods(&short), methods(&page)], [vec!["HEAD"], vec!["HEAD", "HEAD"]]);
}

#[tokio::test(start_paused = true)]
async fn a_url_that_does_not_redirect_leads_to_itself() {
    let found = resolve(&internet(&web(&[&bare(204)]), web(&[""]).server()), "http://SHORT.example:80/x/../y").await;

    assert_eq!(found, Ok(("http://short.example/y".into(), 204, 0)));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_know_head_is_asked_with_get() {
    for status in [400, 403, 404, 405, 500, 501] {
        let short = web(&[&bare(status), &redirect("http://page.example/"), &bare(200)]);
        let page = web(&[&bare(200)]);

        let found = resolve(&internet(&short, page.server()), "http://short.example/x").await;

        assert_eq!(found, Ok(("http://page.example/".into(), 200, 1)), "{status}");
        assert_eq!(methods(&short), ["HEAD", "GET"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_end_is_told_by_the_status_that_get_has() {
    let page = web(&[&bare(405), "HTTP/1.1 404 Gone\r\ncontent-length: 1000000\r\n\r\n"]);
    let short = web(&[&redirect("http://page.example/")]);

    let found = resolve(&internet(&short, page.server()), "http://short.example/x").await;

    assert_eq!(found, Ok(("http://page.example/".into(), 404, 1)));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_head_is_asked_with_get_soon() {
    for is_closing in [true, false] {
        let mute = server(move |mut stream: DuplexStream| async move {
            while let Some(head) = read_head(&mut stream).await {
                if head.starts_with("GET") {
                    stream.write_all(bare(200).as_bytes()).await.ok();
                } else if is_closing {
                    return;
                } else {
                    pending::<()>().await;
                }
            }
        });
        let started = Instant::now();

        let found = resolve(&internet(&web(&[&redirect("http://page.example/")]), mute), "http://short.example/").await;

        assert_eq!(found, Ok(("http://page.example/".into(), 200, 1)));
        assert_eq!(started.elapsed(), if is_closing { Duration::ZERO } else { TIMEOUT / 4 });
    }
}

#[tokio::test(start_paused = true)]
async fn the_page_is_not_read() {
    let page = server(|mut stream: DuplexStream| async move {
        read_head(&mut stream).await;
        stream.write_all(bare(405).as_bytes()).await.ok();
        read_head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.ok();
        while stream.write_all(b"x").await.is_ok() {}
    });
    let internet = internet(&web(&[&redirect("http://page.example/")]), page);
    let started = Instant::now();

    let found = resolve(&internet, "http://short.example/").await;
    tokio::time::sleep(Duration::from_millis(1)).await;

    assert_eq!(found, Ok(("http://page.example/".into(), 200, 1)));
    assert!(started.elapsed() < Duration::from_millis(5));
    assert_eq!(internet.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_circle_and_an_eleventh_redirect_end_the_way() {
    let circle =
        internet(&web(&[&redirect("http://page.example/")]), web(&[&redirect("http://short.example/")]).server());
    let hops = |count: usize| {
        let hops = (1..=count).map(|hop| redirect(&format!("/{hop}"))).chain([bare(200)]).collect::<Vec<_>>();
        internet(&Web::new(hops.iter().map(String::as_str)), web(&[""]).server())
    };
    let url = "http://short.example/";

    assert_eq!(resolve(&circle, url).await, Err(("page.example".into(), "too_many_redirects")));
    assert_eq!(resolve(&hops(11), url).await, Err(("short.example".into(), "too_many_redirects")));
    assert_eq!(resolve(&hops(10), url).await, Ok(("http://short.example/10".into(), 200, 10)));
}

#[tokio::test(start_paused = true)]
async fn a_private_address_behind_a_redirect_is_never_asked() {
    for (location, host) in [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://[::ffff:10.0.0.1]/", "[::ffff:a00:1]"),
        ("http://inside.example/", "inside.example"),
    ] {
        let short = web(&[&redirect("/again"), &redirect(location)]);
        let internet = internet(&short, web(&[""]).server()).name("inside.example", &["10.0.0.1"]);

        assert_eq!(resolve(&internet, "http://short.example/").await, Err((host.into(), "not_public")));
        assert_eq!(internet.connected(), [format!("{PUBLIC}:80")]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_way_may_lead_from_https_to_http_but_not_out_of_the_web() {
    let authority = Authority::generate();
    let short =
        |location: &str| encrypted(authority.acceptor("short.example", &[], |_| {}), web(&[&redirect(location)]));
    let lead = async |location: &str| {
        let internet = internet(&web(&[""]), web(&[&bare(200)]).server()).server(PUBLIC, short(location));
        resolved(&fetcher_trusting(&internet, authority.roots()), "https://short.example/x").await
    };

    assert_eq!(lead("http://page.example/").await, Ok(("http://page.example/".into(), 200, 1)));
    for location in ["ftp://page.example/", "javascript:alert(1)", "tel:+123", "http://me:secret@page.example/"] {
        assert_eq!(lead(location).await, Err(("short.example".into(), "invalid_redirect")), "{location}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_in_another_script_is_asked_for_in_ascii() {
    let internet = internet(&web(&[&redirect("http://Bücher.example/ä")]), web(&[&bare(200)]).server())
        .name("xn--bcher-kva.example", &[OTHER]);

    let found = resolve(&internet, "http://short.example/").await;

    assert_eq!(found, Ok(("http://xn--bcher-kva.example/%C3%A4".into(), 200, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_slow_host_and_a_huge_head_end_the_way_in_time() {
    let slow = server(|mut stream: DuplexStream| async move {
        while read_head(&mut stream).await.is_some() {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
    });
    let huge = server(|mut stream: DuplexStream| async move {
        read_head(&mut stream).await;
        stream.write_all(format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "y".repeat(1_000_000)).as_bytes()).await.ok();
    });
    for (page, error, lasting) in [(slow, "timeout", TIMEOUT), (huge, "other", Duration::ZERO)] {
        let started = Instant::now();

        let found = resolve(&internet(&web(&[&redirect("http://page.example/")]), page), "http://short.example/").await;

        assert_eq!(found, Err(("page.example".into(), error)));
        assert_eq!(started.elapsed(), lasting);
    }
}

#[tokio::test(start_paused = true)]
async fn the_shortener_itself_is_not_asked() {
    let internet = internet(&web(&[&redirect("http://page.example/launch")]), web(&[&bare(200)]).server());
    let fetcher =
        Fetcher::on((internet.clone(), some_roots()), "link resolving", linklet_domain::Reach::Public, TIMEOUT)
            .unwrap()
            .excluding(vec![OwnAddress::parse("http://page.example").unwrap()]);

    assert_eq!(resolved(&fetcher, "http://short.example/").await, Err(("short.example".into(), "invalid_redirect")));
    assert_eq!(internet.connected(), [format!("{PUBLIC}:80")]);
}
