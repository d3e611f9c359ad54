//! Schedules: who clicks when, and what becomes of the messages.

use std::collections::{BTreeSet, VecDeque};
use std::sync::LazyLock;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use linklet_domain::{Event, Timestamp};
use linklet_dynamodb::StatsTable;
use linklet_test_support::{Cancellation, Fault, event_batch, queue_batch};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::json;

use super::model::{AGENTS, COUNTRIES, Click, QUERIES, REFERERS};

pub const LINKS: usize = 2;

/// The beginning of today, in milliseconds since 1970: how a click is counted depends on how long ago its day was.
static TODAY: LazyLock<u64> = LazyLock::new(|| Timestamp::now().day().start().unix_millis());

/// A hundred clicks a day make a day busy: it goes into the past as soon as it may.
const BUSY: std::ops::Range<usize> = 95..130;

/// Clicks that were prompted by the same thing.
#[derive(Debug, Clone)]
struct Group {
    link: usize,
    /// Whether each of its clicks is at another link, so that a batch may be several loads.
    spreads: bool,
    days_ago: u64,
    second: u64,
    clicks: usize,
    /// Milliseconds between two of them.
    apart: u64,
    who: u64,
    agent: usize,
    referer: usize,
    country: usize,
    query: usize,
    prefetch: bool,
}

/// Which clicks of a group a message comes for.
#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    Even,
    Odd,
    First,
}

/// Some of the clicks, in this order; some perhaps twice.
#[derive(Debug, Clone)]
pub struct Batch(Vec<(Index, Part)>);

/// How it ends with a consumer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// It answers.
    Answers,
    /// It dies before its call with this number leaves.
    DiesBefore(usize),
    /// It has done everything, but nobody hears its answer.
    Unheard,
}

impl End {
    /// Before which call it dies.
    pub fn dies_before(self) -> Option<usize> {
        match self {
            Self::DiesBefore(call) => Some(call),
            Self::Answers | Self::Unheard => None,
        }
    }
}

/// What somebody does at the same time.
#[derive(Debug, Clone)]
pub enum Task {
    /// It counts its clicks; without any, it has got the same ones.
    Counts(Option<Batch>),
    /// It puts right the numbers of a link, some of which are wrong.
    Corrects(usize),
}

/// Somebody who works at the same time.
#[derive(Debug, Clone)]
pub struct Rival {
    pub task: Task,
    /// Who makes the next call: the rival or the first.
    pub order: Vec<bool>,
    pub end: End,
}

impl Rival {
    /// The link whose numbers it puts right.
    pub fn corrected(&self) -> Option<usize> {
        match self.task {
            Task::Counts(_) => None,
            Task::Corrects(link) => Some(link),
        }
    }
}

/// A batch and what becomes of it.
#[derive(Debug, Clone)]
pub struct Delivery {
    pub batch: Batch,
    /// Calls that fail, by their number.
    pub faults: Vec<(usize, Fault)>,
    /// Whether the SDK repeats failed calls, as it does in production.
    pub retries: bool,
    pub end: End,
    pub rival: Option<Rival>,
}

#[derive(Debug, Clone)]
pub struct Schedule {
    groups: Vec<Group>,
    pub deliveries: Vec<Delivery>,
    /// In batches of how many what is left comes in the end.
    pub last_batches: usize,
    /// From how many new clicks at once a day is split.
    pub split_from: usize,
    /// How many clicks share a message.
    pub packed: usize,
}

impl Schedule {
    /// In no order.
    pub fn clicks(&self) -> Vec<Click> {
        let clicks = self.groups.iter().flat_map(Group::clicks);
        clicks.enumerate().map(|(number, click)| Click { number, ..click }).collect()
    }

