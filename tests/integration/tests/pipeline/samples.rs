//! The events in `functions/*/events` for what is not called through the API: each is understood. Some are of a time that is over,
//! so that nothing comes of them.

use std::{fs, path::Path};

use aws_lambda_events::dynamodb::Event as StreamEvent;
use linklet_domain::{Reach, Timestamp};
use linklet_lambda::{
    batch::Consumer,
    schedule::{Call, Job},
};
use linklet_operate::Answer;
use linklet_test_support::{FakeNotifiers, FakeQueues, LinkBuilder, TestDynamoDb, link_id};
use serde::de::DeserializeOwned;

use crate::fixture::{analytics, checker, clock, due_reports, jobs, leave, notify, operate, relay, watch_links};
use crate::streams::{is_let_through, retry_from};

fn sample<T: DeserializeOwned>(function: &str, name: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../functions/{function}/events/{name}.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test]
async fn the_messages_are_understood() {
    let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
    let (analytics, notify) = (analytics(&db, &queues), notify(&db, &queues, &outside, true));
    let checker = checker(db.watch(), &queues, Reach::Public);

    clock(db.watch(), db.jobs(), &queues, 15).run(sample("clock", "call")).await.unwrap();
    due_reports(&db, &queues).run(sample("reports", "call")).await.unwrap();
    let Call { scheduled_time, .. } = sample("canary", "call");
    assert_eq!(scheduled_time.unix_seconds() % 300, 0);
    let mut failed = checker.consume(sample("watch-check", "tick")).await.batch_item_failures;
    for name in ["clicks", "parked"] {
        failed.extend(analytics.consume(sample("analytics", name)).await.batch_item_failures);
    }
    for name in ["created", "password_reset", "verification", "invitation", "report"] {
        failed.extend(notify.consume(sample("notify", name)).await.batch_item_failures);
    }

    assert!(failed.is_empty(), "{failed:?}");
    assert!(queues.bodies("dlq").is_empty() && queues.bodies("ticks-dlq").is_empty());
    let stats = db.stats().since(&link_id("launch"), Timestamp::EPOCH.day()).await.unwrap();
    let stored = db.clicks().latest(&link_id("launch"), 2).await.unwrap();
    assert_eq!((stats.whole_life().clicks, stored.len()), (1, 1));
}

#[tokio::test]
async fn the_commands_are_carried_out() {
    let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
    db.register("ada").await;
    db.store(&LinkBuilder::new("launch").build()).await;

    for name in ["who", "suspend", "invite", "reset", "close-account", "reconcile", "links"] {
        let answer = operate(&db, &queues).answer(sample("operate", name)).await.unwrap();
        assert!(!matches!(answer, Answer::Refused { .. }), "{name}: {answer:?}");
    }
    for name in ["operator-export", "operator-forget"] {
        let answer = leave(&db).carry_out(sample("leave", name)).await.unwrap();
        assert!(!matches!(answer, linklet_leave::Answer::Refused { .. }), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn the_records_are_let_through_and_understood() {
    for (function, name, source, told) in [
        ("jobs", "started", Some("JobsStream"), 0),
        ("jobs", "noted", Some("JobsStream"), 0),
        ("jobs", "cancelled", Some("JobsStream"), 0),
        ("jobs", "mark-is-gone", Some("JobsStream"), 0),
        ("watch-links", "created", Some("WatchLinksStream"), 0),
        ("relay", "job_over", Some("JobsRelayStream"), 1),
        ("relay", "click", None, 1),
    ] {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let sample: StreamEvent = sample(function, name);
        for filtered in ["JobsStream", "WatchLinksStream", "JobsRelayStream"] {
            let is_its_source = sample.records.iter().all(|record| is_let_through(filtered, record));
            assert_eq!(is_its_source, source == Some(filtered), "{name} by {filtered}");
        }

        let response = match function {
            "jobs" => jobs(&db, &queues).consume(sample).await,
            "watch-links" => watch_links(&db, &queues).consume(sample).await,
            _ => relay(&db, &queues).consume(sample).await,
        };

        assert_eq!(retry_from(&response), None, "{name}");
        assert!(queues.bodies("dlq").is_empty(), "{name}");
        assert_eq!(queues.bodies("notify").len() + queues.bodies("analytics").len(), told, "{name}");
        assert_eq!(db.scan("WatchTable").is_empty(), function != "watch-links", "{name}");
    }
}
