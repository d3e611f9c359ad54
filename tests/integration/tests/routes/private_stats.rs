//! Statistics that strangers don't see.

use linklet_domain::Visibility;
use linklet_dynamodb::PublicWorkspaces;
use linklet_lambda::public_workspaces::KnownWorkspaces;

use crate::fixture::{delete, shorten, stats, update};
use crate::prelude::*;

const PATHS: [&str; 2] = ["/api/stats/launch", "/api/stats/launch/timeline"];

/// A link of somebody's workspace, and of somebody else another workspace.
async fn of_ada_and_bob() -> (TestDynamoDb, Person, Person) {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    db.store(&LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&ada.id).build()).await;
    (db, ada, bob)
}

/// Changes something as an admin.
async fn set(db: &TestDynamoDb, ada: &Person, path: &str, statistics: Option<&str>) {
    let request = RequestBuilder::new("PATCH", path).token(&ada.token(Role::Admin));
    let request = request.json(&json!({ "statistics": statistics }));
    let answer =
        if path == "/api/workspace" { request.send_to(&account(db)).await } else { request.send_to(&update(db)).await };
    answer.expecting(200);
}

/// The statuses of both answers to somebody, in an environment where a system has this default.
async fn statuses(db: &TestDynamoDb, default_statistics: Visibility, token: Option<&str>) -> [u16; 2] {
    let stats = Stats { default_statistics, ..stats(db) };
    let mut statuses = [0; 2];
    for (status, path) in statuses.iter_mut().zip(PATHS) {
        let request = RequestBuilder::new("GET", path);
        *status = token.into_iter().fold(request, RequestBuilder::token).send_to(&stats).await.status;
    }
    statuses
}

#[tokio::test]
async fn a_link_decides_before_its_workspace_and_that_before_the_system() {
    const LINK: &str = "/api/links/launch";
    const WORKSPACE: &str = "/api/workspace";
    let (db, ada, bob) = of_ada_and_bob().await;
    let (members, foreign) = (ada.token(Role::Viewer), bob.token(Role::Admin));
    for (of_link, of_workspace, default_statistics, expected) in [
        (None, None, Visibility::Public, 200),
        (None, None, Visibility::Private, 404),
        (None, Some("private"), Visibility::Public, 404),
        (None, Some("public"), Visibility::Private, 200),
        (Some("public"), Some("private"), Visibility::Private, 200),
        (Some("private"), Some("public"), Visibility::Public, 404),
    ] {
        set(&db, &ada, LINK, of_link).await;
        set(&db, &ada, WORKSPACE, of_workspace).await;

        let what = format!("{of_link:?}, {of_workspace:?}, {default_statistics:?}");
        assert_eq!(statuses(&db, default_statistics, None).await, [expected; 2], "{what}");
        assert_eq!(statuses(&db, default_statistics, Some(&foreign)).await, [expected; 2], "{what}");
        assert_eq!(statuses(&db, default_statistics, Some("forged")).await, [expected; 2], "{what}");
        assert_eq!(statuses(&db, default_statistics, Some(&members)).await, [200; 2], "{what}");
    }
}

#[tokio::test]
async fn private_numbers_are_answered_as_an_unknown_code() {
    let (db, ada, _) = of_ada_and_bob().await;
    set(&db, &ada, "/api/links/launch", Some("private")).await;
    let stats = stats(&db);
    let ask = async |path: &str| {
        let request = RequestBuilder::new("GET", path).header("x-correlation-id", "req-42");
        let answer = request.send_to(&stats).await;
        let headers: Vec<_> = answer.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        (answer.status, headers, answer.body)
    };

    for (known, unknown) in [
        ("/api/stats/launch", "/api/stats/nolink"),
        ("/api/stats/launch/timeline", "/api/stats/nolink/timeline"),
        ("/api/stats/launch?top=0", "/api/stats/nolink?top=0"),
        ("/api/stats/launch/timeline?interval=week", "/api/stats/nolink/timeline?interval=week"),
    ] {
        assert_eq!(ask(known).await, ask(unknown).await, "{known}");
    }
}

