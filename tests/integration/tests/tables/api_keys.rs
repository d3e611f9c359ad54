use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::{ApiKey, ApiKeySecret, Role, Timestamp, WorkspaceId, lifetimes};
use linklet_dynamodb::{ActiveSession, ApiKeys, CreateKeyOutcome, KeyChange, KeyOutcome, UsersTable};
use linklet_test_support::{
    ApiKeyBuilder, Cancellation, CapacityMeter, Fault, Faults, Person, TestDynamoDb, a_session, an_origin, removal,
    users_by,
};
use serde_json::json;

use crate::fixture::{change_role, colleague, with_people, with_person};

fn secret() -> ApiKeySecret {
    ApiKeySecret::generate().unwrap()
}

fn key_of(person: &Person) -> ApiKey {
    ApiKeyBuilder::new(&secret(), person).build()
}

/// The rows of keys, by their sort keys' beginnings: those that let requests in, and those that a list reads.
fn rows(db: &TestDynamoDb) -> (usize, usize) {
    let items = db.scan("UsersTable");
    let count = |attribute: &str| {
        items.iter().filter(|item| item[attribute]["S"].as_str().unwrap().starts_with("KEY#")).count()
    };
    (count("pk"), count("sk"))
}

async fn listed(db: &TestDynamoDb, workspace: &WorkspaceId) -> Vec<ApiKey> {
    db.users().keys(workspace, Timestamp::now()).await.unwrap()
}

/// What comes of a key that its creator makes.
async fn created(users: &UsersTable, key: &ApiKey) -> CreateKeyOutcome {
    users.create_key(key, &a_session(), None, &an_origin(&key.created_by)).await.unwrap()
}

/// What comes of somebody's rotation of a key, and the key that would be used instead.
async fn rotated(users: &UsersTable, by: &Person, key: &ApiKey, secret: &ApiKeySecret) -> (CreateKeyOutcome, ApiKey) {
    let (origin, session) = (an_origin(&by.id), a_session());
    let (successor, caller) = (key.successor(secret, origin.at), ActiveSession { user: &by.id, session: &session });
    let ends_at = key.end_of_rotated(None, origin.at).unwrap();
    let outcome = users.rotate_key((key, ends_at), &successor, caller, None, &origin).await.unwrap();
    (outcome, successor)
}

/// What comes of somebody's revocation of a key.
async fn revoked(users: &UsersTable, by: &Person, key: &ApiKey) -> KeyOutcome<ApiKey> {
    users.revoke_key(&by.workspace, &by.id, &key.prefix, &an_origin(&by.id)).await.unwrap()
}

#[tokio::test]
async fn a_key_is_found_by_its_hash_and_listed_by_its_workspace() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    let lasting = ApiKeyBuilder::new(&secret(), &ada).with_scopes(&["links:read"]).build();
    let expiring =
        ApiKeyBuilder::new(&secret(), &ada).expires_at(Timestamp::now().plus(Duration::from_secs(60))).build();

    for key in [&lasting, &expiring] {
        assert_eq!(created(&db.users(), key).await, CreateKeyOutcome::Created);
        assert_eq!(db.api_keys().find(&key.hash).await.unwrap().as_ref(), Some(key));
    }

    let keys = listed(&db, &ada.workspace).await;
    assert!(keys.len() == 2 && keys.contains(&lasting) && keys.contains(&expiring), "{keys:?}");
    assert_eq!(listed(&db, &bob.workspace).await, []);
    assert_eq!(db.api_keys().find(&secret().hash()).await.unwrap(), None);
}

#[tokio::test]
async fn keys_are_listed_newest_first() {
    let (db, ada) = with_person("ada").await;
    let start = Timestamp::now();
    for seconds in [2, 1, 3] {
        let at = start.plus(Duration::from_secs(seconds));
        db.store_key(&ApiKeyBuilder::new(&secret(), &ada).created_at(at).build()).await;
    }

    let created: Vec<_> = listed(&db, &ada.workspace).await.iter().map(|key| key.created_at).collect();

    assert_eq!(created, [3, 2, 1].map(|seconds| start.plus(Duration::from_secs(seconds))));
}

