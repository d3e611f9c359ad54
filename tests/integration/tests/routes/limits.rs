//! Links that begin later, that may be followed so many times only, and that lead elsewhere otherwise.

use linklet_lambda::batch::Consumer as _;

use crate::fixture::{relay, update};
use crate::prelude::*;
use crate::streams::is_let_through;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

/// What programs send that fetch links to show what is behind them.
const PREVIEWS: [&str; 3] = [
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Twitterbot/1.0",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
];

fn limited(max: u32) -> LinkBuilder {
    LinkBuilder::new("launch").with_options(&json!({"max_clicks": max}))
}

async fn follow_as(redirect: &Redirect, user_agent: &str) -> Answer {
    RequestBuilder::new("GET", "/launch").header("user-agent", user_agent).send_to(redirect).await
}

async fn follow(redirect: &Redirect) -> Answer {
    follow_as(redirect, BROWSER).await
}

async fn used(db: &TestDynamoDb, link: &Link) -> u32 {
    db.links().uses(&[link.id()]).await.unwrap()[link.id()].used
}

async fn clicks(db: &TestDynamoDb, link: &Link) -> usize {
    db.clicks().latest(link.id(), 100).await.unwrap().len()
}

async fn patch(db: &TestDynamoDb, link: &Link, body: &Value) -> Answer {
    let token = token_of(&link.identity.owner, &link.identity.workspace, Role::Member);
    let update = linklet_update::Update { authenticator: authenticator(), ..update(db) };
    update.patch("/api/links/launch", &token, body).await
}

#[tokio::test]
async fn a_limited_link_leads_as_often_as_allowed_and_then_answers_410() {
    let (db, link) = with_link(limited(2)).await;
    let redirect = redirect(&db);

    for _ in 0..2 {
        let answer = follow(&redirect).await;
        assert_eq!((answer.status, answer.header("cache-control")), (302, "no-store"));
    }
    for _ in 0..3 {
        assert_eq!(follow(&redirect).await.problem(), (410, "this link has reached its click limit".to_owned()));
    }
    assert_eq!((used(&db, &link).await, clicks(&db, &link).await), (2, 2));
}

/// What each of these many visitors gets, who come at once and five times each.
async fn group(db: &TestDynamoDb, visitors: usize) -> Vec<u16> {
    let environments: Vec<_> = (0..8).map(|_| redirect(db)).collect();
    let visits = (0..5 * visitors).map(async |visit| {
        let request = RequestBuilder::new("GET", "/launch").header("user-agent", BROWSER);
        let address = format!("203.0.113.{}", visit % visitors);
        request.source_ip(&address).send_to(&environments[visit % environments.len()]).await.status
    });
    join_all(visits).await
}

fn followed(answers: &[u16]) -> usize {
    answers.iter().filter(|status| **status == 302).count()
}

#[tokio::test]
async fn of_a_crowd_exactly_as_many_follow_a_link_as_may() {
    let (db, link) = with_link(limited(100)).await;

    let answers = group(&db, 200).await;

    assert_eq!((answers.len(), followed(&answers)), (1_000, 100));
    assert!(answers.iter().all(|status| matches!(status, 302 | 410)), "{answers:?}");
    assert_eq!(used(&db, &link).await, 100);
}

#[tokio::test]
async fn a_limit_that_is_lowered_and_raised_meanwhile_lets_nobody_more_through() {
    let (db, link) = with_link(limited(40)).await;
    let environments: Vec<_> = (0..4).map(|_| redirect(&db)).collect();
    let visitors = (0..200).map(async |visitor| follow(&environments[visitor % environments.len()]).await.status);
    let changes = async {
        for max in [20, 60, 30, 50] {
            assert_eq!(patch(&db, &link, &json!({"max_clicks": max})).await.status, 200);
        }
    };

    let (answers, ()) = tokio::join!(join_all(visitors), changes);

    let followed = answers.iter().filter(|status| **status == 302).count();
    assert!(followed <= 60, "{followed}");
    assert_eq!(used(&db, &link).await as usize, followed);
}

#[tokio::test]
async fn previews_crawlers_prefetches_and_heads_use_nothing_up_and_learn_no_target() {
    let (db, link) = with_link(limited(1).to("https://example.com/secret")).await;
    let redirect = redirect(&db);
    let get = || RequestBuilder::new("GET", "/launch");

    let mut machines = Vec::new();
    for preview in PREVIEWS {
        machines.push(follow_as(&redirect, preview).await);
    }
    machines.push(get().header("user-agent", BROWSER).header("sec-purpose", "prefetch").send_to(&redirect).await);
    machines.push(RequestBuilder::new("HEAD", "/launch").header("user-agent", BROWSER).send_to(&redirect).await);

    for answer in machines {
        assert_eq!((answer.status, answer.header("location")), (200, ""), "{answer:?}");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(!answer.body.contains("secret"), "{}", answer.body);
    }
    assert_eq!((used(&db, &link).await, clicks(&db, &link).await), (0, 0));
    assert_eq!(follow(&redirect).await.header("location"), "https://example.com/secret");
}

