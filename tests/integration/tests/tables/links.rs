use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use linklet_domain::{
    Generation, Link, LinkId, LinkMetadata, LinkState, LinkStatus, LinkSummary, Record, RedirectTarget, SortOrder,
    Timestamp, UserId, Visibility, WorkspaceId,
};
use linklet_dynamodb::{AnyCase, CreateOutcome, Creation, LinkRange};
use linklet_test_support::{LinkBuilder, TestDynamoDb, link_id, tags_of};
use serde_json::json;

use crate::fixture::with_link;

/// Each property has a value, and the compiler asks for a new one.
fn all_metadata() -> LinkMetadata {
    LinkMetadata {
        title: Some("Launch".parse().unwrap()),
        description: Some("The big one".parse().unwrap()),
        tags: tags_of(&["news", "2026"]),
        metadata: Some(BTreeMap::from([("order".to_owned(), "42".to_owned())]).try_into().unwrap()),
        external_id: Some("crm-7".parse().unwrap()),
        statistics: Some(Visibility::Private),
    }
}

#[tokio::test]
async fn a_link_is_read_as_it_was_stored() {
    let db = TestDynamoDb::start();
    let link = LinkBuilder::new("launch").to("https://example.com/ä?b=c").expires_at(Timestamp::now()).archived();
    let mut link = link.build();
    link.metadata = all_metadata();

    db.store(&link).await;

    assert_eq!(db.link("launch").await, link);
    let record = db.links().redirect_target(link.code()).await.unwrap();
    let Some(Record::Link(target)) = record else { panic!("{record:?}") };
    let expected = (link.target, link.availability.expires_at, link.availability.state);
    assert_eq!((target.target, target.availability.expires_at, target.availability.state), expected);
    assert_eq!(target.statistics, link.metadata.statistics);
}

