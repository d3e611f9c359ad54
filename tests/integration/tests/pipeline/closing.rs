//! From a workspace that is closed, through JobsTable's stream with the filters of the template and the marks beside its job, to one that
//! is back with all that it had, or to nothing that is left of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_lambda_events::dynamodb::EventRecord;
use futures_util::future::{join, join_all};
use linklet_domain::{
    ApiKeySecret, Changer, Closure, CorrelationId, Job, JobState, JobWork, Link, LinkPatch, LinkState, Record, Role,
    Timestamp, UserId, WorkspaceJob, WorkspaceSlug,
};
use linklet_dynamodb::{ActiveSession, CloseOutcome, JobsTable, LinksTable, MemberOutcome, RestoreOutcome, Table};
use linklet_jobs::JobRunner;
use linklet_lambda::batch::Consumer;
use linklet_lambda::identity::Authenticator;
use linklet_lambda::metrics::{self, Metric};
use linklet_list::List;
use linklet_test_support::{
    ApiKeyBuilder, FakeQueues, Fault, Faults, LinkBuilder, Person, RequestBuilder, TargetBuilder, Template,
    TestDynamoDb, WriteCounter, a_session, an_origin, an_origin_at, queue_batch, removal, token_of, tokens, users_by,
};
use serde_json::{Value, json};

use crate::fixture::{analytics, colleague, correlation, jobs, list, redirect, relay, watch_links};
use crate::streams::{JobsStream, delete_due_marks, is_let_through, job_step, left_out_by_event_name, retry_from};

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Ada's workspace, in which Bob is an admin, Carol a member and Dan a viewer.
struct Fixture {
    db: TestDynamoDb,
    queues: FakeQueues,
    stream: JobsStream,
    /// By how many milliseconds the clocks of the functions are ahead.
    ahead: Arc<AtomicU64>,
    ada: Person,
    bob: Person,
    carol: Person,
}

impl Fixture {
    async fn new() -> Self {
        let (db, queues) = (TestDynamoDb::start(), FakeQueues::start());
        let ada = db.register_verified("ada").await;
        let bob = colleague(&db, &ada, "bob", Role::Admin).await;
        let carol = colleague(&db, &ada, "carol", Role::Member).await;
        let stream = JobsStream::of(&db);
        Self { db, queues, stream, ahead: Arc::default(), ada, bob, carol }
    }

    fn now(&self) -> Timestamp {
        Timestamp::now().plus(Duration::from_millis(self.ahead.load(Ordering::Relaxed)))
    }

    /// Lets time pass, and `clock` delete the marks that are due.
    async fn pass(&self, time: Duration) {
        self.ahead.fetch_add(time.as_millis().try_into().unwrap(), Ordering::Relaxed);
        delete_due_marks(&self.db, self.now()).await;
    }

    fn link(&self, code: &str) -> LinkBuilder {
        let created_at = Timestamp::now().minus(Duration::from_secs(60));
        LinkBuilder::new(code).in_workspace(&self.ada.workspace).owned_by(&self.carol.id).created_at(created_at)
    }

    async fn slug(&self) -> WorkspaceSlug {
        self.db.users().workspace(&self.ada.workspace).await.unwrap().unwrap().slug
    }

    fn job(&self, person: &Person, work: WorkspaceJob) -> Job {
        let (by, asked) = ((Changer::in_person(&person.id), Role::Admin), (self.now(), CorrelationId::generate()));
        Job::new(self.ada.workspace, JobWork::Workspace(work), by, asked, None)
    }

    async fn close_as(&self, person: &Person) -> CloseOutcome {
        let (job, session) = (self.job(person, WorkspaceJob::CloseWorkspace), a_session());
        let (caller, origin) = (ActiveSession { user: &person.id, session: &session }, self.origin(person));
        self.db.users().close_workspace(&job, &self.slug().await, caller, &origin).await.unwrap()
    }

    async fn close(&self) -> Closure {
        match self.close_as(&self.ada).await {
            CloseOutcome::Closed(closure) => closure,
            other => panic!("{other:?}"),
        }
    }

    async fn restore_as(&self, person: &Person) -> RestoreOutcome {
        let (job, session) = (self.job(person, WorkspaceJob::ReopenWorkspace), a_session());
        let (caller, origin) = (ActiveSession { user: &person.id, session: &session }, self.origin(person));
        self.db.users().restore_workspace(&job, caller, &origin).await.unwrap()
    }

    async fn restore(&self) {
        let outcome = self.restore_as(&self.bob).await;
        assert!(matches!(outcome, RestoreOutcome::Restored(_)), "{outcome:?}");
    }

    fn origin(&self, person: &Person) -> linklet_domain::AuditContext {
        an_origin_at(&person.id, self.now())
    }

    fn function(&self) -> JobRunner {
        let mut function = jobs(&self.db, &self.queues);
        let ahead = self.ahead.clone();
        function.clock = Box::new(move || Timestamp::now().plus(Duration::from_millis(ahead.load(Ordering::Relaxed))));
        function
    }

