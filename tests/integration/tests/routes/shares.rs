//! Statistics that are shared with people who have no account.

use linklet_domain::{AuditAction, AuditFilter, AuditLog, LinkId, ShareId, ShareToken};
use linklet_overview::Overviews;

use crate::fixture::{overviews, stats};
use crate::prelude::*;

const DAYS: &str = "from=2026-03-01&to=2026-03-31";
const MINUTE: Duration = Duration::from_secs(60);

/// Ada's workspace with the link `launch`, which has the tag `spring`, and its functions as they are in one execution environment.
struct Shop {
    db: TestDynamoDb,
    ada: Person,
    link: Link,
    account: Account,
    stats: Stats,
    overviews: Overviews,
}

impl Shop {
    async fn open() -> Self {
        let (db, ada) = with_person("ada").await;
        let link =
            LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&ada.id).tagged(&["spring"]).build();
        db.store(&link).await;
        let (account, stats, overviews) = (account(&db), stats(&db), overviews(&db));
        Self { db, ada, link, account, stats, overviews }
    }

    async fn share(&self, path: &str, body: &Value) -> Answer {
        self.account.post(path, &self.ada.token(Role::Admin), body).await
    }

    /// The id and the token of a new share of the link.
    async fn shared_link(&self, body: &Value) -> (String, String) {
        of(&self.share("/api/links/launch/share", body).await.expecting(201))
    }

    /// The id and the token of a new share of the tag.
    async fn shared_tag(&self) -> (String, String) {
        of(&self.share("/api/tags/spring/share", &json!({})).await.expecting(201))
    }

    async fn click(&self, referer: &str) {
        let click = ClickBuilder::new("launch").in_workspace(&self.ada.workspace).at(at("2026-03-15T12:00:00Z"));
        let click = click.from(referer).coming_with("utm_campaign=secret").build();
        let analytics = analytics(&self.db, &FakeQueues::start());
        assert!(analytics.consume(event_batch(&[click])).await.batch_item_failures.is_empty());
    }

    async fn end(&self, id: &str) {
        let path = format!("/api/links/launch/share/{id}");
        self.account.delete(&path, &self.ada.token(Role::Admin)).await.expecting(204);
    }
}

/// The id of a new share, and the token behind the `#` of its address.
fn of(created: &Answer) -> (String, String) {
    let url = created.text("url");
    (created.text("id"), url.split_once("?token=").unwrap().1.to_owned())
}

fn with_share(path: &str, token: &str) -> RequestBuilder {
    RequestBuilder::new("GET", path).header("x-share-token", token)
}

/// The link's numbers of March.
fn march(token: &str) -> RequestBuilder {
    with_share(&format!("/api/stats/launch?{DAYS}"), token)
}

#[tokio::test]
async fn whoever_has_a_share_sees_a_links_numbers_without_an_account() {
    let shop = Shop::open().await;
    shop.click("https://wiki.example/secret-page").await;

    let created = shop.share("/api/links/launch/share", &json!({})).await.expecting(201);

    let (id, token) = of(&created);
    let begins =
        format!("/app#/shared/links/launch?token=lk_share_{}", shop.ada.workspace.to_string().replace('-', ""));
    assert!(created.text("url").contains(&begins), "{}", created.body);
    assert!(id.parse::<ShareId>().is_ok() && created.header("cache-control") == "no-store");
    let numbers = march(&token).send_to(&shop.stats).await.expecting(200).json();
    assert_eq!((&numbers["total_clicks"], &numbers["points"][0]["clicks"]), (&json!(1), &json!(1)));
    assert_eq!(numbers["referers"], json!([{"referer": "wiki.example", "count": 1}]), "hosts only");
    assert!(numbers.get("campaigns").is_none() && numbers.get("destinations").is_none(), "{numbers}");
}

#[tokio::test]
async fn a_share_is_stored_without_its_token() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({"password": "open sesame"})).await;

    let rows = shop.db.scan("StatsTable");

    let text = serde_json::to_string(&rows).unwrap();
    assert!(text.contains(ShareToken::parse(&token).unwrap().hash().as_str()));
    assert!(!text.contains(&token[57..]) && !text.contains("open sesame"), "{text}");
}

