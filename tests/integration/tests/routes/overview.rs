//! A workspace at a glance: `GET /api/overview` and `GET /api/tags`.

use linklet_domain::{Overview, OverviewQuestion, Tally};
use linklet_lambda::batch::Consumer as _;
use linklet_lambda::metrics::{self, Metric};
use linklet_overview::Overviews;

use crate::{fixture::overviews, prelude::*};

pub(super) const DAY: Duration = Duration::from_secs(86_400);
pub(super) const MINUTE: Duration = Duration::from_secs(60);
/// What nothing in particular is asked with.
const PLAIN: OverviewQuestion = OverviewQuestion { tag: None, days: None };
const BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

pub(super) struct Fixture {
    pub db: TestDynamoDb,
    overviews: Overviews,
    pub workspace: WorkspaceId,
    pub token: String,
    pub now: Timestamp,
}

impl Fixture {
    pub fn new() -> Self {
        let db = TestDynamoDb::without_streams();
        let (overviews, workspace) = (overviews(&db), WorkspaceId::generate());
        let token = token_for(&workspace, Role::Viewer);
        Self { db, overviews, workspace, token, now: Timestamp::now() }
    }

    pub async fn get_at(&self, path: &str, at: Timestamp) -> Answer {
        RequestBuilder::new("GET", path).token(&self.token).at(at).send_to(&self.overviews).await
    }

    pub async fn overview_at(&self, at: Timestamp) -> Value {
        self.get_at("/api/overview", at).await.expecting(200).json()
    }

    async fn overview(&self) -> Value {
        self.overview_at(self.now).await
    }

    /// The overview that is kept.
    async fn kept(&self) -> Option<Overview> {
        self.db.stats().overview(&self.workspace, &PLAIN, self.now).await.unwrap()
    }

    async fn tags(&self) -> Value {
        self.get_at("/api/tags", self.now).await.json()
    }

    pub async fn store(&self, code: &str, tags: &[&str]) -> Link {
        let link = LinkBuilder::new(code).in_workspace(&self.workspace).tagged(tags).build();
        self.db.store(&link).await;
        link
    }

    async fn switch_off(&self, link: &Link) {
        self.db.patch(link.id(), &LinkPatch { is_active: Some(false), ..LinkPatch::default() }).await;
    }

    pub async fn archive(&self, link: &Link) {
        self.db.patch(link.id(), &LinkPatch { archived: Some(true), ..LinkPatch::default() }).await;
    }

    pub async fn delete(&self, link: &Link) {
        assert!(self.db.delete_as(&link.identity.owner, link, self.now).await);
    }

    /// So many clicks so many days ago.
    pub async fn click(&self, code: &str, (people, bots): (usize, usize), days_ago: u32) {
        let at = self.now.minus(DAY * days_ago);
        let click = || ClickBuilder::new(code).in_workspace(&self.workspace).at(at);
        let people = (0..people).map(|_| click().build());
        let clicks: Vec<_> = people.chain((0..bots).map(|_| click().with(BOT).build())).collect();
        let analytics = analytics(&self.db, &FakeQueues::start());
        assert!(analytics.consume(event_batch(&clicks)).await.batch_item_failures.is_empty());
    }

    pub async fn target(&self, url: &str) -> Target {
        let target = TargetBuilder::new(url).in_workspace(&self.workspace).created_at(self.now.minus(DAY)).build();
        self.db.store_target(&target).await
    }

    /// Two ticks in which a target doesn't answer.
    pub async fn fail(&self, target: &Target, at: Timestamp) {
        for at in [at, at.plus(Duration::from_secs(15))] {
            check(&self.db, &target.id, at, CheckOutcome::Failed(CheckError::Timeout)).await;
        }
    }

