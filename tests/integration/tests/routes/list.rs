use std::{collections::BTreeSet, time::Duration};

use linklet_domain::{Role, Timestamp, UserId, WorkspaceId};
use linklet_list::List;
use linklet_test_support::{Answer, LinkBuilder, RequestBuilder, TestDynamoDb, token_for};
use serde_json::{Value, json};

use crate::fixture::list;

async fn get(list: &List, workspace: &WorkspaceId, query: &str) -> Answer {
    let token = token_for(workspace, Role::Viewer);
    RequestBuilder::new("GET", &format!("/api/urls{query}")).token(&token).send_to(list).await
}

async fn store(db: &TestDynamoDb, workspace: &WorkspaceId, code: &str, created_at: Timestamp) {
    let link = LinkBuilder::new(code).in_workspace(workspace).created_at(created_at).build();
    db.store(&link).await;
}

fn codes(answer: &Answer) -> Vec<String> {
    let urls = answer.json()["urls"].as_array().unwrap().clone();
    urls.iter().map(|url| url["short_code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_workspace_sees_its_own_links_newest_first() {
    let db = TestDynamoDb::start();
    let (ours, theirs) = (WorkspaceId::generate(), WorkspaceId::generate());
    let now = Timestamp::now();
    store(&db, &ours, "older1", now.minus(Duration::from_secs(60))).await;
    store(&db, &ours, "newer1", now).await;
    store(&db, &theirs, "foreign", now).await;

    let answer = get(&list(&db), &ours, "").await;

    assert_eq!(answer.status, 200);
    assert_eq!(codes(&answer), ["newer1", "older1"]);
    assert_eq!(answer.json()["next_cursor"], Value::Null);
    assert_eq!(answer.json().get("degraded"), None);
}

#[tokio::test]
async fn a_link_shows_everything_its_owner_needs() {
    let db = TestDynamoDb::start();
    let (workspace, owner) = (WorkspaceId::generate(), UserId::generate());
    let now = Timestamp::now();
    let link = LinkBuilder::new("launch").in_workspace(&workspace).owned_by(&owner).created_at(now).build();
    db.store(&link).await;
    db.delete_as(&owner, &link, now).await;

    let answer = get(&list(&db), &workspace, "?status=deleted").await;

    assert_eq!(get(&list(&db), &workspace, "").await.json()["urls"], json!([]));
    assert_eq!(
        answer.json()["urls"],
        json!([{
            "short_code": "launch", "short_url": "https://api.example.com/r/launch",
            "original_url": "https://example.com/landing", "title": null, "description": null, "tags": [], "watch": false, "archived": false,
            "created_at": now, "updated_at": now.plus(Duration::from_millis(1)), "expires_at": null, "is_active": false, "status": "deleted", "total_clicks": 0,
            "created_by": owner, "created_by_name": null, "metadata": null, "external_id": null,
            "valid_from": null, "exhausted_at": null, "fallback_url": null, "max_clicks": null, "forward_query": false, "preview": null,
            "is_protected": false, "has_rules": false,
        }])
    );
}

#[tokio::test]
async fn nothing_is_an_empty_list() {
    let db = TestDynamoDb::start();

    let answer = get(&list(&db), &WorkspaceId::generate(), "").await;

    assert_eq!(answer.json(), json!({"urls": [], "next_cursor": null}));
}

#[tokio::test]
async fn pages_cover_each_link_once_though_all_share_a_timestamp() {
    let db = TestDynamoDb::start();
    let (workspace, now) = (WorkspaceId::generate(), Timestamp::now());
    for number in 0..25 {
        store(&db, &workspace, &format!("code{number:02}"), now).await;
    }
    let list = list(&db);

    let mut seen = Vec::new();
    let mut query = "?limit=4".to_owned();
    let mut pages = 0;
    loop {
        let answer = get(&list, &workspace, &query).await;
        seen.extend(codes(&answer));
        pages += 1;
        // A link that appears while somebody pages must not shift the rows behind it.
        store(&db, &workspace, &format!("late{pages:02}"), now.plus(Duration::from_secs(pages))).await;
        match answer.json()["next_cursor"].as_str() {
            Some(cursor) => query = format!("?limit=4&after={cursor}"),
            None => break,
        }
    }

    assert_eq!(pages, 7);
    assert_eq!(seen.len(), 25);
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 25);
}

#[tokio::test]
async fn a_bad_limit_or_cursor_is_refused() {
    let db = TestDynamoDb::start();
    let list = list(&db);
    for query in ["?limit=0", "?limit=-1", "?limit=ten"] {
        let answer = get(&list, &WorkspaceId::generate(), query).await;
        assert_eq!(answer.problem(), (400, "limit must be a positive integer".into()), "{query}");
    }
    for query in ["?after=%25", "?after=AAAA"] {
        let answer = get(&list, &WorkspaceId::generate(), query).await;
        assert_eq!(answer.problem(), (400, "after is not a cursor of this list".into()), "{query}");
    }
}

#[tokio::test]
async fn an_empty_parameter_counts_as_absent_and_a_limit_is_capped() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    for number in 0..101 {
        store(&db, &workspace, &format!("code{number}"), Timestamp::now()).await;
    }

    let shown = async |query: &str| get(&list(&db), &workspace, query).await.json()["urls"].as_array().unwrap().len();

    for (query, count) in [("?limit=&after=", 20), ("?limit=101", 100), ("?limit=1000000", 100)] {
        assert_eq!(shown(query).await, count, "{query}");
    }
}
