//! Another name and another address: what waits, who is told, and that all copies agree.

use std::cell::Cell;

use linklet_domain::FullName;
use linklet_dynamodb::{AcceptOutcome, PersonOutcome};
use linklet_lambda::email_requests::EmailRequests;
use linklet_notify::Notify;
use linklet_test_support::{FakeNotifiers, Outage, in_role_of, queue_batch};

use crate::prelude::*;

const PASSWORD: &str = "correct horse battery";
const OLD: &str = "ada@example.com";
const NEW: &str = "ada@example.org";
const INVALID: &str = "this token does not exist, was used, or has expired";

/// Ada, who has confirmed her address, and her session.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    outside: FakeNotifiers,
    auth: Auth,
    ada: UserId,
    session: String,
    sent: Cell<usize>,
    read: Cell<usize>,
}

impl Fixture {
    async fn new() -> Self {
        Self::with("open", "", true).await
    }

    async fn without_mail() -> Self {
        Self::with("open", "", false).await
    }

    async fn with(policy: &str, domains: &str, has_mail: bool) -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let registration = RegistrationPolicy::parse(policy, domains).unwrap();
        let mails = if has_mail { mail_orders(&queues) } else { EmailRequests::default() };
        let auth = Auth { registration, mails, ..auth(&db) };
        let outside = FakeNotifiers::start();
        let (sent, read) = Default::default();
        let (ada, session) = (UserId::generate(), String::new());
        let mut fixture = Self { db, queues, outside, auth, ada, session, sent, read };
        fixture.ada = fixture.register("ada").await.id;
        fixture.session = fixture.auth.session(OLD, PASSWORD).await;
        fixture
    }

    /// Somebody with the password and a confirmed address.
    async fn register(&self, name: &str) -> Person {
        let person = self.db.register_verified(name).await;
        let hash = linklet_lambda::passwords::Passwords::default().hash(&PASSWORD.into()).unwrap();
        self.db.users().replace_password_hash(&person.id, "none", &hash).await.unwrap();
        person
    }

    async fn me(&self) -> Value {
        self.auth.me(&self.session).await.json()
    }

    async fn patch(&self, body: &Value) -> Answer {
        self.patch_as(&self.session, body).await
    }

    async fn patch_as(&self, session: &str, body: &Value) -> Answer {
        self.auth.patch("/api/me", session, body).await
    }

    /// Has Ada want another address.
    async fn want(&self, email: &str) -> Answer {
        self.patch(&json!({"email": email, "password": PASSWORD})).await
    }

    async fn confirm(&self, token: &str) -> Answer {
        self.auth.post_openly("/api/auth/verify", &json!({"token": token, "password": PASSWORD})).await
    }

    async fn keep(&self, token: &str) -> Answer {
        self.auth.post_openly("/api/auth/address/keep", &json!({"token": token})).await
    }

    /// The mails that were ordered since the last look: to whom, their subject and their text.
    async fn mails(&self) -> Vec<(String, String, String)> {
        let bodies = self.queues.bodies("notify").split_off(self.sent.get());
        self.sent.set(self.sent.get() + bodies.len());
        if !bodies.is_empty() {
            let notify = fixture::notify(&self.db, &self.queues, &self.outside, true);
            let answer = in_role_of::<Notify, _>(notify.consume(queue_batch(&bodies))).await;
            assert!(answer.batch_item_failures.is_empty());
        }
        let mails = self.outside.mails().split_off(self.read.get());
        self.read.set(self.read.get() + mails.len());
        let told = |mail: Value| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let simple = &mail["Content"]["Simple"];
            let to = text(&mail["Destination"]["ToAddresses"][0]);
            (to, text(&simple["Subject"]["Data"]), text(&simple["Body"]["Text"]["Data"]))
        };
        let mut mails: Vec<_> = mails.into_iter().map(told).collect();
        mails.sort();
        mails
    }

    /// The tokens with this prefix in the mails since the last look.
    async fn tokens(&self, prefix: &str) -> Vec<String> {
        let mails = self.mails().await;
        let token = |text: &str| text.lines().find(|line| line.starts_with(prefix)).map(str::to_owned);
        mails.iter().filter_map(|(_, _, text)| token(text)).collect()
    }

    /// What the audit log of Ada has, in the order of its names.
    fn actions(&self) -> Vec<String> {
        let rows = self.db.scan("AuditTable").into_iter().filter(|row| row["pk"]["S"] == format!("USER#{}", self.ada));
        let mut actions: Vec<_> = rows.map(|row| row["action"]["S"].as_str().unwrap().to_owned()).collect();
        actions.sort();
        actions.retain(|action| action.starts_with("account.") || action == "session.ended");
        actions
    }

    /// Asserts that an address has one owner, and that all copies of somebody's name and address agree.
    fn assert_consistent(&self, user: &UserId, email: &str, full_name: Option<&str>) {
        let rows = self.db.scan("UsersTable");
        let id = user.to_string();
        let is_of = |row: &&Value, pk: &str, sk: &str| row["pk"]["S"] == *pk && row["sk"]["S"] == *sk;
        let find = |pk: &str, sk: &str| rows.iter().find(|row| is_of(row, pk, sk)).unwrap();
        let copies = rows.iter().filter(|row| row["sk"]["S"] == format!("MEMBER#{id}"));
        let of_person = [find(&format!("USER#{id}"), "USER"), find(&format!("ACCESS#{id}"), "ADDRESS")];
        for copy in of_person.into_iter().chain(copies) {
            assert_eq!(copy["email"]["S"], email, "{copy}");
            assert_eq!(copy["full_name"]["S"].as_str(), full_name, "{copy}");
        }
        let reserved: Vec<_> = rows
            .iter()
            .filter(|row| row["sk"]["S"] == "EMAIL" && row["user_id"]["S"] == id)
            .map(|row| row["pk"]["S"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(reserved, [format!("EMAIL#{email}")]);
    }

    /// Lets Ada join the workspace of somebody new.
    async fn join(&self, name: &str) -> Person {
        let admin = self.db.register(name).await;
        let ada = Person { id: self.ada, email: EmailAddress::parse(OLD).unwrap(), workspace: admin.workspace };
        self.db.add_member(&admin.workspace, &admin.id, &ada.as_member(Role::Member)).await;
        admin
    }
}

#[tokio::test]
async fn another_name_is_shown_everywhere_at_once() {
    let fixture = Fixture::new().await;
    fixture.join("grace").await;
    let before = fixture.me().await;

    let changed = fixture.patch(&json!({"full_name": "  Ada King  "})).await;

    assert_eq!((changed.status, &changed.json()["full_name"]), (200, &json!("Ada King")), "{}", changed.body);
    assert_eq!(fixture.me().await, changed.json());
    assert!(changed.json()["updated_at"].as_str() > before["updated_at"].as_str());
    fixture.assert_consistent(&fixture.ada, OLD, Some("Ada King"));

    assert_eq!(fixture.patch(&json!({"full_name": null})).await.json()["full_name"], Value::Null);
    fixture.assert_consistent(&fixture.ada, OLD, None);
    assert!(fixture.mails().await.is_empty());
    let renamed = fixture.actions().into_iter().filter(|action| action == "account.renamed").count();
    assert_eq!(renamed, 2, "{:?}", fixture.actions());
}

#[tokio::test]
async fn an_invalid_change_of_ones_account_changes_nothing() {
    let fixture = Fixture::new().await;
    for (body, field) in [
        (json!({"full_name": "x".repeat(256)}), "full_name"),
        (json!({"full_name": 1}), "full_name"),
        (json!({"full_name": "Ada\u{202e}King"}), "full_name"),
        (json!({"full_name": "Ada", "email": "nobody"}), "email"),
        (json!({"full_name": "Ada", "verified": true}), "verified"),
        (json!({"full_name": "Ada", "pending_email": NEW}), "pending_email"),
    ] {
        assert_eq!(fixture.patch(&body).await.problem_field(), (400, field.into()), "{body}");
    }
    let wrong = fixture.patch(&json!({"full_name": "Ada", "email": NEW, "password": "wrong horse"})).await;

    assert_eq!(wrong.problem(), (401, "invalid credentials".into()));
    let asked = fixture.patch(&json!({"full_name": "Ada", "email": NEW})).await;
    assert_eq!(asked.problem_code(), (403, "proof_required".into()));
    let me = fixture.me().await;
    assert_eq!((&me["full_name"], &me["email"], &me["pending_email"]), (&Value::Null, &json!(OLD), &Value::Null));
    assert!(fixture.mails().await.is_empty());
    assert_eq!(fixture.patch(&json!({})).await.status, 200, "nothing is to be changed");
}

#[tokio::test]
async fn a_new_address_waits_for_its_confirmation_and_then_applies() {
    let fixture = Fixture::new().await;
    fixture.join("grace").await;

    let wanted = fixture.want("Ada@Example.ORG").await;

    let shown = wanted.json();
    assert_eq!((wanted.status, &shown["email"], &shown["pending_email"]), (200, &json!(OLD), &json!(NEW)));
    let until = Timestamp::parse(shown["pending_until"].as_str().unwrap()).unwrap();
    let hours = Timestamp::now().until(until).as_secs().div_ceil(3_600);
    assert_eq!(hours, 24, "{until}");
    assert_eq!(fixture.auth.log_in(NEW, PASSWORD).await.status, 401);
    let mails = fixture.mails().await;
    let told: Vec<_> = mails.iter().map(|(to, subject, _)| (to.as_str(), subject.as_str())).collect();
    assert_eq!(told, [(OLD, "Your account's email is about to change"), (NEW, "Confirm your new email address")]);
    assert!(mails[0].2.contains(NEW) && !mails[1].2.contains(OLD), "{mails:?}");
    let token = mails[1].2.lines().find(|line| line.starts_with("vrf_")).unwrap();

    assert_eq!(fixture.confirm(token).await.status, 204);

    let me = fixture.me().await;
    // The session goes on, and shows the new address, whatever its token says.
    assert_eq!(json!([me["email"], me["pending_email"], me["verified"]]), json!([NEW, null, true]));
    let [new, old] = [fixture.auth.log_in(NEW, PASSWORD).await, fixture.auth.log_in(OLD, PASSWORD).await];
    assert_eq!((new.status, old.status), (200, 401));
    fixture.assert_consistent(&fixture.ada, NEW, None);
    let mails = fixture.mails().await;
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert_eq!((mails[0].0.as_str(), mails[0].1.as_str()), (OLD, "Your account's email has changed"));
    assert_eq!(fixture.confirm(token).await.problem(), (404, INVALID.into()), "a token works once");
    let another = json!({"email": OLD, "password": "another horse battery"});
    assert_eq!(fixture.auth.post_openly("/api/auth/register", &another).await.status, 201, "the old address is free");
    let actions = fixture.actions();
    let has = |action: &str| actions.iter().any(|one| one == action);
    assert!(has("account.address_requested") && has("account.address_changed"), "{actions:?}");
    let audit_log = format!("{:?}", fixture.db.scan("AuditTable"));
    assert!(!audit_log.contains(OLD) && !audit_log.contains(NEW) && !audit_log.contains(token), "{audit_log}");
}

#[tokio::test]
async fn a_session_confirms_a_new_address_but_not_another_accounts() {
    let fixture = Fixture::new().await;
    fixture.register("eve").await;
    let eve = fixture.auth.session("eve@example.com", PASSWORD).await;
    fixture.want(NEW).await;
    let token = fixture.tokens("vrf_").await.remove(0);
    let verify =
        async |session: &str| fixture.auth.post("/api/auth/verify", session, &json!({"token": token})).await.status;

    assert_eq!((verify(&eve).await, verify(&fixture.session).await), (403, 204));
    fixture.assert_consistent(&fixture.ada, NEW, None);
}

#[tokio::test]
async fn whoever_reads_the_mail_of_the_old_address_keeps_it() {
    let fixture = Fixture::new().await;
    fixture.want(NEW).await;
    let mails = fixture.mails().await;
    let token = |prefix: &str| {
        let line = mails.iter().flat_map(|(_, _, text)| text.lines()).find(|line| line.starts_with(prefix));
        line.unwrap().to_owned()
    };

    assert_eq!(fixture.keep(&token("kep_")).await.status, 204);

    assert_eq!(fixture.me().await["pending_email"], Value::Null);
    assert!(fixture.actions().contains(&"account.address_kept".to_owned()), "{:?}", fixture.actions());
    assert_eq!(fixture.confirm(&token("vrf_")).await.problem(), (404, INVALID.into()));
    assert_eq!(fixture.keep(&token("kep_")).await.problem(), (404, INVALID.into()), "a token works once");
    for wrong in ["", "kep_", &token("vrf_"), &format!("kep_{}", "0".repeat(32))] {
        assert_eq!(fixture.keep(wrong).await.problem(), (404, INVALID.into()), "{wrong}");
    }
    fixture.assert_consistent(&fixture.ada, OLD, None);
}

#[tokio::test]
async fn a_keep_token_stops_only_the_address_it_was_mailed_for() {
    let fixture = Fixture::new().await;
    fixture.want(NEW).await;
    let keep = fixture.tokens("kep_").await.remove(0);
    fixture.want("ada@example.net").await;

    assert_eq!(fixture.keep(&keep).await.problem(), (404, INVALID.into()));
    assert_eq!(fixture.me().await["pending_email"], "ada@example.net");
}

#[tokio::test]
async fn a_token_for_an_address_that_is_wanted_no_more_is_void() {
    let fixture = Fixture::new().await;
    fixture.want(NEW).await;
    let first = fixture.tokens("vrf_").await.remove(0);
    fixture.want("ada@example.net").await;
    let second = fixture.tokens("vrf_").await.remove(0);

    assert_eq!(fixture.confirm(&first).await.problem(), (404, INVALID.into()));
    // The present address needs no password, and takes back what waits.
    let kept = fixture.patch(&json!({"email": OLD})).await;
    assert_eq!((kept.status, &kept.json()["pending_email"]), (200, &Value::Null));
    assert_eq!(fixture.confirm(&second).await.problem(), (404, INVALID.into()));
    fixture.assert_consistent(&fixture.ada, OLD, None);
}

#[tokio::test]
async fn an_address_waits_until_its_time_and_no_longer() {
    let fixture = Fixture::new().await;
    let until = Timestamp::now().plus(Duration::from_secs(1));
    let address = AddressStep::Await(EmailAddress::parse(NEW).unwrap(), until);
    let change = PersonChange { full_name: None, address };
    fixture.db.users().change_person(&fixture.ada, &change, &an_origin(&fixture.ada)).await.unwrap();
    let pending = async |at: Timestamp| fixture.db.users().profile(&fixture.ada, at).await.unwrap().unwrap().pending;

    let pending_before = pending(until.minus(Duration::from_millis(1))).await;
    assert_eq!(pending_before.map(|pending| pending.email), EmailAddress::parse(NEW).ok());
    assert_eq!(pending(until).await, None);
    fixture.want(NEW).await;
    let day = Timestamp::now().plus(lifetimes::ADDRESS_VERIFICATIONS);
    assert!(pending(day.minus(Duration::from_secs(60))).await.is_some() && pending(day).await.is_none());
}

#[tokio::test]
async fn asking_for_a_taken_address_looks_the_same_and_tells_its_owner() {
    let fixture = Fixture::new().await;
    let eve = fixture.register("eve").await;

    let (taken, free) = (fixture.want("eve@example.com").await, fixture.want(NEW).await);

    let without = |answer: &Answer| {
        let mut shown = answer.json();
        shown["pending_email"].take();
        shown["pending_until"].take();
        (answer.status, shown)
    };
    assert_eq!(without(&taken), without(&free));
    let mails = fixture.mails().await;
    let of_eve: Vec<_> = mails.iter().filter(|(to, ..)| to == "eve@example.com").collect();
    // Ada wants another address by now, so nobody is told of the first.
    assert!(of_eve.is_empty(), "{mails:?}");
    fixture.want("eve@example.com").await;
    let mails = fixture.mails().await;
    let (_, subject, text) = mails.iter().find(|(to, ..)| to == "eve@example.com").unwrap();
    assert_eq!(subject, "Someone wants to use your email address");
    assert!(!text.contains("vrf_") && !text.contains(OLD), "{text}");
    fixture.assert_consistent(&eve.id, "eve@example.com", None);
}

#[tokio::test]
async fn of_two_people_who_want_the_same_address_one_gets_it() {
    let fixture = Fixture::new().await;
    let bob = fixture.register("bob").await;
    let session = fixture.auth.session("bob@example.com", PASSWORD).await;
    fixture.want(NEW).await;
    let adas = fixture.tokens("vrf_").await.remove(0);
    fixture.patch_as(&session, &json!({"email": NEW, "password": PASSWORD})).await;
    // The limit of mails to one address holds back the second, whose token an impatient mail program would have.
    fixture.mails().await;
    let bobs = fixture.db.mailed_token(TokenPurpose::Verification, &bob.id, NEW, Timestamp::now()).await;

    let (first, second) = tokio::join!(fixture.confirm(&adas), fixture.confirm(bobs.reveal()));

    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 409], "{first:?} {second:?}");
    let lost = if first.status == 409 { &first } else { &second };
    assert_eq!((&lost.json()["code"], &lost.json()["field"]), (&json!("email_taken"), &json!("email")));
    let of = |is_owner: bool, old: &'static str| if is_owner { NEW } else { old };
    fixture.assert_consistent(&fixture.ada, of(first.status == 204, OLD), None);
    fixture.assert_consistent(&bob.id, of(second.status == 204, "bob@example.com"), None);
}