#[tokio::test]
async fn a_revoked_key_leaves_nothing_behind() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    let (key, other) = (key_of(&ada), key_of(&ada));
    db.store_key(&key).await;
    db.store_key(&other).await;
    let users = db.users();

    assert_eq!(revoked(&users, &bob, &key).await, KeyOutcome::NoKey);
    assert!(matches!(revoked(&users, &ada, &key).await, KeyOutcome::Done(_)));
    assert_eq!(revoked(&users, &ada, &key).await, KeyOutcome::NoKey);

    assert_eq!(db.api_keys().find(&key.hash).await.unwrap(), None);
    assert_eq!(listed(&db, &ada.workspace).await, [other]);
    assert_eq!(rows(&db), (1, 1));
}

#[tokio::test]
async fn a_key_prefix_is_unique_within_a_workspace_only() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    let alike = |last: char| ApiKeySecret::parse(&format!("lk_live_{}{last}", "a".repeat(31))).unwrap();
    let create = async |secret: ApiKeySecret, person: &Person| {
        created(&db.users(), &ApiKeyBuilder::new(&secret, person).build()).await
    };

    assert_eq!(create(alike('1'), &ada).await, CreateKeyOutcome::Created);
    assert_eq!(create(alike('2'), &ada).await, CreateKeyOutcome::PrefixTaken);
    assert_eq!(create(alike('3'), &bob).await, CreateKeyOutcome::Created);

    assert_eq!(rows(&db), (2, 2));
    assert_eq!(listed(&db, &ada.workspace).await[0].hash, alike('1').hash());
}

#[tokio::test]
async fn whoever_is_no_member_any_more_does_nothing_with_keys() {
    let (db, ada) = with_person("ada").await;
    let bob = colleague(&db, &ada, "bob", Role::Member).await;
    let key = key_of(&bob);
    db.store_key(&key).await;
    let refused = async || {
        let before = db.scan("UsersTable");
        let users = db.users();
        let made = [created(&users, &key_of(&bob)).await, rotated(&users, &bob, &key, &secret()).await.0];
        assert_eq!(made, [CreateKeyOutcome::NotAllowed; 2]);
        assert_eq!(revoked(&users, &bob, &key).await, KeyOutcome::NotAllowed(bob.id));
        assert_eq!(db.scan("UsersTable"), before);
    };

    change_role(&db.users(), &ada.workspace, &ada.id, &bob.id, Role::Viewer).await.unwrap();
    refused().await;
    db.users().remove_member(&removal(&ada.workspace, &ada.id, &bob.id)).await.unwrap();
    refused().await;
    // The key is the workspace's: it stays when its creator goes, until somebody revokes it.
    assert_eq!(listed(&db, &ada.workspace).await, [key]);
}

#[tokio::test]
async fn its_creator_and_admins_revoke_a_key_and_only_its_creator_rotates_it() {
    let (db, ada) = with_person("ada").await;
    let bob = colleague(&db, &ada, "bob", Role::Member).await;
    let carol = colleague(&db, &ada, "carol", Role::Member).await;
    let (key, users) = (key_of(&bob), db.users());
    db.store_key(&key).await;

    assert_eq!(rotated(&users, &carol, &key, &secret()).await.0, CreateKeyOutcome::NotAllowed);
    assert_eq!(revoked(&users, &carol, &key).await, KeyOutcome::NotAllowed(bob.id));
    let (by_bob, next) = rotated(&users, &bob, &key, &secret()).await;
    let (by_ada, _) = rotated(&users, &ada, &next, &secret()).await;
    assert_eq!([by_bob, by_ada], [CreateKeyOutcome::Created, CreateKeyOutcome::NotAllowed]);
    assert!(matches!(revoked(&users, &ada, &next).await, KeyOutcome::Done(_)));
}

