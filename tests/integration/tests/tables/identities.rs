//! Identities at providers: each belongs to one account, and goes with it.

use linklet_domain::{Account, EmailAddress, Identity, Timestamp, UserId};
use linklet_dynamodb::{FirstMembership, FoundIdentity, JoinOutcome, RegisterOutcome, UsersTable};
use linklet_test_support::{TestDynamoDb, an_origin};
use serde_json::json;

const ISSUER: &str = "https://id.example.com";

fn account(email: &str) -> Account {
    let (id, email) = (UserId::generate(), EmailAddress::parse(email).unwrap());
    Account {
        id,
        email,
        full_name: None,
        password_hash: None,
        created_at: Timestamp::now(),
        last_login_at: None,
        password_works_until: None,
    }
}

fn identity(subject: &str, email: &str) -> Identity {
    let email = EmailAddress::parse(email).ok();
    Identity::new(ISSUER.to_owned(), subject, email, Timestamp::now())
}

async fn register(users: &UsersTable, account: &Account, identity: &Identity) -> RegisterOutcome {
    users.register_identity(account, identity, FirstMembership::None, &an_origin(&account.id)).await.unwrap()
}

#[tokio::test]
async fn an_identity_belongs_to_one_account_however_many_ask_at_once() {
    let db = TestDynamoDb::start();
    let (users, identity) = (db.users(), identity("1", "ada@example.com"));
    let (ada, eve) = (account("ada@example.com"), account("eve@example.com"));

    let (first, second) = tokio::join!(register(&users, &ada, &identity), register(&users, &eve, &identity));

    let registered = [first, second].iter().filter(|outcome| **outcome == RegisterOutcome::Registered).count();
    assert_eq!(registered, 1, "{first:?} {second:?}");
    let FoundIdentity::Account(found, memberships) = users.account_of_identity(&identity.hash).await.unwrap() else {
        panic!("it belongs to somebody");
    };
    assert_eq!((&found.1, memberships.len()), (&identity, 0));
    assert_eq!(users.identities(&found.0.id).await.unwrap(), [identity]);
    assert!(users.verified_at(&found.0.id).await.unwrap().is_some());
}

#[tokio::test]
async fn an_account_without_a_password_is_joined_by_nobody() {
    let db = TestDynamoDb::start();
    let (users, ada) = (db.users(), account("ada@example.com"));
    register(&users, &ada, &identity("1", "ada@example.com")).await;

    let other = identity("2", "ada@example.com");
    let joined = users.join_identity(&ada, &other, &an_origin(&ada.id)).await.unwrap();
    let with_hash = Account { password_hash: Some("guessed".to_owned()), ..ada.clone() };
    let guessed = users.join_identity(&with_hash, &other, &an_origin(&ada.id)).await.unwrap();

    assert_eq!((joined, guessed), (JoinOutcome::Changed, JoinOutcome::Changed));
    assert_eq!(users.account_of_identity(&other.hash).await.unwrap(), FoundIdentity::Unknown);
}

#[tokio::test]
async fn what_is_forgotten_of_a_person_includes_their_identities() {
    let db = TestDynamoDb::start();
    let (users, ada) = (db.users(), account("ada@example.com"));
    let own = identity("1", "ada@example.com");
    register(&users, &ada, &own).await;

    users.forget_person(&ada.id).await.unwrap();

    let rows = db.scan("UsersTable");
    let left: Vec<_> = rows.iter().filter(|row| row.to_string().contains("IDENTITY#")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(users.account_of_identity(&own.hash).await.unwrap(), FoundIdentity::Unknown);
}

#[tokio::test]
async fn an_identity_whose_account_is_gone_is_free_again() {
    let db = TestDynamoDb::start();
    let (users, ada, own) = (db.users(), account("ada@example.com"), identity("1", "ada@example.com"));
    let gone = UserId::generate();
    db.put(
        "UsersTable",
        &json!({"pk": {"S": format!("IDENTITY#{}", own.hash)}, "sk": {"S": "IDENTITY"}, "user_id": {"S": gone}}),
    );

    assert_eq!(register(&users, &ada, &own).await, RegisterOutcome::Registered);
    let found = users.account_of_identity(&own.hash).await.unwrap();
    assert!(matches!(found, FoundIdentity::Account(found, _) if found.0.id == ada.id));
}
