//! Rules and variants, other destinations, and the history of all that.

use std::iter;

use fastrand::Rng;
use linklet_domain::TargetUrl;
use linklet_lambda::http::Edge;
use linklet_test_support::AGENTS;

use super::links::one_of;
use crate::prelude::*;

const IPHONE: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.0 Mobile/15E148 Safari/604.1";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0";

struct Fixture {
    db: TestDynamoDb,
    ada: Person,
    update: Update,
    list: List,
}

impl Fixture {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        let link = LinkBuilder::new("launch").to("https://example.com/").in_workspace(&ada.workspace).owned_by(&ada.id);
        db.store(&link.build()).await;
        let update = Update { authenticator: authenticator(), ..fixture::update(&db) };
        let list = List { authenticator: authenticator(), ..fixture::list(&db) };
        Self { db, ada, update, list }
    }

    /// In a workspace whose links may be led elsewhere.
    async fn editable() -> Self {
        let fixture = Self::new().await;
        let admin = fixture.ada.token(Role::Admin);
        let editable = json!({"destinations": "editable"});
        let request = RequestBuilder::new("PATCH", "/api/workspace").token(&admin).json(&editable);
        assert_eq!(fixture::send(&fixture.db, "account", request).await.json()["destinations"], json!("editable"));
        fixture
    }

    fn request(&self, method: &str, path: &str) -> RequestBuilder {
        self.request_to("launch", method, path)
    }

    fn request_to(&self, code: &str, method: &str, path: &str) -> RequestBuilder {
        RequestBuilder::new(method, &format!("/api/links/{code}{path}")).token(&self.token())
    }

    fn token(&self) -> String {
        self.ada.token(Role::Member)
    }

    /// The code of a link to this URL, which may be one that there was.
    async fn shorten(&self, url: &str) -> String {
        let request = RequestBuilder::new("POST", "/api/shorten").token(&self.token()).json(&json!({"url": url}));
        fixture::send(&self.db, "shorten", request).await.text("short_code")
    }

    /// How many changes the history of a link has.
    async fn changes_of(&self, code: &str) -> usize {
        let shown = self.request_to(code, "GET", "/history").send_to(&self.list).await.json();
        shown["history"].as_array().unwrap().len()
    }

    async fn put(&self, rules: &Value) -> Answer {
        self.request("PUT", "/rules").json(rules).send_to(&self.update).await
    }

    async fn patch(&self, body: &Value) -> Answer {
        self.request("PATCH", "").json(body).send_to(&self.update).await
    }

    async fn read(&self, path: &str) -> Value {
        self.request("GET", path).send_to(&self.list).await.json()
    }

    async fn led_to(&self, request: RequestBuilder) -> String {
        request.send_to(&redirect(&self.db)).await.header("location").to_owned()
    }

    async fn link(&self) -> Link {
        self.db.link("launch").await
    }
}

fn visit(user_agent: &str) -> RequestBuilder {
    RequestBuilder::new("GET", "/launch").header("user-agent", user_agent)
}

fn phones() -> Value {
    json!({
        "rules": [
            {"name": "iPhones", "url": "https://example.com/ios", "conditions": [{"type": "device", "value": "ios"}]},
            {"url": "https://example.com/fr", "conditions": [
                {"type": "language", "value": "fr"}, {"type": "query-param", "key": "from", "value": "mail"}]},
        ],
        "variants": [],
    })
}

#[tokio::test]
async fn the_first_rule_that_matches_decides_and_no_answer_is_kept() {
    let fixture = Fixture::editable().await;
    assert_eq!(fixture.put(&phones()).await.status, 200);

    let led = visit(IPHONE).send_to(&redirect(&fixture.db)).await;
    assert_eq!((led.status, led.header("location")), (302, "https://example.com/ios"));
    assert_eq!(led.header("cache-control"), "no-store");
    let french = || RequestBuilder::new("GET", "/launch?from=mail").header("user-agent", FIREFOX);
    assert_eq!(fixture.led_to(french().header("accept-language", "fr-CA, en;q=0.5")).await, "https://example.com/fr");
    assert_eq!(fixture.led_to(french().header("accept-language", "en")).await, "https://example.com/");
    assert_eq!(fixture.led_to(visit(FIREFOX).header("accept-language", "fr")).await, "https://example.com/");
}

