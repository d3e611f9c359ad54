//! What the functions log: the correlation id all the way, and nothing that belongs to a person.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod log_actors;
mod log_correlation;
mod log_lengths;
mod log_refusals;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use aws_sdk_dynamodb::Client;
use linklet_account::Account;
use linklet_analytics::Analytics;
use linklet_auth::Auth;
use linklet_domain::{CorrelationId, IpHash, LinkEdit, RateLimit, Record, Role, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{ClicksTable, LinksTable, StatsTable, Table, ThrottleTable};
use linklet_integration::fixture::{
    self, analytics, per, redirect, redirect_with, relay, room, salt, shorten, stats, throttle, watch_links, with_link,
};
use linklet_lambda::batch::Consumer;
use linklet_lambda::breaker::{Breaker, Circuit};
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::following::{Recorder, Spreading};
use linklet_lambda::limiter::Limiter;
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::metrics;
use linklet_lambda::publisher::Publisher;
use linklet_redirect::Redirect;
use linklet_stats::Stats;
use linklet_test_support::{
    CapturedLogs, FakeNotifiers, FakeQueues, Fault, Faults, LinkBuilder, RequestBuilder, TestDynamoDb, authenticator,
    issuer, queue_batch, token_for, token_of, tokens,
};
use linklet_watch_links::WatchLinks;
use serde_json::{Value, json};

#[tokio::test]
async fn correlation_ids_reach_the_consumers_and_nothing_personal_is_logged() {
    let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
    let token = token_of(&UserId::generate(), &WorkspaceId::generate(), Role::Member);
    let shorten = shorten(&db);
    let (account, ada) = (
        Account::new(tokens(), db.users(), db.notifications(), fixture::guesses(&db), fixture::sharing(&db)),
        db.register("ada").await,
    );
    let notify = fixture::notify(&db, &queues, &outside, false);
    let logs = CapturedLogs::start();
    metrics::write_to("linklet".to_owned());

    RequestBuilder::new("POST", "/api/shorten")
        .token(&token)
        .header("x-correlation-id", "creating-1")
        .json(&json!({"url": "https://example.com/?secret=hunter2", "custom_code": "launch"}))
        .send_to(&shorten)
        .await;
    RequestBuilder::new("GET", "/r/launch?secret=hunter2")
        .header("x-correlation-id", "clicking-1")
        .header("user-agent", "hunter2\"{}")
        .source_ip("198.51.100.77")
        .send_to(&redirect(&db))
        .await;
    metrics::observe(relay(&db, &queues).consume(db.stream("LinksTable"))).await;
    metrics::observe(relay(&db, &queues).consume(db.stream("ClicksTable"))).await;
    metrics::observe(watch_links(&db, &queues).consume(db.stream("LinksTable"))).await;
    metrics::observe(notify.consume(queue_batch(&queues.bodies("notify")))).await;
    metrics::observe(analytics(&db, &queues).consume(queue_batch(&queues.bodies("analytics")))).await;
    notify.consume(queue_batch(&["no event, but hunter2".to_owned()])).await;
    let created = RequestBuilder::new("POST", "/api/keys")
        .token(&ada.token(Role::Admin))
        .header("x-correlation-id", "making-a-key-1")
        .json(&json!({"name": "CI", "scopes": ["links:write"]}))
        .send_to(&account)
        .await;
    let api_key = created.text("key");
    for (id, key) in [("using-it-1", api_key.clone()), ("guessing-1", api_key.replace("lk_live_", "lk_live_hunter2"))] {
        let request = RequestBuilder::new("POST", "/api/shorten").api_key(&key).header("x-correlation-id", id);
        request.json(&json!({"url": "https://example.com/?secret=hunter2"})).send_to(&shorten).await;
    }

    let lines = logs.lines();
    let ids_of = |message: &str| -> Vec<&str> {
        let of_level_info = lines.iter().filter(|line| line["message"] == message && line["level"] == "INFO");
        of_level_info.filter_map(|line| line["correlation_id"].as_str()).collect()
    };
    assert_eq!(ids_of("request answered"), ["creating-1", "clicking-1", "making-a-key-1", "using-it-1", "guessing-1"]);
    let consumers = ["creating-1", "clicking-1", "creating-1", "creating-1", "clicking-1"];
    assert_eq!(ids_of("batch processed"), consumers, "of relay, relay, watch-links, notify and analytics");
    let answered = lines.iter().find(|line| line["message"] == "request answered").unwrap();
    for member in ["level", "time", "service", "route", "status", "duration_ms"] {
        assert!(!answered[member].is_null(), "{member} is missing in {answered}");
    }
    let counted: Vec<_> = lines.iter().filter(|line| line["ClicksCounted"] == 1).collect();
    assert_eq!((counted.len(), &counted[0]["message"]), (1, &json!("batch processed")));
    assert_eq!(counted[0]["_aws"]["CloudWatchMetrics"][0]["Namespace"], "linklet");
    for line in &lines {
        for secret in ["hunter2", "ada@example.com", "198.51.100.77", token.as_str(), &api_key[8..]] {
            assert!(!line.to_string().contains(secret), "{line}");
        }
    }
}

#[tokio::test]
async fn neither_a_mailed_token_nor_its_address_is_logged() {
    let logs = CapturedLogs::start();
    let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
    let ada = db.register_verified("ada").await;
    let bob = db.register("bob").await;
    let bobs_session = bob.token(Role::Admin);
    let orders = EmailRequests::to(Publisher::new(queues.client(), queues.url("notify")));
    let account = Account::new(tokens(), db.users(), db.notifications(), fixture::guesses(&db), fixture::sharing(&db));
    let account = Account { mails: orders.clone(), ..account };
    let auth = Auth { mails: orders, ..Auth::new(db.users(), tokens(), issuer(), fixture::limits(&db)) };
    let post = |path: &str, body: Value| RequestBuilder::new("POST", path).json(&body).send_to(&auth);
    let notify = fixture::notify(&db, &queues, &outside, true);

    post("/api/auth/password/forgot", json!({"email": "ada@example.com"})).await;
    post("/api/auth/verification", json!({"email": "bob@example.com"})).await;
    let invite = RequestBuilder::new("POST", "/api/workspace/invitations").json(&json!({"email": "carol@example.com"}));
    let invited = invite.token(&ada.token(Role::Admin)).send_to(&account).await;
    outside.refuse_mail(true);
    notify.consume(queue_batch(&queues.bodies("notify"))).await;
    outside.refuse_mail(false);
    metrics::observe(notify.consume(queue_batch(&queues.bodies("notify")))).await;
    let mailed = outside.mails();
    let mailed: Vec<String> = mailed.iter().flat_map(|mail| tokens_in(&mail.to_string())).collect();
    for token in &mailed {
        post("/api/auth/password/reset", json!({"token": token, "password": "a longer horse"})).await;
        let verify = RequestBuilder::new("POST", "/api/auth/verify").token(&bobs_session);
        verify.json(&json!({"token": token})).send_to(&auth).await;
    }
    let carol =
        |token: &Value| json!({"email": "carol@example.com", "password": "a longer horse", "invitation": token});
    for token in mailed.iter().map(|token| json!(token)).chain([invited.json()["token"].clone()]) {
        post("/api/auth/register", carol(&token)).await;
    }

    let lines = logs.lines();
    assert!(mailed.len() >= 3 && lines.iter().any(|line| line["message"] == "an ordered mail was not sent"));
    assert_eq!(lines.iter().filter(|line| line["status"] == 204).count(), 2, "each token was used");
    for line in &lines {
        let others = ["ada@example.com", "bob@example.com", "carol@example.com", "rst_", "vrf_", "inv_"];
        for secret in mailed.iter().map(String::as_str).chain(others) {
            assert!(!line.to_string().contains(secret), "{line}");
        }
    }
}

#[tokio::test]
async fn neither_the_token_of_a_share_nor_its_password_is_logged() {
    let logs = CapturedLogs::start();
    metrics::write_to("linklet".to_owned());
    let db = TestDynamoDb::start();
    let ada = db.register("ada").await;
    db.store(&LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&ada.id).build()).await;
    let account = fixture::account(&db);
    let share = RequestBuilder::new("POST", "/api/links/launch/share").token(&ada.token(Role::Admin));
    let created = share.json(&json!({"password": "hunter2"})).send_to(&account).await;
    let token = created.text("url").split_once("?token=").unwrap().1.to_owned();
    let (stats, forged) = (stats(&db), format!("{}x", &token[..token.len() - 1]));

    let mut answers = Vec::new();
    for (token, password, query) in [
        (&token, "hunter2", "from=2026-03-01&to=2026-03-02"),
        (&token, "hunter2-wrong", "from=2026-03-01&to=2026-03-02"),
        (&token, "hunter2", "from=2026-03-01&to=2026-03-02&country=DE"),
        (&forged, "hunter2", "from=2026-03-01&to=2026-03-02"),
    ] {
        let request = RequestBuilder::new("GET", &format!("/api/stats/launch?{query}")).header("x-share-token", token);
        answers.push(request.header("x-share-password", password).send_to(&stats).await);
    }

    let lines = logs.lines();
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200, 403, 400, 404]);
    assert_eq!(lines.iter().filter(|line| line["message"] == "request answered").count(), 5);
    let texts = lines.iter().map(Value::to_string).chain(answers.iter().map(|answer| answer.body.clone()));
    for text in texts {
        for secret in ["hunter2", "lk_share_", &token[57..]] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

/// The one-time tokens in a text, each once.
fn tokens_in(text: &str) -> BTreeSet<String> {
    let is_token = |word: &&str| ["rst_", "vrf_", "inv_"].iter().any(|prefix| word.starts_with(prefix));
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    // A line's end is a backslash and an n in JSON.
    words.map(|word| word.trim_start_matches('n')).filter(is_token).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_batch_also_logs_the_requests_of_failures_and_purges() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    let (link, at) = (LinkBuilder::new("launch").build(), Timestamp::now());
    db.store(&link).await;
    let (record, purging) = (Record::Link(link), CorrelationId::parse("purging-1").unwrap());
    db.edit_as(&UserId::generate(), &record, &purging, |record| LinkEdit::purge(record, at)).await;
    let logs = CapturedLogs::start();

    metrics::observe(relay(&db, &queues).consume(db.stream("LinksTable"))).await;
    let broken =
        Analytics { stats: StatsTable::new(TestDynamoDb::unreachable_table("StatsTable")), ..analytics(&db, &queues) };
    metrics::observe(broken.consume(queue_batch(&queues.bodies("analytics")))).await;

    let batches: Vec<Value> = logs.lines().into_iter().filter(|line| line["message"] == "batch processed").collect();
    assert!(batches[0]["correlation_id"].as_str().unwrap().split(' ').any(|id| id == "purging-1"), "{batches:?}");
    assert_eq!((&batches[1]["correlation_id"], &batches[1]["BatchFailures"]), (&json!("purging-1"), &json!(1)));
}

#[tokio::test]
async fn the_breaker_says_once_that_it_opened_and_that_it_closed() {
    let (db, faults, time) = (TestDynamoDb::start(), Faults::default(), Arc::new(Mutex::new(Instant::now())));
    let clock = time.clone();
    let breaker = Breaker::with_clock(move || *clock.lock().unwrap());
    let config = db.client_with(faults.clone()).config().to_builder().interceptor(breaker).build();
    let redirect =
        redirect_with(LinksTable(Table::new(Client::from_conf(config), "LinksTable")), db.clicks(), db.calls());
    let look = async |times| {
        for _ in 0..times {
            RequestBuilder::new("HEAD", "/launch").send_to(&redirect).await;
        }
    };
    let logs = CapturedLogs::start();

    faults.plan_all((0..5).map(|call| (call, Fault::NotSent)));
    look(8).await;
    *time.lock().unwrap() += Circuit::OPEN_FOR;
    look(3).await;

    let expected = [
        "DynamoDB does not answer: the circuit breaker has opened",
        "DynamoDB answers again: the circuit breaker has closed",
    ];
    assert_eq!(logs.messages("WARN"), expected);
    assert_eq!(logs.messages("ERROR"), ["request failed"; 8]);
    let refused = logs.lines().into_iter().rfind(|line| line["level"] == "ERROR").unwrap();
    assert!(refused["error"].as_str().unwrap().ends_with("the circuit breaker is open"), "{refused}");
}

#[tokio::test]
async fn a_link_that_is_created_without_a_limit_is_one_warning() {
    let db = TestDynamoDb::start();
    let calls = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));
    let shorten = fixture::shorten_with(db.links(), room(&db, 100), throttle(calls, 60, 300));
    let token = token_of(&UserId::generate(), &WorkspaceId::generate(), Role::Member);
    let logs = CapturedLogs::start();

    let order = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&json!({"url": "https://example.com/"}));
    assert_eq!(order.send_to(&shorten).await.status, 201);

    assert_eq!(logs.messages("WARN"), ["a call was allowed without being counted"]);
    assert_eq!(logs.messages("ERROR"), [""; 0]);
}

