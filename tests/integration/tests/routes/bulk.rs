//! Requests about many links.

use linklet_lambda::batch::Consumer as _;
use linklet_lambda::bulk::Bulk;
use linklet_lambda::hashing::{Limits, LinkHashing};

use crate::prelude::*;

struct Fixture {
    db: TestDynamoDb,
    workspace: WorkspaceId,
    member: UserId,
}

impl Fixture {
    fn new() -> Self {
        Self { db: TestDynamoDb::start(), workspace: WorkspaceId::generate(), member: UserId::generate() }
    }

    fn request(&self, method: &str, query: &str, role: Role) -> RequestBuilder {
        RequestBuilder::new(method, &format!("/api/links/bulk{query}")).token(&token_of(
            &self.member,
            &self.workspace,
            role,
        ))
    }

    async fn create(&self, links: Value) -> Answer {
        self.create_with("", links, &fixture::shorten(&self.db)).await
    }

    async fn create_with(&self, key: &str, links: Value, shorten: &impl DeferringHandler) -> Answer {
        let request = self.request("POST", "", Role::Member).header("idempotency-key", key);
        request.json(&json!({"links": links})).send_to(shorten).await
    }

    async fn change(&self, body: Value, role: Role) -> Answer {
        self.request("PATCH", "", role).json(&body).send_to(&self.update()).await
    }

    fn update(&self) -> Update {
        Update { authenticator: authenticator(), ..fixture::update(&self.db) }
    }

    async fn remove(&self, query: &str, role: Role) -> Answer {
        self.request("DELETE", query, role).send_to(&fixture::delete(&self.db, authenticator())).await
    }

    async fn store(&self, code: &str, owner: &UserId) {
        self.db.store(&LinkBuilder::new(code).in_workspace(&self.workspace).owned_by(owner).build()).await;
    }

    async fn store_own(&self, codes: &[&str]) {
        for code in codes {
            self.store(code, &self.member).await;
        }
    }

    async fn tags_of(&self, code: &str) -> Vec<String> {
        self.db.link(code).await.metadata.tags.iter().map(str::to_owned).collect()
    }

    fn stored_links(&self) -> usize {
        self.db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "LINK").count()
    }
}

fn statuses(answer: &Answer) -> Vec<u64> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let results = answer.json();
    let results = results["results"].as_array().unwrap();
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["index"], index, "{result}");
        let is_good = result["status"].as_u64().unwrap() < 300;
        assert_eq!(result["problem"].is_null(), is_good, "{result}");
        assert!(is_good || result["problem"]["status"] == result["status"], "{result}");
    }
    results.iter().map(|result| result["status"].as_u64().unwrap()).collect()
}

fn codes(answer: &Answer) -> Vec<String> {
    let results = answer.json();
    let results = results["results"].as_array().unwrap();
    results.iter().map(|result| result["link"]["short_code"].as_str().unwrap().to_owned()).collect()
}

fn urls(number: usize) -> Value {
    (0..number).map(|number| json!({"url": format!("https://example.com/{number}")})).collect()
}

#[tokio::test]
async fn each_link_has_the_result_that_it_would_have_alone() {
    let fixture = Fixture::new();
    fixture.store("taken", &UserId::generate()).await;

    let answer = fixture
        .create(json!([
            {"url": "https://example.com/a", "title": "A", "tags": ["x"], "nonsense": 1},
            {"url": "no url"},
            {"url": "https://example.com/b", "custom_code": "taken"},
            {"url": "https://example.com/c", "custom_code": "free-one", "max_clicks": 5},
            {"url": "https://example.com/d", "expires_at": "2001-01-01T00:00:00Z"},
            {},
        ]))
        .await;

    assert_eq!(statuses(&answer), [201, 400, 409, 201, 400, 400], "{}", answer.body);
    let results = &answer.json()["results"];
    assert_eq!((&results[0]["link"]["title"], &results[0]["link"]["ignored"]), (&json!("A"), &json!(["nonsense"])));
    let expected = ["url", "custom_code", "expires_at", "url"];
    assert_eq!([1, 2, 4, 5].map(|index| results[index]["problem"]["field"].clone()), expected);
    assert_eq!(fixture.db.link("free-one").await.target.as_str(), "https://example.com/c");
    assert_eq!(fixture.stored_links(), 3);
}

