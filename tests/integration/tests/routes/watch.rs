use linklet_domain::CheckResult;
use linklet_dynamodb::{CheckedTarget, TargetQuota};
use linklet_watch::Watch;

use crate::fixture::{due, record, watch};
use crate::prelude::*;

/// Somebody with a workspace, and the function.
struct Client<'d> {
    db: &'d TestDynamoDb,
    user: UserId,
    workspace: WorkspaceId,
    role: Role,
}

impl<'d> Client<'d> {
    fn new(db: &'d TestDynamoDb) -> Self {
        Self { db, user: UserId::generate(), workspace: WorkspaceId::generate(), role: Role::Member }
    }

    /// Somebody else in the workspace.
    fn colleague(&self, role: Role) -> Self {
        Self { db: self.db, user: UserId::generate(), workspace: self.workspace, role }
    }

    async fn send(&self, request: RequestBuilder) -> Answer {
        request.token(&token_of(&self.user, &self.workspace, self.role)).send_to(&watch(self.db)).await
    }

    async fn post(&self, body: &Value) -> Answer {
        self.send(RequestBuilder::new("POST", "/v1/targets").json(body)).await
    }

    async fn post_with_key(&self, url: &str, key: &str) -> Answer {
        let request = RequestBuilder::new("POST", "/v1/targets").header("idempotency-key", key);
        self.send(request.json(&json!({"url": url}))).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(RequestBuilder::new("GET", path)).await
    }

    async fn delete(&self, id: &str) -> Answer {
        self.send(RequestBuilder::new("DELETE", &format!("/v1/targets/{id}"))).await
    }

    /// Registers a URL and returns the target's id.
    async fn register(&self, url: &str) -> String {
        self.post(&json!({"url": url})).await.expecting(201).text("id")
    }

    /// A target of the caller's.
    async fn store(&self, url: &str, created_at: Timestamp) -> Target {
        let target = TargetBuilder::new(url).in_workspace(&self.workspace).owned_by(&self.user).created_at(created_at);
        self.db.store_target(&target.build()).await
    }
}

fn urls(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let items = body["items"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    items.iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect()
}

// ---------------------------------------------------------------------------------------------------------- Registering

#[tokio::test]
async fn a_url_is_registered_once_however_it_is_written() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);

    let first = ada.post(&json!({"url": "HTTPS://Example.com:443/path/?a=1#section"})).await;
    let again = ada.post(&json!({"url": "https://example.com/path?a=1"})).await;

    assert_eq!((first.status, again.status, again.header("location")), (201, 200, ""));
    assert_eq!(first.json(), again.json());
    let mut body = first.json();
    let id = body["id"].take();
    assert!(id.as_str().unwrap().starts_with("t_"), "{id}");
    let created_at = body["created_at"].take();
    assert!(Timestamp::parse(created_at.as_str().unwrap()).is_ok());
    let shown = json!({
        "id": null, "url": "HTTPS://Example.com:443/path/?a=1#section",
        "canonical_url": "https://example.com/path?a=1", "host": "example.com", "created_at": null,
        "status": "pending", "status_since": created_at,
    });
    assert_eq!(body, shown);
}

#[tokio::test]
async fn a_key_with_another_body_gets_its_target() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);
    let first = ada.post_with_key("https://example.com/a", "k").await;

    for url in ["https://example.com/b", "HTTPS://example.com/a", "http://localhost/"] {
        let again = ada.post_with_key(url, "k").await;

        assert_eq!((again.status, again.json()), (200, first.json()), "{url}");
    }
    assert_eq!(ada.post_with_key("no URL at all", "k").await.status, 400);
    let malformed = ada.post_with_key("https://example.com/a", "two words").await.problem();
    assert_eq!(malformed, (400, "Idempotency-Key must have 1–255 visible ASCII characters".into()));
    assert_eq!(urls(&ada.get("/v1/targets").await), ["https://example.com/a"]);
}

