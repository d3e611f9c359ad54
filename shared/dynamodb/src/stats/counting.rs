//! Counting: each click once, by one write of its day.
//!
//! The order of the steps is what makes it exact:
//!
//! 1. Read the day with the ids of its latest clicks; then, for clicks that may be older than these, the ids that have left it.
//! 2. If the new clicks' ids don't fit into the day beside the old ones, copy the old ones to where ids go.
//! 3. Write the day with the new clicks and their ids, if it is the version that was read. Now they are counted.
//! 4. Raise the number of the day in the link's total.
//! 5. Write the milestones that the total has reached.
//!
//! Ids leave a day's item only after they were copied (2), and are looked for elsewhere only after the day was read (1). So each
//! counted id is found. A consumer that dies before step 3 has counted nothing. If it dies later, the message comes again, its
//! click is found to be counted, and steps 4 and 5 are done again; the next click of the day does the same.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::put_item::PutItemError,
    primitives::Blob,
    types::{AttributeValue, TransactWriteItem},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    Click, ClickCount, ClickId, Client, Day, LinkId, Past, Timestamp, Totals, WorkspaceId, is_recent,
};

use super::{
    CommitOutcome, Milestone, StatsTable,
    ids::{Bucket, buckets_for, buckets_of},
    item::{
        CountedDay, DayItem, MilestoneItem, PastItem, SEEN_FOR, day_key, ids_in_bucket, packed, past_key, total_key,
    },
    totals::{Announced, Raised, TotalChange, total_of},
};
use crate::{
    RepositoryError,
    item::{IS_NEW, Item, Key, from_item, number, to_item},
};

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
    /// The day.
    pub day: Day,
    /// The clicks to count, at least one, each once, in the order in which they happened.
    pub clicks: &'a [&'a ClassifiedClick],
}

/// What counting reads before it writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    day: CountedDay,
    totals: Totals,
    is_purged: bool,
}

impl Loaded {
    /// What was read, with the counts of the link as they are by now, as an earlier day of the link has left them.
    #[must_use]
    pub fn with_totals(self, totals: Totals) -> Self {
        Self { totals, ..self }
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

    /// How many writes of ids are under way at a time.
    const CONCURRENT_MOVES: usize = 24;

    /// Reads what counting needs, consistently and with as few calls as possible: for each day its item and the link's total.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn load(&self, works: &[DayWork<'_>]) -> Result<Vec<Loaded>, RepositoryError> {
        let keys: BTreeSet<(String, String)> = works.iter().flat_map(keys_of).map(|key| (key.pk, key.sk)).collect();
        let keys: Vec<Key> = keys.into_iter().map(|(pk, sk)| Key { pk, sk }).collect();
        let chunks = keys.chunks(Self::MAX_BATCH).map(|keys| self.0.batch_get(LOAD, keys.to_vec(), true, None));
        let found = futures_util::future::try_join_all(chunks).await?;
        let mut by_key: HashMap<(String, String), Item> =
            found.into_iter().flatten().filter_map(|item| Some((key_of(&item)?, item))).collect();
        works.iter().map(|work| loaded(work, &mut by_key)).collect()
    }