#[tokio::test]
async fn a_rotated_key_works_until_its_end_and_the_list_forgets_it_then() {
    let (db, ada) = with_person("ada").await;
    let now = Timestamp::now();
    let key = ApiKeyBuilder::new(&secret(), &ada).expires_at(now.plus(ApiKey::OVERLAP * 30)).build();
    db.store_key(&key).await;

    let (outcome, successor) = rotated(&db.users(), &ada, &key, &secret()).await;

    assert_eq!(outcome, CreateKeyOutcome::Created);
    let (old, new) = (db.api_keys().find(&key.hash).await.unwrap().unwrap(), &successor);
    let end = old.expires_at.unwrap();
    assert_eq!(
        (end, &old.rotated_to),
        (key.end_of_rotated(None, old_end_asked(end)).unwrap(), &Some(new.prefix.clone()))
    );
    assert_eq!(db.api_keys().find(&new.hash).await.unwrap().as_ref(), Some(new));
    assert_eq!((&new.name, &new.scopes, new.expires_at), (&key.name, &key.scopes, key.expires_at));
    assert!(old.is_valid_at(end.minus(Duration::from_millis(1))) && !old.is_valid_at(end));
    assert_eq!(db.users().keys(&ada.workspace, end.minus(Duration::from_secs(2))).await.unwrap().len(), 2);
    assert_eq!(db.users().keys(&ada.workspace, end.plus(Duration::from_secs(1))).await.unwrap(), [successor]);
}

/// When the key was rotated that ends then.
fn old_end_asked(end: Timestamp) -> Timestamp {
    end.minus(ApiKey::OVERLAP)
}

#[tokio::test]
async fn revoking_any_of_the_keys_of_a_rotation_ends_all() {
    for position in 0..3 {
        let (db, ada) = with_person("ada").await;
        let (first, other) = (key_of(&ada), key_of(&ada));
        db.store_key(&first).await;
        db.store_key(&other).await;
        let users = db.users();
        let (_, second) = rotated(&users, &ada, &first, &secret()).await;
        let (_, third) = rotated(&users, &ada, &second, &secret()).await;
        assert_eq!(rows(&db), (4, 4));

        let revoked = revoked(&users, &ada, [&first, &second, &third][position]).await;

        assert!(matches!(revoked, KeyOutcome::Done(_)), "{revoked:?}");
        assert_eq!((listed(&db, &ada.workspace).await, rows(&db)), (vec![other], (1, 1)));
    }
}

