//! API keys: how they are made, listed and revoked, and what they open.

use linklet_domain::ApiKey;
use linklet_dynamodb::ApiKeys;

use crate::{fixture::shorten, prelude::*};

const KEYS: &str = "/api/keys";
const REFUSED: (u16, &str) = (401, "unauthorized");

/// Ada, who is the admin of a workspace, and the function that manages its keys.
struct Office {
    db: TestDynamoDb,
    ada: Person,
    account: Account,
}

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        Self { account: account(&db), db, ada }
    }

    fn token(&self) -> String {
        self.ada.token(Role::Admin)
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        RequestBuilder::new(method, path).token(&self.token()).json_unless_null(body).send_to(&self.account).await
    }

    async fn patch(&self, secret: &ApiKeySecret, body: Value) -> Answer {
        self.send("PATCH", &format!("{KEYS}/{}", secret.prefix()), &body).await
    }

    async fn create(&self, body: &Value) -> Answer {
        self.send("POST", KEYS, body).await
    }

    async fn listed(&self) -> Vec<Value> {
        self.send("GET", KEYS, &Value::Null).await.expecting(200).json()["keys"].as_array().unwrap().clone()
    }

    /// Stores a key with these scopes.
    async fn key(&self, scopes: &[&str]) -> ApiKeySecret {
        let secret = ApiKeySecret::generate().unwrap();
        self.db.store_key(&ApiKeyBuilder::new(&secret, &self.ada).with_scopes(scopes).build()).await;
        secret
    }

    async fn revoke(&self, secret: &ApiKeySecret) {
        self.send("DELETE", &format!("{KEYS}/{}", secret.prefix()), &Value::Null).await.expecting(204);
    }

    /// An execution environment of a function that takes keys, with the keys behind this client.
    fn environment(&self, keys: ApiKeys) -> List {
        List { authenticator: Authenticator::new(tokens(), keys), ..crate::fixture::list(&self.db) }
    }

    async fn last_used_at(&self, secret: &ApiKeySecret) -> Option<Timestamp> {
        self.db.api_keys().find(&secret.hash()).await.unwrap().unwrap().last_used_at
    }
}

async fn list_at(list: &List, key: &str, at: Timestamp) -> Answer {
    RequestBuilder::new("GET", "/api/urls").api_key(key).at(at).send_to(list).await
}

fn after(start: Timestamp, millis: u64) -> Timestamp {
    start.plus(Duration::from_millis(millis))
}

fn in_an_hour() -> Timestamp {
    after(Timestamp::now(), 3_600_000)
}

#[tokio::test]
async fn a_key_is_shown_once_and_only_its_hash_is_stored() {
    let office = Office::new().await;
    let expires_at = in_an_hour();
    let body =
        json!({"name": " CI ", "scopes": ["analytics:read", "links:read", "links:read"], "expires_at": expires_at});

    let created = office.create(&body).await;
    let (view, listed) = (created.json(), office.listed().await);

    assert_eq!((created.status, created.header("location")), (201, "keys"), "{}", created.body);
    let secret = ApiKeySecret::parse(view["key"].as_str().unwrap()).unwrap();
    let scopes = json!(["links:read", "analytics:read"]);
    let mut expected = json!({
        "prefix": secret.prefix(), "name": "CI", "scopes": scopes, "created_by": office.ada.id,
        "created_at": listed[0]["created_at"], "expires_at": expires_at, "last_used_at": null, "is_active": true,
        "paused_at": null, "rotated_to": null,
    });
    assert_eq!(listed, [expected.clone()]);
    expected["key"] = json!(secret.reveal());
    assert_eq!(view, expected);
    assert_eq!(created.header("cache-control"), "no-store");
    for row in office.db.scan("UsersTable") {
        assert!(!row.to_string().contains(secret.reveal()), "{row}");
    }
    let without_expiry =
        office.create(&json!({"name": "n", "scopes": ["links:read"], "expires_at": null})).await.json();
    assert_eq!(without_expiry.get("expires_at"), Some(&Value::Null), "{without_expiry}");
}

