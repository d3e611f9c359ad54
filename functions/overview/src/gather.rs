//! Adds up what an answer is made of: links and clicks, as [`Gathering`] reads them, and the status of monitored URLs.

use std::{cmp::Reverse, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{DownTarget, Overview, OverviewBreakdowns, OverviewPart};
use linklet_dynamodb::{ByteBudget, DownTargets, Kept, RepositoryError, Result, WatchTable};
use linklet_lambda::gathering::Gathering;
use linklet_lambda::throttle::StatsQueryLimiter;

/// Whoever waits longer gets the old answer, or an error. The function itself may run for ten seconds.
const BUDGET: Duration = Duration::from_secs(8);

/// Of how many targets that are down it is looked up whether a link with a tag watches them.
const MOST_JUDGED: usize = 100;

const TARGETS_AT_A_TIME: usize = 8;

/// Something about a workspace that is added up when somebody asks.
pub(crate) trait Gathered: Kept {
    /// A new one.
    async fn gather(gathering: Gathering<'_>, targets: &WatchTable) -> Result<Self>;
}

impl Gathered for Overview {
    async fn gather(gathering: Gathering<'_>, targets: &WatchTable) -> Result<Self> {
        within_budget(async {
            let (down, ()) = tokio::try_join!(targets.down(gathering.workspace), gathering.add_followed())?;
            add_down(&gathering, targets, down).await?;
            if gathering.is_recent() { Ok(()) } else { gathering.add_days().await }
        })
        .await?;
        Ok(gathering.finish().finish())
    }
}

impl Gathered for OverviewBreakdowns {
    async fn gather(gathering: Gathering<'_>, _: &WatchTable) -> Result<Self> {
        within_budget(async {
            gathering.add_followed().await?;
            gathering.add_days().await
        })
        .await?;
        Ok(gathering.finish().finish_breakdowns())
    }
}

async fn within_budget(reads: impl Future<Output = Result<()>>) -> Result<()> {
    let too_slow =
        |elapsed| RepositoryError::Unavailable { operation: "add up an overview", source: Box::new(elapsed) };
    tokio::time::timeout(BUDGET, reads).await.map_err(too_slow)?
}

/// Adds what is down, and if the question asks for a tag, only what one of its links watches.
async fn add_down(gathering: &Gathering<'_>, table: &WatchTable, down: DownTargets) -> Result<()> {
    let DownTargets { mut targets, mut is_complete } = down;
    if gathering.question.tag.is_some() {
        targets.sort_unstable_by_key(|target| Reverse(target.since));
        is_complete &= targets.len() <= MOST_JUDGED;
        targets.truncate(MOST_JUDGED);
        let checked = watched(gathering, table, targets).await?;
        is_complete &= checked.is_complete;
        targets = checked.targets;
    }
    let mut tally = gathering.tally();
    targets.into_iter().for_each(|target| tally.down(target));
    if !is_complete {
        tally.lacks(OverviewPart::Down);
    }
    Ok(())
}

/// Those of these targets that a link watches that the question is about, as far as their watchers can be read.
async fn watched(gathering: &Gathering<'_>, table: &WatchTable, targets: Vec<DownTarget>) -> Result<DownTargets> {
    let budget = ByteBudget::of(StatsQueryLimiter::READ_BYTES);
    let checked = stream::iter(targets).map(|target| {
        let budget = &budget;
        async move {
            let (watchers, is_all) = table.watchers(&target.id, budget).await?;
            let is_watched = watchers.iter().any(|link| gathering.tally().is_about(link));
            Ok::<_, RepositoryError>((is_watched.then_some(target), is_watched || is_all))
        }
    });
    let checked: Vec<_> = checked.buffered(TARGETS_AT_A_TIME).try_collect().await?;
    let is_complete = checked.iter().all(|(_, is_certain)| *is_certain);
    Ok(DownTargets { targets: checked.into_iter().filter_map(|(target, _)| target).collect(), is_complete })
}