#[tokio::test]
async fn a_key_that_was_rotated_paused_or_renamed_is_not_rotated_as_it_was() {
    let (db, ada) = with_person("ada").await;
    let (rotated_key, paused, renamed) = (key_of(&ada), key_of(&ada), key_of(&ada));
    for key in [&rotated_key, &paused, &renamed] {
        db.store_key(key).await;
    }
    let (users, session) = (db.users(), a_session());
    rotated(&users, &ada, &rotated_key, &secret()).await;
    let caller = ActiveSession { user: &ada.id, session: &session };
    for (key, change) in [
        (&paused, KeyChange { is_active: Some(false), ..KeyChange::default() }),
        (&renamed, KeyChange { name: Some("Other".parse().unwrap()), ..KeyChange::default() }),
    ] {
        users.change_key(&ada.workspace, caller, &key.prefix, &change, &an_origin(&ada.id)).await.unwrap();
    }

    for key in [&rotated_key, &paused, &renamed] {
        assert_eq!(rotated(&users, &ada, key, &secret()).await.0, CreateKeyOutcome::NotAsRead);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_rotations_of_a_key_at_once_one_is_made() {
    let (db, ada) = with_person("ada").await;
    let (key, users) = (key_of(&ada), db.users());
    db.store_key(&key).await;
    let secrets: Vec<_> = (0..10).map(|_| secret()).collect();

    let outcomes = join_all(secrets.iter().map(|secret| rotated(&users, &ada, &key, secret))).await;

    let made = outcomes.iter().filter(|(outcome, _)| *outcome == CreateKeyOutcome::Created).count();
    assert_eq!((made, rows(&db)), (1, (2, 2)));
}

/// A rotation that comes between the look at a key and its revocation leaves nothing that works.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_rotated_and_revoked_at_once_leaves_none_or_both() {
    for _ in 0..8 {
        let (db, ada) = with_person("ada").await;
        let (key, users, next) = (key_of(&ada), db.users(), secret());
        db.store_key(&key).await;

        let (revocation, (rotation, _)) = tokio::join!(revoked(&users, &ada, &key), rotated(&users, &ada, &key, &next));

        assert!(matches!(revocation, KeyOutcome::Done(_)), "{rotation:?}");
        assert_eq!(rows(&db), (0, 0), "{rotation:?}");
    }
}

#[tokio::test]
async fn a_key_can_be_rotated_in_a_full_workspace_but_not_without_end() {
    let (db, ada) = with_person("ada").await;
    for _ in 0..ApiKey::MAX_PER_WORKSPACE {
        db.store_key(&key_of(&ada)).await;
    }
    let (users, mut key) = (db.users(), listed(&db, &ada.workspace).await.remove(0));

    for _ in 1..ApiKey::MOST_BY_ROTATION {
        let (outcome, next) = rotated(&users, &ada, &key, &secret()).await;
        assert_eq!(outcome, CreateKeyOutcome::Created);
        key = next;
    }

    assert_eq!(rotated(&users, &ada, &key, &secret()).await.0, CreateKeyOutcome::TooMany);
    assert_eq!(created(&users, &key_of(&ada)).await, CreateKeyOutcome::TooMany);
    // All of a rotation are one, so revoking it makes room for one.
    revoked(&users, &ada, &key).await;
    assert_eq!(listed(&db, &ada.workspace).await.len(), ApiKey::MAX_PER_WORKSPACE - 1);
    assert_eq!(created(&users, &key_of(&ada)).await, CreateKeyOutcome::Created);
    assert_eq!(created(&users, &key_of(&ada)).await, CreateKeyOutcome::TooMany);
}

#[tokio::test]
async fn a_workspace_has_at_most_a_hundred_keys_of_its_own() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    for _ in 0..ApiKey::MAX_PER_WORKSPACE {
        db.store_key(&key_of(&ada)).await;
    }
    let (users, one_more) = (db.users(), key_of(&ada));

    assert_eq!(created(&users, &one_more).await, CreateKeyOutcome::TooMany);
    assert_eq!(created(&users, &key_of(&bob)).await, CreateKeyOutcome::Created);
    let keys = listed(&db, &ada.workspace).await;
    assert_eq!(keys.len(), ApiKey::MAX_PER_WORKSPACE);
    revoked(&users, &ada, &keys[0]).await;
    assert_eq!(created(&users, &one_more).await, CreateKeyOutcome::Created);
}

/// The attack: of requests at the same moment, each would count the keys before the others have made theirs.
#[tokio::test(flavor = "multi_thread")]
async fn of_thirty_keys_at_once_only_those_with_room_are_made() {
    for there_are in [0, 90] {
        let (db, ada) = with_person("ada").await;
        for _ in 0..there_are {
            db.store_key(&key_of(&ada)).await;
        }
        let (users, origin, session) = (db.users(), an_origin(&ada.id), a_session());
        let keys: Vec<_> = (0..30).map(|_| key_of(&ada)).collect();

        let outcomes = join_all(keys.iter().map(|key| users.create_key(key, &session, None, &origin))).await;

        let with = |wanted| outcomes.iter().filter(|outcome| *outcome.as_ref().unwrap() == wanted).count();
        let room = (ApiKey::MAX_PER_WORKSPACE - there_are).min(30);
        assert_eq!((with(CreateKeyOutcome::Created), with(CreateKeyOutcome::TooMany)), (room, 30 - room));
        assert_eq!(listed(&db, &ada.workspace).await.len(), there_are + room);
    }
}