    /// The function, with steps of one page of so many links.
    fn in_small_steps(&self, links_at_once: usize) -> JobRunner {
        let mut function = JobRunner { step: Duration::ZERO, ..self.function() };
        function.kinds.workspaces.links_at_once = links_at_once;
        function
    }

    /// Takes all steps that there are.
    async fn carry(&self) {
        self.stream.carry(&self.function()).await;
        assert!(self.queues.bodies("dlq").is_empty(), "{:?}", self.queues.bodies("dlq"));
    }

    /// Until nothing that environments hold is out of date, and once more.
    async fn finish(&self) {
        self.carry().await;
        self.pass(Closure::CACHES_EXPIRE_WITHIN + Duration::from_secs(2)).await;
        self.carry().await;
    }

    /// Closes the workspace, and takes all steps of that.
    async fn close_and_finish(&self) -> Closure {
        let closure = self.close().await;
        self.finish().await;
        closure
    }

    /// Brings the workspace back, and takes all steps of that.
    async fn restore_and_finish(&self) {
        self.restore().await;
        self.finish().await;
    }

    /// Carries all that has happened to links to their targets and statistics.
    async fn carry_links(&self) {
        relay(&self.db, &self.queues).consume(self.db.stream("LinksTable")).await;
        relay(&self.db, &self.queues).consume(self.db.stream("ClicksTable")).await;
        // Purges for which an invocation has no time come again.
        let mut batch = queue_batch(&self.queues.bodies("analytics"));
        while !batch.records.is_empty() {
            let failed = analytics(&self.db, &self.queues).consume(batch.clone()).await.batch_item_failures;
            let failed: Vec<_> = failed.into_iter().map(|failure| Some(failure.item_identifier)).collect();
            batch.records.retain(|record| failed.contains(&record.message_id));
        }
        let mut changes = self.db.stream("LinksTable");
        changes.records.retain(|record| is_let_through("WatchLinksStream", record));
        assert_eq!(retry_from(&watch_links(&self.db, &self.queues).consume(changes).await), None);
        self.carry().await;
    }

    async fn status(&self, code: &str) -> &'static str {
        match self.db.record(code).await {
            Some(Record::Link(link)) => link.availability.status(self.now()).into(),
            Some(Record::Tombstone(tombstone)) => linklet_domain::LinkStatus::from(tombstone.reason).into(),
            None => "unknown",
        }
    }

    async fn statuses(&self, codes: &[&str]) -> Vec<&'static str> {
        join_all(codes.iter().map(|code| self.status(code))).await
    }

    async fn follow(&self, code: &str) -> u16 {
        RequestBuilder::new("GET", &format!("/{code}")).send_to(&redirect(&self.db)).await.status
    }

    /// What a token of a person for the workspace opens at the moment.
    async fn list_as(&self, person: &Person, role: Role) -> u16 {
        let token = token_of(&person.id, &self.ada.workspace, role);
        let list = List { authenticator: authenticator_of(&self.db), ..list(&self.db) };
        RequestBuilder::new("GET", "/api/links").token(&token).send_to(&list).await.status
    }

    /// Whether a mail about a change of their account is ordered for a person.
    fn is_told(&self, person: &Person, change: &str) -> bool {
        let orders = self.queues.bodies("notify");
        let mut orders = orders.iter().map(|body| serde_json::from_str::<Value>(body).unwrap());
        orders.any(|order| order["change"] == change && order["user_id"] == json!(person.id))
    }

    /// How the jobs of the workspace stand, in the order in which they were asked for.
    async fn jobs(&self) -> Vec<(JobWork, JobState)> {
        let page = self.db.jobs().list(&self.ada.workspace, 100, None).await.unwrap();
        page.items.into_iter().rev().map(|job| (job.work, job.state)).collect()
    }

    /// The items of all tables that have one of these texts anywhere, by table and key.
    fn traces(&self, texts: &[String]) -> Vec<String> {
        let mut traces = Vec::new();
        for table in Template::load().tables().keys() {
            for item in self.db.scan(table) {
                let written = item.to_string();
                if texts.iter().any(|text| written.contains(text)) {
                    let (pk, sk) = (item["pk"]["S"].as_str().unwrap(), item["sk"]["S"].as_str().unwrap());
                    let kind = |key: &str| key.split('#').next().unwrap_or_default().to_owned();
                    traces.push(format!("{table} {}/{}", kind(pk), kind(sk)));
                }
            }
        }
        traces.sort();
        traces.dedup();
        traces
    }
}

/// One that looks up sessions and keys.
fn authenticator_of(db: &TestDynamoDb) -> Authenticator {
    Authenticator::new(tokens().with_sessions(db.sessions()), db.api_keys())
}

