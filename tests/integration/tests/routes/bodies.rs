//! What holds of the body of every route that takes one, by the document's list of them.

use linklet_domain::{LinkMetadata, Routing};

use crate::prelude::*;

/// Each operation that takes a body: its method and path, and itself.
fn with_bodies() -> Vec<(String, &'static Value)> {
    let contract = Contract::load();
    let operations = contract
        .routes()
        .into_iter()
        .map(|Route { method, path, .. }| (format!("{method} {path}"), contract.operation_at(&method, &path)));
    operations.filter(|(_, operation)| operation["requestBody"].is_object()).collect()
}

/// Whether an operation answers with JSON.
fn answers_with_json(operation: &Value) -> bool {
    ["200", "201"].iter().any(|status| operation["responses"][status]["content"]["application/json"].is_object())
}

/// An admin with a workspace, a link, an API key and a password.
struct Office {
    db: TestDynamoDb,
    ada: Person,
    key: String,
}

const PASSWORD: &str = "correct horse battery";

impl Office {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        db.store(&LinkBuilder::new("launch").in_workspace(&ada.workspace).owned_by(&ada.id).build()).await;
        let key = ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), &ada).build();
        db.store_key(&key).await;
        Self { db, ada, key: key.prefix.to_string() }
    }

    /// Sends a body along a route of the document, as the admin.
    async fn send(&self, route: &str, body: &Value) -> Answer {
        self.send_text(route, &body.to_string()).await
    }

    async fn send_text(&self, route: &str, body: &str) -> Answer {
        let (method, path) = route.split_once(' ').unwrap();
        let path = path.replace("{user_id}", &self.ada.id.to_string()).replace("{prefix}", &self.key);
        let path = path.replace("{code}", if route == "PUT /api/links/{code}" { "ext:launch" } else { "launch" });
        let function = Template::load().function_for(method, &path);
        let token = self.ada.token(Role::Admin);
        let request = RequestBuilder::new(method, &path).body(body);
        // Whoever has a token needs no body there.
        let request = match route {
            "POST /api/auth/verification" => request,
            "POST /api/auth/refresh" => request.cookie(&fixture::refresh_cookie(&self.db, &self.ada).await),
            _ => request.token(&token),
        };
        fixture::send(&self.db, &function, request).await
    }

    /// The body with which an operation that answers with JSON does what it is for: the document's example, if that names nothing.
    async fn accepted(&self, route: &str, operation: &Value) -> Value {
        match route {
            "POST /api/auth/register" => json!({"email": "eve@example.com", "password": PASSWORD}),
            "POST /api/auth/login" => {
                let eve = json!({"email": "eve@example.com", "password": PASSWORD});
                assert_eq!(self.send("POST /api/auth/register", &eve).await.status, 201);
                eve
            }
            "POST /api/auth/switch" | "POST /api/auth/refresh" => json!({"workspace": "ada"}),
            "PATCH /api/me" => json!({"full_name": "Ada Lovelace"}),
            "PATCH /api/workspace/members/{user_id}" => json!({"role": "admin"}),
            "POST /api/invitations/accept" | "POST /api/invitations/look" => json!({"token": self.invitation().await}),
            "PUT /api/links/{code}/rules" => json!({"rules": []}),
            _ => Contract::example(operation).clone(),
        }
    }

    /// The token of an invitation into somebody else's workspace.
    async fn invitation(&self) -> String {
        let bob = self.db.register("bob").await;
        let request = RequestBuilder::new("POST", "/api/workspace/invitations")
            .token(&bob.token(Role::Admin))
            .json(&json!({"email": self.ada.email}));
        fixture::send(&self.db, "account", request).await.text("token")
    }
}

