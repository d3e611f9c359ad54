//! Running the checks of a tick, as many at a time as there are places.

use std::collections::HashSet;

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use linklet_domain::{CheckOutcome, CheckResult};
use linklet_dynamodb::{CheckedTarget, DueTarget};
use linklet_fetch::{Fetcher, Network};
use linklet_lambda::metrics::{self, Metric};

use crate::check::{Check, Deadline, check};
use crate::fair_queue::FairQueue;

/// What came of a tick's targets.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// Those with a result.
    pub results: Vec<CheckedTarget>,
    /// Those for which there was no time.
    pub skipped: Vec<DueTarget>,
    /// Those that waited for others of their host until the end. More places would not have helped them.
    pub held_back: Vec<DueTarget>,
}

/// Checks targets in turns until the deadline, so many at a time.
pub(crate) async fn check_in_turns<N: Network>(
    fetcher: &Fetcher<N>,
    mut queue: FairQueue,
    places: u8,
    deadline: Deadline<'_>,
) -> Checked {
    let (mut checked, mut running) = (Checked::default(), FuturesUnordered::new());
    let (mut visited, mut busy_at_the_end) = (HashSet::new(), HashSet::new());
    loop {
        while running.len() < usize::from(places)
            && deadline.left().is_some()
            && let Some(target) = queue.next()
        {
            running.push(check_target(fetcher, target, deadline));
        }
        let Some((target, result)) = running.next().await else { break };
        queue.free(&target.host);
        if deadline.left().is_none() {
            busy_at_the_end.insert(target.host.clone());
        }
        match result {
            Some(result) => {
                metrics::add(Metric::ChecksFailed, result.is_failure().into());
                visited.insert(target.host.clone());
                checked.results.push(CheckedTarget { target, result });
            }
            // Others of its host have had the time that it would have had.
            None if visited.contains(&target.host) => checked.held_back.push(target),
            None => checked.skipped.push(target),
        }
    }
    let rest = queue.into_rest().into_iter().partition(|target| busy_at_the_end.contains(&target.host));
    let (held_back, skipped): (Vec<_>, Vec<_>) = rest;
    checked.held_back.extend(held_back);
    checked.skipped.extend(skipped);
    checked
}

async fn check_target<N: Network>(
    fetcher: &Fetcher<N>,
    target: DueTarget,
    deadline: Deadline<'_>,
) -> (DueTarget, Option<CheckResult>) {
    let checked_at = (deadline.clock)();
    let check = check(fetcher, &target.url, deadline).await;
    let result = check.map(|check| CheckResult {
        checked_at,
        outcome: outcome_of(&check),
        latency_ms: u64::try_from(check.latency.as_millis()).unwrap_or(u64::MAX),
    });
    (target, result)
}

fn outcome_of(check: &Check) -> CheckOutcome {
    match &check.outcome {
        Ok(status) => CheckOutcome::Answered(status.as_u16()),
        Err(error) => CheckOutcome::Failed(error.class()),
    }
}
