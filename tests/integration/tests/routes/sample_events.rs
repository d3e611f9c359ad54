//! The sample events beside each function are what `sam local invoke` and readers use, so they have to work.

use std::{fs, path::Path};

use linklet_domain::{
    Account, ApiKeySecret, EmailAddress, Invitation, Member, Membership, OneTimeToken, Role, Timestamp, TokenPurpose,
    UserId, WorkspaceId, WorkspaceName, WorkspaceSlug,
};
use linklet_dynamodb::{Registration, UsersTable};
use linklet_lambda::http::DeferringHandler;
use linklet_test_support::{
    ApiKeyBuilder, LinkBuilder, Person, TestDynamoDb, a_session, an_origin, answer, authenticator, issuer, token_of,
    tokens,
};

use crate::fixture::{self, REDIRECT, limits, list, redirect, shorten, stats, watch};

fn sample(function: &str, name: &str, token: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../functions/{function}/events/{name}.json"));
    fs::read_to_string(path).unwrap().replace("TOKEN", token)
}

async fn status(handler: &impl DeferringHandler, function: &str, name: &str, token: &str) -> u16 {
    // In a box, since a test of many samples has no room for the state of all of their requests on its stack.
    Box::pin(answer(handler, &sample(function, name, token))).await.status
}

/// The account of this person, with a workspace of which they are the admin.
async fn register(users: &UsersTable, email: &str, user: &UserId, workspace: &WorkspaceId) {
    let now = Timestamp::now();
    let registration = Registration {
        account: Account {
            id: *user,
            email: EmailAddress::parse(email).unwrap(),
            full_name: None,
            password_hash: Some("none".to_owned()),
            created_at: now,
            last_login_at: None,
        },
        verified_at: None,
        membership: Membership::new(*workspace, Role::Admin, now),
        workspace_name: WorkspaceName::parse(email).unwrap(),
        workspace_slug: WorkspaceSlug::derive(email, workspace),
    };
    users.register(&registration, &an_origin(&registration.account.id)).await.unwrap();
}