#[tokio::test]
async fn tokens_that_were_mailed_to_the_old_address_are_void() {
    let fixture = Fixture::new().await;
    fixture.auth.post_openly("/api/auth/password/forgot", &json!({"email": OLD})).await;
    let reset = fixture.tokens("rst_").await.remove(0);
    fixture.want(NEW).await;
    let token = fixture.tokens("vrf_").await.remove(0);
    assert_eq!(fixture.confirm(&token).await.status, 204);

    let body = json!({"token": reset, "password": "another horse battery"});
    assert_eq!(fixture.auth.post_openly("/api/auth/password/reset", &body).await.problem(), (404, INVALID.into()));
    assert_eq!(fixture.auth.log_in(NEW, PASSWORD).await.status, 200);
}

#[tokio::test]
async fn without_mail_another_address_counts_at_once_and_is_not_confirmed() {
    let fixture = Fixture::without_mail().await;
    fixture.register("eve").await;

    let taken = fixture.want("eve@example.com").await;
    let changed = fixture.want(NEW).await;

    let problem = json!([taken.status, taken.json()["code"], taken.json()["field"]]);
    assert_eq!(problem, json!([409, "email_taken", "email"]));
    let shown = changed.json();
    let shown = json!([changed.status, shown["email"], shown["pending_email"], shown["verified"]]);
    assert_eq!(shown, json!([200, NEW, null, false]));
    fixture.assert_consistent(&fixture.ada, NEW, None);
}