    pub fn metered(&self) -> (Overviews, CapacityMeter) {
        let meter = CapacityMeter::default();
        let table = |name: &str| self.db.table_with(meter.clone(), name);
        let (links, stats) = (LinksTable(table("LinksTable")), StatsTable::new(table("StatsTable")));
        let targets = WatchTable::new(table("WatchTable"));
        (Overviews { links, stats, targets, ..overviews(&self.db) }, meter)
    }
}

pub(super) fn period(clicks: u64, people: u64, clicks_before: u64, people_before: u64) -> Value {
    json!({
        "total_clicks": clicks, "human_clicks": people, "total_clicks_before": clicks_before,
        "human_clicks_before": people_before,
    })
}

// -------------------------------------------------------------------------------------------------------------- What it is

#[tokio::test]
async fn a_new_workspace_has_an_overview_of_nothing() {
    let fixture = Fixture::new();

    let overview = fixture.overview().await;

    let none = period(0, 0, 0, 0);
    assert_eq!(overview["as_of"], json!(fixture.now));
    assert_eq!(
        overview["links"],
        json!({"total": 0, "active": 0, "inactive": 0, "scheduled": 0, "exhausted": 0, "expired": 0, "suspended": 0, "deleted": 0, "archived": 0})
    );
    assert_eq!(overview["clicks"], json!({"today": none, "last_7_days": none, "last_30_days": none}));
    assert_eq!((&overview["top_links"], &overview["down"]), (&json!([]), &json!([])));
    assert_eq!(overview["days"].as_array().unwrap().len(), 60);
    assert_eq!(overview["incomplete"], json!([]));
    let tags = json!({
        "as_of": fixture.now, "tags": [], "total": 0, "incomplete": [], "next_cursor": null, "has_more": false,
    });
    assert_eq!(fixture.tags().await, tags);
}

#[tokio::test]
async fn links_are_counted_by_status_and_tag() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch", "mail"]).await;
    fixture.switch_off(&fixture.store("second", &["Launch"]).await).await;
    fixture.delete(&fixture.store("third", &["launch", "gone"]).await).await;
    let expired = LinkBuilder::new("fourth").in_workspace(&fixture.workspace).tagged(&["art"]);
    fixture.db.store(&expired.expires_at(fixture.now.minus(DAY)).build()).await;
    fixture.db.store(&LinkBuilder::new("strange").build()).await;
    fixture.archive(&fixture.store("fifth", &["launch", "old"]).await).await;

    let (overview, tags) = (fixture.overview().await, fixture.tags().await);

    let counts = json!({"total": 4, "active": 1, "inactive": 1, "scheduled": 0, "exhausted": 0, "expired": 1, "suspended": 0, "deleted": 1, "archived": 1});
    assert_eq!(overview["links"], counts);
    let launch = tags["tags"][0]["tag"].as_str().unwrap();
    assert!(launch.eq_ignore_ascii_case("launch"), "{launch}");
    let expected = json!([
        {"tag": launch, "links": 2, "total_clicks": 0}, {"tag": "art", "links": 1, "total_clicks": 0},
        {"tag": "mail", "links": 1, "total_clicks": 0},
    ]);
    assert_eq!((&tags["tags"], &tags["total"]), (&expected, &json!(3)));
}

/// A busy link's days move into the past after two days, where they are added up.
#[tokio::test]
async fn days_that_have_settled_are_still_known_one_by_one() {
    let fixture = Fixture::new();
    for days_ago in (0..70).rev() {
        fixture.click("launch", (100, 20), days_ago).await;
    }
    let totals =
        fixture.db.stats().life(&fixture.workspace, &linklet_test_support::link_id("launch")).await.unwrap().totals;
    assert!(totals.open.len() < 10, "{totals:?}");

    assert_eq!(fixture.overview().await["clicks"]["last_30_days"], period(3_600, 3_000, 3_600, 3_000));
}

