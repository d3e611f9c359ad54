//! Questions about many links: `GET /api/overview` and `/api/overview/breakdowns` of a tag and a time.

use linklet_domain::Day;
use linklet_dynamodb::WatchOutcome;
use linklet_lambda::batch::Consumer as _;

use super::overview::{DAY, Fixture, MINUTE, period};
use crate::{fixture::overviews, prelude::*};

const CHROME: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";

impl Fixture {
    fn day(&self, days_ago: u32) -> Day {
        self.now.minus(DAY * days_ago).day()
    }

    async fn ask_at(&self, path: &str, at: Timestamp) -> Value {
        self.get_at(path, at).await.expecting(200).json()
    }

    async fn ask(&self, path: &str) -> Value {
        self.ask_at(path, self.now).await
    }

    /// The parameters of the time between two days.
    fn between(&self, first: u32, last: u32) -> String {
        format!("from={}&to={}", self.day(first), self.day(last))
    }

    async fn count(&self, clicks: Vec<ClickBuilder>) {
        let clicks: Vec<_> = clicks.into_iter().map(|click| click.in_workspace(&self.workspace).build()).collect();
        for clicks in clicks.chunks(500) {
            let analytics = analytics(&self.db, &FakeQueues::start());
            assert!(analytics.consume(event_batch(clicks)).await.batch_item_failures.is_empty());
        }
    }

    fn click_of(&self, code: &str, agent: &str, days_ago: u32) -> ClickBuilder {
        ClickBuilder::new(code).at(self.now.minus(DAY * days_ago)).with(agent)
    }

    async fn refused(&self, path: &str) -> (u16, String) {
        let answer = self.get_at(path, self.now).await;
        (answer.status, answer.json()["field"].as_str().unwrap_or_default().to_owned())
    }
}

fn codes(links: &Value) -> Vec<&str> {
    links.as_array().unwrap().iter().map(|link| link["short_code"].as_str().unwrap()).collect()
}

/// The count of each value of a breakdown.
fn counts<'v>(breakdowns: &'v Value, name: &str, label: &str) -> Vec<(&'v str, u64)> {
    let values = breakdowns[name].as_array().unwrap().iter();
    values.map(|value| (value[label].as_str().unwrap(), value["count"].as_u64().unwrap())).collect()
}

// ------------------------------------------------------------------------------------------------------------- An overview

#[tokio::test]
async fn a_tags_overview_covers_its_links_however_the_tag_is_written() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch", "mail"]).await;
    fixture.store("second", &["Launch"]).await;
    fixture.store("third", &["mail"]).await;
    let gone = fixture.store("gone", &["launch"]).await;
    for (code, clicks) in [("first", 3), ("second", 2), ("third", 7), ("gone", 5)] {
        fixture.click(code, (clicks, 1), 0).await;
    }
    fixture.delete(&gone).await;

    let overview = fixture.ask("/api/overview?tag=LAUNCH").await;

    assert!(overview["tag"].as_str().unwrap().eq_ignore_ascii_case("launch"));
    assert_eq!((&overview["links"]["total"], &overview["links"]["deleted"]), (&json!(3), &json!(1)));
    assert_eq!(overview["clicks"]["today"], period(13, 10, 0, 0), "with those of the deleted link");
    assert_eq!(codes(&overview["top_links"]), ["first", "second"]);
    assert_eq!(overview.get("period"), Some(&Value::Null));
    assert_eq!(overview["days"].as_array().unwrap().len(), 60);
}

#[tokio::test]
async fn a_tag_that_no_link_has_has_an_overview_of_nothing() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch"]).await;
    fixture.click("first", (3, 0), 0).await;

    let overview = fixture.ask("/api/overview?tag=other").await;
    let breakdowns = fixture.ask("/api/overview/breakdowns?tag=other").await;

    assert_eq!((&overview["links"]["total"], &overview["clicks"]["today"]), (&json!(0), &period(0, 0, 0, 0)));
    assert_eq!((overview.get("tag"), breakdowns.get("tag")), (Some(&Value::Null), Some(&Value::Null)));
    assert_eq!((&breakdowns["total_clicks"], &breakdowns["devices"]), (&json!(0), &json!([])));
}

