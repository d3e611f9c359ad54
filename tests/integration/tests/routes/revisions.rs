//! Revisions of links and workspaces: `ETag` and `If-Match`.

use crate::prelude::*;

const LINK: &str = "/api/links/launch";
const OLD_ADDRESS: &str = "/api/urls/launch";
const WORKSPACE: &str = "/api/workspace";

/// One link, `launch`, and the functions that show and change it.
struct Fixture {
    db: TestDynamoDb,
    token: String,
    list: List,
    update: Update,
    delete: Delete,
}

impl Fixture {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
        db.store(&LinkBuilder::new("launch").in_workspace(&workspace).owned_by(&owner).build()).await;
        Self {
            token: token_of(&owner, &workspace, Role::Member),
            list: List { authenticator: authenticator(), ..crate::fixture::list(&db) },
            update: Update { authenticator: authenticator(), ..crate::fixture::update(&db) },
            delete: crate::fixture::delete(&db, authenticator()),
            db,
        }
    }

    async fn send(&self, handler: &impl DeferringHandler, request: RequestBuilder) -> Answer {
        request.token(&self.token).send_to(handler).await
    }

    async fn tag(&self) -> String {
        let shown = self.send(&self.list, RequestBuilder::new("GET", LINK)).await.expecting(200);
        shown.header("etag").to_owned()
    }

    async fn patch(&self, if_match: Option<&str>, body: &Value) -> Answer {
        let request = RequestBuilder::new("PATCH", LINK).json(body);
        let request = if_match.into_iter().fold(request, |request, tags| request.header("if-match", tags));
        self.send(&self.update, request).await
    }

    async fn remove(&self, path: &str, if_match: &str) -> Answer {
        self.send(&self.delete, RequestBuilder::new("DELETE", path).header("if-match", if_match)).await
    }
}

fn assert_stale(answer: &Answer) {
    assert_eq!(answer.problem(), (412, "this has changed since you read it; read it again".into()));
    assert_eq!((&answer.json()["code"], &answer.json()["field"]), (&json!("precondition_failed"), &json!("If-Match")));
}

#[tokio::test]
async fn each_change_makes_a_revision_and_a_stale_one_changes_nothing() {
    let fixture = Fixture::new().await;
    let first = fixture.tag().await;

    let changed = fixture.patch(Some(&first), &json!({"title": "First"})).await.expecting(200);
    let second = changed.header("etag").to_owned();
    assert_ne!(second, first);
    assert_eq!(fixture.tag().await, second);

    assert_stale(&fixture.patch(Some(&first), &json!({"title": "Lost"})).await);
    assert_stale(&fixture.patch(Some(&first), &json!({})).await);
    assert_eq!(fixture.db.link("launch").await.metadata.title.unwrap().to_string(), "First");
    assert_eq!(fixture.patch(None, &json!({"title": null})).await.status, 200);
    assert_stale(&fixture.patch(Some(&second), &json!({"title": "Lost"})).await);
}