#[tokio::test]
async fn closing_a_workspace_refuses_access_and_links_until_it_is_restored() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build(), fixture.link("sale").watching().build()]).await;
    let key = key_of(&fixture).await;
    let with_key = async || {
        let list = List { authenticator: authenticator_of(&fixture.db), ..list(&fixture.db) };
        RequestBuilder::new("GET", "/api/links").api_key(key.reveal()).send_to(&list).await.status
    };
    assert_eq!((with_key().await, fixture.list_as(&fixture.carol, Role::Member).await), (200, 200));

    fixture.close().await;
    fixture.carry().await;

    assert_eq!((fixture.follow("launch").await, fixture.follow("sale").await), (410, 410));
    for (person, role) in [(&fixture.ada, Role::Admin), (&fixture.bob, Role::Admin), (&fixture.carol, Role::Member)] {
        assert_eq!(fixture.list_as(person, role).await, 401);
    }
    assert_eq!(with_key().await, 401);
    let told: Vec<Value> =
        fixture.queues.bodies("notify").iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let others = [json!(fixture.bob.id), json!(fixture.carol.id)];
    assert_eq!(told.len(), 2, "whoever has closed it is told by the request");
    assert!(told.iter().all(|mail| others.contains(&mail["user_id"])));
    assert!(told.iter().all(|mail| mail["change"] == "workspace_closed" && mail["restorable_until"].is_string()));

    fixture.restore().await;
    assert_eq!(fixture.list_as(&fixture.bob, Role::Admin).await, 200, "whoever brings it back needn't wait");
    fixture.carry().await;
    assert_eq!((fixture.follow("launch").await, fixture.follow("sale").await), (301, 301));
    assert_eq!((with_key().await, fixture.list_as(&fixture.carol, Role::Member).await), (200, 200));
    let restored = fixture.queues.bodies("notify").iter().filter(|body| body.contains("workspace_restored")).count();
    assert_eq!(restored, 2, "whoever brings it back is told by the answer");
}

#[tokio::test]
async fn closing_cancels_what_runs_and_waits_and_nothing_else_runs() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build()]).await;
    let jobs_api = crate::fixture::jobs_api(&fixture.db);
    let token = fixture.ada.token(Role::Admin);
    for _ in 0..3 {
        let body = json!({"kind": "switch_off", "filter": {"all": true}});
        RequestBuilder::new("POST", "/api/jobs").token(&token).json(&body).send_to(&jobs_api).await.expecting(202);
    }

    fixture.close_and_finish().await;

    let states: Vec<_> = fixture.jobs().await.into_iter().map(|(_, state)| state).collect();
    let [cancelled, rests] = [JobState::Cancelled, JobState::Running];
    assert_eq!(states, [cancelled, cancelled, cancelled, rests]);
    fixture.restore_and_finish().await;
    let states: Vec<_> = fixture.jobs().await.into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [cancelled, cancelled, cancelled, cancelled, JobState::Done]);
    assert_eq!(fixture.status("launch").await, "active");
}

#[tokio::test]
async fn closing_cancels_as_many_jobs_as_can_wait() {
    let fixture = Fixture::new().await;
    for _ in 0..=Job::MOST_WAITING_WITH_ADMINS {
        let work = serde_json::from_value(json!({"kind": "archive", "filter": {"all": true}})).unwrap();
        let creator = (Changer::in_person(&UserId::generate()), Role::Admin);
        let asked = (Timestamp::now(), correlation());
        let job = Job::new(fixture.ada.workspace, work, creator, asked, None);
        assert!(fixture.db.jobs().create(&job, None).await.unwrap().is_ok());
    }

    fixture.close().await;

    let under_way = fixture.jobs().await.into_iter().filter(|(_, state)| !state.is_over()).count();
    assert_eq!(under_way, 1, "the job that closes the workspace");
}

#[tokio::test]
async fn links_created_while_a_workspace_still_seems_open_are_suspended_too() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("before").build()]).await;
    fixture.close().await;
    fixture.carry().await;
    fixture.db.store_all(&[fixture.link("meanwhile").build()]).await;

    assert_eq!(fixture.statuses(&["before", "meanwhile"]).await, ["suspended", "active"]);
    fixture.finish().await;
    assert_eq!(fixture.statuses(&["before", "meanwhile"]).await, ["suspended", "suspended"]);

    fixture.restore().await;
    fixture.carry().await;
    // As if a turn that closes it had been under way still.
    fixture.db.suspend(&fixture.db.link("before").await).await;
    fixture.finish().await;
    assert_eq!(fixture.statuses(&["before", "meanwhile"]).await, ["active", "active"]);
}

