//! The management view: `GET /api/links` and `GET /api/links/{code}`.

use fastrand::Rng;
use linklet_analytics::Analytics;
use linklet_dynamodb::Names;
use linklet_lambda::metrics::{self, Metric};
use linklet_test_support::click_in;

use crate::prelude::*;

struct Fixture {
    db: TestDynamoDb,
    list: List,
    workspace: WorkspaceId,
    token: String,
}

impl Fixture {
    fn new() -> Self {
        let db = TestDynamoDb::without_streams();
        let list = list(&db);
        let workspace = WorkspaceId::generate();
        let token = token_for(&workspace, Role::Viewer);
        Self { db, list, workspace, token }
    }

    fn link(&self, code: &str) -> LinkBuilder {
        LinkBuilder::new(code).in_workspace(&self.workspace)
    }

    async fn get(&self, path: &str) -> Answer {
        self.list.get(path, &self.token).await
    }

    fn analytics(&self) -> Analytics {
        analytics(&self.db, &FakeQueues::start())
    }

    async fn click(&self, code: &str, times: usize) {
        let clicks: Vec<_> = (0..times).map(|_| click_in(&self.workspace, code, Timestamp::now())).collect();
        assert!(self.analytics().consume(event_batch(&clicks)).await.batch_item_failures.is_empty());
    }

    /// Stores links with these codes.
    async fn store(&self, codes: &[impl AsRef<str>]) {
        for code in codes {
            self.db.store(&self.link(code.as_ref()).build()).await;
        }
    }

    /// Stores links with these codes, each created a second after the one before.
    async fn store_in_order(&self, codes: &[&str]) {
        for (number, code) in (0..).zip(codes) {
            let created = at("2026-03-01T00:00:00Z").plus(Duration::from_secs(number));
            self.db.store(&self.link(code).created_at(created).build()).await;
        }
    }
}

fn codes(answer: &Answer) -> Vec<String> {
    let links = answer.json()["links"].as_array().unwrap_or_else(|| panic!("{answer:?}")).clone();
    links.iter().map(|link| link["short_code"].as_str().unwrap().to_owned()).collect()
}

fn total_clicks(answer: &Answer) -> Vec<usize> {
    let links = answer.json()["links"].as_array().unwrap().clone();
    links.iter().map(|link| usize::try_from(link["total_clicks"].as_u64().unwrap()).unwrap()).collect()
}

#[tokio::test]
async fn a_page_shows_links_with_their_clicks_and_counts_them_all() {
    let fixture = Fixture::new();
    fixture.db.store(&LinkBuilder::new("foreign").build()).await;
    fixture.store_in_order(&["first", "second", "third"]).await;
    fixture.click("second", 2).await;

    let answer = fixture.get("/api/links?per_page=2").await;

    assert_eq!(codes(&answer), ["third", "second"]);
    let page = answer.json();
    assert_eq!(page["links"][1]["total_clicks"], 2);
    assert_eq!(json!([page["total"], page["page"], page["per_page"], page["total_pages"]]), json!([3, 1, 2, 2]));
    assert_eq!(codes(&fixture.get("/api/links?per_page=2&page=2").await), ["first"]);
    assert_eq!(codes(&fixture.get("/api/links?per_page=2&page=3").await), [""; 0]);
}

/// The feed is shorter, but has the same links.
#[tokio::test]
async fn the_feed_shows_a_deleted_link_as_the_link_alone_is_shown() {
    let fixture = Fixture::new();
    fixture.store(&["launch"]).await;
    fixture.db.store(&LinkBuilder::new("foreign").build()).await;
    fixture.db.delete(&fixture.db.link("launch").await).await;

    let shown = fixture.get("/api/links/launch").await.json();

    assert_eq!(json!([shown["status"], shown["is_active"]]), json!(["deleted", false]));
    assert_eq!(
        fixture.get("/api/urls?status=deleted").await.json(),
        json!({"urls": [shown], "next_cursor": null, "has_more": false})
    );
    assert_eq!(fixture.get("/api/urls").await.json(), json!({"urls": [], "next_cursor": null, "has_more": false}));
}

#[tokio::test]
async fn the_feed_caps_a_limit_and_refuses_a_bad_one_or_cursor() {
    let fixture = Fixture::new();
    fixture.store(&(0..101).map(|number| format!("code{number}")).collect::<Vec<_>>()).await;

    for (query, count) in [("limit=&after=", 20), ("limit=101", 100), ("limit=1000000", 100)] {
        let page = fixture.get(&format!("/api/urls?{query}")).await.json();
        assert_eq!(page["urls"].as_array().unwrap().len(), count, "{query}");
    }
    let other = "after must be the next_cursor of a page of this list, with the same filters and order";
    for (query, sentence) in [("limit=0", "limit must be a positive integer"), ("after=%25", other)] {
        assert_eq!(fixture.get(&format!("/api/urls?{query}")).await.problem(), (400, sentence.into()), "{query}");
    }
}

