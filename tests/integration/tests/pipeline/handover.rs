//! From the end of a membership, through JobsTable's stream with the filter of the template, to a heir who has all that was left.

use futures_util::future::join_all;
use linklet_domain::{
    ApiKey, ApiKeySecret, EventDetail, JobProgress, JobState, KeysLeft, Link, Role, Target, Task, Timestamp, UserId,
    Work, WorkId,
};
use linklet_dynamodb::{JobEnd, LinksTable, MemberOutcome, Reached, Removal};
use linklet_jobs::JobRunner;
use linklet_lambda::batch::Consumer;
use linklet_relay::Relay;
use linklet_test_support::{
    ApiKeyBuilder, FakeQueues, Fault, Faults, LinkBuilder, Person, TargetBuilder, TestDynamoDb, click_event,
    event_batch, in_role_of, removal,
};
use serde_json::{Value, json};
use std::{cell::Cell, time::Duration};

use crate::fixture::{analytics, colleague, jobs, relay};
use crate::streams::{JobsStream, delete_due_marks, job_step, retry_from};

/// Ada's workspace, which Bob leaves.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    stream: JobsStream,

    /// By how much the function's clock is ahead.
    ahead: Cell<Duration>,
    /// How many parked records were counted.
    parked: Cell<usize>,
    ada: Person,
    bob: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Admin).await;
        let stream = JobsStream::of(&db);
        Self { db, queues, stream, ahead: Cell::default(), parked: Cell::default(), ada, bob }
    }

    async fn remove(&self, removal: &Removal<'_>) {
        assert!(matches!(self.db.users().remove_member(removal).await.unwrap(), MemberOutcome::Done(_)));
    }

    /// Lets Ada remove Bob.
    async fn remove_bob(&self) {
        self.remove(&self.of_bob()).await;
    }

    fn of_bob(&self) -> Removal<'_> {
        removal(&self.ada.workspace, &self.ada.id, &self.bob.id)
    }

    fn link(&self, code: &str, owner: &Person) -> LinkBuilder {
        LinkBuilder::new(code).in_workspace(&self.ada.workspace).owned_by(&owner.id)
    }

    async fn store(&self, link: LinkBuilder) -> Link {
        let link = link.build();
        self.db.store(&link).await;
        link
    }

    async fn target(&self, url: &str, owner: &Person) -> Target {
        let target = TargetBuilder::new(url).in_workspace(&self.ada.workspace).owned_by(&owner.id).build();
        self.db.store_target(&target).await
    }

    async fn key_of(&self, person: &Person) -> ApiKey {
        let key = ApiKeyBuilder::new(&ApiKeySecret::generate().unwrap(), person).build();
        self.db.store_key(&key).await;
        key
    }

    async fn owner(&self, link: &Link) -> UserId {
        self.db.link(link.code().as_str()).await.identity.owner
    }

    async fn owner_of(&self, target: &Target) -> UserId {
        self.db.watch().find(&target.id).await.unwrap().unwrap().owner
    }

    async fn open(&self, leaver: &Person) -> Option<Task> {
        self.db.task(WorkId::Handover { workspace: self.ada.workspace, leaver: leaver.id }).await
    }

    /// Whether Bob's handover waits for its last pass.
    async fn rests(&self) -> bool {
        self.open(&self.bob).await.unwrap().checkpoint.unwrap().contains(r#""step":"rest""#)
    }

    /// The function, whose clock is ahead.
    fn function(&self) -> JobRunner {
        let ahead = self.ahead.get();
        let clock = Box::new(move || Timestamp::now().plus(ahead));
        JobRunner { clock, ..jobs(&self.db, &self.queues) }
    }

    /// Lets time pass, and `clock` delete the marks that are due.
    async fn pass(&self, time: Duration) {
        self.ahead.set(self.ahead.get() + time);
        delete_due_marks(&self.db, Timestamp::now().plus(self.ahead.get())).await;
    }

    async fn carry(&self) {
        self.stream.carry(&self.function()).await;
        assert!(self.queues.bodies("dlq").is_empty());
    }
}