#[tokio::test]
async fn bringing_it_back_on_the_sixth_day_brings_every_status_back() {
    let fixture = Fixture::new().await;
    let (tomorrow, later) = (Timestamp::now().plus(DAY), Timestamp::now().plus(30 * DAY));
    let with = |code: &str, change: &dyn Fn(&mut Link)| {
        let mut link = fixture.link(code).build();
        change(&mut link);
        link
    };
    let codes =
        ["active", "inactive", "expired", "scheduled", "exhausted", "protected", "archived", "deleted", "expiring"];
    fixture
        .db
        .store_all(&[
            fixture.link("active").build(),
            with("inactive", &|link| link.availability.state = LinkState::Inactive),
            fixture.link("expired").expires_at(Timestamp::now()).build(),
            fixture.link("scheduled").valid_from(later).build(),
            with("exhausted", &|link| link.availability.exhausted_at = Some(Timestamp::now())),
            with("protected", &|link| link.availability.is_protected = true),
            fixture.link("archived").archived().build(),
            fixture.link("deleted").build(),
            fixture.link("expiring").expires_at(tomorrow).build(),
        ])
        .await;
    let deleted = fixture.db.link("deleted").await;
    fixture.db.delete_as(&fixture.ada.id, &deleted, Timestamp::now()).await;
    let before = join_all(codes.iter().map(|code| fixture.db.link(code))).await;
    let statuses = fixture.statuses(&codes).await;

    fixture.close_and_finish().await;
    let mut expected = ["suspended"; 9];
    expected[7] = "deleted";
    assert_eq!(fixture.statuses(&codes).await, expected);
    fixture.pass(6 * DAY).await;
    fixture.carry().await;
    fixture.restore_and_finish().await;

    assert_eq!(fixture.statuses(&codes[..8]).await, statuses[..8]);
    assert_eq!((statuses[8], fixture.status("expiring").await), ("active", "expired"));
    let after = join_all(codes.iter().map(|code| fixture.db.link(code))).await;
    let since = after.into_iter().zip(&before);
    let as_before: Vec<_> =
        since.map(|(link, before)| Link { last_write: before.last_write.clone(), ..link }).collect();
    assert_eq!(as_before, before, "but for the write");
}

#[tokio::test]
async fn a_closed_workspace_is_gone_after_seven_days_even_before_its_purge() {
    let fixture = Fixture::new().await;
    let closure = fixture.close_and_finish().await;
    let left = fixture.now().until(closure.restorable_until);

    fixture.ahead.fetch_add(left.as_millis() as u64 + 1, Ordering::Relaxed);

    assert_eq!(fixture.restore_as(&fixture.bob).await, RestoreOutcome::Gone);
    assert_eq!(fixture.restore_as(&fixture.carol).await, RestoreOutcome::NoWorkspace, "she was no admin");
    fixture.pass(Duration::from_secs(2)).await;
    fixture.carry().await;
    assert_eq!(fixture.restore_as(&fixture.bob).await, RestoreOutcome::NoWorkspace);
    assert_eq!(fixture.db.users().workspace(&fixture.ada.workspace).await.unwrap(), None);
}

#[tokio::test]
async fn only_former_admins_restore_a_workspace_and_only_its_slug_closes_it() {
    let fixture = Fixture::new().await;
    let strange = fixture.db.register("strange").await;
    let other = WorkspaceSlug::parse("other").unwrap();
    let (job, session) = (fixture.job(&fixture.ada, WorkspaceJob::CloseWorkspace), a_session());
    let caller = ActiveSession { user: &fixture.ada.id, session: &session };
    let origin = fixture.origin(&fixture.ada);

    let misspelt = fixture.db.users().close_workspace(&job, &other, caller, &origin).await.unwrap();
    assert_eq!(misspelt, CloseOutcome::OtherSlug);
    assert_eq!(fixture.close_as(&fixture.carol).await, CloseOutcome::CallerNotAdmin);
    assert_eq!(fixture.restore_as(&fixture.ada).await, RestoreOutcome::Open);
    assert_eq!(fixture.restore_as(&fixture.carol).await, RestoreOutcome::NoWorkspace);
    fixture.close().await;
    assert_eq!(fixture.restore_as(&fixture.carol).await, RestoreOutcome::NoWorkspace);
    assert_eq!(fixture.restore_as(&strange).await, RestoreOutcome::NoWorkspace);
    fixture.restore().await;
}

#[tokio::test]
async fn two_admins_at_once_close_or_restore_a_workspace_once() {
    let fixture = Fixture::new().await;

    let (one, other) = join(fixture.close_as(&fixture.ada), fixture.close_as(&fixture.bob)).await;
    assert!(matches!(one, CloseOutcome::Closed(_)) && one == other, "{one:?} {other:?}");
    fixture.finish().await;
    let (one, other) = join(fixture.restore_as(&fixture.ada), fixture.restore_as(&fixture.bob)).await;
    let is_restored = |outcome: &RestoreOutcome| matches!(outcome, RestoreOutcome::Restored(_));
    assert_eq!(usize::from(is_restored(&one)) + usize::from(is_restored(&other)), 1, "{one:?} {other:?}");
    fixture.finish().await;

    assert_eq!(fixture.list_as(&fixture.carol, Role::Member).await, 200);
    assert_eq!(fixture.jobs().await.len(), 2);
}

