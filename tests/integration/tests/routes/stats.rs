use linklet_domain::{Event, Spread};
use linklet_test_support::click_event;

use crate::fixture::{stats, visitor};
use crate::prelude::*;

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/17.4 Mobile/15E148 Safari/604.1";
const SLACK: &str = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)";

async fn get(db: &TestDynamoDb, path: &str) -> Answer {
    stats(db).get_openly(path).await
}

async fn count(db: &TestDynamoDb, clicks: &[Event]) {
    let queues = FakeQueues::start();
    let response = analytics(db, &queues).consume(event_batch(clicks)).await;
    assert!(response.batch_item_failures.is_empty());
}

/// An answer to somebody of this workspace.
async fn get_as(db: &TestDynamoDb, workspace: &WorkspaceId, path: &str) -> Answer {
    stats(db).get(path, &token_for(workspace, Role::Viewer)).await
}

/// As redirects do, for whoever has it from paper.
#[tokio::test]
async fn a_custom_code_has_its_statistics_in_whichever_case_it_is_typed() {
    let db = TestDynamoDb::start();
    let link = LinkBuilder::new("launch").build();
    let creation = Creation { any_case: linklet_dynamodb::AnyCase::Always, ..Creation::of(&link) };
    db.links().create(&creation).await.unwrap();
    count(&db, &[ClickBuilder::new("launch").in_workspace(&link.identity.workspace).build()]).await;

    let answers = [get(&db, "/api/stats/launch").await, get(&db, "/api/stats/LAUNCH").await];

    assert_eq!(answers[0].json()["total_clicks"], 1);
    assert_eq!(answers[0].json(), answers[1].json());
}

#[tokio::test]
async fn a_link_without_clicks_has_zeros_and_empty_lists() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;

    let summary = get(&db, "/api/stats/launch").await;
    let timeline = get(&db, "/api/stats/launch/timeline").await;
    for (path, list) in [("daily", "days"), ("clicks", "clicks")] {
        let details = get_as(&db, &link.identity.workspace, &format!("/api/stats/launch/{path}")).await;
        assert_eq!((details.status, &details.json()[list]), (200, &json!([])));
    }

    let expected = json!({
        "short_code": "launch", "total_clicks": 0, "human_clicks": 0, "unique_visitors": 0, "clicks_last_24h": 0,
        "clicks_last_7d": 0, "top_referers": [], "countries": [], "devices": [], "browsers": [],
        "operating_systems": [], "sources": [], "last_click_at": null,
    });
    assert_eq!(summary.json(), expected);
    assert_eq!(timeline.json(), json!({"short_code": "launch", "interval": "day", "tz": "UTC", "points": []}));
}

#[tokio::test]
async fn counted_clicks_show_in_totals_windows_and_referrers() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let now = Timestamp::now();
    let days_ago = |days: u64| now.minus(Duration::from_secs(days * 86_400));
    let click = |at, address| ClickBuilder::new("launch").at(at).by(address);
    let clicks = [
        click(now, "203.0.113.1").from("https://news.example/?id=1").in_country("DE"),
        click(days_ago(3), "203.0.113.1").from("https://news.example/?id=2"),
        click(days_ago(3), "203.0.113.2").with(IPHONE).in_country("DE"),
        click(days_ago(3), "203.0.113.3").prefetching(),
        click(days_ago(40), "203.0.113.4").with(SLACK).from("https://blog.example/"),
    ];
    count(&db, &clicks.map(ClickBuilder::build)).await;

    let answer = get_as(&db, &link.identity.workspace, "/api/stats/launch").await;

    let expected = json!({
        "short_code": "launch", "total_clicks": 5, "human_clicks": 3, "unique_visitors": 2,
        "clicks_last_24h": 1, "clicks_last_7d": 4,
        "top_referers": [
            {"referer": "https://news.example/", "count": 2},
            {"referer": "https://blog.example/", "count": 1},
        ],
        "countries": [{"country": null, "count": 3}, {"country": "DE", "count": 2}],
        "devices": [
            {"device": "desktop", "count": 3}, {"device": "bot", "count": 1}, {"device": "mobile", "count": 1},
        ],
        "browsers": [
            {"browser": "Chrome", "count": 3}, {"browser": "Mobile Safari", "count": 1},
            {"browser": "Slackbot-LinkExpanding", "count": 1},
        ],
        "operating_systems": [
            {"os": "Windows", "count": 3}, {"os": "iOS", "count": 1}, {"os": "unknown", "count": 1},
        ],
        "sources": [{"source": "link", "count": 3}, {"source": "direct", "count": 2}],
        "campaigns": [],
        "last_click_at": now,
    });
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn as_many_referrers_are_shown_as_somebody_wants_and_five_by_default() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let clicks: Vec<_> = (10..50)
        .map(|number| ClickBuilder::new("launch").from(&format!("https://{number}.example/")).build())
        .collect();
    count(&db, &clicks).await;
    let shown = async |path: &str| {
        let body = get_as(&db, &link.identity.workspace, path).await.json();
        body["top_referers"].as_array().unwrap().len()
    };

    assert_eq!(shown("/api/stats/launch").await, 5);
    assert_eq!(shown("/api/stats/launch?top=").await, 5);
    assert_eq!(shown("/api/stats/launch?top=12").await, 12);
    assert_eq!(shown("/api/stats/launch?top=30").await, 30);
    for refused in ["0", "31", "-1", "all"] {
        let answer = get(&db, &format!("/api/stats/launch?top={refused}")).await;
        assert_eq!(answer.problem(), (400, "top must be a whole number from 1 to 30".into()), "{refused}");
        assert_eq!(answer.json()["field"], "top");
    }
    assert_eq!(get(&db, "/api/stats/nolink?top=0").await.status, 404);
}

