//! From a request for a job, through JobsTable's stream with the filters of the template, to links that are as they were wanted, and
//! to somebody who is told.

use std::{collections::BTreeMap, time::Duration};

use aws_lambda_events::dynamodb::EventRecord;
use aws_sdk_dynamodb::config::Intercept;
use futures_util::future::{join, join_all};
use linklet_domain::{
    Actor, ApiKeySecret, AuditFilter, AuditLog, AuditSubject, Changer, Job, JobFailure, JobId, JobProgress, JobState,
    Link, LinkEdit, LinkPatch, LinkState, OneTimeToken, Record, Role, Timestamp, TokenPurpose,
};
use linklet_dynamodb::{
    EditOutcome, KeyOutcome, LinksTable, MemberOutcome, NewToken, Reached, ResetOutcome, TokenDelivery,
};
use linklet_jobs::{JobRunner, LinkWork};
use linklet_lambda::batch::Consumer;
use linklet_test_support::{
    Answer, ApiKeyBuilder, FakeNotifiers, FakeQueues, Fault, Faults, LinkBuilder, Person, RequestBuilder, StreamReader,
    TargetBuilder, TestDynamoDb, WriteCounter, an_origin, message_batch, queue_batch, removal, tags_of,
};
use serde_json::{Value, json};

use crate::fixture::{change_role, colleague, jobs, jobs_api, network_of, notify, relay, room};
use crate::streams::{JobsStream, is_let_through, job_step, retry_from};

/// Ada's workspace, in which Bob is a member.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    stream: JobsStream,

    ada: Person,
    bob: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Member).await;
        let stream = JobsStream::of(&db);
        Self { db, queues, stream, ada, bob }
    }

    fn link(&self, code: &str, tags: &[&str]) -> Link {
        self.link_of(&self.ada, code, tags)
    }

    fn link_of(&self, owner: &Person, code: &str, tags: &[&str]) -> Link {
        let created_at = Timestamp::now().minus(Duration::from_secs(60));
        let link = LinkBuilder::new(code).in_workspace(&self.ada.workspace).owned_by(&owner.id).created_at(created_at);
        link.tagged(tags).build()
    }

    async fn request(&self, person: &Person, role: Role, method: &str, path: &str, body: &Value) -> Answer {
        let token = person.token(role);
        RequestBuilder::new(method, path).token(&token).json_unless_null(body).send_to(&jobs_api(&self.db)).await
    }

    /// Has an admin start a job.
    async fn start(&self, body: &Value) -> JobId {
        self.start_as(&self.ada, Role::Admin, body).await
    }

    async fn start_as(&self, person: &Person, role: Role, body: &Value) -> JobId {
        self.request(person, role, "POST", "/api/jobs", body).await.expecting(202).parsed("id")
    }

    /// Has an admin start a job, and takes all its steps.
    async fn run(&self, body: &Value) -> JobId {
        let job = self.start(body).await;
        self.carry().await;
        job
    }

    /// Has an admin start to rename the tag a to b. Returns the record of that, too.
    async fn begin_to_rename(&self) -> (JobId, EventRecord) {
        let job = self.start(&rename("a", "b")).await;
        (job, self.stream.news().pop().unwrap())
    }

    async fn cancel(&self, job: &JobId) -> Value {
        let path = format!("/api/jobs/{job}");
        self.request(&self.ada, Role::Admin, "DELETE", &path, &Value::Null).await.expecting(200).json()
    }

    async fn job(&self, id: &JobId) -> Job {
        self.db.jobs().find(&self.ada.workspace, id).await.unwrap().unwrap()
    }

    /// How a job has ended: its state, and how many links it has seen, changed and failed at.
    async fn outcome(&self, id: &JobId) -> (JobState, [u64; 3]) {
        let Job { state, progress: JobProgress { seen, changed, failed, .. }, .. } = self.job(id).await;
        (state, [seen, changed, failed])
    }

    async fn tags(&self, code: &str) -> Vec<String> {
        self.db.link(code).await.metadata.tags.iter().map(str::to_owned).collect()
    }

    async fn carry(&self) {
        self.stream.carry(&self.function()).await;
        assert!(self.queues.bodies("dlq").is_empty());
    }

    fn function(&self) -> JobRunner {
        jobs(&self.db, &self.queues)
    }

    /// The function, with steps of one page of so many links.
    fn in_small_steps(&self, links_at_once: usize) -> JobRunner {
        let mut function = JobRunner { step: Duration::ZERO, ..self.function() };
        function.kinds.links.links_at_once = links_at_once;
        function
    }

    /// The function, with something between it and the table of links.
    fn through<I: Intercept + Clone + Default + 'static>(&self) -> (JobRunner, I) {
        let (mut function, between) = (self.function(), I::default());
        let links = LinksTable(self.db.table_with(between.clone(), "LinksTable"));
        function.kinds.links = LinkWork { index_lags: Duration::ZERO, ..LinkWork::new(links, room(&self.db, 100)) };
        (function, between)
    }
}

fn rename(from: &str, to: &str) -> Value {
    json!({"kind": "rename_tag", "from": from, "to": to})
}