#[tokio::test]
async fn closing_restoring_and_closing_again_applies_the_last_request() {
    for last in [WorkspaceJob::CloseWorkspace, WorkspaceJob::ReopenWorkspace] {
        let fixture = Fixture::new().await;
        let links: Vec<_> = (0..12).map(|number| fixture.link(&format!("link{number:02}")).build()).collect();
        fixture.db.store_all(&links).await;
        let slow = fixture.in_small_steps(3);
        fixture.close().await;
        for _ in 0..3 {
            for record in fixture.stream.news() {
                job_step(&slow, &record).await;
            }
        }

        fixture.restore().await;
        // Records of both jobs, of which one reads the workspace as it was.
        for record in fixture.stream.news() {
            job_step(&slow, &record).await;
        }
        if last == WorkspaceJob::CloseWorkspace {
            fixture.close_as(&fixture.bob).await;
        }
        fixture.finish().await;

        let expected = if last == WorkspaceJob::CloseWorkspace { "suspended" } else { "active" };
        for link in &links {
            assert_eq!(fixture.status(link.code().as_str()).await, expected, "{last:?}");
        }
        let opens = if last == WorkspaceJob::CloseWorkspace { 401 } else { 200 };
        assert_eq!(fixture.list_as(&fixture.carol, Role::Member).await, opens);
    }
}

#[tokio::test]
async fn an_invitation_is_invalid_while_its_workspace_is_closed() {
    let fixture = Fixture::new().await;
    let invitation = fixture.db.invite(&fixture.ada, "erin@example.com", Role::Member).await;
    let erin = fixture.db.register("erin").await;
    let accept = async || {
        let users = fixture.db.users();
        let account = users.account(&erin.id).await.unwrap().unwrap();
        let accepted = users.accept_invitation(&invitation, &account, &a_session(), &an_origin(&erin.id)).await;
        accepted.unwrap()
    };
    fixture.close().await;

    assert_eq!(accept().await, linklet_dynamodb::AcceptOutcome::Invalid);
    fixture.restore().await;
    assert!(matches!(accept().await, linklet_dynamodb::AcceptOutcome::Accepted(..)));
}

#[tokio::test]
async fn what_somebody_left_before_goes_to_their_heir_while_it_is_closed() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build()]).await;
    let removal = removal(&fixture.ada.workspace, &fixture.ada.id, &fixture.carol.id);
    let removed = fixture.db.users().remove_member(&removal).await.unwrap();
    assert!(matches!(removed, MemberOutcome::Done(_)));

    fixture.close().await;
    fixture.carry().await;
    fixture.restore_and_finish().await;

    assert!(fixture.queues.bodies("dlq").is_empty());
    let link = fixture.db.link("launch").await;
    assert_eq!((link.identity.owner, fixture.status("launch").await), (fixture.ada.id, "active"));
}

#[tokio::test]
async fn a_closed_workspaces_lost_mark_returns_and_its_failed_job_begins_anew() {
    let fixture = Fixture::new().await;
    let closure = fixture.close_and_finish().await;
    let marks = || {
        let items = fixture.db.scan("JobsTable").into_iter();
        items.filter(|item| item["sk"]["S"].as_str().unwrap().starts_with("CLOSED#")).collect::<Vec<_>>()
    };
    let [mark] = marks().try_into().unwrap();

    fixture.db.remove("JobsTable", &mark);
    fixture.carry().await;
    assert_eq!(marks(), [mark]);

    let job = fixture.db.jobs().find(&fixture.ada.workspace, &closure.job).await.unwrap().unwrap();
    assert_eq!(job.state, JobState::Running);
    let mut item = fixture.db.scan("JobsTable").into_iter().find(|item| item["state"]["S"] == "running").unwrap();
    item["state"] = json!({"S": "failed"});
    item["ended_at"] = json!({"S": fixture.now().to_string()});
    fixture.db.put("JobsTable", &item);
    fixture.pass(8 * DAY).await;
    fixture.finish().await;
    assert_eq!(fixture.db.users().workspace(&fixture.ada.workspace).await.unwrap(), None);
}

#[tokio::test]
async fn a_workspace_with_an_unreadable_job_is_purged_once_readable() {
    let fixture = Fixture::new().await;
    fixture.close_and_finish().await;
    let job = fixture.db.scan("JobsTable").into_iter().find(|item| item["state"]["S"] == "running").unwrap();
    let mut broken = job.clone();
    broken["state"] = json!({"S": "?"});
    fixture.db.put("JobsTable", &broken);

    // The TTL of a mark is rounded up to a second.
    let tomorrow = DAY + Duration::from_secs(1);
    for _ in 0..8 {
        fixture.pass(tomorrow).await;
        fixture.stream.carry(&fixture.function()).await;
    }
    assert!(!fixture.queues.bodies("dlq").is_empty());
    fixture.db.put("JobsTable", &job);
    fixture.pass(tomorrow).await;
    fixture.stream.carry(&fixture.function()).await;

    assert_eq!(fixture.db.users().workspace(&fixture.ada.workspace).await.unwrap(), None);
}

