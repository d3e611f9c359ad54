//! Who may register, and how an operator lets the first ones in.

use linklet_domain::WorkId;
use linklet_dynamodb::{Consistency, ResetOutcome, Session, SessionStatus};
use linklet_lambda::email_requests::EmailRequests;
use linklet_operate::{Closed, Issued, OperateError, People};
use linklet_test_support::in_role_of;

use crate::{fixture::network_of, prelude::*};

const PASSWORD: &str = "correct horse battery";
const CLOSED: &str = "registering with this address needs an invitation";
const UNVERIFIED: &str = "verify your email first; we sent you a link";

/// A table of accounts, and the function with a policy.
struct Entrance {
    db: TestDynamoDb,
    auth: Auth,
}

impl Entrance {
    fn new(policy: &str, domains: &str) -> Self {
        let db = TestDynamoDb::start();
        let policy = RegistrationPolicy::parse(policy, domains).unwrap();
        Self { auth: Auth { registration: policy, ..auth(&db) }, db }
    }

    async fn register(&self, email: &str, invitation: Option<&OneTimeToken>) -> Answer {
        let mut body = json!({"email": email, "password": PASSWORD});
        if let Some(token) = invitation {
            body["invitation"] = json!(token.reveal());
        }
        self.auth.post_openly("/api/auth/register", &body).await
    }

    fn people(&self) -> Operator {
        Operator(People { users: self.db.users(), tokens: self.db.one_time_tokens(), mails: EmailRequests::default() })
    }

    /// The token of an invitation into a new person's workspace, which is shown or mailed.
    async fn invite(&self, email: &str, delivery: TokenDelivery) -> (Person, OneTimeToken) {
        let (admin, now) = (self.db.register("admin").await, Timestamp::now());
        let [shown, mailed] = [(), ()].map(|()| OneTimeToken::generate(TokenPurpose::Invitation).unwrap());
        let email = EmailAddress::parse(email).unwrap();
        let invitation = Invitation::new(&admin.workspace, email, Role::Member, &admin.id, shown.hash(), now);
        self.db.users().invite(&invitation, &a_session(), None, &an_origin(&invitation.invited_by)).await.unwrap();
        assert!(self.db.invitations().add_mailed_token(&invitation, &mailed.hash()).await.unwrap());
        (admin, if delivery == TokenDelivery::Mailed { mailed } else { shown })
    }
}

/// What an operator does for people, with no more rights than the function has.
struct Operator(People);

impl Operator {
    async fn invite(&self, email: &EmailAddress, now: Timestamp) -> Result<Issued, OperateError> {
        in_role_of::<People, _>(self.0.invite(email, now)).await
    }

    async fn reset(&self, email: &EmailAddress, reclaims: bool, now: Timestamp) -> Result<Issued, OperateError> {
        in_role_of::<People, _>(self.0.reset(email, reclaims, now)).await
    }

    async fn close(&self, email: &EmailAddress) -> Result<Closed, OperateError> {
        in_role_of::<People, _>(self.0.close(email)).await
    }
}

fn email(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn user(registered: &Answer) -> UserId {
    registered.clone().expecting(201).parsed("user_id")
}

#[tokio::test]
async fn each_policy_admits_whom_it_names() {
    for (policy, domains, inside, outside) in
        [("open", "", 201, 201), ("domains", "example.com, example.org", 201, 403), ("invited", "", 403, 403)]
    {
        let entrance = Entrance::new(policy, domains);

        let emails = ["ada@example.com", "bob@EXAMPLE.ORG", "eve@sub.example.com", "eve@evil.example"];
        let answers = join_all(emails.map(|email| entrance.register(email, None))).await;

        let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [inside, inside, outside, outside], "{policy}");
        for refused in answers.iter().filter(|answer| answer.status == 403) {
            assert_eq!(refused.problem(), (403, CLOSED.into()));
            assert_eq!(refused.json()["code"], "registration_closed");
        }
    }
}

#[tokio::test]
async fn a_closed_door_tells_nobody_who_has_an_account_and_stores_nothing() {
    let entrance = Entrance::new("invited", "");
    entrance.db.register("ada").await;
    let before = entrance.db.scan("UsersTable");

    let known = entrance.register("ada@example.com", None).await;
    let unknown = entrance.register("bob@example.com", None).await;

    assert_eq!((known.problem(), unknown.problem()), ((403, CLOSED.into()), (403, CLOSED.into())));
    assert_eq!(entrance.db.scan("UsersTable"), before);
}

#[tokio::test]
async fn whoever_is_invited_may_register_wherever_their_address_is() {
    for (policy, domains) in [("invited", ""), ("domains", "example.com")] {
        let entrance = Entrance::new(policy, domains);
        let (admin, token) = entrance.invite("guest@elsewhere.example", TokenDelivery::Shown).await;

        let wrong = entrance.register("eve@elsewhere.example", Some(&token)).await;
        let right = entrance.register("guest@elsewhere.example", Some(&token)).await;

        assert_eq!(wrong.status, 404, "{policy}: {}", wrong.body);
        assert_eq!(right.json()["workspace_id"], json!(admin.workspace), "{policy}");
    }
}

