//! The forms of an answer: tags by which it needn't be sent again, and compression.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::prelude::*;

const LINKS: &str = "/api/links";

/// Somebody with links.
struct Fixture {
    db: TestDynamoDb,
    ada: Person,
    token: String,
}

impl Fixture {
    async fn with_links(count: usize) -> Self {
        let (db, ada) = with_person("ada").await;
        for number in 0..count {
            db.store(
                &LinkBuilder::new(&format!("code{number}")).in_workspace(&ada.workspace).owned_by(&ada.id).build(),
            )
            .await;
        }
        Self { token: ada.token(Role::Admin), db, ada }
    }

    async fn send(&self, function: &str, request: RequestBuilder) -> Answer {
        fixture::send(&self.db, function, request.token(&self.token)).await
    }

    async fn list(&self, headers: &[(&str, &str)]) -> Answer {
        let request = RequestBuilder::new("GET", LINKS);
        self.send("list", headers.iter().fold(request, |request, (name, value)| request.header(name, value))).await
    }
}

fn decoded(answer: &Answer) -> String {
    let mut text = String::new();
    GzDecoder::new(answer.bytes()).read_to_string(&mut text).unwrap();
    text
}

fn has_weak_tag(answer: &Answer) -> bool {
    answer.header("etag").starts_with("W/\"")
}

#[tokio::test]
async fn whatever_is_read_as_json_is_304_for_whoever_has_it() {
    let fixture = Fixture::with_links(1).await;
    let path = |route: &Route| route.path.replace("{code}", "code0");
    let mut found = BTreeSet::new();

    for route in Contract::load().routes().iter().filter(|route| route.method == "GET") {
        let first = fixture.send(&route.function, RequestBuilder::new("GET", &path(route))).await;
        if first.status != 200 || !has_weak_tag(&first) {
            continue;
        }
        let (tag, name) = (first.header("etag"), &route.path);
        let other =
            fixture.send(&route.function, RequestBuilder::new("GET", &path(route)).header("if-none-match", "W/\"0\""));
        assert_eq!(other.await.body, first.body, "{name}");

        let again = RequestBuilder::new("GET", &path(route)).header("if-none-match", &format!("\"0\", {tag}"));
        let again = fixture.send(&route.function, again).await;

        assert_eq!((again.status, again.body.as_str(), again.header("content-type")), (304, "", ""), "{name}");
        for header in ["etag", "cache-control", "vary", "x-content-type-options"] {
            assert_eq!(again.header(header), first.header(header), "{name}: {header}");
        }
        assert_eq!(first.header("cache-control"), "private, no-cache", "{name}");
        found.insert(name.clone());
    }

    let described: BTreeSet<_> = Contract::load().document()["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, path)| {
            path["get"]["responses"]["200"]["headers"]["ETag"]["$ref"] == "#/components/headers/TagOfBody"
        })
        .map(|(path, _)| path.clone())
        .collect();
    let unfound: Vec<_> = described.difference(&found).collect();
    // There is no job, and no URL that is monitored.
    assert_eq!(unfound, ["/api/jobs/{id}", "/v1/targets/{id}", "/v1/targets/{id}/results"]);
    assert!(found.is_subset(&described), "{found:?}");
}

#[tokio::test]
async fn a_list_that_has_changed_is_sent_again() {
    let fixture = Fixture::with_links(1).await;
    let before = fixture.list(&[]).await;
    let tag = before.header("etag");
    assert_eq!(fixture.list(&[("if-none-match", tag)]).await.status, 304);
    assert_eq!(fixture.list(&[("if-none-match", "*")]).await.status, 304);

    fixture.db.store(&LinkBuilder::new("fresh").in_workspace(&fixture.ada.workspace).build()).await;

    let after = fixture.list(&[("if-none-match", tag)]).await;
    assert_eq!((after.status, after.json()["total"].as_u64()), (200, Some(2)));
    assert_ne!(after.header("etag"), tag);
}

#[tokio::test]
async fn a_links_own_tag_is_about_its_revision_and_gives_no_304() {
    let fixture = Fixture::with_links(1).await;
    let link = || RequestBuilder::new("GET", "/api/links/code0");
    let tag = fixture.send("list", link()).await.header("etag").to_owned();

    let again = fixture.send("list", link().header("if-none-match", &tag)).await;

    // Its clicks may have changed.
    assert_eq!((again.status, again.header("cache-control")), (200, "no-store"));
}

#[tokio::test]
async fn a_long_answer_is_compressed_for_those_who_take_it() {
    let fixture = Fixture::with_links(20).await;

    let plain = fixture.list(&[]).await;
    let compressed = fixture.list(&[("accept-encoding", "gzip, deflate, br")]).await;

    assert!(plain.body.len() > 8_000, "{}", plain.body.len());
    assert!(compressed.bytes().len() * 3 < plain.body.len(), "{}", compressed.bytes().len());
    assert_eq!(decoded(&compressed), plain.body);
    assert_eq!((plain.header("content-encoding"), compressed.header("content-encoding")), ("", "gzip"));
    for answer in [&plain, &compressed] {
        assert_eq!((answer.header("vary"), answer.header("etag")), ("Accept-Encoding, Origin", plain.header("etag")));
    }
    for refused in ["br", "gzip;q=0", "identity"] {
        assert_eq!(fixture.list(&[("accept-encoding", refused)]).await.body, plain.body, "{refused}");
    }
    let unchanged = [("accept-encoding", "gzip"), ("if-none-match", plain.header("etag"))];
    let unchanged = fixture.list(&unchanged).await;
    assert_eq!((unchanged.status, unchanged.bytes().len(), unchanged.header("content-encoding")), (304, 0, ""));
}