#[tokio::test]
async fn a_tool_that_a_person_runs_counts_as_a_person() {
    let (db, link) = with_link(limited(1)).await;

    assert_eq!(follow_as(&redirect(&db), "curl/8.7.1").await.status, 302);
    assert_eq!(used(&db, &link).await, 1);
}

#[tokio::test]
async fn nobody_follows_a_link_whose_use_can_not_be_written() {
    let (db, link) = with_link(limited(5)).await;
    let reads = RequestBuilder::new("GET", "/launch").header("user-agent", BROWSER);
    let handler = redirect(&db);
    // Held in memory by so many requests.
    for _ in 0..8 {
        RequestBuilder::new("HEAD", "/launch").send_to(&handler).await;
    }
    let unreachable = LinksTable(TestDynamoDb::unreachable_table("LinksTable"));
    let handler = Redirect { links: unreachable, ..handler };

    assert_eq!(reads.send_to(&handler).await.status, 503);
    assert_eq!(used(&db, &link).await, 0);
}

#[tokio::test]
async fn only_uses_and_the_first_refusal_a_second_cost_write_units() {
    let (db, _link) = with_link(limited(1)).await;
    let meter = CapacityMeter::default();
    let handler = Redirect { links: LinksTable(db.table_with(meter.clone(), "LinksTable")), ..redirect(&db) };

    let mut units = Vec::new();
    for _ in 0..3 {
        meter.reset();
        follow(&handler).await;
        units.push((meter.read_units(), meter.write_units()));
    }

    // The link is read each time. The first writes its use and notes that it was the last one, the second is refused a write.
    assert_eq!(units, [(0.5, 2.0), (0.5, 1.0), (0.5, 0.0)]);
}

/// What the relay makes of all records that the template's filter lets through.
async fn carry(db: &TestDynamoDb, queues: &FakeQueues) -> usize {
    let mut batch = db.stream("LinksTable");
    batch.records.retain(|record| is_let_through("LinksStream", record));
    let carried = batch.records.len();
    let answer = relay(db, queues).consume(batch).await;
    assert!(answer.batch_item_failures.is_empty(), "{answer:?}");
    carried
}

#[tokio::test]
async fn the_last_use_makes_the_link_exhausted_which_is_told_once() {
    let (db, link) = with_link(limited(2)).await;
    let (handler, queues) = (redirect(&db), FakeQueues::start());
    follow(&handler).await;
    assert_eq!(carry(&db, &queues).await, 1, "a use that isn't the last is nobody's news");

    follow(&handler).await;
    // The record of the note, and then that of the link; all of it comes again.
    for _ in 0..3 {
        carry(&db, &queues).await;
    }

    let token = token_of(&link.identity.owner, &link.identity.workspace, Role::Viewer);
    let list = linklet_list::List { authenticator: authenticator(), ..list(&db) };
    let shown = list.get("/api/links/launch", &token).await.json();
    assert_eq!(json!([shown["status"], shown["used"], shown["max_clicks"]]), json!(["exhausted", 2, 2]));
    assert!(shown["exhausted_at"].is_string());
    let told: Vec<_> =
        queues.events("notify").into_iter().filter(|event| event["event_type"] == "url.exhausted").collect();
    let ids: std::collections::BTreeSet<_> = told.iter().map(|event| event["event_id"].to_string()).collect();
    assert_eq!((ids.len(), &told[0]["max_clicks"]), (1, &json!(2)));
}

#[tokio::test]
async fn a_refused_visitor_notes_the_end_that_nobody_has_noted() {
    let (db, link) = with_link(limited(3)).await;
    follow(&redirect(&db)).await;
    patch(&db, &link, &json!({"max_clicks": 1})).await;
    let queues = FakeQueues::start();

    assert_eq!(follow(&redirect(&db)).await.status, 410);
    carry(&db, &queues).await;

    assert!(db.link("launch").await.availability.exhausted_at.is_some());
}