#[tokio::test]
async fn each_kind_of_job_does_to_links_what_their_own_routes_do() {
    let fixture = Fixture::new().await;
    let later = Timestamp::now().plus(Duration::from_secs(86_400));
    fixture.db.store_all(&[fixture.link("launch", &["Old"]), fixture.link("launch-two", &["else"])]).await;
    let run = async |kind: Value| {
        let search = "https://api.example.com/r/launch";
        let mut order = json!({"filter": {"search": search, "archived": "all", "status": "all"}});
        order.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        let job = fixture.start(&order).await;
        fixture.carry().await;
        assert_eq!(fixture.outcome(&job).await, (JobState::Done, [1, 1, 0]), "{order}");
    };

    type IsDone<'f> = &'f dyn Fn(&Link) -> bool;
    let kinds: [(Value, IsDone<'_>); 9] = [
        (json!({"kind": "tag", "tag": " new "}), &|link| link.metadata.tags == tags_of(&["Old", "new"])),
        (json!({"kind": "untag", "tag": "NEW"}), &|link| link.metadata.tags == tags_of(&["Old"])),
        (rename("old", "Spring"), &|link| link.metadata.tags == tags_of(&["Spring"])),
        (json!({"kind": "switch_off"}), &|link| link.availability.state == LinkState::Inactive),
        (json!({"kind": "switch_on"}), &|link| link.availability.state == LinkState::Active),
        (json!({"kind": "archive"}), &|link| link.archived),
        (json!({"kind": "unarchive"}), &|link| !link.archived),
        (json!({"kind": "set_expiry", "expires_at": later}), &|link| link.availability.expires_at == Some(later)),
        (json!({"kind": "set_expiry", "expires_at": null}), &|link| link.availability.expires_at.is_none()),
    ];
    for (kind, is_done) in kinds {
        run(kind.clone()).await;
        let link = fixture.db.link("launch").await;
        assert!(is_done(&link), "{kind} {link:?}");
    }
    let history = fixture.db.links().history(fixture.db.link("launch").await.id(), 10, None).await.unwrap();
    assert_eq!(history.items.iter().filter(|entry| entry.by == fixture.ada.id).count(), 4);
    run(json!({"kind": "delete"})).await;
    assert!(fixture.db.link("launch").await.availability.is_deleted());
    run(json!({"kind": "purge"})).await;
    assert!(fixture.db.record("launch").await.as_ref().is_some_and(Record::is_purged));
    let other = fixture.db.link("launch-two").await;
    assert_eq!((fixture.tags("launch-two").await, other.availability.is_unlimited()), (vec!["else".to_owned()], true));
}

#[tokio::test]
async fn renaming_a_tag_finds_any_spelling_and_merges_duplicates() {
    let fixture = Fixture::new().await;
    let archived = Link { archived: true, ..fixture.link("archived", &["a"]) };
    let tagged = [("plain", vec!["x", "A", "y"]), ("both", vec!["B", "a"]), ("to", vec!["B"]), ("none", vec!["c"])];
    let links = tagged.map(|(code, tags)| fixture.link(code, &tags));
    fixture.db.store_all(&links).await;
    fixture.db.store_all(&[archived]).await;

    let job = fixture.run(&rename("a", "b")).await;

    for (code, tags) in [("plain", vec!["x", "b", "y"]), ("both", vec!["b"]), ("to", vec!["B"]), ("none", vec!["c"])] {
        assert_eq!(fixture.tags(code).await, tags, "{code}");
    }
    assert_eq!(fixture.tags("archived").await, ["b"]);
    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [3, 3, 0]));
    let spelling = fixture.run(&rename("b", "Bé")).await;
    let again = fixture.run(&rename("BE\u{301}", "Bé")).await;
    assert_eq!(fixture.tags("to").await, ["Bé"]);
    assert_eq!(fixture.outcome(&spelling).await, (JobState::Done, [4, 4, 0]));
    assert_eq!(fixture.outcome(&again).await, (JobState::Done, [4, 0, 0]), "they are as they are wanted");
}

#[tokio::test]
async fn a_link_that_refuses_is_counted_with_the_reason() {
    let fixture = Fixture::new().await;
    let many: Vec<String> = (0..20).map(|number| format!("tag{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut links: Vec<_> = (0..25).map(|number| fixture.link(&format!("full{number}"), &many)).collect();
    links.push(fixture.link("roomy", &[]));
    fixture.db.store_all(&links).await;
    let deleted = fixture.link("deleted", &[]);
    fixture.db.store(&deleted).await;
    fixture.db.delete(&deleted).await;

    let tag = fixture.run(&json!({"kind": "tag", "tag": "more", "filter": {"all": true}})).await;
    let gone = fixture.run(&json!({"kind": "archive", "filter": {"status": "deleted"}})).await;

    assert_eq!(fixture.outcome(&tag).await, (JobState::Done, [26, 1, 25]));
    let failures = fixture.job(&tag).await.progress.failures;
    assert_eq!(failures.len(), 20);
    let expected = ("invalid_input", "tags must be at most 20");
    assert!(failures.iter().all(|one| (one.code.as_str(), one.detail.as_str()) == expected));
    assert_eq!(fixture.outcome(&gone).await, (JobState::Done, [1, 0, 1]));
    assert_eq!(fixture.job(&gone).await.progress.failures[0].code, "link_deleted");
}

#[tokio::test]
async fn an_expiry_fails_without_room_to_watch_or_before_its_links_beginning() {
    let fixture = Fixture::new().await;
    let (soon, later) = [3_600, 7_200].map(|seconds| Timestamp::now().plus(Duration::from_secs(seconds))).into();
    let created_at = Timestamp::now().minus(Duration::from_secs(60));
    let link = |code: &str| LinkBuilder::new(code).in_workspace(&fixture.ada.workspace).created_at(created_at);
    let watching = link("watching").expires_at(soon).watching().build();
    fixture.db.store_all(&[watching, link("begins").valid_from(later).build()]).await;
    let target = TargetBuilder::new("https://else.example/").in_workspace(&fixture.ada.workspace).build();
    fixture.db.store_target(&target).await;
    let mut function = fixture.function();
    function.kinds.links.room = room(&fixture.db, 1);

    let job = fixture.start(&json!({"kind": "set_expiry", "expires_at": later, "filter": {"all": true}})).await;
    fixture.stream.carry(&function).await;

    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [2, 0, 2]));
    let mut codes: Vec<_> = fixture.job(&job).await.progress.failures.into_iter().map(|one| one.code).collect();
    codes.sort();
    assert_eq!(codes, ["invalid_input", "target_quota_reached"]);
}

