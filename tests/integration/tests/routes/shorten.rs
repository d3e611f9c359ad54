use linklet_domain::ShortCode;
use linklet_dynamodb::TargetQuota;
use linklet_lambda::link_writer::CodeGenerator;
use linklet_lambda::watching::TargetRoom;

use crate::fixture::{self, per, room};
use crate::prelude::*;

async fn post(shorten: &Shorten, body: &Value) -> Answer {
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    shorten.post("/api/shorten", &token, body).await
}

#[tokio::test]
async fn a_url_gets_a_short_one() {
    let db = TestDynamoDb::start();
    let (url, title) = ("https://例え.jp/日本?q=ü", "Ünï 🚀 \"quoted\" \\ </script>");

    // A URL that was copied brings along what nobody sees.
    let copied = format!("\u{FEFF} {url}\u{200B}\u{200E}\n");
    let answer =
        post(&fixture::shorten(&db), &json!({"url": copied, "title": title, "tags": ["日本"]})).await.expecting(201);

    let body = answer.json();
    let code = body["short_code"].as_str().unwrap();
    assert_eq!(code.len(), 7);
    assert_eq!(body["short_url"], format!("https://api.example.com/r/{code}"));
    assert_eq!((&body["original_url"], &body["title"], &body["tags"]), (&json!(url), &json!(title), &json!(["日本"])));
    assert_eq!(body["reused"], false);
    assert_eq!(answer.header("location"), format!("links/{code}"));
    let link = db.link(code).await;
    let token = token_for(&link.identity.workspace, Role::Viewer);
    let list = RequestBuilder::new("GET", "/api/urls").token(&token);
    let listed = fixture::send(&db, "list", list).await.json()["urls"][0].clone();
    assert_eq!(json!([listed["original_url"], listed["title"], listed["tags"]]), json!([url, title, ["日本"]]));
    let followed = fixture::send(&db, "redirect", RequestBuilder::new("GET", &format!("/{code}"))).await;
    assert_eq!(followed.header("location"), "https://xn--r8jz45g.jp/%E6%97%A5%E6%9C%AC?q=%C3%BC");
}

#[tokio::test]
async fn a_new_link_has_its_metadata_and_a_unique_external_id() {
    let db = TestDynamoDb::start();
    let (shorten, workspace) = (fixture::shorten(&db), WorkspaceId::generate());
    let post = async |workspace: &WorkspaceId, body: Value| {
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token_for(workspace, Role::Member));
        request.json(&body).header("idempotency-key", body["note"].as_str().unwrap_or_default()).send_to(&shorten).await
    };
    let url = "https://example.com/a";

    let with_key = json!({"url": url, "metadata": {"order": "42"}, "external_id": "crm-7", "note": "k"});
    let first = post(&workspace, with_key.clone()).await;
    let repeated = post(&workspace, with_key).await;
    let reused = post(&workspace, json!({"url": url, "metadata": {"order": "43"}, "external_id": "crm-8"})).await;
    let same = post(&workspace, json!({"url": url, "metadata": {"order": "42"}, "external_id": "crm-7"})).await;
    let taken = post(&workspace, json!({"url": "https://example.com/b", "external_id": "crm-7"})).await;
    let forced = post(&workspace, json!({"url": url, "external_id": "crm-9", "reuse": false})).await;
    let elsewhere = post(&WorkspaceId::generate(), json!({"url": url, "external_id": "crm-7"})).await;

    assert_eq!((first.status, &first.json()["external_id"]), (201, &json!("crm-7")), "{}", first.body);
    assert_eq!(first.json()["metadata"], json!({"order": "42"}));
    assert_eq!((repeated.status, repeated.json()), (201, first.json()));
    assert_eq!((reused.status, &reused.json()["ignored"]), (200, &json!(["external_id", "metadata"])));
    assert_eq!((same.status, same.json().get("ignored")), (200, None));
    assert_eq!(taken.problem_code(), (409, "external_id_taken".into()));
    assert_eq!((forced.status, elsewhere.status), (201, 201));
    assert_eq!(db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == "LINK").count(), 3);
}

