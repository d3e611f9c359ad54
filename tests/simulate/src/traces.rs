//! The floods.

use std::{ops::Range, rc::Rc, time::Duration};

use tokio::{task::spawn_local, time::sleep};

use crate::consumers;
use crate::report::Report;
use crate::settings::Settings;
use crate::visitors::{self, Arrivals, Links};
use crate::world::{ANALYTICS, World};

/// How time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// It leaps to the next moment at which something happens.
    Simulated,
    /// As everywhere.
    Real,
}

/// What comes, and with which settings.
pub struct Trace {
    /// What it is called.
    pub name: &'static str,
    /// What happens.
    pub about: &'static str,
    /// Parameters and quotas.
    pub settings: Settings,
    /// Who comes.
    pub arrivals: Arrivals,
    /// When the tables answer every call with an error.
    pub outage: Range<Duration>,
    /// Clicks that wait in the queue at the beginning.
    pub waiting: usize,
}

impl Trace {
    fn new(name: &'static str, about: &'static str, arrivals: Arrivals) -> Self {
        Self {
            name,
            about,
            settings: Settings::default(),
            arrivals,
            outage: Duration::ZERO..Duration::ZERO,
            waiting: 0,
        }
    }
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// All traces. Rates of a day are those of its busiest time, which has two and a half to three times as many clicks as the mean; by
/// then Lambda has long had as many batches in work as it may.
pub fn all() -> Vec<Trace> {
    let zipf = |links, a_second, lasts| Arrivals { links: Links::Zipf(links), a_second, lasts };
    vec![
        Trace {
            settings: Settings {
                warm_clicks: 8_000.0,
                warm_stats: 16_000.0,
                analytics_concurrency: 20,
                pollers: 20,
                ..Settings::default()
            },
            ..Trace::new(
                "ordinary-day",
                "100 million clicks a day, at its busiest",
                zipf(1_000_000, 2_900.0, seconds(20)),
            )
        },
        Trace {
            settings: Settings {
                account: 4_000,
                gateway: 60_000.0,
                warm_clicks: 80_000.0,
                warm_stats: 160_000.0,
                relay_parallelization: 2,
                analytics_concurrency: 250,
                pollers: 250,
                recorded: 16,
                ..Settings::default()
            },
            ..Trace::new("billion", "a billion clicks a day, at its busiest", zipf(10_000_000, 35_000.0, seconds(8)))
        },
        Trace {
            settings: Settings {
                account: 6_000,
                gateway: 60_000.0,
                warm_clicks: 200_000.0,
                warm_stats: 40_000.0,
                relay_parallelization: 2,
                analytics_concurrency: 50,
                recorded: 16,
                parts: 16,
                ..Settings::default()
            },
            ..Trace::new(
                "viral",
                "one link 50,000 times a second for ten minutes",
                Arrivals { links: Links::One, a_second: 50_000.0, lasts: seconds(600) },
            )
        },
        Trace {
            outage: seconds(60)..seconds(660),
            ..Trace::new("outage", "ten minutes without the tables", zipf(100_000, 60.0, seconds(720)))
        },
        Trace {
            settings: Settings::in_account(10),
            waiting: 100_000,
            ..Trace::new(
                "new-account",
                "100,000 clicks wait in an account of ten executions",
                zipf(10_000, 100.0, seconds(100)),
            )
        },
        Trace {
            settings: Settings { warm_stats: 500.0, visibility: seconds(2), ..Settings::default() },
            ..Trace::new(
                "throttled-statistics",
                "scattered clicks and a slow table of statistics, for comparison with real time",
                Arrivals { links: Links::Alike(2_000), a_second: 200.0, lasts: seconds(15) },
            )
        },
        Trace {
            settings: Settings { warm_clicks: 150.0, visibility: seconds(10), ..Settings::default() },
            ..Trace::new(
                "throttled-clicks",
                "one link and a slow table of clicks, for comparison with real time",
                Arrivals { links: Links::One, a_second: 250.0, lasts: seconds(15) },
            )
        },
    ]
}

/// Plays a trace, and checks each count.
pub async fn play(trace: &Trace, pace: Pace) -> Report {
    let real = std::time::Instant::now();
    fastrand::seed(31);
    let world = World::start(trace.settings.clone(), trace.outage.clone(), 31);
    if pace == Pace::Real {
        world.dynamodb.serve();
    }
    visitors::leave_waiting(&world, trace.arrivals.links, trace.waiting).await;
    consumers::poll(&world);
    spawn_local(say(trace.name, world.clone(), real));
    visitors::arrive(&world, trace.arrivals).await;
    let over = world.clock.elapsed();
    until_quiet(&world).await;
    Report::of(trace, &world, over, real.elapsed()).await
}

/// Says on standard error how far it has come.
async fn say(name: &'static str, world: Rc<World>, real: std::time::Instant) {
    const EVERY: Duration = Duration::from_secs(10);
    loop {
        sleep(EVERY).await;
        let (at, messages) = (world.clock.elapsed().as_secs(), world.queues.count(ANALYTICS));
        let waiting: usize = (0..world.clicks.shards()).map(|shard| world.clicks.waiting(shard)).sum();
        let (requests, real) = (world.journal.requests.get(), real.elapsed().as_secs());
        eprintln!(
            "{name}: {at} s, {requests} requests, {waiting} records and {messages} messages wait, played in {real} s"
        );
    }
}

/// Waits until nothing waits any more.
async fn until_quiet(world: &Rc<World>) {
    const LONGEST: Duration = Duration::from_hours(6);
    let begin = world.clock.elapsed();
    loop {
        let waiting = (0..world.clicks.shards()).any(|shard| world.clicks.waiting(shard) > 0);
        if !waiting && world.queues.count(ANALYTICS) == 0 {
            // What the relay has in hand takes a moment.
            sleep(Duration::from_secs(5)).await;
            if world.queues.count(ANALYTICS) == 0 {
                return;
            }
        }
        assert!(world.clock.elapsed() - begin < LONGEST, "clicks are counted at last");
        sleep(Duration::from_secs(1)).await;
    }
}