#[tokio::test]
async fn a_recent_period_is_compared_with_the_one_before_without_reading_days() {
    let fixture = Fixture::new();
    for code in ["first", "second"] {
        fixture.store(code, &[]).await;
    }
    for (code, clicks, days_ago) in
        [("first", (2, 1), 3), ("second", (4, 0), 4), ("first", (9, 0), 2), ("second", (1, 1), 5), ("first", (3, 0), 6)]
    {
        fixture.click(code, clicks, days_ago).await;
    }
    let (overviews, meter) = fixture.metered();
    let path = format!("/api/overview?{}", fixture.between(4, 3));

    let overview =
        RequestBuilder::new("GET", &path).token(&fixture.token).at(fixture.now).send_to(&overviews).await.json();

    let expected = json!({
        "from": fixture.day(4), "to": fixture.day(3), "total_clicks": 7, "human_clicks": 6, "total_clicks_before": 5,
        "human_clicks_before": 4, "covers": null,
    });
    assert_eq!(overview["period"], expected);
    let days = json!([
        {"date": fixture.day(4), "clicks": 4, "human_clicks": 4}, {"date": fixture.day(3), "clicks": 3, "human_clicks": 2},
    ]);
    assert_eq!(overview["days"], days);
    assert_eq!(codes(&overview["top_links"]), ["second", "first"]);
    assert_eq!(meter.by_operation()["Query"].calls, 3, "links, totals and monitored URLs: {:?}", meter.by_operation());
}

#[tokio::test]
async fn an_older_time_is_added_up_from_the_days_of_its_links() {
    let fixture = Fixture::new();
    for code in ["first", "second", "third"] {
        fixture.store(code, &["launch"]).await;
    }
    fixture.store("strange", &[]).await;
    for (code, clicks, days_ago) in [
        ("first", (2, 1), 90),
        ("first", (5, 0), 3),
        ("second", (4, 0), 80),
        ("second", (1, 0), 91),
        ("third", (3, 0), 0),
        ("strange", (8, 0), 85),
    ] {
        fixture.click(code, clicks, days_ago).await;
    }

    let overview = fixture.ask(&format!("/api/overview?tag=launch&{}", fixture.between(90, 80))).await;

    let expected = json!({
        "from": fixture.day(90), "to": fixture.day(80), "total_clicks": 7, "human_clicks": 6, "total_clicks_before": null,
        "human_clicks_before": null, "covers": null,
    });
    assert_eq!(overview["period"], expected);
    assert_eq!(overview["days"].as_array().unwrap().len(), 11);
    assert_eq!(overview["days"][0], json!({"date": fixture.day(90), "clicks": 3, "human_clicks": 2}));
    assert_eq!(codes(&overview["top_links"]), ["second", "first"]);
    assert_eq!(overview["clicks"]["last_7_days"], period(8, 8, 0, 0));
}

#[tokio::test]
async fn what_is_down_is_what_a_link_with_the_tag_watches() {
    let fixture = Fixture::new();
    let (tagged, other) = (fixture.store("tagged", &["launch"]).await, fixture.store("other", &["mail"]).await);
    for (url, watcher) in [
        ("https://example.com/1", Some(&tagged)),
        ("https://example.com/2", Some(&other)),
        ("https://example.com/3", None),
    ] {
        let target = fixture.target(url).await;
        if let Some(Link { identity, .. }) = watcher {
            let outcome = fixture.db.watch().watch(&target, &identity.id, fixture.now, &correlation()).await;
            assert_eq!(outcome.unwrap(), WatchOutcome::Done);
        }
        fixture.fail(&target, fixture.now.minus(MINUTE)).await;
    }

    let urls = |overview: Value| {
        let urls = overview["down"].as_array().unwrap().iter().map(|down| down["url"].as_str().unwrap().to_owned());
        let mut urls: Vec<_> = urls.collect();
        urls.sort();
        urls
    };
    assert_eq!(urls(fixture.ask("/api/overview?tag=launch").await), ["https://example.com/1"]);
    assert_eq!(urls(fixture.ask("/api/overview").await).len(), 3);
}

