//! The write path of links: what an edit costs, and that it happens once and as a whole, whichever of its calls fails.

use linklet_domain::{
    Link, LinkEdit, LinkPatch, Precondition, Record, SuspensionReason, TargetUrl, Timestamp, Tombstone,
};
use linklet_dynamodb::{Creation, EditContext, EditOutcome, LinksTable, RepositoryError, Reusable, Table};
use linklet_test_support::{Cancellation, CapacityMeter, Fault, Faults, LinkBuilder, TestDynamoDb};
use serde_json::{Value, json};

use crate::fixture::correlation;

/// An edit of a link, with the hash of its new password.
#[derive(Debug, Clone, Copy)]
struct Edit {
    decide: fn(&Link) -> LinkEdit,
    password_hash: Option<Option<&'static str>>,
}

impl Edit {
    const fn of(decide: fn(&Link) -> LinkEdit) -> Self {
        Self { decide, password_hash: None }
    }

    async fn send_to(
        &self,
        table: &LinksTable,
        found: Record<Link>,
    ) -> Result<EditOutcome<&'static str>, RepositoryError> {
        let (by, correlation_id) = (found.identity().owner, correlation());
        let context =
            EditContext { password_hash: self.password_hash, ..EditContext::unconditional(&by, &correlation_id) };
        let decide = |record: &Record<Link>| match record {
            Record::Link(link) => Ok((self.decide)(link)),
            Record::Tombstone(_) => Ok(LinkEdit::Keep),
        };
        table.edit(found, &context, decide).await
    }
}

fn changed(link: &Link, patch: &Value) -> LinkEdit {
    let patch = LinkPatch { is_protected: Some(true), ..serde_json::from_value(patch.clone()).unwrap() };
    LinkEdit::Change(Box::new(link.changed_by(&patch, Timestamp::now())))
}

fn titled(link: &Link) -> LinkEdit {
    let patch = LinkPatch { title: Some("New".parse().ok()), ..LinkPatch::default() };
    LinkEdit::Change(Box::new(link.changed_by(&patch, Timestamp::now())))
}

fn suspended(link: &Link) -> LinkEdit {
    LinkEdit::suspend(link, SuspensionReason::Closed)
}

/// A change of each item that a link has.
fn changed_in_all(link: &Link) -> LinkEdit {
    let patch = json!({"url": "https://example.com/b", "max_clicks": 7, "external_id": "crm-2"});
    changed(link, &patch)
}

const EDITS: [(&str, Edit); 6] = [
    ("title", Edit::of(titled)),
    ("all", Edit { decide: changed_in_all, password_hash: Some(Some("hash")) }),
    ("delete", Edit::of(|link| LinkEdit::delete(link, Timestamp::now()))),
    ("purge", Edit::of(|link| LinkEdit::purge(&Record::Link(link.clone()), Timestamp::now()))),
    ("suspend", Edit::of(suspended)),
    ("expire", Edit::of(|link| LinkEdit::Replace(Tombstone::of_expired(link, Timestamp::now())))),
];

/// A link that is the one of its URL and has an external id.
async fn with_a_link(db: &TestDynamoDb) -> Record<Link> {
    let mut link = LinkBuilder::new("launch").build();
    link.metadata.external_id = "crm-1".parse().ok();
    let creation = Creation { reusable: Some(&Reusable::None), ..Creation::of(&link) };
    db.links().create(&creation).await.unwrap();
    Record::Link(link)
}

/// All that is stored, without what differs from one run to the next.
fn stored(db: &TestDynamoDb, other_than: &[&str]) -> Vec<Value> {
    let mut items = db.scan("LinksTable");
    for item in &mut items {
        let members = item.as_object_mut().unwrap();
        let is_of_the_run = |name: &str| {
            let ids = ["pk", "by_workspace_pk", "by_workspace_sk", "generation", "workspace_id", "user_id", "claim"];
            let writes = [
                "change_id",
                "correlation_id",
                "created_at",
                "updated_at",
                "removed_at",
                "changed_at",
                "ttl",
                "deleted_by",
            ];
            ids.contains(&name) || writes.contains(&name) || other_than.contains(&name)
        };
        members.retain(|name, _| !is_of_the_run(name));
        if let Some(deletion) = members.get_mut("availability").and_then(|map| map.pointer_mut("/M/deleted_at")) {
            *deletion = json!(true);
        }
        if members["sk"]["S"].as_str().unwrap().contains('#') {
            members.insert("sk".to_owned(), json!("history"));
        }
    }
    items.sort_by_key(Value::to_string);
    items
}