fn ago(seconds: u64) -> Timestamp {
    Timestamp::now().minus(Duration::from_secs(seconds))
}

#[tokio::test]
async fn a_removed_members_links_and_targets_silently_become_the_removing_admins() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Member).await;
    let in_an_hour = Timestamp::now().plus(Duration::from_secs(3_600));
    let plain = fixture.store(fixture.link("plain", &fixture.bob)).await;
    let expiring = fixture.store(fixture.link("expiring", &fixture.bob).expires_at(in_an_hour)).await;
    let watching = fixture.store(fixture.link("watching", &fixture.bob).watching()).await;
    let deleted = fixture.store(fixture.link("deleted", &fixture.bob)).await;
    fixture.db.delete_as(&fixture.bob.id, &deleted, Timestamp::now()).await;
    let carols = fixture.store(fixture.link("carols", &carol)).await;
    let elsewhere = LinkBuilder::new("elsewhere").owned_by(&fixture.bob.id);
    let elsewhere = fixture.store(elsewhere).await;
    let (bobs_target, carols_target) =
        (fixture.target("https://a.example/", &fixture.bob).await, fixture.target("https://b.example/", &carol).await);
    let mut links = fixture.db.stream_reader("LinksTable");
    let mut targets = fixture.db.stream_reader("WatchTable");
    relay(&fixture.db, &fixture.queues).consume(links.read_on("")).await;
    links.read_on("");
    targets.read_on("");
    let published = [fixture.queues.bodies("notify").len(), fixture.queues.bodies("analytics").len()];
    let markers = || {
        let items = fixture.db.scan("LinksTable").into_iter();
        items.filter(|item| item["sk"]["S"] == "EXPIRY").collect::<Vec<_>>()
    };
    let before = markers();

    fixture.remove_bob().await;
    fixture.carry().await;

    for link in [&plain, &expiring, &watching, &deleted] {
        assert_eq!(fixture.owner(link).await, fixture.ada.id, "{}", link.code());
    }
    assert_eq!((fixture.owner(&carols).await, fixture.owner(&elsewhere).await), (carol.id, fixture.bob.id));
    let changed = fixture.db.link("expiring").await;
    assert_eq!(
        Link { identity: changed.identity.clone(), last_write: changed.last_write.clone(), ..expiring },
        changed
    );
    assert_eq!(fixture.owner_of(&bobs_target).await, fixture.ada.id);
    assert_eq!(fixture.owner_of(&carols_target).await, carol.id);
    let changes = [links.read_on(""), targets.read_on("")];
    assert_eq!(changes.each_ref().map(|change| change.records.len()), [4, 1]);
    for change in changes {
        assert_eq!(retry_from(&relay(&fixture.db, &fixture.queues).consume(change).await), None);
    }
    assert_eq!([fixture.queues.bodies("notify").len(), fixture.queues.bodies("analytics").len()], published);
    assert_eq!(markers(), before);
}

#[tokio::test]
async fn after_a_handover_the_heir_gets_milestones_even_of_older_clicks() {
    let fixture = Fixture::new().await;
    let link = fixture.store(fixture.link("launch", &fixture.bob)).await;
    let click = |second| {
        let mut event = click_event("launch", ago(second));
        let EventDetail::UrlClicked(clicked) = &mut event.detail else { panic!("{event:?}") };
        (clicked.link, clicked.user_id) = (link.id().clone(), fixture.bob.id);
        event.workspace_id = link.identity.workspace;
        event
    };
    fixture.remove_bob().await;
    fixture.carry().await;

    analytics(&fixture.db, &fixture.queues).consume(event_batch(&(0..12).map(click).collect::<Vec<_>>())).await;
    let milestones = fixture.db.stream("StatsTable");
    let (links, table): (_, Faults) = fixture.db.through(LinksTable, "LinksTable");
    let blind = Relay { links, ..relay(&fixture.db, &fixture.queues) };
    table.plan(Some((0, Fault::NotSent)));
    let unread = in_role_of::<Relay, _>(blind.consume(milestones.clone())).await;
    let told = in_role_of::<Relay, _>(relay(&fixture.db, &fixture.queues).consume(milestones)).await;

    assert!(retry_from(&unread).is_some(), "who is to be told can't be read now");
    assert_eq!(retry_from(&told), None);
    let events = fixture.queues.events("notify");
    let told: Vec<_> = events.iter().map(|event| [&event["event_type"], &event["user_id"]]).collect();
    assert_eq!(told, [[&json!("milestone.reached"), &json!(fixture.ada.id)]]);
}

