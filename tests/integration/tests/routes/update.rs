use linklet_domain::LinkEdit;
use linklet_dynamodb::EditOutcome;

use crate::fixture::{per, room};
use crate::prelude::*;

struct Fixture {
    db: TestDynamoDb,
    update: Update,
    workspace: WorkspaceId,
    owner: UserId,
}

impl Fixture {
    /// One link, `launch`, in a workspace.
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
        db.store(&LinkBuilder::new("launch").in_workspace(&workspace).owned_by(&owner).build()).await;
        let writer = LinkWriter { room: room(&db, 1), ..crate::fixture::writer(&db) };
        let update = Update { authenticator: authenticator(), writer, ..crate::fixture::update(&db) };
        Self { db, update, workspace, owner }
    }

    async fn patch(&self, body: &Value) -> Answer {
        self.patch_of("launch", body).await
    }

    /// Changes another link of the workspace's.
    async fn patch_of(&self, code: &str, body: &Value) -> Answer {
        self.patch_as(&self.owner, &self.workspace, Role::Member, code, body).await
    }

    fn link(&self, code: &str) -> LinkBuilder {
        LinkBuilder::new(code).in_workspace(&self.workspace).owned_by(&self.owner)
    }

    async fn patch_as(&self, user: &UserId, workspace: &WorkspaceId, role: Role, code: &str, body: &Value) -> Answer {
        let token = token_of(user, workspace, role);
        let path = format!("/api/links/{code}");
        self.update.patch(&path, &token, body).await
    }

    async fn follow(&self) -> Answer {
        redirect(&self.db).get_openly("/launch").await
    }
}

#[tokio::test]
async fn a_link_that_watches_goes_on_to_whatever_changes() {
    let fixture = Fixture::new().await;
    let link = fixture.link("watcher").watching().build();
    fixture.db.store(&link).await;
    let body = json!({"title": "T", "is_active": false});

    let watching = fixture.patch_of("watcher", &body).await;
    let plain = fixture.patch(&json!({"title": "T"})).await;

    assert_eq!((&watching.json()["watch"], &plain.json()["watch"]), (&json!(true), &json!(false)));
    assert_eq!(watching.json().get("health"), None);
    assert!(fixture.db.link("watcher").await.watch);
}

/// In a workspace that monitors as many URLs as it may, a link that watches another one. It expires at this time.
async fn watching_in_a_full_workspace(fixture: &Fixture, expires_at: Timestamp) {
    let other = TargetBuilder::new("https://example.com/other").in_workspace(&fixture.workspace).build();
    fixture.db.store_target(&other).await;
    let link = fixture.link("watcher").watching();
    fixture.db.store(&link.expires_at(expires_at).build()).await;
}

#[tokio::test]
async fn a_watching_link_without_room_is_extended_only_if_it_stops_watching() {
    let fixture = Fixture::new().await;
    let now = Timestamp::now();
    watching_in_a_full_workspace(&fixture, now).await;
    let patch = async |body: Value| fixture.patch_of("watcher", &body).await;
    let later = now.plus(Duration::from_secs(3_600));
    let before = fixture.db.link("watcher").await;

    for body in [json!({"expires_at": later}), json!({"expires_at": null}), json!({"expires_at": later, "watch": null})]
    {
        let refused = patch(body).await;

        let reason = "this workspace or its creator has reached the limit of monitored URLs; delete a target first";
        assert_eq!(refused.problem(), (409, reason.into()));
        assert_eq!(refused.json()["code"], "target_quota_reached");
    }
    assert_eq!(fixture.db.link("watcher").await, before);
    assert_eq!(patch(json!({"title": "T", "is_active": true})).await.status, 200, "it is not extended");

    let given_up = patch(json!({"expires_at": later, "watch": false})).await;

    let shown = given_up.json();
    assert_eq!((given_up.status, &shown["watch"], &shown["status"]), (200, &json!(false), &json!("active")));
    assert_eq!(shown.get("target_id"), Some(&Value::Null));
    assert!(!fixture.db.link("watcher").await.watch);
    assert_eq!(patch(json!({"expires_at": null})).await.status, 200, "there is nothing to find room for");
}

