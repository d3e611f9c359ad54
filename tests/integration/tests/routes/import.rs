//! Links that come from other systems.

use linklet_domain::{Block, Blocked, LinkStatus, ShortCode, SuspensionReason};

use crate::prelude::*;

struct Fixture {
    db: TestDynamoDb,
    workspace: WorkspaceId,
    member: UserId,
}

impl Fixture {
    fn new() -> Self {
        Self { db: TestDynamoDb::start(), workspace: WorkspaceId::generate(), member: UserId::generate() }
    }

    async fn send(&self, body: Value) -> Answer {
        self.send_to(body, &fixture::shorten(&self.db)).await
    }

    async fn send_to(&self, body: Value, shorten: &Shorten) -> Answer {
        let token = token_of(&self.member, &self.workspace, Role::Member);
        RequestBuilder::new("POST", "/api/import").token(&token).json(&body).send_to(shorten).await
    }

    /// The status, code and reason of each row.
    async fn import(&self, body: Value) -> Vec<(String, Value, Value)> {
        let answer = self.send(body).await;
        assert_eq!(answer.status, 200, "{:?}", answer.json());
        rows(&answer)
    }
}

/// So many seconds ago, in whole seconds.
fn ago(seconds: u64) -> Timestamp {
    let now = Timestamp::now().unix_seconds().unsigned_abs();
    Timestamp::from_unix_millis((now - seconds) * 1_000)
}

fn short_code(text: &str) -> ShortCode {
    ShortCode::followed(text).unwrap()
}

fn rows(answer: &Answer) -> Vec<(String, Value, Value)> {
    let row =
        |row: &Value| (row["status"].as_str().unwrap().to_owned(), row["short_code"].clone(), row["reason"].clone());
    answer.json()["results"].as_array().unwrap().iter().map(row).collect()
}

fn statuses(rows: &[(String, Value, Value)]) -> Vec<&str> {
    rows.iter().map(|(status, ..)| status.as_str()).collect()
}

const KUTT: &str = r#"{"data": [
    {"address": "old", "target": "https://example.com/a", "link": "https://kutt.it/old", "description": "A note", "visit_count": 12,
     "created_at": "2020-01-02T03:04:05.678Z", "expire_in": "2021-01-01T00:00:00.000Z"},
    {"address": "locked", "target": "https://example.com/b", "link": "https://kutt.it/locked", "password": true}]}"#;

#[tokio::test]
async fn an_imported_link_keeps_code_dates_and_clicks() {
    let test = Fixture::new();

    let answer = test.send(json!({"text": KUTT, "tags": ["moved"]})).await;

    assert_eq!(
        (answer.status, &answer.json()["format"], &answer.json()["written"]),
        (200, &json!("kutt"), &json!(true))
    );
    assert_eq!(rows(&answer)[0], ("created".to_owned(), json!("old"), Value::Null));
    let link = test.db.link("old").await;
    assert_eq!(link.created_at, Timestamp::parse("2020-01-02T03:04:05.678Z").unwrap());
    assert_eq!(link.availability.status(Timestamp::now()), LinkStatus::Expired);
    assert_eq!((link.imported_clicks, link.expiry_is_published), (Some(12), true));
    assert_eq!(link.metadata.tags.iter().collect::<Vec<_>>(), ["moved"]);
}

#[tokio::test]
async fn a_link_whose_password_is_unknown_comes_disabled() {
    let test = Fixture::new();

    let rows = test.import(json!({"text": KUTT})).await;

    assert_eq!(rows[1].2, "it is disabled, since its password isn't in the export");
    assert_eq!(test.db.link("locked").await.availability.state, LinkState::Inactive);
}

#[tokio::test]
async fn a_repeated_import_changes_nothing() {
    let test = Fixture::new();
    let text = "code,url,domain\nfirst,https://example.com/1,old.example\n,https://example.com/2,old.example\na/b,https://example.com/3,old.example\n";
    let body = json!({"text": text, "on_conflict": "new_code"});

    let first = test.import(body.clone()).await;
    let again = test.import(body).await;

    assert_eq!((statuses(&first), statuses(&again)), (vec!["created"; 3], vec!["same"; 3]));
    let codes = |rows: &[(String, Value, Value)]| rows.iter().map(|(_, code, _)| code.clone()).collect::<Vec<_>>();
    assert_eq!(codes(&first), codes(&again));
    let moved = test.db.link(first[2].1.as_str().unwrap()).await;
    assert_eq!(moved.metadata.external_id.unwrap().as_str(), "old.example/a/b");
}

