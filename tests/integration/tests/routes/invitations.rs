//! Invitations: how one becomes a member, and how one doesn't.

use linklet_domain::InvitationId;
use linklet_dynamodb::AcceptOutcome;
use linklet_test_support::Cancellation;

use crate::prelude::*;

const INVITATIONS: &str = "/api/workspace/invitations";
const PASSWORD: &str = "correct horse battery";
const INVALID: &str = "this invitation does not exist, was used, has expired, or is for another address";

/// A table of accounts, Ada who has a workspace, and the two functions that know invitations.
struct Office {
    db: TestDynamoDb,
    account: Account,
    auth: Auth,
    ada: Person,
}

impl Office {
    async fn new() -> Self {
        let db = TestDynamoDb::start();
        let account = account(&db);
        let auth = Auth::new(db.users(), tokens(), issuer(), limits(&db));
        let ada = db.register("ada").await;
        Self { db, account, auth, ada }
    }

    /// With somebody else, who has an account.
    async fn and(name: &str) -> (Self, Person) {
        let office = Self::new().await;
        let person = office.db.register(name).await;
        (office, person)
    }

    async fn send(&self, person: &Person, method: &str, path: &str, body: &Value) -> Answer {
        let request = RequestBuilder::new(method, path).token(&person.token(Role::Admin));
        request.json_unless_null(body).send_to(&self.account).await
    }

    /// Ada's invitation of this address.
    async fn invite(&self, body: &Value) -> Value {
        self.send(&self.ada, "POST", INVITATIONS, body).await.expecting(201).json()
    }

    /// The token of Ada's invitation of this address.
    async fn token_for(&self, email: &str) -> String {
        self.invite(&json!({"email": email})).await["token"].as_str().unwrap().to_owned()
    }

    async fn accept(&self, person: &Person, token: &str) -> Answer {
        self.send(person, "POST", "/api/invitations/accept", &json!({"token": token})).await
    }

    async fn register(&self, email: &str, token: &str) -> Answer {
        let body = json!({"email": email, "password": PASSWORD, "invitation": token});
        self.auth.post_openly("/api/auth/register", &body).await
    }

    async fn listed(&self) -> Vec<Value> {
        let answer = self.send(&self.ada, "GET", INVITATIONS, &Value::Null).await.expecting(200);
        answer.json()["invitations"].as_array().unwrap().clone()
    }

    /// The addresses and roles of the members of Ada's workspace.
    async fn members(&self) -> Vec<(String, Role)> {
        let members = self.db.users().members(&self.ada.workspace).await.unwrap();
        members.into_iter().map(|member| (member.email.to_string(), member.role)).collect()
    }

    /// Stores an invitation that Ada made at this time, and returns its token.
    async fn invited_at(&self, email: &str, at: Timestamp) -> OneTimeToken {
        self.db.invite_at(&self.ada, email, Role::Member, at).await
    }

    /// A token of Ada's invitation of this person that is mailed.
    async fn mailed_token_for(&self, name: &str) -> OneTimeToken {
        let (mails, mailed, now) = (self.db.invitations(), token(), Timestamp::now());
        let email = format!("{name}@example.com");
        self.invited_at(&email, now).await;
        let id = InvitationId::derived_from(&self.ada.workspace, &EmailAddress::parse(&email).unwrap());
        let invitation = mails.open(&self.ada.workspace, &id, now).await.unwrap().unwrap();
        assert!(mails.add_mailed_token(&invitation, &mailed.hash()).await.unwrap());
        mailed
    }

    /// Somebody whom Ada has made an admin, too.
    async fn second_admin(&self, name: &str) -> Person {
        colleague(&self.db, &self.ada, name, Role::Admin).await
    }

    fn rows(&self) -> Vec<String> {
        let mut rows: Vec<_> = self.db.scan("UsersTable").iter().map(Value::to_string).collect();
        rows.sort_unstable();
        rows
    }
}