#[tokio::test]
async fn a_link_begins_to_watch_only_what_there_is_room_for() {
    let fixture = Fixture::new().await;
    let begin = async || fixture.patch(&json!({"watch": true})).await;
    fixture.db.store(&fixture.link("local").to("http://127.0.0.1/").build()).await;
    assert_eq!(fixture.patch_of("local", &json!({"watch": true})).await.json()["field"], "watch");

    let begun = begin().await;
    assert_eq!((begun.status, &begun.json()["watch"]), (200, &json!(true)));
    assert!(begun.json()["target_id"].is_string());

    fixture.patch(&json!({"watch": false})).await.expecting(200);
    watching_in_a_full_workspace(&fixture, Timestamp::now()).await;
    assert_eq!(begin().await.json()["code"], "target_quota_reached");
}

#[tokio::test]
async fn a_link_keeps_watching_if_its_target_exists_or_is_unreadable() {
    let mut fixture = Fixture::new().await;
    let now = Timestamp::now();
    watching_in_a_full_workspace(&fixture, now).await;
    let owned = LinkBuilder::new("watching").to("https://example.com/other").in_workspace(&fixture.workspace);
    fixture.db.store(&owned.owned_by(&fixture.owner).watching().expires_at(now).build()).await;
    let extend = async |fixture: &Fixture, code: &str| {
        let body = json!({"expires_at": now.plus(Duration::from_secs(3_600))});
        fixture.patch_of(code, &body).await.status
    };

    assert_eq!((extend(&fixture, "watching").await, extend(&fixture, "watcher").await), (200, 409));
    fixture.update.writer.room.targets =
        WatchTable::new(TestDynamoDb::unreachable_table("WatchTable")).with_quota(per(1));
    assert_eq!(extend(&fixture, "watcher").await, 200);
    assert!(fixture.db.link("watcher").await.watch);
}

#[tokio::test]
async fn each_member_changes_alone_and_null_takes_it_away() {
    let fixture = Fixture::new().await;
    let later = Timestamp::now().plus(Duration::from_secs(3_600));

    let body = json!({"title": "T", "description": "D", "tags": ["a", "b"], "expires_at": later, "is_active": true, "statistics": "private"});
    let all = fixture.patch(&body).await.expecting(200);
    let one = fixture.patch(&json!({"title": "U"})).await;
    let none = fixture
        .patch(&json!({"title": null, "description": null, "tags": null, "expires_at": null, "statistics": ""}))
        .await;

    let shown = |answer: &Answer| {
        let link = answer.json();
        json!([
            link["title"],
            link["description"],
            link["tags"],
            link["expires_at"],
            link["is_active"],
            link["statistics"]
        ])
    };
    assert_eq!(shown(&all), json!(["T", "D", ["a", "b"], later, true, "private"]));
    assert_eq!(shown(&one), json!(["U", "D", ["a", "b"], later, true, "private"]));
    assert_eq!(shown(&none), json!([null, null, [], null, true, null]));
    assert_eq!(none.json()["total_clicks"], 0);
    assert_eq!(none.json()["short_code"], "launch");
}

#[tokio::test]
async fn an_archived_link_still_redirects_and_restoring_it_leaves_no_trace() {
    let fixture = Fixture::new().await;
    let stored = || fixture.db.scan("LinksTable")[0].get("archived").cloned();

    let archived = fixture.patch(&json!({"archived": true})).await;
    let kept = stored();
    let followed = fixture.follow().await;
    let unchanged = fixture.patch(&json!({"archived": null, "title": "T"})).await;
    let back = fixture.patch(&json!({"archived": false})).await;

    let shown = |answer: &Answer| (answer.status, answer.json()["archived"].clone(), answer.json()["status"].clone());
    assert_eq!(shown(&archived), (200, json!(true), json!("active")), "{}", archived.body);
    assert_eq!((kept, followed.status), (Some(json!({"BOOL": true})), REDIRECT));
    assert_eq!(shown(&unchanged), (200, json!(true), json!("active")));
    assert_eq!((shown(&back), stored()), ((200, json!(false), json!("active")), None));
    assert_eq!(fixture.patch(&json!({"archived": "yes"})).await.json()["field"], "archived");
}