#[tokio::test]
async fn each_refusal_of_a_key_gives_its_reason() {
    let office = Office::new().await;
    let with = |member: &str, value: Value| {
        let mut body = json!({"name": "CI", "scopes": ["links:read"]});
        body[member] = value;
        body
    };
    let before = office.db.scan("UsersTable");
    let name = "name must have 1–255 characters";
    let scopes = "scopes must have at least one of links:read, links:write and analytics:read";
    let unknown = "scopes must be links:read, links:write or analytics:read";
    let expiry = "expires_at must be RFC3339 format";

    for (body, status, reason) in [
        (with("name", Value::Null), 400, "name is required"),
        (with("name", json!(5)), 400, "name must be a string"),
        (with("name", json!("  ")), 400, name),
        (with("scopes", json!([])), 400, scopes),
        (with("scopes", json!("links:read")), 400, "scopes must be a list of strings"),
        (with("scopes", json!(["links:read", "admin"])), 400, unknown),
        (with("expires_at", json!("tomorrow")), 400, expiry),
        (with("expires_at", json!(5)), 400, "expires_at must be a string"),
        (with("expires_at", json!(Timestamp::now())), 400, "expires_at must be in the future"),
    ] {
        assert_eq!(office.create(&body).await.problem(), (status, reason.into()), "{body}");
    }
    let full = Office::new().await;
    for _ in 0..ApiKey::MAX_PER_WORKSPACE {
        full.key(&["links:read"]).await;
    }
    let refused = full.create(&json!({"name": "CI", "scopes": ["links:read"]})).await;
    assert_eq!(refused.problem(), (409, "the workspace has 100 API keys; revoke one first".into()));
    for prefix in ["lk_live_00000000", "lk_live_", "CI", &"x".repeat(40)] {
        let answer = office.send("DELETE", &format!("{KEYS}/{prefix}"), &Value::Null).await;
        assert_eq!(answer.status, 204, "{prefix}: {}", answer.body);
    }
    assert_eq!(office.db.scan("UsersTable"), before);
}

#[tokio::test]
async fn a_key_whose_prefix_is_taken_is_regenerated_but_not_forever() {
    fn alike() -> Result<ApiKeySecret, getrandom::Error> {
        let last = char::from(b'a' + u8::try_from(getrandom::u32()? % 26).unwrap_or_default());
        Ok(ApiKeySecret::parse(&format!("lk_live_{}{last}", "a".repeat(31))).unwrap())
    }
    /// Once like the first, then anew.
    fn at_last() -> Result<ApiKeySecret, getrandom::Error> {
        static TRIES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        if TRIES.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 { alike() } else { ApiKeySecret::generate() }
    }
    let mut office = Office::new().await;
    let body = json!({"name": "CI", "scopes": ["links:read"]});

    office.account.generate_key = alike;
    assert_eq!(office.create(&body).await.status, 201);
    assert_eq!(office.create(&body).await.problem(), (503, "this could not be done right now; try again".into()));
    office.account.generate_key = at_last;
    assert_eq!(office.create(&body).await.status, 201);

    assert_eq!(office.listed().await.len(), 2);
}

#[tokio::test]
async fn a_former_admin_makes_and_revokes_no_keys_by_an_old_token() {
    let office = Office::new().await;
    let key = office.key(&["links:read"]).await;
    // A token says admin for a day; the workspace knows nobody of this name any more.
    let token = token_for(&office.ada.workspace, Role::Admin);
    let send = async |method: &str, path: &str| {
        let body = json!({"name": "CI", "scopes": ["links:read"]});
        RequestBuilder::new(method, path).token(&token).json(&body).send_to(&office.account).await.problem()
    };

    let too_low = "this needs the role member, which you don't have in this workspace";
    assert_eq!(send("POST", KEYS).await, (403, too_low.into()));
    let somebody_elses = "this belongs to someone else; only they or an admin can do it";
    assert_eq!(send("DELETE", &format!("{KEYS}/{}", key.prefix())).await, (403, somebody_elses.into()));
    assert_eq!(office.listed().await.len(), 1);
}