#[tokio::test]
async fn a_new_address_must_be_at_a_domain_that_may_register() {
    let fixture = Fixture::with("domains", "example.com,example.net", true).await;

    assert_eq!(fixture.want(NEW).await.problem_code(), (403, "registration_closed".into()));
    assert_eq!(fixture.want("ada@example.net").await.status, 200);
    let invited = Fixture::with("invited", "", true).await;
    assert_eq!(invited.want(NEW).await.status, 200, "whoever is in may have another address");
}

#[tokio::test]
async fn only_the_new_address_is_mailed_if_the_old_one_is_unconfirmed() {
    let fixture = Fixture::new().await;
    let pat = fixture.db.register("pat").await;
    let until = Timestamp::now().plus(Duration::from_secs(60));
    let address = AddressStep::Await(EmailAddress::parse(NEW).unwrap(), until);
    let change = PersonChange { full_name: None, address };
    fixture.db.users().change_person(&pat.id, &change, &an_origin(&pat.id)).await.unwrap();
    let session = pat.token(Role::Admin);

    RequestBuilder::new("POST", "/api/auth/verification").token(&session).send_to(&fixture.auth).await.expecting(202);

    let mails = fixture.mails().await;
    let told: Vec<_> = mails.iter().map(|(to, ..)| to.as_str()).collect();
    assert_eq!(told, [NEW], "the new address gets another token");
}