#[tokio::test]
async fn a_closing_with_an_unreadable_checkpoint_begins_anew() {
    let fixture = Fixture::new().await;
    fixture.close().await;
    fixture.carry().await;
    let mut job = fixture.db.scan("JobsTable").into_iter().find(|item| item["state"]["S"] == "running").unwrap();
    job["checkpoint"] = json!({"S": "{}"});
    fixture.db.put("JobsTable", &job);
    // The record of this change is lost.
    fixture.stream.news();
    fixture.db.store_all(&[fixture.link("late").build()]).await;

    for _ in 0..2 {
        fixture.pass(Job::PATIENCE).await;
        fixture.carry().await;
    }

    assert_eq!(fixture.status("late").await, "suspended");
}

/// Memberships and keys have no mark until the first step, so an environment may hold them for a minute after it.
#[tokio::test]
async fn a_late_first_step_is_still_followed_by_another_pass() {
    let fixture = Fixture::new().await;
    fixture.close().await;
    fixture.pass(Duration::from_secs(600)).await;
    fixture.carry().await;
    fixture.db.store_all(&[fixture.link("late").build()]).await;
    fixture.finish().await;
    assert_eq!(fixture.status("late").await, "suspended");
}

#[tokio::test]
async fn a_job_whose_steps_are_lost_goes_on_after_an_hour() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build()]).await;
    let lose = async || {
        fixture.stream.news();
        fixture.finish().await;
        let untouched = fixture.status("launch").await;
        for _ in 0..2 {
            fixture.pass(Job::PATIENCE).await;
            fixture.carry().await;
        }
        (untouched, fixture.status("launch").await)
    };

    fixture.close().await;
    assert_eq!(lose().await, ("active", "suspended"));
    fixture.restore().await;
    assert_eq!(lose().await, ("suspended", "active"));
    assert_eq!(fixture.jobs().await[1].1, JobState::Done);
}

#[tokio::test]
async fn a_job_that_fails_at_a_link_is_tried_again_daily() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build(), fixture.link("sale").build()]).await;
    fixture.close_and_finish().await;
    let link = fixture.db.scan("LinksTable").into_iter().find(|item| item["pk"]["S"] == "LINK#launch").unwrap();
    let mut broken = link.clone();
    broken["availability"] = json!({"S": "?"});
    fixture.db.put("LinksTable", &broken);
    fixture.restore().await;
    let days = async {
        for _ in 0..3 {
            fixture.finish().await;
            fixture.pass(DAY).await;
        }
    };
    let ((), measured) = metrics::observe(Box::pin(days)).await;
    assert_eq!(fixture.jobs().await[1].1, JobState::Failed);
    assert!(measured.get(Metric::JobsFailed) >= 3.0, "{measured:?}");

    fixture.db.put("LinksTable", &link);
    fixture.pass(DAY).await;
    fixture.finish().await;

    assert_eq!(fixture.statuses(&["launch", "sale"]).await, ["active", "active"]);
    assert_eq!(fixture.jobs().await[1].1, JobState::Done);
}

#[tokio::test]
async fn half_an_expired_key_does_not_stop_a_workspace_from_closing() {
    let fixture = Fixture::new().await;
    fixture.db.store_all(&[fixture.link("launch").build()]).await;
    let secret = ApiKeySecret::generate().unwrap();
    let key = ApiKeyBuilder::new(&secret, &fixture.ada).expires_at(Timestamp::now().minus(31 * DAY)).build();
    fixture.db.store_key(&key).await;
    let half =
        fixture.db.scan("UsersTable").into_iter().find(|item| item["pk"]["S"].as_str().unwrap().starts_with("KEY#"));
    fixture.db.remove("UsersTable", &half.unwrap());

    fixture.close_and_finish().await;

    assert_eq!(fixture.status("launch").await, "suspended");
}

/// A key of the workspace.
async fn key_of(fixture: &Fixture) -> ApiKeySecret {
    let secret = ApiKeySecret::generate().unwrap();
    fixture.db.store_key(&ApiKeyBuilder::new(&secret, &fixture.ada).build()).await;
    secret
}