#[tokio::test]
async fn a_condition_with_several_values_holds_for_each_of_them() {
    let mut fixture = Fixture::editable().await;
    fixture.list.edge = Edge::CloudFront;
    let rule = |kind: &str, value: Value| json!({"url": format!("https://example.com/{kind}"), "conditions": [{"type": kind, "value": value}]});
    let rules = json!({"rules": [
        rule("country", json!(["DE", "AT"])), rule("language", json!(["fr", "it"])), rule("device", json!(["ios", "android"])),
        rule("browser", json!(["firefox"]))]});
    let stored = fixture.put(&rules).await.expecting(200).json();
    let led = async |visitor: Value| {
        let test = fixture.request("POST", "/rules/test").json(&json!({"visitor": visitor}));
        test.send_to(&fixture.list).await.text("url").rsplit('/').next().unwrap().to_owned()
    };

    assert_eq!(stored["rules"][0]["conditions"][0]["value"], json!(["DE", "AT"]));
    assert_eq!(stored["rules"][3]["conditions"][0]["value"], json!("firefox"), "one value is a text");
    assert_eq!([led(json!({"country": "AT"})).await, led(json!({"country": "CH"})).await], ["country", ""]);
    assert_eq!([led(json!({"language": "it-CH"})).await, led(json!({"language": "es"})).await], ["language", ""]);
    assert_eq!([led(json!({"device": "android"})).await, led(json!({"device": "linux"})).await], ["device", ""]);
}

#[tokio::test]
async fn variants_share_visitors_by_weight_and_each_address_keeps_its_own() {
    let fixture = Fixture::editable().await;
    let variants = json!({"variants": [
        {"name": "blue", "url": "https://example.com/blue", "weight": 30}, {"url": "https://example.com/green", "weight": 20}]});
    assert_eq!(fixture.put(&variants).await.status, 200);
    let handler = redirect(&fixture.db);
    let led = async |address: u32| {
        let address = format!("2001:db8:{:x}:{:x}::1", address / 256, address % 256);
        visit(FIREFOX).source_ip(&address).send_to(&handler).await.header("location").to_owned()
    };

    let mut counts = BTreeMap::<String, u32>::new();
    for address in 0..1_000 {
        *counts.entry(led(address).await).or_default() += 1;
    }

    let of = |path: &str| counts[&format!("https://example.com/{path}")];
    assert!((250..350).contains(&of("blue")) && (150..250).contains(&of("green")), "{counts:?}");
    assert!((450..550).contains(&of("")), "{counts:?}");
    for address in 0..50 {
        assert_eq!(led(address).await, led(address).await);
    }
}

#[tokio::test]
async fn statistics_tell_the_workspace_and_nobody_else_where_visitors_were_led() {
    let fixture = Fixture::editable().await;
    fixture.put(&phones()).await;
    for agent in [IPHONE, IPHONE, FIREFOX] {
        visit(agent).send_to(&redirect(&fixture.db)).await;
    }
    let queues = linklet_test_support::FakeQueues::start();
    fixture::count_all(&fixture.db, &queues).await;

    let token = fixture.ada.token(Role::Viewer);
    let stats = linklet_stats::Stats { authenticator: authenticator(), ..fixture::stats(&fixture.db) };
    let get = || RequestBuilder::new("GET", "/api/stats/launch");
    let shown = get().token(&token).send_to(&stats).await.json();

    let expected = json!([{"destination": "iPhones", "count": 2}, {"destination": "target", "count": 1}]);
    assert_eq!(shown["destinations"], expected);
    assert_eq!(get().send_to(&stats).await.json().get("destinations"), None);
}

