//! Counting: each click once, by one write of its day.
//!
//! The order of the steps is what makes it exact:
//!
//! 1. Read the day with the ids of its latest clicks; then, for clicks that may be older than these, the ids that have left it.
//! 2. If the new clicks' ids don't fit into the day beside the old ones, write the old ones to runs.
//! 3. Write the day with the new clicks and their ids, if it is the version that was read. Now they are counted.
//! 4. Raise the number of the day in the link's total.
//! 5. Write the milestones that the total has reached.
//!
//! Ids leave a day's item only after they were copied (2), and are looked for elsewhere only after the day was read (1). So each
//! counted id is found. A consumer that dies before step 3 has counted nothing. If it dies later, the message comes again, its
//! click is found to be counted, and steps 4 and 5 are done again; the next click of the day does the same.
//!
//! A day that gets very many clicks is split once, by its next version. Nobody adds to it after that: its clicks are counted by
//! the same steps in its parts, and looked for in both.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::{error::SdkError, operation::put_item::PutItemError, types::TransactWriteItem};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    Click, ClickCount, ClickId, Client, DaySlice, LinkId, Part, Rollup, Timestamp, Totals, WorkspaceId, is_recent,
};

use super::ids::{CountedDay, Slot, runs_of, seen_partition, slots_of};
use super::item::{DayItem, MilestoneItem, PastItem, RunItem, past_key, slice_key, total_key};
use super::totals::{Announced, Raised, TotalChange, total_of};
use super::{CommitOutcome, Milestone, StatsTable, key_of};
use crate::item::{IS_NEW, Item, Key, SortKeys, from_item, number, to_item};
use crate::{RepositoryError, Result};

const LOAD: &str = "load statistics";
const COUNT: &str = "count clicks";

/// A click, and what its user agent says.
#[derive(Debug, Clone)]
pub struct ClassifiedClick {
    /// The click.
    pub click: Click,
    /// The client that the visitor's user agent names.
    pub client: Client,
}

/// Clicks of one link on one day.
#[derive(Debug, Clone, Copy)]
pub struct DayWork<'a> {
    /// The link.
    pub link: &'a LinkId,
    /// The workspace that the link belongs to.
    pub workspace: &'a WorkspaceId,
    /// The day, or the part of it to which all of the clicks belong.
    pub slice: DaySlice,
    /// The clicks to count, at least one, each once, in the order in which they happened.
    pub clicks: &'a [&'a ClassifiedClick],
}

impl DayWork<'_> {
    /// The day as it was counted before it was split, if the work is one of its parts.
    fn whole(&self) -> Option<DaySlice> {
        self.slice.part.map(|_| self.slice.day.into())
    }
}

/// What counting reads before it writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    day: CountedDay,
    /// What was counted before the day was split, for a part of it.
    whole: CountedDay,
    totals: Totals,
    is_purged: bool,
}

impl Loaded {
    /// What was read, with the counts of the link as they are by now, as an earlier day of the link has left them.
    #[must_use]
    pub fn with_totals(self, totals: Totals) -> Self {
        Self { totals, ..self }
    }

    /// Whether the total has what was counted before the day was split.
    fn has_whole(&self, work: &DayWork<'_>) -> bool {
        work.whole().is_none_or(|whole| self.totals.includes(whole, self.whole.stats.profile.clicks))
    }
}

/// The outcome of counting clicks of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DayOutcome {
    /// All are counted: so many now, the others before.
    Counted {
        /// The number of clicks that were not counted before.
        fresh: usize,
        /// The link's counts as they are now.
        totals: Totals,
    },
    /// The link was purged: nothing is counted for it any more, and all its rows have to be deleted.
    Purged,
    /// The day is split, and none of the clicks is counted: each has to be counted in its part.
    Split,
    /// Another write on the same link got in the way. Read again and retry.
    Contended {
        /// The number of clicks that are counted nevertheless, though the link's total doesn't have them yet.
        fresh: usize,
    },
}

