//! What `make cost` computes with. It guesses neither what operations cost nor how large rows are: both are measured here, and
//! `infra/costs/units.json`, which the calculator reads, has to say the same. `make units` has it written down.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::Client;
use linklet_auth::Auth;
use linklet_domain::{
    CheckOutcome, CheckResult, Event, Host, HostShard, PlannedTick, ReportEvery, ReportId, ReportSubscription, Role,
    TargetHealth, TargetId, TargetStatus, Timestamp, WorkspaceId,
};
use linklet_dynamodb::{
    ActiveSession, CheckedTarget, ClicksTable, DueTarget, JobsTable, LinksTable, MemberChange, Names,
    NotificationsTable, PartitionNotes, Recipients, Reports, ShardRange, StatsTable, Table, ThrottleTable, WatchTable,
    Workspaces,
};
use linklet_jobs::JobRunner;
use linklet_jobs_api::JobsApi;
use linklet_lambda::batch::Consumer;
use linklet_lambda::following::Recorder;
use linklet_lambda::hashing::LinkHashing;
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::publisher::Publisher;
use linklet_lambda::schedule::{Call, Job};
use linklet_lambda::watching::TargetRoom;
use linklet_list::List;
use linklet_notify::Notify;
use linklet_redirect::HotLinks;
use linklet_reports::DueReports;
use linklet_stats::Stats;
use linklet_test_support::{
    CapacityMeter, ClickBuilder, FakeNotifiers, FakeQueues, LinkBuilder, RequestBuilder, TargetBuilder, Template,
    TestDynamoDb, a_session, an_origin, authenticator, cost_units, event_batch, issuer, item_bytes, queue_batch,
    token_for, tokens, users_by, write_cost_units,
};
use linklet_unlock::Unlock;
use linklet_update::Update;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cost::{Bench, DAY, HOUR, START, click, click_at, ordinary_click};
use crate::fixture::{self, with_link, with_person};

/// What an operation costs, in DynamoDB's request units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Units {
    reads: f64,
    writes: f64,
}

/// What is stored: how many rows, copies in indexes included, how many bytes they have together, and for how many days they
/// stay, if not for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Rows {
    rows: usize,
    bytes: usize,
    days: Option<i64>,
}

/// A table's client whose calls are measured.
struct Metered {
    client: Client,
    meter: CapacityMeter,
}

impl Metered {
    fn of(db: &TestDynamoDb) -> Self {
        let meter = CapacityMeter::default();
        Self { client: db.client_with(meter.clone()), meter }
    }

    fn table(&self, name: &str) -> Table {
        Table::new(self.client.clone(), name)
    }

    /// What the calls since the last question have cost.
    fn spent(&self) -> Units {
        let (reads, writes) = self.meter.spent();
        Units { reads, writes }
    }
}

/// The items of a table whose partition begins so, as they are stored.
fn rows(db: &TestDynamoDb, table: &str, partition: &str) -> Vec<Value> {
    let mut items = db.scan(table);
    items.retain(|item| item["pk"]["S"].as_str().unwrap().starts_with(partition));
    items
}

/// Items that were stored at this time.
fn stored_at<'i>(at: Timestamp, items: impl IntoIterator<Item = &'i Value>) -> Rows {
    items.into_iter().fold(Rows { rows: 0, bytes: 0, days: None }, |sum, item| Rows {
        rows: sum.rows + 1,
        bytes: sum.bytes + item_bytes(item),
        days: days_left(item, at),
    })
}

/// What a lone click costs more than others if days of a hundred clicks together move into the past with it.
async fn settling(reads: f64, writes: f64) -> Units {
    const MILESTONE: f64 = 2.0;
    let bench = Bench::new();
    for click in 0..200 {
        let click = ordinary_click(click / 10 * DAY + click % 10 * HOUR, click);
        let (all_reads, all_writes) = bench.units(&[click]).await;
        if all_writes > writes + MILESTONE {
            return Units { reads: all_reads - reads, writes: all_writes - writes };
        }
    }
    panic!("no day has moved into the past");
}

/// Until DynamoDB deletes it.
fn days_left(item: &Value, from: Timestamp) -> Option<i64> {
    const DAY: i64 = 86_400;
    let ttl: i64 = item.pointer("/ttl/N")?.as_str()?.parse().unwrap();
    Some((ttl - from.unix_seconds() + DAY / 2) / DAY)
}