fn token() -> OneTimeToken {
    OneTimeToken::generate(TokenPurpose::Invitation).unwrap()
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    statuses
}

#[tokio::test]
async fn who_accepts_is_a_member_in_the_role_of_the_invitation() {
    let (office, bob) = Office::and("bob").await;

    let body = json!({"email": " BOB@example.com", "role": "viewer"});
    let answer = office.send(&office.ada, "POST", INVITATIONS, &body).await;
    let invited = answer.json();
    let listed = office.listed().await;
    assert_eq!(office.members().await.len(), 1);
    let token = invited["token"].as_str().unwrap();
    for table in Template::load().tables().keys() {
        let rows = json!(office.db.scan(table)).to_string();
        assert!(!rows.contains(token.strip_prefix("inv_").unwrap()), "{table} has the token in plain text: {rows}");
    }
    let accepted = office.accept(&bob, token).await;

    let (id, created_at) = (invited["id"].as_str().unwrap(), listed[0]["created_at"].clone());
    assert_eq!(answer.header("location"), "invitations");
    let expires_at = Timestamp::parse(created_at.as_str().unwrap()).unwrap().plus(lifetimes::INVITATIONS);
    let expected = json!({
        "id": id, "email": "bob@example.com", "role": "viewer", "created_at": created_at, "expires_at": expires_at,
        "invited_by": office.ada.id, "mailed_at": null, "not_mailed": "mail_off",
    });
    assert_eq!(listed, [expected]);
    assert_eq!((&invited["email"], &invited["expires_at"]), (&json!("bob@example.com"), &json!(expires_at)));
    let expected = json!({"workspace_id": office.ada.workspace, "name": "ada", "slug": "ada", "role": "viewer"});
    assert_eq!((accepted.status, accepted.json()), (200, expected));
    assert_eq!(office.members().await[1], ("bob@example.com".to_owned(), Role::Viewer));
    assert_eq!(office.listed().await, [Value::Null; 0]);
}

#[tokio::test]
async fn an_invited_admin_is_counted_as_one() {
    let (office, bob) = Office::and("bob").await;
    let invited = office.invite(&json!({"email": "bob@example.com", "role": "admin"})).await;
    let herself = format!("/api/workspace/members/{}", office.ada.id);
    assert_eq!(office.send(&office.ada, "PATCH", &herself, &json!({"role": "member"})).await.status, 409);

    office.accept(&bob, invited["token"].as_str().unwrap()).await;

    assert_eq!(office.send(&office.ada, "PATCH", &herself, &json!({"role": "member"})).await.status, 200);
}

#[tokio::test]
async fn each_refusal_of_an_invitation_gives_its_reason() {
    let office = Office::new().await;
    let before = office.rows();
    let unknown = format!("{INVITATIONS}/e5336685-57b4-8d1f-bd66-bab83728e162");

    let (invite, accept) = (("POST", INVITATIONS), ("POST", "/api/invitations/accept"));
    let is_member = "this person is already a member of the workspace";
    for ((method, path), body, status, reason) in [
        (invite, json!({}), 400, "email is required"),
        (invite, json!({"email": "bob"}), 400, "email format is invalid"),
        (invite, json!({"email": "bob@a.example", "role": "owner"}), 400, "role must be viewer, member or admin"),
        (invite, json!({"email": "bob@a.example", "role": true}), 400, "role must be a string"),
        (invite, json!({"email": "ada@example.com"}), 409, is_member),
        (accept, json!({}), 400, "token is required"),
        (accept, json!({"token": ""}), 404, INVALID),
        (accept, json!({"token": format!("inv_{}", "0".repeat(32))}), 404, INVALID),
    ] {
        let answer = office.send(&office.ada, method, path, &body).await;
        assert_eq!(answer.problem(), (status, reason.into()), "{method} {path} {body}");
    }
    for none in [unknown.as_str(), "/api/workspace/invitations/bob"] {
        assert_eq!(office.send(&office.ada, "DELETE", none, &Value::Null).await.status, 204, "{none} is no invitation");
    }
    assert_eq!(office.rows(), before);
}