#[tokio::test]
async fn who_may_not_see_single_clicks_sees_the_hosts_of_referrers_only() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let pages =
        ["https://news.example/a", "https://news.example/b", "https://user:secret@wiki.example/page", "javascript:x"];
    let clicks = pages.map(|page| ClickBuilder::new("launch").from(page).build());
    count(&db, &clicks).await;
    let top = |answer: Answer| answer.json()["top_referers"].clone();

    let (public, member) =
        (get(&db, "/api/stats/launch").await, get_as(&db, &link.identity.workspace, "/api/stats/launch").await);
    let foreign = get_as(&db, &WorkspaceId::generate(), "/api/stats/launch").await;
    let forged = stats(&db).get("/api/stats/launch", "forged").await;

    let hosts = json!([{"referer": "news.example", "count": 2}, {"referer": "wiki.example", "count": 1}]);
    assert_eq!((top(public), top(foreign), top(forged)), (hosts.clone(), hosts.clone(), hosts));
    let expected = json!([
        {"referer": "https://news.example/a", "count": 1}, {"referer": "https://news.example/b", "count": 1},
        {"referer": "https://wiki.example/page", "count": 1},
    ]);
    assert_eq!(top(member), expected);
}

#[tokio::test]
async fn a_timeline_has_the_clicks_and_people_of_each_day() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let at = |text| Timestamp::parse(text).unwrap();
    let clicks = ["2026-03-02T14:30:00Z", "2026-03-01T09:00:00Z", "2026-03-02T14:59:59Z"];
    let bot = ClickBuilder::new("launch").at(at("2026-03-02T14:10:00Z")).with("curl/8.5.0").build();
    count(&db, &clicks.map(|time| click_event("launch", at(time)))).await;
    count(&db, &[bot]).await;

    let days = get_as(&db, &link.identity.workspace, "/api/stats/launch/timeline").await.json();

    let expected = json!([
        {"period": "2026-03-01", "clicks": 1, "human_clicks": 1}, {"period": "2026-03-02", "clicks": 3, "human_clicks": 2},
    ]);
    assert_eq!(days["points"], expected);
}

