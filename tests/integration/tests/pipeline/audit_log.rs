//! What others than their owner do to links, purges and jobs, from the request to the entry and to whoever is told.

use linklet_domain::{Actor, AuditAction, AuditEntry, AuditFilter, AuditLog, Role};
use linklet_lambda::{batch::Consumer, http::DeferringHandler};
use linklet_test_support::{FakeNotifiers, FakeQueues, LinkBuilder, Person, RequestBuilder, TestDynamoDb, queue_batch};
use serde_json::{Value, json};

use crate::fixture::{self, colleague};
use crate::streams::is_let_through;

/// Ada and Bob, who lead a workspace, and Bob's link.
struct Office {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    ada: Person,
    bob: Person,
}

impl Office {
    async fn new() -> Self {
        let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
        let ada = db.register("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Admin).await;
        for code in ["launch", "second"] {
            db.store(&LinkBuilder::new(code).in_workspace(&ada.workspace).owned_by(&bob.id).build()).await;
        }
        Self { db, queues, outside, ada, bob }
    }

    async fn send(&self, by: &Person, method: &str, path: &str, body: Option<&Value>, handler: &impl DeferringHandler) {
        let request = RequestBuilder::new(method, path).token(&by.token(Role::Admin));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = request.send_to(handler).await;
        assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
    }

    async fn update(&self, by: &Person, path: &str, body: Value) {
        let method = if path.ends_with("/rules") { "PUT" } else { "PATCH" };
        self.send(by, method, path, Some(&body), &fixture::update(&self.db)).await;
    }

    async fn delete(&self, by: &Person, path: &str) {
        self.send(by, "DELETE", path, None, &fixture::delete(&self.db, self.db.authenticator())).await;
    }

    /// Delivers all that has happened to links, as often as is wanted.
    async fn deliver(&self, times: usize) {
        let mut stream = self.db.stream("LinksTable");
        stream.records.retain(|record| is_let_through("LinksStream", record));
        fixture::relay(&self.db, &self.queues).consume(stream).await;
        for _ in 0..times {
            let notify = fixture::notify(&self.db, &self.queues, &self.outside, false);
            let failed = notify.consume(queue_batch(&self.queues.bodies("notify"))).await.batch_item_failures;
            assert!(failed.is_empty(), "{failed:?}");
        }
    }

    /// What the audit log says of links and jobs, oldest first.
    async fn entries(&self) -> Vec<AuditEntry> {
        let audit_log = AuditLog::Workspace(self.ada.workspace);
        let mut page = self.db.audit_log().list(&audit_log, &AuditFilter::default(), 100, None).await.unwrap();
        page.items.retain(|entry| ["link", "job", "target"].contains(&entry.action.group()));
        page.items.reverse();
        page.items
    }

    async fn actions(&self) -> Vec<&'static str> {
        self.entries().await.iter().map(|entry| entry.action.into()).collect()
    }

    /// What Bob is told, but that his links were created.
    async fn told(&self) -> Vec<String> {
        let feed = self.db.notifications().list(&self.bob.id, &[], 100, None).await.unwrap();
        let told = feed.page.items.into_iter().filter(|one| one.event_type != "url.created");
        let mut told: Vec<_> = told.map(|one| one.message).collect();
        told.reverse();
        told
    }
}

#[tokio::test]
async fn changing_anothers_link_is_in_the_audit_log_and_tells_its_owner() {
    let office = Office::new().await;
    let request = RequestBuilder::new("PATCH", "/api/me").json(&json!({"full_name": "Ada Lovelace"}));
    let request = request.token(&office.ada.token(Role::Admin));
    assert_eq!(fixture::send(&office.db, "auth", request).await.status, 200);
    office.update(&office.ada, "/api/links/launch", json!({"title": "Sale", "tags": ["news"]})).await;
    office.deliver(2).await;
    office.update(&office.ada, "/api/links/launch", json!({"is_active": false})).await;
    office.deliver(1).await;

    let entries = office.entries().await;
    assert_eq!(office.actions().await, ["link.changed", "link.changed"]);
    assert_eq!(entries[0].actor.person(), Some(&office.ada.id));
    assert_eq!(entries[0].subject.as_ref().unwrap().to_string(), "link:launch");
    assert_eq!((entries[0].from.as_deref(), entries[0].to.as_deref()), (Some("tags, title"), Some("tags, title")));
    assert_eq!((entries[1].from.as_deref(), entries[1].to.as_deref()), (Some("active"), Some("inactive")));
    let told =
        ["Your short link launch was changed by Ada Lovelace.", "Your short link launch was disabled by Ada Lovelace."];
    assert_eq!(office.told().await, told);
}

#[tokio::test]
async fn owners_changes_to_their_links_are_not_audited_but_purges_are() {
    let office = Office::new().await;
    office.update(&office.bob, "/api/links/launch", json!({"title": "Sale"})).await;
    office.deliver(1).await;
    office.delete(&office.bob, "/api/urls/launch").await;
    office.deliver(1).await;
    assert_eq!(office.actions().await, [""; 0]);

    office.delete(&office.bob, "/api/links/second").await;
    office.deliver(1).await;

    assert_eq!(office.actions().await, ["link.purged"]);
    let told = [
        "Your short link launch to example.com was deleted.",
        "Your short link second was purged with its statistics.",
    ];
    let said: Vec<_> =
        office.told().await.iter().map(|one| one.replace("https://example.com/", "example.com")).collect();
    assert_eq!(said.len(), told.len(), "{said:?}");
    assert!(said.iter().all(|one| !one.contains(" by ")), "{said:?}");
}

