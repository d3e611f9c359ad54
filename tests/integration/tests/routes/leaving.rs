//! What a member loses who is removed or leaves, from that moment on. What is handed over later is in the pipeline's tests.

use linklet_domain::{ApiKey, KeysLeft};

use crate::prelude::*;

/// Ada's workspace, of which Bob is an admin, too.
struct Fixture {
    db: TestDynamoDb,
    account: Account,
    delete: Delete,
    list: List,
    ada: Person,
    bob: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Admin).await;
        let verifier = || tokens().with_sessions(db.sessions());
        let account = Account::new(
            verifier(),
            db.users(),
            db.notifications(),
            crate::fixture::guesses(&db),
            crate::fixture::sharing(&db),
        );
        let delete = crate::fixture::delete(&db, Authenticator::new(verifier(), db.api_keys()));
        let list = List { authenticator: Authenticator::new(verifier(), db.api_keys()), ..list(&db) };
        Self { db, account, delete, list, ada, bob }
    }

    async fn key_of(&self, person: &Person) -> (ApiKeySecret, ApiKey) {
        let secret = ApiKeySecret::generate().unwrap();
        let key = ApiKeyBuilder::new(&secret, person).build();
        self.db.store_key(&key).await;
        (secret, key)
    }

    async fn remove(&self, caller: &Person, who: &Person, query: &str) -> Answer {
        let path = format!("/api/workspace/members/{}{query}", who.id);
        self.send(caller, "DELETE", &path).await
    }

    async fn give_role(&self, who: &Person, role: &str) -> Answer {
        let path = format!("/api/workspace/members/{}", who.id);
        self.account.patch(&path, &token(&self.ada), &json!({"role": role})).await
    }

    async fn send(&self, caller: &Person, method: &str, path: &str) -> Answer {
        RequestBuilder::new(method, path).token(&token(caller)).send_to(&self.account).await
    }

    /// Whose keys the workspace has.
    async fn creators(&self) -> Vec<Value> {
        let keys = self.send(&self.ada, "GET", "/api/keys").await.json();
        keys["keys"].as_array().unwrap().iter().map(|key| key["created_by"].clone()).collect()
    }

    async fn is_accepted(&self, key: &ApiKey) -> bool {
        self.db.api_keys().find(&key.hash).await.unwrap().is_some()
    }
}

fn token(person: &Person) -> String {
    person.token(Role::Admin)
}

/// Also in environments that have just looked up what it is worth, as all of these have.
#[tokio::test]
async fn a_removed_admins_token_and_key_purge_nothing_from_that_moment_on() {
    let fixture = Fixture::new().await;
    let (secret, _) = fixture.key_of(&fixture.bob).await;
    let token = token(&fixture.bob);
    for (code, owner) in [("adas", &fixture.ada), ("bobs", &fixture.bob)] {
        let link = LinkBuilder::new(code).in_workspace(&owner.workspace).owned_by(&owner.id).build();
        fixture.db.store(&link).await;
    }
    let by_token = |method: &str, path: &str| RequestBuilder::new(method, path).token(&token);
    let by_key = |method: &str, path: &str| RequestBuilder::new(method, path).header("x-api-key", secret.reveal());
    for request in [by_token("DELETE", "/api/urls/unknown"), by_key("DELETE", "/api/urls/unknown")] {
        assert_eq!(request.send_to(&fixture.delete).await.status, 404, "it is held from now on");
    }
    for request in [by_token("GET", "/api/urls"), by_key("GET", "/api/urls")] {
        assert_eq!(request.send_to(&fixture.list).await.status, 200, "it is held from now on");
    }

    assert_eq!(fixture.remove(&fixture.ada, &fixture.bob, "").await.status, 204);

    for path in ["/api/links/adas", "/api/links/bobs"] {
        for request in [by_token("DELETE", path), by_key("DELETE", path)] {
            assert_eq!(request.send_to(&fixture.delete).await.problem(), (401, "unauthorized".into()), "{path}");
        }
    }
    assert_eq!(by_token("DELETE", "/api/urls/adas").send_to(&fixture.delete).await.status, 401, "what is others'");
    let in_a_minute = Timestamp::now().plus(std::time::Duration::from_secs(60));
    for request in [by_token("GET", "/api/urls"), by_key("GET", "/api/urls")] {
        assert_eq!(request.at(in_a_minute).send_to(&fixture.list).await.status, 401, "the rest");
    }
    assert!(fixture.db.link("adas").await.is_reusable() && fixture.db.link("bobs").await.is_reusable());
}