#[tokio::test]
async fn every_sample_gets_the_answer_it_stands_for() {
    let db = TestDynamoDb::start();
    let (user, workspace) = (UserId::generate(), WorkspaceId::generate());
    let link = LinkBuilder::new("launch").in_workspace(&workspace).owned_by(&user).build();
    db.store(&link).await;
    register(&db.users(), "linus@example.com", &user, &workspace).await;
    let token = token_of(&user, &workspace, Role::Admin);
    let web = fixture::web();
    let auth = linklet_auth::Auth::new(db.users(), tokens(), issuer(), limits(&db));
    let shorten = shorten(&db);
    let redirect = redirect(&db);
    let update = linklet_update::Update { authenticator: authenticator(), ..fixture::update(&db) };
    let list = list(&db);
    let stats = stats(&db);
    let delete = crate::fixture::delete(&db, authenticator());

    assert_eq!(status(&web, "web", "home", "").await, 302);
    assert_eq!(status(&web, "web", "app", "").await, 200);
    // Its version is no build's.
    assert_eq!(status(&web, "web", "file", "").await, 404);
    assert_eq!(status(&web, "web", "document", "").await, 200);
    assert_eq!(status(&web, "web", "page", "").await, 200);
    assert_eq!(status(&web, "web", "rapidoc", "").await, 200);
    assert_eq!(status(&web, "web", "health", "").await, 200);
    assert_eq!(status(&web, "web", "health-head", "").await, 200);
    assert_eq!(status(&fixture::qr_codes(), "qr", "svg", "").await, 200);
    assert_eq!(status(&fixture::qr_codes(), "qr", "png", "").await, 200);
    assert_eq!(status(&auth, "auth", "register", "").await, 201);
    assert_eq!(status(&auth, "auth", "login", "").await, 200);
    assert_eq!(status(&auth, "auth", "forgot", "").await, 202);
    assert_eq!(status(&auth, "auth", "verification", "").await, 202);
    // The samples' tokens and cookie are as unknown as any that nobody was given.
    assert_eq!(status(&auth, "auth", "reset", "").await, 404);
    assert_eq!(status(&auth, "auth", "verify", "").await, 404);
    assert_eq!(status(&auth, "auth", "refresh", "").await, 401);
    assert_eq!(status(&auth, "auth", "keep-address", "").await, 404);
    assert_eq!(status(&auth, "auth", "me", &token).await, 200);
    assert_eq!(status(&auth, "auth", "change-me", &token).await, 200);
    assert_eq!(status(&auth, "auth", "sessions", &token).await, 200);
    assert_eq!(status(&auth, "auth", "end-session", &token).await, 404);
    assert_eq!(status(&auth, "auth", "logout", &token).await, 204);
    assert_eq!(status(&shorten, "shorten", "shorten", &token).await, 201);
    assert_eq!(status(&shorten, "shorten", "code", &token).await, 200);
    assert_eq!(status(&shorten, "shorten", "create_many", &token).await, 200);
    assert_eq!(status(&redirect, "redirect", "follow", "").await, REDIRECT);
    assert_eq!(status(&list, "list", "urls", &token).await, 200);
    assert_eq!(status(&fixture::overviews(&db), "overview", "overview", &token).await, 200);
    assert_eq!(status(&fixture::overviews(&db), "overview", "breakdowns", &token).await, 200);
    assert_eq!(status(&fixture::overviews(&db), "overview", "tags", &token).await, 200);
    assert_eq!(status(&stats, "stats", "summary", "").await, 200);
    assert_eq!(status(&stats, "stats", "timeline", "").await, 200);
    assert_eq!(status(&stats, "stats", "daily", &token).await, 200);
    assert_eq!(status(&stats, "stats", "clicks", &token).await, 200);
    assert_eq!(status(&update, "update", "change", &token).await, 200);
    assert_eq!(status(&update, "update", "change_many", &token).await, 200);
    assert_eq!(status(&delete, "delete", "delete", &token).await, 204);
    assert_eq!(status(&delete, "delete", "remove_many", &token).await, 200);
}

#[tokio::test]
async fn every_sample_of_a_workspace_gets_the_answer_it_stands_for() {
    let db = TestDynamoDb::start();
    // The sample that withdraws names the id that the invitation of the sample before has in this workspace.
    let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();
    let user = UserId::generate();
    register(&db.users(), "ada@example.com", &user, &workspace).await;
    let grace = UserId::parse("0199c3a4-5b6c-7d8e-9f01-23456789abcd").unwrap();
    let graces = WorkspaceId::generate();
    register(&db.users(), "grace@example.com", &grace, &graces).await;
    let email = EmailAddress::parse("grace@example.com").unwrap();
    let joined_at = Timestamp::now();
    let member = Member { user: grace, email, full_name: None, role: Role::Member, joined_at, paused_at: None };
    db.add_member(&workspace, &user, &member).await;
    let invitation = OneTimeToken::parse(TokenPurpose::Invitation, &format!("inv_{}", "0".repeat(32))).unwrap().hash();
    let email = EmailAddress::parse("ada@example.com").unwrap();
    let invitation = Invitation::new(&graces, email, Role::Member, &grace, invitation, joined_at);
    db.users().invite(&invitation, &a_session(), &an_origin(&invitation.invited_by)).await.unwrap();
    let token = token_of(&user, &workspace, Role::Admin);
    let account = linklet_account::Account::new(tokens(), db.users(), db.notifications(), crate::fixture::guesses(&db));

    assert_eq!(status(&account, "account", "workspace", &token).await, 200);
    assert_eq!(status(&account, "account", "change", &token).await, 200);
    assert_eq!(status(&account, "account", "members", &token).await, 200);
    assert_eq!(status(&account, "account", "notifications", &token).await, 200);
    assert_eq!(status(&account, "account", "seen", &token).await, 204);
    assert_eq!(status(&account, "account", "audit_log", &token).await, 200);
    assert_eq!(status(&account, "account", "own_audit_log", &token).await, 200);
    assert_eq!(status(&account, "account", "invite", &token).await, 201);
    assert_eq!(status(&account, "account", "invitations", &token).await, 200);
    assert_eq!(status(&account, "account", "withdraw", &token).await, 204);
    assert_eq!(status(&account, "account", "look", "").await, 200);
    assert_eq!(status(&account, "account", "accept", &token).await, 200);
    assert_eq!(status(&account, "account", "wanted_mail", &token).await, 200);
    assert_eq!(status(&account, "account", "choose_mail", &token).await, 200);
    // Its token is nobody's.
    assert_eq!(status(&account, "account", "unsubscribe", "").await, 404);
    assert_eq!(status(&account, "account", "promote", &token).await, 200);
    assert_eq!(status(&account, "account", "remove", &token).await, 204);

    let ada = Person { id: user, email: EmailAddress::parse("ada@example.com").unwrap(), workspace };
    let secret = ApiKeySecret::parse(&format!("sk_live_01234567{}", "x".repeat(24))).unwrap();
    db.store_key(&ApiKeyBuilder::new(&secret, &ada).build()).await;
    assert_eq!(status(&account, "account", "create_key", &token).await, 201);
    assert_eq!(status(&account, "account", "keys", &token).await, 200);
    assert_eq!(status(&account, "account", "revoke_key", &token).await, 204);
}

