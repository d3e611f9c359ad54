use base64::{Engine as _, engine::general_purpose::STANDARD};
use linklet_lambda::{http::Edge, limiter::Limiter};
use sha2::{Digest as _, Sha256};

use crate::prelude::*;

fn redirect(links: LinksTable, clicks: ClicksTable) -> Redirect {
    fixture::redirect_with(links, clicks, ThrottleTable::new(TestDynamoDb::unreachable_table("ThrottleTable")))
}

async fn serving(link: LinkBuilder) -> (TestDynamoDb, Redirect) {
    let (db, _) = with_link(link).await;
    let redirect = fixture::redirect(&db);
    (db, redirect)
}

/// The stored clicks, newest first.
async fn clicks(db: &TestDynamoDb) -> Vec<Click> {
    db.clicks().latest(&link_id("launch"), 100).await.unwrap()
}

async fn get(redirect: &Redirect, path: &str) -> Answer {
    redirect.get_openly(path).await
}

/// Without the query of the short URL: its QR code says `qr=1`, and others are for who reads logs, too.
#[tokio::test]
async fn a_link_leads_to_its_target_under_both_paths() {
    let (_db, redirect) = serving(LinkBuilder::new("launch").to("https://example.com/a?b=C#d")).await;

    for path in ["/r/launch", "/launch", "/r/launch?qr=1", "/launch?qr=1", "/launch?utm_source=mail"] {
        let answer = get(&redirect, path).await;

        let headers = ["location", "cache-control", "x-robots-tag", "referrer-policy"].map(|name| answer.header(name));
        assert_eq!(headers, ["https://example.com/a?b=C#d", "private, max-age=90", "noindex", ""], "{path}");
        assert_eq!((answer.status, answer.body.as_str()), (301, ""));
    }
}

#[tokio::test]
async fn a_link_keeps_its_code_when_the_word_is_reserved() {
    let (_db, redirect) = serving(LinkBuilder::new("Support")).await;

    assert_eq!(get(&redirect, "/Support").await.status, 301);
}

#[tokio::test]
async fn a_get_is_a_click_and_a_head_is_not() {
    let (db, redirect) = serving(LinkBuilder::new("launch")).await;

    let head = RequestBuilder::new("HEAD", "/r/launch").send_to(&redirect).await;
    assert_eq!((head.status, head.header("location")), (fixture::REDIRECT, "https://example.com/landing"));
    assert!(db.scan("ClicksTable").is_empty());

    get(&redirect, "/r/launch").await;
    assert_eq!(db.scan("ClicksTable").len(), 1);
}

#[tokio::test]
async fn a_click_keeps_what_statistics_need_and_no_address() {
    let (db, redirect) = serving(LinkBuilder::new("launch")).await;

    RequestBuilder::new("GET", "/launch")
        .header("user-agent", &"ü".repeat(400))
        .header("referer", &format!("https://news.example/{}", "x".repeat(2_000)))
        .header("x-forwarded-for", "198.51.100.7")
        .header("x-correlation-id", "req-42")
        .source_ip("203.0.113.77")
        .send_to(&redirect)
        .await;

    let click = clicks(&db).await.remove(0);
    assert_eq!(click.visitor.user_agent.len(), 512);
    // The referrer's end went, so that the whole is one write unit.
    assert!(click.visitor.referer.unwrap().starts_with("https://news.example/xxx"));
    assert_eq!(click.correlation_id.as_str(), "req-42");
    assert_eq!(click.visitor.ip_hash, IpHash::of("203.0.113.77", &salt()));
    let stored = db.scan("ClicksTable").remove(0);
    for address in ["203.0.113.77", "198.51.100.7"] {
        assert!(!stored.to_string().contains(address), "{stored}");
    }
}

#[tokio::test]
async fn a_redirect_costs_half_a_read_unit_and_one_write_unit() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let meter = CapacityMeter::default();
    let table = |name: &str| db.table_with(meter.clone(), name);
    let redirect = redirect(LinksTable(table("LinksTable")), ClicksTable::new(table("ClicksTable")));

    for (agent, referer) in [(120, 60), (512, 1_024), (5_000, 5_000), (0, 0)] {
        meter.reset();
        RequestBuilder::new("GET", "/launch")
            .header("user-agent", &"ü".repeat(agent / 2))
            .header("referer", &format!("https://news.example/{}", "é".repeat(referer / 2)))
            .header("x-correlation-id", &"c".repeat(128))
            .send_to(&redirect)
            .await;

        assert_eq!((meter.read_units(), meter.write_units(), meter.calls()), (0.5, 1.0, 2), "{agent}, {referer}");
    }
    assert_eq!(db.scan("ClicksTable").len(), 4);
}