#[tokio::test]
async fn a_member_in_other_words_is_refused_with_the_known_one() {
    let db = TestDynamoDb::start();
    let (shorten, token) = (fixture::shorten(&db), token_for(&WorkspaceId::generate(), Role::Member));
    let post = async |path: &str, body: Value| {
        RequestBuilder::new("POST", path).token(&token).json(&body).outside_the_contract().send_to(&shorten).await
    };
    for (member, meant) in [
        ("key", "custom_code"),
        ("slug", "custom_code"),
        ("short_code", "custom_code"),
        ("expiresAt", "expires_at"),
        ("Max-Clicks", "max_clicks"),
        ("maxVisits", "max_clicks"),
        ("longUrl", "url"),
    ] {
        let refused = post("/api/shorten", json!({"url": "https://example.com/", member: "launch"})).await;
        let sentence = format!("there is no member {member}; did you mean {meant}?");
        assert_eq!((refused.problem(), refused.problem_field().1), ((400, sentence), member.to_owned()));
    }
    let twice = post("/api/shorten", json!({"url": "https://a.example/", "original_url": "https://b.example/"})).await;
    assert_eq!((twice.problem(), twice.problem_field().1), ((400, "url is there by two names".into()), "url".into()));
    assert!(db.scan("LinksTable").is_empty());

    for path in ["/api/shorten", "/api/links"] {
        let taken = post(path, json!({"original_url": "https://example.com/a", "reuse": false, "note": "x"})).await;
        assert_eq!((taken.status, &taken.json()["ignored"]), (201, &json!(["note"])), "{path}: {}", taken.body);
        assert_eq!(taken.json()["original_url"], "https://example.com/a", "{path}");
    }
}

#[tokio::test]
async fn what_nobody_filled_in_counts_as_absent() {
    let db = TestDynamoDb::start();
    let shorten = fixture::shorten(&db);
    let body = json!({
        "url": "https://example.com/a", "custom_code": "", "expires_at": "", "title": "", "description": "", "tags": "",
        "reuse": "", "watch": "", "metadata": "", "external_id": "",
    });
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body).header("idempotency-key", "");

    let first = request.clone().send_to(&shorten).await;
    let second = request.send_to(&shorten).await;

    assert_eq!((first.status, second.status), (201, 200), "{}", first.body);
    assert_eq!(json!([first.json()["title"], first.json()["expires_at"]]), json!([null, null]));
    assert_eq!(second.json()["reused"], true);
    let stored = db.link(first.json()["short_code"].as_str().unwrap()).await;
    assert_eq!((stored.metadata, stored.watch), (linklet_domain::LinkMetadata::default(), false));
}

#[tokio::test]
async fn a_configured_base_replaces_the_requests_own() {
    let db = TestDynamoDb::start();
    let endpoint = "https://a1b2c3.execute-api.eu-central-1.amazonaws.com";
    let short_urls = ShortUrls::new(Some("https://go.example.com/")).with_api_endpoint(Some(endpoint));
    let shorten = Shorten { writer: LinkWriter { short_urls, ..fixture::writer(&db) }, ..fixture::shorten(&db) };

    let answer = post(&shorten, &json!({"url": "https://example.com", "custom_code": "launch"})).await;

    assert_eq!(answer.json()["short_url"], "https://go.example.com/launch");
    for url in ["https://go.example.com/launch", &format!("{endpoint}/r/loop")] {
        let looping = post(&shorten, &json!({"url": url})).await;
        assert_eq!(looping.problem(), (400, "you can't shorten a Linklet link".into()), "{url}");
    }
}

#[tokio::test]
async fn each_refusal_gives_its_reason_and_stores_nothing() {
    let db = TestDynamoDb::start();
    let shorten = fixture::shorten(&db);
    let url = "https://example.com";
    const FORM: &str =
        "custom_code must have 4–20 characters of 0-9, A-Z, a-z, - and _, with a letter or digit at both ends";
    let many_tags: Vec<_> = (0..21).map(|tag| tag.to_string()).collect();
    let long = format!("https://example.com/{}", "ü".repeat(1_000));
    let own = "https://api.example.com/r/abcd";
    let cases = [
        (json!({}), "url is required"),
        (json!({"url": 5}), "url must be a string"),
        (json!({"url": "ftp://example.com"}), "url must begin with http:// or https://, not ftp:"),
        (json!({"url": own}), "you can't shorten a Linklet link"),
        (json!({"url": url, "preview": {"image": own}}), "preview.image must not be a Linklet link"),
        (json!({"url": url, "custom_code": "abc"}), FORM),
        (json!({"url": url, "custom_code": "health"}), "custom_code is a reserved word"),
        (json!({"url": url, "expires_at": "tomorrow"}), "expires_at must be RFC3339 format"),
        (json!({"url": url, "expires_at": "2020-01-01T00:00:00Z"}), "expires_at must be in the future"),
        (json!({"url": url, "title": "x".repeat(501)}), "title must have at most 500 characters"),
        (json!({"url": url, "watch": "yes"}), "watch must be true or false"),
        (json!({"url": long, "watch": true}), "url must have at most 2,048 bytes when it is percent-encoded"),
        (json!({"url": "http://localhost/", "watch": true}), "url must have a public address to be monitored"),
        (json!({"url": url, "tags": many_tags}), "tags must be at most 20"),
    ];

    for (body, reason) in cases {
        assert_eq!(post(&shorten, &body).await.problem(), (400, reason.into()), "{body}");
    }
    assert!(db.scan("LinksTable").is_empty());
}

