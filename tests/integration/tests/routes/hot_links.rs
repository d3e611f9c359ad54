//! Links that are followed so often that the redirect holds them, and what it does with them while the table is down.

use linklet_lambda::metrics::{self};
use linklet_redirect::HotLinks;

use crate::prelude::*;

fn noon() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

fn after(millis: u64) -> Timestamp {
    noon().plus(Duration::from_millis(millis))
}

/// A link, and the calls that reach LinksTable.
struct Bench {
    db: TestDynamoDb,
    link: Link,
    reads: Faults,
    redirect: Redirect,
}

impl Bench {
    async fn of(link: Link) -> Self {
        let (db, reads) = (TestDynamoDb::start(), Faults::default());
        db.store(&link).await;
        let links = LinksTable(db.table_with(reads.clone(), "LinksTable"));
        let redirect = fixture::redirect_with(links, db.clicks(), db.calls());
        Self { db, link, reads, redirect }
    }

    /// With a link that is held since noon.
    async fn hot() -> Self {
        let bench = Self::of(LinkBuilder::new("launch").build()).await;
        bench.heat().await;
        bench
    }

    async fn heat(&self) {
        for _ in 0..HotLinks::HOT {
            assert_eq!(self.get(noon()).await.status, fixture::REDIRECT);
        }
        assert_eq!(self.reads.calls(), HotLinks::HOT);
        self.reads.plan(None);
    }

    async fn get(&self, at: Timestamp) -> Answer {
        self.follow("/launch", at).await
    }

    async fn follow(&self, path: &str, at: Timestamp) -> Answer {
        RequestBuilder::new("GET", path).at(at).send_to(&self.redirect).await
    }

    async fn delete(&self) {
        self.db.delete_as(&UserId::generate(), &self.link, noon()).await;
    }

    /// How many clicks are stored.
    fn clicks(&self) -> usize {
        self.db.scan("ClicksTable").iter().filter(|row| row.get("ip").is_some()).count()
    }

    /// From now on, no call reaches the table.
    fn stop_table(&self) {
        self.reads.plan_all((0..1_000).map(|call| (call, Fault::NotSent)));
    }
}

#[tokio::test]
async fn a_hot_link_is_read_once_a_second_and_every_click_counts() {
    let bench = Bench::hot().await;

    let ((), measured) = metrics::observe(async {
        for millis in 0..100 {
            assert_eq!(bench.get(after(millis * 9)).await.status, fixture::REDIRECT);
        }
    })
    .await;
    assert_eq!((bench.reads.calls(), measured.get(Metric::CacheHits)), (0, 100.0));
    assert_eq!((bench.clicks(), measured.get(Metric::ClicksDropped)), (HotLinks::HOT + 100, 0.0));

    bench.get(after(1_000)).await;
    bench.get(after(1_001)).await;
    assert_eq!(bench.reads.calls(), 1);
    assert_eq!(bench.clicks(), HotLinks::HOT + 102);
}

#[tokio::test]
async fn the_end_of_a_hot_link_is_seen_within_a_second() {
    for (is_deleted, sentence) in [(true, "this link was deleted"), (false, "this link is not available at the moment")]
    {
        let bench = Bench::hot().await;
        if is_deleted {
            bench.delete().await;
        } else {
            bench.db.suspend(&bench.link).await;
        }

        assert_eq!(bench.get(after(999)).await.status, fixture::REDIRECT, "{sentence}");
        assert_eq!(bench.get(after(1_000)).await.problem(), (410, sentence.into()));
    }
}

#[tokio::test]
async fn a_link_that_expires_while_it_is_held_answers_410() {
    // Within the second, and as a last resort.
    for (expiry, is_table_down) in [(500, false), (10_000, true)] {
        let bench = Bench::of(LinkBuilder::new("launch").expires_at(after(expiry)).build()).await;
        bench.heat().await;
        if is_table_down {
            bench.stop_table();
        }

        assert_eq!(bench.get(after(expiry - 1)).await.status, fixture::REDIRECT);
        assert_eq!(bench.get(after(expiry)).await.problem(), (410, "this link has expired".into()));
        assert_eq!(bench.reads.calls() == 0, !is_table_down);
    }
}

#[tokio::test]
async fn during_a_table_outage_only_hot_links_redirect_for_five_minutes() {
    let bench = Bench::hot().await;
    bench.db.store(&LinkBuilder::new("other").build()).await;
    bench.follow("/other", noon()).await;
    bench.stop_table();

    assert_eq!(bench.get(after(300_000)).await.status, fixture::REDIRECT);
    let unavailable = (503, "service unavailable".to_owned());
    assert_eq!(bench.get(after(300_001)).await.problem(), unavailable);
    assert_eq!(bench.follow("/other", after(1)).await.problem(), unavailable);
}
