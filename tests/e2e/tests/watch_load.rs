//! Many monitored URLs at once: what a site gets, and that a slow one delays nobody else. It runs alone, since
//! it keeps the machine busy.

use std::{env, net::Ipv4Addr, time::Duration};

use futures_util::{StreamExt as _, stream};
use linklet_domain::Timestamp;
use linklet_test_support::{Manner, OpenRequests, Site};
use serde_json::json;
use tokio::time::sleep;

use crate::api::{Api, User, send};
use crate::ticks::Ticks;

/// On 127.0.0.2 and the addresses behind it: 127.0.0.1 is the shortener's own, which is never checked.
const SITES: u8 = 20;
const PAGES: usize = 10;
/// What the template has checked at once.
const AT_ONCE: usize = 8;
/// The interval of the local system.
const INTERVAL: u64 = 10;
/// How many ticks are watched.
const TICKS: usize = 6;

fn page(number: usize) -> String {
    format!("/page-{number}")
}

/// Waits for the end of a tick, when all that answer quickly have done so.
async fn end_of_tick() {
    const END: u64 = INTERVAL * 1_000 - 1_000;
    let passed = Timestamp::now().unix_millis() % (INTERVAL * 1_000);
    sleep(Duration::from_millis((INTERVAL * 1_000 + END - passed) % (INTERVAL * 1_000))).await;
}

#[tokio::test]
async fn sites_get_one_request_at_a_time_and_bad_ones_delay_nobody() {
    if env::var("WATCH_ALLOW_LOOPBACK").is_err() {
        eprintln!("skipped: WATCH_ALLOW_LOOPBACK is not set, so servers on this machine are not checked");
        return;
    }
    let (ada, open) = (User::new(&Api::new()).await, OpenRequests::default());
    let sites: Vec<Site> =
        (0..SITES).map(|number| Site::start_on(Ipv4Addr::new(127, 0, 0, 2 + number), &open)).collect();
    let ([dead, slow], quick) = sites.split_first_chunk().unwrap();
    dead.behave(Manner::Hangs);
    slow.behave(Manner::AnswersAfter(Duration::from_secs(4), 200));
    // Together with the bad ones, these are more sites than are checked at once.
    for site in &quick[..10] {
        site.behave(Manner::AnswersAfter(Duration::from_millis(100), 200));
    }
    let pages_of = |site: &Site| (0..PAGES).map(|number| site.url(&page(number))).collect::<Vec<_>>();
    let registrations = sites.iter().flat_map(pages_of);
    let registrations = registrations.map(|url| send(ada.request("POST", "/v1/targets").json(&json!({"url": url}))));
    let registered: Vec<_> = stream::iter(registrations).buffer_unordered(4).collect().await;
    assert!(registered.iter().all(|answer| answer.status == 201), "{registered:?}");
    Ticks::of_the_stack().await.plan().await;
    let turns = |site: &Site| (0..PAGES).map(|number| site.requests(&page(number))).collect::<Vec<_>>();
    let mut waited = 0;
    while quick.iter().flat_map(turns).any(|turns| turns == 0) {
        waited += 1;
        assert!(waited < 60, "some pages were not checked within a minute");
        sleep(Duration::from_secs(1)).await;
    }

    end_of_tick().await;
    let before: Vec<_> = quick.iter().flat_map(turns).collect();
    for _ in 0..TICKS {
        sleep(Duration::from_secs(2)).await;
        end_of_tick().await;
    }
    let gained: Vec<_> = quick.iter().flat_map(turns).zip(before).map(|(now, before)| now - before).collect();

    let checks: usize = gained.iter().sum();
    assert!(100 * checks >= 95 * TICKS * gained.len(), "{gained:?}");
    assert!(gained.iter().all(|turns| (TICKS - 1..=TICKS).contains(turns)), "{gained:?}");
    assert!(sites.iter().all(|site| site.most_at_once() == 1));
    assert!((2..=AT_ONCE).contains(&open.most_at_once()), "{}", open.most_at_once());
    // Whatever is tested next doesn't have them checked any more.
    for target in registered {
        let id = target.text("id");
        assert_eq!(ada.delete(&format!("/v1/targets/{id}")).await.status, 204);
    }
    println!("{} at once, {checks} of {} checks of quick sites", open.most_at_once(), TICKS * gained.len());
}
