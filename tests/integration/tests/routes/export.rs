//! What a workspace takes along.

use linklet_domain::{Event, Spread, spreadsheet};

use crate::fixture::{overviews, shorten};
use crate::prelude::*;

/// Somebody's workspace.
struct Shop {
    db: TestDynamoDb,
    ada: Person,
}

/// The items of a page, and the query of the next one.
type Page = (Vec<Value>, Option<String>);

impl Shop {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        Self { db, ada }
    }

    /// With links of these codes, each a second younger than the one before, and so many clicks each.
    async fn with_clicks(clicks: &[(&str, u64)]) -> Self {
        let shop = Self::new().await;
        let mut events = Vec::new();
        for (number, (code, count)) in clicks.iter().enumerate() {
            let created_at = at("2026-03-01T00:00:00Z").plus(Duration::from_secs(number as u64));
            let link = LinkBuilder::new(code).in_workspace(&shop.ada.workspace).created_at(created_at);
            shop.db.store(&link.tagged(&[if number.is_multiple_of(2) { "even" } else { "odd" }]).build()).await;
            let click = |hours: u64| {
                let click = ClickBuilder::new(code).in_workspace(&shop.ada.workspace);
                click
                    .at(at("2026-03-02T10:00:00Z").plus(Duration::from_secs(hours * 3_600)))
                    .from("https://news.example/=1")
                    .build()
            };
            events.extend((0..*count).map(|number| click(number * 5)));
        }
        shop.follow(&events).await;
        shop
    }

    /// Stores and counts these clicks.
    async fn follow(&self, events: &[Event]) {
        for event in events {
            self.db.clicks().record(&Click::from_event(event.clone()).unwrap(), Spread::Narrow).await.unwrap();
        }
        if !events.is_empty() {
            let queues = FakeQueues::start();
            assert!(analytics(&self.db, &queues).consume(event_batch(events)).await.batch_item_failures.is_empty());
        }
    }

    async fn get_with(&self, token: &str, path: &str) -> Answer {
        let function = Template::load().function_for("GET", path.split('?').next().unwrap());
        let request = RequestBuilder::new("GET", path).token(token).at(at("2026-03-20T12:00:00Z"));
        send(&self.db, &function, request).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.get_with(&self.ada.token(Role::Viewer), path).await
    }

    /// A page as JSON.
    async fn page(&self, path: &str, name: &str) -> Page {
        let answer = self.get(path).await.expecting(200);
        let page = answer.json();
        assert_eq!(
            (&page["version"], page["has_more"] == true),
            (&json!(1), page["next_cursor"].is_string()),
            "{path}"
        );
        (page[name].as_array().unwrap().clone(), next_of(&answer))
    }

    /// A page as CSV, in which each row is an object of its cells.
    async fn rows(&self, path: &str) -> Page {
        let answer = self.get(path).await.expecting(200);
        let mut reader = csv::Reader::from_reader(answer.body.as_bytes());
        let rows = reader.deserialize::<BTreeMap<String, String>>().map(|row| json!(row.unwrap()));
        (rows.collect(), next_of(&answer))
    }

    /// The items of all pages.
    async fn all(&self, path: &str, name: &str) -> Vec<Value> {
        let (mut items, mut next) = self.page(path, name).await;
        let bare = path.split('?').next().unwrap();
        while let Some(query) = next {
            let more;
            (more, next) = self.page(&format!("{bare}{query}"), name).await;
            items.extend(more);
        }
        items
    }

    async fn all_rows(&self, path: &str) -> Vec<Value> {
        let (mut rows, mut next) = self.rows(path).await;
        let bare = path.split('?').next().unwrap();
        while let Some(query) = next {
            let more;
            (more, next) = self.rows(&format!("{bare}{query}")).await;
            rows.extend(more);
        }
        rows
    }

    /// What pages of any size have together is what a single one has, in both forms.
    async fn require_pages(&self, path: &str, name: &str) -> Vec<Value> {
        let with = |more: String| format!("{path}{}{more}", if path.contains('?') { '&' } else { '?' });
        let (items, next) = self.page(path, name).await;
        let (rows, next_rows) = self.rows(&with("format=csv".to_owned())).await;
        assert_eq!((next, next_rows, rows.len()), (None, None, items.len()), "{path}");
        for limit in 1..=items.len() + 1 {
            assert_eq!(self.all(&with(format!("limit={limit}")), name).await, items, "{path} by {limit}");
            assert_eq!(self.all_rows(&with(format!("format=csv&limit={limit}"))).await, rows, "{path} by {limit}");
        }
        for (item, row) in items.iter().zip(&rows) {
            for (column, cell) in row.as_object().unwrap() {
                assert_eq!(spreadsheet::text_of(cell.as_str().unwrap()), text(&item[column]), "{column} of {item}");
            }
        }
        items
    }
}