#[tokio::test]
async fn a_members_job_and_that_of_a_key_leave_others_links_alone() {
    let fixture = Fixture::new().await;
    let links = [fixture.link("adas", &["a"]), fixture.link_of(&fixture.bob, "bobs", &["a"])];
    fixture.db.store_all(&links).await;
    let secret = ApiKeySecret::generate().unwrap();
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &fixture.ada).build()).await;

    let bobs = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "b")).await;
    fixture.carry().await;
    assert_eq!((fixture.tags("adas").await, fixture.tags("bobs").await), (vec!["a".to_owned()], vec!["b".to_owned()]));
    let order = json!({"kind": "archive", "filter": {"all": true}});
    let request = RequestBuilder::new("POST", "/api/jobs").api_key(secret.reveal()).json(&order);
    let keys = request.send_to(&jobs_api(&fixture.db)).await.json();
    fixture.carry().await;

    assert_eq!(fixture.outcome(&bobs).await, (JobState::Done, [1, 1, 0]));
    assert_eq!(keys["expected"], 1);
    assert_eq!((fixture.db.link("adas").await.archived, fixture.db.link("bobs").await.archived), (true, false));
}

/// Some links whose tag is renamed, and as many others.
async fn with_tagged_links(fixture: &Fixture, tagged: usize) {
    let link = |number: usize| {
        let tags: &[&str] = if number.is_multiple_of(2) { &["a", "kept"] } else { &["c"] };
        Link {
            created_at: Timestamp::now().minus(Duration::from_secs(3_600 - number as u64 / 8)),
            ..fixture.link(&code(number), tags)
        }
    };
    let links: Vec<_> = (0..2 * tagged).map(link).collect();
    fixture.db.store_all(&links).await;
}

fn code(number: usize) -> String {
    format!("link{number:05}")
}

/// Which tags links have, and how often each was changed.
fn all_links(fixture: &Fixture) -> BTreeMap<String, (Vec<String>, u64)> {
    let links = fixture.db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "LINK");
    let text = |value: &Value| value["S"].as_str().unwrap().to_owned();
    links
        .map(|item| {
            let tags = item["tags"]["L"].as_array().into_iter().flatten().map(text).collect();
            let revision = item["revision"]["N"].as_str().map_or(0, |number| number.parse().unwrap());
            (text(&item["short_code"]), (tags, revision))
        })
        .collect()
}

/// How many records of the stream change each link.
fn changes(reader: &mut StreamReader) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in reader.read_on("LINK").records {
        let key = serde_json::to_value(&record).unwrap()["dynamodb"]["Keys"]["pk"]["S"].as_str().unwrap().to_owned();
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// Half of the links have the tag. `JOB_LINKS` says how many there are to rename; `make schedules` has 5,000 of 10,000.
#[tokio::test]
async fn a_rename_changes_each_link_once_despite_kills_and_outages() {
    let tagged = std::env::var("JOB_LINKS").map_or(300, |links| links.parse().unwrap());
    let fixture = Fixture::new().await;
    with_tagged_links(&fixture, tagged).await;
    let mut links = fixture.db.stream_reader("LinksTable");
    links.read_on("");
    let (job, record) = fixture.begin_to_rename().await;
    assert_eq!(fixture.job(&job).await.expected, Some(tagged as u64));

    let (mortal, counter): (_, WriteCounter) = fixture.through();
    for writes in [30, 40, 50] {
        counter.kill_after(writes, Box::pin(job_step(&mortal, &record))).await;
    }
    let (cut_off, faults): (_, Faults) = fixture.through();
    faults.plan_all((0..1_000).map(|call| (call, Fault::NotSent)));
    assert_eq!(retry_from(&job_step(&cut_off, &record).await), record.change.sequence_number);
    // In the middle of a page. Those before it are noted.
    faults.plan_all((20..1_000).map(|call| (call, Fault::NotSent)));
    assert_eq!(retry_from(&job_step(&cut_off, &record).await), None);
    let noted = fixture.job(&job).await;
    assert_eq!((noted.state, noted.step), (JobState::Running, 1));
    fixture.carry().await;

    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [tagged as u64, tagged as u64, 0]));
    for (number, (code, (tags, revision))) in all_links(&fixture).into_iter().enumerate() {
        let expected = if number.is_multiple_of(2) { (vec!["b", "kept"], 1) } else { (vec!["c"], 0) };
        assert_eq!((tags.iter().map(String::as_str).collect::<Vec<_>>(), revision), expected, "{code}");
    }
    let changes = changes(&mut links);
    assert_eq!((changes.len(), changes.values().all(|count| *count == 1)), (tagged, true));
}