#[tokio::test]
async fn an_empty_workspace_has_an_empty_page() {
    let answer = Fixture::new().get("/api/links").await;

    let mut empty = json!({"links": [], "total": 0, "page": 1, "per_page": 20, "total_pages": 0, "next_cursor": null});
    (empty["archived_left_out"], empty["has_more"]) = (json!(0), json!(false));
    assert_eq!(answer.json(), empty);
}

#[tokio::test]
async fn each_filter_narrows() {
    let fixture = Fixture::new();
    let mut titled = fixture.link("titled").tagged(&["sale", "2026"]).build();
    titled.metadata.title = "Frühling Sale".parse().ok();
    titled.metadata.description = "A note to myself".parse().ok();
    let old = fixture.link("old1").to("https://GitHub.com/rust-lang?stra%C3%9Fe");
    let old = old.created_at(at("2026-01-15T12:00:00Z")).build();
    let expired = fixture.link("expired").expires_at(Timestamp::now()).build();
    for link in [&titled, &old, &expired] {
        fixture.db.store(link).await;
    }
    fixture.store(&["off11", "deleted"]).await;
    let off = LinkPatch { is_active: Some(false), ..LinkPatch::default() };
    fixture.db.patch(fixture.db.link("off11").await.id(), &off).await;
    let deleted = fixture.db.link("deleted").await;
    fixture.db.delete(&deleted).await;

    let colleague = UserId::generate();
    fixture.db.store(&fixture.link("colleague").owned_by(&colleague).build()).await;
    let away = fixture.link("away").to("https://github.com/old").archived().tagged(&["sale", "2026"]);
    fixture.db.store(&away.build()).await;
    let by_colleague = format!("created_by={colleague}");
    let cases = [
        ("search=github.com", vec!["old1"]),
        ("search=FRÜHLING", vec!["titled"]),
        ("search=%20fruhling%20", vec!["titled"]),
        ("search=STRASSE", vec!["old1"]),
        ("search=stra%25C3%259Fe", vec!["old1"]),
        ("search=https://api.example.com/r/Titled", vec!["titled"]),
        ("tag=sale", vec!["titled"]),
        ("tag=SALE", vec!["titled"]),
        ("tag=sale&tag=2025", vec![]),
        ("tag=2025,sale", vec!["titled"]),
        ("tag=2025,2024", vec![]),
        ("tag=-sale&status=active", vec!["colleague", "old1"]),
        ("tag=-2025,SALE&tag=2026", vec![]),
        ("search=note%20to", vec!["titled"]),
        ("search=202", vec!["titled"]),
        (by_colleague.as_str(), vec!["colleague"]),
        ("status=inactive", vec!["off11"]),
        ("status=deleted", vec!["deleted"]),
        ("status=expired", vec!["expired"]),
        ("status=active", vec!["colleague", "old1", "titled"]),
        ("status=all", vec!["colleague", "deleted", "expired", "off11", "old1", "titled"]),
        ("", vec!["colleague", "expired", "off11", "old1", "titled"]),
        ("search=example.com/landing", vec!["colleague", "expired", "off11", "titled"]),
        ("created_after=2026-01-15&created_before=2026-01-15&tz=Pacific/Kiritimati", vec![]),
        ("created_after=2026-01-16&created_before=2026-01-16&tz=Pacific/Kiritimati", vec!["old1"]),
        ("created_before=2026-01-15T12:00:00Z&tz=Pacific/Kiritimati", vec!["old1"]),
        ("created_after=2026-01-15T12:00:00Z&created_before=2026-01-15T12:00:00Z", vec!["old1"]),
        ("created_after=2026-01-15T12:00:00.001Z&created_before=2026-01-16", vec![]),
        ("created_before=2026-01-15&search=&tag=&status=&sort=&order=&page=&per_page=&created_after=", vec!["old1"]),
        ("created_after=2026-01-15T14:00:00%2B02:00&created_before=2026-01-15T14:00:00+02:00", vec!["old1"]),
        ("tag=sale&search=github", vec![]),
        ("archived=true", vec!["away"]),
        ("archived=true&tag=2026&search=github&sort=clicks", vec!["away"]),
        ("archived=all", vec!["away", "colleague", "expired", "off11", "old1", "titled"]),
        ("archived=all&search=github", vec!["away", "old1"]),
        ("archived=false&search=github", vec!["old1"]),
        ("archived=&tag=sale&sort=clicks", vec!["titled"]),
    ];
    for (query, expected) in cases {
        let answer = fixture.get(&format!("/api/links?{query}")).await;
        let found: BTreeSet<_> = codes(&answer).into_iter().collect();
        assert_eq!(found, expected.iter().map(|code| (*code).to_owned()).collect(), "{query}");
        assert_eq!(answer.json()["total"], expected.len(), "{query}");
    }
}