/// Each watcher has 300 KB, as none has in truth, so that few are enough.
#[tokio::test]
async fn too_many_watching_links_leave_a_tags_down_targets_incomplete() {
    let fixture = Fixture::new();
    let tagged = fixture.store("zz99", &["launch"]).await;
    let target = fixture.target("https://example.com/1").await;
    fixture.db.watch().watch(&target, &tagged.identity.id, fixture.now, &correlation()).await.unwrap();
    fixture.fail(&target, fixture.now.minus(MINUTE)).await;
    let is_watcher = |row: &Value| row["pk"]["S"].as_str().unwrap().starts_with("WATCHER#");
    let watcher = fixture.db.scan("WatchTable").into_iter().find(is_watcher).unwrap();
    for number in 0..30 {
        let copy = watcher.to_string().replace("zz99", &format!("aa{number:02}"));
        let mut copy: Value = serde_json::from_str(&copy).unwrap();
        copy["padding"] = json!({"S": "x".repeat(300_000)});
        fixture.db.put("WatchTable", &copy);
    }

    let overview = fixture.ask("/api/overview?tag=launch").await;

    assert_eq!((&overview["down"], &overview["incomplete"]), (&json!([]), &json!(["down"])));
}

// ----------------------------------------------------------------------------------------------------------- Its breakdowns

#[tokio::test]
async fn breakdowns_add_up_the_days_of_all_links_by_audience() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch"]).await;
    fixture.store("second", &["launch"]).await;
    fixture.store("third", &[]).await;
    let clicks = vec![
        fixture.click_of("first", FIREFOX, 1).from("https://news.example/a"),
        fixture.click_of("first", CHROME, 2).from("https://news.example/a"),
        fixture.click_of("first", BOT, 2),
        fixture.click_of("second", CHROME, 3),
        fixture.click_of("third", CHROME, 3),
        fixture.click_of("second", CHROME, 40),
    ];
    fixture.count(clicks).await;

    let all = fixture.ask("/api/overview/breakdowns").await;
    let people = fixture.ask("/api/overview/breakdowns?tag=launch&audience=human").await;
    let machines = fixture.ask("/api/overview/breakdowns?audience=bot&audience=prefetch").await;

    assert_eq!((&all["from"], &all["to"]), (&json!(fixture.day(29)), &json!(fixture.day(0))));
    assert_eq!((&all["total_clicks"], &all["human_clicks"]), (&json!(5), &json!(4)));
    assert_eq!(counts(&all, "browsers", "browser"), [("Chrome", 3), ("Firefox", 1), ("Googlebot", 1)]);
    assert_eq!(counts(&all, "referers", "referer"), [("https://news.example/a", 2)]);
    assert_eq!(counts(&all, "sources", "source"), [("direct", 3), ("link", 2)]);
    assert_eq!((all.get("covers"), all.get("destinations")), (Some(&Value::Null), None));
    assert_eq!((&people["tag"], &people["total_clicks"]), (&json!("launch"), &json!(3)));
    assert_eq!(counts(&people, "browsers", "browser"), [("Chrome", 2), ("Firefox", 1)]);
    assert_eq!((&machines["total_clicks"], &machines["human_clicks"]), (&json!(1), &json!(0)));
    for (first, last, clicks) in [(29, 0, 5), (90, 3, 3)] {
        let between = fixture.between(first, last);
        let breakdowns = fixture.ask(&format!("/api/overview/breakdowns?{between}")).await;
        let overview = fixture.ask(&format!("/api/overview?{between}")).await;
        assert_eq!(
            (&overview["period"]["total_clicks"], &breakdowns["total_clicks"]),
            (&json!(clicks), &json!(clicks))
        );
        for name in ["devices", "browsers", "countries", "operating_systems", "sources"] {
            let values = breakdowns[name].as_array().unwrap().iter();
            assert_eq!(values.map(|value| value["count"].as_u64().unwrap()).sum::<u64>(), clicks, "{name}");
        }
    }
}

