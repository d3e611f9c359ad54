//! An AWS account with Linklet in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use linklet_analytics::{Analytics, Clients, PARTS_AT_ONCE};
use linklet_domain::{LinkId, Timestamp, WorkspaceId};
use linklet_dynamodb::{ClicksTable, JobsTable, LinksTable, StatsTable, Table};
use linklet_lambda::batch::DeadLetterQueue;
use linklet_lambda::following::{Recorder, Spreading};
use linklet_lambda::publisher::Publisher;
use linklet_redirect::HotLinks;
use linklet_relay::Relay;
use linklet_user_agents::Classifier;

use crate::capacity::Capacity;
use crate::clock::Clock;
use crate::dynamodb::{self, DynamoDb};
use crate::lambda::{Account, Function, Processor};
use crate::limits;
use crate::queue::Queues;
use crate::settings::{self, Settings};
use crate::stream::Stream;

/// A service has many customers. The totals of one workspace are in one partition, until DynamoDB splits it.
const WORKSPACES: usize = 200;

/// The queue of clicks to count.
pub const ANALYTICS: &str = "analytics";

/// What an environment of redirect has.
pub struct Redirect {
    pub hot_links: HotLinks,
    pub recorder: Recorder,
}

/// What has happened to visitors and to their clicks.
#[derive(Debug, Default)]
pub struct Journal {
    pub requests: Cell<usize>,
    /// When API Gateway refused a request for the first time, and how often.
    pub gateway: Cell<Option<(Duration, usize)>>,
    /// Requests for which Lambda had no environment.
    pub without_environment: Cell<usize>,
    /// Clicks of each link that has been redirected.
    pub clicks: RefCell<BTreeMap<(WorkspaceId, LinkId), u64>>,
    /// How late clicks were counted, in milliseconds, and how many.
    pub lateness: RefCell<BTreeMap<u64, usize>>,
    pub last_counted: Cell<Duration>,
    /// Messages with a click that the table has refused.
    pub parked: Cell<usize>,
    /// What had more to do than it could at once: when for the first time, and how often.
    pub saturated: RefCell<BTreeMap<&'static str, (Duration, usize)>>,
}

impl Journal {
    /// How many clicks the table refused, so that they went through the queue.
    pub fn parked(&self) -> usize {
        self.parked.get()
    }

    /// Notes that clicks are counted now.
    pub fn counted(&self, clock: Clock, clicks: &[Timestamp]) {
        let mut lateness = self.lateness.borrow_mut();
        for at in clicks {
            *lateness.entry(clock.since(*at).as_millis() as u64).or_default() += 1;
        }
        self.last_counted.set(clock.elapsed());
    }

    /// Notes that something was at its limit.
    pub fn saturates(&self, what: &'static str, now: Duration) {
        self.saturated.borrow_mut().entry(what).or_insert((now, 0)).1 += 1;
    }
}

/// All of it.
pub struct World {
    pub clock: Clock,
    pub settings: Settings,
    pub dynamodb: DynamoDb,
    pub queues: Queues,
    pub clicks: Stream,
    pub redirect: Function<Redirect>,
    pub relay: Function<Relay>,
    pub analytics: Function<Analytics>,
    pub gateway: RefCell<Capacity>,
    pub journal: Journal,
    /// The workspaces that links belong to by turns.
    pub workspaces: Vec<WorkspaceId>,
}

impl World {
    /// An account in which nothing has happened yet.
    pub fn start(settings: Settings, outage: Range<Duration>, seed: u64) -> Rc<Self> {
        let clock = Clock::start();
        let clicks = Stream::default();
        let warm = |table: &str| match table {
            dynamodb::CLICKS => settings.warm_clicks,
            dynamodb::STATS => settings.warm_stats,
            _ => limits::NEW_TABLE_WRITES,
        };
        let dynamodb = DynamoDb::start(clock, warm, outage, clicks.clone(), settings.parts as f64);
        let queues = Queues::start(clock, settings::analytics_queue(settings.visibility), seed);
        let account = Account::with_limit(settings.account / settings.parts);
        let redirect =
            Function::new(settings::memory("RedirectFunction"), clock, &account, redirect(&dynamodb, &queues));
        let relay = Function::new(settings::memory("RelayFunction"), clock, &account, relay(&dynamodb, &queues));
        let memory = settings.analytics_memory;
        let counter = Function::new(memory, clock, &account, analytics(&dynamodb, &queues, clock, settings.parts));
        let counter = counter.with_share(1.0 / settings.parts.min(PARTS_AT_ONCE) as f64);
        Rc::new(Self {
            clock,
            gateway: RefCell::new(Capacity::of(settings.gateway / settings.parts as f64)),
            settings,
            dynamodb,
            queues,
            clicks,
            redirect,
            relay,
            analytics: counter,
            journal: Journal::default(),
            workspaces: (0..WORKSPACES).map(|_| WorkspaceId::generate()).collect(),
        })
    }

    /// The numbers that people see, as the function `stats` reads them.
    pub fn stats(&self) -> StatsTable {
        StatsTable::new(Table::new(self.dynamodb.client(&Processor::with_memory(limits::PROCESSOR)), dynamodb::STATS))
    }
}

fn redirect(dynamodb: &DynamoDb, queues: &Queues) -> impl Fn(&Processor) -> Redirect + 'static {
    let (dynamodb, queues) = (dynamodb.clone(), queues.clone());
    move |processor| Redirect {
        hot_links: HotLinks::default(),
        recorder: Recorder {
            clicks: ClicksTable::new(Table::new(dynamodb.client(processor), dynamodb::CLICKS)),
            parking: Publisher::new(queues.client(processor), Queues::url(ANALYTICS)),
            spreading: Spreading::default(),
        },
    }
}

fn relay(dynamodb: &DynamoDb, queues: &Queues) -> impl Fn(&Processor) -> Relay + 'static {
    let (dynamodb, queues) = (dynamodb.clone(), queues.clone());
    move |processor| {
        let sqs = queues.client(processor);
        Relay {
            links: LinksTable(Table::new(dynamodb.client(processor), "LinksTable")),
            keep_expired: Duration::from_hours(24),
            analytics: Publisher::new(sqs.clone(), Queues::url(ANALYTICS)),
            notify: Publisher::new(sqs.clone(), Queues::url("notify")),
            dead_letters: DeadLetterQueue::new(sqs, Queues::url("relay-dlq")),
        }
    }
}

fn analytics(
    dynamodb: &DynamoDb,
    queues: &Queues,
    clock: Clock,
    parts: usize,
) -> impl Fn(&Processor) -> Analytics + 'static {
    let (dynamodb, queues) = (dynamodb.clone(), queues.clone());
    let clients = Arc::new(Clients::new(Classifier::load().expect("the rules compile")));
    move |processor| {
        let (tables, sqs) = (dynamodb.client(processor), queues.client(processor));
        let stats = Table::new(tables.clone(), dynamodb::STATS);
        Analytics {
            // A batch has the clicks of all parts, whichever are played.
            stats: StatsTable { table: stats, split_from: StatsTable::SPLIT_FROM / parts },
            clicks: ClicksTable::new(Table::new(tables.clone(), dynamodb::CLICKS)),
            links: LinksTable(Table::new(tables.clone(), "LinksTable")),
            clients: clients.clone(),
            jobs: JobsTable(Table::new(tables, "JobsTable")),
            dead_letters: DeadLetterQueue::new(sqs, Queues::url("analytics-dlq")),
            count_turn: Duration::from_secs(10),
            purge_turn: Duration::from_secs(22),
            clock: Box::new(move || clock.now()),
        }
    }
}