#[tokio::test]
async fn where_domains_are_named_nothing_works_before_the_address_is_verified() {
    let entrance = Entrance::new("domains", "example.com");
    // An operator's invitation takes a password, and doesn't show whose the address is.
    let right = entrance.people().invite(&email("ada@example.com"), Timestamp::now()).await.unwrap();
    let ada = user(&entrance.register("ada@example.com", Some(&right.token)).await);

    let before = entrance.auth.log_in("ada@example.com", PASSWORD).await;
    let wrong = entrance.auth.log_in("ada@example.com", "wrong horse battery").await;
    let unknown = entrance.auth.log_in("bob@example.com", PASSWORD).await;
    entrance.db.users().verify_address(&ada, &email("ada@example.com"), &an_origin(&ada)).await.unwrap();
    entrance.auth.log_in("ada@example.com", PASSWORD).await.expecting(200);

    let code = before.json()["code"].clone();
    assert_eq!((before.problem(), code), ((403, UNVERIFIED.into()), "address_unverified".into()));
    for refused in [wrong, unknown] {
        assert_eq!(refused.problem(), (401, "invalid credentials".into()));
    }
}

#[tokio::test]
async fn an_operator_lets_the_first_one_in_once() {
    let entrance = Entrance::new("invited", "");
    let (people, ada, now) = (entrance.people(), email("ada@example.com"), Timestamp::now());
    let issued = people.invite(&ada, now).await.unwrap();

    let other = entrance.register("bob@example.com", Some(&issued.token)).await;
    let first = entrance.register("ada@example.com", Some(&issued.token)).await;
    let second = entrance.register("ada@example.com", Some(&issued.token)).await;

    assert_eq!((other.status, first.status, second.status), (404, 201, 404));
    let workspaces = entrance.db.users().workspaces_of(&user(&first)).await.unwrap();
    assert_eq!(workspaces.iter().map(|(membership, _)| membership.role).collect::<Vec<_>>(), [Role::Admin]);
    assert!(matches!(people.invite(&ada, now).await, Err(OperateError::Registered)));
}

#[tokio::test]
async fn an_operator_lets_somebody_set_a_new_password_who_has_an_account() {
    let entrance = Entrance::new("invited", "");
    let (people, now) = (entrance.people(), Timestamp::now());
    let ada = entrance.db.register("ada").await;

    let issued = people.reset(&ada.email, false, now).await.unwrap();

    let users = entrance.db.users();
    let reset = users.reset(&issued.token.hash(), now).await.unwrap().unwrap();
    assert_eq!(reset.email, ada.email);
    assert_eq!(users.reset(&issued.token.hash(), now.plus(lifetimes::PASSWORD_RESETS)).await.unwrap(), None);
    users.reset_password(&reset, "a new hash", &network_of(&ada.email), Timestamp::now, &operator()).await.unwrap();
    assert_eq!(users.verified_at(&ada.id).await.unwrap(), None, "the operator has seen the token");
    assert!(matches!(people.reset(&email("bob@example.com"), false, now).await, Err(OperateError::NotRegistered)));
}

#[tokio::test]
async fn an_operator_says_what_a_squatter_has_left_and_reclaims_the_account() {
    let entrance = Entrance::new("open", "");
    let (people, now, users) = (entrance.people(), Timestamp::now(), entrance.db.users());
    let squatted = entrance.db.register("ada").await;
    colleague(&entrance.db, &squatted, "eve", Role::Admin).await;
    entrance.db.store_key(&ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), &squatted).build()).await;

    let left = people.reset(&squatted.email, false, now).await.unwrap().help("https://go.example.com");
    let has = "API keys (1), other members (1), invitations (0)";
    assert!(left.contains(has) && left.contains("RECLAIM=yes"), "{left}");
    let reclaiming = people.reset(&squatted.email, true, now).await.unwrap();
    let said = reclaiming.help("https://go.example.com");
    assert!(said.contains(has) && said.contains("The new password pauses them"), "{said}");

    let body = json!({"token": reclaiming.token.reveal(), "password": "another horse"});
    assert_eq!(entrance.auth.post_openly("/api/auth/password/reset", &body).await.status, 204);
    assert!(entrance.db.task(WorkId::Reclaim(squatted.id)).await.is_some());
    assert!(users.verified_at(&squatted.id).await.unwrap().is_some());
    let proved = people.reset(&squatted.email, false, now).await.unwrap().help("https://go.example.com");
    assert!(!proved.contains("API keys"), "{proved}");
}