#[tokio::test]
async fn what_is_not_there_is_none() {
    let db = TestDynamoDb::start();
    let code = "unknown".parse().unwrap();

    assert_eq!(db.links().find(&code).await.unwrap(), None);
    assert_eq!(db.links().redirect_target(&code).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_links_with_one_code_the_first_stays() {
    let db = TestDynamoDb::start();
    let links: Vec<_> =
        (0..50).map(|number| LinkBuilder::new("launch").to(&format!("https://{number}.example")).build()).collect();
    let table = db.links();

    let creations: Vec<_> = links.iter().map(Creation::of).collect();
    let outcomes = join_all(creations.iter().map(|creation| table.create(creation))).await;

    let mut created: Vec<_> = outcomes.into_iter().zip(&links).collect();
    created.retain(|(outcome, _)| *outcome.as_ref().unwrap() == CreateOutcome::Created);
    assert_eq!(created.len(), 1);
    assert_eq!(db.link("launch").await, *created[0].1);
}

#[tokio::test]
async fn deleting_happens_once_and_keeps_the_first_time() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    let first = Timestamp::now();
    let second = first.plus(std::time::Duration::from_secs(60));

    for (at, is_left_to_do) in [(first, true), (second, false)] {
        assert_eq!(db.delete_as(&UserId::generate(), &link, at).await, is_left_to_do);
    }
    let stored = db.link("launch").await;
    assert_eq!(stored.availability.status(second), LinkStatus::Deleted);
    assert_eq!(stored.availability.state, linklet_domain::LinkState::Deleted(first));
}

#[tokio::test]
async fn deleting_what_is_not_there_creates_nothing() {
    let db = TestDynamoDb::start();

    let unknown = LinkBuilder::new("unknown").build();
    db.delete_as(&UserId::generate(), &unknown, Timestamp::now()).await;

    assert!(db.scan("LinksTable").is_empty());
}

#[tokio::test]
async fn a_list_longer_than_one_answer_of_dynamodb_is_complete() {
    let db = TestDynamoDb::start();
    let (workspace, now) = (WorkspaceId::generate(), Timestamp::now());
    // 150 rows of 8 KB are more than the 1 MB that one Query returns.
    for number in 0..150 {
        let mut link = LinkBuilder::new(&format!("code{number:03}")).in_workspace(&workspace).created_at(now).build();
        link.metadata.description = "𝄞".repeat(2_000).parse().ok();
        db.store(&link).await;
    }

    let page = db.links().list(&workspace, 150, None, |_| true).await.unwrap();

    assert_eq!(page.items.iter().map(|link| link.code()).collect::<BTreeSet<_>>().len(), 150);
    assert_eq!(page.next, None);
}

#[tokio::test]
async fn the_row_behind_a_cursor_may_be_gone() {
    let db = TestDynamoDb::start();
    let (workspace, now) = (WorkspaceId::generate(), Timestamp::now());
    for code in ["aaaa", "bbbb", "cccc"] {
        let link = LinkBuilder::new(code).in_workspace(&workspace).created_at(now).build();
        db.store(&link).await;
    }
    let first = db.links().list(&workspace, 1, None, |_| true).await.unwrap();
    assert_eq!(first.items[0].code().as_str(), "cccc");
    db.remove("LinksTable", &json!({"pk": {"S": "LINK#cccc"}, "sk": {"S": "LINK"}}));

    let second = db.links().list(&workspace, 5, first.next.clone(), |_| true).await.unwrap();

    let codes: Vec<_> = second.items.iter().map(|link| link.code().as_str()).collect();
    assert_eq!(codes, ["bbbb", "aaaa"]);
}

#[tokio::test]
async fn a_summary_says_of_a_link_what_the_link_says() {
    let db = TestDynamoDb::start();
    let (workspace, now) = (WorkspaceId::generate(), Timestamp::now());
    let states = [LinkState::Active, LinkState::Inactive, LinkState::Deleted(now)];
    let mut stored = Vec::new();
    for (number, state) in states.into_iter().enumerate() {
        let mut link = LinkBuilder::new(&format!("code{number}")).in_workspace(&workspace).created_at(now).build();
        link.availability.state = state;
        link.availability.expires_at = (number > 0).then_some(now);
        if number == 0 {
            (link.metadata, link.archived) = (all_metadata(), true);
        }
        db.store(&link).await;
        stored.push(link);
    }

    let (created, order) = ((None, None), SortOrder::Ascending);
    let range = LinkRange { workspace: &workspace, created, order, after: None, wanted: None };
    let (mut summaries, mut whole) = (db.links().summaries(&range), db.links().whole(&range));

    let expected: Vec<_> = stored.iter().cloned().map(LinkSummary::from).collect();
    assert_eq!(summaries.next().await.unwrap(), Some(expected));
    assert_eq!(whole.next().await.unwrap(), Some(stored));
    assert_eq!((summaries.next().await.unwrap(), summaries.rest()), (None, None));
}

#[tokio::test]
async fn links_read_by_id_leave_out_those_that_are_gone() {
    let db = TestDynamoDb::start();
    let links = ["aaaa", "bbbb", "cccc", "dddd"].map(|code| LinkBuilder::new(code).build());
    for link in &links {
        db.store(link).await;
    }
    db.purge(&Record::Link(links[1].clone())).await;
    let successor = LinkId { generation: Generation::parse("000000").unwrap(), ..links[2].id().clone() };

    let [first, second, third] = [0, 1, 3].map(|number: usize| links[number].id().clone());
    let ids = [third, second, link_id("never"), successor, first];
    let found = db.links().with_ids(&ids).await.unwrap();

    assert_eq!(found, [links[3].clone(), links[0].clone()]);
    assert_eq!(db.links().with_ids(&[]).await.unwrap(), []);
}

// ------------------------------------------------------------------------------------------------------ Codes in any case

/// Creates a link whose code somebody has chosen.
async fn choose(db: &TestDynamoDb, link: &Link) -> CreateOutcome {
    let creation = Creation { any_case: AnyCase::Always, ..Creation::of(link) };
    db.links().create(&creation).await.unwrap()
}

/// The target that somebody finds who types this code.
async fn found(db: &TestDynamoDb, code: &str) -> Option<Record<RedirectTarget>> {
    db.links().redirect_target(&code.parse().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_cases_of_a_code_chosen_at_once_one_is_taken() {
    let db = TestDynamoDb::start();
    let links: Vec<_> = (0..64_u32)
        .map(|number| {
            let cased = |(place, letter): (usize, char)| match number >> place & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => letter,
            };
            LinkBuilder::new(&"launch".chars().enumerate().map(cased).collect::<String>()).build()
        })
        .collect();

    let outcomes = join_all(links.iter().map(|link| choose(&db, link))).await;

    let created: Vec<_> =
        links.iter().zip(outcomes).filter(|(_, outcome)| *outcome == CreateOutcome::Created).collect();
    assert_eq!(created.len(), 1);
    for link in &links {
        let Some(Record::Link(target)) = found(&db, link.code().as_str()).await else { panic!("{link:?}") };
        assert_eq!(target.identity.id, *created[0].0.id());
    }
}

#[tokio::test]
async fn generated_codes_may_differ_only_by_case_even_from_chosen_ones() {
    let db = TestDynamoDb::start();
    let [one, other] = ["aBcDeFg", "AbCdEfG"].map(|code| LinkBuilder::new(code).build());
    let chosen = LinkBuilder::new("abcdefg").build();

    for link in [&one, &other] {
        db.store(link).await;
    }
    assert_eq!(choose(&db, &chosen).await, CreateOutcome::Created);

    for link in [&one, &other, &chosen] {
        let Some(Record::Link(target)) = found(&db, link.code().as_str()).await else { panic!("{link:?}") };
        assert_eq!(target.identity.id, *link.id(), "the code as it was typed comes first");
    }
    let Some(Record::Link(target)) = found(&db, "ABCDEFG").await else { panic!() };
    assert_eq!(target.identity.id, *chosen.id());
}

#[tokio::test]
async fn the_code_of_a_purged_link_is_its_workspaces_in_whichever_case() {
    let db = TestDynamoDb::start();
    let first = LinkBuilder::new("Launch").build();
    let ours = |code: &str| LinkBuilder::new(code).in_workspace(&first.identity.workspace).build();
    choose(&db, &first).await;

    let (deleted, theirs) = (ours("LAUNCH"), LinkBuilder::new("launch").build());
    db.delete_as(&UserId::generate(), &first, Timestamp::now()).await;
    assert_eq!(choose(&db, &deleted).await, CreateOutcome::CodeTaken, "it is deleted, and not purged");
    let record = db.record("Launch").await.unwrap();
    db.purge(&record).await;
    assert_eq!(choose(&db, &theirs).await, CreateOutcome::CodeTaken, "another workspace");
    assert!(found(&db, "LAUNCH").await.unwrap().is_purged());

    let again = ours("LAUNCH");
    assert_eq!(choose(&db, &again).await, CreateOutcome::Created);

    for code in ["LAUNCH", "Launch", "launch"] {
        let Some(Record::Link(target)) = found(&db, code).await else { panic!("{code}") };
        assert_eq!(target.identity.id, *again.id(), "{code}");
    }
    assert_eq!(choose(&db, &ours("lauNCH")).await, CreateOutcome::CodeTaken);
}

#[tokio::test]
async fn a_purged_link_comes_back_under_its_own_code() {
    let db = TestDynamoDb::start();
    let first = LinkBuilder::new("launch").build();
    choose(&db, &first).await;
    let record = db.record("launch").await.unwrap();
    db.purge(&record).await;

    let again = LinkBuilder::new("launch").in_workspace(&first.identity.workspace).build();

    assert_eq!(choose(&db, &again).await, CreateOutcome::Created);
    assert_eq!(db.link("launch").await, again);
}