#[tokio::test]
async fn a_code_that_cannot_be_kept_is_reported() {
    let test = Fixture::new();
    test.db.store(&LinkBuilder::new("taken").build()).await;
    let text = "code,url\ntaken,https://example.com/1\nlogin,https://example.com/2\na.b,https://example.com/3\n4gHdvR0,https://example.com/4\n\
                ok,javascript:alert(1)\nx,https://example.com/5\n";

    let rows = test.import(json!({"text": text})).await;

    let expected = ["taken", "unsupported", "unsupported", "unsupported", "invalid", "created"];
    assert_eq!(statuses(&rows), expected);
    assert_eq!(rows[2].1, "a.b", "it is named as the file has it");
    assert_eq!(rows[3].2, "this short code looks like a generated one");
}

#[tokio::test]
async fn a_dry_run_and_a_request_that_fails_write_nothing() {
    let test = Fixture::new();
    test.db.store(&LinkBuilder::new("taken").build()).await;
    let text = "code,url\nfree,https://example.com/1\ntaken,https://example.com/2\n";

    let dry = test.send(json!({"text": text, "dry_run": true})).await;
    let failed = test.send(json!({"text": text, "on_conflict": "fail"})).await;

    for answer in [dry, failed] {
        assert_eq!((statuses(&rows(&answer)), &answer.json()["written"]), (vec!["created", "taken"], &json!(false)));
    }
    assert_eq!(test.db.links().find(&short_code("free")).await.unwrap(), None);
}

#[tokio::test]
async fn of_codes_that_differ_by_case_the_first_is_found_in_any() {
    let test = Fixture::new();
    let text = "code,url\nSpring,https://example.com/1\nSPRING,https://example.com/2\n";

    let rows = test.import(json!({"text": text})).await;

    assert_eq!(statuses(&rows), ["created", "created"]);
    for (typed, target) in [("Spring", "/1"), ("SPRING", "/2"), ("spring", "/1")] {
        let Some(Record::Link(link)) = test.db.links().redirect_target(&short_code(typed)).await.unwrap() else {
            panic!("{typed}")
        };
        assert_eq!(link.target.as_str(), format!("https://example.com{target}"), "{typed}");
    }
}

#[tokio::test]
async fn an_import_takes_no_code_that_another_workspace_had() {
    let test = Fixture::new();
    let purged = LinkBuilder::new("gone").build();
    test.db.store(&purged).await;
    test.db.purge(&Record::Link(purged)).await;

    let rows = test.import(json!({"text": "code,url\ngone,https://example.com/\n"})).await;

    assert_eq!(statuses(&rows), ["taken"]);
}

#[tokio::test]
async fn where_nobody_registers_freely_a_code_may_look_generated() {
    let test = Fixture::new();
    let shorten = Shorten { may_look_generated: true, ..fixture::shorten(&test.db) };

    let answer = test.send_to(json!({"items": [{"code": "4gHdvR0", "url": "https://example.com/"}]}), &shorten).await;

    assert_eq!(statuses(&rows(&answer)), ["created"]);
    assert_eq!(test.db.links().redirect_target(&short_code("4GHDVR0")).await.unwrap(), None);
}

#[tokio::test]
async fn what_cannot_be_read_is_400_and_names_the_member() {
    let test = Fixture::new();
    let many = format!("code,url\n{}", "a,https://example.com/\n".repeat(501));
    for (body, field) in [
        (json!({}), "text"),
        (json!({"text": "a", "items": []}), "text"),
        (json!({"text": "just a text"}), "text"),
        (json!({"items": [{"a": 1}]}), "items"),
        (json!({"text": many}), "text"),
        (json!({"text": KUTT, "format": "paper"}), "format"),
        (json!({"text": KUTT, "timezone": "Mars/Base"}), "timezone"),
        (json!({"text": KUTT, "on_conflict": "ask"}), "on_conflict"),
    ] {
        let answer = test.send(body.clone()).await;
        assert_eq!((answer.status, &answer.json()["field"]), (400, &json!(field)), "{body}");
    }
}