#[tokio::test]
async fn inviting_tells_nobody_who_has_an_account() {
    let office = Office::new().await;
    office.db.register("bob").await;

    let bodies = ["bob@example.com", "eve@example.com"].map(|email| json!({"email": email}));
    let answers = join_all(bodies.iter().map(|body| office.send(&office.ada, "POST", INVITATIONS, body))).await;

    let members = |answer: &Answer| answer.json().as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(statuses(&answers), [201, 201]);
    assert_eq!(members(&answers[0]), members(&answers[1]));
}

#[tokio::test]
async fn a_token_works_for_its_address_only() {
    let (office, carol) = Office::and("carol").await;
    let token = office.token_for("bob@example.com").await;
    let before = office.rows();

    assert_eq!(office.accept(&carol, &token).await.problem(), (404, INVALID.into()));
    assert_eq!(office.accept(&office.ada, &token).await.problem(), (404, INVALID.into()));
    assert_eq!(office.register("dora@example.com", &token).await.problem(), (404, INVALID.into()));
    assert_eq!(office.rows(), before);
    // Nor does it help to register an address that is invited, without its token.
    office.token_for("eve@example.com").await;
    let body = json!({"email": "eve@example.com", "password": PASSWORD});
    let expected = json!(office.ada.workspace);
    assert_ne!(office.auth.post_openly("/api/auth/register", &body).await.json()["workspace_id"], expected);

    assert_eq!(office.register("bob@example.com", &token).await.status, 201);
}

#[tokio::test]
async fn an_expired_invitation_counts_as_absent_before_its_rows_are_deleted() {
    let (office, bob) = Office::and("bob").await;
    let just_expired = Timestamp::now().minus(lifetimes::INVITATIONS);
    let expired = office.invited_at("bob@example.com", just_expired).await;
    let last_minute = office.invited_at("dora@example.com", just_expired.plus(Duration::from_secs(60))).await;
    let id = office.send(&office.ada, "GET", INVITATIONS, &Value::Null).await.json()["invitations"].clone();

    assert_eq!(id.as_array().unwrap().len(), 1);
    assert_eq!(office.accept(&bob, expired.reveal()).await.problem(), (404, INVALID.into()));
    let path = format!("{INVITATIONS}/{}", InvitationId::derived_from(&office.ada.workspace, &bob.email));
    assert_eq!(office.send(&office.ada, "DELETE", &path, &Value::Null).await.status, 204);
    assert_eq!(office.register("dora@example.com", last_minute.reveal()).await.status, 201);
}

#[tokio::test]
async fn a_withdrawn_a_replaced_or_a_used_invitation_is_none() {
    let (office, bob) = Office::and("bob").await;

    let withdrawn = office.invite(&json!({"email": "bob@example.com"})).await;
    let path = format!("{INVITATIONS}/{}", withdrawn["id"].as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(office.send(&office.ada, "DELETE", &path, &Value::Null).await.status, 204);
    }
    let replaced = office.invite(&json!({"email": "bob@example.com", "role": "admin"})).await;
    let latest = office.invite(&json!({"email": "bob@example.com", "role": "viewer"})).await;
    assert_eq!(office.listed().await.len(), 1);

    for token in [&withdrawn, &replaced] {
        assert_eq!(office.accept(&bob, token["token"].as_str().unwrap()).await.problem(), (404, INVALID.into()));
    }
    let token = latest["token"].as_str().unwrap();
    assert_eq!(office.accept(&bob, token).await.status, 200);
    assert_eq!(office.accept(&bob, token).await.problem(), (404, INVALID.into()));
    assert_eq!(office.members().await[1], ("bob@example.com".to_owned(), Role::Viewer));

    office.send(&office.ada, "DELETE", &format!("/api/workspace/members/{}", bob.id), &Value::Null).await;
    assert_eq!(office.accept(&bob, token).await.problem(), (404, INVALID.into()));
}

