use linklet_domain::{
    Account, EmailAddress, Membership, Role, Timestamp, UserId, WorkspaceId, WorkspaceName, WorkspaceSlug,
};
use linklet_dynamodb::{RegisterOutcome, Registration};
use linklet_test_support::TestDynamoDb;

fn registration(email: &str, slug: &str) -> Registration {
    let now = Timestamp::now();
    Registration {
        account: Account {
            id: UserId::generate(),
            email: EmailAddress::parse(email).unwrap(),
            full_name: Some("Ada Lovelace".into()),
            password_hash: "$argon2id$…".into(),
            created_at: now,
        },
        membership: Membership { workspace: WorkspaceId::generate(), role: Role::Admin, joined_at: now },
        workspace_name: WorkspaceName::parse("Engines").unwrap(),
        workspace_slug: WorkspaceSlug::parse(slug).unwrap(),
    }
}

#[tokio::test]
async fn an_account_is_found_by_its_address_with_its_membership() {
    let db = TestDynamoDb::start();
    let ada = registration("ada@example.com", "engines");

    assert_eq!(db.users().register(&ada).await.unwrap(), RegisterOutcome::Registered);

    let found = db.users().find_by_email(&ada.account.email).await.unwrap();
    assert_eq!(found, Some((ada.account, vec![ada.membership.clone()])));
    let workspace = db.users().workspace_by_slug(&ada.workspace_slug).await.unwrap();
    assert_eq!(workspace, Some(ada.membership.workspace));
}

#[tokio::test]
async fn a_taken_address_or_slug_leaves_nothing_behind() {
    let db = TestDynamoDb::start();
    db.users().register(&registration("ada@example.com", "engines")).await.unwrap();
    let before = db.scan("UsersTable").len();

    let same_email = db.users().register(&registration("ada@example.com", "other")).await.unwrap();
    let same_slug = db.users().register(&registration("bob@example.com", "engines")).await.unwrap();

    assert_eq!((same_email, same_slug), (RegisterOutcome::EmailTaken, RegisterOutcome::SlugTaken));
    assert_eq!(db.scan("UsersTable").len(), before);
}

#[tokio::test]
async fn a_hash_is_replaced_only_if_it_is_still_the_old_one() {
    let db = TestDynamoDb::start();
    let ada = registration("ada@example.com", "engines");
    db.users().register(&ada).await.unwrap();
    let replace = async |old: &str, new: &str| db.users().replace_password_hash(&ada.account.id, old, new).await;

    assert!(replace("$argon2id$…", "new").await.is_ok());
    assert!(replace("$argon2id$…", "newer").await.is_err());

    let (account, _) = db.users().find_by_email(&ada.account.email).await.unwrap().unwrap();
    assert_eq!(account.password_hash, "new");
}
