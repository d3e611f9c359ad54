//! What the version before has stored, sent and handed out, which this version has to read: a gradual deployment, a rollback and
//! messages that wait have both at once.
//!
//! `WRITE_FORMS=yes` writes `stored_forms.json` as this version does. That is due after each release, and when a form changes that nobody
//! has stored yet; its commit says so.

use std::{collections::BTreeMap, env, fs};

use linklet_domain::{Role, UserId, WorkspaceId};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    Answer, FakeNotifiers, FakeQueues, RequestBuilder, Template, TestDynamoDb, queue_batch, token_of,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::fixture::{self, send};
use crate::streams::{JobsStream, is_let_through};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pipeline/stored_forms.json");

/// What is asked: the function, the path, the member that has something, if any has for years, and the parameter that takes the cursor of
/// a page, if it has one.
const ASKED: [(&str, &str, &str, &str); 18] = [
    ("list", "/api/links?per_page=1", "links", "after"),
    ("list", "/api/urls?limit=1", "urls", "after"),
    ("list", "/api/links/launch", "external_id", ""),
    ("list", "/api/links/launch/history?limit=1", "history", "after"),
    ("list", "/api/links/launch/rules", "rules", ""),
    ("stats", "/api/stats/launch", "total_clicks", ""),
    ("stats", "/api/stats/launch/clicks?limit=1", "clicks", "after"),
    ("overview", "/api/overview", "links", ""),
    ("overview", "/api/tags", "tags", ""),
    ("jobs-api", "/api/jobs?limit=1", "jobs", "after"),
    ("account", "/api/notifications?limit=1", "notifications", "after"),
    ("account", "/api/workspace/audit?limit=1", "entries", "after"),
    ("account", "/api/workspace/members", "members", ""),
    // They expire after a week.
    ("account", "/api/workspace/invitations", "", ""),
    ("account", "/api/keys", "keys", ""),
    ("auth", "/api/me", "email", ""),
    ("leave", "/api/me/export", "items", ""),
    ("watch", "/v1/targets?limit=1", "items", "page_token"),
];

#[derive(Serialize, Deserialize)]
struct Forms {
    user: UserId,
    workspace: WorkspaceId,
    /// The items of each table.
    items: BTreeMap<String, Vec<Value>>,
    /// The messages of each queue.
    messages: BTreeMap<String, Vec<String>>,
    /// The cursor behind the first page, by the path.
    cursors: BTreeMap<String, String>,
}

impl Forms {
    /// What this version stores, sends and hands out.
    async fn made() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register("ada").await;
        let (user, workspace) = (ada.id, ada.workspace);
        let forms =
            Self { user, workspace, items: BTreeMap::new(), messages: BTreeMap::new(), cursors: BTreeMap::new() };
        for (function, method, path, body) in changes() {
            let answer = send(&db, function, forms.request(method, path).json(&body)).await;
            assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
        }
        for _ in 0..12 {
            RequestBuilder::new("GET", "/second").send_to(&fixture::redirect(&db)).await;
            RequestBuilder::new("GET", "/launch").send_to(&fixture::redirect(&db)).await;
        }
        JobsStream::of(&db).carry(&fixture::jobs(&db, &queues)).await;
        for table in ["LinksTable", "ClicksTable"] {
            let mut stream = db.stream(table);
            stream.records.retain(|record| table == "ClicksTable" || is_let_through("LinksStream", record));
            fixture::relay(&db, &queues).consume(stream).await;
        }
        // Half of them is processed, the other half waits.
        let messages = BTreeMap::from(["analytics", "notify"].map(|queue| (queue.to_owned(), queues.bodies(queue))));
        let forms = Self { messages, ..forms };
        forms.consume_messages(&db).await;
        let mut cursors = BTreeMap::new();
        for (function, path, member, parameter) in ASKED {
            let answer = forms.ask(&db, function, path, member).await;
            if !parameter.is_empty() {
                let next = answer["next_cursor"].as_str().or(answer["next_page_token"].as_str());
                cursors.insert(path.to_owned(), next.unwrap_or_else(|| panic!("{path}: {answer}")).to_owned());
            }
        }
        let items = Template::load().tables().keys().map(|table| (table.clone(), db.scan(table))).collect();
        Self { items, cursors, ..forms }
    }

    fn request(&self, method: &str, path: &str) -> RequestBuilder {
        RequestBuilder::new(method, path).token(&token_of(&self.user, &self.workspace, Role::Admin))
    }

    /// Asks, and expects that there is something.
    async fn ask(&self, db: &TestDynamoDb, function: &str, path: &str, member: &str) -> Value {
        let answer: Answer = send(db, function, self.request("GET", path)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let found = answer.json();
        let is_something = match &found[member] {
            Value::Array(items) => !items.is_empty(),
            value => !value.is_null() || member.is_empty(),
        };
        assert!(is_something, "{path}: {found}");
        found
    }

    async fn consume_messages(&self, db: &TestDynamoDb) {
        let (queues, outside) = (FakeQueues::start(), FakeNotifiers::start());
        let notify = fixture::notify(db, &queues, &outside, false);
        let counted = fixture::analytics(db, &queues).consume(queue_batch(&self.messages["analytics"])).await;
        let notified = notify.consume(queue_batch(&self.messages["notify"])).await;
        assert!(counted.batch_item_failures.is_empty() && notified.batch_item_failures.is_empty());
        assert!(queues.bodies("dlq").is_empty());
    }
}