#[tokio::test]
async fn who_is_a_member_already_leaves_the_invitation_as_it_is() {
    let (office, bob) = Office::and("bob-before").await;
    let token = office.token_for("bob@example.com").await;
    office.db.add_member(&office.ada.workspace, &office.ada.id, &bob.as_member(Role::Viewer)).await;
    let address = AddressStep::Replace(EmailAddress::parse("bob@example.com").unwrap());
    let change = PersonChange { full_name: None, address };
    office.db.users().change_person(&bob.id, &change, &an_origin(&bob.id)).await.unwrap();
    let before = office.rows();

    let answer = office.accept(&bob, &token).await;

    assert_eq!(answer.problem(), (409, "this person is already a member of the workspace".into()));
    assert_eq!(office.rows(), before);
}

#[tokio::test]
async fn of_several_who_use_a_token_at_once_one_does() {
    let (office, bob) = Office::and("bob").await;
    let bobs = office.token_for("bob@example.com").await;
    let doras = office.token_for("dora@example.com").await;

    let accepted = join_all((0..4).map(|_| office.accept(&bob, &bobs))).await;
    let registered = join_all((0..4).map(|_| office.register("dora@example.com", &doras))).await;

    assert_eq!(accepted.iter().filter(|answer| answer.status == 200).count(), 1, "{:?}", statuses(&accepted));
    assert_eq!(registered.iter().filter(|answer| answer.status == 201).count(), 1, "{:?}", statuses(&registered));
    assert!(accepted.iter().all(|answer| [200, 404, 409].contains(&answer.status)), "{:?}", statuses(&accepted));
    assert!(registered.iter().all(|answer| [201, 404, 409].contains(&answer.status)), "{:?}", statuses(&registered));
    assert_eq!(office.members().await.len(), 3);
}

#[tokio::test]
async fn an_invitations_two_tokens_work_once_and_only_while_it_exists() {
    let office = Office::new().await;
    let (bob, mails, now) = (office.db.register("bob").await, office.db.invitations(), Timestamp::now());
    let shown = office.invited_at("bob@example.com", now).await;
    let id = InvitationId::derived_from(&office.ada.workspace, &bob.email);
    let invitation = mails.open(&office.ada.workspace, &id, now).await.unwrap().unwrap();
    let mailed = token();

    assert!(mails.add_mailed_token(&invitation, &mailed.hash()).await.unwrap());
    let delivery = async |token: &OneTimeToken| {
        let open = office.db.users().open_invitation(&token.hash(), &bob.email, now).await.unwrap();
        open.map(|open| open.delivery)
    };
    let expected = (Some(TokenDelivery::Shown), Some(TokenDelivery::Mailed));
    assert_eq!((delivery(&shown).await, delivery(&mailed).await), expected);
    let answers = join_all([&shown, &mailed].map(|token| office.accept(&bob, token.reveal()))).await;

    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{:?}", statuses(&answers));
    assert_eq!((delivery(&shown).await, delivery(&mailed).await), (None, None));
    assert_eq!(mails.open(&office.ada.workspace, &id, now).await.unwrap(), None);
    assert!(!mails.add_mailed_token(&invitation, &token().hash()).await.unwrap());
}

#[tokio::test]
async fn only_a_mailed_invitation_token_verifies_the_address() {
    let (office, bob) = Office::and("bob").await;
    let carol = office.db.register("carol").await;
    let (bobs, carols) = (office.mailed_token_for("bob").await, office.token_for("carol@example.com").await);
    let (doras, eves) = (office.mailed_token_for("dora").await, office.token_for("eve@example.com").await);

    assert_eq!(office.accept(&bob, bobs.reveal()).await.status, 200);
    assert_eq!(office.accept(&carol, &carols).await.status, 200);
    let dora = office.register("dora@example.com", doras.reveal()).await.json()["user_id"].clone();
    let eve = office.register("eve@example.com", &eves).await.json()["user_id"].clone();

    for (user, is_verified) in [
        (bob.id, true),
        (carol.id, false),
        (dora.as_str().unwrap().parse().unwrap(), true),
        (eve.as_str().unwrap().parse().unwrap(), false),
    ] {
        assert_eq!(office.db.users().verified_at(&user).await.unwrap().is_some(), is_verified, "{user}");
    }
}

