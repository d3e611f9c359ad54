//! The functions, wired to a test's tables and queues.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use aws_lambda_events::sqs::SqsEvent;
use linklet_account::{Account, Sharing};
use linklet_analytics::{Analytics, Clients};
use linklet_auth::Auth;
use linklet_clock::Clock;
use linklet_delete::Delete;
use linklet_domain::{
    AccountHash, CheckInterval, CheckOutcome, CheckResult, Click, Client, Concurrency, CorrelationId, Device,
    EmailAddress, Event, EventDetail, EventId, FamiliarNetwork, HashBudget, HostShard, IpHash, LimitedRoute, Link,
    PasswordLogin, PlannedTick, RateLimit, Reach, RefreshToken, ReservedCodes, Role, RouteLimits, Salt, SessionId,
    ShortCode, SignInPlace, TargetId, TargetStatus, ThrottleSubject, Timestamp, UrlCreated, UserId, Visibility,
    Visitor, Window, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{
    ActiveSession, CheckedTarget, ClassifiedClick, ClicksTable, DueTarget, JobsTable, LinksTable, MemberChange,
    MemberOutcome, PublicWorkspaces, RepositoryError, ShardRange, SignIn, TargetQuota, ThrottleTable, UsersTable,
    WatchTable,
};
use linklet_fetch::{Fetcher, SystemNetwork};
use linklet_jobs::{HandoverWork, JobRunner, Kinds, LinkWork, PersonWork, ReclaimWork, WorkspaceWork};
use linklet_jobs_api::JobsApi;
use linklet_lambda::batch::{Consumer, DeadLetterQueue};
use linklet_lambda::blocks::Blocks;
use linklet_lambda::bulk::Bulk;
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::following::{Brands, ClickRecording, Recorder, Spreading, UsedUp};
use linklet_lambda::guesses::Guesses;
use linklet_lambda::hashing::{Limits, LinkHashing};
use linklet_lambda::http::{Edge, Pages, ShortUrls};
use linklet_lambda::identity::Authenticator;
use linklet_lambda::limiter::{Limiter, Strangers};
use linklet_lambda::link_writer::LinkWriter;
use linklet_lambda::public_workspaces::KnownWorkspaces;
use linklet_lambda::publisher::Publisher;
use linklet_lambda::shares::Shares;
use linklet_lambda::throttle::{StatsQueryLimiter, Throttle};
use linklet_lambda::watching::TargetRoom;
use linklet_lambda::workspace_view::WorkspaceViews;
use linklet_leave::Leave;
use linklet_list::List;
use linklet_notify::{Addresses, MailLimit, Mailer, Notify, Topic};
use linklet_operate::{Operate, People, Reconciler};
use linklet_overview::Overviews;
use linklet_qr::QrCodes;
use linklet_redirect::{HotLinks, Redirect};
use linklet_relay::Relay;
use linklet_reports::DueReports;
use linklet_resolve::{PURPOSE, Resolve, TIMEOUT};
use linklet_shorten::Shorten;
use linklet_stats::Stats;
use linklet_test_support::internet::{self, Internet, OTHER, PUBLIC, encrypted};
use linklet_test_support::{
    Answer, Authority, FakeNotifiers, FakeQueues, LinkBuilder, Person, RequestBuilder, TestDynamoDb, a_session,
    an_origin, authenticator, issuer, link_id, tokens,
};
use linklet_unlock::Unlock;
use linklet_update::Update;
use linklet_user_agents::Classifier;
use linklet_watch::Watch;
use linklet_watch_check::Checker;
use linklet_watch_links::WatchLinks;
use linklet_web::{Home, Web};
use serde_json::json;

/// The status of a redirect.
pub const REDIRECT: u16 = linklet_redirect::REDIRECT.as_u16();

pub fn salt() -> Salt {
    Salt::parse(&"salt".repeat(8)).unwrap()
}

pub fn visitor() -> Visitor {
    Visitor::new(IpHash::of("203.0.113.9", &salt()))
}

/// The click of an event, by somebody with a phone who comes from the news.
pub fn classified(event: &Event) -> ClassifiedClick {
    let mut click = Click::from_event(event.clone()).unwrap();
    click.visitor = visitor().with_headers(None, Some("https://news.example/"));
    let client = Client { device: Device::Mobile, browser: "Safari".into(), version: String::new(), os: "iOS".into() };
    ClassifiedClick { click, client }
}

/// One for all tests: compiling its rules takes a while.
pub fn clients() -> Arc<Clients> {
    static CLIENTS: LazyLock<Arc<Clients>> = LazyLock::new(|| Arc::new(Clients::new(Classifier::load().unwrap())));
    CLIENTS.clone()
}

pub fn correlation() -> CorrelationId {
    CorrelationId::parse("req-42").unwrap()
}

pub fn noon() -> Timestamp {
    Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
}

/// A link of this person was created.
pub fn url_created(person: &Person) -> Event {
    Event {
        event_id: EventId::generate(),
        occurred_at: Timestamp::now(),
        correlation_id: correlation(),
        workspace_id: person.workspace,
        detail: EventDetail::UrlCreated(UrlCreated {
            link: link_id("launch7"),
            original_url: "https://example.com/sale/7".parse().unwrap(),
            user_id: person.id,
            expires_at: None,
            watch: false,
            quiet: false,
        }),
    }
}

fn dead_letters(queues: &FakeQueues) -> DeadLetterQueue {
    DeadLetterQueue::new(queues.client(), queues.url("dlq"))
}

/// Orders mails at the queue of notify.
pub fn mail_orders(queues: &FakeQueues) -> EmailRequests {
    EmailRequests::to(Publisher::new(queues.client(), queues.url("notify")))
}

pub fn analytics(db: &TestDynamoDb, queues: &FakeQueues) -> Analytics {
    Analytics {
        stats: db.stats(),
        clicks: db.clicks(),
        links: db.links(),
        clients: clients(),
        jobs: db.jobs(),
        dead_letters: dead_letters(queues),
        count_turn: Duration::from_secs(10),
        purge_turn: Duration::from_secs(15),
        clock: Box::new(Timestamp::now),
    }
}

/// Counts all clicks of the stream.
pub async fn count_all(db: &TestDynamoDb, queues: &FakeQueues) {
    relay(db, queues).consume(db.stream("ClicksTable")).await;
    let batch = linklet_test_support::queue_batch(&queues.bodies("analytics"));
    assert!(analytics(db, queues).consume(batch).await.batch_item_failures.is_empty());
}

/// Delivers a batch as SQS does: what failed comes again.
pub async fn redeliver(consumer: &Analytics, mut batch: SqsEvent) {
    while !batch.records.is_empty() {
        let failures = consumer.consume(batch.clone()).await.batch_item_failures;
        let is_failed = |id: Option<&str>| failures.iter().any(|failure| Some(failure.item_identifier.as_str()) == id);
        batch.records.retain(|message| is_failed(message.message_id.as_deref()));
    }
}

/// A database with this link.
pub async fn with_link(link: LinkBuilder) -> (TestDynamoDb, Link) {
    let (db, link) = (TestDynamoDb::start(), link.build());
    db.store(&link).await;
    (db, link)
}

/// A database with somebody of this name.
pub async fn with_person(name: &str) -> (TestDynamoDb, Person) {
    let db = TestDynamoDb::start();
    let person = db.register(name).await;
    (db, person)
}

/// A database with people of these names.
pub async fn with_people<const N: usize>(names: [&str; N]) -> (TestDynamoDb, [Person; N]) {
    let db = TestDynamoDb::start();
    let mut people = Vec::new();
    for name in names {
        people.push(db.register(name).await);
    }
    (db, people.try_into().unwrap())
}

/// Somebody who has joined the workspace of a person who is its admin.
pub async fn colleague(db: &TestDynamoDb, admin: &Person, name: &str, role: Role) -> Person {
    let person = db.register(name).await;
    db.add_member(&admin.workspace, &admin.id, &person.as_member(role)).await;
    Person { workspace: admin.workspace, ..person }
}

/// Where a person is.
pub fn network_of(email: &EmailAddress) -> FamiliarNetwork {
    FamiliarNetwork {
        account: AccountHash::of(email.as_str(), &salt()),
        network: IpHash::of_network("203.0.113.9", &salt()),
    }
}

/// The first refresh token of a session of a person's.
pub async fn renewable_session(db: &TestDynamoDb, person: &Person) -> RefreshToken {
    let token = RefreshToken::first_of(person.id, SessionId::beginning_at(Timestamp::now()));
    let place = SignInPlace { device: None, country: None };
    let sign_in =
        SignIn { place, address: IpHash::of_network("203.0.113.9", &salt()), first_token: Some(token), until: None };
    db.users().begin_session(&person.id, &token.session, sign_in).await.unwrap();
    token
}

/// The cookie of a session of a person's that can be renewed.
pub async fn refresh_cookie(db: &TestDynamoDb, person: &Person) -> String {
    let token = renewable_session(db, person).await;
    format!("linklet_refresh={}", issuer().refresh_token(&token, Timestamp::now()).await.unwrap())
}

/// Lets an admin give somebody another role.
pub async fn change_role(
    users: &UsersTable,
    workspace: &WorkspaceId,
    caller: &UserId,
    user: &UserId,
    role: Role,
) -> Result<MemberOutcome, RepositoryError> {
    let (session, change) = (a_session(), MemberChange { role: Some(role), ..MemberChange::default() });
    users
        .change_member(workspace, ActiveSession { user: caller, session: &session }, user, change, &an_origin(caller))
        .await
}

pub fn relay(db: &TestDynamoDb, queues: &FakeQueues) -> Relay {
    Relay {
        links: db.links(),
        keep_expired: Duration::from_secs(720 * 3_600),
        analytics: Publisher::new(queues.client(), queues.url("analytics")),
        notify: Publisher::new(queues.client(), queues.url("notify")),
        dead_letters: dead_letters(queues).shared_by("relay"),
    }
}

fn mailer(db: &TestDynamoDb, outside: &FakeNotifiers) -> Mailer {
    Mailer::new(outside.ses(), "links@example.com", MailLimit { table: db.calls(), salt: salt() })
}

/// With a sender of mail or without.
pub fn notify(db: &TestDynamoDb, queues: &FakeQueues, outside: &FakeNotifiers, with_mail: bool) -> Notify {
    Notify {
        notifications: db.notifications(),
        people: db.recipients(),
        tokens: db.one_time_tokens(),
        invitations: db.invitations(),
        reports: db.reports(),
        addresses: Addresses::new(Some("https://go.example.com"), "https://api.example.com"),
        audit_log: db.audit_log(),
        names: db.names(),
        topic: Topic::new(outside.sns(), "arn:aws:sns:eu-central-1:123456789012:notifications"),
        mailer: with_mail.then(|| mailer(db, outside)),
        dead_letters: dead_letters(queues),
        max_receives: 5,
        clock: Box::new(Timestamp::now),
    }
}

/// The run that orders reports which are due.
pub fn due_reports(db: &TestDynamoDb, queues: &FakeQueues) -> DueReports {
    DueReports {
        wanted: db.reports(),
        workspaces: db.workspaces(),
        links: db.links(),
        stats: db.stats(),
        mails: Some(Publisher::new(queues.client(), queues.url("notify"))),
        runs_for: DueReports::RUNS_FOR,
    }
}

pub fn watch_links(db: &TestDynamoDb, queues: &FakeQueues) -> WatchLinks {
    WatchLinks {
        targets: db.watch(),
        users: db.workspaces(),
        dead_letters: dead_letters(queues).shared_by("watch-links"),
    }
}

pub fn clock(targets: WatchTable, jobs: JobsTable, queues: &FakeQueues, seconds: u8) -> Clock {
    Clock {
        targets,
        jobs,
        ticks: Publisher::new(queues.client(), queues.url("ticks")),
        interval: CheckInterval::try_from(seconds).unwrap(),
        places: Concurrency::try_from(8).unwrap(),
    }
}

pub fn checker(targets: WatchTable, queues: &FakeQueues, reach: Reach) -> Checker {
    Checker {
        // Longer than any machine takes to answer itself.
        fetcher: Fetcher::new("link monitoring", reach, Duration::from_secs(60)).unwrap(),
        targets,
        dead_letters: DeadLetterQueue::new(queues.client(), queues.url("ticks-dlq")),
        extra_reads: Checker::<SystemNetwork>::EXTRA_READS,
        clock: Box::new(Timestamp::now),
    }
}

/// The tick of the only partition that begins then, with eight places.
pub fn tick_at(slot: Timestamp, seconds: u8) -> PlannedTick {
    let partition = Concurrency::try_from(8).unwrap().in_partitions().next().unwrap();
    let interval = CheckInterval::try_from(seconds).unwrap();
    PlannedTick { partition, slot, interval, correlation_id: correlation() }
}

/// A target as a tick reads it.
pub async fn due(table: &WatchTable, id: &TargetId) -> DueTarget {
    let shard = HostShard::all().find(|shard| shard.to_string() == id.shard_digit()).unwrap();
    let page = table.due(&ShardRange::all(shard), 1_000).await.unwrap();
    page.targets.into_iter().find(|target| target.id == *id).unwrap()
}

/// Stores the result of a tick, and what follows from it. The tick's other targets have items of their own.
pub async fn record(
    table: &WatchTable,
    slot: Timestamp,
    checked: &CheckedTarget,
) -> Result<Option<TargetStatus>, RepositoryError> {
    let part = checked.target.mark().bytes().into_iter().fold(0, |part, byte| part << 7 | usize::from(byte));
    if !table.store_results(&tick_at(slot, 15), part, std::slice::from_ref(checked)).await? {
        return Ok(None);
    }
    table.conclude(slot, checked).await
}

/// Has a target be checked with this outcome in the tick that begins then.
pub async fn check(db: &TestDynamoDb, id: &TargetId, at: Timestamp, outcome: CheckOutcome) {
    let result = CheckResult { checked_at: at, outcome, latency_ms: 80 };
    record(&db.watch(), at, &CheckedTarget { target: due(&db.watch(), id).await, result }).await.unwrap();
}

/// Room for so many targets of a workspace.
pub fn room(db: &TestDynamoDb, per_workspace: u32) -> TargetRoom {
    TargetRoom { targets: db.watch().with_quota(per(per_workspace)), users: db.workspaces(), reach: Reach::Public }
}

/// A quota of so many targets of a workspace, and any number of a creator.
pub fn per(per_workspace: u32) -> TargetQuota {
    TargetQuota { per_workspace, per_creator: u32::MAX }
}

/// Carries out jobs, without waiting for the index, which isn't behind here.
pub fn jobs(db: &TestDynamoDb, queues: &FakeQueues) -> JobRunner {
    let mails = mail_orders(queues);
    let had = (db.links(), db.stats(), db.watch());
    let kinds = Kinds {
        links: LinkWork { index_lags: Duration::ZERO, ..LinkWork::new(db.links(), room(db, 100)) },
        workspaces: WorkspaceWork::new(db.users(), db.jobs(), had, mails.clone()),
        handovers: HandoverWork { users: db.users(), links: db.links(), targets: db.watch(), links_at_once: 1_000 },
        reclaims: ReclaimWork { users: db.users(), guesses: db.calls(), mails },
        people: PersonWork {
            users: db.users(),
            notifications: db.notifications(),
            guesses: db.calls(),
            targets: db.watch(),
        },
        clicks: db.clicks(),
    };
    JobRunner {
        jobs: db.jobs(),
        users: db.workspaces(),
        kinds,
        dead_letters: dead_letters(queues).shared_by("jobs"),
        step: Duration::from_secs(20),
        clock: Box::new(Timestamp::now),
    }
}

pub fn operate(db: &TestDynamoDb, queues: &FakeQueues) -> Operate {
    Operate {
        people: People { users: db.users(), tokens: db.one_time_tokens(), mails: EmailRequests::default() },
        links: db.links(),
        reconciler: Reconciler {
            stats: db.stats(),
            clicks: db.clicks(),
            classifier: Classifier::load().unwrap(),
            queue: Publisher::new(queues.client(), queues.url("analytics")),
            raw_days: lifetimes::in_days(lifetimes::RAW_CLICKS),
        },
        base: "https://go.example.com".to_owned(),
    }
}

/// That looks up sessions.
pub fn leave(db: &TestDynamoDb) -> Leave {
    Leave {
        password_login: PasswordLogin::On,
        tokens: tokens().with_sessions(db.sessions()),
        users: db.users(),
        limits: limits(db),
        passwords: Default::default(),
        mails: EmailRequests::default(),
        stored: linklet_leave::Stored {
            jobs: db.jobs(),
            links: db.links(),
            targets: db.watch(),
            notifications: db.notifications(),
        },
        views: WorkspaceViews { default_statistics: Visibility::Public, short_urls: ShortUrls::new(None) },
    }
}

pub fn jobs_api(db: &TestDynamoDb) -> JobsApi {
    JobsApi {
        authenticator: db.authenticator(),
        jobs: db.jobs(),
        links: db.links(),
        people: db.names(),
        questions: questions(db),
        short_urls: ShortUrls::new(None),
    }
}

pub fn redirect(db: &TestDynamoDb) -> Redirect {
    Redirect { brands: brands(db), ..redirect_with(db.links(), db.clicks(), db.calls()) }
}

/// The beginning of a PNG of this size, which is all of it that is looked at.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let sides = [width, height].map(u32::to_be_bytes).concat();
    [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", sides.as_slice(), &[8, 6, 0, 0, 0, 1, 2, 3, 4]].concat()
}

/// What workspaces show of themselves where not everybody may register.
pub fn brands(db: &TestDynamoDb) -> Brands {
    Brands { workspaces: KnownWorkspaces::new(db.public_workspaces()), shows_logos: true }
}

/// With the limit that is deployed unless a parameter says otherwise, and without what workspaces show of themselves.
pub fn redirect_with(links: LinksTable, clicks: ClicksTable, calls: ThrottleTable) -> Redirect {
    Redirect {
        links,
        hot_links: HotLinks::default(),
        recorder: Recorder { clicks, parking: nowhere(), spreading: Spreading::default() },
        recording: ClickRecording::AfterResponse,
        calls,
        limiter: Limiter::new(RateLimit::per_minute(300).unwrap()),
        salt: salt(),
        edge: Edge::None,
        used_up: UsedUp::default(),
        pages: Pages::default(),
        short_urls: ShortUrls::new(None),
        brands: Brands {
            workspaces: KnownWorkspaces::new(PublicWorkspaces(TestDynamoDb::unreachable_table("UsersTable"))),
            shows_logos: false,
        },
    }
}

pub fn unlock(db: &TestDynamoDb) -> Unlock {
    Unlock {
        links: db.links(),
        hashing: hashing(db),
        recorder: Recorder { clicks: db.clicks(), parking: nowhere(), spreading: Spreading::default() },
        used_up: UsedUp::default(),
        salt: salt(),
        edge: Edge::None,
        pages: Pages::default(),
        short_urls: ShortUrls::new(None),
        brands: brands(db),
    }
}

/// Hashes the passwords of links, with room for more than a test needs.
pub fn hashing(db: &TestDynamoDb) -> LinkHashing {
    LinkHashing::within(limits(db))
}

pub fn update(db: &TestDynamoDb) -> Update {
    Update {
        authenticator: db.authenticator(),
        writer: writer(db),
        throttle: throttle(db.calls(), 1_000, 1_000),
        stats: db.stats(),
        people: db.names(),
        bulk: Bulk::new(db.calls()),
        edge: Edge::None,
    }
}

/// Deletes and purges what these credentials may.
pub fn delete(db: &TestDynamoDb, authenticator: Authenticator) -> Delete {
    Delete { authenticator, links: db.links(), stats: db.stats(), bulk: Bulk::new(db.calls()) }
}

pub fn web() -> Web {
    Web { home: Home::app(), pages: Pages::default(), commit: None }
}

/// A shortener of others with one short URL, and where that leads.
static OTHERS: LazyLock<(Internet, Authority)> = LazyLock::new(|| {
    let authority = Authority::generate();
    let site =
        |name: &str, answer: &str| encrypted(authority.acceptor(name, &[], |_| {}), internet::Web::new([answer]));
    let page = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let others = Internet::default()
        .name("bit.ly", &[PUBLIC])
        .server(PUBLIC, site("bit.ly", &internet::redirect("https://doc.rust-lang.org/std/")))
        .name("doc.rust-lang.org", &[OTHER])
        .server(OTHER, site("doc.rust-lang.org", page));
    (others, authority)
});

pub fn resolve(db: &TestDynamoDb) -> Resolve<Internet> {
    let (internet, authority) = &*OTHERS;
    resolve_on(db, Fetcher::on((internet.clone(), authority.roots()), PURPOSE, Reach::Public, TIMEOUT).unwrap())
}

pub fn resolve_on<N>(db: &TestDynamoDb, fetcher: Fetcher<N>) -> Resolve<N> {
    Resolve { authenticator: db.authenticator(), calls: db.calls(), fetcher, short_urls: ShortUrls::new(None) }
}

pub fn qr_codes() -> QrCodes {
    QrCodes { short_urls: ShortUrls::new(None), pages: Pages::default() }
}

/// A queue that nobody can reach.
fn nowhere() -> Publisher {
    Publisher::new(FakeQueues::unreachable(), "http://127.0.0.1:9/000000000000/clicks")
}

pub fn shorten(db: &TestDynamoDb) -> Shorten {
    shorten_limited(db, 1_000, 1_000)
}

/// With so many new links per minute by person and by address.
pub fn shorten_limited(db: &TestDynamoDb, by_person: u32, by_address: u32) -> Shorten {
    let throttle = throttle(db.calls(), by_person, by_address);
    let shorten = shorten_with(db.links(), room(db, 100), throttle);
    Shorten { writer: writer(db), authenticator: db.authenticator(), clicks: db.clicks(), ..shorten }
}

/// That believes tokens, takes no keys, imports no clicks, has these tables, and the codes of the operating system's generator.
pub fn shorten_with(links: LinksTable, room: TargetRoom, throttle: Throttle) -> Shorten {
    let clicks = ClicksTable::new(links.0.clone());
    Shorten {
        writer: writer_with(links, room, LinkHashing::beside(&throttle, HashBudget::default())),
        authenticator: authenticator(),
        throttle_of_codes: throttle.of(LimitedRoute::Codes),
        bulk: Bulk::new(throttle.table.clone()),
        clicks,
        throttle,
        may_look_generated: false,
    }
}

/// With the codes of the operating system's generator.
pub fn writer(db: &TestDynamoDb) -> LinkWriter {
    writer_with(db.links(), room(db, 100), hashing(db))
}

fn writer_with(links: LinksTable, room: TargetRoom, hashing: LinkHashing) -> LinkWriter {
    LinkWriter {
        blocks: Blocks::new(links.clone()),
        links,
        room,
        short_urls: ShortUrls::new(None),
        hashing,
        reserved: ReservedCodes::default(),
        generate_code: ShortCode::generate,
    }
}

/// Limits of new links per minute, by person and by address.
pub fn throttle(table: ThrottleTable, by_person: u32, by_address: u32) -> Throttle {
    let [by_person, by_address] = [by_person, by_address].map(|calls| RateLimit::per_minute(calls).unwrap());
    let limits = RouteLimits { by_person, by_address };
    Throttle::new(table, LimitedRoute::Shorten, limits, (Edge::None, salt()))
}

/// The limits on guessing, with room for more hashes than a test needs.
pub fn limits(db: &TestDynamoDb) -> Limits {
    limits_with(db.calls(), 1_000)
}

/// The limits on guessing, with so many hashes a second.
pub fn limits_with(table: ThrottleTable, hashes: u32) -> Limits {
    Limits { guesses: guesses_in(table), hashes: hashes.to_string().parse().unwrap() }
}

/// The limits on wrong guesses.
pub fn guesses(db: &TestDynamoDb) -> Guesses {
    guesses_in(db.calls())
}

fn guesses_in(table: ThrottleTable) -> Guesses {
    Guesses { table, edge: Edge::None, salt: salt() }
}

pub fn list(db: &TestDynamoDb) -> List {
    List {
        authenticator: db.authenticator(),
        links: db.links(),
        stats: db.stats(),
        targets: db.watch(),
        people: db.names(),
        questions: questions(db),
        short_urls: ShortUrls::new(None),
        edge: Edge::None,
    }
}

pub fn overviews(db: &TestDynamoDb) -> Overviews {
    Overviews {
        authenticator: db.authenticator(),
        links: db.links(),
        stats: db.stats(),
        targets: db.watch(),
        workspaces: db.workspaces(),
        views: WorkspaceViews { default_statistics: Visibility::Public, short_urls: ShortUrls::new(None) },
        questions: questions(db),
        short_urls: ShortUrls::new(None),
        strangers: strangers(db),
        shares: shares(db),
    }
}

/// Shares that nobody has opened yet.
fn shares(db: &TestDynamoDb) -> Shares {
    Shares::new(db.stats(), db.calls(), hashing(db))
}

/// That looks up sessions.
pub fn auth(db: &TestDynamoDb) -> Auth {
    Auth::new(db.users(), tokens().with_sessions(db.sessions()), issuer(), limits(db))
}

/// Somebody who has registered.
pub fn person_of(registered: &Answer) -> Person {
    Person {
        id: registered.parsed("user_id"),
        email: registered.parsed("email"),
        workspace: registered.parsed("workspace_id"),
    }
}

/// That believes tokens, whatever has become of their sessions.
pub fn account(db: &TestDynamoDb) -> Account {
    Account::new(tokens(), db.users(), db.notifications(), guesses(db), sharing(db))
}

/// What sharing statistics needs.
pub fn sharing(db: &TestDynamoDb) -> Sharing {
    Sharing { table: db.stats(), links: db.links(), hashing: hashing(db), short_urls: ShortUrls::new(None) }
}

fn questions(db: &TestDynamoDb) -> StatsQueryLimiter {
    StatsQueryLimiter(db.calls())
}

/// Counts read units that a workspace has used in the minute that it is, and returns how many these are by now.
pub async fn has_read(db: &TestDynamoDb, workspace: &WorkspaceId, units: u32, now: Timestamp) -> u32 {
    let (workspace, read) = (ThrottleSubject::Workspace(*workspace), Window { hits: units, ..Window::starting(now) });
    db.calls().merge(LimitedRoute::Reads, &workspace, read, now).await.unwrap().hits
}

pub fn stats(db: &TestDynamoDb) -> Stats {
    Stats {
        authenticator: db.authenticator(),
        stats: db.stats(),
        clicks: db.clicks(),
        links: db.links(),
        questions: questions(db),
        strangers: strangers(db),
        workspaces: KnownWorkspaces::new(db.public_workspaces()),
        default_statistics: Visibility::Public,
        shares: shares(db),
    }
}

/// 300 calls a minute for whoever reads statistics without credentials.
pub fn strangers(db: &TestDynamoDb) -> Strangers {
    let limiter = Limiter::new(RateLimit::per_minute(300).unwrap());
    Strangers { calls: db.calls(), limiter, edge: Edge::None, salt: salt() }
}

pub fn watch(db: &TestDynamoDb) -> Watch {
    Watch {
        authenticator: db.authenticator(),
        targets: db.watch(),
        audit_log: db.audit_log(),
        users: db.workspaces(),
        short_urls: ShortUrls::new(None),
        reach: Reach::Public,
    }
}

/// Gives a target a status that no version of Linklet has.
pub fn damage(db: &TestDynamoDb, id: &TargetId) {
    let rows = db.scan("WatchTable").into_iter();
    let mut row = rows.filter(|row| row.get("status").is_some()).find(|row| row["sk"]["S"] == id.as_str()).unwrap();
    row["status"] = json!({"S": "paused"});
    db.put("WatchTable", &row);
}

/// Hands a request to a function of the template, by its folder's name, in a new execution environment.
pub async fn send(db: &TestDynamoDb, function: &str, request: RequestBuilder) -> Answer {
    match function {
        "web" => request.send_to(&web()).await,
        "qr" => request.send_to(&qr_codes()).await,
        "auth" => {
            let auth = Auth::new(db.users(), tokens(), issuer(), limits(db));
            request.send_to(&auth).await
        }
        "shorten" => request.send_to(&shorten(db)).await,
        "redirect" => request.send_to(&redirect(db)).await,
        "list" => request.send_to(&list(db)).await,
        "overview" => request.send_to(&overviews(db)).await,
        "delete" => request.send_to(&delete(db, db.authenticator())).await,
        "update" => request.send_to(&update(db)).await,
        "unlock" => request.send_to(&unlock(db)).await,
        "stats" => request.send_to(&stats(db)).await,
        "account" => request.send_to(&account(db)).await,
        "leave" => request.send_to(&leave(db)).await,
        "watch" => request.send_to(&watch(db)).await,
        "jobs-api" => request.send_to(&jobs_api(db)).await,
        "resolve" => request.send_to(&resolve(db)).await,
        unknown => panic!("template.yaml has a function that this test doesn't know: {unknown}"),
    }
}