#[tokio::test]
async fn a_cancelled_job_begins_nothing_more_and_counts_what_is_done() {
    let fixture = Fixture::new().await;
    with_tagged_links(&fixture, 50).await;
    let job = fixture.start(&rename("a", "b")).await;
    let small = fixture.in_small_steps(20);
    let record = fixture.stream.news().pop().unwrap();
    assert_eq!(retry_from(&job_step(&small, &record).await), None);

    let shown = fixture.cancel(&job).await;
    fixture.stream.carry(&small).await;

    assert_eq!(shown["state"], "cancelling");
    let (state, [seen, changed, failed]) = fixture.outcome(&job).await;
    let renamed = all_links(&fixture).values().filter(|(tags, _)| tags.contains(&"b".to_owned())).count();
    assert_eq!((state, seen, changed, failed), (JobState::Cancelled, renamed as u64, renamed as u64, 0));
    assert!((1..50).contains(&renamed), "{renamed}");
    assert_eq!(fixture.cancel(&job).await["state"], "cancelled", "it stays as it is");
    let (ended, next) = (fixture.job(&job).await.ended_at, fixture.start(&rename("a", "b")).await);
    assert!(ended.is_some());
    fixture.carry().await;
    assert_eq!(fixture.outcome(&next).await.0, JobState::Done);
}

#[tokio::test]
async fn a_cancellation_ends_the_running_step_after_its_current_page() {
    let fixture = Fixture::new().await;
    with_tagged_links(&fixture, 100).await;
    let (job, record) = fixture.begin_to_rename().await;
    let (mut function, counter): (_, WriteCounter) = fixture.through();
    function.kinds.links.links_at_once = 10;

    let cancelled = async {
        counter.more(12).await;
        fixture.cancel(&job).await
    };
    let (response, _) = join(job_step(&function, &record), cancelled).await;

    assert_eq!(retry_from(&response), None);
    let (state, [_, changed, _]) = fixture.outcome(&job).await;
    assert_eq!(state, JobState::Cancelled);
    assert!((12..100).contains(&changed), "{changed}");
    let renamed = all_links(&fixture).values().filter(|(tags, _)| tags.contains(&"b".to_owned())).count();
    assert_eq!(changed, renamed as u64);
}

#[tokio::test]
async fn whoever_changes_tags_of_the_same_links_meanwhile_loses_nothing() {
    let fixture = Fixture::new().await;
    with_tagged_links(&fixture, 60).await;
    let job = fixture.start(&rename("a", "b")).await;
    let mut function = fixture.function();
    function.kinds.links.links_at_once = 40;

    // Each adds a tag of their own, as the application does: to the tags that it has read, if they still are those.
    let people = join_all((0..60).map(|number| {
        let (db, code) = (&fixture.db, code(2 * number));
        async move {
            loop {
                let link = db.link(&code).await;
                let mut tags: Vec<String> = link.metadata.tags.iter().map(str::to_owned).collect();
                tags.push("mine".to_owned());
                let patch = LinkPatch { tags: Some(Some(tags.try_into().unwrap())), ..LinkPatch::default() };
                if change(db, &link, &patch).await {
                    return;
                }
            }
        }
    }));
    join(fixture.stream.carry(&function), people).await;

    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [60, 60, 0]));
    for (number, (code, (mut tags, revision))) in all_links(&fixture).into_iter().enumerate() {
        tags.sort();
        if number.is_multiple_of(2) {
            assert_eq!((tags, revision), (["b", "kept", "mine"].map(str::to_owned).to_vec(), 2), "{code}");
        }
    }
}

/// Changes a link if it still is as it was read.
async fn change(db: &TestDynamoDb, link: &Link, patch: &LinkPatch) -> bool {
    let after = link.changed_by(patch, Timestamp::now());
    let (record, correlation_id) = (Record::Link(link.clone()), crate::fixture::correlation());
    let as_read = |record: &Record<Link>| match record {
        Record::Link(now) if now.revision == link.revision => LinkEdit::Change(Box::new(after.clone())),
        Record::Link(_) | Record::Tombstone(_) => LinkEdit::Keep,
    };
    let edited = db.edit_as(&link.identity.owner, &record, &correlation_id, as_read).await;
    matches!(edited, EditOutcome::Written(_))
}

#[tokio::test]
async fn a_link_that_no_longer_matches_when_reached_is_left_alone() {
    let fixture = Fixture::new().await;
    let links = ["retagged", "taken", "kept"].map(|code| fixture.link_of(&fixture.bob, code, &["a"]));
    fixture.db.store_all(&links).await;
    let job = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "b")).await;
    let retag = LinkPatch { tags: Some(Some(tags_of(&["z"]))), ..LinkPatch::default() };
    fixture.db.patch(links[0].id(), &retag).await;
    let correlation = crate::fixture::correlation();
    fixture.db.links().hand_over(links[1].code(), &fixture.bob.id, &fixture.ada.id, &correlation).await.unwrap();

    fixture.carry().await;

    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [1, 1, 0]));
    let expected = (vec!["z".to_owned()], vec!["a".to_owned()]);
    assert_eq!((fixture.tags("retagged").await, fixture.tags("taken").await), expected);
}