#[tokio::test]
async fn a_page_says_how_many_archived_links_it_leaves_out() {
    let fixture = Fixture::new();
    for code in ["away1", "away2"] {
        let mut away = fixture.link(code).to("https://github.com/").archived().build();
        away.metadata.external_id = (code == "away1").then(|| "crm-7".parse().unwrap());
        fixture.db.store(&away).await;
    }
    fixture.store(&["here1", "here2"]).await;
    let left_out =
        async |query: &str| fixture.get(&format!("/api/links?{query}")).await.json()["archived_left_out"].clone();

    for (query, expected) in [
        ("", 2),
        ("per_page=1&sort=clicks", 2),
        ("search=github", 2),
        ("search=landing", 0),
        ("status=inactive", 0),
        ("archived=all", 0),
        ("archived=true", 0),
        ("external_id=crm-7", 0),
        ("external_id=crm-7&archived=false", 1),
        ("external_id=crm-7&archived=false&search=landing", 0),
    ] {
        assert_eq!(left_out(query).await, json!(expected), "{query}");
    }
    let first = fixture.get("/api/links?per_page=1").await.json();
    let next = first["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(left_out(&format!("per_page=1&after={next}")).await, Value::Null);
}

#[tokio::test]
async fn an_archived_link_that_is_deleted_is_among_the_deleted_ones() {
    let fixture = Fixture::new();
    let link = fixture.link("away").archived().build();
    fixture.db.store(&link).await;

    fixture.db.delete(&link).await;

    let deleted = fixture.get("/api/links?status=deleted").await.json();
    assert_eq!((&deleted["links"][0]["short_code"], &deleted["links"][0]["archived"]), (&json!("away"), &json!(false)));
    assert_eq!(fixture.get("/api/links?status=all&archived=true").await.json()["total"], 0);
}

#[tokio::test]
async fn a_backslash_finds_tags_with_a_comma_or_a_leading_dash() {
    let fixture = Fixture::new();
    for (code, tag) in [("comma", "1,5"), ("dash", "-1"), ("plain", "1")] {
        fixture.db.store(&fixture.link(code).tagged(&[tag]).build()).await;
    }

    for (query, expected) in [("tag=1%5C,5", "comma"), ("tag=%5C-1", "dash"), ("tag=1,5", "plain")] {
        assert_eq!(codes(&fixture.get(&format!("/api/links?{query}")).await), [expected], "{query}");
    }
}

#[tokio::test]
async fn an_external_id_finds_its_link_alone() {
    let fixture = Fixture::new();
    let mut link = fixture.link("launch").build();
    link.metadata.external_id = Some("crm 7/ä".parse().unwrap());
    fixture.db.store(&link).await;
    fixture.db.store(&fixture.link("other").build()).await;
    let find = async |query: &str| {
        let answer = fixture.get(&format!("/api/links?external_id={query}")).await;
        (codes(&answer), answer.json()["total"].clone())
    };

    // What is around it is left out, as where a link is given its id; nothing alone asks for all.
    for found in ["crm%207/%C3%A4", "%20crm%207/%C3%A4%09"] {
        assert_eq!(find(found).await, (vec!["launch".to_owned()], json!(1)), "{found}");
    }
    assert_eq!((find("").await.1, find("%20").await.1), (json!(2), json!(2)));
    for none in ["crm", "CRM%207/%C3%A4"] {
        assert_eq!(find(none).await, (vec![], json!(0)), "{none}");
    }
    for and in ["status=inactive", "search=other", "tag=a"] {
        assert_eq!(find(&format!("crm%207/%C3%A4&{and}")).await, (vec![], json!(0)), "{and}");
    }
    assert_eq!(find("crm%207/%C3%A4&page=2").await, (vec![], json!(1)));
    // It is asked for by its name, so it is found where lists leave it out.
    fixture.db.patch(link.id(), &LinkPatch { archived: Some(true), ..LinkPatch::default() }).await;
    assert_eq!(find("crm%207/%C3%A4").await, (vec!["launch".to_owned()], json!(1)));
    assert_eq!(find("crm%207/%C3%A4&archived=false").await, (vec![], json!(0)));
    fixture.db.delete(&link).await;
    assert_eq!(find("crm%207/%C3%A4").await, (vec![], json!(0)));
    assert_eq!(find("crm%207/%C3%A4&status=all").await, (vec!["launch".to_owned()], json!(1)));
}

#[tokio::test]
async fn links_show_what_their_creators_are_called() {
    let fixture = Fixture::new();
    let account = json!({"email": "ada@example.com", "password": "correct horse battery", "full_name": "Ada Lovelace"});
    let register = RequestBuilder::new("POST", "/api/auth/register").json(&account);
    let ada = send(&fixture.db, "auth", register).await.parsed("user_id");
    for (code, owner) in [("named", ada), ("unknown", UserId::generate())] {
        fixture.db.store(&fixture.link(code).owned_by(&owner).build()).await;
    }
    let name_of = async |path: &str, rows: &str| {
        let page = fixture.get(path).await.json();
        let row =
            |code: &str| page[rows].as_array().unwrap().iter().find(|row| row["short_code"] == code).unwrap().clone();
        (row("named")["created_by_name"].clone(), row("unknown")["created_by_name"].clone())
    };

    let expected = (json!("Ada Lovelace"), Value::Null);
    for (path, rows) in [("/api/links", "links"), ("/api/links?sort=clicks", "links"), ("/api/urls", "urls")] {
        assert_eq!(name_of(path, rows).await, expected, "{path}");
    }
    assert_eq!(fixture.get("/api/links/named").await.json()["created_by_name"], expected.0);
    assert_eq!(fixture.get("/api/links/unknown").await.json()["created_by_name"], Value::Null);
}

#[tokio::test]
async fn without_the_table_of_names_links_are_shown_and_say_so() {
    let mut fixture = Fixture::new();
    fixture.db.store(&fixture.link("launch").build()).await;
    fixture.list.people = Names(TestDynamoDb::unreachable_table("UsersTable"));

    for path in ["/api/links", "/api/urls", "/api/links/launch"] {
        let answer = fixture.get(path).await;
        assert_eq!((answer.status, &answer.json()["degraded"]), (200, &json!(["names"])), "{path}");
    }
}

/// Pages behind a cursor read no more than they show, and so does the feed.
#[tokio::test]
async fn deleted_and_archived_links_leave_no_gap_in_a_chain_of_pages() {
    let fixture = Fixture::new();
    let archive = LinkPatch { archived: Some(true), ..LinkPatch::default() };
    let created = at("2026-03-01T00:00:00Z");
    for number in 0..40 {
        let link =
            fixture.link(&format!("code{number:02}")).created_at(created.plus(Duration::from_secs(number))).build();
        fixture.db.store(&link).await;
        match number % 4 {
            0 => {}
            1 => _ = fixture.db.patch(link.id(), &archive).await,
            _ => {
                fixture.db.delete(&link).await;
            }
        }
    }
    let chain = async |first: &str, rows: &str| {
        let (mut found, mut path) = (Vec::new(), first.to_owned());
        for _ in 0..20 {
            let page = fixture.get(&path).await.json();
            let links = page[rows].as_array().unwrap().clone();
            found.extend(links.iter().map(|link| link["short_code"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["next_cursor"].as_str() else { return found };
            path = format!("{first}&after={cursor}");
        }
        panic!("the chain has no end");
    };

    let kept: Vec<_> =
        (0..40).rev().filter(|number| number % 4 == 0).map(|number| format!("code{number:02}")).collect();

    assert_eq!(chain("/api/urls?limit=3", "urls").await, kept);
    assert_eq!(chain("/api/links?per_page=3", "links").await, kept);
    assert_eq!(chain("/api/urls?limit=3&status=all&archived=all", "urls").await.len(), 40);
    assert_eq!(chain("/api/urls?limit=3&status=deleted", "urls").await.len(), 20);
    assert_eq!(chain("/api/urls?limit=3&archived=true", "urls").await.len(), 10);
    assert_eq!(chain("/api/links?per_page=3&archived=true", "links").await.len(), 10);
    assert_eq!(chain("/api/links?per_page=3&archived=all", "links").await.len(), 20);
    assert_eq!(fixture.get("/api/links").await.json()["total"], 10);
    assert_eq!(fixture.get("/api/links?sort=clicks&per_page=3").await.json()["total_pages"], 4);
}

#[tokio::test]
async fn the_order_by_clicks_is_exact() {
    let fixture = Fixture::new();
    fixture.store_in_order(&["many", "none", "more", "some"]).await;
    for (code, times) in [("some", 2), ("many", 5), ("more", 5)] {
        fixture.click(code, times).await;
    }

    for (order, expected, clicks) in [
        ("desc", ["more", "many", "some", "none"], [5, 5, 2, 0]),
        ("asc", ["none", "some", "many", "more"], [0, 2, 5, 5]),
    ] {
        let page = fixture.get(&format!("/api/links?sort=clicks&order={order}")).await;
        assert_eq!((codes(&page), total_clicks(&page)), (expected.map(str::to_owned).to_vec(), clicks.to_vec()));
    }
}

#[tokio::test]
async fn links_are_sorted_by_their_last_click_page_by_page() {
    let fixture = Fixture::new();
    fixture.store_in_order(&["unused", "busy1", "fresh", "quiet", "newest"]).await;
    let now = Timestamp::now();
    let seconds_ago = |seconds| now.minus(Duration::from_secs(seconds));
    // The last of them comes behind a later click of the same link.
    for (code, ago) in [("busy1", 60), ("fresh", 1), ("busy1", 50), ("quiet", 9_000_000), ("fresh", 200_000)] {
        let click = event_batch(&[click_in(&fixture.workspace, code, seconds_ago(ago))]);
        assert!(fixture.analytics().consume(click).await.batch_item_failures.is_empty());
    }

    let newest = ["fresh", "busy1", "quiet", "newest", "unused"];
    let answer = fixture.get("/api/links?sort=last_click").await;
    assert_eq!(codes(&answer), newest);
    assert_eq!((&answer.json()["next_cursor"], &answer.json()["total"]), (&Value::Null, &json!(5)));
    let pages = async |order: &str| {
        let mut found = Vec::new();
        for page in 1..=3 {
            let path = format!("/api/links?sort=last_click&per_page=2&page={page}&order={order}");
            found.extend(codes(&fixture.get(&path).await));
        }
        found
    };
    assert_eq!(pages("desc").await, newest);
    assert_eq!(pages("asc").await, ["unused", "newest", "quiet", "busy1", "fresh"]);
    let of_first_three = "/api/links?sort=last_click&created_before=2026-03-01T00:00:02Z";
    assert_eq!(codes(&fixture.get(of_first_three).await), ["fresh", "busy1", "unused"]);
}

#[tokio::test]
async fn each_refusal_gives_its_reason() {
    let fixture = Fixture::new();
    fixture.store(&["first", "second"]).await;
    let page = fixture.get("/api/links?per_page=1").await.json();
    let cursor = page["next_cursor"].as_str().unwrap();
    let (by_clicks, by_last_click) = (format!("sort=clicks&after={cursor}"), format!("sort=last_click&after={cursor}"));
    let other = "after must be the next_cursor of a page of this list, with the same filters and order";
    let cases = [
        ("per_page=101", "per_page must be a number from 1 to 100"),
        ("page=101&per_page=100", "pages end at row 10,000; narrow the dates or the search, or follow next_cursor"),
        ("after=AAAA", other),
        (by_clicks.as_str(), other),
        (by_last_click.as_str(), other),
        ("created_by=ada", "created_by must be a UUID"),
        ("archived=yes", "archived must be true, false or all"),
        ("sort=title", "sort must be created_at, clicks or last_click"),
        ("order=down", "order must be desc or asc"),
        ("status=purged", "status must be active, inactive, scheduled, exhausted, expired, suspended, deleted or all"),
        ("created_after=yesterday", "created_after must be a date or RFC3339 format"),
    ];

    for (query, reason) in cases {
        assert_eq!(fixture.get(&format!("/api/links?{query}")).await.problem(), (400, reason.into()), "{query}");
    }
}

#[tokio::test]
async fn without_statistics_it_still_lists_and_says_what_is_missing() {
    let mut fixture = Fixture::new();
    fixture.store(&["launch"]).await;
    fixture.list.stats = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));

    for path in ["/api/links", "/api/links?sort=clicks", "/api/links?sort=last_click", "/api/urls", "/api/links/launch"]
    {
        let (answer, measured) = metrics::observe(fixture.get(path)).await;
        assert_eq!((answer.status, &answer.json()["degraded"]), (200, &json!(["clicks"])), "{path}");
        assert!(measured.get(Metric::Degraded) >= 1.0, "{path}");
        if let Some(rows) = answer.json().get("links").or(answer.json().get("urls")) {
            assert_eq!(rows[0]["total_clicks"], Value::Null, "{path}");
        }
    }
}

#[tokio::test]
async fn one_link_is_shown_until_it_is_purged() {
    let fixture = Fixture::new();
    let owner = UserId::generate();
    let now = Timestamp::now();
    fixture.db.store(&fixture.link("launch").owned_by(&owner).created_at(now).build()).await;
    fixture.click("launch", 3).await;

    let answer = fixture.get("/api/links/launch").await;

    assert_eq!(
        answer.json(),
        json!({
            "short_code": "launch", "short_url": "https://api.example.com/r/launch",
            "original_url": "https://example.com/landing", "title": null, "description": null, "tags": [], "watch": false, "archived": false,
            "created_at": now, "updated_at": now, "expires_at": null, "is_active": true, "status": "active", "imported_clicks": null, "total_clicks": 3,
            "created_by": owner, "created_by_name": null, "metadata": null, "external_id": null,
            "statistics": null, "valid_from": null, "exhausted_at": null, "fallback_url": null, "max_clicks": null, "forward_query": false, "preview": null,
            "is_protected": false, "has_rules": false, "target_id": null, "suspended_for": [], "used": null,
        })
    );
    assert_eq!(fixture.get("/api/links/x").await.problem(), (404, "not found".into()));
    let record = fixture.db.record("launch").await.unwrap();
    fixture.db.purge(&record).await;
    assert_eq!(fixture.get("/api/links/launch").await.status, 410);
}

// ---------------------------------------------------------------------------------------------------------------- Health

impl Fixture {
    /// A link that watches, and the target that it watches since a minute ago.
    async fn watching(&self, code: &str) -> (Link, Target) {
        let link = self.link(code).watching().build();
        self.db.store(&link).await;
        let minute_ago = link.created_at.minus(Duration::from_secs(60));
        let target =
            TargetBuilder::new(link.target.as_str()).in_workspace(&self.workspace).created_at(minute_ago).build();
        self.db.watch().watch(&target, link.id(), Timestamp::now(), &correlation()).await.unwrap();
        (link, target)
    }

    async fn check(&self, target: &Target, at: Timestamp, outcome: CheckOutcome) {
        check(&self.db, &target.id, at, outcome).await;
    }
}

#[tokio::test]
async fn a_watching_link_shows_how_its_url_is() {
    let fixture = Fixture::new();
    let (_, target) = fixture.watching("launch").await;
    let health = async || fixture.get("/api/links/launch").await.json()["health"].clone();
    let after = |seconds| target.created_at.plus(Duration::from_secs(seconds));

    let before = health().await;
    fixture.check(&target, after(15), CheckOutcome::Answered(200)).await;
    let up = health().await;
    fixture.check(&target, after(30), CheckOutcome::Answered(503)).await;
    let once = health().await;
    fixture.check(&target, after(45), CheckOutcome::Failed(CheckError::Timeout)).await;
    let down = health().await;

    assert_eq!(before, json!({"status": "pending", "checked_at": null, "status_code": null, "latency_ms": null}));
    assert_eq!(up, json!({"status": "up", "checked_at": after(15), "status_code": 200, "latency_ms": 80}));
    assert_eq!(once, json!({"status": "up", "checked_at": after(30), "status_code": 503, "latency_ms": 80}));
    assert_eq!(down, json!({"status": "down", "checked_at": after(45), "status_code": null, "latency_ms": 80}));
}

#[tokio::test]
async fn health_is_pending_until_the_target_is_known() {
    let fixture = Fixture::new();
    fixture.db.store(&fixture.link("launch").watching().build()).await;

    let answer = fixture.get("/api/links/launch").await.json();

    assert_eq!((&answer["watch"], &answer["health"]["status"]), (&json!(true), &json!("pending")));
    assert_eq!(answer.get("degraded"), None);
}

#[tokio::test]
async fn a_link_shows_health_alone_and_as_long_as_it_watches() {
    let fixture = Fixture::new();
    let (link, target) = fixture.watching("launch").await;
    fixture.db.store(&fixture.link("plain").build()).await;

    for path in ["/api/links", "/api/urls"] {
        let page = fixture.get(path).await.json();
        let rows = page.get("links").or(page.get("urls")).unwrap().as_array().unwrap();
        assert_eq!(rows.iter().filter(|row| row["watch"] == true).count(), 1, "{path}");
        assert!(rows.iter().all(|row| row.get("health").is_none()), "{path}");
        let targets: Vec<_> = rows.iter().map(|row| row["target_id"].clone()).filter(|id| !id.is_null()).collect();
        assert_eq!(targets, [json!(target.id)], "{path}");
    }
    let plain = fixture.get("/api/links/plain").await.json();
    assert_eq!((plain.get("health"), plain.get("target_id")), (None, Some(&Value::Null)));
    assert_eq!(fixture.get("/api/links/launch").await.json()["target_id"], json!(target.id));
    fixture.db.delete(&link).await;
    let deleted = fixture.get("/api/links/launch").await.json();
    assert_eq!((deleted.get("health"), deleted.get("target_id")), (None, Some(&Value::Null)));
}

#[tokio::test]
async fn without_watch_table_a_link_is_shown_and_its_health_is_unknown() {
    let mut fixture = Fixture::new();
    fixture.watching("launch").await;
    fixture.db.store(&fixture.link("plain").build()).await;
    fixture.list.targets = WatchTable::new(TestDynamoDb::unreachable_table("WatchTable"));

    let answer = fixture.get("/api/links/launch").await;
    let plain = fixture.get("/api/links/plain").await.json();
    fixture.list.stats = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));
    let without_both = fixture.get("/api/links/launch").await.json();

    let unknown = json!({"status": "unknown", "checked_at": null, "status_code": null, "latency_ms": null});
    assert_eq!((answer.status, &answer.json()["health"]), (200, &unknown));
    assert_eq!((&answer.json()["degraded"], &answer.json()["total_clicks"]), (&json!(["health"]), &json!(0)));
    assert_eq!(plain.get("degraded"), None, "it doesn't ask for any");
    assert_eq!(without_both["degraded"], json!(["clicks", "health"]));
}