#[tokio::test]
async fn top_links_are_shown_without_deleted_and_archived_ones() {
    let fixture = Fixture::new();
    for (code, clicks) in [("second", 2), ("first", 3), ("deleted", 30), ("away", 30)] {
        let link = fixture.store(code, &[]).await;
        fixture.click(code, (clicks, 0), 1).await;
        match code {
            "deleted" => fixture.delete(&link).await,
            "away" => fixture.archive(&link).await,
            _ => {}
        }
    }

    let top = fixture.overview().await["top_links"].clone();

    let shown = |code: &str, clicks: u64| {
        json!({
            "short_code": code, "short_url": format!("https://api.example.com/r/{code}"), "title": null,
            "original_url": "https://example.com/landing", "total_clicks": clicks, "human_clicks": clicks,
        })
    };
    assert_eq!(top, json!([shown("first", 3), shown("second", 2)]));
}

#[tokio::test]
async fn a_kept_overview_omits_links_deleted_or_archived_since() {
    let fixture = Fixture::new();
    let (deleted, away) = (fixture.store("deleted", &[]).await, fixture.store("away", &[]).await);
    fixture.click("deleted", (3, 3), 1).await;
    fixture.click("away", (3, 3), 1).await;
    assert_eq!(fixture.overview().await["top_links"].as_array().unwrap().len(), 2);
    fixture.delete(&deleted).await;
    fixture.archive(&away).await;

    assert_eq!(fixture.overview().await["top_links"], json!([]));
}

#[tokio::test]
async fn what_is_down_is_named_the_latest_first() {
    let fixture = Fixture::new();
    let up = fixture.target("https://example.com/up").await;
    let (first, second) =
        (fixture.target("https://example.com/1").await, fixture.target("https://example.com/2").await);
    let an_hour_ago = fixture.now.minus(MINUTE * 60);
    fixture.fail(&first, an_hour_ago).await;
    fixture.fail(&second, an_hour_ago.plus(MINUTE)).await;
    let strange = TargetBuilder::new("https://example.com/3").build();
    fixture.fail(&fixture.db.store_target(&strange).await, an_hour_ago).await;

    let down = fixture.overview().await["down"].clone();

    let since = |minutes| an_hour_ago.plus(MINUTE * minutes).plus(Duration::from_secs(15));
    let [first, second] = [(first, 1, 0), (second, 2, 1)].map(|(target, page, minutes)| {
        json!({"id": target.id, "url": format!("https://example.com/{page}"), "since": since(minutes)})
    });
    assert_eq!(down, json!([second, first]));
    assert_ne!(down[0]["id"], json!(up.id));
}

#[tokio::test]
async fn a_purged_links_clicks_are_gone_with_it() {
    let fixture = Fixture::new();
    fixture.click("launch", (3, 0), 1).await;
    fixture.click("other", (1, 0), 1).await;
    let purged = linklet_test_support::link_id("launch");
    fixture.db.stats().purge(&fixture.workspace, &purged, fixture.now).await.unwrap();

    assert_eq!(fixture.overview().await["clicks"]["last_7_days"], period(1, 1, 0, 0));
}

// -------------------------------------------------------------------------------------------------------------- When it is

#[tokio::test]
async fn an_overview_is_kept_for_a_minute_and_then_made_anew() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch"]).await;
    let before = fixture.overview().await;
    fixture.store("second", &["launch"]).await;
    fixture.click("second", (1, 0), 0).await;

    let almost = fixture.now.plus(MINUTE).minus(Duration::from_millis(1));
    assert_eq!(fixture.overview_at(almost).await, before);
    assert_eq!(fixture.get_at("/api/tags", almost).await.json()["tags"][0]["links"], 1);

    let later = fixture.now.plus(MINUTE);
    let after = fixture.overview_at(later).await;
    assert_eq!((&after["as_of"], &after["links"]["total"]), (&json!(later), &json!(2)));
    assert_eq!(fixture.get_at("/api/tags", later).await.json()["tags"][0]["links"], 2);
}