#[tokio::test]
async fn raising_the_limit_reactivates_an_exhausted_link_despite_an_old_note() {
    let (db, link) = with_link(limited(1)).await;
    let queues = FakeQueues::start();
    follow(&redirect(&db)).await;
    let mut old = db.stream("LinksTable");
    old.records.retain(|record| is_let_through("LinksStream", record));
    carry(&db, &queues).await;
    assert_eq!(follow(&redirect(&db)).await.status, 410);

    let changed = patch(&db, &link, &json!({"max_clicks": 2})).await.json();
    relay(&db, &queues).consume(old).await;

    assert_eq!(json!([changed["status"], changed["used"], changed["exhausted_at"]]), json!(["active", 1, null]));
    assert_eq!(db.link("launch").await.availability.exhausted_at, None);
    let handler = redirect(&db);
    assert_eq!((follow(&handler).await.status, follow(&handler).await.status), (302, 410));
}

#[tokio::test]
async fn an_old_note_does_not_exhaust_a_limit_that_began_again() {
    let (db, link) = with_link(limited(1)).await;
    let queues = FakeQueues::start();
    follow(&redirect(&db)).await;
    let mut old = db.stream("LinksTable");
    old.records.retain(|record| is_let_through("LinksStream", record));

    patch(&db, &link, &json!({"max_clicks": null})).await;
    patch(&db, &link, &json!({"max_clicks": 1})).await;
    relay(&db, &queues).consume(old).await;

    assert_eq!(db.link("launch").await.availability.exhausted_at, None);
    assert_eq!(follow(&redirect(&db)).await.status, 302);
}

