//! What operators suspend, and what links of it do then.

use std::time::Duration;

use linklet_domain::{LinkStatus, Role, SuspensionReason, Timestamp};
use linklet_dynamodb::LinksTable;
use linklet_lambda::blocks::Blocks;
use linklet_operate::Operate;
use linklet_test_support::{
    Answer, FakeQueues, Fault, Faults, LinkBuilder, Person, RequestBuilder, TestDynamoDb, in_role_of,
};
use serde_json::{Value, json};

use crate::fixture::{list, operate, redirect, shorten, update};

/// Ada, whose links are looked at.
struct Fixture {
    db: TestDynamoDb,
    ada: Person,
}

impl Fixture {
    /// With links that lead here.
    async fn with(links: &[(&str, &str)]) -> Self {
        let db = TestDynamoDb::start();
        let ada = db.register("ada").await;
        for (code, url) in links {
            let link = LinkBuilder::new(code).to(url).in_workspace(&ada.workspace).owned_by(&ada.id);
            db.store(&link.build()).await;
        }
        Self { db, ada }
    }

    /// Carries out a command on each page of the table, and returns all that it says.
    async fn command(&self, mut command: Value) -> Result<String, String> {
        let operate = operate(&self.db, &FakeQueues::start());
        let mut said = String::new();
        loop {
            let order = json!({"operator": "arn:aws:iam::123456789012:user/ada", "command": command});
            let answer = in_role_of::<Operate, _>(operate.answer(order)).await.unwrap();
            let answer = serde_json::to_value(answer).unwrap();
            let Some(text) = answer["text"].as_str() else {
                return Err(answer["refusal"].as_str().unwrap().to_owned());
            };
            said += text;
            if answer["next"].is_null() {
                return Ok(said);
            }
            command.as_object_mut().unwrap().values_mut().next().unwrap()["after"] = answer["next"].clone();
        }
    }

    async fn suspend(&self, what: Value, reason: &str) -> Result<String, String> {
        self.command(json!({"suspend": {"what": what, "reason": reason}})).await
    }

    async fn unsuspend(&self, what: Value) -> Result<String, String> {
        self.command(json!({"unsuspend": {"what": what}})).await
    }

    async fn statuses<const N: usize>(&self, codes: [&str; N]) -> [&'static str; N] {
        let links = futures_util::future::join_all(codes.map(|code| self.db.link(code))).await;
        let statuses = links.iter().map(|link| link.availability.status(Timestamp::now()).into());
        statuses.collect::<Vec<_>>().try_into().unwrap()
    }

    async fn shorten(&self, body: &Value) -> Answer {
        RequestBuilder::new("POST", "/api/shorten")
            .token(&self.ada.token(Role::Admin))
            .json(body)
            .send_to(&shorten(&self.db))
            .await
    }

    async fn follow(&self, code: &str) -> Answer {
        RequestBuilder::new("GET", &format!("/{code}")).send_to(&redirect(&self.db)).await
    }
}

#[tokio::test]
async fn a_suspended_link_leads_nowhere_until_its_operator_lifts_it() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    let patch = json!({"is_active": true, "url": "https://example.com/other"});

    let suspended = fixture.suspend(json!({"code": "launch"}), "abuse").await.unwrap();
    let patched = RequestBuilder::new("PATCH", "/api/links/launch").token(&fixture.ada.token(Role::Admin)).json(&patch);
    patched.send_to(&update(&fixture.db)).await;

    assert_eq!(suspended, "https://go.example.com/launch: suspended (abuse)");
    assert_eq!(fixture.follow("launch").await.problem_code(), (410, "link_suspended".into()));
    assert_eq!(fixture.suspend(json!({"code": "launch"}), "abuse").await.unwrap(), suspended, "again");
    assert_eq!(fixture.unsuspend(json!({"code": "launch"})).await.unwrap(), "https://go.example.com/launch: active");
    assert_eq!(fixture.follow("launch").await.status, 301);
}