const WORDS: [&str; 5] = ["spring", "Sale", "Übersicht", "news", "docs"];
const TAGS: [&str; 3] = ["red", "green", "2026"];

pub fn one_of<'a>(random: &mut Rng, choices: &[&'a str]) -> &'a str {
    choices[random.usize(..choices.len())]
}

/// Links in all states, of which many share a second.
async fn seed(fixture: &Fixture, count: usize) -> Vec<Link> {
    let (start, mut random) = (at("2026-01-01T00:00:00Z"), Rng::with_seed(count as u64));
    let link = |number: usize| {
        let created = start.plus(Duration::from_secs(random.u64(..=count as u64 / 3) * 60));
        let tags: Vec<_> = TAGS.into_iter().filter(|_| random.u8(..4) == 0).collect();
        let url = format!("https://{}.example/", one_of(&mut random, &WORDS).to_lowercase().replace('ü', "u"));
        let mut link = fixture.link(&format!("c{number:05}")).to(&url).created_at(created).tagged(&tags).build();
        let title = format!("{} {}", one_of(&mut random, &WORDS), one_of(&mut random, &WORDS));
        link.metadata.title = random.bool().then(|| title.parse().unwrap());
        link.availability.expires_at = [None, Some(at("2026-06-01T00:00:00Z"))][usize::from(random.u8(..6) == 0)];
        link.availability.state = match random.u8(..8) {
            0 => LinkState::Inactive,
            1 => LinkState::Deleted(at("2026-05-01T00:00:00Z")),
            _ => LinkState::Active,
        };
        link
    };
    let links: Vec<_> = (0..count).map(link).collect();
    for chunk in links.chunks(64) {
        join_all(chunk.iter().map(|link| fixture.db.store(link))).await;
    }
    links
}