#[tokio::test]
async fn a_share_opens_nothing_but_its_own_statistics() {
    let shop = Shop::open().await;
    let other = LinkBuilder::new("other").in_workspace(&shop.ada.workspace).build();
    shop.db.store(&other).await;
    let ((_, link), (_, tag)) = (shop.shared_link(&json!({})).await, shop.shared_tag().await);

    for (token, path) in [
        (&link, format!("/api/stats/other?{DAYS}")),
        (&tag, format!("/api/stats/launch?{DAYS}")),
        (&link, "/api/overview?tag=spring".to_owned()),
        (&tag, "/api/overview".to_owned()),
        (&tag, "/api/overview?tag=winter".to_owned()),
        (&tag, format!("/api/overview/breakdowns?{DAYS}")),
    ] {
        let request = with_share(&path, token);
        let answer = if path.starts_with("/api/stats") {
            request.send_to(&shop.stats).await
        } else {
            request.send_to(&shop.overviews).await
        };
        assert_eq!(answer.problem_code(), (404, "share_not_found".to_owned()), "{path}");
    }
    for path in [
        "/api/stats/launch/clicks",
        "/api/stats/launch/daily",
        "/api/tags",
        "/api/links",
        "/api/links/launch",
        "/api/shares",
        "/api/links/launch/share",
        "/api/workspace",
    ] {
        let function = Template::load().function_for("GET", path);
        let answer = send(&shop.db, &function, with_share(path, &link)).await;
        assert_eq!(answer.status, 401, "{path}");
    }
}

#[tokio::test]
async fn a_share_takes_whole_days_and_no_filters() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({})).await;

    for (query, field) in [
        ("from=2026-03-01T00:00:00Z&to=2026-03-31", "from"),
        ("to=2026-03-31", "from"),
        ("from=2026-03-01&to=2026-03-31&country=DE", "country"),
        ("from=2026-03-01&to=2026-03-31&audience=human", "audience"),
        ("from=2026-03-01&to=2026-03-31&format=csv", "format"),
        ("from=2026-03-01&to=2026-04-01&interval=hour", "interval"),
    ] {
        let answer = with_share(&format!("/api/stats/launch?{query}"), &token).send_to(&shop.stats).await;
        assert_eq!(answer.problem_field(), (400, field.to_owned()), "{query}");
    }
    let hourly = format!("/api/stats/launch?{DAYS}&interval=hour&tz=Europe/Berlin");
    with_share(&hourly, &token).send_to(&shop.stats).await.expecting(200);
}

#[tokio::test]
async fn an_unknown_token_costs_no_answer_and_is_counted_as_a_strangers_call() {
    let shop = Shop::open().await;
    let unknown = ShareToken::generate(shop.ada.workspace).unwrap().reveal();
    let (_, token) = shop.shared_link(&json!({})).await;
    let forged = format!("{}{}", &token[..57], "0".repeat(22));

    for token in ["", "lk_share_", &unknown, &forged] {
        assert_eq!(march(token).send_to(&shop.stats).await.problem_code().1, "share_not_found", "{token}");
    }
    for _ in 4..300 {
        march("lk_share_").send_to(&shop.stats).await;
    }
    assert_eq!(march(&token).send_to(&shop.stats).await.status, 429);
}

#[tokio::test]
async fn an_ended_share_shows_nothing_within_a_minute() {
    let shop = Shop::open().await;
    let (id, token) = shop.shared_link(&json!({})).await;
    let now = Timestamp::now();
    march(&token).at(now).send_to(&shop.stats).await.expecting(200);

    shop.end(&id).await;

    let later = now.plus(MINUTE);
    assert_eq!(march(&token).at(later).send_to(&shop.stats).await.problem_code().1, "share_not_found");
    assert_eq!(march(&token).at(now).send_to(&stats(&shop.db)).await.status, 404, "where nobody has asked before");
    shop.end(&id).await;
}