#[tokio::test]
async fn metadata_and_external_id_are_replaced_whole_and_taken_away() {
    let fixture = Fixture::new().await;
    let shown = |answer: &Answer| json!([answer.json()["metadata"], answer.json()["external_id"]]);

    let given = fixture.patch(&json!({"metadata": {"order": "42", "team": "Ä"}, "external_id": "crm-7"})).await;
    let other = fixture.patch(&json!({"metadata": {"order": "43"}})).await;
    let same = fixture.patch(&json!({"external_id": "crm-7", "title": "T"})).await;
    let renamed = fixture.patch(&json!({"external_id": "crm-8"})).await;
    let without = fixture.patch(&json!({"metadata": {}, "external_id": null})).await;

    assert_eq!(shown(&given), json!([{"order": "42", "team": "Ä"}, "crm-7"]), "{}", given.body);
    assert_eq!(shown(&other), json!([{"order": "43"}, "crm-7"]));
    assert_eq!((shown(&same), &same.json()["title"]), (shown(&other), &json!("T")));
    assert_eq!(shown(&renamed), json!([{"order": "43"}, "crm-8"]));
    assert_eq!(shown(&without), json!([null, null]));
    let left = fixture.db.scan("LinksTable");
    assert!(left.iter().all(|item| item.get("metadata").is_none() && item["sk"]["S"] != "EXTERNAL"), "{left:?}");
}

#[tokio::test]
async fn an_external_id_belongs_to_one_link_until_it_is_released() {
    let fixture = Fixture::new().await;
    for (code, workspace) in [("second", &fixture.workspace), ("foreign", &WorkspaceId::generate())] {
        fixture.db.store(&LinkBuilder::new(code).in_workspace(workspace).owned_by(&fixture.owner).build()).await;
    }
    let foreign = fixture.db.link("foreign").await.identity.workspace;
    let name = async |workspace: &WorkspaceId, code: &str, id: Option<&str>| {
        fixture.patch_as(&fixture.owner, workspace, Role::Admin, code, &json!({"external_id": id, "title": "T"})).await
    };
    let ours = &fixture.workspace;
    assert_eq!(name(ours, "launch", Some("a")).await.status, 200);

    let refused = name(ours, "second", Some("a")).await;

    assert_eq!(refused.problem(), (409, "the link launch of the workspace has this external_id".into()));
    assert_eq!(json!([refused.json()["code"], refused.json()["field"]]), json!(["external_id_taken", "external_id"]));
    assert_eq!(fixture.db.link("second").await.metadata.title, None, "all or nothing");
    assert_eq!(name(&foreign, "foreign", Some("a")).await.status, 200, "workspaces share none");
    assert_eq!(name(ours, "launch", Some("b")).await.status, 200);
    assert_eq!(name(ours, "second", Some("a")).await.status, 200, "it was changed");
    assert_eq!(name(ours, "launch", Some("a")).await.status, 409);
    let second = fixture.db.link("second").await;
    fixture.db.delete(&second).await;
    assert_eq!(name(ours, "launch", Some("a")).await.status, 409, "a deleted link keeps it");
    let record = fixture.db.record("second").await.unwrap();
    fixture.db.purge(&record).await;
    assert_eq!(name(ours, "launch", Some("a")).await.status, 200, "a purged one doesn't");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_links_that_want_an_external_id_at_once_one_gets_it() {
    let fixture = Fixture::new().await;
    let codes: Vec<String> = (0..6).map(|number| format!("wants{number}")).collect();
    for code in &codes {
        let link = fixture.link(code);
        fixture.db.store(&link.build()).await;
    }
    let body = json!({"external_id": "the one"});
    let patch = async |code: &String| fixture.patch_of(code, &body).await.status;

    let mut statuses = join_all(codes.iter().map(patch)).await;

    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409]);
    let mut holders = 0;
    for code in &codes {
        holders += usize::from(fixture.db.link(code).await.metadata.external_id.is_some());
    }
    assert_eq!(holders, 1);
}