#[tokio::test]
async fn every_json_answer_to_a_body_names_its_ignored_members() {
    // Of a job, a member that nobody knows could change what is meant, so it is refused.
    let tells = |(route, operation): &(String, &Value)| answers_with_json(operation) && route != "POST /api/jobs";
    let routes: Vec<_> = with_bodies().into_iter().filter(tells).collect();
    assert!(routes.len() >= 13, "only {} routes answer a body with JSON", routes.len());

    for (route, operation) in &routes {
        for (unknown, ignored) in [
            (json!({}), None),
            (json!({"surprise": null, "nothing": ""}), None),
            (json!({"surprise": 1, "in\u{202E}voice": {}}), Some(json!(["in\u{FFFD}voice", "surprise"]))),
        ] {
            let office = Office::new().await;
            let mut body = office.accepted(route, operation).await;
            body.as_object_mut().unwrap().extend(unknown.as_object().unwrap().clone());

            let answer = office.send(route, &body).await;

            assert!([200, 201].contains(&answer.status), "{route}: {}", answer.body);
            assert_eq!(answer.json().get("ignored"), ignored.as_ref(), "{route} with {unknown}");
        }
    }
}

#[tokio::test]
async fn a_repeated_request_is_answered_with_the_same_members_that_do_nothing() {
    let office = Office::new().await;
    let token = office.ada.token(Role::Admin);
    let body = json!({"url": "https://example.com/again", "name": "Again", "other": 1});

    for (function, path, ignored) in [
        ("shorten", "/api/shorten", ["name", "other"]),
        ("watch", "/v1/targets", ["name", "other"]),
        ("account", "/api/workspaces", ["other", "url"]),
    ] {
        let request = RequestBuilder::new("POST", path).token(&token).header("idempotency-key", "one").json(&body);
        let first = fixture::send(&office.db, function, request.clone()).await;
        let again = fixture::send(&office.db, function, request).await;

        for answer in [&first, &again] {
            assert_eq!(answer.json()["ignored"], json!(ignored), "{path}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_reused_link_names_ignored_known_members_before_unknown_ones() {
    let office = Office::new().await;
    let url = "https://example.com/reused";
    office.send("POST /api/shorten", &json!({"url": url})).await;

    let reused = office.send("POST /api/shorten", &json!({"url": url, "title": "B", "surprise": true})).await;

    assert_eq!((reused.status, &reused.json()["ignored"]), (200, &json!(["title", "surprise"])));
}

#[test]
fn the_document_has_each_property_of_links() {
    let schemas = &Contract::load().document()["components"]["schemas"];
    let properties = serde_json::to_value(LinkMetadata::default()).unwrap();
    for property in properties.as_object().unwrap().keys() {
        for schema in ["GivenLink", "Link", "LinkChange"] {
            assert!(schemas[schema]["properties"][property].is_object(), "{schema} has no {property}");
        }
    }
}

/// How many bytes an operation takes, as its description says, or else that of the document.
fn documented_limit(operation: &Value) -> usize {
    let document = Contract::load().document();
    let descriptions = [&operation["description"], &document["info"]["description"]];
    let limit_in = |text: &str| -> Option<usize> {
        let (_, rest) = text.split_once("ody has at most ")?;
        rest.split_once(" bytes")?.0.replace(',', "").parse().ok()
    };
    descriptions.into_iter().find_map(|description| limit_in(description.as_str()?)).unwrap()
}

#[tokio::test]
async fn every_route_takes_as_many_bytes_as_documented_and_no_more() {
    let office = Office::new().await;

    for (route, operation) in with_bodies() {
        let limit = documented_limit(operation);
        let of_length = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
        let (fits, is_too_long) = (of_length(limit), of_length(limit + 1));

        assert_ne!(office.send_text(&route, &fits).await.status, 413, "{route} with {limit} bytes");
        let refused = office.send_text(&route, &is_too_long).await;
        assert_eq!(refused.problem(), (413, "request body too large".into()), "{route} with more than {limit} bytes");
    }
}

/// The longest value that a schema of the document allows, in characters beyond the Basic Multilingual Plane where it allows any.
fn longest(name: &str, schema: &Value) -> Value {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => Contract::load().document().pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return longest(name, &choices[0]);
    }
    let text = |characters: u64| Value::from("\u{1F331}".repeat(usize::try_from(characters).unwrap()));
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("array") if ["rules", "variants"].contains(&name) => {
            // Both have as many bytes together as a link has room for, whatever their lists allow.
            json!([{"url": "\u{fc}".repeat(Routing::MOST_BYTES / 4)}])
        }
        Some("array") => {
            let items = schema["maxItems"].as_u64().unwrap_or(3);
            (0..items).map(|_| longest(name, &schema["items"])).collect()
        }
        Some("boolean") => json!(false),
        Some("object") if schema["properties"].is_object() => {
            let properties = schema["properties"].as_object().unwrap().iter();
            properties.map(|(name, schema)| (name.clone(), longest(name, schema))).collect()
        }
        Some("object") => json!({"key": "\u{fc}".repeat(1_019)}),
        _ if name == "email" => json!(format!("{}@{}.com", "\u{fc}".repeat(32), "x".repeat(185))),
        // 1,024 bytes.
        _ if ["password", "current", "new"].contains(&name) && schema["maxLength"] != 128 => text(256),
        _ if name == "workspace" => json!("w".repeat(63)),
        _ if ["token", "invitation"].contains(&name) => json!(format!("inv_{}", "0".repeat(32))),
        _ if schema["format"] == "date-time" => json!("2999-12-31T23:59:59.999999999999+23:59"),
        _ => match schema["maxLength"].as_u64() {
            Some(longest) => text(longest),
            None => schema["enum"][0].clone(),
        },
    }
}

/// The JSON of a value with each character of its texts as an escape.
fn escaped(value: &Value) -> String {
    let text = |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    match value {
        Value::String(characters) => format!("\"{}\"", text(characters)),
        Value::Array(items) => format!("[{}]", items.iter().map(escaped).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("\"{}\": {}", text(name), escaped(value)));
            format!("{{\n  {}\n}}", members.collect::<Vec<_>>().join(",\n  "))
        }
        plain => plain.to_string(),
    }
}

