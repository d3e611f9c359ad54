//! Creating and changing links by the ids of other systems.

use std::collections::BTreeSet;

use linklet_domain::Revision;

use crate::prelude::*;

const ORDER: &str = "/api/links/ext:order-17";

struct Fixture {
    db: TestDynamoDb,
    ada: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        Self { db, ada }
    }

    fn update(&self) -> Update {
        Update { authenticator: authenticator(), ..fixture::update(&self.db) }
    }

    fn request(&self, path: &str, body: &Value) -> RequestBuilder {
        RequestBuilder::new("PUT", path).token(&self.ada.token(Role::Member)).json(body)
    }

    async fn put(&self, body: Value) -> Answer {
        self.request(ORDER, &body).send_to(&self.update()).await
    }

    fn stored_links(&self) -> usize {
        self.db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "LINK").count()
    }
}

#[tokio::test]
async fn an_id_without_a_link_gets_one_and_the_next_put_changes_it() {
    let fixture = Fixture::new().await;

    let new = json!({"url": "https://example.com/a", "title": "Order", "tags": ["orders"], "password": "open sesame", "max_clicks": 3});
    let created = fixture.put(new.clone()).await;
    let (again, changed) = (fixture.put(new).await, fixture.put(json!({"title": "Paid", "max_clicks": null})).await);

    let code = created.text("short_code");
    assert_eq!((created.status, created.header("location")), (201, &*code));
    assert_eq!((&created.json()["external_id"], &created.json()["total_clicks"]), (&json!("order-17"), &json!(0)));
    assert_eq!((again.status, again.text("short_code")), (200, code.clone()));
    let shown = changed.json();
    assert_eq!((changed.status, &shown["title"], &shown["max_clicks"]), (200, &json!("Paid"), &json!(null)));
    assert_eq!((&shown["tags"], &shown["is_protected"]), (&json!(["orders"]), &json!(true)), "absent members stay");
    assert_eq!(shown["original_url"], "https://example.com/a");
    assert_eq!(fixture.stored_links(), 1);
}

#[tokio::test]
async fn a_repeated_put_writes_nothing() {
    let fixture = Fixture::new().await;
    let body = json!({"url": "https://example.com/a", "tags": ["orders"], "expires_at": "2126-01-01T00:00:00Z", "watch": true});
    let created = fixture.put(body.clone()).await.expecting(201);
    let before = fixture.db.scan("LinksTable");

    let again = fixture.put(body).await.expecting(200);

    assert_eq!(again.header("etag"), created.header("etag"));
    assert_eq!(fixture.db.scan("LinksTable"), before);
}

#[tokio::test]
async fn a_new_link_is_as_its_body_says_and_never_one_that_there_is() {
    let fixture = Fixture::new().await;
    let url = json!({"url": "https://example.com/a"});
    let post = RequestBuilder::new("POST", "/api/shorten").token(&fixture.ada.token(Role::Member)).json(&url);
    let there = fixture::send(&fixture.db, "shorten", post).await.text("short_code");

    let rules = json!([{"url": "https://example.com/fr", "conditions": [{"type": "language", "value": "fr"}]}]);
    let body = json!({"url": "https://example.com/a", "custom_code": "orders", "rules": rules, "is_active": false,
                      "archived": true, "reuse": true});
    let created = fixture.put(body).await;

    let shown = created.json();
    assert_eq!((created.status, &shown["short_code"]), (201, &json!("orders")));
    assert_ne!(there, "orders");
    assert_eq!(
        (&shown["has_rules"], &shown["status"], &shown["archived"]),
        (&json!(true), &json!("inactive"), &json!(true))
    );
    assert_eq!(fixture.db.link("orders").await.revision, Revision::FIRST, "it was never switched on");
    assert_eq!(fixture.put(json!({"rules": []})).await.json()["has_rules"], false);
}