#[tokio::test]
async fn answers_under_a_kilobyte_and_problems_are_sent_as_they_are() {
    let fixture = Fixture::with_links(1).await;

    let short = fixture.list(&[("accept-encoding", "gzip")]).await;
    let problem = RequestBuilder::new("GET", "/api/links?sort=nothing").header("accept-encoding", "gzip");
    let problem = fixture.send("list", problem).await;

    assert!(short.body.len() < 1_024);
    assert_eq!((short.status, short.header("content-encoding")), (200, ""));
    assert_eq!((problem.status, problem.header("content-encoding"), problem.header("etag")), (400, "", ""));
    assert_eq!(problem.header("cache-control"), "no-store");
}

/// A body with what a route needs, and members that do nothing, which the answer names.
fn padded(mut body: Value) -> Value {
    for number in 0..20 {
        body[format!("{number:0>60}")] = json!(0);
    }
    body
}

#[tokio::test]
async fn an_answer_with_a_secret_is_never_compressed_whatever_stands_beside_it() {
    let fixture = Fixture::with_links(0).await;
    let grace = json!({"email": "grace@example.com", "password": "correct horse"});
    fixture.send("auth", RequestBuilder::new("POST", "/api/auth/register").json(&grace)).await.expecting(201);

    let cookie = fixture::refresh_cookie(&fixture.db, &fixture.ada).await;
    let mut slug = fixture.send("account", RequestBuilder::new("GET", "/api/workspace")).await.json();
    let key = fixture.send("account", RequestBuilder::new("POST", "/api/keys").json(&json!({"name": "Old"}))).await;
    let rotation = format!("/api/keys/{}/rotate", key.json()["prefix"].as_str().unwrap());
    for (function, path, body, secret) in [
        ("auth", "/api/auth/login", grace, "token"),
        ("auth", "/api/auth/switch", json!({"workspace": slug["slug"].take()}), "token"),
        ("auth", "/api/auth/refresh", json!({}), "token"),
        ("account", "/api/keys", json!({"name": "CI"}), "key"),
        ("account", &rotation, json!({}), "key"),
        ("account", "/api/workspace/invitations", json!({"email": "linus@example.com"}), "token"),
    ] {
        let request = RequestBuilder::new("POST", path).json(&padded(body)).header("accept-encoding", "gzip");
        let answer = fixture.send(function, request.cookie(&cookie)).await;

        assert!(answer.json()[secret].is_string() && answer.body.len() > 1_024, "{path}: {}", answer.body);
        assert_eq!((answer.header("content-encoding"), answer.header("vary")), ("", ""), "{path}");
    }
}

#[test]
fn the_answers_with_a_secret_are_those_that_are_tried() {
    let contract = Contract::load();
    let document = contract.document();
    let mut found = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let Some(responses) = operation["responses"].as_object() else { continue };
            for response in responses.values() {
                let schema = &response["content"]["application/json"]["schema"];
                let named = schema["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#')));
                let members = &named.unwrap_or(schema)["properties"];
                if ["token", "key", "secret", "password"].iter().any(|name| !members[name].is_null()) {
                    found.insert(format!("{} {path}", method.to_uppercase()));
                }
            }
        }
    }

    let tried = ["POST /api/auth/login", "POST /api/auth/refresh", "POST /api/auth/switch", "POST /api/keys"];
    let of_workspace = ["POST /api/keys/{prefix}/rotate", "POST /api/workspace/invitations"];
    let expected = tried.into_iter().chain(of_workspace).map(str::to_owned).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_new_link_has_its_first_revisions_etag_compressed_or_not() {
    let fixture = Fixture::with_links(0).await;
    let url = format!("https://example.com/{}", "long/".repeat(300));
    let shorten = async |body: &Value, headers: &[(&str, &str)]| {
        let request = RequestBuilder::new("POST", "/api/shorten").json(body);
        fixture.send("shorten", headers.iter().fold(request, |all, (name, value)| all.header(name, value))).await
    };
    let patch = async |tag: &str, code: &str| {
        let path = format!("/api/links/{code}");
        let request = RequestBuilder::new("PATCH", &path).json(&json!({"title": "A"})).header("if-match", tag);
        fixture.send("update", request).await
    };
    let keyed = [("idempotency-key", "first"), ("accept-encoding", "gzip")];

    let made = shorten(&json!({"url": url}), &keyed).await;
    let again = shorten(&json!({"url": url}), &keyed).await;
    let link: Value = serde_json::from_str(&decoded(&made)).unwrap();
    let code = link["short_code"].as_str().unwrap();

    assert_eq!((made.status, made.header("content-encoding")), (201, "gzip"));
    assert!(made.header("etag").ends_with("-0-gzip\""), "{}", made.header("etag"));
    assert_eq!(again.header("etag"), made.header("etag"));
    let changed = patch(made.header("etag"), code).await.expecting(200);
    let reused = shorten(&json!({"url": url, "reuse": true}), &[]).await;
    assert_eq!((reused.status, reused.header("etag")), (200, changed.header("etag")));
    assert_eq!(patch(again.header("etag"), code).await.status, 412);
}
