//! Who creates workspaces, and what somebody can do who is in none.

use linklet_domain::CreationPolicy;

use crate::prelude::*;

const PASSWORD: &str = "correct horse battery";
const CLOSED: &str = "you can't create workspaces here; ask the operator";

/// A deployment with these parameters.
struct Deployment {
    db: TestDynamoDb,
    auth: Auth,
    account: Account,
}

impl Deployment {
    fn new(registration: &str, domains: &str, who_creates: &str) -> Self {
        let db = TestDynamoDb::start();
        let registration = RegistrationPolicy::parse(registration, domains).unwrap();
        let creation = CreationPolicy::parse(who_creates, registration.clone()).unwrap();
        let verifier = tokens().with_sessions(db.sessions());
        let account =
            Account::new(verifier, db.users(), db.notifications(), guesses(&db), crate::fixture::sharing(&db));
        let account = Account { creation: creation.clone(), ..account };
        Self { auth: Auth { registration, creation, ..auth(&db) }, account, db }
    }

    /// Registers somebody by the right of an operator, which every kind of registration takes.
    async fn register(&self, name: &str) -> Person {
        let email = format!("{name}@example.com").parse().unwrap();
        let token = self.db.invite_to_register(&email).await;
        let body = json!({"email": email, "password": PASSWORD, "invitation": token.reveal()});
        let person = person_of(&self.auth.post_openly("/api/auth/register", &body).await.expecting(201));
        self.db.users().verify_address(&person.id, &email, &an_origin(&person.id)).await.unwrap();
        person
    }

    /// Somebody who was in the workspace of an admin only, and was removed from it.
    async fn removed(&self) -> Person {
        let admin = self.db.register("admin").await;
        let ada = self.register("ada").await;
        let heir = colleague(&self.db, &ada, "heir", Role::Admin).await;
        let guest = Person { workspace: admin.workspace, ..ada.clone() };
        self.db.add_member(&admin.workspace, &admin.id, &guest.as_member(Role::Viewer)).await;
        let users = self.db.users();
        users.remove_member(&removal(&ada.workspace, &heir.id, &ada.id)).await.unwrap();
        users.remove_member(&removal(&admin.workspace, &admin.id, &ada.id)).await.unwrap();
        ada
    }

    async fn found(&self, token: &str) -> Answer {
        self.account.post("/api/workspaces", token, &json!({"name": "Engines"})).await
    }
}

fn token(answer: &Answer) -> String {
    answer.clone().expecting(200).text("token")
}

/// The attack: somebody who was removed goes on shortening on the company's domain.
#[tokio::test]
async fn a_removed_person_gets_a_new_workspace_only_where_anybody_may() {
    for (registration, domains, who_creates, creates) in [
        ("open", "", "", true),
        ("domains", "example.com", "", true),
        ("domains", "example.org", "", false),
        ("invited", "", "", false),
        ("open", "", "operators", false),
        ("open", "", "admins", false),
        ("domains", "example.com", "admins", false),
        ("invited", "", "everybody", true),
    ] {
        let case = format!("{registration} {domains} {who_creates}");
        let deployment = Deployment::new(registration, domains, who_creates);
        let ada = deployment.removed().await;

        let session = token(&deployment.auth.log_in(ada.email.as_str(), PASSWORD).await);

        let me = deployment.auth.me(&session).await.json();
        assert_eq!((me["workspace_id"].is_string(), me["role"] == "admin"), (creates, creates), "{case}: {me}");
        let again =
            deployment.auth.me(&token(&deployment.auth.log_in(ada.email.as_str(), PASSWORD).await)).await.json();
        assert_eq!(again["workspace_id"], me["workspace_id"], "{case}: no other one at the next login");
        let created = deployment.found(&session).await;
        assert_eq!(created.status, if creates { 201 } else { 403 }, "{case}: {}", created.body);
        if !creates {
            assert_eq!((created.problem().1, &created.json()["code"]), (CLOSED.into(), &json!("creation_closed")));
            assert!(deployment.db.users().memberships(&ada.id).await.unwrap().is_empty(), "{case}");
        }
    }
}

#[tokio::test]
async fn members_and_viewers_create_workspaces_only_where_everybody_may() {
    for (who_creates, by_a_viewer, by_an_admin) in
        [("operators", 403, 403), ("admins", 403, 201), ("everybody", 201, 201)]
    {
        let deployment = Deployment::new("invited", "", who_creates);
        let ada = deployment.db.register("ada").await;
        let bob = colleague(&deployment.db, &ada, "bob", Role::Viewer).await;
        let (users, own) = (deployment.db.users(), deployment.db.users().memberships(&bob.id).await.unwrap());
        let heir = Person { workspace: own[0].workspace, ..bob.clone() };
        let heir = colleague(&deployment.db, &heir, "heir", Role::Admin).await;
        users.remove_member(&removal(&own[0].workspace, &heir.id, &bob.id)).await.unwrap();

        let viewer = deployment.found(&token_of(&bob.id, &ada.workspace, Role::Viewer)).await;
        let admin = deployment.found(&ada.token(Role::Admin)).await;

        assert_eq!((viewer.status, admin.status), (by_a_viewer, by_an_admin), "{who_creates}");
    }
}

#[tokio::test]
async fn without_a_verified_address_at_a_domain_nobody_founds_where_domains_register() {
    let deployment = Deployment::new("domains", "example.com", "everybody");
    let ada = deployment.db.register("ada").await;

    let session = ada.token(Role::Admin);
    let before = deployment.found(&session).await;
    deployment.db.users().verify_address(&ada.id, &ada.email, &an_origin(&ada.id)).await.unwrap();
    let after = deployment.found(&session).await;

    assert_eq!((before.status, after.status), (403, 201));
}