    /// The places of a batch's clicks among all; as many as SQS hands over at once.
    pub fn places(&self, batch: &Batch) -> Vec<usize> {
        const MAX_BATCH: usize = 500;
        let starts: Vec<usize> = self
            .groups
            .iter()
            .scan(0, |next, group| {
                *next += group.clicks;
                Some(*next - group.clicks)
            })
            .collect();
        let mut places = Vec::new();
        for (index, part) in &batch.0 {
            let group = index.index(self.groups.len());
            let of_group = starts[group]..starts[group] + self.groups[group].clicks;
            match part {
                Part::All => places.extend(of_group),
                Part::Even => places.extend(of_group.step_by(2)),
                Part::Odd => places.extend(of_group.skip(1).step_by(2)),
                Part::First => places.push(of_group.start),
            }
        }
        places.truncate(MAX_BATCH);
        places
    }
}

impl Group {
    fn clicks(&self) -> impl Iterator<Item = Click> {
        (0..self.clicks).map(|copy| {
            let number = copy as u64;
            Click {
                link: self.link + if self.spreads { copy } else { 0 },
                at: *TODAY - self.days_ago * 86_400_000 + self.second * 1_000 + number * self.apart,
                who: self.who + number % 3,
                agent: &AGENTS[self.agent],
                referer: REFERERS[self.referer],
                country: COUNTRIES[self.country],
                query: QUERIES[self.query],
                prefetch: self.prefetch,
                number: 0,
            }
        })
    }
}

pub fn schedules() -> impl Strategy<Value = Schedule> {
    let last_batches = prop_oneof![Just(500_usize), 1..40_usize];
    let split_from = prop_oneof![1 => Just(StatsTable::SPLIT_FROM), 1 => 1..12_usize];
    let packed = prop_oneof![1 => Just(1), 1 => 2..40_usize];
    (vec(groups(), 1..14), vec(deliveries(), 0..5), last_batches, split_from, packed).prop_map(
        |(groups, deliveries, last_batches, split_from, packed)| Schedule {
            groups,
            deliveries,
            last_batches,
            split_from,
            packed,
        },
    )
}

fn groups() -> impl Strategy<Value = Group> {
    // Recent days and those that are neither recent nor past; around the four weeks after which a quiet day goes into the past;
    // some other day.
    let days_ago = prop_oneof![6 => 0..4_u64, 3 => 26..32_u64, 2 => 0..100_u64];
    let clicks = prop_oneof![12 => Just(1_usize), 6 => 2..12_usize, 1 => BUSY];
    // At once, within the same quarter of a second or a few of them, and each on its own.
    let apart = prop_oneof![1 => Just(0_u64), 1 => Just(40), 2 => Just(60_000)];
    let people = (
        0..12_u64,
        0..AGENTS.len(),
        0..REFERERS.len(),
        0..COUNTRIES.len(),
        0..QUERIES.len(),
        prop::bool::weighted(0.1),
    );
    let links = (0..LINKS, prop::bool::weighted(0.03));
    (links, days_ago, 0..86_400_u64, clicks, apart, people).prop_map(
        |((link, spreads), days_ago, second, clicks, apart, (who, agent, referer, country, query, prefetch))| Group {
            link,
            spreads,
            days_ago,
            second,
            clicks,
            apart,
            who,
            agent,
            referer,
            country,
            query,
            prefetch,
        },
    )
}

fn batches() -> impl Strategy<Value = Batch> {
    let part = prop_oneof![3 => Just(Part::All), 1 => Just(Part::Even), 1 => Just(Part::Odd), 1 => Just(Part::First)];
    vec((any::<Index>(), part), 1..8).prop_map(Batch)
}

fn faults() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::NotSent),
        Just(Fault::AnswerLost),
        Just(Fault::Throttled),
        Just(Fault::Cancelled(Cancellation::TransactionConflict)),
        Just(Fault::Cancelled(Cancellation::Throttling)),
        Just(Fault::Unprocessed),
        Just(Fault::HalfUnprocessed),
    ]
}