/// How often the link was written.
fn writes(db: &TestDynamoDb) -> usize {
    let records = db.stream("LinksTable").records;
    records.iter().filter(|record| json!(record)["dynamodb"]["Keys"]["pk"]["S"] == "LINK#launch").count()
}

fn table_with(db: &TestDynamoDb, faults: &Faults, attempts: u32) -> LinksTable {
    LinksTable(Table::new(db.client_retrying(faults, attempts), "LinksTable"))
}

#[tokio::test]
async fn an_edit_is_made_once_whichever_call_fails() {
    for (name, edit) in EDITS {
        let (faultless, faults) = (TestDynamoDb::start(), Faults::default());
        let found = with_a_link(&faultless).await;
        edit.send_to(&table_with(&faultless, &faults, 1), found).await.unwrap();
        let (expected, calls) = ((stored(&faultless, &[]), writes(&faultless)), faults.calls());

        for call in 0..calls {
            let conflict = Fault::Cancelled(Cancellation::TransactionConflict);
            for fault in [Fault::NotSent, Fault::AnswerLost, Fault::Throttled, conflict] {
                let db = TestDynamoDb::start();
                let found = with_a_link(&db).await;
                faults.plan(Some((call, fault)));

                let outcome = edit.send_to(&table_with(&db, &faults, 3), found).await.unwrap();

                assert!(matches!(outcome, EditOutcome::Written(_)), "{name}, {fault:?} at {call}: {outcome:?}");
                assert_eq!((stored(&db, &[]), writes(&db)), expected, "{name}, {fault:?} at {call}");
            }
        }
    }
}

#[tokio::test]
async fn an_interrupted_edit_is_made_wholly_or_not_and_can_be_repeated() {
    for (name, edit) in EDITS {
        let (faultless, faults) = (TestDynamoDb::start(), Faults::default());
        let found = with_a_link(&faultless).await;
        let before = stored(&faultless, &[]);
        edit.send_to(&table_with(&faultless, &faults, 1), found).await.unwrap();
        let (after, calls) = (stored(&faultless, &[]), faults.calls());

        for (call, first) in (0..calls).flat_map(|call| [(call, Fault::NotSent), (call, Fault::AnswerLost)]) {
            let db = TestDynamoDb::start();
            let found = with_a_link(&db).await;
            let later = (call + 1..call + 100).map(|call| (call, Fault::NotSent));
            faults.plan_all(std::iter::once((call, first)).chain(later));
            let died = edit.send_to(&table_with(&db, &faults, 1), found).await;
            let left = stored(&db, &[]);
            assert!(died.is_err() && (left == before || left == after), "{name}, {first:?} at {call}: {left:?}");

            let found = db.record("launch").await.unwrap();
            edit.send_to(&db.links(), found).await.unwrap();

            // Whoever changes a link again to what it is changes it twice, and says so of a password.
            let is_new = |item: &Value| item["sk"] != "history" || item.pointer("/changes/M/original_url").is_some();
            let without_repetitions =
                |db| stored(db, &["revision", "is_news"]).into_iter().filter(is_new).collect::<Vec<_>>();
            assert_eq!(without_repetitions(&db), without_repetitions(&faultless), "{name}, {first:?} at {call}");
        }
    }
}