#[tokio::test]
async fn keys_that_are_over_make_room_by_themselves() {
    let (db, ada) = with_person("ada").await;
    let soon = Timestamp::now().plus(Duration::from_secs(60));
    for number in 0..ApiKey::MAX_PER_WORKSPACE {
        let key = ApiKeyBuilder::new(&secret(), &ada);
        db.store_key(&if number < 3 { key.expires_at(soon) } else { key }.build()).await;
    }
    let over = soon.plus(lifetimes::EXPIRED_API_KEYS);
    let create = async || created(&db.users(), &ApiKeyBuilder::new(&secret(), &ada).created_at(over).build()).await;

    assert_eq!([create().await, create().await, create().await], [CreateKeyOutcome::Created; 3]);
    assert_eq!(create().await, CreateKeyOutcome::TooMany);
}

#[tokio::test]
async fn a_use_is_noted_once_a_minute_and_restores_no_revoked_key() {
    let (db, ada) = with_person("ada").await;
    let (key, unused) = (key_of(&ada), key_of(&ada));
    db.store_key(&key).await;
    db.store_key(&unused).await;
    let start = Timestamp::now();
    let used_after = async |seconds| {
        db.api_keys().touch(&key.hash, start.plus(Duration::from_secs(seconds))).await.unwrap();
        let noted = db.api_keys().find(&key.hash).await.unwrap().unwrap().last_used_at.unwrap();
        start.until(noted).as_secs()
    };

    assert_eq!([used_after(0).await, used_after(59).await, used_after(60).await, used_after(30).await], [0, 0, 60, 60]);
    let last_uses: Vec<_> =
        listed(&db, &ada.workspace).await.into_iter().map(|key| (key.hash, key.last_used_at)).collect();
    assert!(last_uses.contains(&(key.hash.clone(), Some(start.plus(Duration::from_secs(60))))));
    assert!(last_uses.contains(&(unused.hash, None)));

    revoked(&db.users(), &ada, &key).await;
    db.api_keys().touch(&key.hash, start.plus(Duration::from_secs(600))).await.unwrap();
    assert_eq!(db.api_keys().find(&key.hash).await.unwrap(), None);
    assert_eq!(rows(&db), (1, 1));
}

#[tokio::test]
async fn an_expired_key_is_listed_for_a_while_and_then_gone() {
    const LISTED_FOR: u64 = lifetimes::EXPIRED_API_KEYS.as_secs();
    let (db, ada) = with_person("ada").await;
    let now = Timestamp::now();
    let expired =
        |seconds| ApiKeyBuilder::new(&secret(), &ada).expires_at(now.minus(Duration::from_secs(seconds))).build();
    let (recent, old, lasting) = (expired(LISTED_FOR - 60), expired(LISTED_FOR + 2), key_of(&ada));
    for key in [&recent, &old, &lasting] {
        db.store_key(key).await;
    }

    // DynamoDB takes its time to delete; nobody sees that.
    let before: Vec<_> = listed(&db, &ada.workspace).await.into_iter().map(|key| key.hash).collect();
    assert_eq!((before.len(), before.contains(&old.hash)), (2, false));
    db.sweep_ttl();

    assert_eq!(rows(&db), (2, 2));
    assert_eq!(db.api_keys().find(&old.hash).await.unwrap(), None);
    assert_eq!(listed(&db, &ada.workspace).await.len(), 2);
}

#[tokio::test]
async fn a_key_whose_hash_is_gone_already_can_be_revoked() {
    let (db, ada) = with_person("ada").await;
    let key = key_of(&ada);
    db.store_key(&key).await;
    let row = json!({"pk": {"S": format!("KEY#{}", key.hash)}, "sk": {"S": "KEY"}});
    db.remove("UsersTable", &row);

    assert!(matches!(revoked(&db.users(), &ada, &key).await, KeyOutcome::Done(_)));
    assert_eq!(rows(&db), (0, 0));
}

#[tokio::test]
async fn of_two_revocations_at_once_one_finds_the_key() {
    let (db, ada) = with_person("ada").await;
    let key = key_of(&ada);
    db.store_key(&key).await;
    let (users, origin) = (db.users(), an_origin(&ada.id));

    let outcomes = join_all((0..2).map(|_| users.revoke_key(&ada.workspace, &ada.id, &key.prefix, &origin))).await;

    let revoked = outcomes.iter().filter(|outcome| matches!(outcome, Ok(KeyOutcome::Done(_)))).count();
    assert_eq!((revoked, outcomes.iter().filter(|outcome| outcome.is_err()).count(), rows(&db)), (1, 0, (0, 0)));
}