    /// Counts clicks of a day that was loaded.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; whether the clicks are counted is then unknown, and counting them again is safe.
    pub async fn count(
        &self,
        work: &DayWork<'_>,
        before: Loaded,
        now: Timestamp,
    ) -> Result<DayOutcome, RepositoryError> {
        if before.is_purged {
            return Ok(DayOutcome::Purged);
        }
        let known = self.counted_ids(work, &before.day).await?;
        let fresh: Vec<&ClassifiedClick> =
            work.clicks.iter().filter(|one| !known.contains(&one.click.id)).copied().collect();
        let is_recent = is_recent(work.day, now.day());
        let raised = if fresh.is_empty() {
            self.repair_total(work, before).await?
        } else {
            let after = with_clicks(&before.day, &fresh);
            self.move_ids(work.link, &before.day, &after, now).await?;
            if is_recent {
                if self.put_day(work, &after).await? == CommitOutcome::Contended {
                    return Ok(DayOutcome::Contended { fresh: 0 });
                }
                self.raise_total(work, &before.totals, &after.stats).await?
            } else {
                self.count_late(work, &before.totals, &after, &fresh).await?
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

    /// The ids of counted clicks, among them all of the work's clicks that were counted. The day must have been read before.
    async fn counted_ids(&self, work: &DayWork<'_>, day: &CountedDay) -> Result<BTreeSet<ClickId>, RepositoryError> {
        let unknown = work.clicks.iter().map(|one| one.click.id).filter(|id| !day.ids.contains(id));
        let buckets: Vec<Bucket> = buckets_of(day, unknown).into_iter().collect();
        let mut known = day.ids.clone();
        for chunk in buckets.chunks(Self::MAX_BATCH) {
            let keys = chunk.iter().map(|bucket| bucket.key(work.link)).collect();
            for item in self.0.batch_get(LOAD, keys, true, None).await? {
                known.extend(ids_in_bucket(&item).map_err(RepositoryError::unexpected_item(LOAD))?);
            }
        }
        Ok(known)
    }

    /// Copies the ids that `after` no longer has to where they are looked for then. Repeating it changes nothing.
    async fn move_ids(
        &self,
        link: &LinkId,
        before: &CountedDay,
        after: &CountedDay,
        now: Timestamp,
    ) -> Result<(), RepositoryError> {
        if after.moved == before.moved {
            return Ok(());
        }
        let version = before.version;
        let moves =
            buckets_for(before).into_iter().map(|(bucket, ids)| self.add_ids(bucket.key(link), version, ids, now));
        stream::iter(moves).buffer_unordered(Self::CONCURRENT_MOVES).try_collect::<()>().await
    }

    async fn add_ids(
        &self,
        bucket: Key,
        version: u64,
        ids: BTreeSet<ClickId>,
        now: Timestamp,
    ) -> Result<(), RepositoryError> {
        let update = self
            .0
            .update("keep the ids of counted clicks", bucket, "SET #ttl = :ttl, #version = :ids")
            .placeholder("version", version.to_string())
            .value(":ttl", number(&now.plus(SEEN_FOR).unix_seconds()))
            .value(":ids", AttributeValue::B(Blob::new(packed(&ids).into_vec())));
        update.send().await.map(|_| ())
    }

    /// Writes a day if it is the version before this one.
    async fn put_day(&self, work: &DayWork<'_>, after: &CountedDay) -> Result<CommitOutcome, RepositoryError> {
        let item = to_item(COUNT, &DayItem::new(work.link, work.day, after))?;
        let put = self.0.client.put_item().table_name(&self.0.name).set_item(Some(item));
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
    async fn repair_total(&self, work: &DayWork<'_>, before: Loaded) -> Result<Raised, RepositoryError> {
        if before.totals.includes(work.day, before.day.stats.profile.clicks) {
            return Ok(Raised::To(before.totals));
        }
        self.raise_total(work, &before.totals, &before.day.stats).await
    }

    /// Counts clicks of a day that may be in the past, in one transaction of the day, the total and the past.
    async fn count_late(
        &self,
        work: &DayWork<'_>,
        before: &Totals,
        after: &CountedDay,
        fresh: &[&ClassifiedClick],
    ) -> Result<Raised, RepositoryError> {
        let mut actions = vec![self.put_day_action(work.link, work.day, after)?];
        let mut change = TotalChange::of(before);
        change.note_click(before, after.stats.last_click_at);
        if let Some(until) = before.past_until.filter(|until| work.day < *until) {
            let Some(mut past) = self.past(work.link).await? else { return Ok(Raised::Contended) };
            for ClassifiedClick { click, client } in fresh {
                past.count(click.clicked_at(), &click.visitor, client);
            }
            actions.push(self.0.put(COUNT, &PastItem::new(work.link, &past))?);
            change.set(&"past_clicks", number(&past.profile.clicks));
            let late = (work.day, ClickCount::from(&after.stats));
            let history = before.history.iter().map(|(day, count)| (*day, *count)).chain([late]);
            change.set_history(until, &Totals::history_until(until, history));
        } else {
            change.set_day(work.day, (&after.stats).into());
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
        day: Day,
        after: &CountedDay,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let item = DayItem::new(link, day, after);
        match after.version {
            1 => self.0.put_new(COUNT, &item),
            version => self.0.put_if(COUNT, &item, SAME_VERSION, [(":before", number(&(version - 1)))]),
        }
    }

    pub(super) async fn past(&self, link: &LinkId) -> Result<Option<Past>, RepositoryError> {
        let item = self.0.get::<PastItem>(LOAD, past_key(link)).await?;
        item.map(Past::try_from).transpose().map_err(RepositoryError::unexpected_item(LOAD))
    }

    /// Writes the milestones that a link has reached and that nobody has written, and then notes that they are written.
    async fn announce(
        &self,
        work: &DayWork<'_>,
        totals: &Totals,
        fresh: &[&ClassifiedClick],
    ) -> Result<Announced, RepositoryError> {
        let milestones: Vec<u64> = totals.unannounced().collect();
        let Some(highest) = milestones.last() else { return Ok(Announced::Yes) };
        let clicks = if fresh.is_empty() { work.clicks } else { fresh };
        for milestone in &milestones {
            let total_clicks = totals.total_clicks();
            let click = &reaching(clicks, total_clicks - milestone).click;
            self.put_milestone(&Milestone::reached_by(click, *milestone, total_clicks)).await?;
        }
        self.note_announced(work.workspace, work.link, *highest).await
    }

    /// Writes a milestone unless it exists. Writing it publishes its event.
    pub(super) async fn put_milestone(&self, milestone: &Milestone) -> Result<(), RepositoryError> {
        let put = self.0.put_item("write a milestone", &MilestoneItem::new(milestone))?;
        put.only_if(IS_NEW).unless_refused().await.map(|_| ())
    }
}

/// The condition that an item has not been written since it was read.
const SAME_VERSION: &str = "version = :before";

/// A day with more clicks and their ids. Ids that don't fit beside them have to be moved before it is written.
fn with_clicks(before: &CountedDay, fresh: &[&ClassifiedClick]) -> CountedDay {
    let mut after = CountedDay { version: before.version + 1, ..before.clone() };
    if before.ids.len() + fresh.len() > StatsTable::KEPT_IDS {
        after.ids.clear();
        after.moved += before.ids.len() as u64;
        after.moved_until = before.moved_until.max(before.ids.last().copied());
    }
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

fn keys_of(work: &DayWork<'_>) -> [Key; 2] {
    [total_key(work.workspace, work.link), day_key(work.link, work.day)]
}

fn key_of(item: &Item) -> Option<(String, String)> {
    Some((item.get("pk")?.as_s().ok()?.clone(), item.get("sk")?.as_s().ok()?.clone()))
}

/// Takes the day from the items that were read. The total stays, since several days may share it.
fn loaded(work: &DayWork<'_>, items: &mut HashMap<(String, String), Item>) -> Result<Loaded, RepositoryError> {
    let [total, day] = keys_of(work).map(|key| (key.pk, key.sk));
    let (totals, is_purged) = items.get(&total).cloned().map(total_of).transpose()?.unwrap_or_default();
    let day = items.remove(&day).map(|item| from_item::<DayItem>(LOAD, item)).transpose()?;
    let day = day.map(CountedDay::try_from).transpose().map_err(RepositoryError::unexpected_item(LOAD))?;
    Ok(Loaded { day: day.unwrap_or_default(), totals, is_purged })
}

/// Whether DynamoDB refuses a write because an item or table gets more than it takes. It is then retried after a pause, since the
/// message would come again only minutes later.
fn is_throttled(error: &PutItemError) -> bool {
    matches!(error, PutItemError::ProvisionedThroughputExceededException(_) | PutItemError::RequestLimitExceeded(_))
}