/// For up to a minute, environments hold what sessions and keys are worth.
#[tokio::test]
async fn links_created_soon_after_a_removal_are_handed_over_later() {
    let fixture = Fixture::new().await;
    let at = Timestamp::now();
    fixture.remove(&Removal { at, ..fixture.of_bob() }).await;
    fixture.carry().await;
    assert!(fixture.rests().await);
    let late = fixture.link("late", &fixture.bob).created_at(at.plus(Duration::from_secs(59)));
    let late = fixture.store(late).await;
    fixture.carry().await;
    assert_eq!(fixture.owner(&late).await, fixture.bob.id);

    fixture.pass(Duration::from_secs(182)).await;
    fixture.carry().await;

    assert_eq!(fixture.owner(&late).await, fixture.ada.id);
    assert_eq!(fixture.open(&fixture.bob).await, None);
    assert_eq!(fixture.db.scan("JobsTable"), Vec::<Value>::new());
}

#[tokio::test]
async fn a_handover_takes_as_many_steps_as_needed_and_survives_repetition() {
    let fixture = Fixture::new().await;
    let links: Vec<_> = (0..25).map(|number| fixture.link(&format!("link{number}"), &fixture.bob).build()).collect();
    join_all(links.iter().map(|link| fixture.db.store(link))).await;
    let urls: Vec<_> = (0..110).map(|number| format!("https://host{number}.example/")).collect();
    let targets = join_all(urls.iter().map(|url| fixture.target(url, &fixture.bob))).await;
    let mut consumer = JobRunner { step: Duration::ZERO, ..fixture.function() };
    consumer.kinds.handovers.links_at_once = 10;

    fixture.remove_bob().await;
    let mut steps = 0;
    loop {
        let news = fixture.stream.news();
        let Some(record) = news.last() else { break };
        for _ in 0..2 {
            assert_eq!(retry_from(&job_step(&consumer, record).await), None);
        }
        steps += 1;
    }

    assert!(fixture.rests().await);
    // Each record was delivered twice, and a delivery is a step: three of links, two of targets.
    assert!(steps >= 3, "{steps}");
    let owners = join_all(links.iter().map(|link| fixture.owner(link))).await;
    assert!(owners.iter().all(|owner| *owner == fixture.ada.id));
    let owners = join_all(targets.iter().map(|target| fixture.owner_of(target))).await;
    assert!(owners.iter().all(|owner| *owner == fixture.ada.id));
}

#[tokio::test]
async fn if_the_heir_leaves_during_a_handover_the_oldest_admin_inherits() {
    let fixture = Fixture::new().await;
    let carol = colleague(&fixture.db, &fixture.ada, "carol", Role::Admin).await;
    let (workspace, ada) = (&fixture.ada.workspace, &fixture.ada.id);
    let first = fixture.store(fixture.link("first", &fixture.bob)).await;
    let carols = fixture.store(fixture.link("carols", &carol)).await;

    fixture.remove(&removal(workspace, &carol.id, &fixture.bob.id)).await;
    fixture.remove(&removal(workspace, &carol.id, &carol.id)).await;
    fixture.carry().await;

    assert_eq!((fixture.owner(&first).await, fixture.owner(&carols).await), (*ada, *ada));
}