/// A client that tries again, as those of the functions do, and fails as planned.
fn faulty(db: &TestDynamoDb) -> (UsersTable, Faults) {
    let faults = Faults::default();
    (users_by(db.client_retrying(&faults, 2)), faults)
}

#[tokio::test]
async fn a_lost_answer_creates_and_revokes_once() {
    let (db, ada) = with_person("ada").await;
    let key = key_of(&ada);
    let (users, faults) = faulty(&db);

    // Counting comes first, with two reads, then the transaction.
    faults.plan(Some((2, Fault::AnswerLost)));
    assert_eq!(created(&users, &key).await, CreateKeyOutcome::Created);
    assert_eq!(rows(&db), (1, 1));
    faults.plan(Some((1, Fault::AnswerLost)));
    assert!(matches!(revoked(&users, &ada, &key).await, KeyOutcome::Done(_)));
    assert_eq!(rows(&db), (0, 0));
}

#[tokio::test]
async fn a_transaction_conflict_is_retried_but_other_failures_are_not() {
    let (db, ada) = with_person("ada").await;
    let key = key_of(&ada);
    let (users, faults): (_, Faults) = db.users_through();
    let conflict = Fault::Cancelled(Cancellation::TransactionConflict);

    faults.plan_all([(2, conflict), (5, conflict)]);
    assert_eq!(created(&users, &key).await, CreateKeyOutcome::Created);
    faults.plan_all([(1, conflict), (3, conflict)]);
    assert!(matches!(revoked(&users, &ada, &key).await, KeyOutcome::Done(_)));

    faults.plan(Some((2, Fault::Cancelled(Cancellation::Throttling))));
    assert!(users.create_key(&key, &a_session(), None, &an_origin(&key.created_by)).await.is_err());
    assert_eq!(rows(&db), (0, 0));
}

#[tokio::test]
async fn a_list_of_keys_asks_again_for_unprocessed_reads_or_fails() {
    let (db, ada) = with_person("ada").await;
    let now = Timestamp::now();
    for _ in 0..3 {
        let key = key_of(&ada);
        db.store_key(&key).await;
        db.api_keys().touch(&key.hash, now).await.unwrap();
    }
    let (users, faults): (_, Faults) = db.users_through();

    faults.plan_all([(1, Fault::HalfUnprocessed), (2, Fault::Unprocessed)]);
    let keys = users.keys(&ada.workspace, now).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.last_used_at).collect::<Vec<_>>(), [Some(now); 3]);

    faults.plan_all((1..20).map(|call| (call, Fault::Unprocessed)));
    assert!(users.keys(&ada.workspace, now).await.is_err());
}

/// What the chart of access patterns says.
#[tokio::test]
async fn a_key_costs_what_the_chart_says() {
    let (db, ada) = with_person("ada").await;
    let (key, now) = (key_of(&ada), Timestamp::now());
    let (users, meter): (_, CapacityMeter) = db.users_through();
    let keys = ApiKeys(db.table_with(meter.clone(), "UsersTable"));

    users.create_key(&key, &a_session(), None, &an_origin(&key.created_by)).await.unwrap();
    assert_eq!(meter.spent(), (2.0, 14.0), "creating");
    keys.find(&key.hash).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 0.0), "finding");
    keys.touch(&key.hash, now).await.unwrap();
    assert_eq!(meter.spent(), (0.0, 1.0), "noting its use");
    users.keys(&ada.workspace, now).await.unwrap();
    assert_eq!(meter.spent(), (1.5, 0.0), "listing one");
    users.revoke_key(&ada.workspace, &ada.id, &key.prefix, &an_origin(&ada.id)).await.unwrap();
    assert_eq!(meter.spent(), (1.0, 8.0), "revoking");
}