#[tokio::test]
async fn a_stale_change_of_an_external_id_changes_nothing() {
    let fixture = Fixture::new().await;
    let first = fixture.tag().await;

    let named = fixture.patch(Some(&first), &json!({"external_id": "A-1"})).await.expecting(200);
    let second = named.header("etag").to_owned();
    let before = fixture.db.scan("LinksTable");
    for stale in [json!({"external_id": "A-2"}), json!({"external_id": null}), json!({"external_id": "A-1"})] {
        assert_stale(&fixture.patch(Some(&first), &stale).await);
    }
    assert_eq!(fixture.db.scan("LinksTable"), before, "no entry of an external id is made or freed");

    let bodies: Vec<_> = (0..4).map(|number| json!({"external_id": format!("B-{number}")})).collect();
    let answers = join_all(bodies.iter().map(|body| fixture.patch(Some(&second), body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    answers.iter().filter(|answer| answer.status != 200).for_each(assert_stale);
}

#[tokio::test]
async fn a_link_that_has_changed_is_neither_deleted_nor_purged() {
    let fixture = Fixture::new().await;
    let first = fixture.tag().await;
    let second = fixture.patch(None, &json!({"title": "a"})).await.header("etag").to_owned();
    let before = fixture.db.scan("LinksTable");

    for path in [OLD_ADDRESS, LINK] {
        for stale in [&first, &format!("W/{second}"), "\"other-1\""] {
            assert_stale(&fixture.remove(path, stale).await);
        }
    }
    assert_eq!(fixture.db.scan("LinksTable"), before, "its URL still leads to it, too");

    assert_eq!(fixture.remove(OLD_ADDRESS, &second).await.status, 204);
    assert!(matches!(fixture.db.link("launch").await.availability.state, LinkState::Deleted(_)));
    assert_eq!(fixture.remove(OLD_ADDRESS, &second).await.status, 204, "it is what was asked for already");
    let third = fixture.tag().await;
    assert_stale(&fixture.remove(LINK, &second).await);
    assert_eq!(fixture.remove(LINK, &third).await.status, 204);
    assert_eq!(fixture.remove(LINK, &third).await.status, 204);
    assert_eq!(fixture.send(&fixture.list, RequestBuilder::new("GET", LINK)).await.status, 410);
}

#[tokio::test]
async fn a_purges_dry_run_says_what_is_lost_and_loses_nothing() {
    let mut fixture = Fixture::new().await;
    let dry_run = RequestBuilder::new("DELETE", &format!("{LINK}?dry_run=true"));
    let unclicked = fixture.send(&fixture.delete, dry_run.clone()).await.expecting(200).json();
    let (workspace, now) = (fixture.db.link("launch").await.identity.workspace, Timestamp::now());
    let click = ClickBuilder::new("launch").in_workspace(&workspace).at(now).build();
    analytics(&fixture.db, &FakeQueues::start()).consume(event_batch(&[click])).await;
    let before = fixture.db.scan("LinksTable");

    let clicked = fixture.send(&fixture.delete, dry_run.clone()).await.expecting(200).json();
    let stranger = token_for(&WorkspaceId::generate(), Role::Admin);
    let colleague = token_for(&workspace, Role::Member);
    let refused = [stranger, colleague].map(|token| dry_run.clone().token(&token));
    let refused = join_all(refused.into_iter().map(|request| request.send_to(&fixture.delete))).await;
    for unclear in ["dry_run=yes", "dry_run", "dry_run="] {
        let unclear = RequestBuilder::new("DELETE", &format!("{LINK}?{unclear}"));
        assert_eq!(fixture.send(&fixture.delete, unclear).await.problem_field(), (400, "dry_run".into()));
    }

    assert_eq!(unclicked, json!({"short_code": "launch", "total_clicks": 0, "last_click_at": null}));
    assert_eq!(clicked, json!({"short_code": "launch", "total_clicks": 1, "last_click_at": now}));
    assert!(refused.iter().all(|answer| answer.problem_code() == (403, "forbidden".into())), "{refused:?}");
    assert_eq!(fixture.db.scan("LinksTable"), before);

    for nothing in ["/api/links/nothing?dry_run=true", "/api/links/x?dry_run=true"] {
        assert_eq!(
            fixture.send(&fixture.delete, RequestBuilder::new("DELETE", nothing)).await.status,
            204,
            "{nothing}"
        );
    }
    let stats = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));
    fixture.delete = Delete { stats, ..fixture.delete };
    let unknown = fixture.send(&fixture.delete, dry_run.clone()).await.expecting(200).json();
    assert_eq!(unknown, json!({"short_code": "launch", "total_clicks": null, "last_click_at": null}));
    let purge = RequestBuilder::new("DELETE", &format!("{LINK}?dry_run=false"));
    assert_eq!(fixture.send(&fixture.delete, purge).await.status, 204);
    assert_eq!(fixture.send(&fixture.delete, dry_run).await.status, 204, "nothing would be lost");
}

#[tokio::test]
async fn a_workspace_changes_for_the_revision_that_was_read_only() {
    let db = TestDynamoDb::start();
    let account = crate::fixture::account(&db);
    let ada = db.register("ada").await;
    let token = ada.token(Role::Admin);
    let patch = async |if_match: &str, body: Value| {
        let request = RequestBuilder::new("PATCH", WORKSPACE).token(&token).json(&body);
        request.header("if-match", if_match).send_to(&account).await
    };
    let first = account.get(WORKSPACE, &token).await.header("etag").to_owned();

    let names: Vec<_> = (0..4).map(|number| json!({"settings": {"number": number}})).collect();
    let answers = join_all(names.iter().map(|body| patch(&first, body.clone()))).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 1);
    answers.iter().filter(|answer| answer.status != 200).for_each(assert_stale);

    let second = made[0].header("etag").to_owned();
    assert_stale(&patch(&first, json!({"slug": "engines"})).await);
    assert_stale(&patch(&format!("W/{second}"), json!({})).await);
    let moved = patch(&second, json!({"slug": "engines"})).await;
    assert_eq!((moved.status, &moved.json()["slug"]), (200, &json!("engines")));
    assert_ne!(moved.header("etag"), second);
    assert_eq!(patch("*", json!({"name": "Engines"})).await.status, 200);
    assert!(moved.json()["updated_at"].as_str().unwrap() <= Timestamp::now().to_string().as_str());
}