/// The codes of a page of `GET /api/links`, and how many links there are, written as plainly as possible.
fn naive(links: &[Link], clicks: &BTreeMap<String, usize>, query: &BTreeMap<&str, String>) -> (Vec<String>, usize) {
    let get = |name: &str| query.get(name).map(String::as_str);
    let plain = |text: &str| text.to_lowercase().replace('ü', "u");
    let shows = |link: &&Link| {
        let title = link.metadata.title.as_ref().map_or("", |title| title.as_str());
        let is_expired = link.availability.expires_at.is_some_and(|expiry| expiry <= Timestamp::now());
        let status = match link.availability.state {
            LinkState::Deleted(_) => "deleted",
            _ if is_expired => "expired",
            LinkState::Inactive => "inactive",
            LinkState::Active => "active",
        };
        let has = |text: &str| {
            let parts = [link.target.as_str(), title, link.code().as_str()].into_iter();
            let mut all = parts.chain(link.metadata.tags.iter().map(AsRef::as_ref));
            all.any(|known| plain(known).contains(&plain(text)))
        };
        get("search").is_none_or(has)
            && get("tag").is_none_or(|tag| link.metadata.tags.contains(tag))
            && get("status").map_or(status != "deleted", |wanted| wanted == "all" || wanted == status)
            && get("created_after").is_none_or(|time| link.created_at >= at(time))
            && get("created_before").is_none_or(|time| link.created_at <= at(time))
    };
    let mut rows: Vec<&Link> = links.iter().filter(shows).collect();
    let followed = |link: &Link| clicks.get(link.code().as_str()).filter(|_| get("sort") == Some("clicks"));
    rows.sort_by_key(|link| (followed(link).copied().unwrap_or(0), link.created_at, link.code().clone()));
    if get("order") != Some("asc") {
        rows.reverse();
    }
    let number = |name| get(name).unwrap().parse::<usize>().unwrap();
    let page = rows.iter().skip((number("page") - 1) * number("per_page")).take(number("per_page"));
    (page.map(|link| link.code().to_string()).collect(), rows.len())
}