#[tokio::test]
async fn what_the_law_asks_for_answers_451() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;

    fixture.suspend(json!({"code": "launch"}), "abuse").await.unwrap();
    fixture.suspend(json!({"code": "launch"}), "legal").await.unwrap();

    assert_eq!(fixture.follow("launch").await.problem_code(), (451, "link_withheld".into()));
}

#[tokio::test]
async fn members_see_why_a_link_is_suspended() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    fixture.suspend(json!({"code": "launch"}), "other").await.unwrap();

    let request = RequestBuilder::new("GET", "/api/links/launch").token(&fixture.ada.token(Role::Viewer));
    let shown = request.send_to(&list(&fixture.db)).await.json();

    assert_eq!((&shown["status"], &shown["suspended_for"]), (&json!("suspended"), &json!(["other"])));
}

#[tokio::test]
async fn an_open_workspace_leaves_suspended_what_an_operator_has_suspended() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    fixture.suspend(json!({"code": "launch"}), "abuse").await.unwrap();
    let link = fixture.db.link("launch").await;

    fixture.db.suspend(&link).await;
    let both = fixture.db.link("launch").await.availability.suspensions;
    fixture.db.resume(&link).await;

    assert_eq!(both.iter().collect::<Vec<_>>(), [SuspensionReason::Closed, SuspensionReason::Abuse]);
    assert_eq!(fixture.statuses(["launch"]).await, ["suspended"]);
}

#[tokio::test]
async fn a_word_of_a_later_version_suspends_and_breaks_no_list() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    let mut item = fixture.db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    item["availability"]["M"]["suspended_by"] = json!({"SS": ["embargo"]});
    fixture.db.put("LinksTable", &item);

    let request = RequestBuilder::new("GET", "/api/links").token(&fixture.ada.token(Role::Viewer));
    let listed = request.send_to(&list(&fixture.db)).await.json();

    assert_eq!(
        (&listed["links"][0]["status"], &listed["links"][0]["suspended_for"]),
        (&json!("suspended"), &json!(["other"]))
    );
    assert_eq!(fixture.follow("launch").await.problem_code(), (410, "link_suspended".into()));
}

#[tokio::test]
async fn a_blocked_host_suspends_its_links_and_refuses_new_ones() {
    let fixture = Fixture::with(&[
        ("one", "https://Spam.example/a"),
        ("two", "https://www.spam.example/b"),
        ("other", "https://notspam.example/"),
    ])
    .await;
    let with_rule =
        json!({"url": "https://example.com/", "fallback_url": "https://spam.example/", "custom_code": "fallback"});
    assert_eq!(fixture.shorten(&with_rule).await.status, 201);
    let host = json!({"host": "spam.example"});

    fixture.suspend(host.clone(), "abuse").await.unwrap();

    assert_eq!(
        fixture.statuses(["one", "two", "fallback", "other"]).await,
        ["suspended", "suspended", "suspended", "active"]
    );
    for body in [
        json!({"url": "https://x.spam.example/"}),
        json!({"url": "https://e.com/", "fallback_url": "http://spam.example"}),
    ] {
        assert_eq!(fixture.shorten(&body).await.problem_code(), (403, "destination_blocked".into()));
    }
    fixture.unsuspend(host.clone()).await.unwrap();
    assert_eq!(fixture.statuses(["one", "two", "fallback"]).await, ["active"; 3]);
    assert_eq!(fixture.shorten(&json!({"url": "https://spam.example/c"})).await.status, 201);
    assert_eq!(fixture.unsuspend(host).await.unwrap_err(), "it isn't suspended; what is: nothing");
}

#[tokio::test]
async fn no_link_is_led_to_a_blocked_host() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    fixture.suspend(json!({"host": "spam.example"}), "abuse").await.unwrap();

    for (path, body) in [
        ("/api/links/launch", json!({"url": "https://spam.example/"})),
        ("/api/links/launch/rules", json!({"variants": [{"name": "b", "url": "https://spam.example/", "weight": 1}]})),
    ] {
        let method = if path.ends_with("rules") { "PUT" } else { "PATCH" };
        let request = RequestBuilder::new(method, path).token(&fixture.ada.token(Role::Admin)).json(&body);
        let refused = request.send_to(&update(&fixture.db)).await;
        assert_eq!(refused.problem_code(), (403, "destination_blocked".into()), "{path}");
    }
}