#[tokio::test]
async fn a_link_whose_limit_is_taken_away_leads_everybody_also_from_memory() {
    let (db, link) = with_link(limited(1)).await;
    let handler = redirect(&db);
    for _ in 0..8 {
        RequestBuilder::new("HEAD", "/launch").header("user-agent", BROWSER).send_to(&handler).await;
    }

    assert_eq!(patch(&db, &link, &json!({"max_clicks": null})).await.json()["max_clicks"], json!(null));

    for _ in 0..3 {
        assert_eq!(follow(&handler).await.status, REDIRECT);
    }
    assert!(db.links().uses(&[link.id()]).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_counts_uses_goes_with_the_link() {
    let (db, link) = with_link(limited(5)).await;
    let record = db.record("launch").await.unwrap();

    db.purge(&record).await;

    assert!(db.links().uses(&[link.id()]).await.unwrap().is_empty());
    assert!(matches!(db.record("launch").await, Some(Record::Tombstone(_))));
}

#[tokio::test]
async fn a_link_that_begins_later_is_scheduled_until_then() {
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    let (db, _) = with_link(LinkBuilder::new("launch").valid_from(later)).await;

    assert_eq!(follow(&redirect(&db)).await.problem(), (410, "this link is not active yet".to_owned()));
    let request = RequestBuilder::new("GET", "/launch").at(later);
    assert_eq!(request.send_to(&redirect(&db)).await.status, REDIRECT);
}

#[tokio::test]
async fn scheduled_expired_and_exhausted_links_lead_to_their_fallback() {
    let (earlier, later) =
        (Timestamp::now().minus(Duration::from_secs(60)), Timestamp::now().plus(Duration::from_secs(60)));
    let fallback = json!({"fallback_url": "https://example.com/over"});
    let link = || LinkBuilder::new("launch").with_options(&fallback);
    for link in [link().valid_from(later), link().expires_at(earlier)] {
        let (db, link) = with_link(link).await;

        let answer = follow(&redirect(&db)).await;

        assert_eq!((answer.status, answer.header("cache-control")), (302, "no-store"));
        assert_eq!(answer.header("location"), "https://example.com/over");
        assert_eq!(clicks(&db, &link).await, 0);

        assert_eq!(patch(&db, &link, &json!({"is_active": false})).await.status, 200);
        assert_eq!(follow(&redirect(&db)).await.status, 410);
    }
    let used_up = json!({"fallback_url": "https://example.com/over", "max_clicks": 1});
    let (db, _) = with_link(LinkBuilder::new("launch").with_options(&used_up)).await;
    let handler = redirect(&db);
    follow(&handler).await;
    assert_eq!(follow(&handler).await.header("location"), "https://example.com/over");
}

#[tokio::test]
async fn a_new_link_is_made_on_its_terms_and_says_so() {
    let (db, ada) = with_person("ada").await;
    let token = ada.token(Role::Member);
    let body = json!({
        "url": "https://example.com/a", "custom_code": "launch", "valid_from": "2030-01-01T00:00:00Z",
        "expires_at": "2030-02-01T00:00:00.000Z", "max_clicks": 100, "fallback_url": "https://example.com/b",
        "forward_query": true, "preview": {"title": "Ours", "description": "Soon"},
    });

    let made = send(&db, "shorten", RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body))
        .await
        .expecting(201);
    let shown = send(&db, "list", RequestBuilder::new("GET", "/api/links/launch").token(&token)).await.json();

    let made = made.json();
    for member in ["expires_at", "max_clicks", "fallback_url", "forward_query", "preview"] {
        assert_eq!((&made[member], &shown[member]), (&body[member], &body[member]), "{member}");
    }
    assert_eq!(made["valid_from"], json!("2030-01-01T00:00:00.000Z"));
    let expected = json!(["scheduled", 0, false, false]);
    assert_eq!(json!([shown["status"], shown["used"], shown["is_protected"], shown["has_rules"]]), expected);
    let scheduled = RequestBuilder::new("GET", "/api/links?status=scheduled").token(&token);
    assert_eq!(send(&db, "list", scheduled).await.json()["total"], json!(1));
}

#[tokio::test]
async fn a_term_that_breaks_a_rule_is_refused_by_its_name() {
    let (db, link) =
        with_link(LinkBuilder::new("launch").expires_at(Timestamp::parse("2040-01-01T00:00:00Z").unwrap())).await;
    for (body, field, sentence) in [
        (json!({"max_clicks": 1.5}), "max_clicks", "max_clicks must be a whole number"),
        (json!({"valid_from": "2040-01-01T00:00:00Z"}), "valid_from", "valid_from must be before expires_at"),
        (json!({"valid_from": "soon"}), "valid_from", "valid_from must be RFC3339 format"),
        (json!({"preview": {"title": "x".repeat(201)}}), "preview", "preview.title must have at most 200 characters"),
        (
            json!({"preview": {"image": "https://api.example.com/r/a"}}),
            "preview",
            "preview.image must not be a Linklet link",
        ),
        (json!({"password": "abc"}), "password", "password must have 4–128 characters"),
    ] {
        let refused = patch(&db, &link, &body).await;
        let problem = refused.json();
        assert_eq!((refused.status, problem["field"].as_str()), (400, Some(field)), "{body}: {problem}");
        assert!(problem["detail"].as_str().unwrap().starts_with(sentence), "{body}: {problem}");
    }
}

#[tokio::test]
async fn only_a_link_without_terms_is_found_again_by_its_url() {
    let (db, ada) = with_person("ada").await;
    let token = ada.token(Role::Member);
    let shorten = async |more: Value| {
        let mut body = json!({"url": "https://example.com/a"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body);
        send(&db, "shorten", request).await.json()
    };
    let terms = [
        json!({"max_clicks": 1}),
        json!({"fallback_url": "https://example.com/b"}),
        json!({"forward_query": true}),
        json!({"preview": {"title": "Ours"}}),
        json!({"valid_from": "2030-01-01T00:00:00Z"}),
        json!({"password": "sesame"}),
        json!({"variants": [{"url": "https://example.com/b", "weight": 50}]}),
    ];
    let plain = shorten(json!({})).await["short_code"].clone();

    for more in terms {
        assert_eq!(shorten(more.clone()).await["reused"], json!(false), "{more}");
    }

    let again = shorten(json!({})).await;
    assert_eq!((&again["short_code"], &again["reused"]), (&plain, &json!(true)));
}

#[tokio::test]
async fn a_visits_parameters_are_forwarded_where_the_link_says_so() {
    let forwarding =
        LinkBuilder::new("launch").to("https://example.com/a?b=1#top").with_options(&json!({"forward_query": true}));
    let (db, _) = with_link(forwarding).await;
    let get = async |path: &str| redirect(&db).get_openly(path).await;

    let answer = get("/launch?b=2&qr=1&c=%C3%BC%0d%0aset-cookie:x").await;

    assert_eq!(answer.status, REDIRECT);
    assert_eq!(answer.header("location"), "https://example.com/a?b=2&c=%C3%BC%0d%0aset-cookie:x#top");
    assert_eq!(get("/launch").await.header("location"), "https://example.com/a?b=1#top");
}

#[tokio::test]
async fn machines_see_the_preview_and_people_are_led_on() {
    let preview = json!({"preview": {"title": "Ours & theirs", "description": "A <b>bold</b> one", "image": "https://example.com/a.png"}});
    let (db, link) =
        with_link(LinkBuilder::new("launch").to("https://example.com/target").with_options(&preview)).await;
    let handler = redirect(&db);

    for agent in PREVIEWS {
        let answer = follow_as(&handler, agent).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/html; charset=utf-8"), "{agent}");
        assert!(answer.body.contains(r#"<meta property="og:title" content="Ours &amp; theirs">"#), "{}", answer.body);
        assert!(answer.body.contains("og:image") && !answer.body.contains("/target") && !answer.body.contains("<b>"));
    }
    assert_eq!(follow(&handler).await.status, REDIRECT);
    // A bot counts as a bot, as it did.
    assert_eq!(clicks(&db, &link).await, PREVIEWS.len() + 1);
}
