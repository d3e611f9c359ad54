use std::time::Duration;

use linklet_domain::{
    ActionFilter, Actor, AuditAction, AuditContext, AuditEntry, AuditFilter, AuditLog, AuditSubject, CountryCode,
    IpHash, KeyPrefix, Timestamp, UserId, WorkspaceId, lifetimes,
};
use linklet_dynamodb::AuditTable;
use linklet_test_support::{TestDynamoDb, an_origin, operator};

use crate::fixture::{noon, salt};

fn minutes(number: u64) -> Timestamp {
    noon().plus(Duration::from_secs(60 * number))
}

/// What somebody has done to themselves so many minutes after noon.
fn entry(user: &UserId, number: u64, action: AuditAction) -> AuditEntry {
    AuditContext { at: minutes(number), ..an_origin(user) }.of_person(user, action)
}

/// All pages of an audit log, and how many there were.
async fn read(
    table: &AuditTable,
    audit_log: &AuditLog,
    filter: &AuditFilter,
    limit: usize,
) -> (Vec<AuditEntry>, usize) {
    let (mut entries, mut pages, mut after) = (Vec::new(), 0, None);
    loop {
        let page = table.list(audit_log, filter, limit, after.as_ref()).await.unwrap();
        entries.extend(page.items);
        pages += 1;
        after = page.next;
        if after.is_none() {
            return (entries, pages);
        }
    }
}

#[tokio::test]
async fn an_entry_comes_back_as_it_was_written() {
    let db = TestDynamoDb::start();
    let (workspace, prefix) = (WorkspaceId::generate(), KeyPrefix::parse("lk_live_a1B2c3D4").unwrap());
    let address = Some(IpHash::of("203.0.113.9", &salt()));
    let origin = AuditContext { actor: Actor::Key(prefix.clone()), address, at: noon(), ..operator() };
    let full = origin.in_workspace(&workspace, AuditAction::KeyChanged, AuditSubject::Key(prefix)).from("CI").to("CD");
    let full = full.at_place(Some("Firefox on Linux".into()), CountryCode::parse("DE").ok());
    let plain =
        AuditContext { at: minutes(1), ..operator() }.entry(AuditLog::Workspace(workspace), AuditAction::JobFinished);

    db.audit_log().put(&full).await.unwrap();
    db.audit_log().put(&plain).await.unwrap();

    let (entries, _) = read(&db.audit_log(), &AuditLog::Workspace(workspace), &AuditFilter::default(), 10).await;
    assert_eq!(entries, [plain, full]);
    let ttl = noon().plus(lifetimes::AUDIT).unix_seconds().to_string();
    assert!(db.scan("AuditTable").iter().any(|item| item["ttl"]["N"] == ttl.as_str()));
}

#[tokio::test]
async fn an_entry_that_is_there_already_stays_as_it_is() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    let first = entry(&user, 0, AuditAction::SessionBegan);
    db.audit_log().put(&first).await.unwrap();

    db.audit_log().put(&AuditEntry { action: AuditAction::SessionEnded, ..first.clone() }).await.unwrap();

    let (entries, _) = read(&db.audit_log(), &AuditLog::Person(user), &AuditFilter::default(), 10).await;
    assert_eq!(entries, [first]);
}

#[tokio::test]
async fn wrong_passwords_of_a_quarter_of_an_hour_are_one_entry() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    for number in [0, 7, 14, 15] {
        let guessed = AuditContext { actor: Actor::Linklet, at: minutes(number), ..operator() }.guessed(&user);
        db.audit_log().put(&guessed).await.unwrap();
    }

    let (entries, _) = read(&db.audit_log(), &AuditLog::Person(user), &AuditFilter::default(), 10).await;

    assert_eq!(entries.iter().map(|entry| entry.at).collect::<Vec<_>>(), [minutes(15), noon()]);
}