// ----------------------------------------------------------------------------------------------------- What is measured

#[derive(Debug, Default)]
struct Measured {
    operations: BTreeMap<String, Units>,
    rows: BTreeMap<String, Rows>,
    messages: BTreeMap<String, usize>,
}

impl Measured {
    async fn all() -> Self {
        let mut measured = Self::default();
        measured.follow().await;
        measured.unlock().await;
        measured.create_and_list().await;
        measured.change_a_destination().await;
        measured.rename_a_tag().await;
        measured.count_lone_clicks_and_read().await;
        measured.count_a_full_batch().await;
        measured.notify().await;
        measured.mail_a_report().await;
        measured.stay_signed_in().await;
        measured.sign_in().await;
        measured.change_a_member().await;
        measured.watch().await;
        measured
    }

    fn operation(&mut self, name: &str, units: Units) {
        self.operations.insert(name.to_owned(), units);
    }

    fn stored(&mut self, name: &str, rows: Rows) {
        self.rows.insert(name.to_owned(), rows);
    }

    async fn follow(&mut self) {
        let (db, _) = with_link(LinkBuilder::new("launch7")).await;
        let metered = Metered::of(&db);
        let redirect = fixture::redirect_with(
            LinksTable(metered.table("LinksTable")),
            ClicksTable::new(metered.table("ClicksTable")),
            ThrottleTable::new(metered.table("ThrottleTable")),
        );
        let at = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let follow = async |path: &str, status: u16| {
            let request = RequestBuilder::new("GET", path).at(at).header("user-agent", ClickBuilder::BROWSER);
            let request = request.header("referer", "https://news.example/2026/03/launch");
            assert_eq!(request.send_to(&redirect).await.status, status);
            metered.spent()
        };

        self.operation("redirect", follow("/launch7", fixture::REDIRECT).await);
        for _ in 1..HotLinks::HOT {
            follow("/launch7", fixture::REDIRECT).await;
        }
        self.operation("redirect_held", follow("/launch7", fixture::REDIRECT).await);
        self.stored("click", stored_at(at, db.scan("ClicksTable").first()));
        let queues = FakeQueues::start();
        fixture::relay(&db, &queues).consume(db.stream("ClicksTable")).await;
        let bytes: usize = queues.bodies("analytics").iter().map(String::len).sum();
        self.messages.insert("click".to_owned(), bytes / queues.events("analytics").len());
        self.messages.insert("groups".to_owned(), Publisher::MAX_GROUPS);

        db.store(&LinkBuilder::new("limited").with_options(&json!({"max_clicks": 100})).build()).await;
        self.operation("redirect_limited", follow("/limited", 302).await);
    }

    async fn unlock(&mut self) {
        let (db, token) = (TestDynamoDb::start(), token_for(&WorkspaceId::generate(), Role::Member));
        let link = json!({"url": "https://example.com/sale/7", "custom_code": "launch7", "password": "open sesame"});
        let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&link);
        assert_eq!(request.send_to(&fixture::shorten(&db)).await.status, 201);
        let (metered, unlock) = (Metered::of(&db), fixture::unlock(&db));
        let clicks = ClicksTable::new(metered.table("ClicksTable"));
        let calls = ThrottleTable::new(metered.table("ThrottleTable"));
        let unlock = Unlock {
            links: LinksTable(metered.table("LinksTable")),
            hashing: LinkHashing::within(fixture::limits_with(calls, 1_000)),
            recorder: Recorder { clicks, ..unlock.recorder },
            ..unlock
        };

        let request = RequestBuilder::new("POST", "/launch7").json(&json!({"password": "open sesame"}));
        assert_eq!(request.send_to(&unlock).await.status, 303);

