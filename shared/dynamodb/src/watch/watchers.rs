//! Watchers: links that watch their destination.
//!
//! A watcher's item has the latest that is known of the link. It is written in one transaction with the change of the target:
//! its count of watchers, its creation or its deletion. So each link counts once, however often and in whichever order its
//! messages arrive: [`Watcher::merged`] decides what a message changes. The item stays for a while after the link has stopped
//! watching, since a message about its beginning may come after the one about its end, and must not create a target that
//! nothing would delete.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{CorrelationId, EventId, LinkId, Target, TargetId, Timestamp, Watcher, WatcherState};

use super::item::{TargetItem, WatcherItem, target_key, watcher_key, watcher_partition};
use super::{WatchTable, WriteOutcome};
use crate::item::{SortKeys, from_item, number, size, text};
use crate::transaction::retry_on_conflict;
use crate::{ByteBudget, RepositoryError, Result};

const WATCH: &str = "watch a link's target";
const UNWATCH: &str = "end watching a link's target";

/// What became of a link that is to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchOutcome {
    /// All that is known of the link is stored.
    Done,
    /// The link doesn't watch, since its workspace has as many targets as it may.
    NoRoom,
}

impl WatchTable {
    /// Adds a link to a target's watchers, and creates the target if it doesn't exist. A link that was removed isn't added
    /// again, nor one that has expired at this time or later.
    ///
    /// In a workspace without room for the target, the link is stored as paused from this time on. So the message may be
    /// repeated, and only a later one can have the link watch.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn watch(
        &self,
        target: &Target,
        link: &LinkId,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<WatchOutcome> {
        let message = Watcher { state: WatcherState::Watching, changed_at: at };
        retry_on_conflict(WATCH, async || {
            let known = self.watcher(&target.id, link).await?;
            let Some(write) = self.watcher_write(&target.id, link, known, message)? else {
                return Ok(Some(WatchOutcome::Done));
            };
            let (mut actions, mut count_in) = (vec![write], Vec::new());
            if !known.is_some_and(Watcher::is_watching) {
                actions.push(match self.find(&target.id).await? {
                    Some(found) => self.increment_watchers(&found.id)?,
                    None => {
                        count_in = self.count_in(target)?;
                        let target = Target { watchers: 1, registered: false, ..target.clone() };
                        self.table.put_new(&TargetItem::new(&target, EventId::generate(), correlation_id))?
                    }
                });
            }
            Ok(match self.send(WATCH, actions, count_in).await? {
                WriteOutcome::Committed => Some(WatchOutcome::Done),
                WriteOutcome::NotNow => None,
                WriteOutcome::Full => self.refuse(target, link, known, message.changed_at).await?,
            })
        })
        .await
    }

    /// Stores that a link doesn't watch, since its workspace has no room for the target.
    async fn refuse(
        &self,
        target: &Target,
        link: &LinkId,
        known: Option<Watcher>,
        at: Timestamp,
    ) -> Result<Option<WatchOutcome>> {
        let refusal = Watcher { state: WatcherState::Paused, changed_at: at };
        let Some(write) = self.watcher_write(&target.id, link, known, refusal)? else {
            return Ok(Some(WatchOutcome::Done));
        };
        Ok(self.commit(WATCH, vec![write]).await?.map(|()| WatchOutcome::NoRoom))
    }

    /// Removes a link from a target's watchers because it has expired, unless it is known to have begun to watch later. It can
    /// begin again. The target is deleted with its last watcher, unless it is registered.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn pause(&self, id: &TargetId, link: &LinkId, at: Timestamp) -> Result<()> {
        self.stop(id, link, Watcher { state: WatcherState::Paused, changed_at: at }).await
    }

    /// Removes a link from a target's watchers for ever because it was removed. The target is deleted with its last watcher,
    /// unless it is registered.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn unwatch(&self, id: &TargetId, link: &LinkId, at: Timestamp) -> Result<()> {
        self.stop(id, link, Watcher { state: WatcherState::Ended, changed_at: at }).await
    }

    async fn stop(&self, id: &TargetId, link: &LinkId, message: Watcher) -> Result<()> {
        retry_on_conflict(UNWATCH, async || {
            let known = self.watcher(id, link).await?;
            let Some(write) = self.watcher_write(id, link, known, message)? else { return Ok(Some(())) };
            let mut actions = vec![write];
            if known.is_some_and(Watcher::is_watching)
                && let Some(target) = self.find(id).await?
            {
                actions.extend(self.decrement_watchers(&target)?);
            }
            self.commit(UNWATCH, actions).await
        })
        .await
    }

    /// The links that watch a target, as far as a budget goes, and whether these are all.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn watchers(&self, id: &TargetId, budget: &ByteBudget) -> Result<(Vec<LinkId>, bool)> {
        const OPERATION: &str = "list the links that watch a target";
        let query = self.table.query(&watcher_partition(id), SortKeys::All);
        let (mut answers, mut links) = (self.table.query_answers(OPERATION, query), Vec::new());
        while !answers.is_at_end && budget.take() {
            let items = answers.next().await?.unwrap_or_default();
            budget.give_back(items.iter().map(size).sum());
            for item in items {
                let item: WatcherItem = from_item(OPERATION, item)?;
                links.extend(item.watching_link().map_err(RepositoryError::unexpected_item(OPERATION))?);
            }
        }
        Ok((links, answers.is_at_end))
    }

    /// What is known of a link that watches a target, or did.
    async fn watcher(&self, id: &TargetId, link: &LinkId) -> Result<Option<Watcher>> {
        Ok(self.table.get::<WatcherItem>("look up a watcher", watcher_key(id, link)).await?.map(|item| item.value))
    }

    /// The action that writes what is known of a link after a message, unless another message was faster. `None` if the message
    /// says nothing new.
    fn watcher_write(
        &self,
        id: &TargetId,
        link: &LinkId,
        known: Option<Watcher>,
        message: Watcher,
    ) -> Result<Option<TransactWriteItem>> {
        let item = |watcher| WatcherItem::new(id, link, watcher);
        let Some(known) = known else { return self.table.put_new(&item(message)).map(Some) };
        let merged = known.merged(message);
        if merged == known {
            return Ok(None);
        }
        let values = [(":state", text(&known.state)), (":at", text(&known.changed_at))];
        self.table.put_if(&item(merged), "link_state = :state AND changed_at = :at", values).map(Some)
    }

    fn increment_watchers(&self, id: &TargetId) -> Result<TransactWriteItem> {
        let update = self.table.update(WATCH, target_key(id), "ADD watchers :one").only_if("attribute_exists(pk)");
        update.value(":one", number(&1)).action()
    }

    /// The actions that decrement the count of watchers, or delete a target without other watchers that isn't registered. They
    /// are refused if the target has changed since it was read in a way that matters.
    fn decrement_watchers(&self, target: &Target) -> Result<Vec<TransactWriteItem>> {
        if target.registered || target.watchers > 1 {
            let values = [(":less", number(&-1)), (":one", number(&1)), (":yes", AttributeValue::Bool(true))];
            let stays = "watchers > :one OR (watchers = :one AND registered = :yes)";
            let update = self.table.update(UNWATCH, target_key(&target.id), "ADD watchers :less");
            return Ok(vec![update.only_if(stays).values(values).action()?]);
        }
        let delete = self
            .table
            .delete(UNWATCH, target_key(&target.id))
            .only_if("watchers = :one AND registered = :no")
            .values([(":one", number(&1)), (":no", AttributeValue::Bool(false))]);
        Ok([delete.action()?].into_iter().chain(self.count_out(target)?).collect())
    }
}
