//! Storing what a tick has found out.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use linklet_domain::{PlannedTick, WorkspaceId};
use linklet_dynamodb::{CheckedTarget, WatchTable};
use linklet_fetch::Network;
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::telemetry::chain;

use crate::Checker;

/// How many writes are sent at a time.
const AT_ONCE: usize = 16;

impl<N: Network> Checker<N> {
    /// Stores the results of a tick, and then changes the status of the targets whose results are stored.
    pub(crate) async fn record(&self, tick: &PlannedTick, results: Vec<CheckedTarget>) {
        let storing = in_parts(results).into_iter().map(|(part, results)| self.store(tick, part, results));
        let stored: Vec<CheckedTarget> = stream::iter(storing).buffer_unordered(AT_ONCE).concat().await;
        if tick.is_long_over((self.clock)()) {
            tracing::warn!("a tick came to its end too late to change the status of targets");
            return;
        }
        stream::iter(&stored).for_each_concurrent(AT_ONCE, |checked| self.conclude(tick, checked)).await;
    }

    /// Returns the results if they are stored.
    async fn store(&self, tick: &PlannedTick, part: usize, results: Vec<CheckedTarget>) -> Vec<CheckedTarget> {
        match self.targets.store_results(tick, part, &results).await {
            Ok(true) => results,
            Ok(false) => {
                tracing::warn!(part, "another worker has stored other results of the tick");
                Vec::new()
            }
            Err(error) => {
                metrics::add(Metric::ChecksLost, results.len());
                tracing::error!(results = results.len(), error = chain(&error), "results could not be stored");
                Vec::new()
            }
        }
    }

    async fn conclude(&self, tick: &PlannedTick, checked: &CheckedTarget) {
        let target = &checked.target;
        match self.targets.conclude(tick.slot, checked).await {
            Ok(Some(status)) => tracing::info!(
                target_id = target.id.as_str(),
                workspace_id = %target.workspace,
                target_status = %status,
                "a target's status changed"
            ),
            Ok(None) => {}
            Err(error) => {
                tracing::error!(
                    target_id = target.id.as_str(),
                    error = chain(&error),
                    "a target's status is not known"
                );
            }
        }
    }
}

/// Divides results into those that share an item, with the number of the item among those of its workspace.
fn in_parts(results: Vec<CheckedTarget>) -> Vec<(usize, Vec<CheckedTarget>)> {
    let mut by_workspace = BTreeMap::<WorkspaceId, Vec<CheckedTarget>>::new();
    for checked in results {
        by_workspace.entry(checked.target.workspace).or_default().push(checked);
    }
    let parts = by_workspace.into_values().flat_map(|results| {
        let parts: Vec<_> = results.chunks(WatchTable::RESULTS_OF_AN_ITEM).map(<[_]>::to_vec).enumerate().collect();
        parts
    });
    parts.collect()
}