#[tokio::test]
async fn a_token_that_was_mailed_for_a_replaced_invitation_is_void() {
    let office = Office::new().await;
    let (bob, mails, now) = (office.db.register("bob").await, office.db.invitations(), Timestamp::now());
    office.invited_at("bob@example.com", now).await;
    let id = InvitationId::derived_from(&office.ada.workspace, &bob.email);
    let replaced = mails.open(&office.ada.workspace, &id, now).await.unwrap().unwrap();
    let mailed = token();
    mails.add_mailed_token(&replaced, &mailed.hash()).await.unwrap();

    office.invited_at("bob@example.com", now).await;

    assert_eq!(office.accept(&bob, mailed.reveal()).await.problem(), (404, INVALID.into()));
    assert!(!mails.add_mailed_token(&replaced, &token().hash()).await.unwrap());
}

#[tokio::test]
async fn who_registers_by_an_invitation_joins_that_workspace_and_no_other() {
    let office = Office::new().await;
    let token = office.token_for("bob@example.com").await;

    let answer = office.register("bob@example.com", &token).await.expecting(201);

    assert_eq!(answer.json()["workspace_id"], json!(office.ada.workspace));
    let bob = answer.parsed("user_id");
    let workspaces = office.db.users().workspaces_of(&bob).await.unwrap();
    let roles: Vec<_> = workspaces.iter().map(|(membership, found)| (membership.role, &found.id)).collect();
    assert_eq!(roles, [(Role::Member, &office.ada.workspace)]);
    let login = json!({"email": "bob@example.com", "password": PASSWORD});
    office.auth.post_openly("/api/auth/login", &login).await.expecting(200);
}

#[tokio::test]
async fn who_has_an_account_registers_by_no_invitation_and_it_stays() {
    let (office, bob) = Office::and("bob").await;
    let token = office.token_for("bob@example.com").await;
    let before = office.rows();

    assert_eq!(office.register("bob@example.com", &token).await.problem(), (409, "email already registered".into()));
    assert_eq!(office.rows(), before);
    assert_eq!(office.accept(&bob, &token).await.status, 200);
}

#[tokio::test]
async fn the_right_to_register_founds_a_workspace_and_works_once() {
    let office = Office::new().await;
    let (email, now) = (EmailAddress::parse("bob@example.com").unwrap(), Timestamp::now());
    let right = office.db.invite_to_register(&email).await;
    let old = token();
    let expired = now.minus(lifetimes::INVITATIONS).minus(Duration::from_secs(1));
    office.db.users().invite_to_register(&email, &old.hash(), expired).await.unwrap();

    assert_eq!(office.register("carol@example.com", right.reveal()).await.status, 404);
    assert_eq!(office.register("bob@example.com", old.reveal()).await.status, 404);
    let answers = join_all((0..3).map(|_| office.register("bob@example.com", right.reveal()))).await;

    let registered = answers.iter().find(|answer| answer.status == 201).unwrap().json();
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{:?}", statuses(&answers));
    assert_ne!(registered["workspace_id"], json!(office.ada.workspace));
    let bob = registered["user_id"].as_str().unwrap().parse().unwrap();
    assert_eq!(office.db.users().workspaces_of(&bob).await.unwrap().len(), 1);
    assert!(office.db.users().open_invitation(&right.hash(), &email, now).await.unwrap().is_none());
}

