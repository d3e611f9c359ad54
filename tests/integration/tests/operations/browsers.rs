//! What browsers may do on behalf of web applications of other origins (CORS). API Gateway answers preflights by itself where no
//! route takes OPTIONS, and adds its headers to the answers of functions.

use std::collections::BTreeSet;

use linklet_test_support::{Answer, Contract, RequestBuilder, Template, TestDynamoDb};
use serde_json::{Value, json};

use crate::fixture::{list, redirect, web};

fn texts(value: &Value) -> BTreeSet<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// What the API has if there are origins.
fn rules(template: &Template) -> &Value {
    let choice = &template.properties("HttpApi")["CorsConfiguration"];
    assert_eq!((&choice[0], &choice[2]), (&json!("AllowsOrigins"), &json!("AWS::NoValue")));
    &choice[1]
}

#[test]
fn no_origin_is_allowed_unless_one_is_named() {
    let template = Template::load();

    assert_eq!(template.parameters()["CorsOrigins"]["Default"], "");
    assert_eq!(template.conditions()["AllowsOrigins"], json!([[["", "CorsOrigins"], ""]]));
    assert_eq!(rules(template)["AllowOrigins"], "CorsOrigins");
}

#[test]
fn an_application_may_use_the_methods_of_all_routes_and_no_others() {
    let template = Template::load();
    let routes = Contract::load().routes_with_head();
    let methods: BTreeSet<_> = routes.iter().map(|route| route.method.as_str()).collect();

    assert_eq!(texts(&rules(template)["AllowMethods"]), methods);
    assert!(!methods.contains("OPTIONS"), "no page has a use for it");
}

#[test]
fn an_application_may_send_credentials_in_headers_and_no_cookies() {
    let rules = rules(Template::load());

    let sent = texts(&rules["AllowHeaders"]);
    for header in [
        "authorization",
        "content-type",
        "x-api-key",
        "idempotency-key",
        "x-correlation-id",
        "if-match",
        "if-none-match",
    ] {
        assert!(sent.contains(header), "{header}");
    }
    assert_eq!(rules.get("AllowCredentials"), None);
}

#[test]
fn an_application_can_read_what_answers_say_in_headers() {
    let rules = rules(Template::load());

    let expected = [
        "content-disposition",
        "etag",
        "idempotent-replayed",
        "link",
        "location",
        "retry-after",
        "x-correlation-id",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    assert_eq!(texts(&rules["ExposeHeaders"]), expected.into());
}

/// The answer to a request that only a preflight's headers may tell from any other.
async fn options(path: &str, headers: &[(&str, &str)]) -> [Answer; 3] {
    let db = TestDynamoDb::start();
    let request = || {
        let request = RequestBuilder::new("OPTIONS", path).outside_the_contract();
        headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    };
    [request().send_to(&list(&db)).await, request().send_to(&web()).await, request().send_to(&redirect(&db)).await]
}

#[tokio::test]
async fn a_preflight_that_reaches_a_function_succeeds_without_a_token() {
    let asked = [("origin", "https://app.example.com"), ("access-control-request-method", "GET")];

    for path in ["/api/links", "/api/links/launch", "/api/unknown/path", "/launch", "/r/launch/"] {
        for answer in options(path, &asked).await {
            assert_eq!((answer.status, answer.body.as_str()), (204, ""), "{path}");
        }
        for answer in options(path, &asked[..1]).await {
            let code = if path == "/api/unknown/path" { "route_unknown" } else { "method_not_allowed" };
            assert_eq!(answer.json()["code"], code, "{path}");
        }
    }
}
