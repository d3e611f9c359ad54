//! Tests with simulated servers and names, and with paused time.

use std::time::Duration;

use linklet_domain::{Reach, TargetUrl, Timestamp};
use linklet_fetch::Fetcher;
use linklet_test_support::internet::{Internet, PUBLIC, Server, Web, answer, read_head, server};
use linklet_test_support::some_roots;
use tokio::time::Instant;

use crate::check::{self, Check, Deadline};

const TIMEOUT: Duration = Duration::from_secs(5);

async fn check_until(internet: &Internet, url: &str, deadline: Deadline<'_>) -> Option<Check> {
    let fetcher = Fetcher::on((internet.clone(), some_roots()), "link monitoring", Reach::Public, TIMEOUT).unwrap();
    check::check(&fetcher, &TargetUrl::parse(url).unwrap(), deadline).await
}

/// A check that has as much time as it takes.
async fn check(internet: &Internet, url: &str) -> Check {
    let deadline = Deadline { at: Timestamp::now().plus(Duration::from_hours(1)), clock: &Timestamp::now };
    check_until(internet, url, deadline).await.unwrap()
}

async fn check_server(server: Server) -> Check {
    check(&Internet::default().server(PUBLIC, server), &format!("http://{PUBLIC}/")).await
}

/// The HTTP status of a check, or its error.
fn outcome(check: &Check) -> Result<u16, &'static str> {
    check.outcome.as_ref().map(|status| status.as_u16()).map_err(|error| error.class().into())
}

fn answers(statuses: &[u16]) -> Web {
    let answers: Vec<_> = statuses.iter().map(|&status| answer(status)).collect();
    Web::new(answers.iter().map(String::as_str))
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_500_on_is_asked_for_again_twice_and_no_other() {
    let others = [200, 204, 304, 400, 401, 403, 404, 405, 410, 429, 451, 499].map(|status| (vec![status], 0));
    for (statuses, pauses) in others.into_iter().chain([(vec![500, 503, 200], 200 + 400), (vec![500, 502, 599], 600)]) {
        let web = answers(&statuses);
        let started = Instant::now();

        let check = check_server(web.server()).await;

        assert_eq!((outcome(&check), check.attempts as usize), (Ok(statuses[statuses.len() - 1]), statuses.len()));
        assert_eq!((web.requests().len(), started.elapsed()), (statuses.len(), millis(pauses)), "{statuses:?}");
        assert_eq!(check.latency, Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_connection_or_name_is_tried_three_times_and_a_refused_address_once() {
    for (host, expected, attempts, connected, resolved) in
        [(PUBLIC, "connect", 3, 3, 0), ("unknown.example", "dns", 3, 0, 3), ("private.example", "not_public", 1, 0, 1)]
    {
        let internet = Internet::default().name("private.example", &["10.0.0.1"]);
        let started = Instant::now();

        let check = check(&internet, &format!("http://{host}/")).await;

        assert_eq!((outcome(&check), check.attempts), (Err(expected), attempts));
        assert_eq!((internet.connected().len(), internet.resolved().len()), (connected, resolved), "{host}");
        assert_eq!(started.elapsed(), if attempts == 3 { millis(600) } else { Duration::ZERO }, "{host}");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_have_their_own_timeouts_and_the_last_gives_the_latency() {
    let slow = server(|mut stream| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
    });
    let started = Instant::now();

    let check = check_server(slow).await;

    assert_eq!((outcome(&check), check.attempts), (Err("timeout"), 3));
    assert_eq!(check.latency, TIMEOUT);
    assert_eq!(started.elapsed(), TIMEOUT * 3 + millis(600));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_turns_private_before_a_retry_is_refused_there() {
    let failing = "HTTP/1.1 500 Oh\r\nconnection: close\r\n\r\n";
    let internet = Internet::default()
        .name_that_changes("rebind.example", &[&[PUBLIC], &["10.0.0.1"]])
        .server(PUBLIC, Web::new([failing]).server());

    let check = check(&internet, "http://rebind.example/").await;

    assert_eq!((outcome(&check), check.attempts), (Err("not_public"), 2));
    assert_eq!(internet.connected(), [format!("{PUBLIC}:80")]);
}

/// A deadline so many milliseconds from now, by the clock that tests stop.
async fn check_for(internet: &Internet, milliseconds: u64) -> Option<Check> {
    let (start, begun) = (Timestamp::now(), Instant::now());
    let clock = move || start.plus(begun.elapsed());
    let deadline = Deadline { at: start.plus(millis(milliseconds)), clock: &clock };
    check_until(internet, &format!("http://{PUBLIC}/"), deadline).await
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