#[tokio::test]
async fn private_numbers_stay_private_when_the_link_is_gone() {
    let (db, ada, _) = of_ada_and_bob().await;
    set(&db, &ada, "/api/links/launch", Some("private")).await;

    let deleted = RequestBuilder::new("DELETE", "/api/urls/launch").token(&ada.token(Role::Admin));
    deleted.send_to(&delete(&db, db.authenticator())).await.expecting(204);
    assert_eq!(statuses(&db, Visibility::Public, None).await, [404; 2]);
    let record = db.record("launch").await.unwrap();
    db.purge(&record).await;

    assert_eq!(statuses(&db, Visibility::Public, None).await, [404; 2]);
    assert_eq!(statuses(&db, Visibility::Public, Some(&ada.token(Role::Viewer))).await, [410; 2]);
}

#[tokio::test]
async fn unless_it_is_known_that_they_are_public_strangers_get_no_numbers() {
    let (db, ada, _) = of_ada_and_bob().await;
    let cut_off = || Stats {
        workspaces: KnownWorkspaces::new(PublicWorkspaces(TestDynamoDb::unreachable_table("UsersTable"))),
        ..stats(&db)
    };

    let openly = cut_off().get_openly("/api/stats/launch").await;
    let as_member = cut_off().get("/api/stats/launch", &ada.token(Role::Viewer)).await;
    set(&db, &ada, "/api/links/launch", Some("public")).await;
    let by_the_link = cut_off().get_openly("/api/stats/launch").await;

    assert_eq!((openly.status, as_member.status, by_the_link.status), (503, 200, 200));
}

#[tokio::test]
async fn what_a_workspace_says_is_held_for_a_minute() {
    let (db, ada, _) = of_ada_and_bob().await;
    let (known, now) = (KnownWorkspaces::new(db.public_workspaces()), Timestamp::now());
    let seen = async |at: Timestamp| known.find(&ada.workspace, at).await.unwrap().and_then(|found| found.statistics);

    let before = seen(now).await;
    set(&db, &ada, "/api/workspace", Some("private")).await;
    let within = seen(now.plus(KnownWorkspaces::HELD_FOR).minus(Duration::from_secs(1))).await;
    let after = seen(now.plus(KnownWorkspaces::HELD_FOR)).await;

    assert_eq!((before, within, after), (None, None, Some(Visibility::Private)));
}

/// As one that is stored by an older version, until it changes.
#[tokio::test]
async fn without_an_item_of_the_workspace_the_system_decides() {
    let (db, link) = with_link(LinkBuilder::new("launch")).await;
    assert_eq!(db.public_workspaces().find(&link.identity.workspace).await.unwrap(), None);

    assert_eq!(statuses(&db, Visibility::Public, None).await, [200; 2]);
    assert_eq!(statuses(&db, Visibility::Private, None).await, [404; 2]);
}

#[tokio::test]
async fn a_link_that_says_who_sees_its_numbers_is_a_link_of_its_own() {
    let (db, ada) = with_person("ada").await;
    let shorten = shorten(&db);
    let make = async |statistics: Option<&str>| {
        let body = json!({"url": "https://example.com/report", "statistics": statistics});
        let answer = RequestBuilder::new("POST", "/api/shorten").token(&ada.token(Role::Member)).json(&body);
        let link = answer.send_to(&shorten).await.json();
        (link["short_code"].clone(), link["statistics"].clone(), link["reused"].clone())
    };

    let (first, _, _) = make(None).await;
    let (private, statistics, reused) = make(Some("private")).await;

    assert!(first != private);
    assert_eq!((statistics, reused), (json!("private"), json!(false)));
    assert_eq!(make(None).await, (first, json!(null), json!(true)));
}