#[tokio::test]
async fn a_kept_overview_costs_one_small_read_and_those_of_its_links() {
    let fixture = Fixture::new();
    fixture.store("first", &[]).await;
    fixture.click("first", (1, 0), 0).await;
    fixture.overview().await;
    let (overviews, meter) = fixture.metered();

    RequestBuilder::new("GET", "/api/tags").token(&fixture.token).at(fixture.now).send_to(&overviews).await;
    assert_eq!((meter.calls(), meter.read_units(), meter.write_units()), (1, 0.5, 0.0));

    meter.reset();
    RequestBuilder::new("GET", "/api/overview").token(&fixture.token).at(fixture.now).send_to(&overviews).await;
    assert_eq!((meter.calls(), meter.read_units(), meter.write_units()), (2, 1.0, 0.0));
}

#[tokio::test]
async fn while_somebody_makes_the_next_one_others_get_the_old_one() {
    let fixture = Fixture::new();
    let old = fixture.overview().await;
    fixture.store("first", &[]).await;
    let (later, stats) = (fixture.now.plus(MINUTE), fixture.db.stats());
    assert!(stats.claim_overview::<Overview>(&fixture.workspace, &PLAIN, fixture.now, later).await.unwrap());

    assert_eq!(fixture.overview_at(later).await, old);
    let soon = later.plus(StatsTable::OVERVIEW_CLAIM).minus(Duration::from_millis(1));
    assert_eq!(fixture.overview_at(soon).await, old);

    // Who has claimed it has died.
    assert_eq!(fixture.overview_at(later.plus(StatsTable::OVERVIEW_CLAIM)).await["links"]["total"], 1);
}

#[tokio::test]
async fn a_claim_of_somebody_who_knew_an_older_one_is_refused() {
    let fixture = Fixture::new();
    fixture.overview().await;
    let (later, stats) = (fixture.now.plus(MINUTE), fixture.db.stats());

    assert!(
        !stats.claim_overview::<Overview>(&fixture.workspace, &PLAIN, fixture.now.minus(MINUTE), later).await.unwrap()
    );
    assert!(stats.claim_overview::<Overview>(&fixture.workspace, &PLAIN, fixture.now, later).await.unwrap());
}

#[tokio::test]
async fn an_older_overview_never_replaces_a_newer_one() {
    let fixture = Fixture::new();
    fixture.overview().await;
    let kept = fixture.kept().await.unwrap();
    let older = Tally::new(PLAIN, fixture.now.minus(MINUTE)).finish();

    fixture.db.stats().keep_overview(&fixture.workspace, &PLAIN, &older).await.unwrap();

    assert_eq!(fixture.kept().await, Some(kept));
}

#[tokio::test]
async fn without_an_overview_everybody_at_once_gets_one_and_one_is_kept() {
    let fixture = Fixture::new();
    fixture.store("first", &[]).await;

    let answers = futures_util::future::join_all((0..4).map(|_| fixture.overview())).await;

    assert!(answers.iter().all(|overview| overview["links"]["total"] == 1), "{answers:?}");
    assert_eq!(fixture.db.scan("StatsTable").len(), 1);
}

