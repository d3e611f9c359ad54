use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use linklet_lambda::identity::{TokenIssuer, TokenVerifier};
use linklet_lambda::telemetry::chain;
use linklet_test_support::FakeSecret;

use crate::prelude::*;

fn auth(db: &TestDynamoDb) -> Auth {
    Auth::new(db.users(), tokens(), issuer(), limits(db))
}

fn start() -> (TestDynamoDb, Auth) {
    let db = TestDynamoDb::start();
    let auth = auth(&db);
    (db, auth)
}

async fn register(auth: &Auth, body: &Value) -> Answer {
    auth.post_openly("/api/auth/register", body).await
}

async fn login(auth: &Auth, body: &Value) -> Answer {
    auth.post_openly("/api/auth/login", body).await
}

fn ada() -> Value {
    json!({"email": "ada@example.com", "password": "correct horse"})
}

#[tokio::test]
async fn who_registers_can_log_in_and_is_the_admin_of_a_workspace() {
    let (_, auth) = start();

    let registered = register(&auth, &json!({"email": " Ada@Example.com ", "password": "correct horse"})).await;
    let logged_in = login(&auth, &ada()).await;
    let myself = auth.me(logged_in.json()["token"].as_str().unwrap()).await;

    assert_eq!((registered.status, logged_in.status, myself.status), (201, 200, 200));
    let (registered, myself) = (registered.json(), myself.json());
    assert_eq!(registered["email"], "ada@example.com");
    let expected = json!({
        "user_id": registered["user_id"], "email": "ada@example.com", "pending_email": null, "pending_until": null,
        "full_name": null, "verified": false, "undeliverable": false, "last_login_at": myself["last_login_at"],
        "updated_at": myself["updated_at"], "workspace_id": registered["workspace_id"], "role": "admin",
    });
    assert_eq!(myself, expected);
}

#[tokio::test]
async fn an_account_shows_its_last_login_and_its_last_change() {
    let (_, auth) = start();
    let person = person_of(&register(&auth, &ada()).await);
    let seen = async |token: &str| {
        let me = auth.me(token).await.json();
        (me["last_login_at"].clone(), me["updated_at"].clone())
    };
    let (_, created) = seen(&person.token(Role::Admin)).await;
    let at = Timestamp::now().plus(Duration::from_secs(2));

    let token = RequestBuilder::new("POST", "/api/auth/login").json(&ada()).at(at).send_to(&auth).await.text("token");
    assert_eq!(seen(&token).await, (json!(at), created.clone()), "a login changes nothing about the account");

    let body = json!({"current": "correct horse", "new": "another horse battery"});
    auth.post("/api/auth/password", &token, &body).await.expecting(204);
    assert!(seen(&token).await.1.as_str() > created.as_str());
}