#[tokio::test]
async fn an_entry_that_is_left_over_holds_no_external_id() {
    let fixture = Fixture::new().await;
    fixture.patch(&json!({"external_id": "a"})).await;
    let link = fixture.db.link("launch").await;
    let entry = fixture.db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "EXTERNAL").unwrap();
    fixture.db.purge(&Record::Link(link)).await;
    // As if freeing the entry had failed after the link was replaced.
    fixture.db.put("LinksTable", &entry);
    let second = fixture.link("second").build();
    fixture.db.store(&second).await;
    let taken = fixture.patch_of("second", &json!({"external_id": "a"})).await;

    assert_eq!((taken.status, &taken.json()["external_id"]), (200, &json!("a")), "{}", taken.body);
}

#[tokio::test]
async fn a_link_can_be_switched_off_and_on_again() {
    let fixture = Fixture::new().await;

    let off = fixture.patch(&json!({"is_active": false})).await;
    let while_off = fixture.follow().await;
    let on = fixture.patch(&json!({"is_active": true})).await;

    assert_eq!((off.json()["status"].clone(), on.json()["status"].clone()), (json!("inactive"), json!("active")));
    assert_eq!(while_off.problem(), (410, "this link is disabled".into()));
    assert_eq!(fixture.follow().await.status, REDIRECT);
}

#[tokio::test]
async fn a_change_says_when_it_was_made_and_nothing_is_no_change() {
    let fixture = Fixture::new().await;
    let created = fixture.db.link("launch").await;

    let nothing = fixture.patch(&json!({})).await;
    let changed = fixture.patch(&json!({"title": "T"})).await;

    assert_eq!(nothing.json()["updated_at"], created.created_at.to_string());
    let updated_at = fixture.db.link("launch").await.updated_at;
    assert!(updated_at >= created.updated_at && updated_at != created.created_at, "{updated_at}");
    assert_eq!(changed.json()["updated_at"], updated_at.to_string());
    assert_eq!(changed.json()["created_at"], created.created_at.to_string());
}

#[tokio::test]
async fn a_change_of_a_purged_link_leaves_its_codes_next_link_alone() {
    let fixture = Fixture::new().await;
    let read = fixture.db.link("launch").await;
    let record = fixture.db.record("launch").await.unwrap();
    fixture.db.purge(&record).await;
    let next = LinkBuilder::new("launch").in_workspace(&fixture.workspace).of_another_generation().build();
    fixture.db.store(&next).await;

    let off = LinkPatch { is_active: Some(false), ..LinkPatch::default() };
    let switch_off = |record: &Record<Link>| match record {
        Record::Link(link) => LinkEdit::Change(Box::new(link.changed_by(&off, Timestamp::now()))),
        Record::Tombstone(_) => LinkEdit::Keep,
    };
    let changed = fixture.db.edit_as(&fixture.owner, &Record::Link(read.clone()), &correlation(), switch_off).await;
    fixture.db.delete(&read).await;
    fixture.db.purge(&record).await;

    assert_eq!(changed, EditOutcome::Gone);
    assert_eq!(fixture.db.link("launch").await, next);
}

/// `is_active` is what somebody has chosen, and an expiry isn't that: a link that was switched off stays so when it is extended.
#[tokio::test]
async fn an_expiry_leaves_is_active_as_it_was_chosen() {
    let fixture = Fixture::new().await;
    let link = fixture.link("expired");
    fixture.db.store(&link.expires_at(Timestamp::now()).build()).await;
    let later = Timestamp::now().plus(Duration::from_secs(600));
    let patch = async |body: Value| {
        let changed = fixture.patch_of("expired", &body).await.json();
        (changed["is_active"].clone(), changed["status"].clone())
    };

    assert_eq!(patch(json!({"title": "T"})).await, (json!(true), json!("expired")));
    assert_eq!(patch(json!({"is_active": false})).await.0, json!(false));
    assert_eq!(patch(json!({"expires_at": later})).await, (json!(false), json!("inactive")));
    assert_eq!(patch(json!({"is_active": true})).await, (json!(true), json!("active")));
}