#[tokio::test]
async fn looking_ahead_is_noted_with_the_click() {
    let (db, redirect) = serving(LinkBuilder::new("launch")).await;
    for (name, value, looks_ahead) in [
        ("sec-purpose", "prefetch", true),
        ("sec-purpose", "prefetch;prerender", true),
        ("purpose", "prefetch", true),
        ("x-purpose", "preview", true),
        ("x-moz", "prefetch", true),
        ("sec-purpose", "navigate", false),
        ("purpose", "", false),
    ] {
        RequestBuilder::new("GET", "/launch").header(name, value).send_to(&redirect).await;
        assert_eq!(clicks(&db).await[0].visitor.prefetch, looks_ahead, "{name}: {value}");
    }
}

#[tokio::test]
async fn only_a_trusted_edge_says_who_and_where_a_visitor_is() {
    let (db, distrustful) = serving(LinkBuilder::new("launch")).await;
    let trustful = Redirect { edge: Edge::CloudFront, ..fixture::redirect(&db) };
    for (redirect, address) in
        [(&distrustful, "198.51.100.1:1"), (&trustful, "198.51.100.2:1"), (&trustful, "198.51.100.3:1")]
    {
        RequestBuilder::new("GET", "/launch")
            .header("cloudfront-viewer-address", address)
            .header("cloudfront-viewer-country", "DE")
            .header("cloudfront-viewer-city", "K%C3%B6ln")
            .send_to(redirect)
            .await;
    }

    let visitors: Vec<_> = clicks(&db).await.into_iter().map(|click| click.visitor).collect();
    let located: Vec<_> =
        visitors.iter().filter_map(|visitor| visitor.country.as_ref().zip(visitor.city.as_ref())).collect();
    assert_eq!(located.len(), 2);
    assert!(located.iter().all(|(country, city)| country.as_str() == "DE" && *city == "Köln"));
    let addresses: BTreeSet<_> = visitors.iter().map(|visitor| visitor.ip_hash.as_str()).collect();
    assert_eq!(addresses.len(), 3);
}

#[tokio::test]
async fn what_is_no_code_is_404_without_a_look_at_the_table() {
    let redirect = redirect(
        LinksTable(TestDynamoDb::unreachable_table("LinksTable")),
        ClicksTable::new(TestDynamoDb::unreachable_table("ClicksTable")),
    );

    for path in ["/favicon.ico", "/r/a+b", "/r/", "/r/%2e%2e", &format!("/r/{}", "x".repeat(65)), "/r/ünïc"] {
        assert_eq!(get(&redirect, path).await.problem(), (404, "not found".into()), "{path}");
    }
}

/// People type it from paper. The click is one of the link, and who asks for it again and again is answered from memory.
#[tokio::test]
async fn a_custom_code_leads_to_its_destination_typed_in_any_case() {
    let db = TestDynamoDb::start();
    let link = LinkBuilder::new("launch").build();
    let creation = Creation { any_case: linklet_dynamodb::AnyCase::Always, ..Creation::of(&link) };
    db.links().create(&creation).await.unwrap();
    let (links, meter): (_, CapacityMeter) = db.through(LinksTable, "LinksTable");
    let redirect = redirect(links, db.clicks());
    let units = async |path: &str| {
        meter.reset();
        let answer = get(&redirect, path).await;
        (answer.status, meter.read_units())
    };

    assert_eq!(units("/launch").await, (301, 0.5));
    for path in ["/LAUNCH", "/r/Launch", "/lAuNcH"] {
        assert_eq!(units(path).await, (301, 1.5), "{path}");
    }
    assert_eq!(units("/unknown").await, (404, 1.0));
    assert_eq!(clicks(&db).await.len(), 4);
}

#[tokio::test]
async fn a_generated_code_is_found_only_in_its_own_case() {
    let (_db, redirect) = serving(LinkBuilder::new("aBcDeFg")).await;

    let answers = [get(&redirect, "/aBcDeFg").await, get(&redirect, "/abcdefg").await];

    assert_eq!(answers.map(|answer| answer.status), [301, 404]);
}

#[tokio::test]
async fn a_code_leads_on_with_what_chat_programs_put_behind_it() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;

    for path in ["/launch).", "/r/launch%E2%80%8B"] {
        let request = RequestBuilder::new("GET", path).outside_the_contract();
        assert_eq!(request.send_to(&redirect(db.links(), db.clicks())).await.status, 301, "{path}");
    }
}

