//! What one link costs that everybody follows at once: a simulation in simulated time.
//!
//! Environments, their memory for hot links and the choice of a click's partition are the product's own code. Lambda and DynamoDB
//! are modelled by their published limits and by the times below, which are those of AWS and not of this machine: see
//! `docs/performance.md`.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, binary_heap::PeekMut},
    time::Duration,
};

use linklet_domain::{ClickId, LinkId, Record, RedirectTarget, ShortCode, Spread, Timestamp};
use linklet_dynamodb::Partition;
use linklet_lambda::following::{Advice, Spreading};
use linklet_redirect::HotLinks;
use linklet_test_support::LinkBuilder;

use crate::options::Extent;

/// The rate stays for so long, which is what is reported.
const PHASE: u64 = 10;
/// It rises for so long before that, evenly; or it is there at once.
const RISES: [u64; 2] = [10, 0];
/// Requests per second.
const RATES: [usize; 5] = [100, 1_000, 10_000, 20_000, 50_000];

const MICROS: u64 = 1_000_000;
/// From the arrival of an event to the answer, without a read.
const ANSWER: u64 = 1_000;
/// A call of DynamoDB or SQS.
const CALL: u64 = 5_000;
/// The mean pauses before the second and the third try.
const PAUSES: [u64; 2] = [12_500, 25_000];
/// A new environment.
const COLD_START: u64 = 100_000;
/// So many of them a function may start at once, and again every ten seconds, bit by bit.
const NEW_ENVIRONMENTS: u64 = 1_000;
/// How many writes of 1 KB a second one partition takes.
const WRITES_OF_A_PARTITION: u64 = 1_000;
/// How many eventually consistent reads of up to 4 KB a second one partition takes.
const READS_OF_A_PARTITION: u64 = 6_000;
/// How many parked clicks a second analytics stores: four batches at a time, and 24 clicks of each.
const RECORDED_LATER: u64 = 4 * 24 * MICROS / CALL;

/// What has happened since the rate stays, beside the environments and refusals, which are of all the time.
#[derive(Default)]
struct Outcome {
    requests: u64,
    /// Requests that Lambda had no environment for, nor could start one.
    refused: u64,
    environments: usize,
    reads: u64,
    /// Reads that DynamoDB refused three times, so that the visitor got 503.
    failed: u64,
    stored: u64,
    parked: u64,
}

/// Partitions that take so many calls within each second.
struct Partitions<P> {
    most: u64,
    calls: BTreeMap<(P, u64), u64>,
}

impl<P: Copy + Ord> Partitions<P> {
    fn of(most: u64) -> Self {
        Self { most, calls: BTreeMap::new() }
    }

    fn takes(&mut self, partition: P, at: u64) -> bool {
        let calls = self.calls.entry((partition, at / MICROS)).or_default();
        let takes = *calls < self.most;
        *calls += u64::from(takes);
        takes
    }

    /// Calls up to three times. Returns when that is over, and whether one was taken.
    fn call(&mut self, partition: P, mut at: u64) -> (u64, bool) {
        for pause in [0].into_iter().chain(PAUSES) {
            at += pause + CALL;
            if self.takes(partition, at) {
                return (at, true);
            }
        }
        (at, false)
    }
}

/// Simulates all rates and prints what comes of them.
pub fn simulate(extent: Extent) {
    for rise in RISES {
        let onset = if rise == 0 { "at once".to_owned() } else { format!("more and more for {rise} s") };
        println!("\none link that everybody follows {onset}, and then at this rate for {PHASE} s, simulated");
        println!(
            "{:>10} {:>13} {:>8} {:>8} {:>12} {:>6} {:>9} {:>9} {:>7} {:>13}",
            "requests/s",
            "environments",
            "refused",
            "reads/s",
            "from memory",
            "503/s",
            "stored/s",
            "parked/s",
            "lost",
            "stored after"
        );
        for rate in RATES.map(|rate| extent.of(rate) as u64) {
            print(rate, &Simulation::new().follow(rise, rate));
        }
    }
    println!("a partition takes {READS_OF_A_PARTITION} such reads and {WRITES_OF_A_PARTITION} such writes a second");
}

fn print(rate: u64, outcome: &Outcome) {
    let redirects = outcome.requests - outcome.failed;
    println!(
        "{rate:>10} {:>13} {:>8} {:>8} {:>11.2}% {:>6} {:>9} {:>9} {:>7} {:>12}s",
        outcome.environments,
        outcome.refused,
        outcome.reads / PHASE,
        100.0 * (1.0 - outcome.reads as f64 / outcome.requests as f64),
        outcome.failed / PHASE,
        outcome.stored / PHASE,
        outcome.parked / PHASE,
        redirects - outcome.stored - outcome.parked,
        outcome.parked.div_ceil(RECORDED_LATER),
    );
}