#[tokio::test]
async fn an_edit_that_loses_eight_races_says_so_and_changes_nothing() {
    let (db, faults) = (TestDynamoDb::start(), Faults::default());
    let found = with_a_link(&db).await;
    let before = stored(&db, &[]);
    let (_, delete) = EDITS.into_iter().find(|(name, _)| *name == "delete").unwrap();
    // Each try reads the reuse entry of the URL first.
    let conflict = Fault::Cancelled(Cancellation::TransactionConflict);
    faults.plan_all((0..8).map(|tried| (2 * tried + 1, conflict)));

    let outcome = delete.send_to(&table_with(&db, &faults, 1), found).await.unwrap();

    assert_eq!((outcome, faults.calls()), (EditOutcome::Contended, 16));
    assert_eq!(stored(&db, &[]), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_change_different_members_at_once_both_succeed() {
    let db = TestDynamoDb::start();
    let Record::Link(link) = with_a_link(&db).await else { panic!() };
    let elsewhere = Edit::of(|link| {
        let url = TargetUrl::parse("https://example.com/b").ok();
        LinkEdit::Change(Box::new(link.changed_by(&LinkPatch { url, ..LinkPatch::default() }, Timestamp::now())))
    });

    for edit in [Edit::of(titled), elsewhere, Edit::of(suspended)] {
        // Each was decided from the link as it was before the others.
        edit.send_to(&db.links(), Record::Link(link.clone())).await.unwrap();
    }

    let after = db.link("launch").await;
    assert_eq!(after.metadata.title, "New".parse().ok());
    assert_eq!((after.target.as_str(), after.revision.to_string().as_str()), ("https://example.com/b", "2"));
    assert!(!after.availability.suspensions.is_empty());
}

#[tokio::test]
async fn an_edit_for_another_revision_changes_nothing() {
    let db = TestDynamoDb::start();
    let found = with_a_link(&db).await;
    Edit::of(titled).send_to(&db.links(), found.clone()).await.unwrap();
    let (by, correlation_id, before) = (found.identity().owner, correlation(), stored(&db, &[]));
    let Record::Link(link) = &found else { panic!() };
    let precondition = Precondition::OneOf([link.revision].into());
    let context = EditContext { precondition: &precondition, ..EditContext::unconditional(&by, &correlation_id) };

    let table = db.links();

    let outcome = table.edit(found.clone(), &context, |record| match record {
        Record::Link(link) => Ok::<_, ()>(LinkEdit::delete(link, Timestamp::now())),
        Record::Tombstone(_) => Err(()),
    });

    assert_eq!(outcome.await.unwrap(), EditOutcome::Stale);
    assert_eq!(stored(&db, &[]), before);
}

#[tokio::test]
async fn attributes_of_a_later_version_stay_when_a_link_is_changed() {
    let db = TestDynamoDb::start();
    with_a_link(&db).await;
    let mut item = db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    item["colour"] = json!({"S": "red"});
    item["availability"]["M"]["paused_by"] = json!({"S": "ada"});
    db.put("LinksTable", &item);

    Edit { decide: changed_in_all, password_hash: Some(Some("hash")) }
        .send_to(&db.links(), db.record("launch").await.unwrap())
        .await
        .unwrap();

    let item = db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "LINK").unwrap();
    let expected = (&json!({"S": "red"}), &json!({"S": "ada"}));
    assert_eq!((&item["colour"], &item["availability"]["M"]["paused_by"]), expected);
}

/// Beside the read of the link itself, which has nothing beside it but its history. A write also writes one or two indexes.
#[tokio::test]
async fn an_edit_costs_what_it_changes() {
    let edit = |name| EDITS.into_iter().find(|(known, _)| *known == name).unwrap();
    for ((name, edit), expected) in [
        (edit("title"), (0.0, 2.0)),
        // The URL's reuse entry is looked up.
        (edit("delete"), (1.0, 6.0)),
        (edit("purge"), (1.0, 3.0)),
        (edit("suspend"), (0.0, 3.0)),
    ] {
        let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
        let link = LinkBuilder::new("launch").build();
        db.store(&link).await;
        let table = LinksTable(db.table_with(meter.clone(), "LinksTable"));

        edit.send_to(&table, Record::Link(link.clone())).await.unwrap();

        assert_eq!((meter.read_units(), meter.write_units()), expected, "{name}");
    }
}