impl StatsTable {
    /// The number of ids that a day's item keeps beside new ones. More would make the item of an ordinary day take a second
    /// write unit.
    const KEPT_IDS: usize = 24;

    /// The number of new clicks from which a day is split instead of counting them: with fewer, parts would cost more than they
    /// are good for, since each write pays for all numbers of a part.
    pub const SPLIT_FROM: usize = 2_048;

    /// The most clicks that are counted by one write, so that a day's item stays far below DynamoDB's 400 KB.
    pub const MOST_CLICKS: usize = 4_096;

    /// How many reads or writes of runs are under way at a time.
    const CONCURRENT_RUNS: usize = 24;

    /// Reads what counting needs, consistently and with as few calls as possible: for each day its item and the link's total, and
    /// for a part of a day the item of this part, too.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn load(&self, works: &[DayWork<'_>]) -> Result<Vec<Loaded>> {
        let keys: BTreeSet<Key> = works.iter().flat_map(keys_of).collect();
        let found = self.table.batch_get(LOAD, keys.into_iter().collect(), true, None).await?;
        let mut by_key: HashMap<Key, Item> = found.into_iter().map(|item| (key_of(&item), item)).collect();
        works.iter().map(|work| loaded(work, &mut by_key)).collect()
    }

    /// Counts clicks of a day that was loaded.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; whether the clicks are counted is then unknown, and counting them again is safe.
    pub async fn count(&self, work: &DayWork<'_>, before: Loaded, now: Timestamp) -> Result<DayOutcome> {
        if before.is_purged {
            return Ok(DayOutcome::Purged);
        }
        if before.day.is_split {
            return Ok(DayOutcome::Split);
        }
        if work.slice.part.is_some() && !before.whole.is_split {
            return Ok(DayOutcome::Contended { fresh: 0 });
        }
        let known = self.counted_ids(work, &before).await?;
        let fresh: Vec<&ClassifiedClick> =
            work.clicks.iter().filter(|one| !known.contains(&one.click.id)).copied().collect();
        let is_recent = is_recent(work.slice.day, now.day());
        if is_recent && work.slice.part.is_none() && fresh.len() >= self.split_from {
            return self.split(work, &before.day, now).await;
        }
        let raised = if fresh.is_empty() {
            self.repair_total(work, &before).await?
        } else {
            let after = with_clicks(&before.day, &fresh);
            self.move_ids(work, &before.day, &after, now).await?;
            if is_recent {
                if self.put_day(work, &after).await? == CommitOutcome::Contended {
                    return Ok(DayOutcome::Contended { fresh: 0 });
                }
                self.raise_totals(work, &before, &after).await?
            } else {
                self.count_late(work, &before, &after, &fresh).await?
            }
        };
        match raised {
            Raised::To(totals) => Ok(match self.announce(work, &totals, &fresh).await? {
                Announced::Yes => DayOutcome::Counted { fresh: fresh.len(), totals },
                Announced::Purged => DayOutcome::Purged,
            }),
            Raised::Purged => Ok(DayOutcome::Purged),
            // A late click is counted with the total, and a recent one before.
            Raised::Contended => Ok(DayOutcome::Contended { fresh: if is_recent { fresh.len() } else { 0 } }),
        }
    }

    /// Splits a day, and counts nothing: its next version is the last one, but for corrections.
    async fn split(&self, work: &DayWork<'_>, before: &CountedDay, now: Timestamp) -> Result<DayOutcome> {
        let after = CountedDay { is_split: true, ..without_ids(before) };
        self.move_ids(work, before, &after, now).await?;
        Ok(match self.put_day(work, &after).await? {
            CommitOutcome::Committed => DayOutcome::Split,
            CommitOutcome::Contended => DayOutcome::Contended { fresh: 0 },
        })
    }

    /// Those of the work's clicks that were counted. The day must have been read before.
    async fn counted_ids(&self, work: &DayWork<'_>, before: &Loaded) -> Result<BTreeSet<ClickId>> {
        let Loaded { day, whole, .. } = before;
        let (mut known, unknown): (BTreeSet<ClickId>, BTreeSet<ClickId>) =
            work.clicks.iter().map(|one| one.click.id).partition(|id| day.ids.contains(id) || whole.ids.contains(id));
        let slots =
            |part, counted| slots_of(counted, unknown.iter().copied()).into_iter().map(move |slot| (part, slot));
        let slots = slots(work.slice.part, day).chain(slots(None, whole));
        let looking: Vec<_> = slots.map(|(part, slot)| self.ids_among(&unknown, work.link, part, slot)).collect();
        let found: Vec<Vec<ClickId>> =
            stream::iter(looking).buffer_unordered(Self::CONCURRENT_RUNS).try_collect().await?;
        known.extend(found.into_iter().flatten());
        Ok(known)
    }

    /// Those of some ids that the runs of a slot have.
    async fn ids_among(
        &self,
        some: &BTreeSet<ClickId>,
        link: &LinkId,
        part: Option<Part>,
        slot: Slot,
    ) -> Result<Vec<ClickId>> {
        let runs: Vec<RunItem> =
            self.table.list(LOAD, &seen_partition(link, part), SortKeys::Beginning(&slot.prefix())).await?;
        let mut found = Vec::new();
        for run in runs {
            let ids = run.ids().map_err(RepositoryError::unexpected_item(LOAD))?;
            found.extend(ids.filter(|id| some.contains(id)));
        }
        Ok(found)
    }

    /// Writes the ids that `after` no longer has to where they are looked for then. Repeating it changes nothing.
    async fn move_ids(
        &self,
        work: &DayWork<'_>,
        before: &CountedDay,
        after: &CountedDay,
        now: Timestamp,
    ) -> Result<()> {
        if after.moved == before.moved {
            return Ok(());
        }
        let key = |slot: Slot| slot.run(work.link, work.slice.part, before.version);
        let run = |(slot, ids): (Slot, BTreeSet<ClickId>)| RunItem::new(key(slot), &ids, now);
        let writes: Vec<_> = runs_of(before).into_iter().map(|ids| self.put_run(run(ids))).collect();
        stream::iter(writes).buffer_unordered(Self::CONCURRENT_RUNS).try_collect().await
    }

    async fn put_run(&self, run: RunItem) -> Result<()> {
        self.table.put_item("keep the ids of counted clicks", &run)?.send().await.map(|_| ())
    }

    /// Writes a day if it is the version before this one.
    async fn put_day(&self, work: &DayWork<'_>, after: &CountedDay) -> Result<CommitOutcome> {
        let item = to_item(COUNT, &DayItem::new(work.link, work.slice, after))?;
        let put = self.table.client.put_item().table_name(&self.table.name).set_item(Some(item));
        let put = match after.version {
            1 => put.condition_expression(IS_NEW),
            version => {
                put.condition_expression(SAME_VERSION).expression_attribute_values(":before", number(&(version - 1)))
            }
        };
        match put.send().await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(CommitOutcome::Committed),
            Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(CommitOutcome::Contended),
            Err(PutItemError::TransactionConflictException(_)) => Ok(CommitOutcome::Contended),
            Err(error) if is_throttled(&error) => Ok(CommitOutcome::Contended),
            Err(error) => Err(RepositoryError::unavailable(COUNT)(error)),
        }
    }

    /// Finishes what a consumer that died has left: all clicks are counted, and the total may not have them yet.
    async fn repair_total(&self, work: &DayWork<'_>, before: &Loaded) -> Result<Raised> {
        if before.totals.includes(work.slice, before.day.stats.profile.clicks) && before.has_whole(work) {
            return Ok(Raised::To(before.totals.clone()));
        }
        self.raise_totals(work, before, &before.day).await
    }

    /// Raises the number of the day in the total, and before that of a part the number that its day had when it was split:
    /// whoever has split it may have died, and nobody else looks after it.
    async fn raise_totals(&self, work: &DayWork<'_>, before: &Loaded, after: &CountedDay) -> Result<Raised> {
        let whole = work.whole().filter(|_| !before.has_whole(work)).map(|whole| (whole, &before.whole.stats));
        // The clicks of a part may all have been counted before its day was split.
        let counted = Some((work.slice, &after.stats)).filter(|(_, stats)| stats.profile.clicks > 0);
        let mut totals = before.totals.clone();
        for (slice, stats) in whole.into_iter().chain(counted) {
            match self.raise_total(work, slice, &before.totals, stats).await? {
                Raised::To(raised) => totals = raised,
                other => return Ok(other),
            }
        }
        Ok(Raised::To(totals))
    }

    /// Counts clicks of a day that may be in the past, in one transaction of the day, the total and the past.
    async fn count_late(
        &self,
        work: &DayWork<'_>,
        before: &Loaded,
        after: &CountedDay,
        fresh: &[&ClassifiedClick],
    ) -> Result<Raised> {
        let (Loaded { day, whole, totals, .. }, slice) = (before, work.slice);
        let mut actions = vec![self.put_day_action(work.link, slice, after)?];
        let mut change = TotalChange::of(totals);
        change.note_click(totals, after.stats.last_click_at);
        if let Some(until) = totals.past_until.filter(|until| slice.day < *until) {
            let Some(mut past) = self.past(work.link).await? else { return Ok(Raised::Contended) };
            for ClassifiedClick { click, client } in fresh {
                past.count(click.clicked_at(), &click.visitor, client);
            }
            actions.push(self.table.put(&PastItem::new(work.link, &past))?);
            change.set(&"past_clicks", number(&past.profile.clicks));
            let late = (slice.day, ClickCount::from(&after.stats).since((&day.stats).into()));
            let history = totals.history.iter().map(|(day, count)| (*day, *count)).chain([late]);
            change.set_history(until, &Totals::history_until(until, history));
        } else {
            change.set_slice(slice, (&after.stats).into());
            if let Some(slice) = work.whole().filter(|_| whole.stats.profile.clicks > 0) {
                change.set_slice(slice, (&whole.stats).into());
            }
        }
        actions.push(self.change_total(work.workspace, work.link, change)?);
        if self.transact(COUNT, actions).await? == CommitOutcome::Contended {
            return Ok(Raised::Contended);
        }
        // Read again, since other days may have been counted meanwhile, and a milestone must not be missed between them.
        let (totals, is_purged) = self.total(work.workspace, work.link).await?;
        Ok(if is_purged { Raised::Purged } else { Raised::To(totals) })
    }

    /// A transaction action that writes a day if it is the version before this one.
    pub(super) fn put_day_action(
        &self,
        link: &LinkId,
        slice: DaySlice,
        after: &CountedDay,
    ) -> Result<TransactWriteItem> {
        let item = DayItem::new(link, slice, after);
        match after.version {
            1 => self.table.put_new(&item),
            version => self.table.put_if(&item, SAME_VERSION, [(":before", number(&(version - 1)))]),
        }
    }

    pub(super) async fn past(&self, link: &LinkId) -> Result<Option<Rollup>> {
        let item = self.table.get::<PastItem>(LOAD, past_key(link)).await?;
        item.map(Rollup::try_from).transpose().map_err(RepositoryError::unexpected_item(LOAD))
    }

    /// Writes the milestones that a link has reached and that nobody has written, and then notes that they are written. Nobody is
    /// told of milestones that imported clicks have reached.
    async fn announce(&self, work: &DayWork<'_>, totals: &Totals, fresh: &[&ClassifiedClick]) -> Result<Announced> {
        let milestones: Vec<u64> = totals.unannounced().collect();
        let Some(highest) = milestones.last() else { return Ok(Announced::Yes) };
        let clicks = if fresh.is_empty() { work.clicks } else { fresh };
        for milestone in &milestones {
            let total_clicks = totals.total_clicks();
            let click = &reaching(clicks, total_clicks - milestone).click;
            self.put_milestone(&Milestone::reached_by(click, *milestone, total_clicks), click.visitor.imported).await?;
        }
        self.note_announced(work.workspace, work.link, *highest).await
    }

    /// Writes a milestone unless it exists. Writing it publishes its event, unless it is quiet.
    pub(super) async fn put_milestone(&self, milestone: &Milestone, is_quiet: bool) -> Result<()> {
        let put = self.table.put_item("write a milestone", &MilestoneItem::new(milestone, is_quiet))?;
        put.only_if(IS_NEW).unless_refused().await.map(|_| ())
    }
}