#[tokio::test]
async fn a_refused_call_names_the_hashed_address_and_others_dont() {
    let db = TestDynamoDb::start();
    let redirect = Redirect { limiter: Limiter::new(RateLimit::per_minute(1).unwrap()), ..redirect(&db) };
    let logs = CapturedLogs::start();

    for _ in 0..2 {
        RequestBuilder::new("GET", "/launch").source_ip("203.0.113.9").send_to(&redirect).await;
    }

    let named: Vec<_> = logs.lines().into_iter().map(|line| line["address_hash"].clone()).collect();
    assert_eq!(named, [Value::Null, json!(IpHash::of_network("203.0.113.9", &salt()))]);
}

#[tokio::test]
async fn a_list_that_fails_at_an_item_names_it() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let mut item = db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    item["availability"] = json!({"S": "always"});
    db.put("LinksTable", &item);
    let logs = CapturedLogs::start();

    let token = token_for(&link.identity.workspace, Role::Viewer);
    let answer = RequestBuilder::new("GET", "/api/urls").token(&token).send_to(&fixture::list(&db)).await;

    let failed = logs.lines().into_iter().find(|line| line["level"] == "ERROR").unwrap();
    assert_eq!(answer.status, 500);
    assert!(
        failed["error"].as_str().unwrap().contains(": the item 20")
            && failed["error"].as_str().unwrap().contains("#launch: "),
        "{failed}"
    );
}

