//! Whose API keys are whose: members make keys of their own, admins manage all, and a key is replaced by another one.

use linklet_domain::ApiKey;

use crate::prelude::*;

const KEYS: &str = "/api/keys";
const SOMEBODY_ELSES: &str = "this belongs to someone else; only they or an admin can do it";
const NOT_ROTATABLE: &str = "the key is paused, expired or already rotated, or five keys of its rotation work";

/// Ada, who is an admin, and Bob, Carol and Vera, who are members and a viewer.
struct Office {
    account: Account,
    list: List,
    ada: Person,
    bob: Person,
    carol: Person,
    vera: Person,
}

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Member).await;
        let carol = colleague(&db, &ada, "carol", Role::Member).await;
        let vera = colleague(&db, &ada, "vera", Role::Viewer).await;
        let list = fixture::list(&db);
        let list = List { authenticator: Authenticator::new(tokens(), db.api_keys()), ..list };
        let account = Account { tokens: tokens().with_sessions(db.sessions()), ..account(&db) };
        Self { account, list, ada, bob, carol, vera }
    }

    fn request(&self, who: &Person, method: &str, path: &str) -> RequestBuilder {
        // What a token says of the role is looked up.
        RequestBuilder::new(method, path).token(&token_of(&who.id, &self.ada.workspace, Role::Viewer))
    }

    async fn send(&self, who: &Person, method: &str, path: &str, body: &Value) -> Answer {
        self.request(who, method, path).json_unless_null(body).send_to(&self.account).await
    }

    async fn create(&self, who: &Person) -> Value {
        self.send(who, "POST", KEYS, &json!({"name": "CI"})).await.expecting(201).json()
    }

    async fn rotate(&self, who: &Person, key: &Value, body: &Value) -> Answer {
        self.send(who, "POST", &format!("{}/rotate", path_of(key)), body).await
    }

    async fn listed(&self, who: &Person) -> Vec<Value> {
        self.send(who, "GET", KEYS, &Value::Null).await.expecting(200).json()["keys"].as_array().unwrap().clone()
    }

    async fn opens(&self, key: &Value, at: Timestamp) -> u16 {
        let request = RequestBuilder::new("GET", "/api/urls").api_key(key["key"].as_str().unwrap());
        request.at(at).send_to(&self.list).await.status
    }
}

fn path_of(key: &Value) -> String {
    format!("{KEYS}/{}", key["prefix"].as_str().unwrap())
}