/// Until the next one can be made or kept: the read, the claim and the write of the row fail one after another.
#[tokio::test]
async fn an_old_or_new_overview_is_answered_while_its_row_is_unwritable() {
    let fixture = Fixture::new();
    let old = fixture.overview().await;
    fixture.store("first", &[]).await;
    let (stats, faults): (_, Faults) = fixture.db.through(StatsTable::new, "StatsTable");
    let overviews = Overviews { stats, ..overviews(&fixture.db) };
    let later = fixture.now.plus(MINUTE);
    let ask = || RequestBuilder::new("GET", "/api/overview").token(&fixture.token).at(later).send_to(&overviews);

    let (mut answers, mut degraded) = (Vec::new(), Vec::new());
    for failing in 0..4 {
        faults.plan(Some((failing, Fault::Throttled)));
        let (answer, measured) = metrics::observe(ask()).await;
        answers.push(answer);
        degraded.push(measured.get(Metric::Degraded));
    }

    assert_eq!(answers[0].problem(), (503, "service unavailable".into()), "it can't be read");
    assert_eq!((answers[1].status, answers[1].json()), (200, old.clone()), "it can't be claimed");
    // The claim of whoever couldn't add up the clicks holds for a while.
    assert_eq!((answers[2].status, answers[2].json()), (200, old.clone()), "clicks can't be read");
    assert_eq!((answers[3].status, answers[3].json()), (200, old), "it is claimed");
    assert_eq!(degraded, [0.0, 1.0, 1.0, 0.0]);
    faults.plan(Some((3, Fault::Throttled)));
    let after = later.plus(StatsTable::OVERVIEW_CLAIM);
    let unkept = RequestBuilder::new("GET", "/api/overview").token(&fixture.token).at(after).send_to(&overviews).await;
    assert_eq!((unkept.status, &unkept.json()["links"]["total"]), (200, &json!(1)), "it can't be kept");
    assert_eq!(fixture.kept().await.unwrap().as_of, fixture.now);
}

#[tokio::test]
async fn an_overview_of_another_form_is_replaced() {
    let fixture = Fixture::new();
    fixture.overview().await;
    let is_kept = |row: &Value| row["sk"]["S"] == "OVERVIEW";
    let mut row = fixture.db.scan("StatsTable").into_iter().find(is_kept).unwrap();
    row["overview"]["M"] = json!({"as_of": {"S": "yesterday"}});
    fixture.db.put("StatsTable", &row);

    let later = fixture.now.plus(MINUTE);
    assert_eq!(fixture.overview_at(later).await["as_of"], json!(later));
    assert_eq!(fixture.overview_at(later.plus(Duration::from_secs(1))).await["as_of"], json!(later));
}

#[tokio::test]
async fn an_overview_that_nobody_asks_for_disappears_after_a_month() {
    let fixture = Fixture::new();
    fixture.overview().await;

    let row = fixture.db.scan("StatsTable").pop().unwrap();

    let ttl: i64 = row["ttl"]["N"].as_str().unwrap().parse().unwrap();
    assert_eq!(ttl, fixture.now.plus(lifetimes::OVERVIEWS).unix_seconds());
}

// ------------------------------------------------------------------------------------------------------------ What it costs

/// Each link is followed every day, so that its total is as large as totals get.
#[tokio::test]
async fn a_thousand_links_take_a_hundred_units() {
    let fixture = Fixture::new();
    fixture.store("link0000", &["launch", "mail"]).await;
    for days_ago in (0..62).rev() {
        fixture.click("link0000", (101, 0), days_ago).await;
    }
    let is_of_link = |row: &Value| row.to_string().contains("TOTAL#link0000") || row["sk"]["S"] == "LINK";
    for table in ["LinksTable", "StatsTable"] {
        for row in fixture.db.scan(table).into_iter().filter(is_of_link) {
            for number in 1..1_000 {
                let copy = row.to_string().replace("link0000", &format!("link{number:04}"));
                fixture.db.put(table, &serde_json::from_str(&copy).unwrap());
            }
        }
    }
    let (overviews, meter) = fixture.metered();

    let answer =
        RequestBuilder::new("GET", "/api/overview").token(&fixture.token).at(fixture.now).send_to(&overviews).await;

    let (reads, writes) = (meter.read_units(), meter.write_units());
    println!("an overview of 1,000 links: {reads} read units, {writes} write units, {:?}", meter.by_operation());
    assert_eq!(answer.json()["clicks"]["last_30_days"], period(3_030_000, 3_030_000, 3_030_000, 3_030_000));
    assert!(reads <= 100.0 && writes <= 6.0, "{reads}, {writes}");
}