#[tokio::test]
async fn a_request_about_many_links_logs_an_unavailable_table_once() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let links = LinksTable(TestDynamoDb::unreachable_table("LinksTable"));
    let writer = LinkWriter { links, ..fixture::writer(&db) };
    let update = linklet_update::Update { writer, authenticator: authenticator(), ..fixture::update(&db) };
    let body = json!({"codes": ["one", "two", "three"], "add_tags": ["a"]});
    let request =
        RequestBuilder::new("PATCH", "/api/links/bulk").token(&token_for(&workspace, Role::Admin)).json(&body);
    let logs = CapturedLogs::start();

    let answer = request.send_to(&update).await;

    let results = answer.json()["results"].clone();
    assert_eq!([0, 1, 2].map(|index| results[index]["status"].clone()), [503, 503, 503]);
    assert_eq!(logs.messages("ERROR"), ["request failed"]);
}

#[tokio::test]
async fn a_link_without_room_for_its_target_warns_only_once() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&LinkBuilder::new("launch").watching().build()).await;
    let consumer = WatchLinks { targets: db.watch().with_quota(per(0)), ..watch_links(&db, &queues) };
    let logs = CapturedLogs::start();

    for _ in 0..2 {
        consumer.consume(db.stream("LinksTable")).await;
    }

    assert_eq!(logs.messages("WARN"), ["a link does not watch, since as many URLs are monitored as may be"]);
    assert_eq!(logs.messages("ERROR"), [""; 0]);
}