#[tokio::test]
async fn pages_have_no_gaps_or_repeats_even_within_one_moment() {
    let db = TestDynamoDb::start();
    let user = UserId::generate();
    for number in 0..7 {
        db.audit_log().put(&entry(&user, number / 3, AuditAction::SessionBegan)).await.unwrap();
    }
    let all = db.audit_log().list(&AuditLog::Person(user), &AuditFilter::default(), 10, None).await.unwrap();
    assert_eq!((all.items.len(), all.next), (7, None));

    for limit in 1..=7 {
        let (paged, pages) = read(&db.audit_log(), &AuditLog::Person(user), &AuditFilter::default(), limit).await;

        assert_eq!(paged, all.items, "{limit}");
        assert_eq!(pages, 7_usize.div_ceil(limit), "{limit}");
    }
}

#[tokio::test]
async fn a_filter_leaves_what_all_of_it_says() {
    let db = TestDynamoDb::start();
    let (workspace, ada, bob) = (WorkspaceId::generate(), UserId::generate(), UserId::generate());
    let put = async |number, actor: &UserId, action| {
        let origin = AuditContext { at: minutes(number), ..an_origin(actor) };
        db.audit_log().put(&origin.in_workspace(&workspace, action, AuditSubject::Member(bob))).await.unwrap();
    };
    put(0, &ada, AuditAction::MemberJoined).await;
    put(1, &bob, AuditAction::MemberRoleChanged).await;
    put(2, &ada, AuditAction::MemberRemoved).await;
    put(3, &ada, AuditAction::KeyCreated).await;
    let found = async |filter: AuditFilter| {
        let (entries, _) = read(&db.audit_log(), &AuditLog::Workspace(workspace), &filter, 1).await;
        entries.iter().map(|entry| entry.at.unix_seconds() / 60 - noon().unix_seconds() / 60).collect::<Vec<_>>()
    };
    let all = AuditFilter::default();
    let of = |actor| AuditFilter { actor: Some(Actor::Person(actor)), ..AuditFilter::default() };
    let member = Some(ActionFilter::Group("member"));

    assert_eq!(found(all.clone()).await, [3, 2, 1, 0]);
    assert_eq!(found(of(ada)).await, [3, 2, 0]);
    assert_eq!(found(AuditFilter { action: member, ..all.clone() }).await, [2, 1, 0]);
    assert_eq!(found(AuditFilter { action: member, ..of(ada) }).await, [2, 0]);
    let removed = Some(ActionFilter::One(AuditAction::MemberRemoved));
    assert_eq!(found(AuditFilter { action: removed, ..all.clone() }).await, [2]);
    let (from, to) = (Some(minutes(1)), Some(minutes(2)));
    assert_eq!(found(AuditFilter { from, to, ..all.clone() }).await, [2, 1], "both ends are in it");
    assert_eq!(found(AuditFilter { from, to, ..of(ada) }).await, [2]);
    assert_eq!(found(AuditFilter { from: Some(minutes(4)), ..all.clone() }).await, [0_i64; 0]);
    assert_eq!(found(AuditFilter { from: Some(minutes(4)), to: Some(noon()), ..all }).await, [0_i64; 0]);
    let elsewhere = read(&db.audit_log(), &AuditLog::Person(bob), &AuditFilter::default(), 10).await;
    assert_eq!(elsewhere.0, []);
}

#[tokio::test]
async fn a_page_with_few_matches_ends_early_and_the_next_goes_on() {
    const ENTRIES: u64 = 2_100;
    let (user, table) = (UserId::generate(), TestDynamoDb::without_streams().audit_log());
    table.put(&entry(&user, 0, AuditAction::AccountRegistered)).await.unwrap();
    for number in 1..ENTRIES {
        table.put(&entry(&user, number, AuditAction::SessionBegan)).await.unwrap();
    }
    let filter = AuditFilter { action: Some(ActionFilter::Group("account")), ..AuditFilter::default() };

    let first = table.list(&AuditLog::Person(user), &filter, 10, None).await.unwrap();
    let (found, pages) = read(&table, &AuditLog::Person(user), &filter, 10).await;

    assert!(first.items.is_empty() && first.next.is_some());
    assert_eq!((found.len(), pages), (1, 2));
}