#[tokio::test]
async fn wanting_somebodys_address_makes_no_network_familiar_with_their_account() {
    let fixture = Fixture::new().await;
    fixture.register("eve").await;
    let familiar = || {
        let rows = fixture.db.scan("ThrottleTable");
        rows.iter().filter(|row| row["sk"]["S"].as_str().unwrap().starts_with("FROM#")).count()
    };
    let before = familiar();

    assert_eq!(fixture.want("eve@example.com").await.status, 200);

    assert_eq!(familiar(), before);
}

#[tokio::test]
async fn whoever_wants_many_addresses_has_to_wait() {
    let fixture = Fixture::without_mail().await;
    let mut answer = fixture.want("a0@example.org").await;
    for number in 1..100 {
        if answer.status == 429 {
            break;
        }
        answer = fixture.want(&format!("a{number}@example.org")).await;
    }
    assert_eq!(answer.status, 429, "{}", answer.body);
}

/// The attack: mails that strangers cause would count as those that the address's person asks for.
#[tokio::test]
async fn wanting_somebodys_address_uses_up_no_mail_that_they_ask_for() {
    const VICTIM: &str = "victim@example.com";
    let fixture = Fixture::new().await;
    fixture.db.register("victim").await;
    let subjects = async || {
        let mails = fixture.mails().await;
        let to_victim = mails.into_iter().filter(|(to, ..)| to == VICTIM);
        to_victim.map(|(_, subject, _)| subject).collect::<Vec<_>>()
    };
    fixture.want(VICTIM).await;
    assert_eq!(subjects().await, ["Someone wants to use your email address"]);

    for path in ["/api/auth/verification", "/api/auth/password/forgot"] {
        assert_eq!(fixture.auth.post_openly(path, &json!({"email": VICTIM})).await.status, 202);
    }

    assert_eq!(subjects().await, ["Confirm your email address", "Set a new password"]);
}