fn ends() -> impl Strategy<Value = End> {
    // A day that is split takes some calls for each of its parts.
    let calls = prop_oneof![3 => 0..12_usize, 1 => 12..60_usize];
    prop_oneof![3 => Just(End::Answers), 2 => calls.prop_map(End::DiesBefore), 1 => Just(End::Unheard)]
}

fn deliveries() -> impl Strategy<Value = Delivery> {
    prop_oneof![3 => any_deliveries(), 1 => torn_reads(), 1 => interrupted()]
}

fn any_deliveries() -> impl Strategy<Value = Delivery> {
    let counts = prop::option::of(batches()).prop_map(Task::Counts);
    let task = prop_oneof![4 => counts, 1 => (0..LINKS).prop_map(Task::Corrects)];
    let rival = (task, vec(any::<bool>(), 0..40), ends()).prop_map(|(task, order, end)| Rival { task, order, end });
    (batches(), vec((0..30_usize, faults()), 0..4), any::<bool>(), ends(), prop::option::of(rival))
        .prop_map(|(batch, faults, retries, end, rival)| Delivery { batch, faults, retries, end, rival })
}

/// One call fails on the way, so that of links with many clicks some are counted and others aren't.
fn interrupted() -> impl Strategy<Value = Delivery> {
    (batches(), 1..40_usize, faults()).prop_map(|(batch, call, fault)| Delivery {
        batch,
        faults: vec![(call, fault)],
        retries: false,
        end: End::Answers,
        rival: None,
    })
}

/// DynamoDB leaves some keys out, and before they are read, a rival counts the same clicks or others of their moment: what the
/// first has read is of two times.
fn torn_reads() -> impl Strategy<Value = Delivery> {
    let fault = prop_oneof![Just(Fault::Unprocessed), Just(Fault::HalfUnprocessed)];
    (any::<Index>(), any::<bool>(), fault, any::<bool>()).prop_map(|(group, same, fault, retries)| {
        let batch = |part| Batch(vec![(group, part)]);
        let order = [false].into_iter().chain([true; 8]).collect();
        let task = Task::Counts((!same).then(|| batch(Part::Odd)));
        let rival = Rival { task, order, end: End::Answers };
        Delivery { batch: batch(Part::Even), faults: vec![(0, fault)], retries, end: End::Answers, rival: Some(rival) }
    })
}

/// The clicks whose messages nobody has acknowledged.
#[derive(Debug)]
pub struct Queue(VecDeque<usize>);

impl Queue {
    /// Holding the clicks at these places.
    pub fn of(places: std::ops::Range<usize>) -> Self {
        Self(places.collect())
    }

    /// Once it is acknowledged, no copy of a message needs to come again.
    pub fn forget(&mut self, acknowledged: &[usize]) {
        self.0.retain(|place| !acknowledged.contains(place));
    }

    /// The next ones, which stay in the queue until they are acknowledged.
    pub fn next(&mut self, count: usize) -> Vec<usize> {
        let count = count.min(self.0.len());
        // Whatever isn't acknowledged comes after the others.
        self.0.rotate_left(count);
        self.0.iter().rev().take(count).rev().copied().collect()
    }
}

/// A batch of messages, each of which has so many of these events.
pub fn packed_batch(events: &[Event], packed: usize) -> SqsEvent {
    let bodies: Vec<String> = events.chunks(packed).map(|events| json!({"events": events}).to_string()).collect();
    if packed == 1 { event_batch(events) } else { queue_batch(&bodies) }
}

/// The clicks whose messages a consumer has acknowledged, of a batch whose messages have so many clicks each; message ids are
/// places among them.
pub fn acknowledged(batch: &[usize], packed: usize, answer: &SqsBatchResponse) -> Vec<usize> {
    let failures: BTreeSet<usize> =
        answer.batch_item_failures.iter().map(|failure| failure.item_identifier.parse().unwrap()).collect();
    let is_done = |(place, _): &(usize, &usize)| !failures.contains(&(place / packed));
    batch.iter().enumerate().filter(is_done).map(|(_, click)| *click).collect()
}