/// Nobody could have used an account without a password, so nothing in it is paused and nobody is warned.
#[tokio::test]
async fn a_first_password_by_reset_pauses_nothing_and_warns_nobody() {
    let entrance = Entrance::new("domains", "example.com");
    let ada = user(&entrance.register("ada@example.com", None).await);
    let (now, users, address) = (Timestamp::now(), entrance.db.users(), email("ada@example.com"));
    let token = entrance.db.mailed_token(TokenPurpose::Reset, &ada, address.as_str(), now).await;
    let reset = users.reset(&token.hash(), now).await.unwrap().unwrap();

    let done =
        users.reset_password(&reset, "a first hash", &network_of(&address), Timestamp::now, &operator()).await.unwrap();

    assert_eq!(done, ResetOutcome::Done { is_first_proof: false });
    assert!(users.verified_at(&ada).await.unwrap().is_some());
    assert!(entrance.db.task(WorkId::Reclaim(ada)).await.is_none());
}

/// The attack: somebody whose account was closed comes back by any door that they know.
#[tokio::test]
async fn a_closed_account_opens_nothing_and_its_address_is_nobodys() {
    for (policy, domains) in [("open", ""), ("domains", "example.com"), ("invited", "")] {
        let entrance = Entrance::new(policy, domains);
        let (people, now, users) = (entrance.people(), Timestamp::now(), entrance.db.users());
        let right = people.invite(&email("ada@example.com"), now).await.unwrap();
        let ada = user(&entrance.register("ada@example.com", Some(&right.token)).await);
        users.verify_address(&ada, &email("ada@example.com"), &an_origin_at(&ada, now)).await.unwrap();
        let workspace = users.memberships(&ada).await.unwrap().remove(0).workspace;
        let person = Person { id: ada, email: email("ada@example.com"), workspace };
        let secret = ApiKeySecret::generate().unwrap();
        entrance.db.store_key(&ApiKeyBuilder::new(&secret, &person).build()).await;
        let session = entrance.auth.session("ada@example.com", PASSWORD).await;
        let reset = people.reset(&person.email, false, now).await.unwrap();
        let verification = entrance.db.mailed_token(TokenPurpose::Verification, &ada, person.email.as_str(), now).await;

        // Other clocks may be ahead.
        let begun_later = SessionId::beginning_at(now.plus(Duration::from_secs(60)));
        let begun_later = Session { id: begun_later, user: ada, workspace: None };

        let closed = people.close(&person.email).await.unwrap();

        let status = entrance.db.sessions().status(&begun_later, Consistency::Strong).await.unwrap();
        assert_eq!(status, SessionStatus::Ended, "{policy}");

        let new = |token: &OneTimeToken| json!({"token": token.reveal(), "password": "another horse"});
        let refused = [
            entrance.auth.log_in("ada@example.com", PASSWORD).await,
            entrance.auth.me(&session).await,
            entrance.auth.post_openly("/api/auth/password/reset", &new(&reset.token)).await,
            entrance.auth.post_openly("/api/auth/verify", &new(&verification)).await,
            RequestBuilder::new("GET", "/api/urls").api_key(secret.reveal()).send_to(&list(&entrance.db)).await,
        ];
        assert_eq!(refused.each_ref().map(|answer| answer.status), [401, 401, 404, 404, 401], "{policy}");
        let again = entrance.register("ada@example.com", None).await.status;
        assert_eq!(again, if policy == "invited" { 403 } else { 409 }, "{policy}");
        assert!(matches!(people.invite(&person.email, now).await, Err(OperateError::Registered)), "{policy}");
        assert!(matches!(people.reset(&person.email, false, now).await, Err(OperateError::NotRegistered)), "{policy}");
        let mailed = entrance.db.one_time_tokens().account_of(&person.email).await.unwrap();
        assert_eq!(mailed, None, "{policy}: no further token is mailed");
        assert_eq!(closed.last_admin_of.len(), 1, "{policy}: the only member of a workspace stays one");
        assert!(closed.help().contains(closed.last_admin_of[0].slug.as_str()), "{}", closed.help());
    }
}

#[tokio::test]
async fn closing_an_account_ends_its_memberships_and_can_be_repeated() {
    let entrance = Entrance::new("open", "");
    let (people, users) = (entrance.people(), entrance.db.users());
    let ada = entrance.db.register("ada").await;
    let bob = colleague(&entrance.db, &ada, "bob", Role::Member).await;
    let invitation = async || users.invitations(&ada.workspace, Timestamp::now()).await.unwrap().len();

    for _ in 0..2 {
        let closed = people.close(&bob.email).await.unwrap();
        assert_eq!(closed.last_admin_of.iter().map(|one| &one.creator).collect::<Vec<_>>(), [&bob.id]);
    }

    let members: Vec<_> = users.members(&ada.workspace).await.unwrap().into_iter().map(|one| one.user).collect();
    assert_eq!((members, invitation().await), (vec![ada.id], 0));
    let handover = entrance.db.handover(&ada.workspace, &bob.id).await.unwrap();
    assert_eq!(handover.heir, ada.id);
    assert!(matches!(people.close(&email("nobody@example.com")).await, Err(OperateError::NotRegistered)));
}