#[tokio::test]
async fn links_that_came_after_the_job_are_not_meant() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("before", &["a"])]).await;
    let job = fixture.start(&rename("a", "b")).await;
    let later = Timestamp::now().plus(Duration::from_millis(20));
    let after = Link { created_at: later, updated_at: later, ..fixture.link("after", &["a"]) };
    fixture.db.store_all(&[after]).await;

    fixture.carry().await;

    assert_eq!(fixture.tags("after").await, ["a"]);
    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [1, 1, 0]));
}

#[tokio::test]
async fn the_index_is_given_ten_seconds_after_what_came_before_a_job() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch", &["a"])]).await;
    let jobs = [fixture.start(&rename("a", "b")).await, fixture.start(&rename("b", "c")).await];
    let mut function = fixture.function();
    assert_eq!(LinkWork::new(fixture.db.links(), room(&fixture.db, 1)).index_lags, Duration::from_secs(10));
    let lags = Duration::from_millis(300);
    function.kinds.links.index_lags = lags;

    fixture.stream.carry(&function).await;

    let [first, second] = [fixture.job(&jobs[0]).await, fixture.job(&jobs[1]).await];
    assert!(first.created_at.until(first.ended_at.unwrap()) >= lags);
    assert!(second.started_at.unwrap() >= first.ended_at.unwrap(), "it has waited for the first one");
    assert!(second.started_at.unwrap().until(second.ended_at.unwrap()) >= lags);
    assert_eq!(fixture.tags("launch").await, ["c"]);
}

#[tokio::test]
async fn a_turn_leaves_what_another_has_taken_further() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&["one", "two", "three"].map(|code| fixture.link(code, &["a"]))).await;
    let (job, record) = fixture.begin_to_rename().await;
    let mut function = fixture.function();
    function.kinds.links.links_at_once = 1;
    let jobs = fixture.db.jobs();
    let read = fixture.job(&job).await;
    let run = read.run();
    let further = Reached { progress: JobProgress::default(), checkpoint: None };

    let (response, noted) = join(job_step(&function, &record), jobs.note(&run, &further, Timestamp::now())).await;

    noted.unwrap();
    assert_eq!(retry_from(&response), None);
    let left = fixture.job(&job).await;
    assert_eq!((left.step, left.state, left.progress.changed), (1, JobState::Running, 0), "its own note is refused");
    let changed = join_all(["one", "two", "three"].map(|code| fixture.tags(code))).await;
    assert!(changed.contains(&vec!["a".to_owned()]), "it has not gone on: {changed:?}");
}

#[tokio::test]
async fn a_repeated_reordered_or_late_record_does_nothing() {
    let fixture = Fixture::new().await;
    with_tagged_links(&fixture, 20).await;
    let job = fixture.start(&rename("a", "b")).await;
    let small = fixture.in_small_steps(10);
    let mut records = Vec::new();
    loop {
        let news = fixture.stream.news();
        let Some(record) = news.first() else { break };
        // Twice at once, and once more.
        let (one, other) = join(job_step(&small, record), job_step(&small, record)).await;
        let third = job_step(&small, record).await;
        assert!([one, other, third].iter().all(|response| retry_from(response).is_none()));
        records.push(record.clone());
    }
    let ended = fixture.job(&job).await;
    assert_eq!((ended.state, ended.progress.changed, ended.progress.seen), (JobState::Done, 20, 20));
    assert_eq!(records.len(), 5, "four pages, and the end of the last");

    let put_back = LinkPatch { tags: Some(Some(tags_of(&["a"]))), ..LinkPatch::default() };
    fixture.db.patch(fixture.db.link(&code(0)).await.id(), &put_back).await;
    for record in records.iter().rev() {
        assert_eq!(retry_from(&job_step(&fixture.function(), record).await), None);
    }

    assert_eq!(fixture.tags(&code(0)).await, ["a"]);
    assert_eq!(fixture.job(&job).await, ended);
    assert!(all_links(&fixture).into_iter().skip(1).all(|(_, (_, revision))| revision <= 1));
}

#[tokio::test]
async fn jobs_of_two_workspaces_take_turns() {
    let fixture = Fixture::new().await;
    let eve = fixture.db.register("eve").await;
    with_tagged_links(&fixture, 20).await;
    let eves = LinkBuilder::new("eves").in_workspace(&eve.workspace).owned_by(&eve.id).tagged(&["a"]);
    fixture.db.store_all(&[eves.created_at(Timestamp::now().minus(Duration::from_secs(9))).build()]).await;
    let long = fixture.start(&rename("a", "b")).await;
    let short = fixture.start_as(&eve, Role::Admin, &rename("a", "b")).await;

    let small = fixture.in_small_steps(10);
    for record in fixture.stream.news() {
        assert_eq!(retry_from(&job_step(&small, &record).await), None);
    }

    let short = fixture.db.jobs().find(&eve.workspace, &short).await.unwrap().unwrap();
    assert_eq!((short.state, fixture.job(&long).await.state), (JobState::Done, JobState::Running));
    fixture.stream.carry(&small).await;
    assert_eq!(fixture.outcome(&long).await, (JobState::Done, [20, 20, 0]));
    assert_eq!(fixture.tags("eves").await, ["b"]);
}