#[tokio::test]
async fn what_never_changes_is_refused() {
    let fixture = Fixture::new().await;

    for (member, value, sentence) in [
        ("rules", json!([]), "rules and variants are changed with PUT /api/links/{code}/rules"),
        ("is_protected", json!(false), "is_protected cannot be changed"),
        ("exhausted_at", Value::Null, "exhausted_at cannot be changed"),
        ("custom_code", json!("other"), "the code of a link never changes; create another link"),
        ("short_code", json!("launch"), "the code of a link never changes; create another link"),
        ("short_url", json!("x"), "the code of a link never changes; create another link"),
        ("id", json!("x"), "id cannot be changed"),
        ("workspace_id", json!("x"), "workspace_id cannot be changed"),
        ("user_id", json!("x"), "user_id cannot be changed"),
        ("created_by", json!("x"), "created_by cannot be changed"),
        ("created_by_name", json!("x"), "created_by_name cannot be changed"),
        ("created_at", Value::Null, "created_at cannot be changed"),
        ("updated_at", json!("2026-03-02T14:05:09.120Z"), "updated_at cannot be changed"),
        ("status", json!("active"), "status cannot be changed"),
        ("total_clicks", json!(0), "total_clicks cannot be changed"),
    ] {
        let answer = fixture.patch(&json!({member: value, "title": "x"})).await;
        assert_eq!(answer.problem(), (400, sentence.into()));
        assert_eq!(answer.json()["field"], member);
    }
    assert_eq!(fixture.db.link("launch").await.metadata.title, None);
    assert_eq!(fixture.follow().await.header("location"), "https://example.com/landing");
    let before = fixture.db.link("launch").await;
    assert_eq!(fixture.patch(&json!({"colour": "red"})).await.status, 200, "an unknown member");
    assert_eq!(fixture.db.link("launch").await, before);
}

#[tokio::test]
async fn each_refusal_gives_its_reason() {
    let fixture = Fixture::new().await;
    let cases = [
        (json!({"title": 5}), "title must be a string"),
        (json!({"description": "x".repeat(2_001)}), "description must have at most 2000 characters"),
        (json!({"tags": ["x".repeat(51)]}), "each of the tags must have 1–50 characters"),
        (json!({"expires_at": "soon"}), "expires_at must be RFC3339 format"),
        (json!({"expires_at": "2020-01-01T00:00:00Z"}), "expires_at must be in the future"),
        (json!({"is_active": "yes"}), "is_active must be true or false"),
        (json!({"metadata": "text"}), "metadata must be an object"),
        (json!({"metadata": {"a": 5}}), "metadata must have texts only"),
        (json!({"external_id": "x".repeat(256)}), "external_id must have at most 255 characters"),
        (json!({"external_id": 7}), "external_id must be a string"),
        (json!({"watch": "no"}), "watch must be true or false"),
        (json!({"statistics": "secret"}), "statistics must be 'public' or 'private'"),
    ];

    for (body, reason) in cases {
        assert_eq!(fixture.patch(&body).await.problem(), (400, reason.into()), "{body}");
    }
}

#[tokio::test]
async fn what_is_gone_stays_gone() {
    let fixture = Fixture::new().await;
    let link = fixture.db.link("launch").await;
    fixture.db.delete_as(&fixture.owner, &link, Timestamp::now()).await;

    let deleted = fixture.patch(&json!({"is_active": true})).await;
    let record = fixture.db.record("launch").await.unwrap();
    fixture.db.purge(&record).await;
    let purged = fixture.patch(&json!({"is_active": true})).await;

    assert!(matches!(link.availability.state, LinkState::Active));
    assert_eq!(deleted.problem(), (410, "this link was deleted".into()));
    assert_eq!(purged.problem(), (410, "this link was purged with its statistics".into()));
}

#[tokio::test]
async fn without_statistics_it_still_changes_and_says_what_is_missing() {
    let mut fixture = Fixture::new().await;
    fixture.update.stats = StatsTable::new(TestDynamoDb::unreachable_table("StatsTable"));

    let answer = fixture.patch(&json!({"title": "T"})).await.expecting(200);

    assert_eq!(answer.json()["total_clicks"], Value::Null);
    assert_eq!(answer.json()["degraded"], json!(["clicks"]));
}