        self.operation("unlock", metered.spent());
    }

    async fn create_and_list(&mut self) {
        const PAGE: usize = 20;
        let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
        let metered = Metered::of(&db);
        let links = LinksTable(metered.table("LinksTable"));
        let calls = fixture::throttle(ThrottleTable::new(metered.table("ThrottleTable")), 1_000, 1_000);
        let shorten = fixture::shorten_with(links.clone(), fixture::room(&TestDynamoDb::start(), 100), calls);
        let token = token_for(&workspace, Role::Member);

        for number in 0..PAGE {
            let link =
                json!({"url": format!("https://example.com/sale/{number}"), "title": "Summer 42", "tags": ["news"]});
            let request = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&link);
            assert_eq!(request.send_to(&shorten).await.status, 201);
            let spent = metered.spent();
            if number == 1 {
                // The first has read what operators have blocked, as is done once a minute.
                self.operation("shorten", spent);
            }
            if number == 0 {
                let (links, urls) = (rows(&db, "LinksTable", "LINK#"), rows(&db, "LinksTable", "URL#"));
                let copies = copies_in_indexes("LinksTable", &links[0]);
                let stored = links.iter().chain(&copies).chain(&urls);
                self.stored("link", stored_at(Timestamp::now(), stored));
            }
        }
        let stats = StatsTable::new(metered.table("StatsTable"));
        let people = Names(metered.table("UsersTable"));
        let list = List { links, stats, people, ..fixture::list(&db) };
        let request = RequestBuilder::new("GET", &format!("/api/urls?limit={PAGE}")).token(&token);
        assert_eq!(request.send_to(&list).await.json()["urls"].as_array().map(Vec::len), Some(PAGE));
        self.operation("list_page", metered.spent());
    }

    async fn change_a_destination(&mut self) {
        let (db, ada) = with_person("ada").await;
        let token = ada.token(Role::Admin);
        let request =
            |method: &str, path: &str, body: &Value| RequestBuilder::new(method, path).token(&token).json(body);
        let account = fixture::account(&db);
        let editable = json!({"destinations": "editable"});
        assert_eq!(request("PATCH", "/api/workspace", &editable).send_to(&account).await.status, 200);
        let link = json!({"url": "https://example.com/sale/7", "title": "Summer 42", "tags": ["news"]});
        let created = request("POST", "/api/shorten", &link).send_to(&fixture::shorten(&db)).await.json();
        let metered = Metered::of(&db);
        let users = Workspaces(metered.table("UsersTable"));
        let update = Update {
            writer: LinkWriter {
                links: LinksTable(metered.table("LinksTable")),
                room: TargetRoom { users, ..fixture::room(&db, 100) },
                ..fixture::writer(&db)
            },
            stats: StatsTable::new(metered.table("StatsTable")),
            people: Names(metered.table("UsersTable")),
            ..fixture::update(&db)
        };

        let path = format!("/api/links/{}", created["short_code"].as_str().unwrap());
        let elsewhere = json!({"url": "https://example.com/sale/8"});
        assert_eq!(request("PATCH", &path, &elsewhere).send_to(&update).await.status, 200);

        self.operation("change_destination", metered.spent());
    }

    /// A job that finds nothing, and what a page of a hundred links adds.
    async fn rename_a_tag(&mut self) {
        const PAGE: usize = 100;
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register("ada").await;
        let token = ada.token(Role::Admin);
        let metered = Metered::of(&db);
        let api = JobsApi {
            jobs: JobsTable(metered.table("JobsTable")),
            links: LinksTable(metered.table("LinksTable")),
            people: Names(metered.table("UsersTable")),
            ..fixture::jobs_api(&db)
        };
        let mut runner = JobRunner {
            jobs: JobsTable(metered.table("JobsTable")),
            users: Workspaces(metered.table("UsersTable")),
            ..fixture::jobs(&db, &queues)
        };
        runner.kinds.links.links = LinksTable(metered.table("LinksTable"));
        let mut stream = db.stream_reader("JobsTable");
        let mut rename = async || {
            // As `PATCH /api/tags/news` begins it, which asks for a link with the tag.
            let body = json!({"kind": "rename_tag", "from": "news", "to": "press"});
            let request = RequestBuilder::new("POST", "/api/jobs").token(&token).json(&body);
            assert_eq!(request.send_to(&api).await.status, 202);
            assert!(runner.consume(stream.read_on("JOB#")).await.batch_item_failures.is_empty());
            metered.spent()
        };
        // The first one of a workspace also makes its queue.
        rename().await;

        let empty = rename().await;
        for number in 0..PAGE {
            let link = LinkBuilder::new(&format!("launch{number}")).in_workspace(&ada.workspace).owned_by(&ada.id);
            let mut link = link.to(&format!("https://example.com/sale/{number}")).tagged(&["news"]).build();
            link.metadata.title = "Summer 42".parse().ok();
            db.store(&link).await;
        }
        let full = rename().await;

        self.operation("job", empty);
        let page = Units { reads: full.reads - empty.reads, writes: full.writes - empty.writes };
        self.operation("rename_hundred", page);
    }

    async fn count_lone_clicks_and_read(&mut self) {
        let bench = Bench::new().with_a_history().await;
        bench.units(&[ordinary_click(30 * DAY, 0)]).await;
        let (reads, writes) = bench.units(&[ordinary_click(30 * DAY + 13 * HOUR, 1)]).await;
        self.operation("count_lone_click", Units { reads, writes });
        let now = Timestamp::now();
        self.stored("total", stored_at(now, rows(&bench.db, "StatsTable", "WS#").first()));
        let numbers = rows(&bench.db, "StatsTable", "STATS#");
        self.stored("day", stored_at(now, numbers.iter().find(|item| item["sk"]["S"] == "DAY#2026-03-15")));
        let settles = settling(reads, writes).await;
        self.operation("settle", settles);

        let link = LinkBuilder::new("launch").build();
        bench.db.store(&link).await;
        let metered = Metered::of(&bench.db);
        let stats = Stats {
            authenticator: authenticator(),
            stats: StatsTable::new(metered.table("StatsTable")),
            clicks: ClicksTable::new(metered.table("ClicksTable")),
            links: LinksTable(metered.table("LinksTable")),
            ..fixture::stats(&bench.db)
        };
        // As the page of a link asks for the last 30 days.
        let [first, last] = [2 * DAY, 31 * DAY].map(|after| Timestamp::from_unix_millis(START + after));
        let days = format!("from={}&to={}&tz=UTC&audience=human", first.day(), last.day());
        let request = RequestBuilder::new("GET", &format!("/api/stats/launch?{days}")).at(last);
        let answer = request.token(&token_for(&link.identity.workspace, Role::Viewer)).send_to(&stats).await;
        assert!(answer.json()["total_clicks"].as_u64() > Some(100), "{}", answer.body);
        self.operation("month", metered.spent());
    }

    /// On a link with 100 clicks a second, each by somebody else, some of which have been counted already.
    async fn count_a_full_batch(&mut self) {
        const BATCH: u64 = 500;
        let batch = |number: u64| -> Vec<Event> {
            let clicks = number * BATCH..(number + 1) * BATCH;
            clicks.map(|click_number| click_at(10 * click_number, viral_click(click_number))).collect()
        };
        let bench = Bench::new();
        for number in 0..10 {
            bench.units(&batch(number)).await;
        }
        let now = Timestamp::from_unix_millis(START);
        let before = stored_at(now, &rows(&bench.db, "StatsTable", "SEEN#"));

        let (reads, writes) = bench.units(&batch(10)).await;

        self.operation("count_full_batch", Units { reads, writes });
        let after = stored_at(now, &rows(&bench.db, "StatsTable", "SEEN#"));
        let ids = Rows { rows: after.rows - before.rows, bytes: after.bytes - before.bytes, ..after };
        self.stored("ids_of_full_batch", ids);
    }

    async fn notify(&mut self) {
        let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
        let metered = Metered::of(&db);
        let notify = Notify {
            notifications: NotificationsTable(metered.table("NotificationsTable")),
            people: Recipients(metered.table("UsersTable")),
            ..fixture::notify(&db, &queues, &outside, false)
        };

        let ada = db.register("ada").await;
        assert!(notify.consume(event_batch(&[fixture::url_created(&ada)])).await.batch_item_failures.is_empty());
        self.operation("notify", metered.spent());
        let stored = rows(&db, "NotificationsTable", "USER#");
        self.stored("notification", stored_at(Timestamp::now(), &stored[..1]));
    }

    async fn mail_a_report(&mut self) {
        let (db, queues, outside) = (TestDynamoDb::start(), FakeQueues::start(), FakeNotifiers::start());
        let ada = db.register_verified("ada").await;
        let today = Timestamp::now().day();
        let monday = today.minus(u64::from(today.weekday()));
        let before = monday.minus(1).start();
        let code = |number: u32| format!("launch{number:03}");
        let link = |number| LinkBuilder::new(&code(number)).in_workspace(&ada.workspace).owned_by(&ada.id).build();
        db.store_all(&(0..100).map(link).collect::<Vec<_>>()).await;
        let click = |number| ClickBuilder::new(&code(number)).in_workspace(&ada.workspace).at(before).build();
        let clicks: Vec<_> = (0..100).map(click).collect();
        assert!(fixture::analytics(&db, &queues).consume(event_batch(&clicks)).await.batch_item_failures.is_empty());
        let id = ReportId::new(ReportEvery::Week, ada.workspace, None);
        let wanted = ReportSubscription::new(&id, ada.id, None, before);
        db.users().want_report(wanted, &an_origin(&ada.id)).await.unwrap();
        let metered = Metered::of(&db);
        let table = |name| metered.table(name);
        let (wanted, reports) = (Reports(table("UsersTable")), Reports(table("UsersTable")));
        let due = DueReports {
            wanted,
            workspaces: Workspaces(table("UsersTable")),
            links: LinksTable(table("LinksTable")),
            stats: StatsTable::new(table("StatsTable")),
            ..fixture::due_reports(&db, &queues)
        };
        let people = Recipients(table("UsersTable"));
        let notify = Notify { people, reports, ..fixture::notify(&db, &queues, &outside, true) };

        due.run(Call { scheduled_time: monday.at_hour(6), correlation_id: fixture::correlation() }).await.unwrap();
        let orders = queue_batch(&queues.bodies("notify"));
        assert!(notify.consume(orders).await.batch_item_failures.is_empty());

        assert_eq!(outside.mails().len(), 1);
        self.operation("report", metered.spent());
    }

    async fn stay_signed_in(&mut self) {
        let db = TestDynamoDb::start();
        let cookie = fixture::refresh_cookie(&db, &db.register("ada").await).await;
        let metered = Metered::of(&db);
        let limits = fixture::limits_with(ThrottleTable::new(metered.table("ThrottleTable")), 10);
        let auth = Auth::new(users_by(metered.client.clone()), tokens(), issuer(), limits);

        let refresh =
            RequestBuilder::new("POST", "/api/auth/refresh").json(&json!({"workspace": "ada"})).cookie(&cookie);
        assert_eq!(refresh.send_to(&auth).await.status, 200);

        self.operation("refresh", metered.spent());
    }

    /// Somebody who has signed in from there before, as nearly everybody has.
    async fn sign_in(&mut self) {
        let db = TestDynamoDb::start();
        let metered = Metered::of(&db);
        let limits = fixture::limits_with(ThrottleTable::new(metered.table("ThrottleTable")), 100);
        let auth = Auth::new(users_by(metered.client.clone()), tokens(), issuer(), limits);
        let credentials = json!({"email": "ada@example.com", "password": "correct horse battery"});
        let post = async |path: &str| {
            let answer = RequestBuilder::new("POST", path).json(&credentials).send_to(&auth).await;
            assert!(answer.status < 300, "{}", answer.body);
        };
        post("/api/auth/register").await;
        post("/api/auth/login").await;
        metered.spent();

        post("/api/auth/login").await;

        self.operation("login", metered.spent());
    }

    async fn change_a_member(&mut self) {
        let (db, ada) = with_person("ada").await;
        let bob = fixture::colleague(&db, &ada, "bob", Role::Viewer).await;
        let metered = Metered::of(&db);
        let users = users_by(metered.client.clone());
        let (session, origin) = (a_session(), an_origin(&ada.id));
        let caller = ActiveSession { user: &ada.id, session: &session };
        let change = MemberChange { role: Some(Role::Member), resumes: false };

        users.change_member(&ada.workspace, caller, &bob.id, change, &origin).await.unwrap();

        self.operation("change_member", metered.spent());
    }

    async fn watch(&mut self) {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let metered = Metered::of(&db);
        let table = WatchTable::new(metered.table("WatchTable"));
        let clock = fixture::clock(table.clone(), JobsTable(metered.table("JobsTable")), &queues, 60);
        clock.run(Call { scheduled_time: Timestamp::now(), correlation_id: fixture::correlation() }).await.unwrap();
        assert!(queues.bodies("ticks").is_empty());
        self.operation("look_each_minute", metered.spent());

        let tick = fixture::tick_at(Timestamp::now(), 60);
        assert!(table.take_partition(&tick, &fixture::correlation()).await.unwrap());
        self.operation("take_partition", metered.spent());
        table.notes(tick.partition).await.unwrap();
        for shard in tick.partition.shards() {
            table.due(&ShardRange::all(shard), 1).await.unwrap();
        }
        self.operation("partition_without_targets", metered.spent());
        let first = (0..50).map(|number| TargetId::in_shard(HostShard::all().next().unwrap(), number)).collect();
        table.note(&tick, &PartitionNotes { first, is_cut: false }).await.unwrap();
        self.operation("leave_notes", metered.spent());

        let shard = store_hundred_targets(&db).await;
        let due = table.due(&ShardRange::all(shard), 1_000).await.unwrap().targets;
        assert_eq!(due.len(), 100);
        self.operation("hundred_due_targets", metered.spent());

        let slot = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let checked = |target: &DueTarget, status_code| CheckedTarget {
            target: DueTarget {
                health: TargetHealth { status: TargetStatus::Up, failed_slot: None },
                ..target.clone()
            },
            result: CheckResult { checked_at: slot, outcome: CheckOutcome::Answered(status_code), latency_ms: 250 },
        };
        let results: Vec<_> =
            due.iter().take(WatchTable::RESULTS_OF_AN_ITEM).map(|target| checked(target, 200)).collect();
        let tick = PlannedTick { slot, ..tick };
        assert!(table.store_results(&tick, 0, &results).await.unwrap());
        self.operation("results_item", metered.spent());
        self.stored("results_item", stored_at(slot, &rows(&db, "WatchTable", "RESULTS#")));
        assert!(table.store_results(&tick, 1, &results[..1]).await.unwrap());
        metered.spent();
        assert_eq!(table.conclude(slot, &results[0]).await.unwrap(), None);
        self.operation("success", metered.spent());
    }
}