#[tokio::test]
async fn links_to_one_url_share_the_first_ones_code() {
    let fixture = Fixture::new();
    let mut links = vec![json!({"url": "https://example.com/same"}); 50];
    links.push(json!({"url": "https://EXAMPLE.com/same?utm_source=mail"}));

    let answer = fixture.create(links.into()).await;

    assert_eq!(statuses(&answer), [vec![201], vec![200; 50]].concat());
    assert_eq!(codes(&answer).into_iter().collect::<BTreeSet<_>>().len(), 1);
    assert_eq!(fixture.stored_links(), 1);
}

#[tokio::test]
async fn a_repeated_request_that_died_at_any_call_creates_the_same_links() {
    for call in (0..60).step_by(7) {
        let (fixture, faults) = (Fixture::new(), Faults::default());
        let links = LinksTable(fixture.db.table_with(faults.clone(), "LinksTable"));
        let throttle = fixture::throttle(fixture.db.calls(), 1_000, 1_000);
        let dying = fixture::shorten_with(links, fixture::room(&fixture.db, 100), throttle);
        faults.plan_all((call..1_000).map(|call| (call, Fault::AnswerLost)));
        fixture.create_with("k", urls(20), &dying).await;

        let [first, second] = [fixture::shorten(&fixture.db), fixture::shorten(&fixture.db)];
        let first = fixture.create_with("k", urls(20), &first).await;
        let second = fixture.create_with("k", urls(20), &second).await;

        assert_eq!(statuses(&first), vec![201; 20], "after {call} calls: {}", first.body);
        assert_eq!(codes(&first), codes(&second));
        assert_eq!(fixture.stored_links(), 20, "after {call} calls");
    }
}

#[tokio::test]
async fn a_key_is_its_own_for_each_place_and_for_single_requests() {
    let fixture = Fixture::new();
    let shorten = fixture::shorten(&fixture.db);
    let token = token_of(&fixture.member, &fixture.workspace, Role::Member);
    let single = RequestBuilder::new("POST", "/api/shorten").token(&token).header("idempotency-key", "k");

    let first = fixture.create_with("k", urls(2), &shorten).await;
    let swapped = json!([{"url": "https://example.com/0"}, {"url": "https://example.com/other"}]);
    let other = fixture.create_with("k", swapped, &shorten).await;
    single.json(&json!({"url": "https://example.com/alone"})).send_to(&shorten).await.expecting(201);

    assert_eq!(statuses(&first), [201, 201]);
    assert_eq!(statuses(&other), [201, 422]);
    assert_eq!(other.json()["results"][0]["link"], first.json()["results"][0]["link"]);
}