#[tokio::test]
async fn each_refusal_gives_its_reason_and_stores_nothing() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);
    let cases = [
        (json!({}), "url is required"),
        (json!({"url": 5}), "url must be a string"),
        (json!({"url": "ftp://example.com"}), "url must begin with http:// or https://, not ftp:"),
        (
            json!({"url": format!("https://example.com/{}", "ü".repeat(500))}),
            "url must have at most 2,048 bytes when it is percent-encoded",
        ),
        (json!({"url": "http://localhost/"}), "url must have a public address to be monitored"),
        (json!({"url": "https://api.example.com/r/abcd"}), "you can't shorten a Linklet link"),
    ];

    for (body, reason) in cases {
        assert_eq!(ada.post(&body).await.problem(), (400, reason.into()), "{body}");
    }
    assert!(db.scan("WatchTable").is_empty());
}

/// Also if somebody else in the workspace registers them.
#[tokio::test]
async fn targets_count_for_who_created_the_workspace() {
    let (db, creator) = with_person("creator").await;
    let colleague = Client { db: &db, user: UserId::generate(), workspace: creator.workspace, role: Role::Member };
    let targets = db.watch().with_quota(TargetQuota { per_workspace: 10, per_creator: 1 });
    let limited = Watch { targets, ..watch(&db) };
    let post = async |workspace: &WorkspaceId, url: &str| {
        limited.post("/v1/targets", &token_of(&colleague.user, workspace, Role::Member), &json!({"url": url})).await
    };

    let first = post(&creator.workspace, "https://example.com/a").await;
    let second = post(&creator.workspace, "https://example.com/b").await;
    let elsewhere = post(&WorkspaceId::generate(), "https://example.com/a").await;

    assert_eq!([first.status, second.status, elsewhere.status], [201, 409, 201]);
    let reason = "this workspace or its creator has reached the limit of monitored URLs; delete a target first";
    assert_eq!((second.problem(), &second.json()["code"]), ((409, reason.into()), &json!("target_quota_reached")));
    let id = first.parsed("id");
    assert_eq!(due(&db.watch(), &id).await.workspace_creator, creator.id);
    assert_eq!(colleague.delete(first.json()["id"].as_str().unwrap()).await.status, 204);
    assert_eq!(post(&creator.workspace, "https://example.com/b").await.status, 201);
}

// -------------------------------------------------------------------------------------------------------------- Listing

#[tokio::test]
async fn a_list_without_targets_is_empty_and_not_null() {
    let db = TestDynamoDb::start();

    let answer = Client::new(&db).get("/v1/targets").await;

    assert_eq!((answer.status, answer.json()), (200, json!({"items": [], "next_page_token": null})));
}

#[tokio::test]
async fn a_list_shows_how_its_targets_are_if_somebody_wants_to_know() {
    let db = TestDynamoDb::start();
    let (ada, start) = (Client::new(&db), Timestamp::now());
    let after = |seconds| start.plus(Duration::from_secs(seconds));
    let up = ada.store("https://example.com/up", start).await;
    let new = ada.store("https://example.com/new", after(1)).await;
    let gone = ada.store("https://example.com/gone", after(2)).await;
    check(&db, &up.id, after(15), CheckOutcome::Answered(200)).await;

    let list = async |query: &str| {
        ada.send(RequestBuilder::new("GET", &format!("/v1/targets?{query}")).at(after(20))).await.json()
    };
    let (with, without) = (list("health=true&limit=2").await, list("health=false&limit=2").await);

    assert_eq!(with["next_page_token"], without["next_page_token"]);
    let health = |of: usize| {
        let item = with["items"][of].as_object().unwrap().clone();
        let listed = without["items"][of].as_object().unwrap();
        Value::Object(item.into_iter().filter(|(name, value)| listed.get(name) != Some(value)).collect())
    };
    let latest = json!({"checked_at": after(15), "status_code": 200, "latency_ms": 80, "error": null});
    assert_eq!(health(0), json!({"status": "up", "status_since": after(15), "latest": latest}));
    assert_eq!(health(1), json!({"status": "pending", "status_since": new.status_since, "latest": null}));
    // One that is deleted between the two reads is as good as not listed.
    let page = db.watch().list(&ada.workspace, None, 20, None).await.unwrap();
    assert_eq!(ada.delete(gone.id.as_str()).await.status, 204);
    let known = db.watch().healths(&ada.workspace, &page.items, after(20)).await.unwrap();
    assert_eq!((page.items.len(), known.len(), known.contains_key(&gone.id)), (3, 2, false));
    assert_eq!(ada.get("/v1/targets?health=yes").await.problem(), (400, "health must be true or false".into()));
}