#[tokio::test]
async fn rules_are_read_replaced_and_removed_with_the_links_etag() {
    let fixture = Fixture::editable().await;
    let before = fixture.request("GET", "/rules").send_to(&fixture.list).await;
    assert_eq!(before.json(), json!({"rules": [], "variants": [], "countries_known": false}));

    let put = fixture.request("PUT", "/rules").json(&phones()).header("if-match", before.header("etag"));
    let first = put.send_to(&fixture.update).await;
    assert_eq!((first.status, &first.json()["rules"]), (200, &phones()["rules"]));
    let stale = fixture.request("PUT", "/rules").json(&json!({})).header("if-match", before.header("etag"));
    assert_eq!(stale.send_to(&fixture.update).await.status, 412);
    assert_eq!(fixture.read("").await["has_rules"], json!(true));

    assert_eq!(fixture.put(&json!({"rules": [], "variants": []})).await.status, 200);
    assert_eq!(fixture.link().await.routing, None);
    assert_eq!(visit(IPHONE).send_to(&redirect(&fixture.db)).await.status, REDIRECT);
}

#[tokio::test]
async fn rules_that_break_a_rule_are_refused_by_name() {
    let fixture = Fixture::editable().await;
    let rule = |condition: Value| json!({"rules": [{"url": "https://example.com/a", "conditions": [condition]}]});
    let many = |rules: usize, url: &str| json!({"rules": vec![json!({"url": url, "conditions": [{"type": "device", "value": "ios"}]}); rules]});
    let weights = |weights: &[u32]| {
        let variant = |weight: &u32| json!({"url": "https://example.com/a", "weight": weight});
        json!({"variants": weights.iter().map(variant).collect::<Vec<_>>()})
    };
    let long = format!("https://example.com/{}", "a".repeat(600));
    for (body, code, field) in [
        (rule(json!({"type": "device", "value": "toaster"})), "invalid_input", "rules"),
        (rule(json!({"type": "country", "value": "Germany"})), "invalid_input", "rules"),
        (rule(json!({"type": "country", "value": []})), "invalid_input", "rules"),
        (rule(json!({"type": "country", "value": vec!["DE"; 51]})), "invalid_input", "rules"),
        (
            rule(json!({"type": "after-date", "value": ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"]})),
            "invalid_input",
            "rules",
        ),
        (json!({"rules": [{"url": "https://example.com/a", "conditions": []}]}), "invalid_input", "rules"),
        (many(1, "ftp://example.com/a"), "invalid_input", "rules"),
        (many(11, "https://example.com/a"), "invalid_input", "rules"),
        (weights(&[60, 41]), "invalid_input", "variants"),
        (weights(&[0]), "invalid_input", "variants"),
        (weights(&[10, 10, 10, 10, 10, 10]), "invalid_input", "variants"),
        (many(6, &long), "rules_too_large", "rules"),
    ] {
        let refused = fixture.put(&body).await;
        let problem = refused.json();
        assert_eq!((refused.status, &problem["code"], &problem["field"]), (400, &json!(code), &json!(field)), "{body}");
    }
    assert_eq!(fixture.link().await.routing, None);
}

#[tokio::test]
async fn the_tester_says_where_the_redirect_leads() {
    let fixture = Fixture::editable().await;
    fixture.put(&phones()).await;
    let test =
        async |body: Value| fixture.request("POST", "/rules/test").json(&body).send_to(&fixture.list).await.json();

    let phone = test(json!({"visitor": {"device": "ios", "country": "FR", "at": "2026-05-03T12:00:00Z"}})).await;
    assert_eq!(phone, json!({"url": "https://example.com/ios", "name": "iPhones", "rule": 1, "variant": null}));
    let mail = test(json!({"visitor": {"user_agent": FIREFOX, "language": "fr", "query": "?from=mail"}})).await;
    assert_eq!(json!([mail["name"], mail["rule"]]), json!(["rule 2", 2]));
    let nobody = test(json!({})).await;
    assert_eq!(json!([nobody["name"], nobody["url"]]), json!(["target", "https://example.com/"]));
    // Rules that aren't saved yet.
    let other = json!({"rules": [{"url": "https://example.com/later", "conditions": [
        {"type": "after-date", "value": "2030-01-01T00:00:00Z"}]}], "visitor": {"at": "2030-01-01T00:00:00Z"}});
    assert_eq!(test(other).await["url"], json!("https://example.com/later"));
}

fn random_condition(random: &mut Rng) -> Value {
    let conditions = [
        json!({"type": "device", "value": one_of(random, &["ios", "android", "mobile", "windows", "linux", "desktop"])}),
        json!({"type": "browser", "value": one_of(random, &["safari", "firefox", "chrome"])}),
        json!({"type": "language", "value": one_of(random, &["fr", "de", "en", "pt-BR", "en-US"])}),
        json!({"type": "query-param", "key": "k", "value": one_of(random, &["1", "2"])}),
        json!({"type": one_of(random, &["before-date", "after-date"]), "value": format!("2026-05-0{}T12:00:00Z", random.u8(3..5))}),
    ];
    random.choice(conditions).unwrap()
}

#[tokio::test]
async fn the_tester_and_the_redirect_agree_on_random_visitors() {
    const LANGUAGES: [&str; 5] = ["fr", "de-AT, en;q=0.9", "en-US, fr;q=0.5", "*", "pt-BR;q=0.95"];
    let (mut random, mut led_by_rules) = (Rng::with_seed(33), 0);
    for _ in 0..20 {
        let fixture = Fixture::editable().await;
        let rule = |rule| {
            let conditions: Vec<_> = (0..random.u8(1..=2)).map(|_| random_condition(&mut random)).collect();
            json!({"url": format!("https://example.com/{rule}"), "conditions": conditions})
        };
        let rules: Vec<_> = (0..4).map(rule).collect();
        assert_eq!(fixture.put(&json!({"rules": rules})).await.status, 200);
        for _ in 0..50 {
            let (agent, language) = (random.choice(&AGENTS).unwrap().text, one_of(&mut random, &LANGUAGES));
            let query = one_of(&mut random, &["", "k=1", "k=2&j=1"]);
            let at = Timestamp::parse("2026-05-03T00:00:00Z").unwrap().plus(Duration::from_hours(random.u64(..72)));
            let tried = json!({"visitor": {"user_agent": agent, "language": language, "query": query, "at": at}});
            let test = fixture.request("POST", "/rules/test").json(&tried).outside_the_contract();
            let visit = RequestBuilder::new("GET", &format!("/launch?{query}")).header("user-agent", agent);
            let visit = visit.header("accept-language", language).at(at).outside_the_contract();

            let told = test.send_to(&fixture.list).await.json();

            assert_eq!(told["url"], fixture.led_to(visit).await, "{rules:?} {tried}");
            led_by_rules += usize::from(told["rule"].is_u64());
        }
    }
    assert!((100..900).contains(&led_by_rules), "{led_by_rules}");
}

#[tokio::test]
async fn fixed_destinations_allow_removing_rules_and_fallback_but_no_new_ones() {
    let fixture = Fixture::new().await;
    let token = fixture.ada.token(Role::Member);
    let mut body = phones();
    let more = json!({"url": "https://example.com/b", "custom_code": "ruled", "fallback_url": "https://example.com/c"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body);
    assert_eq!(fixture::send(&fixture.db, "shorten", request).await.json()["has_rules"], json!(true));
    let send = async |method: &str, path: &str, body: &Value| {
        let request = RequestBuilder::new(method, &format!("/api/links/ruled{path}")).token(&token).json(body);
        let answer = request.send_to(&fixture.update).await;
        (answer.status, answer.json()["code"].clone())
    };
    let fixed = (403, json!("destination_fixed"));

    assert_eq!(send("PATCH", "", &json!({"url": "https://example.com/elsewhere"})).await, fixed);
    assert_eq!(send("PATCH", "", &json!({"fallback_url": "https://example.com/elsewhere"})).await, fixed);
    let mut swapped = phones();
    swapped["rules"].as_array_mut().unwrap().reverse();
    assert_eq!(send("PUT", "/rules", &swapped).await, fixed);

    let mut fewer = phones();
    fewer["rules"].as_array_mut().unwrap().pop();
    assert_eq!(send("PUT", "/rules", &fewer).await.0, 200);
    assert_eq!(send("PUT", "/rules", &phones()).await, fixed, "what was taken away doesn't come back");
    assert_eq!(send("PATCH", "", &json!({"fallback_url": null})).await.0, 200);
    assert_eq!(send("PUT", "/rules", &json!({})).await.0, 200);
}

#[tokio::test]
async fn a_destination_is_changed_by_either_name_but_not_by_both() {
    let fixture = Fixture::editable().await;

    let both = fixture.patch(&json!({"url": "https://a.example/", "original_url": "https://b.example/"})).await;
    let changed = fixture.patch(&json!({"original_url": "https://example.com/new"})).await;

    assert_eq!(both.problem(), (400, "url is there by two names".into()));
    assert_eq!((changed.status, &changed.json()["original_url"]), (200, &json!("https://example.com/new")));
    assert_eq!(fixture.link().await.target.as_str(), "https://example.com/new");
}

#[tokio::test]
async fn a_new_destination_takes_over_reuse_and_frees_the_old_url() {
    let fixture = Fixture::editable().await;
    let code = fixture.shorten("https://example.com/old").await;

    let elsewhere = json!({"url": "https://example.com/new"});
    let changed = fixture.request_to(&code, "PATCH", "").json(&elsewhere).send_to(&fixture.update).await;

    assert_eq!(changed.json()["original_url"], json!("https://example.com/new"));
    assert_eq!(fixture.shorten("https://example.com/new").await, code);
    assert_ne!(fixture.shorten("https://example.com/old").await, code);
}

#[tokio::test]
async fn a_link_that_watches_gets_no_destination_that_is_never_checked() {
    let fixture = Fixture::editable().await;
    let body = json!({"url": "https://example.com/old", "watch": true, "custom_code": "watcher"});
    let request = RequestBuilder::new("POST", "/api/shorten").token(&fixture.token()).json(&body);
    assert_eq!(fixture::send(&fixture.db, "shorten", request).await.status, 201);
    let change =
        async |body: &Value| fixture.request_to("watcher", "PATCH", "").json(body).send_to(&fixture.update).await;

    let refused = change(&json!({"url": "http://127.0.0.1/"})).await;
    change(&json!({"url": "http://127.0.0.1/", "watch": false})).await.expecting(200);

    assert_eq!(refused.problem(), (400, "url must have a public address to be monitored".into()));
}

/// How a function dies at a call: before it has left, or when it is carried out and nothing is known of it.
fn death_at(call: usize, last: Fault) -> impl Iterator<Item = (usize, Fault)> {
    iter::once((call, last)).chain((call + 1..call + 1_000).map(|later| (later, Fault::NotSent)))
}

#[tokio::test]
async fn reuse_and_history_match_the_destination_wherever_its_change_dies() {
    const OLD: &str = "https://example.com/old";
    const NEW: &str = "https://example.com/new";
    for last in [Fault::NotSent, Fault::AnswerLost] {
        for call in 0.. {
            let (fixture, faults) = (Fixture::editable().await, Faults::default());
            let code = fixture.shorten(OLD).await;
            let links = LinksTable(fixture.db.table_with(faults.clone(), "LinksTable"));
            let writer = LinkWriter { links, ..fixture::writer(&fixture.db) };
            let dying = Update { writer, authenticator: authenticator(), ..fixture::update(&fixture.db) };
            let change = || fixture.request_to(&code, "PATCH", "").json(&json!({"url": NEW}));

            faults.plan_all(death_at(call, last));
            let is_alive = change().send_to(&dying).await.status == 200;

            let what = format!("{last:?} at {call}");
            let is_changed = fixture.db.link(&code).await.target.as_str() == NEW;
            let reused = if is_changed { NEW } else { OLD };
            assert_eq!(fixture.shorten(reused).await, code, "{what}");
            assert_eq!(fixture.changes_of(&code).await, usize::from(is_changed), "{what}");
            assert_eq!(change().send_to(&fixture.update).await.status, 200, "{what}");
            assert_eq!((fixture.shorten(NEW).await, fixture.changes_of(&code).await), (code.clone(), 1), "{what}");
            assert_ne!(fixture.shorten(OLD).await, code, "{what}");
            if is_alive {
                assert!(call > 1, "it made calls at which it could die");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_links_history_has_every_change_of_where_or_whether_it_leads() {
    let fixture = Fixture::editable().await;
    fixture.patch(&json!({"title": "no news"})).await;
    fixture.patch(&json!({"url": "https://example.com/new"})).await;
    fixture.patch(&json!({"is_active": false, "max_clicks": 5})).await;
    fixture.patch(&json!({"password": "open sesame"})).await;
    fixture.put(&phones()).await;
    fixture.patch(&json!({"is_active": false})).await;

    let shown = fixture.read("/history").await;

    let entries = shown["history"].as_array().unwrap();
    let members: Vec<Vec<&String>> =
        entries.iter().map(|entry| entry["changes"].as_object().unwrap().keys().collect()).collect();
    assert_eq!(json!(members), json!([["routing"], ["is_protected"], ["is_active", "max_clicks"], ["original_url"]]));
    let moved = json!({"from": "https://example.com/", "to": "https://example.com/new"});
    assert_eq!(entries[3]["changes"]["original_url"], moved);
    assert_eq!(json!([entries[0]["by"], shown["next_cursor"]]), json!([fixture.ada.id.to_string(), null]));

    let first = fixture.read("/history?limit=3").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = fixture.read(&format!("/history?limit=3&after={cursor}")).await;
    assert_eq!((&rest["history"][0], &rest["next_cursor"]), (&entries[3], &json!(null)));
    assert_eq!(fixture.request("GET", "/history?after=%7e%7e").send_to(&fixture.list).await.status, 400);
}

#[tokio::test]
async fn simultaneous_changes_of_a_destination_are_in_the_history_in_order() {
    let fixture = Fixture::editable().await;
    let urls: Vec<String> = (0..8).map(|number| format!("https://example.com/{number}")).collect();

    let bodies: Vec<_> = urls.iter().map(|url| json!({"url": url})).collect();
    let answers = join_all(bodies.iter().map(|body| fixture.patch(body))).await;

    assert!(answers.iter().all(|answer| answer.status == 200));
    let shown = fixture.read("/history").await;
    let entries = shown["history"].as_array().unwrap();
    assert_eq!(entries.len(), urls.len());
    for pair in entries.windows(2) {
        let (later, earlier) = (&pair[0], &pair[1]);
        assert!(later["at"].as_str() > earlier["at"].as_str(), "{later} {earlier}");
        assert_eq!(later["changes"]["original_url"]["from"], earlier["changes"]["original_url"]["to"]);
    }
    assert_eq!(entries[0]["changes"]["original_url"]["to"], json!(fixture.link().await.target.as_str()));
}

#[tokio::test]
async fn a_deletion_is_in_a_links_history_which_a_purge_deletes() {
    let fixture = Fixture::new().await;
    let link = fixture.link().await;
    let bob = UserId::generate();
    fixture.db.delete_as(&bob, &link, Timestamp::now()).await;

    let shown = fixture.read("/history").await;
    assert_eq!(json!([shown["history"][0]["by"], shown["history"][0]["changes"]]), json!([bob, {"deleted": true}]));

    fixture.db.links().delete_history(link.id()).await.unwrap();
    assert_eq!(fixture.read("/history").await["history"], json!([]));
}

#[tokio::test]
async fn a_purge_after_a_change_of_destination_ends_watching_the_new_one() {
    let fixture = Fixture::editable().await;
    let link =
        LinkBuilder::new("watcher").to("https://example.com/a").in_workspace(&fixture.ada.workspace).watching().build();
    fixture.db.store(&link).await;
    let read = fixture.db.record("watcher").await.unwrap();
    let url = TargetUrl::parse("https://example.com/b").unwrap();
    let moved = fixture.db.patch(link.id(), &LinkPatch { url: Some(url), ..LinkPatch::default() }).await;

    fixture.db.purge(&read).await;

    let Some(Record::Tombstone(tombstone)) = fixture.db.record("watcher").await else {
        panic!("there is no tombstone")
    };
    assert_eq!(tombstone.watched_target, moved.watched_target());
}
