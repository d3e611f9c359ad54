//! What the functions log: the correlation id all the way, and nothing that belongs to a person.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

#[expect(dead_code, reason = "only some of it is needed here")]
mod fixture;

use std::{
    io,
    sync::{Arc, Mutex},
};

use linklet_account::Account;
use linklet_domain::{Role, UserId, WorkspaceId};
use linklet_lambda::{batch::Consumer, http::ShortUrls, metrics, telemetry};
use linklet_notify::{Notify, Topic};
use linklet_shorten::Shorten;
use linklet_test_support::{FakeNotifiers, FakeQueues, RequestBuilder, TestDynamoDb, queue_batch, token_of, tokens};
use serde_json::{Value, json};
use tracing::Level;
use tracing_subscriber::layer::SubscriberExt as _;

use fixture::{analytics, redirect, relay};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Captured {
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn a_correlation_id_runs_from_the_request_to_the_consumers_and_nothing_personal_is_logged() {
    let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
    let token = token_of(&UserId::generate(), &WorkspaceId::generate(), Role::Member);
    let shorten = Shorten::new(db.links(), db.authenticator(), ShortUrls::new(None));
    let (account, ada) = (Account::new(tokens(), db.users()), db.register("ada").await);
    let notify = Notify {
        notifications: db.notifications(),
        topic: Topic::new(outside.sns(), "arn:aws:sns:eu-central-1:123456789012:notifications"),
        mailer: None,
        dead_letters: linklet_lambda::batch::DeadLetterQueue::new(queues.client(), queues.url("dlq")),
        max_receives: 5,
    };
    let captured = Captured::default();
    let writer = captured.clone();
    let lines = telemetry::lines("test", Level::DEBUG, move || writer.clone());
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(lines)).unwrap();
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
    relay(&db, &queues).consume(db.stream("LinksTable")).await;
    relay(&db, &queues).consume(db.stream("ClicksTable")).await;
    notify.consume(queue_batch(&queues.bodies("notify"))).await;
    metrics::observe(analytics(&db, &queues).consume(queue_batch(&queues.bodies("analytics")))).await;
    notify.consume(queue_batch(&["no event, but hunter2".to_owned()])).await;
    let created = RequestBuilder::new("POST", "/api/keys")
        .token(&token_of(&ada.id, &ada.workspace, Role::Admin))
        .header("x-correlation-id", "making-a-key-1")
        .json(&json!({"name": "CI", "scopes": ["links:write"]}))
        .send_to(&account)
        .await;
    let api_key = created.json()["key"].as_str().unwrap().to_owned();
    for (id, key) in [("using-it-1", api_key.clone()), ("guessing-1", api_key.replace("sk_live_", "sk_live_hunter2"))] {
        let request = RequestBuilder::new("POST", "/api/shorten").api_key(&key).header("x-correlation-id", id);
        request.json(&json!({"url": "https://example.com/?secret=hunter2"})).send_to(&shorten).await;
    }

    let lines = captured.lines();
    let ids_of = |message: &str| -> Vec<&str> {
        lines
            .iter()
            .filter(|line| line["message"] == message)
            .filter_map(|line| line["correlation_id"].as_str())
            .collect()
    };
    assert_eq!(ids_of("request answered"), ["creating-1", "clicking-1", "making-a-key-1", "using-it-1", "guessing-1"]);
    assert_eq!(ids_of("notification delivered"), ["creating-1"]);
    assert_eq!(ids_of("clicks counted"), ["clicking-1"]);
    let answered = lines.iter().find(|line| line["message"] == "request answered").unwrap();
    for member in ["level", "time", "service", "method", "path", "status", "duration_ms", "cold_start"] {
        assert!(!answered[member].is_null(), "{member} is missing in {answered}");
    }
    let metric = |message: &str, name: &str| -> f64 {
        lines.iter().filter(|line| line["message"] == message).filter_map(|line| line[name].as_f64()).sum()
    };
    assert_eq!(answered["_aws"]["CloudWatchMetrics"][0]["Namespace"], "linklet");
    assert_eq!((metric("request answered", "Requests"), metric("request answered", "Errors")), (5.0, 0.0));
    assert!(metric("request answered", "Latency") > 0.0);
    assert_eq!((metric("batch processed", "BatchSize"), metric("batch processed", "ClicksCounted")), (1.0, 1.0));
    for line in &lines {
        for secret in ["hunter2", "ada@example.com", "198.51.100.77", token.as_str(), &api_key[8..]] {
            assert!(!line.to_string().contains(secret), "{line}");
        }
    }
}