#[tokio::test]
async fn a_job_ends_when_its_creator_may_not_do_it_any_more() {
    for (is_admins, becomes) in [(true, Some(Role::Member)), (false, Some(Role::Viewer)), (false, None)] {
        let fixture = Fixture::new().await;
        let carol =
            colleague(&fixture.db, &fixture.ada, "carol", if is_admins { Role::Admin } else { Role::Member }).await;
        with_twenty_links_of(&fixture, &carol).await;
        let role = if is_admins { Role::Admin } else { Role::Member };
        let job = fixture.start_as(&carol, role, &rename("a", "b")).await;

        assert_ends_by(&fixture, &job, take_role(&fixture, &carol, becomes)).await;
    }
}

async fn with_twenty_links_of(fixture: &Fixture, owner: &Person) {
    let links: Vec<_> = (0..20).map(|number| fixture.link_of(owner, &code(number), &["a"])).collect();
    fixture.db.store_all(&links).await;
}

/// Has Ada give somebody another role, or remove them.
async fn take_role(fixture: &Fixture, person: &Person, becomes: Option<Role>) {
    let (users, workspace, ada) = (fixture.db.users(), &fixture.ada.workspace, &fixture.ada.id);
    let outcome = match becomes {
        Some(role) => change_role(&users, workspace, ada, &person.id, role).await,
        None => users.remove_member(&removal(workspace, ada, &person.id)).await,
    };
    assert!(matches!(outcome.unwrap(), MemberOutcome::Done(_)));
}

/// Asserts that a job, of which some of twenty links are done, does nothing more after this.
async fn assert_ends_by(fixture: &Fixture, job: &JobId, event: impl Future<Output = ()>) {
    let small = fixture.in_small_steps(6);
    let record = fixture.stream.news().pop().unwrap();
    assert_eq!(retry_from(&job_step(&small, &record).await), None);
    let first = fixture.job(job).await.progress;
    assert!(first.changed > 0 && first.changed < 20);

    event.await;
    fixture.stream.carry(&small).await;

    let ended = fixture.job(job).await;
    assert_eq!((ended.state, ended.reason), (JobState::Failed, Some(JobFailure::RightsLost)));
    assert_eq!(ended.progress, first);
}

/// The attack: an admin who is about to be removed begins to purge everything.
#[tokio::test]
async fn nothing_is_purged_after_a_removal_but_the_page_under_way() {
    const PAGE: usize = 5;
    let mut failed = 0;
    for attempt in 0..20 {
        let fixture = Fixture::new().await;
        let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Admin).await;
        let links: Vec<_> = (0..100).map(|number| fixture.link(&code(number), &[])).collect();
        fixture.db.store_all(&links).await;
        let order = json!({"kind": "purge", "filter": {"all": true}});
        let job = fixture.start_as(&carol, Role::Admin, &order).await;
        let record = fixture.stream.news().pop().unwrap();
        let (mut function, counter): (_, WriteCounter) = fixture.through();
        function.kinds.links.links_at_once = PAGE;
        function.kinds.links.index_lags = Duration::from_millis(20);

        let becomes = (attempt % 2 == 0).then_some(Role::Member);
        let moment = fastrand::usize(0..60);
        let removed = async {
            counter.more(moment).await;
            take_role(&fixture, &carol, becomes).await;
            links_left(&fixture)
        };
        let (response, at_removal) = join(job_step(&function, &record), removed).await;

        assert_eq!(retry_from(&response), None);
        let purged_since = at_removal - links_left(&fixture);
        assert!(purged_since <= PAGE, "{purged_since} of {at_removal} after {moment}, {becomes:?}");
        failed += usize::from(fixture.job(&job).await.reason == Some(JobFailure::RightsLost));
    }
    assert!(failed > 10, "{failed} were in time");
}

/// How many links there are that aren't purged.
fn links_left(fixture: &Fixture) -> usize {
    let links = fixture.db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "LINK");
    links.filter(|item| item.get("original_url").is_some()).count()
}

#[tokio::test]
async fn nothing_is_changed_after_a_removal_while_a_job_awaits_the_index() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Admin).await;
    fixture.db.store_all(&[fixture.link("launch", &["a"])]).await;
    let job = fixture.start_as(&carol, Role::Admin, &rename("a", "b")).await;
    let record = fixture.stream.news().pop().unwrap();
    let mut function = fixture.function();
    function.kinds.links.index_lags = Duration::from_secs(2);

    let (response, ()) = join(job_step(&function, &record), take_role(&fixture, &carol, None)).await;

    assert_eq!(retry_from(&response), None);
    assert_eq!(fixture.job(&job).await.reason, Some(JobFailure::RightsLost));
    assert_eq!(fixture.tags("launch").await, ["a"]);
}

#[tokio::test]
async fn a_job_ends_with_the_api_key_that_has_begun_it() {
    for is_revoked in [true, false] {
        let fixture = Fixture::new().await;
        with_twenty_links_of(&fixture, &fixture.ada).await;
        let key = ApiKeySecret::generate().unwrap();
        fixture.db.store_key(&ApiKeyBuilder::new(&key, &fixture.ada).build()).await;
        let request = RequestBuilder::new("POST", "/api/jobs").api_key(key.reveal()).json(&rename("a", "b"));
        let job = request.send_to(&jobs_api(&fixture.db)).await.parsed("id");

        let (users, Person { id, workspace, .. }) = (fixture.db.users(), &fixture.ada);
        let ends = async {
            if is_revoked {
                let revoked = users.revoke_key(workspace, id, &key.prefix(), &an_origin(id)).await.unwrap();
                assert!(matches!(revoked, KeyOutcome::Done(_)));
            } else {
                let paused = users.pause_keys(workspace, Timestamp::now(), |_, _| true, &an_origin(id)).await.unwrap();
                assert_eq!(paused, 1);
            }
        };
        assert_ends_by(&fixture, &job, ends).await;
    }
}