#[tokio::test]
async fn a_new_key_works_at_once_even_where_it_was_just_refused() {
    let office = Office::new().await;
    let list = office.environment(office.db.api_keys());
    let secret = ApiKeySecret::generate().unwrap();
    let now = Timestamp::now();

    let before = list_at(&list, secret.reveal(), now).await;
    office.db.store_key(&ApiKeyBuilder::new(&secret, &office.ada).build()).await;
    let then = list_at(&list, secret.reveal(), now).await;

    assert_eq!((before.status, then.status), (401, 200));
}

#[tokio::test]
async fn a_revoked_or_paused_key_opens_nothing_a_minute_later_wherever_it_was_held() {
    let office = Office::new().await;
    let (secret, paused) = (office.key(&["links:read"]).await, office.key(&["links:read"]).await);
    let (used, unused) = (office.environment(office.db.api_keys()), office.environment(office.db.api_keys()));
    let start = Timestamp::now();
    for held in [&secret, &paused] {
        assert_eq!(list_at(&used, held.reveal(), start).await.status, 200);
    }

    office.revoke(&secret).await;
    assert_eq!(office.patch(&paused, json!({"is_active": false})).await.status, 200);

    assert_eq!(list_at(&used, paused.reveal(), after(start, 60_001)).await.problem(), (REFUSED.0, REFUSED.1.into()));
    // Being used keeps it no longer.
    assert_eq!(list_at(&used, secret.reveal(), after(start, 59_999)).await.status, 200);
    assert_eq!(list_at(&used, secret.reveal(), after(start, 60_000)).await.problem(), (401, "unauthorized".into()));
    assert_eq!(list_at(&unused, secret.reveal(), start).await.status, 401);
    // Nor does a clock that is set back bring it back.
    assert_eq!(list_at(&used, secret.reveal(), start).await.status, 401);
}

#[tokio::test]
async fn a_key_expires_in_the_moment_even_while_it_is_held() {
    let office = Office::new().await;
    let (secret, start) = (ApiKeySecret::generate().unwrap(), Timestamp::now());
    let key = ApiKeyBuilder::new(&secret, &office.ada).expires_at(after(start, 10_000)).build();
    office.db.store_key(&key).await;
    let list = office.environment(office.db.api_keys());
    let status_after = async |millis| list_at(&list, secret.reveal(), after(start, millis)).await.status;

    assert_eq!([status_after(0).await, status_after(9_999).await, status_after(10_000).await], [200, 200, 401]);
    // Where nobody holds it, too; and it is still listed.
    let other = office.environment(office.db.api_keys());
    assert_eq!(list_at(&other, secret.reveal(), after(start, 10_000)).await.status, 401);
    assert_eq!(office.listed().await.len(), 1);
}

#[tokio::test]
async fn keys_cost_a_read_and_write_a_minute_and_malformed_ones_nothing() {
    let office = Office::new().await;
    let secret = office.key(&["links:read"]).await;
    let meter = CapacityMeter::default();
    let list = office.environment(ApiKeys(office.db.table_with(meter.clone(), "UsersTable")));
    let start = Timestamp::now();
    let spent_after = async |key: &str, millis| {
        meter.reset();
        let status = list_at(&list, key, after(start, millis)).await.status;
        (status, meter.read_units(), meter.write_units())
    };

    assert_eq!(spent_after(secret.reveal(), 0).await, (200, 1.0, 1.0));
    assert_eq!(spent_after(secret.reveal(), 59_999).await, (200, 0.0, 0.0));
    assert_eq!(spent_after(secret.reveal(), 60_000).await, (200, 1.0, 1.0));
    for malformed in ["", "lk_live_", "key", &"x".repeat(5_000), &secret.reveal()[1..]] {
        assert_eq!(spent_after(malformed, 0).await, (401, 0.0, 0.0), "{malformed}");
    }
    let unknown = ApiKeySecret::generate().unwrap();
    assert_eq!(spent_after(unknown.reveal(), 0).await, (401, 1.0, 0.0));
}