#[tokio::test]
async fn a_code_is_free_if_a_new_link_can_have_it() {
    let db = TestDynamoDb::start();
    let writer = LinkWriter { reserved: "acme".parse().unwrap(), ..fixture::writer(&db) };
    let shorten = Shorten { writer, ..fixture::shorten(&db) };
    let (ours, theirs) = (WorkspaceId::generate(), WorkspaceId::generate());
    for (code, workspace) in
        [("taken", &ours), ("theirs", &theirs), ("gone1", &ours), ("purged", &ours), ("purged2", &theirs)]
    {
        let link = LinkBuilder::new(code).in_workspace(workspace).build();
        db.store(&link).await;
        match code {
            "gone1" => db.delete(&link).await,
            "purged" | "purged2" => db.purge(&Record::Link(link)).await,
            _ => {}
        }
    }

    for (code, reason) in [
        ("free1", None),
        ("purged", None),
        ("taken", Some("taken")),
        ("theirs", Some("taken")),
        ("gone1", Some("taken")),
        ("purged2", Some("taken")),
        ("Login", Some("reserved")),
        ("ACME", Some("reserved")),
        ("abc", Some("invalid")),
        ("abcdefghijklmnopqrstu", Some("invalid")),
        ("abc-", Some("invalid")),
        ("a-bc", None),
        ("A-BC", Some("taken")),
    ] {
        let answer = shorten.get(&format!("/api/codes/{code}"), &token_for(&ours, Role::Member)).await;
        let body = json!({"url": "https://example.com/", "custom_code": code});
        let made = RequestBuilder::new("POST", "/api/shorten").token(&token_for(&ours, Role::Member)).json(&body);

        let expected = match reason {
            None => json!({"available": true, "reason": null}),
            Some(reason) => json!({"available": false, "reason": reason}),
        };
        assert_eq!((answer.status, answer.json()), (200, expected), "{code}");
        assert_eq!(made.send_to(&shorten).await.status == 201, reason.is_none(), "{code}: what was said is true");
    }
}

#[tokio::test]
async fn asking_for_codes_is_limited_and_takes_nothing_from_new_links() {
    let db = TestDynamoDb::start();
    let shorten = fixture::shorten_limited(&db, 2, 1_000);
    let token = token_for(&WorkspaceId::generate(), Role::Member);
    let ask = async || shorten.get("/api/codes/free1", &token).await;

    let answers = [ask().await, ask().await, ask().await];

    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 200, 429]);
    assert_eq!(answers[0].header("x-ratelimit-remaining"), "1");
    let made = shorten.post("/api/shorten", &token, &json!({"url": "https://example.com/"})).await;
    assert_eq!((made.status, made.header("x-ratelimit-remaining")), (201, "1"));
}

#[tokio::test]
async fn a_generated_code_that_is_reserved_or_taken_is_replaced_by_another() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static TRIES: AtomicUsize = AtomicUsize::new(0);
    let (db, _) = with_link(LinkBuilder::new("taken77")).await;
    let generate_code: CodeGenerator = || {
        let codes = ["Support", "RoCkEtS", "taken77", "free777"];
        Ok(ShortCode::parse(codes[TRIES.fetch_add(1, Ordering::Relaxed)]).unwrap())
    };
    let writer = LinkWriter { reserved: "rockets".parse().unwrap(), generate_code, ..fixture::writer(&db) };
    let shorten = Shorten { writer, ..fixture::shorten(&db) };

    let answer = post(&shorten, &json!({"url": "https://example.com"})).await;

    assert_eq!((answer.status, &answer.json()["short_code"]), (201, &json!("free777")));
}