#[tokio::test]
async fn a_wrong_shape_of_the_whole_is_refused_and_does_nothing() {
    let fixture = Fixture::new();
    fixture.store_own(&["launch"]).await;
    let before = fixture.db.scan("LinksTable");
    let many = |number: usize| vec!["launch"; number];
    let protected = vec![json!({"url": "https://example.com/", "password": "open sesame", "reuse": false}); 21];

    for (body, field) in [
        (json!({}), "links"),
        (json!({"links": []}), "links"),
        (json!({"links": [{"url": "https://example.com/"}, null]}), "links"),
        (json!({"links": urls(101)}), "links"),
        (json!({"links": protected}), "password"),
    ] {
        let answer = fixture.request("POST", "", Role::Member).json(&body);
        assert_eq!(answer.send_to(&fixture::shorten(&fixture.db)).await.problem_field(), (400, field.into()), "{body}");
    }
    for (body, field) in [
        (json!({}), "links"),
        (json!({"codes": []}), "codes"),
        (json!({"codes": many(101), "set": {"title": "A"}}), "codes"),
        (json!({"codes": ["launch"]}), "set"),
        (json!({"codes": ["launch"], "set": {"tags": ["a"]}, "add_tags": ["b"]}), "set"),
        (json!({"codes": ["launch"], "add_tags": [" "]}), "add_tags"),
        (json!({"codes": many(21), "set": {"password": "open sesame"}}), "password"),
        (json!({"links": [{"code": "launch"}], "codes": ["launch"], "set": {"title": "A"}}), "codes"),
        (json!({"links": [{"code": "launch", "title": "A"}], "add_tags": ["a"]}), "links"),
        (json!({"links": [{"code": "launch", "title": "A"}], "set": {"title": "B"}}), "links"),
        (json!({"links": [{"title": "A"}]}), "links"),
    ] {
        assert_eq!(fixture.change(body.clone(), Role::Member).await.problem_field(), (400, field.into()), "{body}");
    }
    let long = format!("?codes={}", "a".repeat(8 << 10));
    let too_many = format!("?codes={}", many(101).join(","));
    for (query, field) in [
        ("", "codes"),
        ("?codes=,%20,", "codes"),
        (too_many.as_str(), "codes"),
        (long.as_str(), "codes"),
        ("?codes=launch&purge=maybe", "purge"),
    ] {
        assert_eq!(fixture.remove(query, Role::Member).await.problem_field(), (400, field.into()), "{query:.40}");
    }
    assert_eq!(fixture.db.scan("LinksTable"), before);
}

#[tokio::test]
async fn passwords_wait_for_their_turn_within_the_budget_of_hashes() {
    let fixture = Fixture::new();
    let protected = |number| json!({"url": format!("https://example.com/{number}"), "password": "open sesame"});
    let links = (0..5).map(protected).collect();
    let hashing = || LinkHashing::within(Limits { hashes: "2".parse().unwrap(), ..fixture::limits(&fixture.db) });
    let writer = || LinkWriter { hashing: hashing(), ..fixture::writer(&fixture.db) };

    let patient = Shorten { writer: writer(), ..fixture::shorten(&fixture.db) };
    let patient = fixture.create_with("", links, &patient).await;
    let bulk = Bulk { throttle: fixture.db.calls(), begins_for: Duration::from_millis(900) };
    let hurried = Shorten { writer: writer(), bulk, ..fixture::shorten(&fixture.db) };
    let refused = fixture.create_with("", (5..10).map(protected).collect(), &hurried).await;

    assert_eq!(statuses(&patient), [201; 5]);
    let refused = statuses(&refused);
    assert!(refused.contains(&429), "{refused:?}");
    let locks = fixture.db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "LOCK").count();
    assert_eq!(locks, 5 + refused.iter().filter(|status| **status == 201).count());
}

#[tokio::test]
async fn what_is_not_begun_in_time_is_to_be_tried_again() {
    let fixture = Fixture::new();
    let none = || Bulk { throttle: fixture.db.calls(), begins_for: Duration::ZERO };
    let shorten = Shorten { bulk: none(), ..fixture::shorten(&fixture.db) };

    let answer = fixture.create_with("k", urls(3), &shorten).await;

    assert_eq!(statuses(&answer), [503; 3]);
    assert_eq!(answer.json()["results"][2]["problem"]["code"], "try_again");
    assert_eq!(fixture.stored_links(), 0);
    assert_eq!(statuses(&fixture.create_with("k", urls(3), &fixture::shorten(&fixture.db)).await), [201; 3]);
}