fn random_query(random: &mut Rng) -> BTreeMap<&'static str, String> {
    let word: String = one_of(random, &WORDS).chars().skip(random.usize(..2)).take(3).collect();
    let mut query = BTreeMap::from([
        ("search", if random.bool() { word.to_uppercase() } else { word }),
        ("tag", one_of(random, &TAGS).to_owned()),
        ("status", one_of(random, &["active", "inactive", "deleted", "expired", "all"]).to_owned()),
        ("created_after", format!("2026-01-01T00:{:02}:00Z", random.u8(..30))),
        // Not before `created_after`, which would be refused.
        ("created_before", format!("2026-01-01T00:{:02}:00Z", random.u8(30..60))),
        ("sort", one_of(random, &["created_at", "clicks"]).to_owned()),
        ("order", one_of(random, &["asc", "desc"]).to_owned()),
    ]);
    query.retain(|_, _| random.u8(..3) == 0);
    query.extend([("page", random.u8(1..=3).to_string()), ("per_page", random.u8(1..=100).to_string())]);
    query
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_and_sort_agrees_with_a_naive_model() {
    // The second has several pages of the index.
    for (links, queries) in [(300, 200), (4_000, 12)] {
        let (fixture, mut random) = (Fixture::new(), Rng::with_seed(links as u64));
        let rows = seed(&fixture, links).await;
        fixture.db.store(&LinkBuilder::new("foreign").created_at(rows[0].created_at).build()).await;
        let mut clicks = BTreeMap::new();
        let mut events = Vec::new();
        for _ in 0..links / 20 {
            let (code, times) = (rows[random.usize(..links)].code().to_string(), random.usize(1..=3));
            events.extend((0..times).map(|_| click_in(&fixture.workspace, &code, Timestamp::now())));
            *clicks.entry(code).or_insert(0) += times;
        }
        // A batch that takes too long comes again, here as a whole.
        while !fixture.analytics().consume(event_batch(&events)).await.batch_item_failures.is_empty() {}

        for _ in 0..queries {
            let query = random_query(&mut random);
            let text: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let answer = fixture.get(&format!("/api/links?{}", text.join("&"))).await;

            let (expected, total) = naive(&rows, &clicks, &query);
            let followed: Vec<_> = expected.iter().map(|code| clicks.get(code).copied().unwrap_or(0)).collect();
            assert_eq!((codes(&answer), &answer.json()["total"]), (expected, &json!(total)), "{query:?}");
            assert_eq!(total_clicks(&answer), followed, "{query:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_cursors_cover_each_link_once_while_others_come_and_go() {
    let fixture = Fixture::new();
    let rows = seed(&fixture, 500).await;
    let expected: BTreeSet<_> = rows.iter().map(|link| link.code().to_string()).collect();

    let mut paged = Vec::new();
    for page in 1..=5 {
        paged.extend(codes(&fixture.get(&format!("/api/links?per_page=100&page={page}&order=asc&status=all")).await));
        // New links come last in this order.
        fixture.db.store(&fixture.link(&format!("new{page}")).build()).await;
    }
    let mut chained: Vec<String> = Vec::new();
    let mut purged = BTreeSet::new();
    let mut path = "/api/urls?limit=70&status=all".to_owned();
    loop {
        let page = fixture.get(&path).await.json();
        chained
            .extend(page["urls"].as_array().unwrap().iter().map(|url| url["short_code"].as_str().unwrap().to_owned()));
        fixture.db.store(&fixture.link(&format!("more{}", chained.len())).build()).await;
        // One of the rows that were seen goes, the cursor's own among them, and one of those ahead.
        let ahead = expected.iter().find(|code| !chained.contains(code) && !purged.contains(*code));
        for code in chained.last().cloned().into_iter().chain(ahead.cloned()) {
            let record = fixture.db.record(&code).await.unwrap();
            fixture.db.purge(&record).await;
            purged.insert(code);
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/urls?limit=70&status=all&after={cursor}"),
            None => break,
        }
    }
    chained.retain(|code| !code.starts_with("new"));

    assert_eq!((paged.len(), paged.into_iter().collect::<BTreeSet<_>>()), (500, expected.clone()));
    let distinct: BTreeSet<_> = chained.iter().cloned().collect();
    assert_eq!(chained.len(), distinct.len(), "a row came twice");
    let missing: BTreeSet<_> = expected.difference(&distinct).cloned().collect();
    assert!(missing.is_subset(&purged), "{missing:?} were neither purged nor listed");
    assert!(!missing.is_empty() && distinct.is_subset(&expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_ten_thousand_links_lists_need_cursors_and_cannot_sort_by_clicks() {
    let fixture = Fixture::new();
    let rows = seed(&fixture, 10_001).await;
    let oldest = rows.iter().min_by_key(|link| (link.created_at, link.code().clone())).unwrap();

    let last_page = fixture.get("/api/links?per_page=100&page=100&status=all").await;
    let cursor = last_page.text("next_cursor");
    let behind = fixture.get(&format!("/api/links?status=all&after={cursor}")).await;
    let (status, sentence) = fixture.get("/api/links?sort=clicks&status=all").await.problem();
    let filtered = fixture.get("/api/links?tag=red&per_page=100&status=all").await;

    assert_eq!((last_page.status, codes(&last_page).len()), (200, 100));
    assert_eq!(json!([last_page.json()["total"], last_page.json()["total_pages"]]), json!([null, null]));
    assert_eq!((codes(&behind), &behind.json()["next_cursor"]), (vec![oldest.code().to_string()], &Value::Null));
    assert_eq!(status, 400);
    assert!(sentence.contains("narrow created_after and created_before"), "{sentence}");
    let red = rows.iter().filter(|link| link.metadata.tags.contains("red")).count();
    assert_eq!((filtered.status, &filtered.json()["total"]), (200, &json!(red)));
}
