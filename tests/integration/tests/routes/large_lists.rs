//! `GET /api/links` in workspaces that are larger than what is read for one request.

use linklet_lambda::throttle::StatsQueryLimiter;

use crate::prelude::*;

/// What 8 MB cost, eventually consistent.
const UNITS_OF_BUDGET: f64 = 1_024.0;

struct Workspace {
    db: TestDynamoDb,
    list: List,
    meter: CapacityMeter,
    id: WorkspaceId,
    token: String,
}

impl Workspace {
    fn new() -> Self {
        let (db, meter, id) = (TestDynamoDb::without_streams(), CapacityMeter::default(), WorkspaceId::generate());
        let table = |name: &str| db.table_with(meter.clone(), name);
        let (links, stats) = (LinksTable(table("LinksTable")), StatsTable::new(table("StatsTable")));
        let list = List { links, stats, ..fixture::list(&db) };
        let token = token_for(&id, Role::Viewer);
        Self { db, list, meter, id, token }
    }

    /// Links of 3.7 KB, the oldest first. Three share each second, so that cursors stand between links of the same time.
    async fn with_heavy_links(count: usize) -> Self {
        let workspace = Self::new();
        let links: Vec<_> = (0..count).map(|number| workspace.heavy(number)).collect();
        workspace.db.store_all(&links).await;
        workspace
    }

    /// Every hundredth link is titled as a needle, and every tenth is tagged.
    fn heavy(&self, number: usize) -> Link {
        let url = format!("https://example.com/{}", "u".repeat(1_200));
        let created_at = start().plus(Duration::from_secs(number as u64 / 3));
        let link = LinkBuilder::new(&code(number)).in_workspace(&self.id).to(&url).created_at(created_at);
        let mut link = link.build();
        let title = if number.is_multiple_of(100) { "A Needle" } else { "hay" };
        link.metadata.title = title.parse().ok();
        link.metadata.description = "d".repeat(2_000).parse().ok();
        let tags = if number.is_multiple_of(10) { vec!["tenth".to_owned()] } else { Vec::new() };
        link.metadata.tags = tags.try_into().unwrap();
        link
    }

    async fn get(&self, query: &str) -> Answer {
        self.list.get(&format!("/api/links?{query}"), &self.token).await
    }

    /// A page, and how many read units it took.
    async fn page(&self, query: &str) -> (Value, f64) {
        self.meter.reset();
        let answer = self.get(query).await.expecting(200);
        (answer.json(), self.meter.read_units())
    }

    /// All pages from the first one to the one without a cursor.
    async fn chain(&self, query: &str) -> Vec<Value> {
        let mut pages = vec![self.page(query).await.0];
        while let Some(cursor) = pages.last().and_then(|page| page["next_cursor"].as_str()) {
            let next = self.page(&format!("{query}&after={cursor}")).await.0;
            pages.push(next);
        }
        pages
    }
}

fn start() -> Timestamp {
    Timestamp::parse("2026-01-01T00:00:00Z").unwrap()
}

fn code(number: usize) -> String {
    format!("heavy{number:05}")
}