/// The condition that an item has not been written since it was read.
const SAME_VERSION: &str = "version = :before";

/// The next version of a day, whose ids have to be moved before it is written.
fn without_ids(before: &CountedDay) -> CountedDay {
    let moved = before.moved.clone().with(&before.ids);
    CountedDay { version: before.version + 1, ids: BTreeSet::new(), moved, ..before.clone() }
}

/// A day with more clicks and their ids. Ids that don't fit beside them have to be moved before it is written.
fn with_clicks(before: &CountedDay, fresh: &[&ClassifiedClick]) -> CountedDay {
    let mut after = if before.ids.len() + fresh.len() > StatsTable::KEPT_IDS {
        without_ids(before)
    } else {
        CountedDay { version: before.version + 1, ..before.clone() }
    };
    for ClassifiedClick { click, client } in fresh {
        after.stats.count(click.clicked_at(), &click.visitor, client);
        after.ids.insert(click.id);
    }
    after
}

/// The click with which a link had `later` clicks fewer than with the last of these; at least the first.
fn reaching<'c>(clicks: &[&'c ClassifiedClick], later: u64) -> &'c ClassifiedClick {
    let later = usize::try_from(later).unwrap_or(usize::MAX);
    clicks[clicks.len().saturating_sub(1).saturating_sub(later)]
}

