//! Idempotency keys where something is made: a repeated request makes nothing else, and is answered as the first, without its secret.

use linklet_jobs_api::JobsApi;

use crate::prelude::*;

const EACH: [(&str, &str); 4] = [
    ("/api/keys", "key"),
    ("/api/keys/{prefix}/rotate", "key"),
    ("/api/workspace/invitations", "token"),
    ("/api/jobs", ""),
];

/// Ada, who is an admin.
struct Office {
    db: TestDynamoDb,
    account: Account,
    jobs: JobsApi,
    ada: Person,
}

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        Self { account: account(&db), jobs: fixture::jobs_api(&db), db, ada }
    }

    async fn send(&self, path: &str, key: &str, body: &Value) -> Answer {
        let request = RequestBuilder::new("POST", path).token(&self.ada.token(Role::Admin));
        let request = request.header("idempotency-key", key).json(body);
        if path == "/api/jobs" { request.send_to(&self.jobs).await } else { request.send_to(&self.account).await }
    }

    /// The path with something that there is in it, and two bodies that it takes.
    async fn asked(&self, path: &str) -> (String, [Value; 2]) {
        let end = |hours: u64| json!({"expires_at": Timestamp::now().plus(Duration::from_secs(hours * 3_600))});
        match path {
            "/api/keys" => (path.to_owned(), [json!({"name": "CI"}), json!({"name": "Export"})]),
            "/api/workspace/invitations" => {
                let body = |name: &str| json!({"email": format!("{name}@example.com")});
                (path.to_owned(), [body("grace"), body("mary")])
            }
            "/api/jobs" => {
                let body = |kind: &str| json!({"kind": kind, "filter": {"all": true}});
                (path.to_owned(), [body("archive"), body("unarchive")])
            }
            _ => {
                let secret = ApiKeySecret::generate().unwrap();
                self.db.store_key(&ApiKeyBuilder::new(&secret, &self.ada).build()).await;
                (path.replace("{prefix}", secret.prefix().as_str()), [end(1), end(2)])
            }
        }
    }

    /// How much there is of what is made.
    fn made(&self) -> usize {
        let rows = |table: &str, prefix: &str| {
            let is_meant = |row: &Value| row["sk"]["S"].as_str().is_some_and(|sk| sk.starts_with(prefix));
            self.db.scan(table).iter().filter(|row| is_meant(row)).count()
        };
        let invitations = self.db.scan("UsersTable");
        let is_invitation = |row: &&Value| row["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("INVITATIONS#"));
        rows("UsersTable", "KEY#") + rows("JobsTable", "JOB#") + invitations.iter().filter(is_invitation).count()
    }
}

/// A body without what only the first answer shows.
fn without(answer: &Answer, secret: &str) -> Value {
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove(secret);
    body
}

