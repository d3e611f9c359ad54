//! One URL, one code; one idempotency key, one answer.

use crate::prelude::*;

struct Fixture {
    db: TestDynamoDb,
    shorten: Shorten,
    token: String,
}

impl Fixture {
    fn new() -> Self {
        let db = TestDynamoDb::start();
        let shorten = fixture::shorten(&db);
        Self { db, shorten, token: token_for(&WorkspaceId::generate(), Role::Member) }
    }

    fn request(&self, body: &Value) -> RequestBuilder {
        RequestBuilder::new("POST", "/api/shorten").token(&self.token).json(body)
    }

    async fn post(&self, body: Value) -> Answer {
        self.request(&body).send_to(&self.shorten).await
    }

    async fn post_with_key(&self, key: &str, body: Value) -> Answer {
        self.request(&body).header("idempotency-key", key).send_to(&self.shorten).await
    }

    async fn delete(&self, code: &str) {
        self.db.delete(&self.db.link(code).await).await;
    }

    async fn purge(&self, code: &str) {
        self.db.purge(&self.db.record(code).await.unwrap()).await;
    }

    fn count(&self, sort_key: &str) -> usize {
        self.db.scan("LinksTable").iter().filter(|item| item["sk"]["S"] == sort_key).count()
    }
}

fn code(answer: &Answer) -> String {
    answer.json()["short_code"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn codes(answers: &[Answer]) -> BTreeSet<String> {
    answers.iter().map(code).collect()
}

#[tokio::test]
async fn the_same_url_gets_the_same_code_however_it_is_written() {
    let fixture = Fixture::new();
    let first =
        fixture.post(json!({"url": "https://Example.com:443/a/?b=2&a=1&utm_source=mail#", "title": "First"})).await;

    let again = fixture.post(json!({"url": "https://example.com/a?a=1&b=2"})).await;

    assert_eq!((first.status, &first.json()["reused"]), (201, &json!(false)));
    assert_eq!((again.status, &again.json()["reused"]), (200, &json!(true)));
    assert_eq!(code(&again), code(&first));
    assert_eq!(again.json()["original_url"], "https://Example.com:443/a/?b=2&a=1&utm_source=mail#");
    assert_eq!(again.json()["title"], "First");
    assert_eq!(fixture.count("LINK"), 1);
}

#[tokio::test]
async fn an_entry_whose_link_leads_elsewhere_is_replaced() {
    let fixture = Fixture::new();
    let url = json!({"url": "https://app.example/#/invoice/42"});
    let first = code(&fixture.post(url.clone()).await);
    let elsewhere = code(&fixture.post(json!({"url": "https://app.example/#/invoice/43"})).await);
    let items = fixture.db.scan("LinksTable");
    let mut entry =
        items.into_iter().find(|item| item["sk"]["S"] == "URL" && item["short_code"]["S"] == first).unwrap();
    entry["short_code"]["S"] = json!(elsewhere);
    fixture.db.put("LinksTable", &entry);

    let new = fixture.post(url.clone()).await;
    let again = fixture.post(url).await;

    assert_eq!((new.status, again.status), (201, 200));
    assert!(![first, elsewhere].contains(&code(&new)));
    assert_eq!(code(&again), code(&new));
}

#[tokio::test]
async fn workspaces_do_not_share_links() {
    let mut fixture = Fixture::new();
    let ours = fixture.post(json!({"url": "https://example.com"})).await;
    fixture.token = token_for(&WorkspaceId::generate(), Role::Member);

    let theirs = fixture.post(json!({"url": "https://example.com"})).await.expecting(201);

    assert_ne!(code(&ours), code(&theirs));
}

#[tokio::test]
async fn a_custom_code_an_expiry_or_refused_reuse_makes_a_new_link() {
    let fixture = Fixture::new();
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    let url = "https://example.com";
    let answers = [
        fixture.post(json!({"url": url})).await,
        fixture.post(json!({"url": url, "reuse": false})).await,
        fixture.post(json!({"url": url, "custom_code": "launch"})).await,
        fixture.post(json!({"url": url, "expires_at": later})).await,
    ];

    assert!(answers.iter().all(|answer| answer.status == 201));
    assert_eq!(codes(&answers).len(), 4);
    // And none of them takes the place of the first.
    assert_eq!(code(&fixture.post(json!({"url": url})).await), code(&answers[0]));
    let refused = fixture.post(json!({"url": url, "reuse": "no"})).await;
    assert_eq!(refused.problem(), (400, "reuse must be true or false".into()));
}

#[tokio::test]
async fn a_link_with_a_chosen_code_answers_later_requests_for_its_url() {
    let fixture = Fixture::new();
    fixture.post(json!({"url": "https://example.com", "custom_code": "launch"})).await;

    let again = fixture.post(json!({"url": "https://example.com"})).await;

    assert_eq!((again.status, code(&again)), (200, "launch".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_requests_at_once_for_one_url_agree_on_one_code() {
    for watch in [false, true] {
        let fixture = Fixture::new();
        // One that doesn't watch is there already.
        let plain = if watch { Some(fixture.post(json!({"url": "https://example.com"})).await) } else { None };
        let body = || json!({"url": "https://example.com", "watch": watch});

        let answers = join_all((0..50).map(|_| fixture.post(body()))).await;

        assert_eq!(codes(&answers).len(), 1);
        assert!(plain.iter().all(|plain| !codes(&answers).contains(&code(plain))));
        let with = |status| answers.iter().filter(|answer| answer.status == status).count();
        assert_eq!((with(201), with(200)), (1, 49));
        assert_eq!((fixture.count("LINK"), fixture.count("URL")), (1 + usize::from(watch), 1));
    }
}

#[tokio::test]
async fn a_request_to_watch_gets_a_link_that_watches_and_no_other() {
    let fixture = Fixture::new();
    let plain = fixture.post(json!({"url": "https://example.com"})).await;

    let watching = fixture.post(json!({"url": "https://example.com", "watch": true})).await;
    let again = fixture.post(json!({"url": "https://EXAMPLE.com/", "watch": true})).await;
    let whichever = fixture.post(json!({"url": "https://example.com", "watch": false})).await;

    assert_eq!((watching.status, again.status, whichever.status), (201, 200, 200));
    assert_ne!(code(&watching), code(&plain));
    assert_eq!((code(&again), code(&whichever)), (code(&watching), code(&watching)));
    assert_eq!(plain.json()["watch"], false);
    assert!([&watching, &again, &whichever].iter().all(|answer| answer.json()["watch"] == true));
    assert_eq!((fixture.count("LINK"), fixture.count("URL")), (2, 1));
}

#[tokio::test]
async fn a_watching_link_gives_its_place_to_none_that_doesnt_watch() {
    let fixture = Fixture::new();
    let watching = fixture.post(json!({"url": "https://example.com", "watch": true})).await;

    let plain = fixture.post(json!({"url": "https://example.com", "reuse": false})).await;
    let second = fixture.post(json!({"url": "https://example.com", "reuse": false, "watch": true})).await;

    assert_eq!((plain.status, second.status), (201, 201));
    assert_eq!(code(&fixture.post(json!({"url": "https://example.com"})).await), code(&watching));
    fixture.delete(&code(&watching)).await;
    assert_eq!(fixture.count("URL"), 0);
}

#[tokio::test]
async fn a_reused_link_names_what_it_does_not_take_over() {
    let fixture = Fixture::new();
    let first = fixture.post(json!({"url": "https://example.com", "title": "A", "tags": ["news"]})).await;
    let ask = async |body: Value| fixture.post(body).await.json().get("ignored").cloned();

    let same = ask(json!({"url": "https://example.com", "title": "A", "tags": ["NEWS"]})).await;
    let nothing = ask(json!({"url": "https://example.com"})).await;
    let other = ask(json!({"url": "https://example.com", "title": "B", "description": "C", "tags": ["old"]})).await;
    let own = ask(json!({"url": "https://example.com", "title": "B", "reuse": false})).await;

    assert_eq!(first.json().get("ignored"), None);
    assert_eq!((same, nothing, own), (None, None, None));
    assert_eq!(other, Some(json!(["description", "tags", "title"])));
}

#[tokio::test]
async fn a_reactivated_watching_link_is_reused_by_requests_to_watch() {
    let fixture = Fixture::new();
    let watching = code(&fixture.post(json!({"url": "https://example.com", "watch": true})).await);
    let link = fixture.db.link(&watching).await;
    let active = |is_active| LinkPatch { is_active: Some(is_active), ..LinkPatch::default() };
    fixture.db.patch(link.id(), &active(false)).await;
    fixture.post(json!({"url": "https://example.com"})).await;

    fixture.db.patch(link.id(), &active(true)).await;

    assert_eq!(code(&fixture.post(json!({"url": "https://example.com", "watch": true})).await), watching);
}

#[tokio::test]
async fn a_link_that_becomes_reusable_is_reused_unless_another_already_is() {
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    let patches = [
        LinkPatch { expires_at: Some(None), ..LinkPatch::default() },
        LinkPatch { is_active: Some(true), ..LinkPatch::default() },
    ];
    for (patch, with_other) in patches.iter().flat_map(|patch| [(patch, false), (patch, true)]) {
        let fixture = Fixture::new();
        let first = code(&fixture.post(json!({"url": "https://example.com", "expires_at": later})).await);
        let link = fixture.db.link(&first).await;
        let off = LinkPatch { is_active: Some(false), expires_at: Some(None), ..LinkPatch::default() };
        if patch.is_active.is_some() {
            fixture.db.patch(link.id(), &off).await;
            assert_eq!(fixture.count("URL"), 0);
        }
        let other =
            if with_other { Some(code(&fixture.post(json!({"url": "https://example.com"})).await)) } else { None };

        fixture.db.patch(link.id(), patch).await;
        let again = fixture.post(json!({"url": "https://example.com"})).await;

        assert_eq!((again.status, code(&again)), (200, other.unwrap_or(first)), "{patch:?}");
    }
}

#[tokio::test]
async fn a_link_that_is_archived_is_reused_and_stays_so() {
    let fixture = Fixture::new();
    let first = fixture.post(json!({"url": "https://example.com"})).await;
    let archive = LinkPatch { archived: Some(true), ..LinkPatch::default() };
    fixture.db.patch(fixture.db.link(&code(&first)).await.id(), &archive).await;

    let again = fixture.post(json!({"url": "https://example.com"})).await;

    assert_eq!((again.status, code(&again), &again.json()["archived"]), (200, code(&first), &json!(true)));
    assert_eq!(
        json!([first.json()["archived"], first.json()["reused"], again.json()["reused"]]),
        json!([false, false, true])
    );
    assert!(fixture.db.link(&code(&first)).await.archived);
}

#[tokio::test]
async fn a_link_that_is_gone_or_off_or_will_expire_is_replaced() {
    let later = Timestamp::now().plus(Duration::from_secs(3_600));
    for what in ["deleted", "purged", "off", "expiring"] {
        let fixture = Fixture::new();
        let first = code(&fixture.post(json!({"url": "https://example.com"})).await);
        let patch = async |patch| fixture.db.patch(fixture.db.link(&first).await.id(), &patch).await;
        match what {
            "deleted" => fixture.delete(&first).await,
            "purged" => fixture.purge(&first).await,
            "off" => _ = patch(LinkPatch { is_active: Some(false), ..LinkPatch::default() }).await,
            _ => _ = patch(LinkPatch { expires_at: Some(Some(later)), ..LinkPatch::default() }).await,
        }
        assert_eq!(fixture.count("URL"), 0, "{what}");

        let second = fixture.post(json!({"url": "https://example.com"})).await;
        let third = fixture.post(json!({"url": "https://example.com"})).await;

        assert_eq!((second.status, third.status), (201, 200), "{what}");
        assert_ne!(code(&second), first);
        assert_eq!(code(&third), code(&second));
    }
}

#[tokio::test]
async fn deleting_a_link_leaves_the_entry_of_the_one_that_replaced_it() {
    let fixture = Fixture::new();
    let first = code(&fixture.post(json!({"url": "https://example.com"})).await);
    let off = LinkPatch { is_active: Some(false), ..LinkPatch::default() };
    fixture.db.patch(fixture.db.link(&first).await.id(), &off).await;
    let second = code(&fixture.post(json!({"url": "https://example.com"})).await);
    let link = fixture.db.link(&first).await;
    assert_eq!(link.availability.state, LinkState::Inactive);

    fixture.db.delete(&link).await;

    assert_eq!(code(&fixture.post(json!({"url": "https://example.com"})).await), second);
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_answer() {
    let fixture = Fixture::new();
    let body = || json!({"url": "https://example.com", "reuse": false, "title": "A"});

    let first = fixture.post_with_key("order-1", body()).await;
    // The same request, written differently.
    let again = RequestBuilder::new("POST", "/api/shorten")
        .token(&fixture.token)
        .header("idempotency-key", "order-1")
        .body(r#"{ "title": "A",  "reuse": false, "url": "https://example.com" }"#)
        .send_to(&fixture.shorten)
        .await;
    let with_another_key = fixture.post_with_key("order-2", body()).await;

    assert_eq!((first.status, again.status, with_another_key.status), (201, 201, 201));
    assert_eq!(first.body, again.body);
    assert_ne!(code(&first), code(&with_another_key));
    assert_eq!((fixture.count("LINK"), fixture.count("IDEM")), (2, 2));
}

#[tokio::test]
async fn the_first_answer_comes_again_also_when_the_expiry_has_passed_since() {
    let fixture = Fixture::new();
    let (now, hour) = (Timestamp::now(), Duration::from_secs(3_600));
    let body = json!({"url": "https://example.com", "expires_at": now.plus(hour)});
    let request = || fixture.request(&body).header("idempotency-key", "order-1");

    let first = request().at(now).send_to(&fixture.shorten).await;
    let again = request().at(now.plus(hour * 2)).send_to(&fixture.shorten).await;

    assert_eq!((again.status, again.body), (201, first.body));
}

#[tokio::test]
async fn a_link_that_was_purged_since_is_not_answered_again() {
    let fixture = Fixture::new();
    let body = json!({"url": "https://example.com"});
    let first = fixture.post_with_key("order-1", body.clone()).await;
    fixture.purge(&code(&first)).await;

    let again = fixture.post_with_key("order-1", body.clone()).await;
    fixture.post(json!({"url": "https://example.com/next", "custom_code": code(&first)})).await;
    let with_another_link = fixture.post_with_key("order-1", body).await;

    let gone = (410, "this link was purged with its statistics".to_owned());
    assert_eq!((again.problem(), with_another_link.problem()), (gone.clone(), gone));
}

#[tokio::test]
async fn the_first_answer_survives_the_links_deletion() {
    for (is_reused, status) in [(false, 201), (true, 200)] {
        let fixture = Fixture::new();
        if is_reused {
            fixture.post(json!({"url": "https://example.com"})).await;
        }
        let first = fixture.post_with_key("order-1", json!({"url": "https://example.com"})).await;
        fixture.delete(&code(&first)).await;

        let again = fixture.post_with_key("order-1", json!({"url": "https://example.com"})).await;

        assert_eq!((first.status, again.status, again.body), (status, status, first.body));
        assert_eq!(fixture.count("LINK"), 1);
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_request_in_one_workspace() {
    let mut fixture = Fixture::new();
    let first = fixture.post_with_key("order-1", json!({"url": "https://example.com", "watch": true})).await;

    let again = fixture.post_with_key("order-1", json!({"watch": true, "url": "https://example.com"})).await;
    assert_eq!((again.status, again.body), (first.status, first.body));
    // The last of them is not judged.
    for url in ["https://example.com", "https://example.com/other", "no URL"] {
        let another = fixture.post_with_key("order-1", json!({"url": url})).await;
        assert_eq!(another.problem(), (422, "Idempotency-Key was used with another request".into()), "{url}");
    }
    fixture.token = token_for(&WorkspaceId::generate(), Role::Member);
    let elsewhere = fixture.post_with_key("order-1", json!({"url": "https://example.com/other"})).await;

    assert_eq!((elsewhere.status, fixture.count("LINK")), (201, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_requests_at_once_with_one_key_make_one_link() {
    let fixture = Fixture::new();
    let body = || json!({"url": "https://example.com", "reuse": false});

    let answers = join_all((0..50).map(|_| fixture.post_with_key("order-1", body()))).await;

    assert!(answers.iter().all(|answer| answer.status == 201), "{answers:?}");
    assert_eq!(answers.iter().map(|answer| &answer.body).collect::<BTreeSet<_>>().len(), 1);
    assert_eq!((fixture.count("LINK"), fixture.count("IDEM")), (1, 1));
}

#[tokio::test]
async fn after_a_day_a_key_is_free_again() {
    let fixture = Fixture::new();
    let first = fixture.post_with_key("order-1", json!({"url": "https://example.com", "reuse": false})).await;
    let mut entry = fixture.db.scan("LinksTable").into_iter().find(|item| item["sk"]["S"] == "IDEM").unwrap();
    let ttl: i64 = entry["ttl"]["N"].as_str().unwrap().parse().unwrap();
    let window = ttl - Timestamp::now().unix_seconds();
    assert!((86_395..=86_400).contains(&window), "{window}");
    // As if a day had passed and DynamoDB hadn't deleted it yet.
    entry["ttl"] = json!({"N": Timestamp::now().unix_seconds().to_string()});
    fixture.db.put("LinksTable", &entry);

    let next_day = fixture.post_with_key("order-1", json!({"url": "https://example.com/other"})).await.expecting(201);

    assert_ne!(code(&next_day), code(&first));
}

#[tokio::test]
async fn a_key_of_another_form_is_refused() {
    let fixture = Fixture::new();
    for key in ["two words", "zamówienie-1", &"x".repeat(256)] {
        let answer = fixture.post_with_key(key, json!({"url": "https://example.com"})).await;
        let sentence = "Idempotency-Key must have 1–255 visible ASCII characters";
        assert_eq!(answer.problem(), (400, sentence.into()), "{key:?}");
    }
    assert_eq!(fixture.count("LINK"), 0);
}

#[tokio::test]
async fn a_refused_request_uses_up_no_key() {
    let fixture = Fixture::new();
    fixture.post(json!({"url": "https://example.com/first", "custom_code": "launch"})).await;
    let refused =
        fixture.post_with_key("order-1", json!({"url": "https://example.com", "custom_code": "launch"})).await;

    let corrected =
        fixture.post_with_key("order-1", json!({"url": "https://example.com", "custom_code": "launch2"})).await;

    assert_eq!((refused.status, corrected.status), (409, 201));
    assert!(matches!(fixture.db.record("launch2").await, Some(Record::Link(_))));
}