#[tokio::test]
async fn days_show_who_came_and_can_be_narrowed() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let at = |text| Timestamp::parse(text).unwrap();
    let click = |time| ClickBuilder::new("launch").at(at(time));
    let clicks = [
        click("2026-03-01T09:00:00Z").by("203.0.113.1").in_country("DE"),
        click("2026-03-01T10:00:00Z").by("203.0.113.1").with(IPHONE).in_country("DE"),
        click("2026-03-01T11:00:00Z").by("203.0.113.2").with(SLACK),
        click("2026-03-02T09:00:00Z").by("203.0.113.1"),
    ];
    count(&db, &clicks.map(ClickBuilder::build)).await;
    let days = async |range: &str| {
        get_as(&db, &link.identity.workspace, &format!("/api/stats/launch/daily?{range}")).await.json()
    };

    let all = days("from=2026-03-01&to=2026-03-31").await;
    let one = days("from=2026-03-02&to=2026-03-02T08:00:00Z").await;

    assert_eq!(
        all,
        json!({"short_code": "launch", "days": [
            {
                "date": "2026-03-01", "total_clicks": 3, "human_clicks": 2, "unique_visitors": 1, "desktop": 1,
                "mobile": 1, "tablet": 0, "bot": 1, "unknown": 0,
                "countries": [{"country": "DE", "count": 2}, {"country": null, "count": 1}],
                "sources": [{"source": "direct", "count": 3}], "campaigns": [],
            },
            {
                "date": "2026-03-02", "total_clicks": 1, "human_clicks": 1, "unique_visitors": 1, "desktop": 1,
                "mobile": 0, "tablet": 0, "bot": 0, "unknown": 0, "countries": [{"country": null, "count": 1}],
                "sources": [{"source": "direct", "count": 1}], "campaigns": [],
            },
        ]})
    );
    assert_eq!(one["days"].as_array().unwrap().len(), 1);
    assert_eq!(one["days"][0]["date"], "2026-03-02");
    let timeline = get(&db, "/api/stats/launch/timeline?from=2026-03-02&to=2026-03-31").await.json();
    assert_eq!(timeline["points"], json!([{"period": "2026-03-02", "clicks": 1, "human_clicks": 1}]));
}

#[tokio::test]
async fn the_first_and_last_possible_days_can_be_asked_for() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;

    for query in ["from=9999-12-31&to=9999-12-31", "to=0001-01-01", "to=9999-12-31T23:59:59Z"] {
        for route in ["/daily?", "/timeline?tz=Etc/GMT%2B12&", "?tz=Etc/GMT%2B12&"] {
            let path = format!("/api/stats/launch{route}{query}");
            assert_eq!(get_as(&db, &link.identity.workspace, &path).await.status, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn a_range_of_days_that_makes_no_sense_is_refused() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;

    let longest = lifetimes::in_days(lifetimes::RAW_CLICKS);
    let too_long = format!("from and to must include at most {longest} days");
    let of_days = |days: u64| {
        let last = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        format!("from={}&to={}", last.minus(Duration::from_secs((days - 1) * 86_400)).day(), last.day())
    };
    let too_many = of_days(longest + 1);
    for (query, sentence) in [
        ("from=tomorrow", "from must be a date or RFC3339 format"),
        ("to=2026-02-30", "to must be a date or RFC3339 format"),
        ("from=2026-03-02&to=2026-03-01", "from must not be later than to"),
        (too_many.as_str(), too_long.as_str()),
    ] {
        for route in ["daily", "timeline"] {
            let answer = get_as(&db, &link.identity.workspace, &format!("/api/stats/launch/{route}?{query}")).await;
            assert_eq!(answer.problem(), (400, sentence.into()), "{route}?{query}");
        }
    }
    let path = format!("/api/stats/launch/timeline?{}", of_days(longest));
    assert_eq!(get_as(&db, &link.identity.workspace, &path).await.status, 200, "the longest one");
    let answer = get(&db, "/api/stats/launch/timeline?interval=week").await;
    assert_eq!(answer.problem(), (400, "interval must be 'day' or 'hour'".into()));
    assert_eq!(answer.json().get("points"), None::<&Value>);
}

#[tokio::test]
async fn strangers_get_31_days_of_the_timeline_and_the_workspace_all() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let days_ago = |days: u64| Timestamp::now().minus(Duration::from_secs(days * 86_400));
    count(&db, &[0, 30, 31].map(|days| click_event("launch", days_ago(days)))).await;
    let range =
        |days: u64| format!("/api/stats/launch/timeline?from={}&to={}", days_ago(days - 1).day(), days_ago(0).day());
    let points = |answer: Answer| answer.json()["points"].as_array().map(Vec::len);

    let whole = get_as(&db, &link.identity.workspace, "/api/stats/launch/timeline").await;
    let longer = get_as(&db, &link.identity.workspace, &range(32)).await;
    let strangers = [
        get(&db, "/api/stats/launch/timeline").await,
        get(&db, &range(31)).await,
        get_as(&db, &WorkspaceId::generate(), "/api/stats/launch/timeline").await,
        stats(&db).get("/api/stats/launch/timeline", "forged").await,
    ];

    assert_eq!((points(whole), points(longer)), (Some(3), Some(3)));
    assert_eq!(strangers.map(points), [Some(2); 4]);
    for refused in [get(&db, &range(32)).await, get_as(&db, &WorkspaceId::generate(), &range(32)).await] {
        let sentence =
            "from and to must include at most 31 days; a token or API key of the link's workspace allows more";
        assert_eq!(refused.problem(), (400, sentence.into()));
        assert_eq!(json!([refused.json()["code"], refused.json()["field"]]), json!(["range_too_long", "from"]));
    }
}

#[tokio::test]
async fn thirty_one_days_are_answered_even_while_keys_cannot_be_read() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let stats = Stats { authenticator: authenticator(), ..stats(&db) };
    let key = format!("lk_live_{}", "0".repeat(32));
    let status = async |query: &str| {
        let path = format!("/api/stats/launch/timeline{query}");
        RequestBuilder::new("GET", &path).api_key(&key).send_to(&stats).await.status
    };

    assert_eq!(status("?from=2026-03-01&to=2026-03-31").await, 200);
    // Nobody is told that a key would help who has sent one.
    assert_eq!((status("?from=2026-03-01&to=2026-04-01").await, status("").await), (503, 503));
}