fn codes(page: &Value) -> Vec<String> {
    let links = page["links"].as_array().unwrap();
    links.iter().map(|link| link["short_code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_reads_eight_megabytes_and_its_cursors_find_each_match_once() {
    let workspace = Workspace::with_heavy_links(2_600).await;
    let oldest_first: Vec<_> = (0..2_600).step_by(100).map(code).collect();
    let newest_first: Vec<_> = oldest_first.iter().rev().cloned().collect();

    for (order, expected) in [("asc", &oldest_first), ("desc", &newest_first)] {
        let (first, units) = workspace.page(&format!("search=NEEDLE&per_page=5&order={order}")).await;
        let pages = workspace.chain(&format!("search=NEEDLE&per_page=5&order={order}")).await;

        assert_eq!(codes(&first), expected[..5], "{order}");
        assert!(first["next_cursor"].is_string());
        // Besides what is searched, the links of the page are read, and their clicks.
        assert!((900.0..=UNITS_OF_BUDGET + 5.0).contains(&units), "{units}");
        assert!(pages.iter().all(|page| page["total"].is_null() && page["total_pages"].is_null()), "{order}");
        assert_eq!(pages.iter().flat_map(codes).collect::<Vec<_>>(), *expected, "{order}");
    }

    // The only match lies behind what is read at first.
    let oldest = code(0);
    let far = workspace.chain(&format!("search={oldest}")).await;
    assert_eq!(far.iter().map(|page| codes(page).len()).collect::<Vec<_>>(), [0, 1]);
    let second = workspace.page(&format!("search={oldest}&per_page=100&page=2&after={}", cursor(&far[0]))).await.0;
    assert_eq!((codes(&second), &second["next_cursor"]), (Vec::new(), &Value::Null), "page 2 behind the cursor");

    let (narrowed, units) = workspace.page("search=needle&created_before=2026-01-01T00:01:40Z").await;
    assert_eq!(json!([narrowed["total"], narrowed["total_pages"], narrowed["next_cursor"]]), json!([4, 1, null]));
    assert!(units < 200.0, "{units}");
    let by_clicks = workspace.get("search=needle&sort=clicks").await;
    assert!(by_clicks.problem().1.starts_with("these are too many links to be sorted by clicks"), "{by_clicks:?}");
}

fn cursor(page: &Value) -> &str {
    page["next_cursor"].as_str().unwrap()
}

/// An overview that is too old is better than none, so only the first one is refused.
#[tokio::test(flavor = "multi_thread")]
async fn links_are_not_read_for_a_workspace_that_has_read_too_much() {
    let workspace = Workspace::with_heavy_links(2_000).await;
    let (overviews, jobs) = (fixture::overviews(&workspace.db), fixture::jobs_api(&workspace.db));
    let token = token_for(&workspace.id, Role::Admin);
    let now = Timestamp::now();
    let get = |path: &str, at: Timestamp| RequestBuilder::new("GET", path).token(&token).at(at);
    let dry_run = json!({"kind": "archive", "filter": {"search": "needle"}, "dry_run": true});
    let count = |at: Timestamp| RequestBuilder::new("POST", "/api/jobs").token(&token).at(at).json(&dry_run);
    assert_eq!(get("/api/overview", now).send_to(&overviews).await.status, 200);
    fixture::has_read(&workspace.db, &workspace.id, RateLimit::READ_UNITS.calls() - 120, now).await;

    // What is refused was read, and counts.
    for path in ["/api/links?search=needle", "/api/links", "/api/links?sort=clicks"] {
        assert_eq!(get(path, now).send_to(&workspace.list).await.status, 429, "{path}");
    }
    assert_eq!(count(now).send_to(&jobs).await.status, 429);
    assert_eq!(get("/api/overview?tag=tenth", now).send_to(&overviews).await.status, 429);
    assert_eq!(get("/api/overview", now.plus(Duration::from_secs(59))).send_to(&overviews).await.status, 200);
    let elsewhere = fixture::list(&workspace.db);
    assert_eq!(get("/api/urls", now).send_to(&elsewhere).await.status, 200, "twenty links cost little");
    workspace.meter.reset();
    assert_eq!(get("/api/links?search=needle", now).send_to(&workspace.list).await.status, 429);
    assert_eq!(workspace.meter.read_units(), 0.0, "an environment that knows reads nothing");

    let later = now.plus(RateLimit::WINDOW);
    assert_eq!(get("/api/links?search=needle", later).send_to(&workspace.list).await.status, 200);
    assert_eq!(count(later).send_to(&jobs).await.status, 200);
}

/// `test_budgets.py` tells how many of them the application asks for.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_ten_thousand_links_stays_within_its_read_units() {
    let workspace = Workspace::new();
    let ordinary = |number: usize| {
        let url = format!("https://www.example.com/articles/{number}/how-we-made-everything-faster?ref=mail");
        let created_at = start().plus(Duration::from_secs(number as u64));
        let link = LinkBuilder::new(&code(number)).in_workspace(&workspace.id).to(&url).created_at(created_at);
        let mut link = link.build();
        link.metadata.title = "How we made everything faster".parse().ok();
        link.metadata.tags = vec!["spring".to_owned(), "newsletter".to_owned()].try_into().unwrap();
        link
    };
    let links: Vec<_> = (0..2_000).map(ordinary).collect();
    workspace.db.store_all(&links).await;

    for (query, most) in [("", 400.0), ("tag=spring", 400.0), ("search=faster", 800.0)] {
        let units = 5.0 * workspace.page(query).await.1;
        println!("{query:<15} {units} read units of 10,000 links");
        assert!(units <= most, "{query}: {units}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_counted_is_answered() {
    let workspace = Workspace::with_heavy_links(300).await;
    let calls = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));
    let list = List { questions: StatsQueryLimiter(calls), ..fixture::list(&workspace.db) };
    assert_eq!(list.get("/api/links?search=needle", &workspace.token).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_search_reads_what_links_weigh() {
    let workspace = Workspace::with_heavy_links(2_600).await;
    let cost = async |query: &str| workspace.page(query).await;

    for (query, total) in [
        ("", 2_600),
        ("tag=tenth", 260),
        ("status=active&order=asc", 2_600),
        ("tag=tenth&sort=clicks", 260),
        ("sort=clicks&order=asc", 2_600),
        ("tag=tenth&sort=last_click", 260),
        ("sort=last_click", 2_600),
        ("page=26&per_page=100", 2_600),
    ] {
        let (page, units) = cost(query).await;
        println!("{query:<26} {units} read units");
        assert_eq!(page["total"], total, "{query}");
        // A tenth of what the links themselves would cost, and up to a hundred links with their clicks.
        let at_most = if query.contains("click") { 260.0 } else { 200.0 };
        assert!(units < at_most, "{query}: {units}");
    }
    let (first, _) = cost("per_page=20").await;
    let (next, units) = cost(&format!("per_page=20&after={}", cursor(&first))).await;
    assert_eq!(codes(&next), (2_560..2_580).rev().map(code).collect::<Vec<_>>());
    assert!(units <= 22.0, "a page behind a cursor costs its own links: {units}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_full_though_most_links_are_archived() {
    let workspace = Workspace::new();
    let links: Vec<_> =
        (0..600).map(|number| Link { archived: number % 100 != 0, ..workspace.heavy(number) }).collect();
    workspace.db.store_all(&links).await;

    let (first, _) = workspace.page("per_page=2").await;
    let (next, units) = workspace.page(&format!("per_page=2&after={}", cursor(&first))).await;

    assert_eq!((codes(&first), codes(&next)), ([500, 400].map(code).to_vec(), [300, 200].map(code).to_vec()));
    assert!(units < 40.0, "{units}");
}

#[tokio::test(flavor = "multi_thread")]
async fn cursors_respect_dates_filters_and_order() {
    let workspace = Workspace::with_heavy_links(90).await;
    let dates = "created_after=2026-01-01T00:00:05Z&created_before=2026-01-01T00:00:20Z";
    let within: Vec<_> = (15..63).map(code).collect();

    for (order, expected) in [("asc", within.clone()), ("desc", within.iter().rev().cloned().collect::<Vec<_>>())] {
        let pages = workspace.chain(&format!("{dates}&order={order}&per_page=7")).await;
        let listed: Vec<_> = pages.iter().flat_map(codes).collect();

        assert_eq!(listed, expected, "{order}");
        assert_eq!((pages.len(), &pages[0]["total"]), (7, &json!(48)));
        // Another list has cursors of its own.
        let outside = cursor(&pages[0]);
        let other = if order == "asc" { "desc" } else { "asc" };
        for query in
            ["created_after=2026-01-02".to_owned(), format!("{dates}&order={other}"), format!("{dates}&search=a")]
        {
            let refused = workspace.get(&format!("{query}&after={outside}")).await;
            assert_eq!(refused.problem_field(), (400, "after".into()), "{query}");
        }
    }
    let tagged = workspace.chain("tag=tenth&per_page=2").await;
    assert_eq!(tagged.iter().flat_map(codes).collect::<Vec<_>>(), [80, 70, 60, 50, 40, 30, 20, 10, 0].map(code));
    // The link that a cursor names may have gone.
    workspace.db.remove("LinksTable", &json!({"pk": {"S": format!("LINK#{}", code(70))}, "sk": {"S": "LINK"}}));
    let page = workspace.page(&format!("tag=tenth&per_page=2&after={}", cursor(&tagged[0]))).await.0;
    assert_eq!(codes(&page), [60, 50].map(code));
}
