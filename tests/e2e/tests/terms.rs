//! Links with limits, passwords, rules and other destinations, through the deployed template.

use serde_json::{Value, json};

use crate::api::{Answer, User, eventually, send, signed_up};
use crate::stack::exactly;

async fn shorten(user: &User, body: Value) -> String {
    send(user.request("POST", "/api/shorten").json(&body)).await.text("short_code")
}

async fn patch(user: &User, code: &str, body: Value) -> Answer {
    send(user.request("PATCH", &format!("/api/links/{code}")).json(&body)).await
}

#[tokio::test]
async fn a_password_opens_a_link_by_the_form_of_its_page() {
    let (api, ada) = signed_up().await;
    let code = shorten(&ada, json!({"url": "https://example.com/secret", "password": "öffne dich"})).await;
    let path = format!("/{code}");
    let form = async |password: &str| {
        let request = api.request("POST", &path).header("accept", "text/html");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let fields = url::form_urlencoded::Serializer::new(String::new()).append_pair("password", password).finish();
        send(request.body(fields)).await
    };

    let page = send(api.request("GET", &path).header("accept", "text/html")).await;
    assert!(page.status == 403 && page.body.contains("<form method=\"post\">"), "{page:?}");
    assert_eq!(form("offne dich").await.status, 403);
    let led = form("öffne dich").await;

    assert_eq!((led.status, led.header("location")), (303, "https://example.com/secret"));
    let clicks = async || api.get(&format!("/api/stats/{code}")).await.json()["total_clicks"].clone();
    exactly("the click is counted", json!(1), clicks).await;
}

#[tokio::test]
async fn a_link_leads_elsewhere_by_rules_and_when_its_workspace_allows_it() {
    let (api, ada) = signed_up().await;
    let code = shorten(&ada, json!({"url": "https://example.com/old", "custom_code": unique("Spring-26_")})).await;
    let location = async |path: String| api.get(&path).await.header("location").to_owned();

    assert_eq!(patch(&ada, &code, json!({"url": "https://example.com/new"})).await.status, 403);
    let editable = send(ada.request("PATCH", "/api/workspace").json(&json!({"destinations": "editable"}))).await;
    assert_eq!(editable.json()["destinations"], json!("editable"));
    assert_eq!(patch(&ada, &code, json!({"url": "https://example.com/new"})).await.status, 200);
    let rules = json!({"rules": [{"name": "by mail", "url": "https://example.com/mail", "conditions": [
        {"type": "query-param", "key": "from", "value": "mail"}]}]});
    assert_eq!(send(ada.request("PUT", &format!("/api/links/{code}/rules")).json(&rules)).await.status, 200);

    let by_rule = async || location(format!("/{code}?from=mail")).await;
    eventually("the rule decides", "https://example.com/mail".to_owned(), by_rule).await;
    // In whichever case somebody has typed it.
    let other = async || location(format!("/{}", code.to_uppercase())).await;
    eventually("the new destination is followed", "https://example.com/new".to_owned(), other).await;
    let history = ada.get(&format!("/api/links/{code}/history")).await.json();
    assert_eq!(history["history"].as_array().map(Vec::len), Some(2), "{history}");
    let destinations = async || {
        let stats = ada.get(&format!("/api/stats/{code}")).await.json();
        stats["destinations"].as_array().is_some_and(|all| all.iter().any(|one| one["destination"] == "by mail"))
    };
    eventually("statistics tell the destinations", true, destinations).await;
}

/// A code that nobody has taken.
fn unique(beginning: &str) -> String {
    format!("{beginning}{}", &uuid::Uuid::new_v4().simple().to_string()[..8])
}