#[tokio::test]
async fn a_suspended_workspace_has_no_link_that_leads_anywhere() {
    let fixture = Fixture::with(&[("launch", "https://spam.example/"), ("second", "https://example.com/")]).await;
    fixture.db.store(&LinkBuilder::new("foreign").build()).await;
    let slug = fixture.db.users().workspace(&fixture.ada.workspace).await.unwrap().unwrap().slug;
    let workspace = json!({"workspace": slug});

    fixture.suspend(json!({"host": "spam.example"}), "abuse").await.unwrap();
    fixture.suspend(workspace.clone(), "abuse").await.unwrap();

    assert_eq!(fixture.statuses(["launch", "second", "foreign"]).await, ["suspended", "suspended", "active"]);
    let refused = fixture.shorten(&json!({"url": "https://example.com/new"})).await;
    assert_eq!(refused.problem_code(), (403, "workspace_suspended".into()));
    let blocked = fixture.unsuspend(json!({"code": "second"})).await.unwrap_err();
    assert!(blocked.ends_with("is suspended, and so is the link: unsuspend that"), "{blocked}");
    fixture.unsuspend(workspace).await.unwrap();
    assert_eq!(fixture.statuses(["launch", "second"]).await, ["suspended", "active"], "the host still is");
}

#[tokio::test]
async fn who_names_owner_and_workspace_and_what_else_leads_to_the_host() {
    let fixture = Fixture::with(&[("launch", "https://spam.example/a"), ("second", "https://spam.example/b")]).await;

    let said = fixture.command(json!({"who": {"code": "launch"}})).await.unwrap();

    for part in [
        "https://go.example.com/launch leads to https://spam.example/a\nStatus: active\n",
        "Owner: ada@example.com (",
        "\nSame host: https://go.example.com/second leads to https://spam.example/b, active, of workspace ",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(fixture.command(json!({"who": {"code": "nothing"}})).await.unwrap_err(), "no link has this code");
}

#[tokio::test]
async fn what_no_operator_can_mean_is_refused() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;

    let closed = fixture.suspend(json!({"code": "launch"}), "closed").await;
    let unknown = fixture.suspend(json!({"code": "launch"}), "spite").await;
    let nowhere = fixture.suspend(json!({"workspace": "no-such"}), "abuse").await;
    let too_wide = fixture.suspend(json!({"host": "com"}), "abuse").await;

    assert_eq!(closed, Err("REASON must be abuse, legal or other".into()));
    assert!(unknown.unwrap_err().contains("reason must be abuse, legal or other"));
    assert_eq!(too_wide, Err("HOST must have a dot".into()));
    assert_eq!(nowhere, Err("no workspace has this slug or id".into()));
    assert_eq!(fixture.db.link("launch").await.availability.status(Timestamp::now()), LinkStatus::Active);
}

#[tokio::test]
async fn the_code_of_a_suspended_link_is_not_free_after_its_purge() {
    let fixture = Fixture::with(&[("launch", "https://example.com/")]).await;
    fixture.suspend(json!({"code": "launch"}), "legal").await.unwrap();
    let record = fixture.db.record("launch").await.unwrap();

    fixture.db.purge(&record).await;
    let body = json!({"url": "https://example.com/", "custom_code": "launch"});
    let again = fixture.shorten(&body).await;
    let asked = RequestBuilder::new("GET", "/api/codes/launch").token(&fixture.ada.token(Role::Admin));

    assert_eq!(again.problem_code(), (409, "short_code_taken".into()));
    assert_eq!(asked.send_to(&shorten(&fixture.db)).await.json()["available"], json!(false));
}