#[tokio::test]
async fn a_failed_mail_order_fails_the_request_which_can_be_repeated() {
    let fixture = Fixture::new().await;
    fixture.queues.fail(Outage::Everything);
    let failed = fixture.want(NEW).await;
    fixture.queues.fail(Outage::None);

    let again = fixture.want(NEW).await;

    assert_eq!((failed.status, again.status), (503, 200));
    assert_eq!(fixture.mails().await.len(), 2);
}

#[tokio::test]
async fn joining_a_workspace_during_a_name_change_stores_the_right_name() {
    for _ in 0..10 {
        let fixture = Fixture::new().await;
        let grace = fixture.db.register("grace").await;
        let token = fixture.db.invite(&grace, OLD, Role::Member).await;
        let account = fixture.db.users().account(&fixture.ada).await.unwrap().unwrap();
        let full_name = Some(FullName::parse("Ada King").ok());
        let change = PersonChange { full_name, address: AddressStep::None };
        let (users, session, origin) = (fixture.db.users(), a_session(), an_origin(&fixture.ada));

        let (joined, changed) = tokio::join!(
            users.accept_invitation(&token, &account, &session, &origin),
            users.change_person(&fixture.ada, &change, &origin)
        );

        assert_eq!(changed.unwrap(), PersonOutcome::Changed);
        let joined = joined.unwrap();
        assert!(matches!(joined, AcceptOutcome::Accepted(..) | AcceptOutcome::AccountChanged), "{joined:?}");
        fixture.assert_consistent(&fixture.ada, OLD, Some("Ada King"));
    }
}

#[tokio::test]
async fn a_name_changes_in_all_twenty_workspaces_a_person_may_be_in() {
    let fixture = Fixture::new().await;
    for number in 0..19 {
        fixture.join(&format!("admin-{number}")).await;
    }
    let admin = fixture.db.register("one-more").await;
    let token = fixture.db.invite(&admin, OLD, Role::Member).await;
    let account = fixture.db.users().account(&fixture.ada).await.unwrap().unwrap();

    let joined =
        fixture.db.users().accept_invitation(&token, &account, &a_session(), &an_origin(&fixture.ada)).await.unwrap();
    let changed = fixture.patch(&json!({"full_name": "Ada King", "email": NEW, "password": PASSWORD})).await;
    let token = fixture.tokens("vrf_").await.remove(0);

    assert_eq!((joined, changed.status), (AcceptOutcome::TooMany, 200));
    assert_eq!(fixture.confirm(&token).await.status, 204);
    fixture.assert_consistent(&fixture.ada, NEW, Some("Ada King"));
}