/// What Ada does, so that each kind of item is there.
fn changes() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let conditions = json!([{"type": "country", "value": "DE"}]);
    let rule = json!({"name": "german", "url": "https://example.com/de", "conditions": conditions});
    vec![
        (
            "account",
            "PATCH",
            "/api/workspace",
            json!({"destinations": "editable", "statistics": "private", "color": "#2f5bd7", "contact": "a@example.com"}),
        ),
        (
            "shorten",
            "POST",
            "/api/shorten",
            json!({
                "url": "https://example.com/launch", "custom_code": "launch", "title": "Launch", "tags": ["news"],
                "metadata": {"campaign": "7"}, "external_id": "order-7", "expires_at": "2999-01-01T00:00:00Z",
                "fallback_url": "https://example.com/over", "forward_query": true, "preview": {"title": "Ours"},
            }),
        ),
        (
            "shorten",
            "POST",
            "/api/shorten",
            json!({"url": "https://example.com/", "custom_code": "second", "watch": true}),
        ),
        (
            "shorten",
            "POST",
            "/api/shorten",
            json!({"url": "https://example.com/limited", "max_clicks": 3, "password": "open sesame"}),
        ),
        ("update", "PATCH", "/api/links/launch", json!({"url": "https://example.com/elsewhere"})),
        ("update", "PUT", "/api/links/launch/rules", json!({"rules": [rule]})),
        ("account", "POST", "/api/workspace/invitations", json!({"email": "bob@example.com", "role": "member"})),
        ("account", "POST", "/api/keys", json!({"name": "ci", "scopes": ["links:read"]})),
        ("watch", "POST", "/v1/targets", json!({"url": "https://example.com/a"})),
        ("watch", "POST", "/v1/targets", json!({"url": "https://example.com/b"})),
        ("jobs-api", "POST", "/api/jobs", json!({"kind": "archive", "filter": {"tag": ["news"]}})),
        (
            "jobs-api",
            "POST",
            "/api/jobs",
            json!({"kind": "unarchive", "filter": {"tag": ["news"], "archived": "true"}}),
        ),
    ]
}

#[tokio::test]
async fn what_the_version_before_stored_sent_and_handed_out_is_read() {
    if env::var("WRITE_FORMS").is_ok() {
        fs::write(FILE, serde_json::to_string_pretty(&Forms::made().await).unwrap() + "\n").unwrap();
    }
    let forms: Forms = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    let db = TestDynamoDb::start();
    for (table, items) in &forms.items {
        items.iter().for_each(|item| db.put(table, item));
    }

    forms.consume_messages(&db).await;
    for (function, path, member, parameter) in ASKED {
        forms.ask(&db, function, path, member).await;
        if let Some(cursor) = forms.cursors.get(path) {
            let answer = send(&db, function, forms.request("GET", &format!("{path}&{parameter}={cursor}"))).await;
            assert_eq!(answer.status, 200, "{path}, {cursor}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn all_that_is_read_can_be_written_anew() {
    let forms = Forms::made().await;

    let kinds = |forms: &Forms| forms.items.values().map(Vec::len).sum::<usize>();
    assert!(kinds(&forms) > 40, "{}", kinds(&forms));
}