#[tokio::test]
async fn what_somebody_creates_who_has_come_back_is_theirs() {
    let fixture = Fixture::new().await;
    let old = fixture.store(fixture.link("before", &fixture.bob)).await;
    let at = Timestamp::now();
    fixture.remove(&Removal { at, ..fixture.of_bob() }).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    fixture.rejoin(&fixture.bob).await;
    let new = fixture.store(fixture.link("after", &fixture.bob)).await;
    let key = fixture.key_of(&fixture.bob).await;

    fixture.carry().await;

    assert_eq!((fixture.owner(&old).await, fixture.owner(&new).await), (fixture.ada.id, fixture.bob.id));
    assert!(fixture.db.api_keys().find(&key.hash).await.unwrap().is_some());
}

impl Fixture {
    async fn rejoin(&self, person: &Person) {
        self.db.add_member(&self.ada.workspace, &self.ada.id, &person.as_member(Role::Admin)).await;
    }
}

#[tokio::test]
async fn the_handover_revokes_keys_or_makes_them_the_heirs() {
    for keys in [KeysLeft::Revoked, KeysLeft::Kept] {
        let fixture = Fixture::new().await;
        let (bobs, adas) = (fixture.key_of(&fixture.bob).await, fixture.key_of(&fixture.ada).await);

        fixture.remove(&Removal { keys, ..fixture.of_bob() }).await;
        fixture.carry().await;

        let found = fixture.db.api_keys().find(&bobs.hash).await.unwrap();
        let listed = fixture.db.users().keys(&fixture.ada.workspace, Timestamp::now()).await.unwrap();
        let created_by = fixture.ada.id;
        let kept = (keys == KeysLeft::Kept).then_some(ApiKey { created_by, ..bobs.clone() });
        assert_eq!(found, kept);
        assert_eq!(listed.iter().find(|key| key.hash == bobs.hash), kept.as_ref());
        assert!(listed.contains(&adas));
    }
}

#[tokio::test]
async fn the_handover_withdraws_invitations_of_somebody_who_has_left() {
    let fixture = Fixture::new().await;
    fixture.db.invite(&fixture.bob, "eve@example.com", Role::Admin).await;
    let adas = fixture.db.invite(&fixture.ada, "carol@example.com", Role::Admin).await;

    fixture.remove_bob().await;
    fixture.carry().await;

    let open = fixture.db.users().invitations(&fixture.ada.workspace, Timestamp::now()).await.unwrap();
    assert_eq!(open.into_iter().map(|invitation| invitation.token).collect::<Vec<_>>(), [adas]);
}

#[tokio::test]
async fn an_unavailable_table_is_waited_for() {
    let fixture = Fixture::new().await;
    let links =
        join_all(["first", "second", "third"].map(|code| fixture.store(fixture.link(code, &fixture.bob)))).await;
    fixture.remove_bob().await;
    let record = fixture.stream.news().pop().unwrap();
    let faults = Faults::default();
    let mut consumer = fixture.function();
    consumer.kinds.handovers.links = LinksTable(fixture.db.table_with(faults.clone(), "LinksTable"));
    faults.plan_all((0..20).map(|call| (call, Fault::NotSent)));

    let response = job_step(&consumer, &record).await;

    assert_eq!(retry_from(&response), record.change.sequence_number);
    assert!(fixture.queues.bodies("dlq").is_empty());
    assert_eq!(retry_from(&job_step(&fixture.function(), &record).await), None);
    for link in &links {
        assert_eq!(fixture.owner(link).await, fixture.ada.id);
    }
}

impl Fixture {
    async fn state(&self) -> Option<JobState> {
        self.open(&self.bob).await.map(|task| task.state)
    }

    /// How many records were parked since this was asked last.
    fn parked(&self) -> usize {
        let all = self.queues.bodies("dlq").len();
        all - self.parked.replace(all)
    }
}