/// A workspace with all that one can have.
async fn furnish(fixture: &Fixture, links: usize) -> Vec<Link> {
    let link = |number: usize| {
        let mut link = fixture
            .link(&format!("link{number:05}"))
            .created_at(Timestamp::now().minus(Duration::from_secs(3_600 - number as u64 / 8)));
        if number.is_multiple_of(50) {
            link = link.watching().to(&format!("https://example.com/{number}"));
        }
        link.build()
    };
    let links: Vec<_> = (0..links).map(link).collect();
    fixture.db.store_all(&links).await;
    // A link with all that belongs to one, by the ways by which it gets that.
    let token = token_of(&fixture.carol.id, &fixture.ada.workspace, Role::Member);
    let body = json!({
        "url": "https://example.com/full", "custom_code": "full-one", "external_id": "crm-7", "max_clicks": 5,
        "password": "open sesame", "tags": ["a"],
    });
    let made = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&body);
    assert_eq!(crate::fixture::send(&fixture.db, "shorten", made).await.status, 201);
    let made = RequestBuilder::new("POST", "/api/shorten").token(&token).json(&json!({"url": "https://example.com/r"}));
    assert_eq!(crate::fixture::send(&fixture.db, "shorten", made).await.status, 201);
    let changed: LinkPatch = serde_json::from_value(json!({"is_active": false})).unwrap();
    fixture.db.patch(links[1].id(), &changed).await;
    // One that has expired and given way to its tombstone, with statistics.
    let gone = fixture.link("gone").build();
    fixture.db.store(&gone).await;
    for code in ["gone", "link00002"] {
        assert_eq!(fixture.follow(code).await, 301);
    }
    fixture.carry_links().await;
    let expired: LinkPatch = serde_json::from_value(json!({"expires_at": Timestamp::now()})).unwrap();
    let expired = fixture.db.patch(gone.id(), &expired).await;
    fixture.db.remove_expired(&expired).await;
    key_of(fixture).await;
    fixture.db.invite(&fixture.ada, "erin@example.com", Role::Member).await;
    let target = TargetBuilder::new("https://example.com/seen").in_workspace(&fixture.ada.workspace);
    fixture.db.store_target(&target.owned_by(&fixture.ada.id).build()).await;
    let admin = fixture.ada.token(Role::Admin);
    let overview = RequestBuilder::new("GET", "/api/overview").token(&admin);
    assert_eq!(crate::fixture::send(&fixture.db, "overview", overview).await.status, 200);
    links
}

/// What of a purged workspace is left. `docs/security.md` says why and for how long.
const LEFT: [&str; 8] = [
    "AuditTable WS/",
    "LinksTable FOLD/FOLD",
    "LinksTable LINK/LINK",
    "StatsTable WS/TOTAL",
    "ThrottleTable WORKSPACE/reads",
    "UsersTable INVITATION/INVITATION",
    "WatchTable RESULTS/",
    "WatchTable WATCHER/LINK",
];

fn is_left(trace: &str) -> bool {
    LEFT.iter().any(|left| trace.starts_with(left))
}