#[tokio::test]
async fn after_five_taken_codes_it_gives_up_politely() {
    let (db, _) = with_link(LinkBuilder::new("taken77")).await;
    let generate_code = || Ok(ShortCode::parse("taken77").unwrap());
    let writer = LinkWriter { generate_code, ..fixture::writer(&db) };
    let shorten = Shorten { writer, ..fixture::shorten(&db) };

    let answer = post(&shorten, &json!({"url": "https://example.com"})).await;

    assert_eq!(answer.problem(), (503, "could not generate unique code; try again".into()));
}

#[tokio::test]
async fn a_link_cannot_watch_a_url_too_many() {
    let db = TestDynamoDb::start();
    let workspace = WorkspaceId::generate();
    db.store_target(&TargetBuilder::new("https://example.com/a").in_workspace(&workspace).build()).await;
    let shorten = fixture::shorten_with(db.links(), room(&db, 1), fixture::throttle(db.calls(), 1_000, 1_000));
    let post = async |workspace: &WorkspaceId, url: &str, watch: bool| {
        shorten.post("/api/shorten", &token_for(workspace, Role::Member), &json!({"url": url, "watch": watch})).await
    };

    let refused = post(&workspace, "https://example.com/b", true).await;

    let reason = "this workspace or its creator has reached the limit of monitored URLs; delete a target first";
    assert_eq!(refused.problem(), (409, reason.into()));
    assert_eq!(refused.json()["code"], "target_quota_reached");
    assert!(db.scan("LinksTable").is_empty());
    assert_eq!(post(&workspace, "https://example.com/b", false).await.status, 201, "it doesn't watch");
    assert_eq!(post(&workspace, "https://example.com/a", true).await.status, 201, "it is a target already");
    assert_eq!(post(&WorkspaceId::generate(), "https://example.com/b", true).await.status, 201, "another workspace");
}

/// Whoever creates it: the workspaces of its creator have as many targets as they may.
#[tokio::test]
async fn a_link_cannot_watch_a_url_too_many_of_its_creator() {
    let (db, creator) = with_person("creator").await;
    let target = Target { workspace_creator: creator.id, ..TargetBuilder::new("https://example.com/a").build() };
    db.store_target(&target).await;
    let targets = db.watch().with_quota(TargetQuota { per_workspace: 10, per_creator: 1 });
    let room = TargetRoom { targets, ..fixture::room(&db, 100) };
    let shorten = fixture::shorten_with(db.links(), room, fixture::throttle(db.calls(), 1_000, 1_000));
    let post = async |workspace: &WorkspaceId| {
        shorten
            .post(
                "/api/shorten",
                &token_for(workspace, Role::Member),
                &json!({"url": "https://example.com/b", "watch": true}),
            )
            .await
            .status
    };

    assert_eq!([post(&creator.workspace).await, post(&WorkspaceId::generate()).await], [409, 201]);
}

#[tokio::test]
async fn a_link_that_watches_is_created_also_while_targets_cannot_be_read() {
    let db = TestDynamoDb::start();
    let targets = WatchTable::new(TestDynamoDb::unreachable_table("WatchTable")).with_quota(per(1));
    let room = TargetRoom { targets, ..fixture::room(&db, 100) };
    let shorten = fixture::shorten_with(db.links(), room, fixture::throttle(db.calls(), 1_000, 1_000));

    let created = post(&shorten, &json!({"url": "https://example.com/a", "watch": true})).await;

    assert_eq!((created.status, &created.json()["watch"]), (201, &json!(true)));
}

#[tokio::test]
async fn a_purged_code_is_anybodys_once_its_tombstone_is_gone() {
    let (db, [ada, bob]) = with_people(["ada", "bob"]).await;
    let choose = async |who: &linklet_test_support::Person, code: &str| {
        let body = json!({"url": "https://example.com/a", "custom_code": code});
        let token = who.token(Role::Member);
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body);
        fixture::send(&db, "shorten", request).await.status
    };
    assert_eq!(choose(&ada, "Launch").await, 201);
    let record = db.record("Launch").await.unwrap();
    db.purge(&record).await;
    assert_eq!(choose(&bob, "Launch").await, 409);

    let tombstone = db.scan("LinksTable").into_iter().find(|item| item["pk"]["S"] == "LINK#Launch").unwrap();
    db.remove("LinksTable", &tombstone);

    assert_eq!(choose(&bob, "launch").await, 201);
    assert_eq!((choose(&ada, "Launch").await, choose(&ada, "LAUNCH").await), (409, 409));
}