#[tokio::test]
async fn an_expired_share_shows_nothing_though_its_answer_is_kept() {
    let shop = Shop::open().await;
    let now = Timestamp::now();
    let (_, token) = shop.shared_link(&json!({"expires_at": now.plus(MINUTE / 2)})).await;
    march(&token).at(now).send_to(&shop.stats).await.expecting(200);

    let answer = march(&token).at(now.plus(MINUTE / 2)).send_to(&shop.stats).await;

    assert_eq!(answer.problem_code().1, "share_not_found");
    let past = shop.share("/api/links/launch/share", &json!({"expires_at": "2020-01-01T00:00:00Z"})).await;
    assert_eq!(past.problem_field(), (400, "expires_at".to_owned()));
}

#[tokio::test]
async fn a_share_is_of_a_link_and_not_of_a_later_one_with_its_code() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({})).await;
    march(&token).send_to(&shop.stats).await.expecting(200);
    shop.db.purge(&Record::Link(shop.link.clone())).await;

    assert_eq!(march(&token).send_to(&shop.stats).await.problem_code(), (410, "link_purged".to_owned()));

    shop.db.remove("LinksTable", &json!({"pk": {"S": "LINK#launch"}, "sk": {"S": "LINK"}}));
    shop.db.store(&LinkBuilder::new("launch").in_workspace(&shop.ada.workspace).of_another_generation().build()).await;
    assert_eq!(march(&token).send_to(&shop.stats).await.problem_code(), (404, "share_not_found".to_owned()));
}

#[tokio::test]
async fn a_password_is_asked_for_and_guesses_are_limited() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({"password": "ünïx 100%"})).await;
    let now = Timestamp::now();
    let with_password = |password: &str| march(&token).at(now).header("x-share-password", password);

    assert_eq!(march(&token).send_to(&shop.stats).await.problem_code(), (403, "share_password_required".to_owned()));
    for _ in 0..2 {
        with_password("%C3%BCn%C3%AFx%20100%25").send_to(&shop.stats).await.expecting(200);
    }
    let mut wrong = 0;
    while with_password("wrong").send_to(&shop.stats).await.problem_code().1 == "share_password_wrong" {
        wrong += 1;
        assert!(wrong < 20, "guesses aren't limited");
    }
    assert_eq!(with_password("wrong").send_to(&shop.stats).await.problem_code(), (429, "too_many_attempts".to_owned()));
    let known = with_password("%C3%BCn%C3%AFx%20100%25").send_to(&shop.stats).await;
    known.expecting(200);
}

#[tokio::test]
async fn a_thousand_visitors_cost_what_one_does() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({})).await;
    let meter = CapacityMeter::default();
    let (metered, now) = (crate::stats::metered(&shop.db, &meter), Timestamp::now());
    let first = march(&token).at(now).send_to(&metered).await.expecting(200);
    let calls = meter.calls();

    for visitor in 0..1_000 {
        let address = format!("198.51.{}.{}", visitor / 250, visitor % 250);
        let answer = march(&token).at(now).source_ip(&address).send_to(&metered).await.expecting(200);
        assert_eq!(answer.body, first.body);
    }

    // Whether the link is still there is looked up for each, and nothing else.
    assert_eq!(meter.calls() - calls, 1_000);
}

#[tokio::test]
async fn ten_answers_a_minute_are_computed_and_kept_ones_still_answer() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({})).await;
    let (now, owner) = (Timestamp::now(), shop.ada.token(Role::Admin));
    let ask = async |stats: &Stats, day: u32| {
        let path = format!("/api/stats/launch?from=2026-03-{day:02}&to=2026-03-31");
        with_share(&path, &token).at(now).send_to(stats).await
    };

    for day in 1..=10 {
        ask(&shop.stats, day).await.expecting(200);
    }

    let refused = ask(&shop.stats, 11).await;
    assert_eq!(refused.problem_code(), (429, "rate_limited".to_owned()));
    assert!(refused.header("retry-after").parse::<u32>().unwrap() <= 60);
    let elsewhere = stats(&shop.db);
    assert_eq!(ask(&elsewhere, 12).await.status, 429, "another environment counts in the same table");
    ask(&elsewhere, 1).await.expecting(200);
    let owners = RequestBuilder::new("GET", &format!("/api/stats/launch?{DAYS}")).token(&owner).at(now);
    owners.send_to(&elsewhere).await.expecting(200);
    assert_eq!(
        fixture::has_read(&shop.db, &shop.ada.workspace, 0, now).await,
        0,
        "it is nothing that members have read"
    );
}