#[tokio::test]
async fn a_repeated_request_makes_nothing_and_is_answered_without_the_secret() {
    for (path, secret) in EACH {
        let office = Office::new().await;
        let (path, [body, other]) = office.asked(path).await;

        let first = office.send(&path, "order-1", &body).await;
        let made = office.made();
        let again = office.send(&path, "order-1", &body).await;

        assert!([201, 202].contains(&first.status), "{path}: {}", first.body);
        assert_eq!((again.status, again.header("location")), (first.status, first.header("location")), "{path}");
        assert_eq!(again.json(), without(&first, secret), "{path}");
        assert_eq!((first.header("idempotent-replayed"), again.header("idempotent-replayed")), ("", "true"), "{path}");
        let another = office.send(&path, "order-1", &other).await;
        assert_eq!(another.problem_code(), (422, "idempotency_key_reused".into()), "{path}");
        assert_eq!(office.made(), made, "{path}");
        if !secret.is_empty() {
            let shown = first.json()[secret].as_str().unwrap().to_owned();
            let rows = office.db.scan("UsersTable");
            assert!(rows.iter().all(|row| !row.to_string().contains(&shown)), "{path} stores the secret");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_requests_with_one_key_at_once_make_one_thing() {
    for (path, secret) in EACH {
        let office = Office::new().await;
        let (path, [body, _]) = office.asked(path).await;
        let before = office.made();

        let answers = join_all((0..10).map(|_| office.send(&path, "order-1", &body))).await;

        let made: BTreeSet<_> = answers.iter().map(|answer| without(answer, secret).to_string()).collect();
        assert!(answers.iter().all(|answer| [201, 202].contains(&answer.status)), "{path}: {answers:?}");
        let first = answers.iter().filter(|answer| answer.header("idempotent-replayed").is_empty()).count();
        assert_eq!((made.len(), first, office.made() > before), (1, 1, true), "{path}");
    }
}

#[tokio::test]
async fn one_key_is_for_one_request_of_whatever_kind() {
    let office = Office::new().await;
    let (keys, [body, _]) = office.asked("/api/keys").await;
    office.send(&keys, "order-1", &body).await.expecting(201);

    for path in ["/api/keys/{prefix}/rotate", "/api/workspace/invitations"] {
        let (path, [body, _]) = office.asked(path).await;
        let refused = office.send(&path, "order-1", &body).await;
        assert_eq!(refused.problem_code(), (422, "idempotency_key_reused".into()), "{path}");
    }
}

#[tokio::test]
async fn a_refused_request_uses_up_no_key() {
    for (path, _) in EACH {
        let office = Office::new().await;
        let (path, [body, _]) = office.asked(path).await;
        let mut wrong = body.clone();
        for value in wrong.as_object_mut().unwrap().values_mut() {
            *value = json!(5);
        }

        assert_eq!(office.send(&path, "order-1", &wrong).await.status, 400, "{path}");
        assert!([201, 202].contains(&office.send(&path, "order-1", &body).await.status), "{path}");
    }
}

#[tokio::test]
async fn after_a_day_a_key_makes_another_thing() {
    for (path, secret) in [EACH[0], EACH[3]] {
        let office = Office::new().await;
        let (path, [body, _]) = office.asked(path).await;
        let first = office.send(&path, "order-1", &body).await;
        for table in ["UsersTable", "JobsTable"] {
            let rows = office.db.scan(table);
            for mut row in rows.into_iter().filter(|row| row["fingerprint"].is_object()) {
                row["ttl"]["N"] = json!(Timestamp::now().unix_seconds().to_string());
                office.db.put(table, &row);
            }
        }

        let second = office.send(&path, "order-1", &body).await;

        assert_eq!(second.header("idempotent-replayed"), "", "{path}");
        assert_ne!(without(&second, secret), without(&first, secret), "{path}");
    }
}

/// A request that nothing makes once would be sent again in vain.
#[tokio::test]
async fn a_key_where_none_is_known_is_refused_by_name() {
    let office = Office::new().await;
    let (_, auth) = (&office, auth(&office.db));
    let token = office.ada.token(Role::Admin);
    let request = |path: &str| RequestBuilder::new("POST", path).header("idempotency-key", "order-1");

    let body = json!({"email": "ada@example.com", "password": "wrong"});
    let open = request("/api/auth/login").json(&body).send_to(&auth).await;
    let known = request("/api/notifications/seen").token(&token).json(&json!({})).send_to(&office.account).await;
    let unknown = request("/api/notifications/seen").json(&json!({})).send_to(&office.account).await;

    for refused in [open, known] {
        assert_eq!(refused.problem_code(), (400, "invalid_input".into()));
        assert_eq!(refused.json()["field"], "Idempotency-Key");
    }
    assert_eq!(unknown.status, 401, "who is nobody learns nothing");
}

#[tokio::test]
async fn repeated_answers_about_links_and_targets_say_that_they_are() {
    let office = Office::new().await;
    let (shorten, watch) = (fixture::shorten(&office.db), fixture::watch(&office.db));
    let send = async |path: &str, key: &str, body: &Value| {
        let request = RequestBuilder::new("POST", path).token(&office.ada.token(Role::Admin));
        let request = request.header("idempotency-key", key).json(body);
        if path == "/v1/targets" { request.send_to(&watch).await } else { request.send_to(&shorten).await }
    };
    let url = |name: &str| json!({"url": format!("https://example.com/{name}")});
    let (one, two) = (json!({"links": [url("a")]}), json!({"links": [url("a"), url("b")]}));

    for (path, body) in [
        ("/api/shorten", &url("single")),
        ("/api/links", &url("other")),
        ("/api/links/bulk", &one),
        ("/v1/targets", &url("watched")),
    ] {
        let answers = [send(path, path, body).await, send(path, path, body).await];
        let replayed = answers.each_ref().map(|answer| answer.header("idempotent-replayed"));
        assert_eq!(replayed, ["", "true"], "{path}: {answers:?}");
    }
    // Some of it is made now.
    assert_eq!(send("/api/links/bulk", "/api/links/bulk", &two).await.header("idempotent-replayed"), "");
}