/// What is only for information must not keep anybody out.
#[tokio::test]
async fn a_login_whose_time_cannot_be_noted_succeeds() {
    let db = TestDynamoDb::start();
    let (users, faults): (_, Faults) = db.users_through();
    let auth = Auth::new(users, tokens(), issuer(), limits(&db));
    let registered = register(&auth, &ada()).await.json();
    let user = UserId::parse(registered["user_id"].as_str().unwrap()).unwrap();
    let noted = async || db.users().profile(&user, Timestamp::now()).await.unwrap().unwrap().last_login_at;
    // A login's calls come in the same order, and the last one notes the time.
    faults.plan(None);
    login(&auth, &ada()).await;
    let (calls, before) = (faults.calls(), noted().await);
    faults.plan_all((calls - 1..calls + 10).map(|call| (call, Fault::Throttled)));

    login(&auth, &ada()).await.expecting(200);

    assert!(before.is_some());
    assert_eq!(noted().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_registrations_at_once_one_wins_and_leaves_one_workspace() {
    let (db, auth) = start();

    let spellings = [ada(), json!({"email": "ADA@example.com", "password": "another one"})];
    let answers = futures_util::future::join_all((0..10).map(|number| register(&auth, &spellings[number % 2]))).await;

    let (won, lost): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert_eq!((won.len(), lost.len()), (1, 9));
    assert!(lost.iter().all(|answer| answer.problem() == (409, "email already registered".into())), "{lost:?}");
    let workspaces = db.scan("UsersTable").iter().filter(|item| item["sk"]["S"] == "WS").count();
    assert_eq!(workspaces, 1);
}

#[tokio::test]
async fn each_refusal_of_a_registration_gives_its_reason() {
    let (db, auth) = start();
    let with = |member: &str, value: &str| {
        let mut body = ada();
        body[member] = json!(value);
        body
    };
    let cases = [
        (json!({"password": "correct horse"}), "email is required"),
        (json!({"email": 5, "password": "correct horse"}), "email must be a string"),
        (json!({"email": "ada", "password": "correct horse"}), "email format is invalid"),
        (json!({"email": "ada@example.com"}), "password is required"),
        (json!({"email": "ada@example.com", "password": "1234567"}), "password must be at least 8 characters"),
        (json!({"email": "ada@example.com", "password": ["x"]}), "password must be a string"),
        (json!({"email": "ada.king@example.com", "password": "Ada.King"}), "password must not be the email address"),
        (with("full_name", &"x".repeat(256)), "full_name must have at most 255 characters"),
        (with("workspace_name", " "), "workspace_name must have 1–255 characters"),
    ];

    for (body, reason) in cases {
        assert_eq!(register(&auth, &body).await.problem(), (400, reason.into()), "{body}");
    }
    assert!(db.scan("UsersTable").is_empty());
}

/// How long a busy machine takes says nothing, but no answer may come before its step has passed, however soon it is known.
#[tokio::test]
async fn every_failed_login_gets_the_same_answer_after_half_a_second() {
    const STEP: Duration = Duration::from_millis(500);
    let (db, auth) = start();
    register_by_bcrypt(&db).await;
    register(&auth, &json!({"email": "bob@example.com", "password": "correct horse"})).await;
    let wrong = |email: &str| json!({"email": email, "password": "wrong horse"});
    // Only the workspace is wrong. If that were quicker, it would tell that the password is right.
    let elsewhere = json!({"email": "bob@example.com", "password": "correct horse", "workspace": "nobodys"});
    let mut bodies = BTreeSet::new();

    for login in ["ada", "bob", "nobody"]
        .map(|who| wrong(&format!("{who}@example.com")))
        .into_iter()
        .chain([wrong("no address"), elsewhere])
    {
        let (started, request) = (Instant::now(), RequestBuilder::new("POST", "/api/auth/login").json(&login));
        let answer = request.header("x-correlation-id", "same").send_to(&auth).await;

        assert_eq!(answer.problem(), (401, "invalid credentials".into()), "{login}");
        assert!(started.elapsed() >= STEP, "{login} after {:?}", started.elapsed());
        bodies.insert(answer.body);
    }
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

/// Registers Ada with a hash by bcrypt.
async fn register_by_bcrypt(db: &TestDynamoDb) {
    let hash = bcrypt::hash("correct horse", 4).unwrap();
    db.users().replace_password_hash(&db.register("ada").await.id, "none", &hash).await.unwrap();
}

#[tokio::test]
async fn a_bcrypt_hash_works_once_more_and_is_replaced_by_argon2() {
    let (db, auth) = start();
    register_by_bcrypt(&db).await;

    let refused = login(&auth, &json!({"email": "ada@example.com", "password": "wrong horse"})).await;
    let first = login(&auth, &ada()).await;
    let second = login(&auth, &ada()).await;

    assert_eq!((refused.status, first.status, second.status), (401, 200, 200));
    let (account, _) = db.users().find_by_email(&"ada@example.com".parse().unwrap()).await.unwrap().unwrap();
    assert!(account.password_hash.unwrap().starts_with("$argon2id$"));
}

fn claims_of(user: &UserId) -> Value {
    let now = Timestamp::now().unix_seconds();
    json!({
        "iss": "url-shortener", "sub": user, "email": "ada@example.com", "ws": WorkspaceId::generate(),
        "role": "admin", "iat": now, "exp": now + 86_400, "jti": SessionId::generate(),
    })
}

fn signed(claims: &Value, algorithm: Algorithm, secret: &str) -> String {
    jsonwebtoken::encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(secret.as_bytes())).unwrap()
}

#[tokio::test]
async fn only_an_intact_current_token_of_ours_is_accepted() {
    let (db, auth) = start();
    let ada = db.register("ada").await;
    let claims = || claims_of(&ada.id);
    let with = |member: &str, value: Value| {
        let mut claims = claims();
        claims[member] = value;
        claims
    };
    let without = |member: &str| {
        let mut claims = claims();
        claims.as_object_mut().unwrap().remove(member);
        claims
    };
    let ours = |claims: &Value| signed(claims, Algorithm::HS256, TOKEN_SECRET);
    let unsigned = {
        let token = ours(&claims());
        let payload = token.split('.').nth(1).unwrap();
        // {"alg":"none","typ":"JWT"}
        format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.")
    };
    let refused = [
        ("another key", signed(&claims(), Algorithm::HS256, &"x".repeat(40))),
        ("another algorithm", signed(&claims(), Algorithm::HS384, TOKEN_SECRET)),
        ("no algorithm", unsigned),
        ("another issuer", ours(&with("iss", json!("someone-else")))),
        ("expired", ours(&with("exp", json!(Timestamp::now().unix_seconds() - 1)))),
        ("no subject", ours(&with("sub", Value::Null))),
        ("a role in no workspace", ours(&with("ws", Value::Null))),
        ("a workspace without a role", ours(&with("role", Value::Null))),
        ("nothing about a workspace", ours(&without("ws"))),
        ("an unknown role", ours(&with("role", json!("owner")))),
        ("no expiry", ours(&with("exp", Value::Null))),
        ("no session", ours(&with("jti", Value::Null))),
        ("no token at all", String::new()),
    ];

    assert_eq!(auth.me(&ours(&claims())).await.status, 200);
    for (what, token) in refused {
        let answer = auth.me(&token).await;
        assert_eq!(answer.problem(), (401, "unauthorized".into()), "{what}");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    assert_eq!(auth.get_openly("/api/me").await.status, 401);
    RequestBuilder::new("GET", "/api/me").header("authorization", "Basic YTpi").send_to(&auth).await.expecting(401);
}

#[tokio::test]
async fn a_rotation_of_the_secret_ends_no_session_and_needs_no_restart() {
    let secret = FakeSecret::start(&"first".repeat(8));
    let db = TestDynamoDb::start();
    let warm = async |interval| {
        let mut tokens = TokenVerifier::load(&secret.client(), "secret").await.unwrap();
        tokens.reload_interval = interval;
        Auth::new(db.users(), tokens, issuer(), limits(&db))
    };
    let (reloading, waiting) = (warm(Duration::ZERO).await, warm(Duration::from_secs(3_600)).await);
    let ada = db.register("ada").await;
    let claims = || claims_of(&ada.id);
    let old = signed(&claims(), Algorithm::HS256, &"first".repeat(8));

    secret.rotate(&"second".repeat(8));
    let new = signed(&claims(), Algorithm::HS256, &"second".repeat(8));

    // It was started before the rotation, and may not ask again yet.
    assert_eq!((waiting.me(&old).await.status, waiting.me(&new).await.status), (200, 401));
    assert_eq!((reloading.me(&new).await.status, reloading.me(&old).await.status), (200, 200));
    // Started after it.
    let fresh = warm(Duration::ZERO).await;
    assert_eq!((fresh.me(&new).await.status, fresh.me(&old).await.status), (200, 200));
    let forged = signed(&claims(), Algorithm::HS256, &"third".repeat(8));
    assert_eq!(fresh.me(&forged).await.status, 401);
}

#[tokio::test]
async fn five_minutes_after_a_rotation_every_environment_knows_of_it() {
    let (db, secret) = (TestDynamoDb::start(), FakeSecret::start(&"first".repeat(8)));
    let auth = Auth::new(
        db.users(),
        TokenVerifier::load(&secret.client(), "secret").await.unwrap(),
        TokenIssuer::load(&secret.client(), "secret").await.unwrap(),
        limits(&db),
    );
    register(&auth, &ada()).await;
    let log_in = async |time| {
        RequestBuilder::new("POST", "/api/auth/login").json(&ada()).at(time).send_to(&auth).await.text("token")
    };
    let me_at = async |token: &str, time| {
        RequestBuilder::new("GET", "/api/me").token(token).at(time).send_to(&auth).await.status
    };
    let now = Timestamp::now();
    let leaked = log_in(now).await;

    // Twice, so that the leaked one is not the previous one either.
    secret.rotate(&"second".repeat(8));
    secret.rotate(&"third".repeat(8));

    let five_minutes_later = now.plus(Duration::from_secs(301));
    assert_eq!(me_at(&leaked, now.plus(Duration::from_secs(200))).await, 200);
    assert_eq!(me_at(&leaked, five_minutes_later).await, 401);
    let renewed = log_in(five_minutes_later).await;
    assert_eq!(me_at(&renewed, five_minutes_later).await, 200);
    let third = DecodingKey::from_secret("third".repeat(8).as_bytes());
    let validation = Validation::new(Algorithm::HS256);
    assert!(jsonwebtoken::decode::<Value>(&renewed, &third, &validation).is_ok());
}

#[tokio::test]
async fn nobody_signs_with_a_secret_that_others_may_not_look_up_yet() {
    let (secret, rotated) = (FakeSecret::start(&"first".repeat(8)), Timestamp::now());
    let db = TestDynamoDb::start();
    let verifier = TokenVerifier::load(&secret.client(), "secret").await.unwrap();
    let issuer = TokenIssuer::load(&secret.client(), "secret").await.unwrap();
    let auth = Auth::new(db.users(), verifier, issuer, limits(&db));
    register(&auth, &ada()).await;
    secret.rotate_at(&"second".repeat(8), rotated.plus(Duration::from_secs(301)));

    let signed_with = async |after| {
        let at = rotated.plus(Duration::from_secs(after));
        let token =
            RequestBuilder::new("POST", "/api/auth/login").json(&ada()).at(at).send_to(&auth).await.text("token");
        let is_by = |secret: &&str| {
            let key = DecodingKey::from_secret(secret.repeat(8).as_bytes());
            jsonwebtoken::decode::<Value>(&token, &key, &Validation::new(Algorithm::HS256)).is_ok()
        };
        ["first", "second"].into_iter().find(is_by).unwrap()
    };

    // Each is the first that the environment signs after it has read the secret again.
    assert_eq!((signed_with(310).await, signed_with(620).await), ("first", "second"));
}

#[tokio::test]
async fn a_secret_that_can_be_guessed_is_refused_at_start() {
    let secret = FakeSecret::start("too short");

    let refused = TokenVerifier::load(&secret.client(), "secret").await.err().unwrap();

    assert_eq!(chain(&refused), "the token secret is too weak: the token secret must have at least 32 bytes");
}