#[tokio::test]
async fn pages_show_each_target_once_in_the_order_of_registration() {
    let db = TestDynamoDb::start();
    let (ada, start) = (Client::new(&db), Timestamp::now());
    let mut expected = Vec::new();
    for number in 0..25_u64 {
        let created_at = start.plus(Duration::from_secs(number / 9));
        let target = ada.store(&format!("https://example.com/{number}"), created_at).await;
        expected.push((target.created_at, target.id, target.url.to_string()));
    }
    expected.sort();

    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = ada.get(&format!("/v1/targets?limit=10&{token}")).await.expecting(200);
        seen.extend(urls(&page));
        match page.json()["next_page_token"].as_str() {
            Some(next) => token = format!("page_token={next}"),
            None => break,
        }
    }

    assert_eq!(seen, expected.into_iter().map(|(_, _, url)| url).collect::<Vec<_>>());
    assert_eq!(urls(&ada.get("/v1/targets").await).len(), 20);
    let listed = &ada.get("/v1/targets?limit=1").await.json()["items"][0];
    let members: Vec<_> = listed.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["canonical_url", "created_at", "host", "id", "url"]);
}

#[tokio::test]
async fn a_host_filters_in_every_spelling() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);
    ada.register("https://münchen.de/a").await;
    ada.register("https://example.com/a").await;

    for host in ["MÜNCHEN.de", "xn--mnchen-3ya.de"] {
        assert_eq!(urls(&ada.get(&format!("/v1/targets?host={host}")).await), ["https://münchen.de/a"], "{host}");
    }
    assert_eq!(ada.get("/v1/targets?host=münchen.de").await.json()["items"][0]["host"], "xn--mnchen-3ya.de");
    assert!(urls(&ada.get("/v1/targets?host=other.example").await).is_empty());
}

#[tokio::test]
async fn a_parameter_that_makes_no_sense_is_named() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);
    let id = ada.register("https://example.com/a").await;
    let (limit, token) = ("limit must be a positive integer", "page_token is not a token of this list");
    let host = "host must be a host name or an IP address";
    let since = "since must be a date or RFC3339 format";
    let cases = [
        ("/v1/targets?limit=0".to_owned(), limit),
        ("/v1/targets?page_token=AAAA".to_owned(), token),
        ("/v1/targets?host=https://example.com".to_owned(), host),
        (format!("/v1/targets/{id}/results?since=yesterday"), since),
    ];

    for (path, reason) in cases {
        assert_eq!(ada.get(&path).await.problem(), (400, reason.into()), "{path}");
    }
    for path in ["/v1/targets/ID", "/v1/targets/ID/results"] {
        for id in ["t_1", "..", "%"] {
            assert_eq!(ada.get(&path.replace("ID", id)).await.problem(), (404, "not found".into()), "{path} {id}");
        }
    }
}

#[tokio::test]
async fn a_workspace_sees_its_own_targets_with_whatever_token() {
    let db = TestDynamoDb::start();
    let (ada, bob) = (Client::new(&db), Client::new(&db));
    for page in ["a", "b", "c"] {
        ada.register(&format!("https://example.com/{page}")).await;
    }
    bob.register("https://example.com/mine").await;
    let token = ada.get("/v1/targets?limit=1").await.text("next_page_token");

    let bobs = bob.get(&format!("/v1/targets?page_token={token}")).await;

    assert_eq!(urls(&bobs), ["https://example.com/mine"]);
    assert_eq!(urls(&bob.get("/v1/targets?host=example.com").await), ["https://example.com/mine"]);
}

