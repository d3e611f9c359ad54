//! Many monitored URLs at once: what a site gets, and that a slow one delays nobody else. In a process of its own, since it
//! keeps the machine busy.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that meets an unexpected error has failed")]

#[expect(dead_code, reason = "only some of it is needed here")]
mod api;

use std::{env, net::Ipv4Addr, time::Duration};

use futures_util::{StreamExt as _, stream};
use linklet_test_support::{Crowd, Manner, Site};
use serde_json::json;

use api::{Api, User, send};

/// On 127.0.0.2 and the addresses behind it: 127.0.0.1 is the shortener's own, which is never checked.
const SITES: u8 = 20;
const PAGES: usize = 10;
/// Of the slow site: many more than it answers in a round.
const SLOW_PAGES: usize = 20;
/// What the template has checked at once.
const AT_ONCE: usize = 8;

fn page(number: usize) -> String {
    format!("/page-{number}")
}

#[tokio::test]
async fn each_site_gets_one_request_at_a_time_all_together_eight_and_a_slow_one_delays_nobody() {
    if env::var("WATCH_ALLOW_LOOPBACK").is_err() {
        eprintln!("skipped: WATCH_ALLOW_LOOPBACK is not set, so servers on this machine are not checked");
        return;
    }
    let (ada, crowd) = (User::new(&Api::new()).await, Crowd::default());
    let sites: Vec<Site> =
        (0..SITES).map(|number| Site::start_on(Ipv4Addr::new(127, 0, 0, 2 + number), &crowd)).collect();
    let (slow, quick) = sites.split_first().unwrap();
    slow.behave(Manner::AnswersAfter(Duration::from_secs(4), 200));
    // Together with the slow one, these are more sites than are checked at once.
    for site in &quick[..10] {
        site.behave(Manner::AnswersAfter(Duration::from_millis(400), 200));
    }
    let pages_of = |site: &Site, count| (0..count).map(|number| site.url(&page(number))).collect::<Vec<_>>();
    let urls = quick.iter().flat_map(|site| pages_of(site, PAGES)).chain(pages_of(slow, SLOW_PAGES));
    let registrations = urls.map(|url| send(ada.request("POST", "/v1/targets").json(&json!({"url": url}))));
    let registered: Vec<_> = stream::iter(registrations).buffer_unordered(4).collect().await;
    assert!(registered.iter().all(|answer| answer.status == 201), "{registered:?}");

    // The schedule calls within a minute, and the rounds that it plans begin within two more. The slow site takes four seconds
    // a page, so it gets nowhere near its pages in ten seconds, and all that it doesn't get to would wait in the queue.
    // What came while targets were still being registered doesn't count.
    let (slow_before, mut waited) = (slow.all_requests(), 0);
    let turns = |site: &Site| (0..PAGES).map(|number| site.requests(&page(number))).collect::<Vec<_>>();
    let before: Vec<_> = quick.iter().map(turns).collect();
    while slow.all_requests() < slow_before + 15 {
        waited += 1;
        assert!(waited < 300, "the slow site has had {} requests", slow.all_requests());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    // Meanwhile each page elsewhere had several turns.
    for (site, before) in quick.iter().zip(before) {
        let gained: Vec<_> = turns(site).iter().zip(before).map(|(now, before)| now - before).collect();
        assert!(gained.iter().all(|turns| *turns >= 2), "{}: {gained:?}", site.url("/"));
        assert_eq!(site.most_at_once(), 1);
    }
    assert_eq!(slow.most_at_once(), 1);
    assert!((2..=AT_ONCE).contains(&crowd.most_at_once()), "{}", crowd.most_at_once());
    // Whatever is tested next doesn't have them checked any more.
    for target in registered {
        let id = target.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(ada.delete(&format!("/v1/targets/{id}")).await.status, 204);
    }
    println!(
        "{} at once, {} requests elsewhere",
        crowd.most_at_once(),
        quick.iter().map(Site::all_requests).sum::<usize>()
    );
}