#[tokio::test]
async fn registering_uninvited_or_by_an_operator_brings_a_workspace_whoever_founds_others() {
    let deployment = Deployment::new("open", "", "operators");

    let body = json!({"email": "bob@example.com", "password": PASSWORD});
    let uninvited = deployment.auth.post_openly("/api/auth/register", &body).await;
    let by_an_operator = deployment.register("ada").await;

    assert!(uninvited.json()["workspace_id"].is_string());
    assert_eq!(deployment.db.users().memberships(&by_an_operator.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn somebody_without_a_workspace_joins_one_switches_to_it_and_logs_out() {
    let deployment = Deployment::new("invited", "", "");
    let ada = deployment.removed().await;
    let session = token(&deployment.auth.log_in(ada.email.as_str(), PASSWORD).await);
    let grace = deployment.db.register("grace").await;
    let invite = RequestBuilder::new("POST", "/api/workspace/invitations");
    let invite = invite.token(&grace.token(Role::Admin)).json(&json!({"email": ada.email}));
    let invitation = invite.send_to(&deployment.account).await.json()["token"].clone();

    let accepted = json!({"token": invitation});
    let joined = deployment.account.post("/api/invitations/accept", &session, &accepted).await.expecting(200);
    let switched =
        deployment.auth.post("/api/auth/switch", &session, &json!({"workspace": joined.json()["slug"]})).await;

    assert_eq!(deployment.auth.me(&token(&switched)).await.json()["workspace_id"], json!(grace.workspace));
    let logout = RequestBuilder::new("POST", "/api/auth/logout").token(&session).send_to(&deployment.auth).await;
    assert_eq!((logout.status, &deployment.auth.me(&session).await.json()["status"]), (204, &json!(401)));
}

/// A request for a workspace with an idempotency key.
async fn create_once(account: &Account, token: &str, key: &str, body: &Value) -> Answer {
    let request = RequestBuilder::new("POST", "/api/workspaces").token(token).header("idempotency-key", key);
    request.json(body).send_to(account).await
}

#[tokio::test]
async fn a_repeated_request_makes_one_workspace_and_is_answered_as_the_first() {
    let deployment = Deployment::new("open", "", "");
    let ada = deployment.db.register("ada").await;
    let bob = deployment.db.register("bob").await;
    let [adas, bobs] = [&ada, &bob].map(|person| person.token(Role::Admin));
    let body = json!({"name": "Engines"});
    let account = &deployment.account;
    let all = async |person: &Person| deployment.db.users().memberships(&person.id).await.unwrap().len();

    assert_eq!(create_once(account, &adas, "order-1", &json!({"name": ""})).await.status, 400, "it uses up no key");
    let first = create_once(account, &adas, "order-1", &body).await;
    let again = create_once(account, &adas, "order-1", &body).await;
    let another = create_once(account, &adas, "order-1", &json!({"name": "Looms"})).await;
    let invalid = create_once(account, &adas, "order-1", &json!({"name": ""})).await;
    let wrong_key = create_once(account, &adas, "order 1", &body).await;

    assert_eq!((first.status, &first.body), (201, &again.body));
    assert_eq!((again.status, again.header("location")), (201, first.header("location")));
    assert_eq!(another.problem_code(), (422, "idempotency_key_reused".into()));
    assert_eq!((invalid.status, wrong_key.status), (422, 400));
    assert_eq!(all(&ada).await, 2, "the one of her registration, and this one");
    let other = create_once(account, &bobs, "order-1", &body).await;
    assert_eq!((other.status, all(&bob).await), (201, 2), "keys are those of a person");
    assert_ne!(other.json()["workspace_id"], first.json()["workspace_id"]);
    assert_eq!((create_once(account, &adas, "order-2", &body).await.status, all(&ada).await), (201, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_requests_with_one_key_at_once_make_one_workspace() {
    let deployment = Deployment::new("open", "", "");
    let ada = deployment.db.register("ada").await;
    let token = ada.token(Role::Admin);
    let body = json!({"name": "Engines"});

    let answers = join_all((0..10).map(|_| create_once(&deployment.account, &token, "order-1", &body))).await;

    let made: BTreeSet<_> = answers.iter().map(|answer| answer.json()["workspace_id"].to_string()).collect();
    assert!(answers.iter().all(|answer| answer.status == 201), "{answers:?}");
    assert_eq!((made.len(), deployment.db.users().memberships(&ada.id).await.unwrap().len()), (1, 2));
}

#[tokio::test]
async fn after_a_day_a_key_makes_another_workspace() {
    let deployment = Deployment::new("open", "", "");
    let ada = deployment.db.register("ada").await;
    let token = ada.token(Role::Admin);
    let body = json!({"name": "Engines"});
    let first = create_once(&deployment.account, &token, "order-1", &body).await;
    let rows = deployment.db.scan("UsersTable");
    let mut row = rows.into_iter().find(|row| row["sk"]["S"] == "CREATION#order-1").unwrap();
    row["ttl"]["N"] = json!(Timestamp::now().unix_seconds().to_string());
    deployment.db.put("UsersTable", &row);

    let second = create_once(&deployment.account, &token, "order-1", &body).await.expecting(201);

    assert_ne!(second.json()["workspace_id"], first.json()["workspace_id"]);
}