#[tokio::test]
async fn a_host_is_suspended_for_one_reason_at_a_time() {
    let fixture = Fixture::with(&[("launch", "https://spam.example/")]).await;
    let host = json!({"host": "spam.example"});
    fixture.suspend(host.clone(), "abuse").await.unwrap();

    let other = fixture.suspend(host.clone(), "legal").await;
    fixture.unsuspend(host).await.unwrap();

    assert_eq!(other, Err("it is suspended for another reason, abuse: unsuspend it first".into()));
    assert_eq!(fixture.statuses(["launch"]).await, ["active"]);
}

#[tokio::test]
async fn a_block_of_a_later_version_refuses_no_other_link() {
    let fixture = Fixture::with(&[]).await;
    for (what, reason) in [("country:xy", "abuse"), ("host:spam.example", "embargo")] {
        let item = json!({"pk": {"S": "BLOCK#ALL"}, "sk": {"S": what}, "reason": {"S": reason}});
        fixture.db.put("LinksTable", &item);
    }

    let statuses = [
        fixture.shorten(&json!({"url": "https://example.com/"})).await.status,
        fixture.shorten(&json!({"url": "https://spam.example/"})).await.status,
    ];

    assert_eq!(statuses, [201, 403]);
}

#[tokio::test]
async fn a_link_that_cannot_be_read_keeps_no_other_suspended_or_not() {
    let fixture = Fixture::with(&[("launch", "https://spam.example/"), ("broken", "https://spam.example/")]).await;
    let items = fixture.db.scan("LinksTable");
    let mut broken =
        items.into_iter().find(|item| item["pk"]["S"] == "LINK#broken" && item["sk"]["S"] == "LINK").unwrap();
    broken["created_at"] = json!({"S": "yesterday"});
    fixture.db.put("LinksTable", &broken);

    let said = fixture.suspend(json!({"host": "spam.example"}), "abuse").await.unwrap();

    assert!(said.contains("FAILED broken: its item can't be read"), "{said}");
    assert_eq!(fixture.statuses(["launch"]).await, ["suspended"]);
    fixture.unsuspend(json!({"host": "spam.example"})).await.unwrap();
    assert_eq!(fixture.statuses(["launch"]).await, ["active"]);
    assert!(fixture.db.links().blocks().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_link_that_stays_suspended_keeps_the_block_of_its_host() {
    let fixture = Fixture::with(&[("launch", "https://spam.example/")]).await;
    let host = json!({"host": "spam.example"});
    fixture.suspend(host.clone(), "abuse").await.unwrap();
    let faults = Faults::default();
    let links = LinksTable(fixture.db.table_with(faults.clone(), "LinksTable"));
    // The blocks and the page are read.
    faults.plan_all((2..100).map(|call| (call, Fault::NotSent)));
    let failing = Operate { links, ..operate(&fixture.db, &FakeQueues::start()) };

    let order = json!({"operator": "ada", "command": {"unsuspend": {"what": host, "after": null}}});
    let answer = serde_json::to_value(failing.answer(order).await.unwrap()).unwrap();

    assert_eq!((&answer["is_incomplete"], &answer["next"]), (&json!(true), &Value::Null), "{answer}");
    assert!(answer["text"].as_str().unwrap().starts_with("FAILED launch, do it again: "), "{answer}");
    fixture.unsuspend(host).await.unwrap();
    assert_eq!(fixture.statuses(["launch"]).await, ["active"]);
}

#[tokio::test]
async fn what_is_blocked_is_read_once_a_minute() {
    let fixture = Fixture::with(&[]).await;
    let (blocks, link) =
        (Blocks::new(fixture.db.links()), LinkBuilder::new("launch").to("https://spam.example/").build());
    let now = Timestamp::now();
    assert!(blocks.refuse(&link, now).await.is_ok());

    fixture.suspend(json!({"host": "spam.example"}), "abuse").await.unwrap();

    let just_before = now.plus(Blocks::HELD_FOR).minus(Duration::from_millis(1));
    assert!(blocks.refuse(&link, just_before).await.is_ok());
    assert!(blocks.refuse(&link, now.plus(Blocks::HELD_FOR)).await.is_err());
}