#[tokio::test]
async fn a_second_environment_notes_no_use_that_was_just_noted() {
    let office = Office::new().await;
    let secret = office.key(&["links:read"]).await;
    let start = Timestamp::now();
    let (one, meter) = (office.environment(office.db.api_keys()), CapacityMeter::default());
    let other = office.environment(ApiKeys(office.db.table_with(meter.clone(), "UsersTable")));

    list_at(&one, secret.reveal(), start).await;
    list_at(&other, secret.reveal(), after(start, 59_999)).await;
    assert_eq!((office.last_used_at(&secret).await, meter.write_units()), (Some(start), 0.0));
    list_at(&other, secret.reveal(), after(start, 119_999)).await;
    assert_eq!(office.last_used_at(&secret).await, Some(after(start, 119_999)));

    assert_eq!(office.listed().await[0]["last_used_at"], json!(after(start, 119_999)));
}

#[tokio::test]
async fn a_key_that_cannot_be_read_answers_503_unless_it_is_cached() {
    let office = Office::new().await;
    let secret = office.key(&["links:read"]).await;
    let faults = Faults::default();
    let list = office.environment(ApiKeys(office.db.table_with(faults.clone(), "UsersTable")));
    let start = Timestamp::now();

    faults.plan(Some((0, Fault::NotSent)));
    let down = list_at(&list, secret.reveal(), start).await;
    assert_eq!(down.problem(), (503, "service unavailable".into()));
    assert!(!down.body.contains("UsersTable"), "{}", down.body);
    // The look succeeds, the note of the use doesn't: nobody is kept out for that.
    faults.plan(Some((1, Fault::NotSent)));
    assert_eq!(list_at(&list, secret.reveal(), start).await.status, 200);
    assert_eq!(office.last_used_at(&secret).await, None);
    faults.plan_all((0..10).map(|call| (call, Fault::NotSent)));
    assert_eq!(list_at(&list, secret.reveal(), after(start, 59_999)).await.status, 200);
    assert_eq!(list_at(&list, secret.reveal(), after(start, 60_000)).await.status, 503);
    faults.plan(None);
    assert_eq!(list_at(&list, secret.reveal(), after(start, 60_000)).await.status, 200);

    let answer = list_at(&office.environment(ApiKeys(TestDynamoDb::unreachable_table("T"))), "lk_live_", start).await;
    assert_eq!(answer.status, 401, "what is no key needs no table");
}