/// Each of 40 links has a day of 300 KB, as none has in truth, so that few links are enough.
#[tokio::test]
async fn beyond_eight_megabytes_only_the_most_clicked_links_are_covered() {
    let fixture = Fixture::new();
    fixture.store("link00", &[]).await;
    fixture.click("link00", (10, 0), 1).await;
    let is_copied = |row: &Value| {
        row["sk"]["S"].as_str().is_some_and(|sort_key| sort_key.starts_with("DAY#") || sort_key.starts_with("TOTAL#"))
    };
    for row in fixture.db.scan("StatsTable").into_iter().filter(is_copied) {
        for number in 0..40_u32 {
            let copy = row.to_string().replace("link00", &format!("link{number:02}"));
            let mut copy: Value = serde_json::from_str(&copy).unwrap();
            if copy["sk"]["S"].as_str().unwrap().starts_with("DAY#") {
                copy["padding"] = json!({"S": "x".repeat(300_000)});
            } else {
                copy[fixture.day(1).to_string()] = json!({"L": [{"N": (100 - number).to_string()}, {"N": "0"}]});
            }
            fixture.db.put("StatsTable", &copy);
        }
    }

    let breakdowns = fixture.ask("/api/overview/breakdowns").await;

    let covers = &breakdowns["covers"];
    let added = breakdowns["total_clicks"].as_u64().unwrap() / 10;
    assert!((20..=27).contains(&added), "{added} links of 300 KB");
    let weight_of = |links: u64| (0..links).map(|number| 100 - number).sum::<u64>();
    assert_eq!(covers["of"].as_u64(), Some(weight_of(40)));
    // What several links are read with at a time may be too little for one of them, and enough for the next.
    let covered = covers["clicks"].as_u64().unwrap();
    assert!((weight_of(added) - 100..=weight_of(added)).contains(&covered), "{covered} of {added} links");
}

// -------------------------------------------------------------------------------------------------------------- When it is

#[tokio::test]
async fn an_answer_is_kept_per_question_and_made_anew_after_a_minute() {
    let fixture = Fixture::new();
    fixture.store("first", &["launch"]).await;
    let question = format!("/api/overview/breakdowns?tag=launch&{}", fixture.between(3, 0));
    let before = fixture.ask(&question).await;
    fixture.click("first", (2, 0), 1).await;

    let soon = fixture.now.plus(Duration::from_secs(59));
    assert_eq!(fixture.ask_at(&question, soon).await, before);
    assert_eq!(fixture.ask_at(&question.replace("launch", "LAUNCH"), soon).await, before);
    let other = format!("/api/overview/breakdowns?tag=launch&{}", fixture.between(2, 0));
    assert_eq!(fixture.ask_at(&other, soon).await["total_clicks"], 2);
    assert_eq!(fixture.ask_at(&question, fixture.now.plus(MINUTE)).await["total_clicks"], 2);
    let foreign = RequestBuilder::new("GET", &question).token(&token_for(&WorkspaceId::generate(), Role::Admin));
    let foreign = foreign.at(fixture.now.plus(MINUTE)).send_to(&overviews(&fixture.db)).await;
    assert_eq!((foreign.status, &foreign.json()["total_clicks"]), (200, &json!(0)), "another workspace has its own");
}