#[tokio::test]
async fn a_timeline_has_the_days_of_a_time_zone() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let clicks = ["2026-03-01T22:59:59Z", "2026-03-01T23:00:00Z", "2026-03-02T22:59:59Z", "2026-03-02T23:00:00Z"]
        .map(|at| ClickBuilder::new("launch").at(Timestamp::parse(at).unwrap()).build());
    count(&db, &clicks).await;
    let timeline = async |query: &str| get(&db, &format!("/api/stats/launch/timeline?{query}")).await;

    let berlin = timeline("tz=Europe/Berlin&from=2026-03-02&to=2026-03-02").await.json();
    let hours = timeline("tz=Europe/Berlin&from=2026-03-02&to=2026-03-02&interval=hour").await.json();
    let utc = timeline("tz=&from=2026-03-02&to=2026-03-02").await.json();

    assert_eq!(berlin["points"], json!([{"period": "2026-03-02", "clicks": 2, "human_clicks": 2}]));
    let expected = json!([
        {"period": "2026-03-01T23:00:00Z", "clicks": 1, "human_clicks": 1},
        {"period": "2026-03-02T22:00:00Z", "clicks": 1, "human_clicks": 1},
    ]);
    assert_eq!(hours["points"], expected);
    assert_eq!(utc["points"], json!([{"period": "2026-03-02", "clicks": 2, "human_clicks": 2}]));
    assert_eq!(json!([berlin["tz"], utc["tz"]]), json!(["Europe/Berlin", "UTC"]));
    // Clicks are counted by hours, in which these days begin.
    let kolkata = timeline("tz=Asia/Kolkata&from=2026-03-02&to=2026-03-02").await.json();
    assert_eq!(json!([kolkata["tz"], kolkata["points"]]), json!(["UTC", utc["points"]]));
    let refused = timeline("tz=Mars/Olympus").await;
    let sentence = "tz must be an IANA time zone such as Europe/Berlin";
    assert_eq!((refused.problem(), &refused.json()["field"]), ((400, sentence.into()), &json!("tz")));
}

/// Stores clicks, as many as there are times, the oldest first.
async fn store_clicks(db: &TestDynamoDb, code: &str, count: usize) -> Vec<Click> {
    let record = db.links().redirect_target(&code.parse().unwrap()).await.unwrap();
    let Some(Record::Link(target)) = record else { panic!("{record:?}") };
    let mut clicks = Vec::new();
    for number in 0..count {
        let visitor = visitor().with_headers(Some(IPHONE), Some(&format!("https://news.example/{number}")));
        let click =
            Click::on(&target, Timestamp::now(), visitor.at_place("DE".parse().ok(), Some("Köln")), correlation());
        db.clicks().record(&click, Spread::Narrow).await.unwrap();
        clicks.push(click);
    }
    clicks
}