fn is_of_many(route: &str) -> bool {
    route.ends_with("/bulk") || route.ends_with("/import")
}

#[tokio::test]
async fn a_body_of_longest_escaped_members_is_never_too_large() {
    let office = Office::new().await;

    // Of many links, not all can have the longest of everything.
    for (route, operation) in with_bodies().into_iter().filter(|(route, _)| !is_of_many(route)) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let schema =
            Contract::load().document().pointer(schema["$ref"].as_str().unwrap().trim_start_matches('#')).unwrap();
        let members = schema["properties"].as_object().unwrap();
        let body: Value = members.iter().map(|(name, schema)| (name.clone(), longest(name, schema))).collect();

        let answer = office.send_text(&route, &escaped(&body)).await;

        assert_ne!(answer.status, 413, "{route} with {} bytes", escaped(&body).len());
    }
}

#[tokio::test]
async fn a_link_and_a_workspace_with_the_longest_of_everything_are_stored() {
    let office = Office::new().await;
    let many = |characters: usize| "\u{1F331}".repeat(characters);
    let tags: Vec<_> = (10..30).map(|number| format!("{}{number}", many(48))).collect();
    // 16 times 128 bytes, each of which takes an escape.
    let notes: Value = (10..26).map(|number| (format!("{number}{}", "k".repeat(38)), json!("t".repeat(88)))).collect();
    let link = json!({
        "url": format!("https://example.com/{}{}", many(500), "x".repeat(1_528)), "custom_code": "longest123", "title": many(500),
        "description": many(2_000), "tags": tags, "expires_at": "2999-12-31T23:59:59Z", "metadata": notes,
        "external_id": many(255),
    });
    let workspace = json!({"name": many(100), "settings": {"k": "\u{fc}".repeat(1_020)}});

    for (route, body) in [("POST /api/shorten", link), ("PATCH /api/workspace", workspace)] {
        let answer = office.send_text(route, &escaped(&body)).await;
        assert!([200, 201].contains(&answer.status), "{route}: {}", answer.body);
    }
    assert_eq!(office.db.link("longest123").await.metadata.tags.iter().count(), 20);
}