/// The attack: whoever has squatted an address has a job go on after its owner has taken the account over.
#[tokio::test]
async fn a_squatters_job_ends_when_the_owner_reclaims_the_account() {
    let fixture = Fixture::new().await;
    with_twenty_links_of(&fixture, &fixture.ada).await;
    let job = fixture.start(&rename("a", "b")).await;

    assert_ends_by(&fixture, &job, reclaim(&fixture)).await;

    let later = Timestamp::now().plus(Duration::from_secs(10));
    let token = fixture.ada.token(Role::Admin);
    let request = RequestBuilder::new("POST", "/api/jobs").token(&token).json(&rename("a", "c")).at(later);
    let owners = request.send_to(&jobs_api(&fixture.db)).await.parsed("id");
    fixture.carry().await;
    assert_eq!(fixture.job(&owners).await.state, JobState::Done);
}

/// Has Ada set a new password with a mailed token, as the first proof of her address.
async fn reclaim(fixture: &Fixture) {
    let (users, Person { id, email, .. }) = (fixture.db.users(), &fixture.ada);
    let (token, now) = (OneTimeToken::generate(TokenPurpose::Reset).unwrap().hash(), Timestamp::now());
    let mailed = NewToken { hash: &token, user: id, email, issued_at: now };
    fixture.db.one_time_tokens().issue_reset(&mailed, TokenDelivery::Mailed).await.unwrap();
    let reset = users.reset(&token, now).await.unwrap().unwrap();
    let done =
        users.reset_password(&reset, "a new hash", &network_of(email), Timestamp::now, &an_origin(id)).await.unwrap();
    assert_eq!(done, ResetOutcome::Done { is_first_proof: true });
}

#[tokio::test]
async fn a_members_job_stays_one_when_its_creator_becomes_an_admin() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("adas", &["a"]), fixture.link_of(&fixture.bob, "bobs", &["a"])]).await;
    let job = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "b")).await;
    change_role(&fixture.db.users(), &fixture.ada.workspace, &fixture.ada.id, &fixture.bob.id, Role::Admin)
        .await
        .unwrap();

    fixture.carry().await;

    assert_eq!(fixture.outcome(&job).await, (JobState::Done, [1, 1, 0]));
    assert_eq!(fixture.tags("adas").await, ["a"]);
}

#[tokio::test]
async fn a_job_without_progress_for_an_hour_fails_and_the_next_begins() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch", &["a"])]).await;
    let (stuck, next) = (fixture.start(&rename("a", "b")).await, fixture.start(&rename("a", "c")).await);
    let record = fixture.stream.news().pop().unwrap();
    let in_minutes = |minutes: u64| {
        let (function, faults): (_, Faults) = fixture.through();
        faults.plan_all((0..1_000).map(|call| (call, Fault::NotSent)));
        let clock = Box::new(move || Timestamp::now().plus(Duration::from_secs(60 * minutes)));
        JobRunner { clock, ..function }
    };

    assert_eq!(retry_from(&job_step(&in_minutes(59), &record).await), record.change.sequence_number);
    assert_eq!(retry_from(&job_step(&in_minutes(61), &record).await), None);

    let given_up = fixture.job(&stuck).await;
    assert_eq!((given_up.state, given_up.reason), (JobState::Failed, Some(JobFailure::NoProgress)));
    fixture.carry().await;
    assert_eq!(fixture.outcome(&next).await, (JobState::Done, [1, 1, 0]));
}

#[tokio::test]
async fn a_job_whose_input_cannot_be_read_fails_and_keeps_nobody_waiting() {
    let fixture = Fixture::new().await;
    let broken = fixture.start(&json!({"kind": "archive", "filter": {"search": "x"}})).await;
    let next = fixture.start(&json!({"kind": "archive", "filter": {"all": true}})).await;
    let mut item =
        fixture.db.scan("JobsTable").into_iter().find(|item| item["filter"]["M"]["search"]["S"] == "x").unwrap();
    item["filter"] = json!({"M": {"status": {"S": "lost"}}});
    fixture.db.put("JobsTable", &item);

    fixture.carry().await;

    let failed = fixture.job(&broken).await;
    assert_eq!((failed.state, failed.reason), (JobState::Failed, Some(JobFailure::InternalError)));
    assert_eq!(fixture.outcome(&next).await.0, JobState::Done);
}