// ---------------------------------------------------------------------------------------------------------- One of them

#[tokio::test]
async fn who_registers_what_a_colleagues_link_watches_may_delete_it() {
    let db = TestDynamoDb::start();
    let ada = Client::new(&db);
    let bob = ada.colleague(Role::Member);
    let adas = TargetBuilder::new("https://example.com/a").in_workspace(&ada.workspace).owned_by(&ada.user).build();
    let link = link_id("launch");
    db.watch().watch(&adas, &link, Timestamp::now(), &correlation()).await.unwrap();

    let registered = bob.post(&json!({"url": "https://example.com/a"})).await;
    let refused = bob.delete(adas.id.as_str()).await;
    db.watch().unwatch(&adas.id, &link, Timestamp::now()).await.unwrap();

    assert_eq!((registered.status, &registered.json()["id"]), (200, &json!(adas.id)));
    assert_eq!(refused.problem(), (409, "links watch this target; delete them first".into()));
    assert_eq!(ada.delete(adas.id.as_str()).await.status, 403);
    assert_eq!(bob.delete(adas.id.as_str()).await.status, 204);
}

// -------------------------------------------------------------------------------------------------------------- Results

#[tokio::test]
async fn results_come_newest_first_with_what_was_found() {
    let db = TestDynamoDb::start();
    let (ada, start) = (Client::new(&db), Timestamp::parse("2026-03-02T12:00:00Z").unwrap());
    let target = ada.store("https://example.com/a", start).await;
    let path = format!("/v1/targets/{}/results", target.id);
    let get = async |query: &str| {
        let request = RequestBuilder::new("GET", &format!("{path}?{query}")).at(start.plus(Duration::from_secs(600)));
        ada.send(request).await
    };
    assert_eq!(get("").await.json(), json!({"items": [], "next_cursor": null, "has_more": false}));
    let outcomes =
        [CheckOutcome::Answered(200), CheckOutcome::Failed(CheckError::NotPublic), CheckOutcome::Answered(503)];

    for (number, outcome) in (0..).zip(outcomes) {
        let slot = start.plus(Duration::from_secs(15 * number));
        let result =
            CheckResult { checked_at: slot.plus(Duration::from_millis(120)), outcome, latency_ms: 80 + number };
        let target = due(&db.watch(), &target.id).await;
        record(&db.watch(), slot, &CheckedTarget { target, result }).await.unwrap();
    }

    let newest = json!({"checked_at": "2026-03-02T12:00:30.120Z", "status_code": 503, "latency_ms": 82, "error": null});
    let refused =
        json!({"checked_at": "2026-03-02T12:00:15.120Z", "status_code": null, "latency_ms": 81, "error": "not_public"});
    let oldest = json!({"checked_at": "2026-03-02T12:00:00.120Z", "status_code": 200, "latency_ms": 80, "error": null});
    assert_eq!(
        get("").await.json(),
        json!({"items": [newest, refused, oldest], "next_cursor": null, "has_more": false})
    );
    let mut pages = vec![get("limit=1").await.json()];
    while let Some(cursor) = pages.last().and_then(|page| page["next_cursor"].as_str()) {
        let next = get(&format!("limit=1&after={cursor}")).await.json();
        pages.push(next);
    }
    let items = |page: &Value| page["items"].as_array().unwrap().clone();
    assert_eq!(pages.iter().flat_map(items).collect::<Vec<_>>(), [newest.clone(), refused.clone(), oldest.clone()]);
    assert!(pages.iter().all(|page| items(page).len() <= 1 && page["has_more"] == !page["next_cursor"].is_null()));
    assert_eq!(get("since=2026-03-02T12:00:15Z").await.json()["items"], json!([newest, refused]));
    assert_eq!(get("since=2026-03-02").await.json()["items"].as_array().unwrap().len(), 3);
    let shown = ada.get(&format!("/v1/targets/{}", target.id)).await.json();
    assert_eq!((&shown["status"], &shown["status_since"]), (&json!("down"), &newest["checked_at"]));
}