#[tokio::test]
async fn a_former_admin_cannot_invite_and_loses_their_invitations() {
    for (method, change) in [("PATCH", json!({"role": "member"})), ("DELETE", Value::Null)] {
        let office = Office::new().await;
        let bob = office.second_admin("bob").await;
        let eve = office.db.register("eve").await;
        let body = json!({"email": "eve@example.com", "role": "admin"});
        let his = office.send(&bob, "POST", INVITATIONS, &body).await.text("token");
        office.token_for("carol@example.com").await;

        let changed = office.send(&office.ada, method, &format!("/api/workspace/members/{}", bob.id), &change).await;

        assert!([200, 204].contains(&changed.status), "{method}: {}", changed.body);
        let refused = (403, "this needs the role admin, which you don't have in this workspace".into());
        assert_eq!(office.accept(&eve, &his).await.problem(), (404, INVALID.into()), "{method}");
        assert_eq!(office.send(&bob, "POST", INVITATIONS, &body).await.problem(), refused, "{method}");
        let listed = office.listed().await;
        assert_eq!((listed.len(), &listed[0]["email"]), (1, &json!("carol@example.com")), "{method}");
        let carols = format!("{INVITATIONS}/{}", listed[0]["id"].as_str().unwrap());
        assert_eq!(office.send(&bob, "DELETE", &carols, &Value::Null).await.problem(), refused, "{method}");
    }
}

#[tokio::test]
async fn withdrawing_a_persons_invitations_leaves_those_that_others_made_instead() {
    let office = Office::new().await;
    let bob = office.second_admin("bob").await;
    for email in ["carol@example.com", "dora@example.com"] {
        assert_eq!(office.send(&bob, "POST", INVITATIONS, &json!({"email": email})).await.status, 201);
    }
    let instead = office.token_for("carol@example.com").await;

    for _ in 0..2 {
        let (users, now) = (office.db.users(), Timestamp::now());
        users.withdraw_invitations_by(&office.ada.workspace, &bob.id, now, &an_origin(&bob.id)).await.unwrap();
    }

    let listed = office.listed().await;
    assert_eq!((listed.len(), &listed[0]["email"]), (1, &json!("carol@example.com")));
    assert_eq!(office.register("carol@example.com", &instead).await.status, 201);
}

#[tokio::test]
async fn a_workspace_has_at_most_a_hundred_open_invitations() {
    let office = Office::new().await;
    let now = Timestamp::now();
    office.invited_at("expired@example.com", now.minus(lifetimes::INVITATIONS)).await;
    for number in 0..Invitation::MAX_PER_WORKSPACE {
        office.invited_at(&format!("guest{number}@example.com"), now).await;
    }

    let one_more = office.send(&office.ada, "POST", INVITATIONS, &json!({"email": "one-more@example.com"})).await;
    office.send(&office.ada, "POST", INVITATIONS, &json!({"email": "guest7@example.com"})).await.expecting(201);

    assert_eq!(one_more.problem(), (409, "the workspace has 100 pending invitations; withdraw one first".into()));
    assert_eq!(office.listed().await.len(), Invitation::MAX_PER_WORKSPACE);
}

#[tokio::test]
async fn a_workspace_without_an_admin_takes_nobody_in() {
    let (office, bob) = Office::and("bob").await;
    let carol = office.db.register("carol").await;
    let (bobs, doras) = (office.token_for("bob@example.com").await, office.token_for("dora@example.com").await);
    let carols = office.invite(&json!({"email": "carol@example.com", "role": "admin"})).await;
    leave_empty(&office).await;

    assert_eq!(office.accept(&bob, &bobs).await.problem(), (404, INVALID.into()));
    assert_eq!(office.accept(&carol, carols["token"].as_str().unwrap()).await.problem(), (404, INVALID.into()));
    assert_eq!(office.register("dora@example.com", &doras).await.problem(), (404, INVALID.into()));
    assert_eq!(office.members().await.len(), 1);
}

