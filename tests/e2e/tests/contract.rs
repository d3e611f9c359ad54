//! What holds for every route.

use crate::api::{Answer, Api, send};
use linklet_test_support::Contract;

/// Takes an address from those who have no token, and refuses a wrong token.
const SENDS_A_MAIL: &str = "/api/auth/verification";

#[tokio::test]
async fn every_deployed_route_answers_and_the_protected_ones_refuse_strangers() {
    let api = Api::new();
    // Signed with a key that is not ours, and with none at all.
    let forged = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJ1cmwtc2hvcnRlbmVyIn0.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJ1cmwtc2hvcnRlbmVyIn0.";

    for route in Contract::load().routes_with_head() {
        let part = |part: &str| if part.starts_with('{') { "nolink0".to_owned() } else { part.to_owned() };
        let path = route.path.split('/').map(part).collect::<Vec<_>>().join("/");
        for token in [None, Some(forged), Some(unsigned)] {
            let mut request = api.request(&route.method, &path).header("x-correlation-id", "walk-1");
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            let answer = send(request).await;
            let what = format!("{} {} with {token:?}: {answer:?}", route.method, route.path);
            if Contract::load().is_public(&route) && (token.is_none() || route.path != SENDS_A_MAIL) {
                assert!(![401, 403].contains(&answer.status) && answer.status < 500, "{what}");
            } else {
                let sentence = if route.method == "HEAD" { "" } else { "unauthorized" };
                assert_eq!(answer.problem(), (401, sentence.into()), "{what}");
            }
            assert_eq!(answer.header("x-correlation-id"), "walk-1", "{what}");
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_404_and_an_unknown_method_405() {
    let api = Api::new();

    for path in ["/api/nothing/here", "/a/b/c"] {
        assert_eq!(api.get(path).await.problem(), (404, "there is nothing at this address".into()), "{path}");
    }
    for (method, path, allow) in [
        ("POST", "/api/urls", "GET, HEAD"),
        ("PUT", "/health", "GET, HEAD"),
        ("DELETE", "/r/a", "GET, HEAD, POST"),
        ("GET", "/api/shorten", "POST"),
        ("POST", "/app", "GET, HEAD"),
    ] {
        let answer = send(api.request(method, path)).await;
        assert_eq!((answer.status, answer.header("allow")), (405, allow), "{method} {path}: {}", answer.body);
    }
}

#[tokio::test]
async fn the_applications_address_with_a_slash_leads_to_the_one_without() {
    // The API's document doesn't have it, so the contract isn't asked.
    let answer = Api::new().request("GET", "/app/").send().await.unwrap();

    assert_eq!((answer.status().as_u16(), answer.headers()["location"].to_str().unwrap()), (302, "../app"));
}

#[tokio::test]
async fn whoever_follows_what_is_no_link_gets_a_page() {
    let api = Api::new();

    for path in ["/r/nolink0", "/r/nolink0/", "/r/a/b", "/r/a/b/"] {
        let answer = send(api.request("GET", path).header("accept", "text/html")).await;
        assert_eq!((answer.status, answer.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
    }
}

#[tokio::test]
async fn a_path_with_line_ends_gets_our_own_answer() {
    let api = Api::new();

    for path in ["/a%0Ab", "/r/a%0Ab", "/r/a%0Ab/", "/r/%0A/%0D%0A/"] {
        let answer = api.get(path).await;
        assert_eq!(answer.problem(), (404, "not found".into()), "{path}");
    }
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_may_call_and_no_other() {
    let api = Api::new();
    let preflight = async |origin: &str| {
        let request = api.request("OPTIONS", "/api/shorten").header("origin", origin);
        send(request.header("access-control-request-method", "POST")).await
    };
    let (allowed, foreign) = ("http://localhost:5173", "https://evil.example");

    let (asked, refused) = (preflight(allowed).await, preflight(foreign).await);
    let answered = send(api.request("GET", "/health").header("origin", allowed)).await;

    assert_eq!((asked.status, asked.header("access-control-allow-origin")), (204, allowed));
    let listed = |answer: &Answer, name: &str| answer.header(name).split(',').map(str::to_owned).collect::<Vec<_>>();
    assert!(listed(&asked, "access-control-allow-methods").contains(&"POST".to_owned()), "{asked:?}");
    for header in ["authorization", "content-type", "x-api-key", "idempotency-key", "x-correlation-id"] {
        assert!(listed(&asked, "access-control-allow-headers").contains(&header.to_owned()), "{asked:?}");
    }
    assert_eq!(asked.header("access-control-allow-credentials"), "");
    assert_eq!(asked.header("x-correlation-id"), "", "a function has answered the preflight");
    assert_eq!(refused.header("access-control-allow-origin"), "");
    assert_eq!(answered.header("access-control-allow-origin"), allowed);
    for header in ["location", "retry-after", "x-ratelimit-limit", "x-ratelimit-remaining"] {
        assert!(listed(&answered, "access-control-expose-headers").contains(&header.to_owned()), "{answered:?}");
    }
}