#[tokio::test]
async fn a_workspace_names_a_thousand_links_a_minute_whatever_single_requests_may() {
    let fixture = Fixture::new();
    let shorten = fixture::shorten_limited(&fixture.db, 1, 1);
    let codes: Vec<_> = (0..100).map(|number| format!("c{number}")).collect();
    let request = fixture.request("DELETE", &format!("?codes={}", codes.join(",")), Role::Member);

    for _ in 0..9 {
        assert_eq!(request.clone().send_to(&fixture::delete(&fixture.db, authenticator())).await.status, 200);
    }
    fixture.create_with("", urls(99), &shorten).await.expecting(200);
    let beyond = fixture.create_with("", urls(2), &shorten).await;
    let last = fixture.create_with("", urls(1), &shorten).await;
    let token = token_of(&fixture.member, &fixture.workspace, Role::Member);
    let single = shorten.post("/api/shorten", &token, &json!({"url": "https://example.com/single"})).await;

    assert_eq!(beyond.problem_code(), (429, "rate_limited".into()));
    assert!(beyond.header("retry-after").parse::<u64>().unwrap() <= 60);
    assert_eq!((last.status, single.status), (200, 201));
    assert_eq!(fixture.stored_links(), 100);
}

#[tokio::test]
async fn links_are_allowed_while_they_cannot_be_counted() {
    let fixture = Fixture::new();
    let nowhere = ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable"));
    let shorten = Shorten { bulk: Bulk::new(nowhere), ..fixture::shorten(&fixture.db) };

    assert_eq!(statuses(&fixture.create_with("", urls(2), &shorten).await), [201, 201]);
}

#[tokio::test]
async fn nobody_is_notified_of_bulk_links_but_of_their_deletion() {
    let (fixture, queues) = (Fixture::new(), FakeQueues::start());
    let created = fixture.create(urls(3)).await;
    let codes = codes(&created);
    fixture.remove(&format!("?codes={}", codes[0]), Role::Member).await;

    fixture::relay(&fixture.db, &queues).consume(fixture.db.stream("LinksTable")).await;

    let events: Vec<_> = queues.events("notify").iter().map(|event| event["event_type"].clone()).collect();
    assert_eq!(events, ["url.deleted"]);
}

#[tokio::test]
async fn changes_of_their_own_and_changes_alike_are_made_link_by_link() {
    let fixture = Fixture::new();
    fixture.store_own(&["one", "two", "three"]).await;
    fixture.store("others", &UserId::generate()).await;

    let own = json!({"links": [
        {"code": "one", "title": "First", "surprise": 1},
        {"code": "two", "custom_code": "new"},
        {"code": "one", "title": "Again"},
        {"code": "absent", "title": "A"},
        {"code": "others", "title": "Mine"},
        {"code": "no code!", "title": "A"},
        {"short_code": "three", "title": "Third"},
    ]});
    let each = fixture.change(own, Role::Member).await;
    let codes = ["two", "others", "three"];
    let alike = json!({"codes": codes, "set": {"is_active": false}, "add_tags": ["a", "b"], "oops": 1});
    let alike = fixture.change(alike, Role::Admin).await;

    assert_eq!(statuses(&each), [200, 400, 400, 404, 403, 404, 200], "{}", each.body);
    let first = &each.json()["results"][0]["link"];
    assert_eq!((&first["title"], &first["ignored"]), (&json!("First"), &json!(["surprise"])));
    assert_eq!((statuses(&alike), &alike.json()["ignored"]), (vec![200; 3], &json!(["oops"])));
    assert_eq!(alike.json()["results"][1]["link"]["tags"], json!(["a", "b"]));
    for code in codes {
        assert_eq!(fixture.db.link(code).await.availability.state, LinkState::Inactive, "{code}");
    }
}