#[tokio::test]
async fn a_damaged_row_is_named_with_its_line_in_the_whole_file() {
    let test = Fixture::new();
    let text = "code,url\none,https://example.com/1\ntwo,\"https://example.com/2\nthree,https://example.com/3\n";

    let answer = test.send(json!({"text": text, "first_line": 1_001})).await;

    let lines: Vec<_> = answer.json()["results"].as_array().unwrap().iter().map(|row| row["line"].clone()).collect();
    assert_eq!(lines, [1_002, 1_003, 1_004]);
    assert_eq!(statuses(&rows(&answer)), ["created", "invalid", "created"]);
}

/// A file with a link that was clicked ten times, and these of its clicks.
fn log(clicks: &str) -> String {
    format!("short_code,clicked_at,referrer,user_agent,ip\n{clicks}")
}

const LAUNCH: &str = "code,url,clicks\nlaunch,https://example.com/,10\n";

#[tokio::test]
async fn single_clicks_are_stored_once_and_leave_the_imported_total() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;
    let (today, old) = (ago(3_600), ago(400 * 86_400));
    let text = log(&format!(
        "launch,{today},https://news.example/,Firefox,203.0.113.9\nlaunch,{today},https://news.example/,Firefox,203.0.113.9\n\
         launch,{today},,curl,\nlaunch,{old},,,\n"
    ));

    let first = test.import(json!({"text": text})).await;
    let again = test.import(json!({"text": text})).await;

    assert_eq!(statuses(&first), ["created", "created", "created", "too_old"]);
    assert_eq!(statuses(&again), ["same", "same", "same", "too_old"]);
    let link = test.db.link("launch").await;
    assert_eq!(link.imported_clicks, Some(7));
    let clicks = test.db.clicks().latest(link.id(), 10).await.unwrap();
    assert_eq!(clicks.len(), 3);
    assert!(clicks.iter().all(|click| click.clicked_at() == today && click.visitor.imported));
    assert_eq!(clicks.iter().filter(|click| click.visitor.referer.is_some()).count(), 2);
}

#[tokio::test]
async fn a_total_that_counts_too_few_ends_at_zero() {
    let test = Fixture::new();
    test.import(json!({"text": "code,url\nlaunch,https://example.com/\n"})).await;
    let clicks: String = (0..150).map(|second| format!("launch,{},,,\n", ago(second + 1))).collect();

    let rows = test.import(json!({"text": log(&clicks)})).await;

    assert!(rows.iter().all(|(status, ..)| status == "created"));
    let link = test.db.link("launch").await;
    assert_eq!(link.imported_clicks, Some(0));
    assert_eq!(test.db.clicks().latest(link.id(), 200).await.unwrap().len(), 150);
}

#[tokio::test]
async fn clicks_imported_twice_at_once_are_stored_once() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;
    let text = log(&(0..5).map(|second| format!("launch,{},,,\n", ago(second + 1))).collect::<String>());

    let all = join_all((0..4).map(|_| test.import(json!({"text": text})))).await;

    let created = all.iter().flatten().filter(|(status, ..)| status == "created").count();
    assert_eq!((created, test.db.link("launch").await.imported_clicks), (5, Some(5)));
}

#[tokio::test]
async fn a_click_of_a_link_that_was_not_imported_is_reported() {
    let test = Fixture::new();
    let own = LinkBuilder::new("mine").in_workspace(&test.workspace).build();
    test.db.store(&own).await;
    test.db.store(&LinkBuilder::new("other").build()).await;
    test.import(json!({"text": LAUNCH})).await;
    let future = Timestamp::now().plus(Duration::from_hours(1));
    let clicks = ["mine", "other", "none", "a/b"].map(|code| format!("{code},{},,,\n", ago(60))).concat();

    let rows = test.import(json!({"text": log(&format!("{clicks}launch,{future},,,\n"))})).await;

    assert_eq!(statuses(&rows), ["no_link", "no_link", "no_link", "no_link", "invalid"]);
}

