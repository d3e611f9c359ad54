use std::time::Duration;

use tokio::time::Instant;

use linklet_domain::Timestamp;

use super::internet::{Internet, Web, answer, read_head, server};
use super::{PUBLIC, TIMEOUT, check, fetcher, outcome, url};
use crate::check::{Check, Deadline};

fn answers(statuses: &[u16]) -> Web {
    let answers: Vec<_> = statuses.iter().map(|&status| answer(status)).collect();
    Web::new(answers.iter().map(String::as_str))
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_twice_and_then_answers_is_fine() {
    let web = answers(&[500, 503, 200]);
    let internet = Internet::default().server(PUBLIC, web.server());
    let started = Instant::now();

    let check = check(&internet, &format!("http://{PUBLIC}/")).await;

    assert_eq!((outcome(&check), check.attempts), (Ok(200), 3));
    assert_eq!(started.elapsed(), millis(200 + 400));
    assert_eq!(check.latency, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_on_failing_is_asked_three_times() {
    let web = answers(&[500, 502, 599]);
    let internet = Internet::default().server(PUBLIC, web.server());

    let check = check(&internet, &format!("http://{PUBLIC}/")).await;

    assert_eq!((outcome(&check), check.attempts), (Ok(599), 3));
    assert_eq!(web.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_answer_below_500_is_not_asked_for_again() {
    for status in [200, 204, 304, 400, 401, 403, 404, 405, 410, 429, 451, 499] {
        let web = answers(&[status]);
        let internet = Internet::default().server(PUBLIC, web.server());
        let started = Instant::now();

        let check = check(&internet, &format!("http://{PUBLIC}/")).await;

        assert_eq!((outcome(&check), check.attempts), (Ok(status), 1));
        assert_eq!((web.requests().len(), started.elapsed()), (1, Duration::ZERO), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_tried_three_times_after_its_pauses() {
    let internet = Internet::default();
    let started = Instant::now();

    let check = check(&internet, &format!("http://{PUBLIC}/")).await;

    assert_eq!((outcome(&check), check.attempts), (Err("connect"), 3));
    assert_eq!(internet.connected().len(), 3);
    assert_eq!(started.elapsed(), millis(600));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_fails_is_resolved_three_times() {
    let internet = Internet::default();

    let check = check(&internet, "http://unknown.example/").await;

    assert_eq!((outcome(&check), check.attempts), (Err("dns"), 3));
    assert_eq!(internet.resolved().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refused_address_is_not_tried_again() {
    let internet = Internet::default().name("private.example", &["10.0.0.1"]);
    let started = Instant::now();

    let check = check(&internet, "http://private.example/").await;

    assert_eq!((outcome(&check), check.attempts), (Err("not_public"), 1));
    assert_eq!((internet.resolved().len(), started.elapsed()), (1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn attempts_have_their_own_timeouts_and_the_last_gives_the_latency() {
    let slow = server(|mut stream| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
    });
    let internet = Internet::default().server(PUBLIC, slow);
    let started = Instant::now();

    let check = check(&internet, &format!("http://{PUBLIC}/")).await;

    assert_eq!((outcome(&check), check.attempts), (Err("timeout"), 3));
    assert_eq!(check.latency, TIMEOUT);
    assert_eq!(started.elapsed(), TIMEOUT * 3 + millis(600));
}

/// A deadline so many milliseconds from now, by the clock that tests stop.
async fn check_for(internet: &Internet, milliseconds: u64) -> Option<Check> {
    let (start, begun) = (Timestamp::now(), Instant::now());
    let clock = move || start.plus(begun.elapsed());
    let deadline = Deadline { at: start.plus(millis(milliseconds)), clock: &clock };
    fetcher(internet).check(&url(&format!("http://{PUBLIC}/")), deadline).await
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_a_try_off_and_the_last_whole_one_counts() {
    let hangs = || {
        server(|mut stream| async move {
            read_head(&mut stream).await;
            std::future::pending::<()>().await;
        })
    };
    for (deadline, attempts, lasts) in
        [(7_000, Some(1), 7_000), (11_000, Some(2), 11_000), (4_000, None, 4_000), (0, None, 0)]
    {
        let internet = Internet::default().server(PUBLIC, hangs());
        let started = Instant::now();

        let check = check_for(&internet, deadline).await;

        assert_eq!(check.as_ref().map(|check| check.attempts), attempts, "{deadline} ms");
        assert!(check.is_none_or(|check| outcome(&check) == Err("timeout")), "{deadline} ms");
        assert_eq!(internet.connected().is_empty(), deadline == 0);
        assert!(started.elapsed() <= millis(lasts), "{deadline} ms: {:?}", started.elapsed());
    }
}