#[tokio::test]
async fn every_sample_of_jobs_gets_the_answer_it_stands_for() {
    let db = TestDynamoDb::start();
    let ada = db.register("ada").await;
    let token = token_of(&ada.id, &ada.workspace, Role::Admin);
    let api = fixture::jobs_api(&db);

    assert_eq!(status(&api, "jobs-api", "start", &token).await, 202);
    assert_eq!(status(&api, "jobs-api", "jobs", &token).await, 200);
    assert_eq!(status(&api, "jobs-api", "rename_tag", &token).await, 202);
    assert_eq!(status(&api, "jobs-api", "remove_tag", &token).await, 202);
    // The samples name a job that nobody has started.
    assert_eq!(status(&api, "jobs-api", "job", &token).await, 404);
    assert_eq!(status(&api, "jobs-api", "cancel", &token).await, 404);
}

#[tokio::test]
async fn every_sample_of_closing_gets_the_answer_it_stands_for() {
    let db = TestDynamoDb::start();
    let ada = db.register("ada").await;
    let token = token_of(&ada.id, &ada.workspace, Role::Admin);
    let leave = fixture::leave(&db);

    assert_eq!(status(&leave, "leave", "export", &token).await, 200);
    // The sample names a workspace that nobody has founded, another slug than Ada's, and a password that isn't hers.
    assert_eq!(status(&leave, "leave", "restore", &token).await, 404);
    assert_eq!(status(&leave, "leave", "close-workspace", &token).await, 400);
    assert_eq!(status(&leave, "leave", "close-account", &token).await, 401);
}

#[tokio::test]
async fn every_sample_of_linkwatch_gets_the_answer_it_stands_for() {
    let db = TestDynamoDb::start();
    // The samples name the id that the URL of the first one has in this workspace.
    let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();
    let token = token_of(&UserId::generate(), &workspace, Role::Member);
    let watch = watch(&db);

    assert_eq!(status(&watch, "watch", "register", &token).await, 201);
    assert_eq!(status(&watch, "watch", "targets", &token).await, 200);
    assert_eq!(status(&watch, "watch", "target", &token).await, 200);
    assert_eq!(status(&watch, "watch", "results", &token).await, 200);
    assert_eq!(status(&watch, "watch", "delete", &token).await, 204);
}