#[tokio::test]
async fn tags_that_others_give_meanwhile_stay() {
    let fixture = Fixture::new();
    fixture.store_own(&["one", "two"]).await;
    let update = fixture.update();
    let give = async |tag: usize| {
        let add = json!({"codes": ["one", "two"], "add_tags": [format!("t{tag}")], "remove_tags": ["old"]});
        loop {
            let answer = fixture.request("PATCH", "", Role::Member).json(&add).send_to(&update).await;
            // On a busy machine, the others are in the way of each try.
            if !statuses(&answer).contains(&503) {
                return answer;
            }
        }
    };
    let id = fixture.db.link("one").await.id().clone();
    let patch: LinkPatch = serde_json::from_value(json!({"title": "Changed meanwhile"})).unwrap();

    let (answers, _) = tokio::join!(futures_util::future::join_all((0..8).map(give)), fixture.db.patch(&id, &patch));

    for answer in &answers {
        assert_eq!(statuses(answer), [200, 200], "{}", answer.body);
    }
    let wanted: BTreeSet<_> = (0..8).map(|tag| format!("t{tag}")).collect();
    for code in ["one", "two"] {
        assert_eq!(fixture.tags_of(code).await.into_iter().collect::<BTreeSet<_>>(), wanted, "{code}");
    }
    assert!(fixture.db.link("one").await.metadata.title.is_some());
}

#[tokio::test]
async fn a_link_that_has_the_tags_is_not_written() {
    let (fixture, meter) = (Fixture::new(), CapacityMeter::default());
    fixture.store_own(&["one"]).await;
    let change = json!({"codes": ["one"], "add_tags": ["a"], "remove_tags": ["b"]});
    fixture.change(change.clone(), Role::Member).await;
    let before = fixture.db.link("one").await;

    let links = LinksTable(fixture.db.table_with(meter.clone(), "LinksTable"));
    let update = Update { writer: LinkWriter { links, ..fixture::writer(&fixture.db) }, ..fixture.update() };
    let again = fixture.request("PATCH", "", Role::Member).json(&change).send_to(&update).await;

    assert_eq!((statuses(&again), meter.write_units()), (vec![200], 0.0));
    assert_eq!(fixture.db.link("one").await, before);
}

#[tokio::test]
async fn a_removal_is_a_deletion_or_a_purge_of_each() {
    let fixture = Fixture::new();
    fixture.store_own(&["one", "two", "three"]).await;
    fixture.store("others", &UserId::generate()).await;

    let deleted = fixture.remove("?codes=one,others,absent,one,two", Role::Member).await;
    let again = fixture.remove("?codes=one&purge=false", Role::Member).await;
    let purged = fixture.remove("?codes=one,three,absent,others&purge=true", Role::Admin).await;

    assert_eq!(statuses(&deleted), [204, 403, 404, 400, 204]);
    assert!(matches!(fixture.db.link("two").await.availability.state, LinkState::Deleted(_)));
    assert_eq!(statuses(&again), [204]);
    assert_eq!(statuses(&purged), [204; 4]);
    for code in ["one", "three", "others"] {
        assert!(fixture.db.record(code).await.unwrap().is_purged(), "{code}");
    }
}

#[tokio::test]
async fn a_hundred_links_cost_what_they_cost_alone_and_one_write_more() {
    let (fixture, meter) = (Fixture::new(), CapacityMeter::default());
    let table = |name: &str| fixture.db.table_with(meter.clone(), name);
    let links = LinksTable(table("LinksTable"));
    let throttle = fixture::throttle(fixture.db.calls(), 1_000, 1_000);
    let shorten = fixture::shorten_with(links, fixture::room(&fixture.db, 100), throttle);
    let token = token_of(&fixture.member, &fixture.workspace, Role::Member);
    let alone = RequestBuilder::new("POST", "/api/shorten").token(&token);
    alone.json(&json!({"url": "https://example.com/alone"})).send_to(&shorten).await;
    let one = meter.write_units();
    meter.reset();

    let counted = Shorten { bulk: Bulk::new(ThrottleTable::new(table("ThrottleTable"))), ..shorten };
    let answer = fixture.create_with("", urls(100), &counted).await;

    assert_eq!(statuses(&answer), vec![201; 100]);
    assert!(one > 0.0);
    assert_eq!(meter.write_units(), 100.0 * one + 1.0);
}