fn prefixes(keys: &[Value]) -> BTreeSet<&str> {
    keys.iter().map(|key| key["prefix"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn members_see_their_own_keys_and_admins_all() {
    let office = Office::new().await;
    let (adas, bobs) = (office.create(&office.ada).await, office.create(&office.bob).await);

    assert_eq!(prefixes(&office.listed(&office.bob).await), prefixes(std::slice::from_ref(&bobs)));
    assert_eq!(office.listed(&office.carol).await, Vec::<Value>::new());
    assert_eq!(prefixes(&office.listed(&office.ada).await), prefixes(&[adas, bobs.clone()]));
    assert_eq!(bobs["created_by"], json!(office.bob.id));
}

#[tokio::test]
async fn viewers_have_no_keys() {
    let office = Office::new().await;
    let key = office.create(&office.bob).await;
    let path = path_of(&key);

    for (method, path, body) in [
        ("POST", KEYS, json!({"name": "CI"})),
        ("GET", KEYS, Value::Null),
        ("PATCH", &path, json!({"name": "Other"})),
        ("DELETE", &path, Value::Null),
        ("POST", &format!("{path}/rotate"), Value::Null),
    ] {
        let refused = office.send(&office.vera, method, path, &body).await;
        assert_eq!(refused.problem_code(), (403, "role_too_low".into()), "{method} {path}");
        assert!(refused.problem().1.contains("the role member"), "{}", refused.body);
    }
}

#[tokio::test]
async fn its_creator_and_admins_change_and_revoke_a_key_and_only_its_creator_rotates_it() {
    let office = Office::new().await;
    let key = office.create(&office.bob).await;
    let (path, changed) = (path_of(&key), json!({"name": "Other"}));

    for (method, body) in [("PATCH", &changed), ("DELETE", &Value::Null)] {
        let refused = office.send(&office.carol, method, &path, body).await;
        assert_eq!(refused.problem(), (403, SOMEBODY_ELSES.into()), "{method}");
    }
    for who in [&office.bob, &office.ada] {
        office.send(who, "PATCH", &path, &changed).await.expecting(200);
    }
    let by_ada = office.rotate(&office.ada, &key, &Value::Null).await.problem();
    assert_eq!(by_ada, (403, "this acts for someone else, so only they can do it".into()));
    office.rotate(&office.bob, &key, &Value::Null).await.expecting(201);
    office.send(&office.ada, "DELETE", &path, &Value::Null).await.expecting(204);
    assert_eq!(office.listed(&office.ada).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_member_who_becomes_a_viewer_has_no_key_any_more() {
    let office = Office::new().await;
    let key = office.create(&office.bob).await;
    let now = Timestamp::now();
    assert_eq!(office.opens(&key, now).await, 200);

    let path = format!("/api/workspace/members/{}", office.bob.id);
    office.send(&office.ada, "PATCH", &path, &json!({"role": "viewer"})).await.expecting(200);

    assert_eq!(office.opens(&key, now.plus(Duration::from_secs(61))).await, 401);
    assert_eq!(office.listed(&office.ada).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_rotated_key_works_beside_the_new_one_until_its_end() {
    let office = Office::new().await;
    let expires_at = Timestamp::now().plus(Duration::from_secs(90 * 86_400));
    let body = json!({"name": "CI", "scopes": ["links:read"], "expires_at": expires_at});
    let old = office.send(&office.bob, "POST", KEYS, &body).await.expecting(201).json();

    let end = Timestamp::now().plus(Duration::from_secs(600));
    let answer = office.rotate(&office.bob, &old, &json!({"expires_at": end})).await;

    assert_eq!((answer.status, answer.header("location")), (201, "../../keys"), "{}", answer.body);
    let new = answer.json();
    for member in ["name", "scopes", "created_by", "expires_at"] {
        assert_eq!(new[member], old[member], "{member}");
    }
    assert_ne!((&new["key"], &new["prefix"]), (&old["key"], &old["prefix"]));
    let listed = office.listed(&office.bob).await;
    let shown = listed.iter().find(|key| key["prefix"] == old["prefix"]).unwrap();
    assert_eq!((&shown["expires_at"], &shown["rotated_to"]), (&json!(end), &new["prefix"]));
    let opened = async |at: Timestamp| [office.opens(&old, at).await, office.opens(&new, at).await];
    assert_eq!(opened(Timestamp::now()).await, [200, 200]);
    assert_eq!(opened(end).await, [401, 200]);
}

#[tokio::test]
async fn each_refusal_of_a_rotation_gives_its_reason() {
    let office = Office::new().await;
    let soon = Timestamp::now().plus(Duration::from_secs(3_600));
    let body = json!({"name": "CI", "expires_at": soon});
    let key = office.send(&office.bob, "POST", KEYS, &body).await.expecting(201).json();
    let rotate = async |key: &Value, body: Value| office.rotate(&office.bob, key, &body).await.problem();

    let past = json!({"expires_at": Timestamp::now()});
    assert_eq!(rotate(&key, past).await, (400, "expires_at must be in the future".into()));
    let late = json!({"expires_at": soon.plus(Duration::from_secs(1))});
    assert_eq!(rotate(&key, late).await, (400, "expires_at must not be after the key's own expiry".into()));
    let unknown = json!({"prefix": "lk_live_00000000"});
    assert_eq!(rotate(&unknown, Value::Null).await, (404, "the workspace has no API key with this prefix".into()));
    office.send(&office.bob, "PATCH", &path_of(&key), &json!({"is_active": false})).await.expecting(200);
    assert_eq!(rotate(&key, Value::Null).await, (409, NOT_ROTATABLE.into()));
    office.send(&office.bob, "PATCH", &path_of(&key), &json!({"is_active": true})).await.expecting(200);
    let mut latest = office.rotate(&office.bob, &key, &Value::Null).await.expecting(201).json();
    assert_eq!(rotate(&key, Value::Null).await, (409, NOT_ROTATABLE.into()));
    for _ in 2..ApiKey::MOST_BY_ROTATION {
        latest = office.rotate(&office.bob, &latest, &Value::Null).await.expecting(201).json();
    }
    assert_eq!(rotate(&latest, Value::Null).await, (409, NOT_ROTATABLE.into()));
    assert_eq!(office.listed(&office.bob).await.len(), ApiKey::MOST_BY_ROTATION);
}

#[tokio::test]
async fn revoking_the_old_or_the_new_key_ends_both() {
    for revokes_old in [true, false] {
        let office = Office::new().await;
        let old = office.create(&office.bob).await;
        let new = office.rotate(&office.bob, &old, &Value::Null).await.expecting(201).json();

        let revoked = if revokes_old { &old } else { &new };
        office.send(&office.bob, "DELETE", &path_of(revoked), &Value::Null).await.expecting(204);

        let now = Timestamp::now();
        assert_eq!([office.opens(&old, now).await, office.opens(&new, now).await], [401, 401]);
    }
}