#[tokio::test]
async fn an_unreadable_or_missing_job_keeps_no_other_waiting() {
    for is_gone in [false, true] {
        let fixture = Fixture::new().await;
        fixture.db.store_all(&[fixture.link("launch", &["a"])]).await;
        let lost = fixture.start(&rename("x", "y")).await;
        let next = fixture.start(&rename("a", "b")).await;
        let is_lost = |item: &Value| item["sk"]["S"] == format!("JOB#{lost}");
        let mut item = fixture.db.scan("JobsTable").into_iter().find(is_lost).unwrap();
        if is_gone {
            fixture.db.remove("JobsTable", &item);
        } else {
            item["kind"] = json!({"S": "unheard_of"});
            fixture.db.put("JobsTable", &item);
        }

        let looked =
            fixture.request(&fixture.ada, Role::Admin, "GET", &format!("/api/jobs/{next}"), &Value::Null).await;

        assert_eq!((looked.status, &looked.json()["state"]), (200, &json!("running")), "{}", looked.body);
        fixture.stream.carry(&fixture.function()).await;
        assert_eq!(fixture.outcome(&next).await, (JobState::Done, [1, 1, 0]));
        let parked = fixture.queues.messages("dlq");
        let by: Vec<_> = parked.iter().map(|one| &one["MessageAttributes"]["consumer"]["StringValue"]).collect();
        assert!(is_gone || by.first().is_some_and(|by| *by == "jobs"), "what cannot be read is parked: {by:?}");
    }
}

#[tokio::test]
async fn the_end_of_a_job_is_told_to_its_creator_once() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link_of(&fixture.bob, "launch", &["a"])]).await;
    fixture.db.users().verify_address(&fixture.bob.id, &fixture.bob.email, &an_origin(&fixture.bob.id)).await.unwrap();
    let job = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "b")).await;
    fixture.carry().await;
    let mut ends = fixture.db.stream("JobsTable");
    let all = ends.records.len();
    ends.records.retain(|record| is_let_through("JobsRelayStream", record));
    assert_eq!(ends.records.len(), 1, "of {all}");

    let outside = FakeNotifiers::start();
    let notify = notify(&fixture.db, &fixture.queues, &outside, true);
    for _ in 0..2 {
        assert_eq!(retry_from(&relay(&fixture.db, &fixture.queues).consume(ends.clone()).await), None);
    }
    let events = fixture.queues.bodies("notify");
    assert_eq!(events.len(), 2);
    assert_eq!(events[0], events[1], "it has the same id at every delivery");
    for body in &events {
        let message = serde_json::from_str::<Value>(body).unwrap();
        assert!(notify.consume(message_batch(&[message])).await.batch_item_failures.is_empty());
    }

    let feed = fixture.db.notifications().list(&fixture.bob.id, &[], 10, None).await.unwrap().page.items;
    assert_eq!(feed.len(), 1);
    assert_eq!(feed[0].event_type, "job.finished");
    assert_eq!(feed[0].about, linklet_domain::NotificationSubject::Job(job));
    assert_eq!(feed[0].message, "Your job to rename the tag a to b is done: 1 link changed.");
    assert_eq!(outside.mails().len(), 1);
}

#[tokio::test]
async fn the_audit_log_says_a_jobs_work_outcome_and_author() {
    let fixture = Fixture::new().await;
    let secret = ApiKeySecret::generate().unwrap();
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &fixture.ada).build()).await;
    let key = secret.prefix();
    fixture.db.store_all(&[fixture.link("launch", &["a"])]).await;
    let done = fixture.run(&json!({"kind": "purge", "filter": {"tag": ["a"]}})).await;
    let with_key = Changer { key: Some(key.clone()), ..Changer::in_person(&fixture.bob.id) };
    let work = fixture.job(&done).await.work;
    let asked = (Timestamp::now(), crate::fixture::correlation());
    let by_key = Job::new(fixture.ada.workspace, work, (with_key, Role::Member), asked, None);
    let by_key = fixture.db.jobs().create(&by_key, None).await.unwrap().unwrap().id;
    fixture.carry().await;
    let running = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "b")).await;
    let waiting = fixture.start_as(&fixture.bob, Role::Member, &rename("a", "c")).await;
    for job in [&running, &waiting] {
        fixture.cancel(job).await;
    }
    fixture.carry().await;

    let mut ends = fixture.db.stream("JobsTable");
    ends.records.retain(|record| is_let_through("JobsRelayStream", record));
    assert_eq!(retry_from(&relay(&fixture.db, &fixture.queues).consume(ends).await), None);
    let notify = notify(&fixture.db, &fixture.queues, &FakeNotifiers::start(), false);
    assert!(notify.consume(queue_batch(&fixture.queues.bodies("notify"))).await.batch_item_failures.is_empty());

    let audit_log = AuditLog::Workspace(fixture.ada.workspace);
    let entries = fixture.db.audit_log().list(&audit_log, &AuditFilter::default(), 100, None).await.unwrap().items;
    let of = |job: JobId| {
        let entry = entries.iter().find(|entry| entry.subject == Some(AuditSubject::Job(job))).unwrap();
        (entry.actor.clone(), entry.from.clone().unwrap(), entry.to.clone().unwrap())
    };
    let (ada, purged) = (Actor::Person(fixture.ada.id), "purge links with their statistics");
    assert_eq!(of(done), (ada.clone(), purged.into(), "done: 1 link changed".into()));
    assert_eq!(of(by_key), (Actor::Key(key), purged.into(), "done: 0 links changed".into()));
    assert_eq!(of(running), (ada.clone(), "rename the tag a to b".into(), "cancelled: 0 links changed".into()));
    assert_eq!(of(waiting), (ada, "rename the tag a to c".into(), "cancelled: 0 links changed".into()));
    let told = fixture.db.notifications().list(&fixture.bob.id, &[], 10, None).await.unwrap().page.items;
    let cancelled = "Your job to rename the tag a to b was canceled by someone else: 0 links changed.";
    assert!(told.iter().any(|one| one.message == cancelled), "{told:?}");
}
