//! The sample events beside each function are what `sam local invoke` and readers use, so they have to work.

use std::path::PathBuf;

use crate::prelude::*;

/// Samples that stand for a refusal: what they name is nobody's, or of another version.
const REFUSED: [(&str, u16); 15] = [
    ("web/file", 404),
    ("auth/reset", 404),
    ("auth/verify", 404),
    // There is no identity provider.
    ("auth/oidc", 404),
    ("auth/oidc-callback", 404),
    ("auth/join", 404),
    ("auth/proof", 401),
    ("auth/refresh", 401),
    ("auth/keep-address", 404),
    ("account/unsubscribe", 404),
    ("stats/shared", 404),
    ("jobs-api/job", 404),
    ("leave/restore", 404),
    ("leave/close-workspace", 400),
    ("leave/close-account", 401),
];

/// Samples about what another sample makes.
const AFTER: [(&str, &str); 5] = [
    ("auth/login", "auth/register"),
    ("account/withdraw", "account/invite"),
    ("watch/target", "watch/register"),
    ("watch/results", "watch/register"),
    ("watch/delete", "watch/register"),
];

fn functions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions")
}

/// The samples of requests, as `<function>/<name>`.
fn samples() -> Vec<(String, Value)> {
    let folders = fs::read_dir(functions())
        .unwrap()
        .filter_map(|folder| fs::read_dir(folder.unwrap().path().join("events")).ok());
    let events = folders.flatten().map(|event| event.unwrap().path());
    let samples = events.map(|path| {
        let function = path.parent().unwrap().parent().unwrap().file_name().unwrap().to_str().unwrap();
        (format!("{function}/{}", path.file_stem().unwrap().to_str().unwrap()), read(&path))
    });
    samples.filter(|(_, event)| event["routeKey"].is_string()).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Ada, the admin of the workspace in which the samples' ids are what they name.
async fn ada(db: &TestDynamoDb) -> Person {
    let email = EmailAddress::parse("ada@example.com").unwrap();
    let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();
    let ada = Person { id: UserId::generate(), email, workspace };
    db.register_as(&ada, "rockets").await;
    db.store(&LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&ada.id).tagged(&["launch"]).build())
        .await;
    let secret = ApiKeySecret::parse(&format!("lk_live_01234567{}", "x".repeat(24))).unwrap();
    db.store_key(&ApiKeyBuilder::new(&secret, &ada).build()).await;
    ada
}

/// Grace, a member of Ada's workspace, who has invited her into another one.
async fn add_grace(db: &TestDynamoDb, ada: &Person) {
    let email = EmailAddress::parse("grace@example.com").unwrap();
    let id = UserId::parse("0199c3a4-5b6c-7d8e-9f01-23456789abcd").unwrap();
    let grace = Person { id, email, workspace: WorkspaceId::generate() };
    db.register_as(&grace, "grace").await;
    db.add_member(&ada.workspace, &ada.id, &grace.as_member(Role::Member)).await;
    let token = OneTimeToken::parse(TokenPurpose::Invitation, &format!("inv_{}", "0".repeat(32))).unwrap().hash();
    let workspace = &grace.workspace;
    let invitation = Invitation::new(workspace, ada.email.clone(), Role::Member, &id, token, Timestamp::now());
    db.users().invite(&invitation, &a_session(), None, &an_origin(&id)).await.unwrap();
}

async fn send(db: &TestDynamoDb, ada: &Person, sample: &str, event: &Value) -> Answer {
    let (function, _) = sample.split_once('/').unwrap();
    let token = ada.token(Role::Admin);
    fixture::send(db, function, RequestBuilder::of_event(&event.to_string().replace("TOKEN", &token))).await
}

#[tokio::test]
async fn every_sample_gets_the_answer_it_stands_for() {
    let samples = samples();
    assert!(samples.len() > 60, "only {} samples were found", samples.len());

    for (sample, event) in &samples {
        let db = TestDynamoDb::without_streams();
        let ada = ada(&db).await;
        if sample.starts_with("account/") {
            add_grace(&db, &ada).await;
        }
        if let Some((_, before)) = AFTER.into_iter().find(|(later, _)| later == sample) {
            let (function, name) = before.split_once('/').unwrap();
            let event = read(&functions().join(format!("{function}/events/{name}.json")));
            assert_eq!(send(&db, &ada, before, &event).await.status, 201, "{before}");
        }
        let http = &event["requestContext"]["http"];
        let (method, path) = (http["method"].as_str().unwrap(), event["rawPath"].as_str().unwrap());
        let refused = REFUSED.into_iter().find(|(known, _)| known == sample).map(|(_, status)| status);
        let expected = refused.unwrap_or_else(|| match method {
            "GET" if path.starts_with("/r/") => fixture::REDIRECT,
            _ => Contract::success(Contract::load().operation_at(method, path)),
        });

        let answer = send(&db, &ada, sample, event).await;

        assert_eq!(answer.status, expected, "{sample}: {}", answer.body);
    }
}