#[tokio::test]
async fn bulk_changes_are_in_the_audit_log_link_by_link() {
    let office = Office::new().await;
    let body = json!({"codes": ["launch", "second"], "add_tags": ["news"]});
    office.update(&office.bob, "/api/links/bulk", body).await;
    office.deliver(1).await;
    assert_eq!(office.actions().await, ["link.changed", "link.changed"]);
    assert_eq!(office.told().await, [""; 0], "he knows");

    office.delete(&office.ada, "/api/links/bulk?codes=launch,second").await;
    office.deliver(1).await;

    assert_eq!(office.actions().await[2..], ["link.deleted", "link.deleted"]);
    assert_eq!(office.told().await.iter().filter(|one| one.ends_with("was deleted by someone else.")).count(), 2);
}

#[tokio::test]
async fn changed_rules_are_in_the_audit_log_but_the_owners_edits_arent() {
    let office = Office::new().await;
    let editable = RequestBuilder::new("PATCH", "/api/workspace").json(&json!({"destinations": "editable"}));
    let editable = editable.token(&office.ada.token(Role::Admin));
    assert_eq!(fixture::send(&office.db, "account", editable).await.status, 200);
    let rules = json!({"rules": [{"name": "phones", "conditions": [{"type": "device", "value": "ios"}], "url": "https://example.com/m"}]});
    office.update(&office.ada, "/api/links/launch/rules", rules).await;
    office.deliver(1).await;
    assert_eq!(office.entries().await[0].to.as_deref(), Some("rules"));

    office
        .update(&office.bob, "/api/links/launch", json!({"title": "Mine", "expires_at": "2031-01-02T03:04:05Z"}))
        .await;
    office.deliver(1).await;

    assert_eq!(office.actions().await, ["link.changed"]);
}

#[tokio::test]
async fn without_the_audit_log_the_message_comes_again_and_nobody_is_told_twice() {
    let office = Office::new().await;
    office.update(&office.ada, "/api/links/launch", json!({"title": "Sale"})).await;
    let mut stream = office.db.stream("LinksTable");
    stream.records.retain(|record| is_let_through("LinksStream", record));
    fixture::relay(&office.db, &office.queues).consume(stream).await;
    let batch = queue_batch(&office.queues.bodies("notify"));
    office.db.take_away("AuditTable");

    let notify = fixture::notify(&office.db, &office.queues, &office.outside, false);
    let failed = notify.consume(batch.clone()).await.batch_item_failures;
    office.db.make("AuditTable");
    let repeated = notify.consume(batch).await.batch_item_failures;

    assert_eq!((failed.len(), repeated.len()), (1, 0), "the change, and not the creations");
    assert_eq!(office.actions().await, ["link.changed"]);
    assert_eq!(office.told().await.len(), 1);
}

#[tokio::test]
async fn only_deleting_somebody_elses_target_is_in_the_audit_log() {
    let office = Office::new().await;
    for (by, expected) in [(&office.bob, vec![]), (&office.ada, vec!["target.deleted"])] {
        let url = json!({"url": "https://example.com/watched"});
        let token = office.bob.token(Role::Admin);
        let watch = fixture::watch(&office.db);
        let made = RequestBuilder::new("POST", "/v1/targets").token(&token).json(&url).send_to(&watch).await.json();
        let path = format!("/v1/targets/{}", made["id"].as_str().unwrap());

        office.send(by, "DELETE", &path, None, &watch).await;

        assert_eq!(office.actions().await, expected);
    }
}

#[tokio::test]
async fn what_an_operator_suspends_is_in_the_audit_log_and_its_owner_is_told() {
    let office = Office::new().await;
    for command in [
        json!({"suspend": {"what": {"code": "launch"}, "reason": "abuse"}}),
        json!({"suspend": {"what": {"code": "launch"}, "reason": "legal"}}),
        json!({"unsuspend": {"what": {"code": "launch"}}}),
    ] {
        let order = json!({"operator": "ada", "command": command});
        fixture::operate(&office.db, &office.queues).answer(order).await.unwrap();
    }

    office.deliver(2).await;

    let entries = office.entries().await;
    let said: Vec<_> =
        entries.iter().map(|entry| (entry.action, entry.actor.clone(), &entry.from, &entry.to)).collect();
    let [abuse, legal, both] = ["abuse", "legal", "legal, abuse"].map(|reasons| Some(reasons.to_owned()));
    assert_eq!(
        said,
        [
            (AuditAction::LinkSuspended, Actor::Operator, &None, &abuse),
            (AuditAction::LinkSuspended, Actor::Operator, &None, &legal),
            (AuditAction::LinkResumed, Actor::Operator, &both, &None)
        ]
    );
    let told = [
        "Your short link launch was suspended: it was reported or found as abuse.",
        "Your short link launch was suspended: there is a legal reason.",
        "The suspension of your short link launch was lifted.",
    ];
    assert_eq!(office.told().await, told);
}
