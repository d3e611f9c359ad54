//! What came of a trace.

use std::{collections::BTreeMap, time::Duration};

use linklet_domain::LinkId;
use serde_json::{Value, json};

use crate::capacity::Refusal;
use crate::dynamodb::{CLICKS, STATS, TableReport};
use crate::lambda::Usage;
use crate::traces::Trace;
use crate::world::{ANALYTICS, Journal, World};

/// No row may be larger, in KB: DynamoDB ends at 400.
pub const LARGEST_ROW: f64 = 300.0;

/// What came of it. Numbers are of what was played: of one part, if only one was.
#[derive(Debug)]
pub struct Report {
    /// As JSON, with members that `infra/simulate.py` shows.
    pub numbers: Value,
    /// What is wrong: counts, or a row that is too large.
    pub faults: Vec<String>,
}

impl Report {
    /// Reads everything, and compares each link's clicks with its total.
    pub async fn of(trace: &Trace, world: &World, over: Duration, real: Duration) -> Self {
        let journal = &world.journal;
        let (clicks, wrong) = compared(world).await;
        let (stored, counted) = (world.dynamodb.report(CLICKS), world.dynamodb.report(STATS));
        let queue = world.queues.report(ANALYTICS);
        let [redirect, relay, analytics] = [world.redirect.usage(), world.relay.usage(), world.analytics.usage()];
        let mut faults: Vec<String> =
            wrong.iter().map(|(link, (has, should))| format!("{link} has {has} of {should}")).collect();
        faults.truncate(10);
        let largest = stored.largest_write.max(counted.largest_write);
        if largest > LARGEST_ROW {
            faults.push(format!("a row has {largest} KB"));
        }
        let numbers = json!({
            "name": trace.name,
            "about": trace.about,
            "parts": world.settings.parts,
            "seconds": over.as_secs_f64(),
            "requests": journal.requests.get(),
            "refused": journal.gateway.get().map_or(0, |(_, count)| count) + journal.without_environment.get(),
            "clicks": clicks,
            "wrong": wrong.len(),
            "late": lateness(&journal.lateness.borrow()),
            "after_the_end": journal.last_counted.get().as_secs_f64() - over.as_secs_f64(),
            "counted_a_second": journal.lateness.borrow().values().sum::<usize>() as f64 / journal.last_counted.get().as_secs_f64(),
            "storing_writes": stored.units.write_units,
            "counting_writes": counted.units.write_units,
            "reads": stored.units.read_units + counted.units.read_units,
            "calls_of_counting": counted.units.calls,
            "largest_row": largest,
            "sqs_requests": queue.requests,
            "messages": queue.messages,
            "dead": queue.dead,
            "parked": journal.parked(),
            "functions": {"redirect": used(&redirect), "relay": used(&relay), "analytics": used(&analytics)},
            "limits": reached(journal, [("clicks", &stored), ("statistics", &counted)], [("redirect", &redirect), ("relay", &relay), ("analytics", &analytics)]),
            "played_in": real.as_secs_f64(),
        });
        Self { numbers, faults }
    }
}

/// All clicks, and the links whose total isn't theirs: what it is, and what it should be.
async fn compared(world: &World) -> (u64, BTreeMap<LinkId, (u64, u64)>) {
    let clicks = world.journal.clicks.borrow().clone();
    let (stats, mut wrong) = (world.stats(), BTreeMap::new());
    for workspace in &world.workspaces {
        let of_workspace = clicks.iter().filter(|((one, _), _)| one == workspace);
        let of_workspace: Vec<(LinkId, u64)> = of_workspace.map(|((_, link), count)| (link.clone(), *count)).collect();
        for some in of_workspace.chunks(100) {
            let links: Vec<LinkId> = some.iter().map(|(link, _)| link.clone()).collect();
            let totals = stats.totals(workspace, &links).await.expect("totals can be read");
            for (link, count) in some {
                let total = totals.get(link).map_or(0, |clicks| clicks.total);
                wrong.extend((total != *count).then(|| (link.clone(), (total, *count))));
            }
        }
    }
    (clicks.values().sum(), wrong)
}

fn used(usage: &Usage) -> Value {
    json!({
        "invocations": usage.invocations, "environments": usage.environments, "at_once": usage.most,
        "gigabyte_seconds": usage.gigabyte_seconds,
    })
}

/// What reached a limit, in the order in which that happened first: what, when in seconds, how often.
fn reached(journal: &Journal, tables: [(&str, &TableReport); 2], functions: [(&str, &Usage); 3]) -> Value {
    let mut reached: Vec<(Duration, String, usize)> = Vec::new();
    reached.extend(journal.gateway.get().map(|(first, count)| (first, "API Gateway".to_owned(), count)));
    for (name, table) in tables {
        let named = |refusal: &Refusal| {
            format!("{} of {name}", if *refusal == Refusal::Table { "the table" } else { "a partition" })
        };
        reached.extend(table.refused.iter().map(|(refusal, (first, count))| (*first, named(refusal), *count)));
    }
    for (name, usage) in functions {
        reached.extend(usage.refused.map(|(first, count)| (first, format!("environments of {name}"), count)));
    }
    reached
        .extend(journal.saturated.borrow().iter().map(|(what, (first, count))| (*first, (*what).to_owned(), *count)));
    reached.sort();
    reached.into_iter().map(|(first, what, count)| json!([what, first.as_secs_f64(), count])).collect()
}

/// How late half of the clicks were counted at most, 99 of 100, and all, in seconds.
fn lateness(counts: &BTreeMap<u64, usize>) -> [f64; 3] {
    let total: usize = counts.values().sum();
    [0.5, 0.99, 1.0].map(|share| {
        let mut left = (total as f64 * share).ceil() as usize;
        let late = counts.iter().find(|(_, count)| {
            let is_there = left <= **count;
            left = left.saturating_sub(**count);
            is_there
        });
        late.map_or(0.0, |(millis, _)| *millis as f64 / 1_000.0)
    })
}