#[tokio::test]
async fn an_answer_is_five_minutes_old_at_most() {
    let shop = Shop::open().await;
    let (_, token) = shop.shared_link(&json!({})).await;
    let now = Timestamp::now();
    let clicks = async |after: Duration| {
        let answer = march(&token).at(now.plus(after)).send_to(&shop.stats).await.expecting(200);
        answer.json()["total_clicks"].clone()
    };
    assert_eq!(clicks(Duration::ZERO).await, 0);

    shop.click("https://news.example/").await;

    assert_eq!(clicks(Duration::from_secs(299)).await, 0);
    assert_eq!(clicks(Duration::from_secs(300)).await, 1);
}

#[tokio::test]
async fn a_share_of_a_tag_shows_no_destination_and_nothing_that_is_monitored() {
    let shop = Shop::open().await;
    let now = Timestamp::now();
    let click = ClickBuilder::new("launch").in_workspace(&shop.ada.workspace).at(now).from("https://wiki.example/page");
    let analytics = analytics(&shop.db, &FakeQueues::start());
    analytics.consume(event_batch(&[click.coming_with("utm_campaign=secret").build()])).await;
    let (_, token) = shop.shared_tag().await;

    let overview = with_share("/api/overview?tag=SPRING", &token).at(now).send_to(&shop.overviews).await.expecting(200);
    let breakdowns = with_share("/api/overview/breakdowns?tag=spring", &token).at(now);
    let breakdowns = breakdowns.send_to(&shop.overviews).await.expecting(200);

    let (overview, breakdowns) = (overview.json(), breakdowns.json());
    assert_eq!((&overview["tag"], &overview["down"]), (&json!("spring"), &json!([])));
    assert_eq!(overview["top_links"][0]["short_code"], "launch");
    assert!(overview["top_links"][0].get("original_url").is_none(), "{overview}");
    assert_eq!(breakdowns["referers"], json!([{"referer": "wiki.example", "count": 1}]));
    assert_eq!(breakdowns["campaigns"], json!([]));
    shop.db.suspend(&shop.db.link("launch").await).await;
    let later = with_share("/api/overview?tag=spring", &token).at(now.plus(Duration::from_secs(301)));
    assert_eq!(later.send_to(&shop.overviews).await.expecting(200).json()["top_links"], json!([]));
    let kept =
        shop.db.scan("StatsTable").into_iter().filter(|row| row["pk"]["S"].as_str().unwrap().starts_with("OVERVIEW#"));
    assert_eq!(kept.count(), 0, "places of the workspace's questions are for its members");
}

#[tokio::test]
async fn members_share_and_only_creators_and_admins_end_a_share() {
    let shop = Shop::open().await;
    let [bob, carol] = [("bob", Role::Member), ("carol", Role::Member)];
    let bob = colleague(&shop.db, &shop.ada, bob.0, bob.1).await;
    let carol = colleague(&shop.db, &shop.ada, carol.0, carol.1).await;
    let viewer = colleague(&shop.db, &shop.ada, "dan", Role::Viewer).await;
    let path = "/api/links/launch/share";

    let refused = shop.account.post(path, &viewer.token(Role::Viewer), &json!({})).await;
    let created = shop.account.post(path, &bob.token(Role::Member), &json!({})).await.expecting(201);

    assert_eq!(refused.problem_code(), (403, "role_too_low".to_owned()));
    let one = format!("{path}/{}", created.text("id"));
    assert_eq!(
        shop.account.delete(&one, &carol.token(Role::Member)).await.problem_code(),
        (403, "forbidden".to_owned())
    );
    let list = shop.account.get(path, &carol.token(Role::Member)).await.expecting(200).json();
    assert_eq!(list["shares"][0]["created_by"], bob.id.to_string());
    assert!(list["shares"][0].get("url").is_none());
    let all = shop.account.get("/api/shares", &shop.ada.token(Role::Admin)).await.expecting(200).json();
    assert_eq!(all["shares"], list["shares"]);
    assert_eq!(shop.account.get("/api/shares", &bob.token(Role::Member)).await.status, 403);
    shop.account.delete(&one, &bob.token(Role::Member)).await.expecting(204);
    assert_eq!(shop.account.get(path, &bob.token(Role::Member)).await.json()["shares"], json!([]));
}