#[tokio::test]
async fn an_unknown_code_is_404() {
    let db = TestDynamoDb::start();

    let request = RequestBuilder::new("GET", "/r/unknown").header("x-correlation-id", "req-42");
    let answer = request.send_to(&redirect(db.links(), db.clicks())).await;

    assert_eq!((answer.status, answer.header("content-type")), (404, "application/problem+json"));
    let expected = json!({
        "type": "urn:linklet:problem:not_found", "title": "Not Found", "status": 404, "detail": "not found",
        "error": "not found", "code": "not_found", "docs_url": "https://api.example.com/api/docs#not_found",
        "correlation_id": "req-42",
    });
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn a_browser_gets_a_page_that_names_the_case_where_it_matters() {
    let db = TestDynamoDb::start();

    for (code, is_cased) in [("unknown", false), ("4gHdvR0", true), ("4gHdvR0.", true)] {
        let answer = RequestBuilder::new("GET", &format!("/r/{code}"))
            .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
            .send_to(&redirect(db.links(), db.clicks()))
            .await;

        assert_eq!((answer.status, answer.header("content-type")), (404, "text/html; charset=utf-8"), "{code}");
        assert!(answer.body.contains("<h1>This link doesn’t exist</h1>"), "{}", answer.body);
        assert_eq!(answer.body.contains("It’s case-sensitive"), is_cased, "{code}");
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_for_429_500_and_503_too() {
    let db = TestDynamoDb::start();
    let follow = async |redirect: &Redirect| {
        RequestBuilder::new("GET", "/r/launch").header("accept", "text/html").send_to(redirect).await
    };
    let down = redirect(LinksTable(TestDynamoDb::unreachable_table("LinksTable")), db.clicks());
    let full =
        Redirect { limiter: Limiter::new(RateLimit::per_minute(1).unwrap()), ..redirect(db.links(), db.clicks()) };
    follow(&full).await;
    let refused = follow(&full).await;
    db.put("LinksTable", &json!({"pk": {"S": "LINK#launch"}, "sk": {"S": "LINK"}}));
    let unreadable = follow(&redirect(db.links(), db.clicks())).await;

    for (page, status, sentence) in [
        (&refused, 429, "Too many requests from your network"),
        (&unreadable, 500, "Something went wrong"),
        (&follow(&down).await, 503, "temporarily unavailable"),
    ] {
        assert_eq!((page.status, page.header("content-type")), (status, "text/html; charset=utf-8"));
        assert!(page.body.contains(sentence), "{}", page.body);
        assert_ne!(page.header("content-security-policy"), "");
    }
    assert_eq!((refused.header("retry-after"), refused.header("x-ratelimit-remaining")), ("60", "0"));
}

/// Each problem has this policy, since all pages share their style.
#[tokio::test]
async fn a_page_may_apply_its_style_and_nothing_else() {
    let (db, _) =
        with_link(LinkBuilder::new("launch").expires_at(Timestamp::now().minus(Duration::from_secs(1)))).await;
    let limit = RateLimit::per_minute(2).unwrap();
    let redirect = Redirect { limiter: Limiter::new(limit), ..redirect(db.links(), db.clicks()) };

    for (path, status) in [("/r/unknown", 404), ("/r/launch", 410), ("/r/launch", 429)] {
        let page = RequestBuilder::new("GET", path).header("accept", "text/html").send_to(&redirect).await;

        assert_eq!(page.status, status);
        let (_, style) = page.body.split_once("<style>").unwrap();
        let (style, _) = style.split_once("</style>").unwrap();
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            STANDARD.encode(Sha256::digest(style))
        );
        assert_eq!(page.header("content-security-policy"), policy);
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        for forbidden in [" style=", " src=", " href=", "<script", "<link", "url(", "@import"] {
            assert!(!page.body.contains(forbidden), "{forbidden} in {}", page.body);
        }
        assert_eq!(page.body.matches("<style").count(), 1, "{}", page.body);
    }
}

#[tokio::test]
async fn pages_of_own_domains_demand_https_and_redirects_have_no_page_headers() {
    let (_db, redirect) = serving(LinkBuilder::new("launch")).await;
    let redirect = Redirect { pages: Pages::of(Some("https://go.example.com")), ..redirect };
    let follow =
        async |path: &str| RequestBuilder::new("GET", path).header("accept", "text/html").send_to(&redirect).await;

    let (page, followed) = (follow("/unknown").await, follow("/launch").await);

    assert_eq!(page.header("strict-transport-security"), "max-age=31536000");
    assert_eq!(followed.status, fixture::REDIRECT);
    let mut names: Vec<_> = followed.headers().map(|(name, _)| name).collect();
    names.sort_unstable();
    let expected = "cache-control location x-content-type-options x-correlation-id x-ratelimit-limit \
                    x-ratelimit-remaining x-ratelimit-reset x-robots-tag";
    assert_eq!(names.join(" "), expected);
}

#[tokio::test]
async fn a_slash_at_the_end_of_a_link_does_no_harm() {
    let (db, _) = with_link(LinkBuilder::new("launch")).await;
    let redirect = redirect(db.links(), db.clicks());

    assert_eq!(get(&redirect, "/r/launch/").await.status, fixture::REDIRECT);
    assert_eq!(get(&redirect, "/r/unknown/").await.problem(), (404, "not found".into()));
}