#[tokio::test]
async fn a_workspace_keeps_twenty_answers_and_gets_further_ones_all_the_same() {
    let fixture = Fixture::new();
    fixture.store("first", &[]).await;
    fixture.click("first", (2, 0), 1).await;
    let question = |number: usize| format!("/api/overview?tag=tag{number}");
    let kept = || {
        let rows = fixture.db.scan("StatsTable").into_iter();
        rows.filter(|row| row["sk"]["S"].as_str().is_some_and(|sort_key| sort_key.starts_with("OVERVIEW#"))).count()
    };
    for number in 0..StatsTable::MOST_QUESTIONS + 2 {
        fixture.ask(&question(number)).await;
    }
    assert_eq!(kept(), StatsTable::MOST_QUESTIONS);

    // The places of those that nobody has asked again for an hour are free.
    let later = fixture.now.plus(lifetimes::QUESTIONS).plus(Duration::from_secs(1));
    fixture.ask_at(&question(StatsTable::MOST_QUESTIONS), later).await;
    assert_eq!(kept(), StatsTable::MOST_QUESTIONS + 1, "those that have ended stay until DynamoDB deletes them");
    let row = fixture.db.scan("StatsTable").into_iter().find(|row| row["sk"]["S"] == "QUESTIONS").unwrap();
    assert_eq!(row["questions"]["M"].as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn many_new_questions_at_once_are_answered_and_twenty_kept() {
    let fixture = Fixture::new();
    fixture.store("first", &[]).await;

    let questions: Vec<_> = (0..40).map(|number| format!("/api/overview?tag=tag{number}")).collect();
    assert_eq!(futures_util::future::join_all(questions.iter().map(|question| fixture.ask(question))).await.len(), 40);
    let row = fixture.db.scan("StatsTable").into_iter().find(|row| row["sk"]["S"] == "QUESTIONS").unwrap();
    let kept = row["questions"]["M"].as_object().unwrap().len();
    assert!((1..=StatsTable::MOST_QUESTIONS).contains(&kept), "{kept}");
}

#[tokio::test]
async fn while_questions_cannot_be_kept_they_are_answered() {
    let fixture = Fixture::new();
    fixture.store("first", &[]).await;
    fixture.click("first", (2, 0), 1).await;
    let ask = async |failing: usize| {
        let faults = Faults::default();
        faults.plan(Some((failing, Fault::Throttled)));
        let mut overviews = overviews(&fixture.db);
        overviews.stats = StatsTable::new(fixture.db.table_with(faults, "StatsTable"));
        let path = format!("/api/overview/breakdowns?{}", fixture.between(failing as u32 + 1, 0));
        RequestBuilder::new("GET", &path).token(&fixture.token).at(fixture.now).send_to(&overviews).await
    };

    // The row, the totals, the days, the list of questions, and writing that and the row.
    let mut statuses = Vec::new();
    for failing in 0..6 {
        let answer = ask(failing).await;
        statuses.push((answer.status, answer.json().get("total_clicks").cloned()));
    }
    let (failed, answered) = ((503, None), (200, Some(json!(2))));
    assert_eq!(statuses, [failed.clone(), failed.clone(), failed, answered.clone(), answered.clone(), answered]);
    assert_eq!(ask(9).await.status, 200);
}

#[tokio::test]
async fn a_parameter_that_is_not_known_or_makes_no_sense_is_refused() {
    let fixture = Fixture::new();
    let long = format!("tag={}", "x".repeat(51));

    for (query, field) in [
        ("tags=launch", "tags"),
        ("tz=Europe/Berlin", "tz"),
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("from=2026-03-02&to=2026-03-01", "from"),
        ("from=2026-01-01&to=2027-02-01", "from"),
        (long.as_str(), "tag"),
        ("tag=%00", "tag"),
    ] {
        for path in ["/api/overview", "/api/overview/breakdowns"] {
            let (status, at) = fixture.refused(&format!("{path}?{query}")).await;
            assert_eq!((status, at.as_str()), (400, field), "{path}?{query}");
        }
    }
    assert_eq!(fixture.refused("/api/overview?audience=human").await, (400, "audience".into()));
    for audience in ["people", "bot", "human&audience=bot"] {
        let refused = fixture.refused(&format!("/api/overview/breakdowns?audience={audience}")).await;
        assert_eq!(refused, (400, "audience".into()), "{audience}");
    }
    fixture.ask("/api/overview?tag=").await;
}

// ------------------------------------------------------------------------------------------------------------ What it costs

/// Each link has ten ordinary clicks on each of 30 days.
#[tokio::test]
async fn breakdowns_of_a_hundred_links_take_some_hundred_units() {
    let fixture = Fixture::new();
    fixture.store("link0000", &["launch"]).await;
    for days_ago in (0..30).rev() {
        let agents = [CHROME, FIREFOX, CHROME, CHROME, BOT, CHROME, FIREFOX, CHROME, CHROME, CHROME];
        fixture
            .count(
                agents.map(|agent| fixture.click_of("link0000", agent, days_ago).from("https://news.example/a")).into(),
            )
            .await;
    }
    let is_of_link =
        |row: &Value| row.to_string().contains("link0000") && !row["pk"]["S"].as_str().unwrap().starts_with("SEEN#");
    for table in ["LinksTable", "StatsTable"] {
        for row in fixture.db.scan(table).into_iter().filter(is_of_link) {
            for number in 1..100 {
                let copy = row.to_string().replace("link0000", &format!("link{number:04}"));
                fixture.db.put(table, &serde_json::from_str(&copy).unwrap());
            }
        }
    }
    let (overviews, meter) = fixture.metered();

    let answer = RequestBuilder::new("GET", "/api/overview/breakdowns")
        .token(&fixture.token)
        .at(fixture.now)
        .send_to(&overviews)
        .await;

    let (reads, writes) = (meter.read_units(), meter.write_units());
    println!("breakdowns of 100 links: {reads} read units, {writes} write units, {:?}", meter.by_operation());
    assert_eq!(answer.json()["total_clicks"], 30_000);
    assert_eq!(answer.json().get("covers"), Some(&Value::Null));
    assert!(reads <= 450.0 && writes <= 8.0, "{reads}, {writes}");
}
