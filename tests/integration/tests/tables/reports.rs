//! Who wants reports, and the claims by which each is mailed once.

use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::{Day, ReportEvery, ReportId, ReportSubscription, Role, Tag, Timestamp};
use linklet_dynamodb::{ReportReader, Reports, Table};
use linklet_test_support::{CapacityMeter, Fault, Faults, Person, TestDynamoDb, an_origin, removal};

use crate::fixture::{colleague, with_people, with_person};

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

async fn wants(db: &TestDynamoDb, person: &Person, every: ReportEvery, tag: Option<&str>, at: Day) -> ReportId {
    let tag = tag.map(|tag| Tag::parse(tag).unwrap());
    let id = ReportId::new(every, person.workspace, tag.as_ref());
    let report = ReportSubscription::new(&id, person.id, tag, at.start());
    db.users().want_report(report, &an_origin(&person.id)).await.unwrap();
    id
}

#[tokio::test]
async fn of_many_claims_of_a_period_one_succeeds_and_a_later_one_again() {
    let (db, ada) = with_person("ada").await;
    let id = wants(&db, &ada, ReportEvery::Week, None, day("2026-03-04")).await;
    let on = |text| ReportEvery::Week.due_on(day(text)).unwrap();
    let reports = db.reports();
    let claims = async |period| {
        let claims = join_all((0..8).map(|_| reports.claim(&id, &ada.id, period))).await;
        claims.into_iter().flat_map(Result::unwrap).collect::<Vec<_>>()
    };

    assert_eq!(claims(on("2026-03-02")).await.len(), 0, "it was wanted after that");
    assert_eq!(claims(on("2026-03-09")).await.len(), 1);
    let second = claims(on("2026-03-23")).await;
    assert_eq!(second.len(), 1);
    assert_eq!(claims(on("2026-03-16")).await.len(), 0, "a period before isn't told any more");

    reports.release(&second[0]).await.unwrap();
    let third = claims(on("2026-03-23")).await;
    assert_eq!(third.len(), 1);
    // One that was given up gives up none of somebody else's.
    reports.release(&second[0]).await.unwrap();
    assert_eq!(claims(on("2026-03-23")).await.len(), 0);
    db.users().end_report(&id, &ada.id, &an_origin(&ada.id)).await.unwrap();
    assert_eq!(claims(on("2026-03-30")).await.len(), 0, "what isn't wanted isn't made");
}

#[tokio::test]
async fn a_claim_whose_answer_is_lost_is_still_ones_own() {
    let (db, ada) = with_person("ada").await;
    let id = wants(&db, &ada, ReportEvery::Month, None, day("2026-03-04")).await;
    let faults = Faults::default();
    let reports = Reports(Table::new(db.client_retrying(&faults, 3), "UsersTable"));
    let period = ReportEvery::Month.due_on(day("2026-04-01")).unwrap();

    faults.plan(Some((0, Fault::AnswerLost)));

    assert!(reports.claim(&id, &ada.id, period).await.unwrap().is_some());
    assert!(reports.claim(&id, &ada.id, period).await.unwrap().is_none());
}

#[tokio::test]
async fn a_run_reads_those_who_want_reports_and_nobody_else() {
    let (db, [ada, eve]) = with_people(["ada", "eve"]).await;
    let bob = colleague(&db, &ada, "bob", Role::Viewer).await;
    for number in 0..50 {
        db.register(&format!("other{number}")).await;
    }
    let at = day("2026-03-04");
    for (person, every, tag) in [
        (&bob, ReportEvery::Week, None),
        (&eve, ReportEvery::Week, None),
        (&ada, ReportEvery::Week, Some("launch")),
        (&ada, ReportEvery::Week, None),
        (&ada, ReportEvery::Month, None),
    ] {
        wants(&db, person, every, tag, at).await;
    }
    let meter = CapacityMeter::default();
    let reports = Reports(db.table_with(meter.clone(), "UsersTable"));

    let mut reader = reports.wanted(ReportEvery::Week);
    let mut read = Vec::new();
    while let Some(more) = reader.next().await.unwrap() {
        read.extend(more);
    }

    assert_eq!(meter.spent(), (0.5, 0.0));
    assert_eq!(read.len(), 4);
    let workspaces: Vec<_> = read.chunk_by(|one, other| one.workspace_id == other.workspace_id).collect();
    assert_eq!(workspaces.len(), 2, "a workspace's follow one another");
    assert!(workspaces.iter().all(|reports| reports.is_sorted_by_key(|report| report.user_id)));
    let mine = db.users().reports(&ada.workspace, &ada.id).await.unwrap();
    assert_eq!(
        mine.iter().map(|report| report.every).collect::<Vec<_>>(),
        [ReportEvery::Week, ReportEvery::Week, ReportEvery::Month]
    );
}

#[tokio::test]
async fn a_reader_is_an_active_member_with_an_address_that_mail_gets_to() {
    let (db, ada) = with_person("ada").await;
    let bob = colleague(&db, &ada, "bob", Role::Viewer).await;
    let reports = db.reports();
    let reader = async |person: &Person| reports.reader(&person.id, &ada.workspace).await.unwrap();

    assert_eq!(reader(&bob).await, ReportReader::Unreachable, "nothing shows that the address is theirs");
    db.users().verify_address(&bob.id, &bob.email, &an_origin(&bob.id)).await.unwrap();
    assert_eq!(reader(&bob).await, ReportReader::Reachable);
    let later = Timestamp::now().plus(Duration::from_secs(60));
    db.recipients().mark_undeliverable(&bob.id, &bob.email, later).await.unwrap();
    assert_eq!(reader(&bob).await, ReportReader::Unreachable);
    db.users().remove_member(&removal(&ada.workspace, &ada.id, &bob.id)).await.unwrap();
    assert_eq!(reader(&bob).await, ReportReader::Gone);
}