#[tokio::test]
async fn unreadable_keys_leave_statistics_public_and_log_one_warning() {
    let db = TestDynamoDb::start();
    db.store(&LinkBuilder::new("launch").build()).await;
    let stats = Stats { authenticator: authenticator(), ..stats(&db) };
    let key = format!("lk_live_{}", "0".repeat(32));
    let logs = CapturedLogs::start();

    RequestBuilder::new("GET", "/api/stats/launch").api_key(&key).send_to(&stats).await.expecting(200);

    assert_eq!(logs.messages("WARN"), ["credentials could not be verified, so only what is public is shown"]);
}

#[tokio::test]
async fn what_fails_after_a_redirect_is_said_once_each() {
    let (db, reads) = (TestDynamoDb::start(), Faults::default());
    db.store(&LinkBuilder::new("launch").build()).await;
    let redirect = redirect_with(
        LinksTable(db.table_with(reads.clone(), "LinksTable")),
        ClicksTable::new(TestDynamoDb::unreachable_table("ClicksTable")),
        ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable")),
    );
    let now = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
    let send = async |method: &str, at| RequestBuilder::new(method, "/launch").at(at).send_to(&redirect).await.status;
    let logs = CapturedLogs::start();

    for _ in 0..40 {
        assert_eq!(send("HEAD", now).await, fixture::REDIRECT);
    }
    assert_eq!(logs.messages("WARN"), ["calls were not merged"], "once in five seconds");
    reads.plan(Some((0, Fault::NotSent)));
    assert_eq!(send("GET", now.plus(std::time::Duration::from_secs(2))).await, fixture::REDIRECT);

    assert_eq!(logs.messages("WARN")[1..], ["the last known state of a link was used", "messages could not be sent"]);
    assert_eq!(logs.messages("ERROR"), ["a click was lost"]);
}

#[tokio::test]
async fn a_click_that_is_parked_is_one_warning() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.store(&LinkBuilder::new("launch").build()).await;
    let clicks = ClicksTable::new(TestDynamoDb::unreachable_table("ClicksTable"));
    let parking = Publisher::new(queues.client(), queues.url("clicks"));
    let redirect =
        Redirect { recorder: Recorder { clicks, parking, spreading: Spreading::default() }, ..redirect(&db) };
    let logs = CapturedLogs::start();

    assert_eq!(RequestBuilder::new("GET", "/launch").send_to(&redirect).await.status, fixture::REDIRECT);

    assert_eq!(logs.messages("WARN"), ["a click was parked"]);
    assert_eq!(logs.messages("ERROR"), [""; 0]);
}