#[tokio::test]
async fn a_click_shows_what_is_known_about_it_but_no_hash() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let click = store_clicks(&db, "launch", 1).await.remove(0);

    let answer = get_as(&db, &link.identity.workspace, "/api/stats/launch/clicks").await;

    let expected = json!({"clicks": [{
        "id": click.id, "clicked_at": click.clicked_at(), "audience": "human", "device": "mobile",
        "browser": "Mobile Safari", "browser_version": "17.4", "os": "iOS", "country": "DE", "city": "Köln",
        "referer": "https://news.example/0", "source": "link", "campaign": null, "user_agent": IPHONE,
    }], "next_cursor": null, "has_more": false});
    assert_eq!(answer.json(), expected);
    assert!(!answer.body.contains(click.visitor.ip_hash.as_str()));
}

#[tokio::test]
async fn details_of_a_purged_link_are_gone() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    db.purge(&Record::Link(link.clone())).await;

    for route in ["daily", "clicks"] {
        assert_eq!(get_as(&db, &link.identity.workspace, &format!("/api/stats/launch/{route}")).await.status, 410);
        assert_eq!(get_as(&db, &WorkspaceId::generate(), &format!("/api/stats/launch/{route}")).await.status, 403);
    }
}

/// What somebody sends who wants the rows of days to grow: everything is new in each request.
fn hostile_click(at: Timestamp, number: u64) -> Event {
    let letter = |place: u64| char::from(b'A' + u8::try_from(place % 26).unwrap());
    let agent = match number % 2 {
        0 => format!("{number:0>60}bot/{number}"),
        _ => ClickBuilder::BROWSER.to_owned(),
    };
    let click = ClickBuilder::new("launch").at(at).by(&format!("visitor {number}")).with(&agent);
    let click = click.from(&format!("https://{number}.example/{}", "x".repeat(400)));
    click.in_country(&format!("{}{}", letter(number / 26), letter(number))).build()
}

/// Has the link a past and, for more than a year, days that are as large as one batch of hostile clicks makes them.
async fn grow_days(db: &TestDynamoDb, now: Timestamp) {
    let days_ago = |days: u64| now.minus(Duration::from_secs(days * 86_400));
    for at in [days_ago(40), now] {
        count(db, &(0..500).map(|number| hostile_click(at, number)).collect::<Vec<_>>()).await;
    }
    let today = json!({"S": format!("DAY#{}", now.day())});
    let rows = db.scan("StatsTable");
    assert!(rows.iter().any(|row| row["sk"] == json!({"S": "PAST"})));
    let mut row = rows.into_iter().find(|row| row["sk"] == today).unwrap();
    for days in 1..400 {
        row["sk"] = json!({"S": format!("DAY#{}", days_ago(days).day())});
        db.put("StatsTable", &row);
    }
}

#[tokio::test]
async fn what_anybody_may_read_costs_little_however_large_the_days_are() {
    let (db, now, meter) = (TestDynamoDb::without_streams(), Timestamp::now(), CapacityMeter::default());
    let link = LinkBuilder::new("launch").build();
    db.store(&link).await;
    grow_days(&db, now).await;
    let stats = metered(&db, &meter);
    let token = token_for(&link.identity.workspace, Role::Viewer);
    let cost = async |request: RequestBuilder| {
        meter.reset();
        assert_eq!(request.send_to(&stats).await.status, 200);
        meter.read_units()
    };

    let summary = cost(RequestBuilder::new("GET", "/api/stats/launch")).await;
    // One UTC day more, of which this zone's days have hours.
    let timeline = cost(RequestBuilder::new("GET", "/api/stats/launch/timeline?tz=Etc/GMT-12")).await;
    let member = cost(RequestBuilder::new("GET", "/api/stats/launch/timeline").token(&token)).await;

    println!("read units at worst: summary {summary}, timeline of a stranger {timeline}, of a member {member}");
    assert!(summary <= 25.0, "{summary}");
    assert!(timeline <= 80.0, "{timeline}");
    assert!(member > 10.0 * timeline, "{member}");
}

/// The function with a meter of what it reads, and verifiers of tokens that read nothing.
pub fn metered(db: &TestDynamoDb, meter: &CapacityMeter) -> Stats {
    let table = |name: &str| db.table_with(meter.clone(), name);
    Stats {
        authenticator: authenticator(),
        stats: StatsTable::new(table("StatsTable")),
        clicks: ClicksTable::new(table("ClicksTable")),
        links: LinksTable(table("LinksTable")),
        ..stats(db)
    }
}