#[tokio::test]
async fn clicks_find_a_link_that_got_a_new_code_and_come_after_links() {
    let test = Fixture::new();
    let clicked_at = ago(60);
    let dump = format!(
        "INSERT INTO `yourls_log` VALUES (1,'{}','a-very/odd','direct','Firefox','203.0.113.9','DE');\n\
         INSERT INTO `yourls_url` VALUES ('a-very/odd','https://example.com/','','2024-03-08 00:38:44','',7);",
        clicked_at.to_string().replace('T', " ").replace('Z', "")
    );
    let body = json!({"text": dump, "from": "old.example", "on_conflict": "new_code"});

    let rows = test.import(body).await;

    assert_eq!(statuses(&rows), ["created", "created"]);
    assert_eq!(test.db.link(rows[1].1.as_str().unwrap()).await.imported_clicks, Some(6));
}

#[tokio::test]
async fn a_dry_run_stores_no_click() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;

    let rows = test.import(json!({"text": log(&format!("launch,{},,,\n", ago(60))), "dry_run": true})).await;

    assert_eq!(statuses(&rows), ["created"]);
    let link = test.db.link("launch").await;
    assert_eq!((link.imported_clicks, test.db.clicks().first(link.id()).await.unwrap()), (Some(10), None));
}

#[tokio::test]
async fn viewers_and_keys_without_the_scope_import_nothing() {
    let test = Fixture::new();
    let body = json!({"text": LAUNCH});
    let viewer = token_of(&test.member, &test.workspace, Role::Viewer);

    let answer = RequestBuilder::new("POST", "/api/import").token(&viewer).json(&body);

    assert_eq!(answer.send_to(&fixture::shorten(&test.db)).await.problem_code(), (403, "role_too_low".to_owned()));
}

#[tokio::test]
async fn a_workspace_imports_five_thousand_rows_a_minute() {
    let test = Fixture::new();
    let rows = "x y,https://example.com/\n".repeat(500);
    let body = json!({"text": format!("code,url\n{rows}"), "dry_run": true});

    let mut statuses = Vec::new();
    for _ in 0..11 {
        statuses.push(test.send(body.clone()).await.status);
    }

    assert_eq!(statuses, [[200; 10].as_slice(), &[429]].concat());
}

#[tokio::test]
async fn no_code_of_another_workspace_is_imported_in_another_case() {
    let (test, other) = (Fixture::new(), WorkspaceId::generate());
    for code in ["Spring", "gone-x"] {
        let link = LinkBuilder::new(code).in_workspace(&other).build();
        let creation = linklet_dynamodb::Creation {
            any_case: linklet_dynamodb::AnyCase::Always,
            ..linklet_dynamodb::Creation::of(&link)
        };
        test.db.links().create(&creation).await.unwrap();
    }
    test.db.purge(&Record::Link(test.db.link("gone-x").await)).await;
    let text = "code,url\nSPRING,https://example.com/1\nspring,https://example.com/2\nGONE-X,https://example.com/3\n";

    for body in [json!({"text": text, "dry_run": true}), json!({"text": text})] {
        assert_eq!(statuses(&test.import(body).await), ["taken"; 3]);
    }
}

#[tokio::test]
async fn the_same_clicks_are_the_same_with_another_domain() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;
    let text = log(&format!("launch,{},,,\n", ago(60)));
    test.import(json!({"text": text})).await;

    let again = test.import(json!({"text": text, "from": "old.example"})).await;

    assert_eq!(statuses(&again), ["same"]);
}

#[tokio::test]
async fn a_click_counts_for_the_link_of_its_own_domain() {
    let test = Fixture::new();
    let links =
        "code,url,domain,clicks\nd,https://example.com/1,one.example,5\nd,https://example.com/2,WWW.Two.example,5\n";
    let rows = test.import(json!({"text": links, "on_conflict": "new_code"})).await;
    let clicks = format!("short_url,clicked_at\nhttps://two.example/d,{0}\nhttps://three.example/d,{0}\n", ago(60));

    let clicked = test.import(json!({"text": clicks})).await;

    assert_eq!(statuses(&clicked), ["created", "no_link"]);
    assert_eq!(test.db.link("d").await.imported_clicks, Some(5));
    assert_eq!(test.db.link(rows[1].1.as_str().unwrap()).await.imported_clicks, Some(4));
}