/// What an environment knows.
#[derive(Default)]
struct Memory {
    links: HotLinks,
    spreading: Spreading,
}

struct Simulation {
    code: ShortCode,
    id: LinkId,
    link: Record<RedirectTarget>,
    start: Timestamp,
    memories: Vec<Memory>,
    /// Since when environments are free.
    free: BinaryHeap<Reverse<(u64, usize)>>,
    /// The link is in one.
    links: Partitions<()>,
    clicks: Partitions<Partition>,
    outcome: Outcome,
}

impl Simulation {
    fn new() -> Self {
        let (code, link) = viral_link();
        Self {
            code,
            id: link.identity().id.clone(),
            link,
            start: Timestamp::now(),
            memories: Vec::new(),
            free: BinaryHeap::new(),
            links: Partitions::of(READS_OF_A_PARTITION),
            clicks: Partitions::of(WRITES_OF_A_PARTITION),
            outcome: Outcome::default(),
        }
    }

    fn follow(mut self, rise: u64, rate: u64) -> Outcome {
        for number in 0..rate * rise / 2 {
            // As many as lie below a line that rises to the rate.
            let seconds = (2.0 * number as f64 * rise as f64 / rate as f64).sqrt();
            self.request(Duration::from_secs_f64(seconds).as_micros() as u64);
        }
        let risen = Outcome { refused: self.outcome.refused, ..Outcome::default() };
        self.outcome = risen;
        for number in 0..rate * PHASE {
            self.request(rise * MICROS + number * MICROS / rate);
        }
        self.outcome.environments = self.memories.len();
        self.outcome
    }

    fn request(&mut self, arrival: u64) {
        let Some((environment, begin)) = self.environment(arrival) else {
            self.outcome.refused += 1;
            return;
        };
        self.outcome.requests += 1;
        let is_over = match self.answer(environment, begin) {
            Ok(answered) => self.record(environment, begin, answered),
            Err(failed) => failed,
        };
        self.free.push(Reverse((is_over, environment)));
    }

    /// The environment that has been free the longest, which is the worst choice for their memory; a new one if none is.
    fn environment(&mut self, arrival: u64) -> Option<(usize, u64)> {
        if let Some(first) = self.free.peek_mut().filter(|first| first.0.0 <= arrival) {
            let Reverse((_, environment)) = PeekMut::pop(first);
            return Some((environment, arrival));
        }
        let allowed = NEW_ENVIRONMENTS + NEW_ENVIRONMENTS * arrival / (10 * MICROS);
        ((self.memories.len() as u64) < allowed).then(|| {
            self.memories.push(Memory::default());
            (self.memories.len() - 1, arrival + COLD_START)
        })
    }

    /// When the answer leaves: a redirect, or else an error.
    fn answer(&mut self, environment: usize, begin: u64) -> Result<u64, u64> {
        let (memory, now) = (&self.memories[environment].links, self.start.plus(Duration::from_micros(begin)));
        if memory.get(&self.code, now).is_some() {
            return Ok(begin + ANSWER);
        }
        self.outcome.reads += 1;
        let (at, is_read) = self.links.call((), begin);
        if is_read {
            memory.learn(&self.code, Some(&self.link), now);
        } else if memory.last_resort(&self.code, now).is_none() {
            self.outcome.failed += 1;
            return Err(at + ANSWER);
        }
        Ok(at + ANSWER)
    }

    /// What comes after the answer to a request that has begun then. Returns when that is over.
    fn record(&mut self, environment: usize, begin: u64, answered: u64) -> u64 {
        let id = ClickId::generate(self.start.plus(Duration::from_micros(begin)));
        let (at, spread) = self.spread(environment, &id, answered);
        let (at, is_stored) = self.clicks.call(Partition::of(&id, spread), at);
        if is_stored {
            self.outcome.stored += 1;
            return at;
        }
        self.memories[environment].spreading.refused(&self.id, id.at());
        self.outcome.parked += 1;
        at + CALL
    }

    /// How a click is to be stored, and since when that is known.
    fn spread(&mut self, environment: usize, id: &ClickId, at: u64) -> (u64, Spread) {
        let spreading = &self.memories[environment].spreading;
        match spreading.advise(&self.id, id.at()) {
            Advice::Store(spread) => (at, spread),
            Advice::Widen { until } => match self.clicks.call(Partition::OF_MARKER, at) {
                (at, true) => {
                    spreading.widened(&self.id, until);
                    (at, Spread::Wide)
                }
                (at, false) => (at, Spread::Narrow),
            },
        }
    }
}

fn viral_link() -> (ShortCode, Record<RedirectTarget>) {
    let link = LinkBuilder::new("viral").build();
    let code = link.code().clone();
    let target =
        RedirectTarget { identity: link.identity, target: link.target, availability: link.availability, extras: None };
    (code, Record::Link(target))
}