/// It must not keep others waiting for twelve hours, and nobody would see it otherwise.
#[tokio::test]
async fn a_handover_that_fails_is_parked_and_tried_again_each_day() {
    let fixture = Fixture::new().await;
    fixture.remove_bob().await;
    let broken = json!({"pk": {"S": format!("WS#{}", fixture.ada.workspace)}, "sk": {"S": "MEMBER#nobody"}});
    fixture.db.put("UsersTable", &broken);
    let (day, function) = (Duration::from_secs(24 * 3_600), || fixture.function());

    fixture.stream.carry(&function()).await;
    assert_eq!((fixture.state().await, fixture.parked()), (Some(JobState::Failed), 1));
    fixture.pass(Duration::from_secs(182)).await;
    fixture.stream.carry(&function()).await;
    assert_eq!((fixture.state().await, fixture.parked()), (Some(JobState::Failed), 1));
    fixture.db.remove("UsersTable", &broken);
    fixture.pass(day - Duration::from_secs(60)).await;
    fixture.stream.carry(&function()).await;
    assert_eq!(fixture.state().await, Some(JobState::Failed), "until the next day");
    fixture.pass(Duration::from_secs(120)).await;
    fixture.stream.carry(&function()).await;

    assert_eq!((fixture.state().await, fixture.parked()), (None, 0));
}

#[tokio::test]
async fn an_unreadable_checkpoint_fails_a_handover_which_then_begins_anew() {
    let fixture = Fixture::new().await;
    fixture.remove_bob().await;
    fixture.carry().await;
    let link = fixture.store(fixture.link("late", &fixture.bob)).await;
    let task = fixture.open(&fixture.bob).await.unwrap();
    let unreadable = Reached { progress: task.progress.clone(), checkpoint: Some("{}".into()) };
    fixture.db.jobs().note(&task.run(), &unreadable, Timestamp::now()).await.unwrap();

    fixture.stream.carry(&fixture.function()).await;
    assert_eq!((fixture.state().await, fixture.parked()), (Some(JobState::Failed), 1));
    fixture.pass(Duration::from_secs(182)).await;
    fixture.stream.carry(&fixture.function()).await;

    assert_eq!((fixture.owner(&link).await, fixture.state().await, fixture.parked()), (fixture.ada.id, None, 0));
}

#[tokio::test]
async fn a_leaver_who_is_back_as_the_only_admin_keeps_what_is_left() {
    let fixture = Fixture::new().await;
    let link = fixture.store(fixture.link("mine", &fixture.bob)).await;
    fixture.remove_bob().await;
    fixture.rejoin(&fixture.bob).await;
    fixture.remove(&removal(&fixture.ada.workspace, &fixture.bob.id, &fixture.ada.id)).await;

    fixture.carry().await;

    assert_eq!((fixture.owner(&link).await, fixture.state().await), (fixture.bob.id, None));
}

#[tokio::test]
async fn a_step_for_an_earlier_removal_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture.remove_bob().await;
    let earlier = fixture.open(&fixture.bob).await.unwrap();
    fixture.rejoin(&fixture.bob).await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    fixture.remove_bob().await;
    let later = fixture.open(&fixture.bob).await.unwrap();
    let (jobs, at) = (fixture.db.jobs(), Timestamp::now());

    let reached = Reached { progress: JobProgress::default(), checkpoint: None };
    jobs.note(&earlier.run(), &reached, at).await.unwrap();
    for state in [JobState::Done, JobState::Failed] {
        let end = JobEnd { state, reason: None, progress: &earlier.progress, at };
        assert!(!jobs.end(&Work::Task(earlier.clone()), &end).await.unwrap(), "{state:?}");
    }

    assert_eq!(fixture.open(&fixture.bob).await, Some(later));
}

#[tokio::test]
async fn nothing_but_a_removal_calls_the_function() {
    let fixture = Fixture::new().await;
    fixture.db.register("carol").await;
    fixture.key_of(&fixture.ada).await;
    assert_eq!(fixture.stream.news(), []);

    fixture.remove_bob().await;

    assert_eq!(fixture.stream.news().len(), 1);
}