#[tokio::test]
async fn links_that_get_new_codes_are_found_again_without_a_domain() {
    let test = Fixture::new();
    let text = "code,url,expires_at\na/x,https://example.com/,2999-01-01T00:00:00Z\nb/x,https://example.com/,\nc/x,https://example.com/,\n";
    let body = json!({"text": text, "on_conflict": "new_code"});

    let first = test.import(body.clone()).await;
    let again = test.import(body).await;

    assert_eq!((statuses(&first), statuses(&again)), (vec!["created"; 3], vec!["same"; 3]));
    let codes = |rows: &[(String, Value, Value)]| rows.iter().map(|row| row.1.clone()).collect::<Vec<_>>();
    assert_eq!(codes(&first), codes(&again));
}

#[tokio::test]
async fn a_request_that_fails_as_a_whole_is_tried_as_it_would_be() {
    let test = Fixture::new();
    let repeated = "code,url\none,https://example.com/1\ntwo,https://example.com/2\none,https://example.com/3\n";
    let dump = format!(
        "INSERT INTO `yourls_url` VALUES ('abcd','https://example.com/','','2024-03-08 00:38:44','',7);\n\
         INSERT INTO `yourls_log` VALUES (1,'{}','abcd','direct','Firefox','203.0.113.9','DE');",
        ago(60).to_string().replace('T', " ").replace('Z', "")
    );

    let failed = test.send(json!({"text": repeated, "on_conflict": "fail"})).await;
    let whole = test.send(json!({"text": dump, "on_conflict": "fail"})).await;

    assert_eq!(
        (statuses(&rows(&failed)), &failed.json()["written"]),
        (vec!["created", "created", "taken"], &json!(false))
    );
    assert_eq!((statuses(&rows(&whole)), &whole.json()["written"]), (vec!["created", "created"], &json!(true)));
}

#[tokio::test]
async fn a_click_without_a_user_agent_is_of_a_person() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;

    test.import(json!({"text": format!("code,time\nlaunch,{}\n", ago(60))})).await;

    let link = test.db.link("launch").await;
    let [click] = &test.db.clicks().latest(link.id(), 10).await.unwrap()[..] else { panic!("one click") };
    assert_eq!(click.visitor.user_agent, "Mozilla/5.0");
}

#[tokio::test]
async fn a_link_that_was_used_up_comes_disabled() {
    let test = Fixture::new();
    let items = json!([{"shortCode": "three", "longUrl": "https://example.com/", "meta": {"maxVisits": 3}, "visitsSummary": {"total": 3}}, {"shortCode": "none", "longUrl": ""}]);

    let answer = test.send(json!({"items": items, "format": "shlink"})).await;

    let lines: Vec<_> = answer.json()["results"].as_array().unwrap().iter().map(|row| row["line"].clone()).collect();
    assert_eq!((statuses(&rows(&answer)), lines), (vec!["created", "invalid"], vec![json!(1), json!(2)]));
    assert_eq!(rows(&answer)[0].2, "it is disabled, since it was used as often as it may be");
    assert_eq!(test.db.link("three").await.availability.state, LinkState::Inactive);
}

#[tokio::test]
async fn days_of_an_export_are_no_clicks() {
    let test = Fixture::new();
    test.import(json!({"text": LAUNCH})).await;

    let answer = test.send(json!({"text": "short_code,date,total_clicks\nlaunch,2026-11-01,500\n"})).await;

    assert_eq!((answer.status, test.db.link("launch").await.imported_clicks), (400, Some(10)));
}

#[tokio::test]
async fn a_dry_run_knows_what_operators_have_blocked() {
    let test = Fixture::new();
    let blocked = Blocked::parse("host:evil.example").unwrap();
    test.db.links().block(&Block { blocked, reason: SuspensionReason::Abuse }).await.unwrap();
    let text = "code,url\none,https://evil.example/\n,https://evil.example/2\nfine,https://example.com/\n";

    for body in [json!({"text": text, "dry_run": true}), json!({"text": text})] {
        assert_eq!(statuses(&test.import(body).await), ["invalid", "invalid", "created"]);
    }
}