/// The total, the day or its part, and for a part the day as well.
fn keys_of(work: &DayWork<'_>) -> impl Iterator<Item = Key> {
    let slices = [Some(work.slice), work.whole()].into_iter().flatten();
    slices.map(|slice| slice_key(work.link, slice)).chain([total_key(work.workspace, work.link)])
}

/// Takes the day from the items that were read. What several works may share stays there.
fn loaded(work: &DayWork<'_>, items: &mut HashMap<Key, Item>) -> Result<Loaded> {
    let day = items.remove(&slice_key(work.link, work.slice));
    let whole = work.whole().and_then(|whole| items.get(&slice_key(work.link, whole)).cloned());
    let total = items.get(&total_key(work.workspace, work.link));
    let (totals, is_purged) = total.cloned().map(total_of).transpose()?.unwrap_or_default();
    Ok(Loaded { day: counted_day(day)?, whole: counted_day(whole)?, totals, is_purged })
}

fn counted_day(item: Option<Item>) -> Result<CountedDay> {
    let item = item.map(|item| from_item::<DayItem>(LOAD, item)).transpose()?;
    let day = item.map(CountedDay::try_from).transpose().map_err(RepositoryError::unexpected_item(LOAD))?;
    Ok(day.unwrap_or_default())
}

/// Whether DynamoDB refuses a write because an item or table gets more than it takes. It is then retried after a pause, since the
/// message would come again only minutes later.
fn is_throttled(error: &PutItemError) -> bool {
    matches!(error, PutItemError::ProvisionedThroughputExceededException(_) | PutItemError::RequestLimitExceeded(_))
}