#[tokio::test]
async fn a_removed_member_loses_their_keys_and_nobody_else_does() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Admin).await;
    let dora = fixture.db.register("dora").await;
    let elsewhere = Person { workspace: dora.workspace, ..fixture.bob.clone() };
    fixture.db.add_member(&dora.workspace, &dora.id, &elsewhere.as_member(Role::Admin)).await;
    let (_, adas) = fixture.key_of(&fixture.ada).await;
    let (_, carols) = fixture.key_of(&carol).await;
    let mut bobs = Vec::new();
    // More than one transaction settles.
    for _ in 0..12 {
        bobs.push(fixture.key_of(&fixture.bob).await.1);
    }
    let (_, other) = fixture.key_of(&elsewhere).await;

    assert_eq!(fixture.remove(&fixture.ada, &fixture.bob, "").await.status, 204);

    for key in &bobs {
        assert!(!fixture.is_accepted(key).await);
    }
    for key in [&adas, &carols, &other] {
        assert!(fixture.is_accepted(key).await);
    }
    assert_eq!(fixture.creators().await.len(), 2);
}

#[tokio::test]
async fn keys_are_kept_if_the_admin_says_so() {
    for (query, kept) in [("?keep_keys=true", 1), ("?keep_keys=false", 0), ("", 0)] {
        let fixture = Fixture::new().await;
        let (_, key) = fixture.key_of(&fixture.bob).await;
        fixture.db.invite(&fixture.bob, "friend@example.com", Role::Admin).await;

        assert_eq!(fixture.remove(&fixture.ada, &fixture.bob, query).await.status, 204, "{query}");

        assert_eq!(fixture.is_accepted(&key).await, kept == 1, "{query}");
        assert_eq!(fixture.creators().await.len(), kept, "{query}");
        let invitations = fixture.db.users().invitations(&fixture.ada.workspace, Timestamp::now()).await.unwrap();
        assert_eq!(invitations, [], "they are withdrawn in any case");
        let open = fixture.db.handover(&fixture.ada.workspace, &fixture.bob.id).await.unwrap();
        assert_eq!(open.keys == KeysLeft::Kept, kept == 1, "{query}");
    }
}

#[tokio::test]
async fn a_new_viewer_loses_their_keys_and_a_new_member_keeps_them() {
    for (role, kept) in [("member", true), ("viewer", false)] {
        let fixture = Fixture::new().await;
        let (_, key) = fixture.key_of(&fixture.bob).await;
        let (_, another) = fixture.key_of(&fixture.ada).await;

        assert_eq!(fixture.give_role(&fixture.bob, role).await.status, 200, "{role}");
        assert_eq!(fixture.is_accepted(&key).await, kept, "{role}");
        assert!(fixture.is_accepted(&another).await, "{role}");
    }
}

#[tokio::test]
async fn only_an_admin_keeps_keys_of_somebody_who_leaves() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Member).await;

    let refused = fixture.remove(&carol, &carol, "?keep_keys=true").await;
    let unclear = fixture.remove(&fixture.ada, &carol, "?keep_keys=yes").await;

    assert_eq!(refused.problem(), (403, "this needs the role admin, which you don't have in this workspace".into()));
    assert_eq!(unclear.problem(), (400, "keep_keys must be true or false".into()));
    assert_eq!(fixture.remove(&carol, &carol, "").await.status, 204);
    assert_eq!(fixture.remove(&fixture.bob, &fixture.bob, "?keep_keys=true").await.status, 204);
}

#[tokio::test]
async fn a_members_heir_is_who_removes_them_or_the_oldest_other_admin() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Admin).await;
    let dora = colleague(&fixture.db, &fixture.ada, "dora", Role::Viewer).await;
    let heir_of = async |leaver: &Person| fixture.db.handover(&leaver.workspace, &leaver.id).await.unwrap().heir;

    for (caller, leaver) in [(&carol, &fixture.bob), (&dora, &dora), (&fixture.ada, &fixture.ada)] {
        assert_eq!(fixture.remove(caller, leaver, "").await.status, 204);
    }

    assert_eq!(heir_of(&fixture.bob).await, carol.id);
    assert_eq!(heir_of(&dora).await, fixture.ada.id);
    assert_eq!(heir_of(&fixture.ada).await, carol.id);
}

/// The handover revokes them then.
#[tokio::test]
async fn a_removal_whose_keys_cannot_be_revoked_at_once_is_one_nevertheless() {
    let fixture = Fixture::new().await;
    let (_, key) = fixture.key_of(&fixture.bob).await;
    let (users, faults): (_, Faults) = fixture.db.users_through();
    let account = Account::new(
        tokens(),
        users,
        fixture.db.notifications(),
        crate::fixture::guesses(&fixture.db),
        crate::fixture::sharing(&fixture.db),
    );
    // The member and the transaction are read and written; the keys can't be listed.
    faults.plan_all((2..8).map(|call| (call, Fault::NotSent)));

    account.delete(&format!("/api/workspace/members/{}", fixture.bob.id), &token(&fixture.ada)).await.expecting(204);

    assert!(fixture.is_accepted(&key).await);
    assert_eq!(fixture.db.handover(&fixture.ada.workspace, &fixture.bob.id).await.unwrap().heir, fixture.ada.id);
}