#[tokio::test]
async fn seven_days_after_closing_nothing_undocumented_is_left_of_a_workspace() {
    let fixture = Fixture::new().await;
    furnish(&fixture, 120).await;
    let slug = fixture.slug().await;
    fixture.close_and_finish().await;

    fixture.pass(7 * DAY).await;
    fixture.carry().await;
    fixture.carry_links().await;

    let traces = fixture.traces(&[fixture.ada.workspace.to_string()]);
    let unexpected: Vec<_> = traces.iter().filter(|trace| !is_left(trace)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    assert_eq!(fixture.db.users().workspace_by_slug(&slug).await.unwrap(), None);
    for code in ["link00000", "link00119", "full-one", "gone"] {
        assert_eq!((fixture.status(code).await, fixture.follow(code).await), ("purged", 410), "{code}");
    }
    assert!(fixture.db.scan("ClicksTable").iter().all(|item| item["sk"]["S"] == "~wide"));
    assert!(fixture.db.scan("WatchTable").iter().all(|item| !item["pk"]["S"].as_str().unwrap().starts_with("TARGET#")));
    assert_eq!(fixture.list_as(&fixture.carol, Role::Member).await, 401);
    // Their own workspaces are there still.
    assert_eq!(fixture.db.users().memberships(&fixture.carol.id).await.unwrap().len(), 1);
}

/// AWS documents filters by `eventName` for streams of DynamoDB on one page and leaves them out on another.
#[tokio::test]
async fn records_that_filters_of_event_names_leave_out_change_nothing() {
    let fixture = Fixture::new().await;
    let links = furnish(&fixture, 3).await;
    let expiring: LinkPatch = serde_json::from_value(json!({"expires_at": Timestamp::now().plus(DAY)})).unwrap();
    fixture.db.patch(links[2].id(), &expiring).await;
    fixture.carry_links().await;
    fixture.close_and_finish().await;
    fixture.pass(7 * DAY).await;
    fixture.carry().await;
    fixture.carry_links().await;
    let tables = Template::load().tables();
    let stored = || tables.keys().map(|table| fixture.db.scan(table)).collect::<Vec<_>>();
    let sent = || ["analytics", "notify", "dlq"].map(|queue| fixture.queues.bodies(queue));
    let before = (stored(), sent());

    for (source, table) in [
        ("LinksStream", "LinksTable"),
        ("ClicksStream", "ClicksTable"),
        ("StatsRelayStream", "StatsTable"),
        ("WatchRelayStream", "WatchTable"),
    ] {
        let left_out = left_out_by_event_name(source, fixture.db.stream(table));
        // Nothing changes a milestone, and a purge leaves it.
        assert_eq!(left_out.records.is_empty(), table == "StatsTable", "{source}");
        assert_eq!(retry_from(&relay(&fixture.db, &fixture.queues).consume(left_out).await), None, "{source}");
    }
    let marks = left_out_by_event_name("JobsStream", fixture.db.stream("JobsTable")).records;
    assert!(!marks.is_empty());
    for mark in &marks {
        assert_eq!(retry_from(&job_step(&fixture.function(), mark).await), None);
    }

    assert_eq!((stored(), sent()), before);
}

/// `JOB_LINKS` says how many links there are; `make schedules` has 10,000.
#[tokio::test]
async fn a_workspace_with_many_links_is_closed_and_purged_despite_kills() {
    let many = std::env::var("JOB_LINKS").map_or(300, |links| 2 * links.parse::<usize>().unwrap());
    let fixture = Fixture::new().await;
    furnish(&fixture, many).await;
    let counter = WriteCounter::default();
    let mut mortal = fixture.function();
    let client = fixture.db.client_with(counter.clone());
    mortal.kinds.workspaces.links = LinksTable(Table::new(client.clone(), "LinksTable"));
    mortal.kinds.workspaces.users = users_by(client);
    let kill = async |record: &EventRecord| {
        for writes in [3, 30, 80] {
            counter.kill_after(writes, Box::pin(job_step(&mortal, record))).await;
        }
    };

    fixture.close().await;
    let record = fixture.stream.news().pop().unwrap();
    kill(&record).await;
    assert_eq!(retry_from(&job_step(&fixture.function(), &record).await), None);
    fixture.finish().await;
    let suspended = fixture.db.scan("LinksTable").into_iter().filter(|item| item["sk"]["S"] == "LINK");
    let suspended = suspended.filter(|item| item.pointer("/availability/M/suspended_by").is_some()).count();
    assert_eq!(suspended, many + 2);

    fixture.pass(7 * DAY).await;
    let due = fixture.stream.news().pop().unwrap();
    assert_eq!(retry_from(&job_step(&fixture.function(), &due).await), None);
    let record = fixture.stream.news().pop().unwrap();
    kill(&record).await;
    assert_eq!(retry_from(&job_step(&fixture.function(), &record).await), None);
    fixture.carry().await;

    let traces = fixture.traces(&[fixture.ada.workspace.to_string()]);
    assert!(traces.iter().all(|trace| is_left(trace)), "{traces:?}");
    let links = fixture.db.scan("LinksTable").into_iter().filter(|item| item.get("by_workspace_pk").is_some()).count();
    assert_eq!(links, 0);
}

/// Each call of a turn fails once, from the first one on, and the record comes again.
#[tokio::test]
async fn closing_restoring_and_purging_survive_a_failure_of_any_call() {
    let mut call = 0;
    let mut was_hit = true;
    while was_hit {
        let fixture = Fixture::new().await;
        fixture.db.store_all(&[fixture.link("launch").build(), fixture.link("sale").watching().build()]).await;
        key_of(&fixture).await;
        let faults = Faults::default();
        let mut cut_off = fixture.function();
        let client = fixture.db.client_with(faults.clone());
        cut_off.kinds.workspaces.links = LinksTable(Table::new(client.clone(), "LinksTable"));
        cut_off.kinds.workspaces.users = users_by(client.clone());
        cut_off.kinds.workspaces.jobs = JobsTable(Table::new(client.clone(), "JobsTable"));
        cut_off.jobs = JobsTable(Table::new(client, "JobsTable"));
        was_hit = false;
        let mut carry = async |what: &str| {
            faults.plan_all((call..call + 100).map(|call| (call, Fault::NotSent)));
            for record in fixture.stream.news() {
                job_step(&cut_off, &record).await;
            }
            was_hit |= faults.calls() > call;
            // What was not noted comes again.
            let again = fixture.db.stream("JobsTable").records.into_iter().rev();
            for record in again.filter(|record| is_let_through("JobsStream", record)).take(3).collect::<Vec<_>>() {
                assert_eq!(retry_from(&job_step(&fixture.function(), &record).await), None, "{what} {call}");
            }
            fixture.finish().await;
        };

        fixture.close().await;
        carry("close").await;
        assert_eq!(fixture.statuses(&["launch", "sale"]).await, ["suspended", "suspended"], "{call}");
        assert_eq!(fixture.list_as(&fixture.carol, Role::Member).await, 401, "{call}");
        fixture.restore().await;
        carry("restore").await;
        assert_eq!(fixture.statuses(&["launch", "sale"]).await, ["active", "active"], "{call}");
        assert_eq!(fixture.list_as(&fixture.carol, Role::Member).await, 200, "{call}");
        fixture.close_and_finish().await;
        fixture.pass(7 * DAY).await;
        carry("purge").await;
        assert_eq!(fixture.statuses(&["launch", "sale"]).await, ["purged", "purged"], "{call}");
        for change in ["workspace_closed", "workspace_restored"] {
            assert!(fixture.is_told(&fixture.carol, change), "{change} {call}");
        }
        let traces = fixture.traces(&[fixture.ada.workspace.to_string()]);
        assert!(traces.iter().all(|trace| is_left(trace)), "{call}: {traces:?}");
        call += 1;
    }
    assert!(call > 15, "{call}");
}