fn viral_click(number: u64) -> ClickBuilder {
    const AGENTS: [&str; 2] = [ClickBuilder::BROWSER, "Mozilla/5.0 (compatible; Googlebot/2.1)"];
    const REFERERS: [&str; 3] = ["https://news.example/", "https://blog.example/", "https://search.example/"];
    let pick = |from: &[&'static str]| from[usize::try_from(number).unwrap() % from.len()];
    click().by(&format!("visitor {number}")).with(pick(&AGENTS)).from(pick(&REFERERS))
}

/// All in one shard, which the ids decide.
async fn store_hundred_targets(db: &TestDynamoDb) -> HostShard {
    let workspace = WorkspaceId::generate();
    for number in 0..100 {
        let url = format!("https://www.example.com/products/{number:06}/availability");
        db.store_target(&TargetBuilder::new(&url).in_workspace(&workspace).build()).await;
    }
    HostShard::of(&Host::parse("www.example.com").unwrap())
}

// ------------------------------------------------------------------------------------------------------------ The tests

const IF_MEANT: &str = "if the change is meant, `make units` writes it down";

#[tokio::test]
async fn every_operation_and_row_costs_what_the_calculator_reads() {
    let mut measured = Measured::all().await;
    println!("{measured:#?}");
    let before: BTreeMap<String, Rows> = cost_units("rows");
    for (name, rows) in &mut measured.rows {
        // Some names and times have more digits than others.
        let bytes = before.get(name).map(|counted| counted.bytes);
        rows.bytes = bytes.filter(|bytes| rows.bytes.abs_diff(*bytes) <= bytes / 50).unwrap_or(rows.bytes);
    }
    write_cost_units("operations", &measured.operations);
    write_cost_units("rows", &measured.rows);
    write_cost_units("messages", &measured.messages);

    let operations: BTreeMap<String, Units> = cost_units("operations");
    let rows: BTreeMap<String, Rows> = cost_units("rows");

    assert_eq!(measured.operations, operations, "{IF_MEANT}");
    assert_eq!(measured.rows, rows, "{IF_MEANT}");
    assert_eq!(measured.messages, cost_units("messages"), "{IF_MEANT}");
}

/// What the indexes of a table have of an item.
fn copies_in_indexes(table: &str, item: &Value) -> Vec<Value> {
    let tables = Template::load().tables();
    let table = &tables[table];
    let keys = |of: &Value| -> Vec<Value> {
        of["KeySchema"].as_array().into_iter().flatten().map(|key| key["AttributeName"].clone()).collect()
    };
    let copy_in = |index: &Value| {
        let projection = &index["Projection"];
        let mut names: Vec<Value> = [keys(table), keys(index)].concat();
        names.extend(projection["NonKeyAttributes"].as_array().cloned().unwrap_or_default());
        let mut copy = item.clone();
        if projection["ProjectionType"] != "ALL" {
            copy.as_object_mut().unwrap().retain(|name, _| names.iter().any(|kept| kept == name));
        }
        copy
    };
    table["GlobalSecondaryIndexes"].as_array().unwrap().iter().map(copy_in).collect()
}