/// Takes the last admin out of the count of Ada's workspace.
async fn leave_empty(office: &Office) {
    let value = |text: String| aws_sdk_dynamodb::types::AttributeValue::S(text);
    let update = office.db.client().update_item().table_name("UsersTable");
    let update = update.key("pk", value(format!("WS#{}", office.ada.workspace))).key("sk", value("WS".to_owned()));
    let none = aws_sdk_dynamodb::types::AttributeValue::N("0".to_owned());
    update.update_expression("SET admins = :none").expression_attribute_values(":none", none).send().await.unwrap();
}

#[tokio::test]
async fn an_acceptance_that_meets_another_transaction_is_tried_again() {
    let (office, bob) = Office::and("bob").await;
    let token = office.invited_at("bob@example.com", Timestamp::now()).await;
    let account = office.db.users().account(&bob.id).await.unwrap().unwrap();
    let (users, faults): (_, Faults) = office.db.users_through();
    // Each try is five reads and a transaction.
    faults.plan_all([(5, Fault::Cancelled(Cancellation::TransactionConflict))]);

    let accepted =
        users.accept_invitation(&token.hash(), &account, &a_session(), &an_origin(&account.id)).await.unwrap();

    assert!(matches!(accepted, AcceptOutcome::Accepted(_, Role::Member)), "{accepted:?}");
}

#[tokio::test]
async fn tokens_can_not_be_tried_without_end() {
    let (office, bob) = Office::and("bob").await;
    let token = office.token_for("bob@example.com").await;
    let wrong = OneTimeToken::generate(TokenPurpose::Invitation).unwrap();
    for _ in 0..5 {
        assert_eq!(office.accept(&bob, wrong.reveal()).await.problem(), (404, INVALID.into()));
    }

    let refused = office.accept(&bob, &token).await;

    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
    assert_eq!(office.accept(&office.ada, wrong.reveal()).await.status, 404, "somebody else at the same address");
}

async fn look_at(office: &Office, token: &str) -> Answer {
    office.account.post_openly("/api/invitations/look", &json!({"token": token})).await
}

#[tokio::test]
async fn an_invitation_token_shows_inviter_workspace_and_role() {
    let office = Office::new().await;
    let invitation = office.invite(&json!({"email": "grace@example.com", "role": "viewer"})).await;
    let token = invitation["token"].as_str().unwrap();
    let rows = office.rows();

    let shown = look_at(&office, token).await.expecting(200);

    let expected = json!({
        "workspace": "ada", "invited_by": "ada@example.com", "role": "viewer", "email": "grace@example.com",
        "expires_at": invitation["expires_at"],
    });
    assert_eq!(shown.json(), expected);
    assert_eq!(office.rows(), rows, "looking changes nothing");
    let grace = office.db.register("grace").await;
    assert_eq!(office.accept(&grace, token).await.status, 200);
    assert_eq!(look_at(&office, token).await.problem(), (404, INVALID.into()), "it was used");
}

#[tokio::test]
async fn the_right_to_register_is_shown_without_a_workspace() {
    let office = Office::new().await;
    let token = office.db.invite_to_register(&"grace@example.com".parse().unwrap()).await;

    let shown = look_at(&office, token.reveal()).await.json();

    let expected = (&Value::Null, &Value::Null, &Value::Null, &json!("grace@example.com"));
    assert_eq!((&shown["workspace"], &shown["invited_by"], &shown["role"], &shown["email"]), expected);
}

#[tokio::test]
async fn tokens_that_lead_nowhere_show_nothing_and_count_as_guesses() {
    let office = Office::new().await;
    let (replaced, expired) = (office.token_for("grace@example.com").await, lifetimes::INVITATIONS);
    office.token_for("grace@example.com").await;
    let old = office.invited_at("bob@example.com", Timestamp::now().minus(expired)).await;

    for wrong in [replaced.as_str(), old.reveal(), "inv_", "", token().reveal()] {
        assert_eq!(look_at(&office, wrong).await.problem(), (404, INVALID.into()), "{wrong}");
    }
    let mut last = 404;
    for _ in 0..10 {
        last = look_at(&office, token().reveal()).await.status;
    }
    assert_eq!(last, 429);
}