/// A value as a cell has it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => String::new(),
        value => value.to_string(),
    }
}

/// The query in the header `Link`.
fn next_of(answer: &Answer) -> Option<String> {
    let link = answer.header("link").strip_prefix('<')?;
    Some(link.strip_suffix(">; rel=\"next\"").unwrap().to_owned())
}

fn codes(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["short_code"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn links_are_exported_with_all_that_they_are_oldest_first() {
    let shop = Shop::new().await;
    let member = shop.ada.token(Role::Member);
    let full = json!({
        "url": "https://example.com/ü?a=1", "custom_code": "first-one", "title": "=HYPERLINK(\"x\"), 'ok'", "description": "zwei\nZeilen; +1",
        "tags": ["a,b", "c|d", "日本"], "expires_at": "2027-01-01T00:00:00Z", "valid_from": "2026-01-01T00:00:00Z", "max_clicks": 5,
        "fallback_url": "https://example.com/later", "external_id": "crm-7", "metadata": {"z": "=1", "a": "\"q\""},
        "statistics": "private", "preview": {"title": "Shown"}, "forward_query": true, "password": "correct horse",
        "rules": [{"url": "https://example.com/ios", "conditions": [{"type": "device", "value": "ios"}]}],
        "variants": [{"name": "New", "url": "https://example.com/new", "weight": 20}], "archived": true,
    });
    for body in [full, json!({"url": "https://example.com/2", "title": "'=1"}), json!({"url": "https://example.com/3"})]
    {
        shorten(&shop.db).post("/api/links", &member, &body).await.expecting(201);
    }

    let exported = shop.require_pages("/api/export/links", "links").await;

    let listed = list(&shop.db).get("/api/links?order=asc&archived=all", &member).await.expecting(200).json();
    for (exported, listed) in exported.iter().zip(listed["links"].as_array().unwrap()) {
        let (mut expected, code) = (listed.clone(), listed["short_code"].as_str().unwrap());
        let rules = list(&shop.db).get(&format!("/api/links/{code}/rules"), &member).await.expecting(200).json();
        (expected["rules"], expected["variants"]) = (rules["rules"].clone(), rules["variants"].clone());
        // The calls were made at other times.
        expected["status"] = exported["status"].clone();
        assert_eq!(exported, &expected);
    }
    assert_eq!((exported.len(), &exported[0]["short_code"]), (3, &json!("first-one")));
    let (rows, _) = shop.rows("/api/export/links?format=csv").await;
    let members = exported[0].as_object().unwrap().keys().filter(|name| rows[0].get(name).is_none());
    // What only this deployment means, and what other members say.
    assert_eq!(members.collect::<Vec<_>>(), ["has_rules", "suspended_for", "target_id"], "these have no column");
    assert_eq!((&exported[0]["is_protected"], exported[0].get("password")), (&json!(true), None));
    let file = shop.get("/api/export/links?format=csv&bom=true").await;
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"export-links.csv\"");
    assert!(file.body.starts_with("\u{feff}short_code,short_url,original_url,title,"), "{}", file.body);
    assert_eq!(
        shop.get("/api/export/links").await.header("content-disposition"),
        "attachment; filename=\"export-links.json\""
    );
}

#[tokio::test]
async fn the_filters_of_lists_say_which_links_are_exported() {
    let shop = Shop::with_clicks(&[("one", 0), ("two", 0), ("three", 0)]).await;
    let archived = LinkBuilder::new("four").in_workspace(&shop.ada.workspace).archived();
    shop.db.store(&archived.created_at(at("2026-03-05T00:00:00Z")).build()).await;
    let mut named =
        LinkBuilder::new("five").in_workspace(&shop.ada.workspace).created_at(at("2026-03-06T00:00:00Z")).build();
    named.metadata.external_id = "crm-5".parse().ok();
    shop.db.store(&named).await;

    for (query, found) in [
        ("", vec!["one", "two", "three", "four", "five"]),
        ("archived=false", vec!["one", "two", "three", "five"]),
        ("archived=true", vec!["four"]),
        ("tag=even", vec!["one", "three"]),
        ("tag=-even&created_before=2026-03-05", vec!["two", "four"]),
        ("created_after=2026-03-05", vec!["four", "five"]),
        ("search=thre", vec!["three"]),
        ("search=https://api.example.com/two", vec!["two"]),
        ("status=inactive", vec![]),
        ("external_id=crm-5", vec!["five"]),
        ("external_id=crm-5&tag=even", vec![]),
    ] {
        assert_eq!(codes(&shop.page(&format!("/api/export/links?{query}"), "links").await.0), found, "{query}");
    }
}

#[tokio::test]
async fn exports_of_an_empty_workspace_have_a_header_or_an_empty_list() {
    let shop = Shop::with_clicks(&[("launch", 2)]).await;
    let other = shop.db.register("grace").await.token(Role::Admin);

    for (path, name) in [("links", "links"), ("clicks", "clicks"), ("daily", "days")] {
        let path = format!("/api/export/{path}");
        let page = shop.get_with(&other, &path).await.expecting(200).json();
        assert_eq!(page, json!({"version": 1, name: [], "next_cursor": null, "has_more": false}));
        let table = shop.get_with(&other, &format!("{path}?format=csv")).await.expecting(200);
        assert_eq!(table.body.lines().count(), 1, "{path}");
    }
    for path in ["clicks", "daily"] {
        let refused = shop.get_with(&other, &format!("/api/export/{path}?code=launch")).await;
        assert_eq!(refused.problem_code(), (403, "forbidden".into()), "{path}");
    }
    let theirs = shop.get_with(&other, "/api/export/workspace").await.expecting(200).json();
    assert_eq!((&theirs["members"][0]["email"], &theirs["tags"]), (&json!("grace@example.com"), &json!([])));
}

#[tokio::test]
async fn a_cursor_leads_on_in_its_own_export_only() {
    let shop = Shop::with_clicks(&[("one", 2), ("two", 1)]).await;
    let cursor = |next: Option<String>| next.unwrap().rsplit_once("after=").unwrap().1.to_owned();
    let of_links = cursor(shop.page("/api/export/links?limit=1", "links").await.1);
    let of_clicks = cursor(shop.page("/api/export/clicks?limit=1", "clicks").await.1);

    for path in [
        format!("/api/export/links?after={of_clicks}"),
        format!("/api/export/links?tag=even&after={of_links}"),
        format!("/api/export/daily?after={of_clicks}"),
        format!("/api/export/clicks?code=one&after={of_clicks}"),
    ] {
        assert_eq!(shop.get(&path).await.problem_field(), (400, "after".into()), "{path}");
    }
    for (path, field) in [
        ("links?format=xml", "format"),
        ("links?limit=0", "limit"),
        ("links?tag=-", "tag"),
        ("links?sort=clicks", "sort"),
        ("links?bom=1&format=csv", "bom"),
        ("clicks?code=one&tag=even", "tag"),
        ("clicks?from=yesterday", "from"),
        ("clicks?from=2026-03-03&to=2026-03-02", "from"),
        ("daily?from=2020-01-01&to=2026-03-02", "from"),
        ("workspace?format=csv", "format"),
    ] {
        let request = RequestBuilder::new("GET", &format!("/api/export/{path}")).outside_the_contract();
        let function =
            Template::load().function_for("GET", &format!("/api/export/{}", path.split('?').next().unwrap()));
        let answer = send(&shop.db, &function, request.token(&shop.ada.token(Role::Viewer))).await;
        assert_eq!(
            (answer.status, answer.json()["field"].as_str().unwrap_or(field)),
            (400, field),
            "{path}: {}",
            answer.body
        );
    }
}

#[tokio::test]
async fn clicks_are_exported_of_a_link_a_tag_or_all_links() {
    let shop = Shop::with_clicks(&[("one", 3), ("none", 0), ("two", 2), ("three", 4)]).await;

    let all = shop.require_pages("/api/export/clicks", "clicks").await;

    assert_eq!(codes(&all), ["one", "one", "one", "two", "two", "three", "three", "three", "three"]);
    for code in ["one", "two", "three"] {
        let shown = shop.get(&format!("/api/stats/{code}/clicks?limit=100")).await.expecting(200).json();
        let mut of_link = shop.require_pages(&format!("/api/export/clicks?code={code}"), "clicks").await;
        assert_eq!(of_link, all.iter().filter(|click| click["short_code"] == code).cloned().collect::<Vec<_>>());
        of_link.iter_mut().for_each(|click| _ = click.as_object_mut().unwrap().remove("short_code"));
        assert_eq!(json!(of_link), shown["clicks"], "{code}");
    }
    assert_eq!(codes(&shop.all("/api/export/clicks?tag=even", "clicks").await), ["one", "one", "one", "two", "two"]);
    let late = shop.all("/api/export/clicks?from=2026-03-02T20:00:00Z&to=2026-03-03T00:30:00Z", "clicks").await;
    assert_eq!(codes(&late), ["one", "three"]);
    assert_eq!(late[0]["clicked_at"], "2026-03-02T20:00:00.000Z");
}

#[tokio::test]
async fn days_are_exported_of_a_link_a_tag_or_all_links() {
    let shop = Shop::with_clicks(&[("one", 9), ("none", 0), ("two", 1), ("three", 4)]).await;

    let all = shop.require_pages("/api/export/daily", "days").await;

    assert_eq!(codes(&all), ["one", "one", "one", "two", "three", "three"]);
    for code in ["one", "two", "three"] {
        let mut shown = shop.get(&format!("/api/stats/{code}/daily")).await.expecting(200).json();
        let mut of_link = shop.require_pages(&format!("/api/export/daily?code={code}"), "days").await;
        of_link.iter_mut().for_each(|day| _ = day.as_object_mut().unwrap().remove("short_code"));
        shown["days"].as_array_mut().unwrap().reverse();
        assert_eq!(json!(of_link), shown["days"], "{code}");
    }
    let days = shop.all("/api/export/daily?tag=even&from=2026-03-03&to=2026-03-03", "days").await;
    assert_eq!((codes(&days), &days[0]["date"]), (vec!["one"], &json!("2026-03-03")));
}

#[tokio::test]
async fn an_export_goes_on_where_its_link_was_purged_meanwhile() {
    for name in ["clicks", "daily"] {
        let shop = Shop::with_clicks(&[("one", 1), ("two", 9), ("three", 1)]).await;
        let members = if name == "daily" { "days" } else { name };
        let (first, next) = shop.page(&format!("/api/export/{name}?limit=2"), members).await;
        assert_eq!(codes(&first), ["one", "two"]);

        shop.db.purge(&shop.db.links().find(&"two".parse().unwrap()).await.unwrap().unwrap()).await;

        let (rest, _) = shop.page(&format!("/api/export/{name}{}", next.unwrap()), members).await;
        assert_eq!(codes(&rest), ["three"], "{name}");
    }
}

#[tokio::test]
async fn an_export_of_links_lacks_nothing_or_fails() {
    let shop = Shop::with_clicks(&[("one", 1)]).await;
    shop.db.take_away("StatsTable");

    assert_eq!(shop.get("/api/export/links").await.status, 503);
}

#[tokio::test]
async fn links_created_at_the_same_moment_are_exported_once_each() {
    let shop = Shop::new().await;
    let moment = at("2026-03-01T00:00:00Z");
    let mut events = Vec::new();
    for code in ["bbb", "aaa", "ddd", "Ccc"] {
        shop.db.store(&LinkBuilder::new(code).in_workspace(&shop.ada.workspace).created_at(moment).build()).await;
        let click = |second: u64| ClickBuilder::new(code).at(moment.plus(Duration::from_secs(second)));
        events.extend([0, 1].map(|second| click(second).in_workspace(&shop.ada.workspace).build()));
    }
    shop.follow(&events).await;

    assert_eq!(codes(&shop.require_pages("/api/export/links", "links").await), ["Ccc", "aaa", "bbb", "ddd"]);
    let clicks = shop.require_pages("/api/export/clicks", "clicks").await;
    assert_eq!(codes(&clicks), ["Ccc", "Ccc", "aaa", "aaa", "bbb", "bbb", "ddd", "ddd"]);
}

#[tokio::test]
async fn a_page_of_an_export_has_at_most_5_mb() {
    let (db, workspace) = (TestDynamoDb::without_streams(), WorkspaceId::generate());
    let token = token_for(&workspace, Role::Viewer);
    let links: Vec<_> = (0..1_200)
        .map(|number| {
            let url = format!("https://example.com/{}", "u".repeat(2_000));
            let created_at = at("2026-03-01T00:00:00Z").plus(Duration::from_secs(number));
            let mut link = LinkBuilder::new(&format!("link{number:04}")).to(&url).created_at(created_at);
            link = link.in_workspace(&workspace);
            let mut link = link.build();
            link.metadata.description = "\"".repeat(2_000).parse().ok();
            link
        })
        .collect();
    db.store_all(&links).await;

    for format in ["json", "csv"] {
        let (mut query, mut count, mut pages) = (format!("?format={format}"), 0, 0);
        loop {
            let answer = list(&db).get(&format!("/api/export/links{query}"), &token).await.expecting(200);
            // Lambda takes the body as a text in JSON.
            let size = json!(answer.body).to_string().len();
            assert!(size <= 6_000_000, "{format}: {size}");
            count += answer.body.matches("https://example.com/u").count();
            pages += 1;
            let Some(next) = next_of(&answer) else { break };
            assert!(size > 4_500_000, "{format}: {size}");
            query = next;
        }
        assert_eq!((count, pages > 1), (1_200, true), "{format}");
    }
    fixture::has_read(&db, &workspace, RateLimit::READ_UNITS.calls(), Timestamp::now()).await;
    assert_eq!(list(&db).get("/api/export/links", &token).await.status, 429);
}

#[tokio::test]
async fn a_workspace_is_exported_with_its_members_tags_and_targets() {
    let shop = Shop::with_clicks(&[("one", 1), ("two", 0)]).await;
    let bob = colleague(&shop.db, &shop.ada, "bob", Role::Member).await;
    let member = bob.token(Role::Member);
    for number in 0..3 {
        let url = json!({"url": format!("https://example.com/{number}")});
        fixture::watch(&shop.db).post("/v1/targets", &member, &url).await.expecting(201);
    }
    let viewer = bob.token(Role::Viewer);
    let export = async |query: &str| {
        overviews(&shop.db).get(&format!("/api/export/workspace{query}"), &viewer).await.expecting(200)
    };

    let whole = export("").await.json();

    let shown = account(&shop.db).get("/api/workspace", &viewer).await.json();
    let members = account(&shop.db).get("/api/workspace/members", &viewer).await.json();
    let targets = fixture::watch(&shop.db).get("/v1/targets", &viewer).await.json();
    assert_eq!((&whole["version"], &whole["workspace"], &whole["members"]), (&json!(1), &shown, &members["members"]));
    assert_eq!((&whole["targets"], &whole["incomplete"]), (&targets["items"], &json!([])));
    let tags = json!([{"tag": "even", "links": 1, "total_clicks": 1}, {"tag": "odd", "links": 1, "total_clicks": 0}]);
    assert_eq!(whole["tags"], tags);
    let first = export("?limit=2").await;
    let rest = export(&next_of(&first).unwrap()).await.json();
    assert_eq!((first.json()["targets"].as_array().unwrap().len(), &rest["targets"][0]), (2, &whole["targets"][2]));
    assert_eq!((&rest["workspace"], &rest["members"], &rest["tags"]), (&Value::Null, &json!([]), &json!([])));
}

#[tokio::test]
async fn only_admins_export_the_audit_log() {
    let shop = Shop::new().await;
    let bob = colleague(&shop.db, &shop.ada, "bob", Role::Member).await;
    for number in 0..3 {
        let name = json!({"name": format!("Looms {number}")});
        account(&shop.db).patch("/api/workspace", &shop.ada.token(Role::Admin), &name).await.expecting(200);
    }
    let export = async |query: &str| {
        account(&shop.db).get(&format!("/api/export/audit{query}"), &shop.ada.token(Role::Admin)).await
    };

    let refused = account(&shop.db).get("/api/export/audit", &bob.token(Role::Member)).await;
    assert_eq!(refused.problem_code(), (403, "role_too_low".into()));
    let whole = export("").await.expecting(200).json();
    let shown = account(&shop.db).get("/api/workspace/audit", &shop.ada.token(Role::Admin)).await.json();
    assert_eq!((&whole["version"], &whole["entries"]), (&json!(1), &shown["entries"]));
    let first = export("?limit=2&action=workspace.changed").await.expecting(200);
    let rest = export(&next_of(&first).unwrap()).await.expecting(200).json();
    assert_eq!((&rest["entries"], rest["has_more"] == true), (&json!([whole["entries"][2]]), false));
    let table = export("?format=csv&action=workspace.changed").await.expecting(200);
    assert_eq!(table.body.lines().count(), 4);
}

/// What a link keeps when it moves. The id of a monitored URL depends on the workspace.
fn lasting(mut link: Value) -> Value {
    for counted in
        ["total_clicks", "imported_clicks", "used", "target_id", "created_by", "created_by_name", "updated_at"]
    {
        link.as_object_mut().unwrap().remove(counted);
    }
    link
}

#[tokio::test]
async fn an_export_that_is_imported_elsewhere_is_exported_alike() {
    let shop = Shop::new().await;
    let token = shop.ada.token(Role::Member);
    let create = async |body: Value, second: u64| {
        let at = at("2026-03-01T00:00:00Z").plus(Duration::from_secs(second));
        let request = RequestBuilder::new("POST", "/api/links").token(&token).json(&body).at(at);
        request.send_to(&shorten(&shop.db)).await.expecting(201);
    };
    let full = json!({
        "url": "https://example.com/ü?a=1", "custom_code": "First-One", "title": "=HYPERLINK(\"x\"), 'ok'", "description": "zwei\nZeilen; +1",
        "tags": ["a,b", "c|d", "日本"], "expires_at": "2026-03-15T00:00:00Z", "valid_from": "2026-03-02T00:00:00Z", "max_clicks": 5,
        "fallback_url": "https://example.com/later", "external_id": "7", "metadata": {"z": "=1", "a": "\"q\"", "n": "1"},
        "statistics": "private", "preview": {"title": "Shown"}, "forward_query": true,
        "rules": [{"url": "https://example.com/ios", "conditions": [{"type": "device", "value": "ios"}]}],
        "variants": [{"name": "New", "url": "https://example.com/new", "weight": 20}],
    });
    create(full, 1).await;
    create(json!({"url": "https://example.com/2", "title": "'=1", "watch": true}), 2).await;
    create(json!({"url": "https://example.com/3", "custom_code": "3rd_link"}), 3).await;
    create(json!({"url": "https://example.com/2", "reuse": false}), 4).await;
    shop.db
        .store(
            &LinkBuilder::new("old")
                .in_workspace(&shop.ada.workspace)
                .archived()
                .created_at(at("2026-03-05T00:00:00Z"))
                .build(),
        )
        .await;
    shop.follow(&[ClickBuilder::new("old").in_workspace(&shop.ada.workspace).at(at("2026-03-06T00:00:00Z")).build()])
        .await;
    let exported = shop.all("/api/export/links", "links").await;

    for form in ["json", "csv"] {
        let file = shop.get(&format!("/api/export/links?format={form}")).await.body;
        let other = Shop::new().await;
        let shorten = Shorten { may_look_generated: true, ..shorten(&other.db) };
        let import = RequestBuilder::new("POST", "/api/import").token(&other.ada.token(Role::Member));
        let import = import.json(&json!({"text": file})).at(at("2026-03-19T00:00:00Z"));

        let imported = import.send_to(&shorten).await.expecting(200).json();

        assert_eq!(imported["format"], "linklet");
        let statuses: Vec<_> = imported["results"].as_array().unwrap().iter().map(|row| &row["status"]).collect();
        assert_eq!(statuses, vec!["created"; exported.len()], "{imported}");
        let again = other.all("/api/export/links", "links").await;
        let lasting = |links: &[Value]| links.iter().cloned().map(lasting).collect::<Vec<_>>();
        assert_eq!(lasting(&again), lasting(&exported), "{form}");
        assert_eq!(again.last().unwrap()["imported_clicks"], 1);
    }
}

#[tokio::test]
async fn exported_clicks_are_imported_elsewhere() {
    let shop = Shop::with_clicks(&[("launch", 3)]).await;
    let other = Shop::new().await;
    let import = async |file: String| {
        let token = other.ada.token(Role::Member);
        let request = RequestBuilder::new("POST", "/api/import").token(&token).json(&json!({"text": file}));
        request.at(at("2026-03-19T00:00:00Z")).send_to(&shorten(&other.db)).await.expecting(200)
    };
    import(shop.get("/api/export/links?format=csv").await.body).await;

    import(shop.get("/api/export/clicks").await.body).await;
    let again = import(shop.get("/api/export/clicks?format=csv").await.body).await.json();

    assert!(again["results"].as_array().unwrap().iter().all(|row| row["status"] == "same"), "{again}");
    let link = other.db.link("launch").await;
    assert_eq!(link.imported_clicks, Some(0), "all of the total came singly");
    let clicks = other.db.clicks().latest(link.id(), 10).await.unwrap().into_iter();
    other.follow(&clicks.map(Click::into_event).collect::<Vec<_>>()).await;
    let members =
        |click: &Value| ["short_code", "id", "clicked_at", "referer", "audience"].map(|name| click[name].clone());
    let of = |clicks: Vec<Value>| clicks.iter().map(members).collect::<Vec<_>>();
    let [here, there] = [&shop, &other].map(|shop| shop.all("/api/export/clicks", "clicks"));
    assert_eq!(of(there.await), of(here.await));
}