#[tokio::test]
async fn what_a_put_cannot_mean_is_refused_and_changes_nothing() {
    let fixture = Fixture::new().await;
    let cases = [
        (ORDER, json!({"title": "No URL"}), "url is required"),
        (
            ORDER,
            json!({"url": "https://example.com", "external_id": "order-18"}),
            "external_id must be the one in the path",
        ),
        (
            ORDER,
            json!({"url": "https://example.com", "custom_code": "x"}),
            "custom_code must have 4–20 characters of 0-9, A-Z, a-z, - and _, with a letter or digit at both ends",
        ),
        (
            "/api/links/launch",
            json!({"url": "https://example.com"}),
            "PUT needs ext: and an external id in the path, such as ext:order-17; PATCH changes a link by its code",
        ),
        (
            "/api/links/ext:a%20b",
            json!({"url": "https://example.com"}),
            "an external id in a path has 0-9, A-Z, a-z, ., _, ~ and - only",
        ),
    ];
    for (path, body, reason) in cases {
        let refused = fixture.request(path, &body).send_to(&fixture.update()).await;
        assert_eq!(refused.problem(), (400, reason.into()), "{path} {body}");
    }
    let demanding = fixture.request(ORDER, &json!({"url": "https://example.com"})).header("if-match", "\"a-1\"");
    assert_eq!(demanding.send_to(&fixture.update()).await.status, 412, "there is nothing to match");
    assert_eq!(fixture.stored_links(), 0);

    fixture.put(json!({"url": "https://example.com", "custom_code": "orders"})).await.expecting(201);
    let renamed = fixture.put(json!({"title": "T", "custom_code": "Orders"})).await;
    assert_eq!(renamed.problem(), (400, "the code of a link never changes; create another link".into()));
    let elsewhere = fixture.put(json!({"url": "https://example.com/b", "custom_code": "orders"})).await;
    assert_eq!(elsewhere.problem_code().1, "destination_fixed");
}

#[tokio::test]
async fn a_code_that_another_link_has_is_409() {
    let fixture = Fixture::new().await;
    fixture.db.store(&LinkBuilder::new("orders").build()).await;

    let refused = fixture.put(json!({"url": "https://example.com", "custom_code": "orders"})).await;

    assert_eq!(refused.problem_code(), (409, "short_code_taken".into()));
}

#[tokio::test]
async fn the_link_of_somebody_else_is_403_and_a_deleted_one_410() {
    let fixture = Fixture::new().await;
    let body = json!({"url": "https://example.com"});
    let code = fixture.put(body.clone()).await.text("short_code");
    let other = token_of(&UserId::generate(), &fixture.ada.workspace, Role::Member);

    let refused = RequestBuilder::new("PUT", ORDER).token(&other).json(&body).send_to(&fixture.update()).await;
    let delete = RequestBuilder::new("DELETE", &format!("/api/urls/{code}")).token(&fixture.ada.token(Role::Member));
    fixture::send(&fixture.db, "delete", delete).await.expecting(204);

    assert_eq!(refused.problem_code(), (403, "forbidden".into()));
    assert_eq!(fixture.put(body).await.problem_code(), (410, "link_deleted".into()));
}

#[tokio::test]
async fn an_id_whose_link_was_purged_gets_another_one() {
    let fixture = Fixture::new().await;
    let body = json!({"url": "https://example.com"});
    let first = fixture.put(body.clone()).await.text("short_code");
    let purge = RequestBuilder::new("DELETE", ORDER).token(&fixture.ada.token(Role::Member));
    fixture::send(&fixture.db, "delete", purge).await.expecting(204);

    let second = fixture.put(body).await;

    assert_eq!(second.status, 201);
    assert_ne!(second.text("short_code"), first);
}

#[tokio::test]
async fn concurrent_puts_of_an_id_make_one_link() {
    let fixture = Fixture::new().await;
    let update = fixture.update();
    for custom_code in [json!(null), json!("orders")] {
        let path = format!("/api/links/ext:{custom_code}").replace('"', "");
        let body = json!({"url": "https://example.com", "custom_code": custom_code});

        let answers = join_all((0..8).map(|_| fixture.request(&path, &body).send_to(&update))).await;

        let codes: BTreeSet<_> = answers.iter().map(|answer| answer.text("short_code")).collect();
        let created = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!((codes.len(), created), (1, 1), "{answers:?}");
    }
    assert_eq!(fixture.stored_links(), 2);
}

#[tokio::test]
async fn only_new_links_count_towards_the_limit() {
    let fixture = Fixture::new().await;
    let update = Update { throttle: fixture::throttle(fixture.db.calls(), 1, 1), ..fixture.update() };
    let put = async |id: u8| {
        let path = format!("/api/links/ext:order-{id}");
        fixture.request(&path, &json!({"url": "https://example.com"})).send_to(&update).await.status
    };

    assert_eq!([put(1).await, put(1).await, put(2).await], [201, 200, 429]);
}