#[tokio::test]
async fn sharing_and_ending_are_in_the_audit_log() {
    let shop = Shop::open().await;
    let (id, _) = shop.shared_link(&json!({})).await;
    shop.end(&id).await;
    shop.end(&id).await;

    let log = AuditLog::Workspace(shop.ada.workspace);
    let entries = shop.db.audit_log().list(&log, &AuditFilter::default(), 10, None).await.unwrap().items;

    let found: Vec<_> = entries.iter().filter(|entry| entry.action.group() == "share").collect();
    assert_eq!(
        found.iter().map(|entry| entry.action).collect::<Vec<_>>(),
        [AuditAction::ShareEnded, AuditAction::ShareCreated]
    );
    assert_eq!(found[1].subject.as_ref().unwrap().id(), id);
    assert_eq!((found[1].to.as_deref(), found[0].from.as_deref()), (Some("link: launch"), Some("link: launch")));
}

#[tokio::test]
async fn a_repeated_request_makes_one_share_and_shows_its_token_once() {
    let shop = Shop::open().await;
    let request = |body: Value| {
        let request = RequestBuilder::new("POST", "/api/links/launch/share").token(&shop.ada.token(Role::Admin));
        request.header("idempotency-key", "share-1").json(&body)
    };

    let first = request(json!({})).send_to(&shop.account).await.expecting(201);
    let again = request(json!({})).send_to(&shop.account).await.expecting(201);
    let other = request(json!({"password": "sesame"})).send_to(&shop.account).await;

    assert_eq!(again.text("id"), first.text("id"));
    assert!(again.json().get("url").is_none() && again.header("idempotent-replayed") == "true");
    assert_eq!(other.problem_code(), (422, "idempotency_key_reused".to_owned()));
    assert_eq!(shop.db.stats().shares(&shop.ada.workspace, Timestamp::now()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_workspace_has_a_hundred_shares_at_most() {
    let shop = Shop::open().await;
    let ids = join_all((0..10).map(async |_| {
        let mut ids = Vec::new();
        for _ in 0..10 {
            ids.push(shop.shared_link(&json!({})).await.0);
        }
        ids
    }));
    let ids: Vec<_> = ids.await.into_iter().flatten().collect();

    let refused = shop.share("/api/tags/spring/share", &json!({})).await;

    assert_eq!((ids.len(), refused.problem_code()), (100, (409, "too_many_shares".to_owned())));
    shop.end(&ids[0]).await;
    shop.shared_tag().await;
}

#[tokio::test]
async fn a_purge_ends_the_shares_of_a_link_and_forgets_their_answers() {
    let shop = Shop::open().await;
    let ((_, token), (_, tag)) = (shop.shared_link(&json!({})).await, shop.shared_tag().await);
    march(&token).send_to(&shop.stats).await.expecting(200);
    let purge = async |link: &LinkId| shop.db.stats().end_shares_of(&shop.ada.workspace, link).await.unwrap();
    let rows = |beginning: &str| {
        let begins = |row: &Value| row["pk"]["S"].as_str().unwrap().starts_with(beginning);
        shop.db.scan("StatsTable").iter().filter(|row| begins(row)).count()
    };
    purge(&link_id("launch8")).await;
    assert_eq!((rows("SHARES#"), rows("SHARED#")), (2, 1), "those of another link");

    purge(shop.link.id()).await;

    assert_eq!((rows("SHARES#"), rows("SHARED#")), (1, 0));
    with_share("/api/overview?tag=spring", &tag).send_to(&shop.overviews).await.expecting(200);
    shop.db.stats().forget_shares(&shop.ada.workspace).await.unwrap();
    assert_eq!((rows("SHARES#"), rows("SHARED#")), (0, 0));
}