#[tokio::test]
async fn an_authorization_header_counts_alone_and_a_refusal_never_says_why() {
    let office = Office::new().await;
    let list = office.environment(office.db.api_keys());
    let key = office.key(&["links:read"]).await;
    let revoked = office.key(&["links:read"]).await;
    office.revoke(&revoked).await;
    let bearer = format!("Bearer {}", office.token());
    let (key, revoked) = (key.reveal(), revoked.reveal());
    let twice = format!("{key}, {key}");
    let bearer_twice = format!("{bearer},{bearer}");
    let (key_as_bearer, revoked_as_bearer) = (format!("Bearer {key}"), format!("Bearer {revoked}"));
    let lower_case = key.to_lowercase();
    let lower_case_scheme = bearer.replacen("Bearer", "bearer", 1);

    for (what, authorization, api_key, status) in [
        ("a key", None, Some(key), 200),
        ("a token", Some(bearer.as_str()), None, 200),
        ("a token whose scheme is in lower case", Some(&lower_case_scheme), None, 200),
        ("a token and a key", Some(&bearer), Some(key), 200),
        ("a token and no real key", Some(&bearer), Some(revoked), 200),
        ("a key and a token that is none", Some("Bearer x"), Some(key), 401),
        ("a key and another scheme", Some("Basic YTpi"), Some(key), 401),
        ("a key and an empty header", Some(""), Some(key), 401),
        ("a key as a token", Some(&key_as_bearer), None, 200),
        ("a key as a token and a revoked key", Some(&key_as_bearer), Some(revoked), 200),
        ("a revoked key as a token and a key", Some(&revoked_as_bearer), Some(key), 401),
        ("a token as a key", None, Some(bearer.trim_start_matches("Bearer ")), 401),
        ("a key twice", None, Some(&twice), 401),
        ("a token twice", Some(&bearer_twice), None, 401),
        ("a token without its scheme", Some(bearer.trim_start_matches("Bearer ")), None, 401),
        ("a revoked key", None, Some(revoked), 401),
        ("a key in other letters", None, Some(&lower_case), 401),
        ("a key in quotes", None, Some(&format!("\"{key}\"")), 401),
        ("nothing", None, None, 401),
    ] {
        let mut request = RequestBuilder::new("GET", "/api/urls");
        for (name, value) in [("authorization", authorization), ("x-api-key", api_key)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let answer = request.send_to(&list).await;
        assert_eq!(answer.status, status, "{what}: {}", answer.body);
        if status == 401 {
            assert_eq!(answer.problem(), (REFUSED.0, REFUSED.1.into()), "{what}");
            assert_eq!(answer.header("www-authenticate"), "Bearer", "{what}");
        }
    }
}

#[tokio::test]
async fn a_link_of_a_key_belongs_to_who_made_the_key() {
    let office = Office::new().await;
    let shorten = shorten(&office.db);
    let secret = office.key(&["links:write"]).await;
    let body = json!({"url": "https://example.com/", "custom_code": "launch"});

    let request = RequestBuilder::new("POST", "/api/shorten").api_key(secret.reveal()).json(&body);
    request.send_to(&shorten).await.expecting(201);

    let link = office.db.link("launch").await;
    assert_eq!((link.identity.workspace, link.identity.owner), (office.ada.workspace, office.ada.id));
}

#[tokio::test]
async fn a_key_without_scopes_reads_and_writes_links_and_no_more() {
    let office = Office::new().await;

    let created = office.create(&json!({"name": "CI"})).await;

    let scopes = json!(["links:read", "links:write"]);
    assert_eq!((created.status, &created.json()["scopes"]), (201, &scopes), "{}", created.body);
}

#[tokio::test]
async fn a_key_is_renamed_paused_and_let_go_on() {
    let office = Office::new().await;
    let (secret, now) = (office.key(&["links:read"]).await, Timestamp::now());
    let patch = async |body: Value| office.patch(&secret, body).await;
    let opens = async || list_at(&office.environment(office.db.api_keys()), secret.reveal(), now).await.status;

    let renamed = patch(json!({"name": " Nightly "})).await.json();
    assert_eq!((&renamed["name"], &renamed["is_active"], opens().await), (&json!("Nightly"), &json!(true), 200));
    let paused = patch(json!({"is_active": false})).await.json();
    assert_eq!((&paused["is_active"], paused["paused_at"].is_string(), opens().await), (&json!(false), true, 401));
    let again = patch(json!({"is_active": false, "name": "Weekly"})).await.json();
    // It is paused since then.
    assert_eq!((&again["paused_at"], &again["name"]), (&paused["paused_at"], &json!("Weekly")));
    assert_eq!(office.listed().await[0], again);
    let resumed = patch(json!({"is_active": true, "name": "Daily"})).await.json();
    assert_eq!(
        (&resumed["is_active"], resumed.get("paused_at"), opens().await),
        (&json!(true), Some(&Value::Null), 200)
    );
    let stored = office.db.api_keys().find(&secret.hash()).await.unwrap().unwrap();
    assert_eq!(stored.name.as_str(), "Daily", "both rows");
}

#[tokio::test]
async fn an_invalid_change_of_a_key_is_refused_and_changes_nothing() {
    let office = Office::new().await;
    let secret = office.key(&["links:read"]).await;
    let before = office.listed().await;

    for (body, field) in [
        (json!({"is_active": "no"}), "is_active"),
        (json!({"name": "x".repeat(256)}), "name"),
        (json!({"name": 7, "is_active": false}), "name"),
        (json!({"scopes": ["links:write"], "is_active": false}), "scopes"),
        (json!({"paused_at": null}), "paused_at"),
    ] {
        assert_eq!(office.patch(&secret, body.clone()).await.problem_field(), (400, field.into()), "{body}");
    }

    assert_eq!(office.patch(&secret, json!({})).await.status, 200);
    assert_eq!(office.listed().await, before);
    office.send("PATCH", &format!("{KEYS}/lk_live_00000000"), &json!({"is_active": false})).await.expecting(404);
}
