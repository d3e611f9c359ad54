//! Adds links to the watchers of their targets when they are created, begin to watch, are extended or no longer suspended, and removes
//! them when they are deleted, expire, are suspended or stop watching.
//!
//! The records of LinksTable's stream are processed in their order, which is kept for each link. They may come again, and after
//! a redrive in another order. The table stores which links watch and which have stopped, so that changes nothing.

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use aws_lambda_events::streams::DynamoDbEventResponse;
use linklet_domain::{
    Event, EventDetail, Invalid, LinkEvent, LinkId, Target, TargetId, TargetUrl, Transition, UrlCreated, UrlDeleted,
    UrlResumed, UrlSuspended, UrlUpdated, UserId,
};
use linklet_dynamodb::{Result, WatchOutcome, WatchTable, Workspaces};
use linklet_lambda::batch::{Consumer, DeadLetterQueue};
use linklet_lambda::stream;
use linklet_lambda::telemetry::{chain, span_of};
use tracing::Instrument as _;

/// The consumer of LinksTable's stream. It ignores links that don't watch, which the filter of the event source leaves out.
pub struct WatchLinks {
    /// The repository of targets.
    pub targets: WatchTable,
    /// Knows who created a workspace.
    pub users: Workspaces,
    /// The dead-letter queue, for records that can't be read or whose URL can't be monitored.
    pub dead_letters: DeadLetterQueue,
}

impl stream::InOrder for WatchLinks {
    async fn process(&self, record: &EventRecord) -> bool {
        let events = match stream::read(record) {
            Ok(change) => change.into_events(),
            Err(error) => return stream::park_unreadable(&self.dead_letters, record, &error).await,
        };
        for event in &events {
            if !self.process_event(record, event).instrument(span_of(&event.correlation_id)).await {
                return false;
            }
        }
        true
    }
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for WatchLinks {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        stream::one_by_one(batch, self).await
    }
}

/// The change of a target's watchers that an event causes.
enum WatcherChange {
    /// The link starts watching the target.
    Added(Box<Target>, LinkId),
    /// The link stops watching the target, and may start again.
    Paused(TargetId, LinkId),
    /// The link stops watching the target for ever.
    Removed(TargetId, LinkId),
}

/// The changes that an event causes; none if the link doesn't watch.
fn watcher_changes(event: &Event) -> Result<Vec<WatcherChange>, Invalid> {
    Ok(match &event.detail {
        EventDetail::UrlCreated(created @ UrlCreated { watch: true, link, .. })
        | EventDetail::UrlExtended(created @ UrlCreated { watch: true, link, .. })
        | EventDetail::UrlResumed(UrlResumed { link: created @ UrlCreated { watch: true, link, .. }, .. }) => {
            let UrlCreated { original_url, user_id, .. } = created.clone();
            vec![WatcherChange::Added(Box::new(target_of(event, original_url, user_id)?), link.clone())]
        }
        EventDetail::UrlExpired(LinkEvent { watched_target: Some(target), link, .. })
        | EventDetail::UrlUnwatched(LinkEvent { watched_target: Some(target), link, .. })
        | EventDetail::UrlSuspended(UrlSuspended {
            link: LinkEvent { watched_target: Some(target), link, .. }, ..
        }) => {
            vec![WatcherChange::Paused(target.clone(), link.clone())]
        }
        EventDetail::UrlDeleted(UrlDeleted { watched_target: Some(target), link, .. })
        | EventDetail::UrlPurged(LinkEvent { watched_target: Some(target), link, .. }) => {
            vec![WatcherChange::Removed(target.clone(), link.clone())]
        }
        EventDetail::UrlUpdated(updated) if updated.watch => moved(event, updated)?,
        _ => Vec::new(),
    })
}

/// The changes if a link that watches leads elsewhere. It may lead back one day, so it only pauses where it led.
fn moved(event: &Event, updated: &UrlUpdated) -> Result<Vec<WatcherChange>, Invalid> {
    let Some(Transition { from, to }) = updated.changes.of("original_url")? else { return Ok(Vec::new()) };
    let (old, link) = (TargetId::of_url(&event.workspace_id, &from)?, &updated.link);
    let new = target_of(event, to, updated.user_id)?;
    if old == new.id {
        return Ok(Vec::new());
    }
    Ok(vec![WatcherChange::Paused(old, link.clone()), WatcherChange::Added(Box::new(new), link.clone())])
}

/// The target to create for a link if its URL has none. Its owner is the link's creator, its time of creation the link's.
fn target_of(event: &Event, url: TargetUrl, owner: UserId) -> Result<Target, Invalid> {
    Target::new(url, event.workspace_id, owner, event.occurred_at)
}

impl WatchLinks {
    async fn process_event(&self, record: &EventRecord, event: &Event) -> bool {
        match watcher_changes(event) {
            Ok(changes) => {
                for change in changes {
                    if !self.update(event, change).await {
                        return false;
                    }
                }
                true
            }
            Err(error) => {
                let reason = format!("the link's URL can't be monitored: {error}");
                stream::park(&self.dead_letters, record, &reason).await
            }
        }
    }

    async fn update(&self, event: &Event, change: WatcherChange) -> bool {
        let (event_id, event_type) = (event.event_id.as_str(), event.event_type());
        let updated = self.apply(event, change).await;
        match &updated {
            Ok(()) => tracing::info!(event_id, event_type, "watchers updated"),
            Err(error) => {
                let error = chain(error);
                tracing::error!(event_id, event_type, error, "watchers could not be updated");
            }
        }
        updated.is_ok()
    }

    async fn apply(&self, event: &Event, change: WatcherChange) -> Result<()> {
        let at = event.occurred_at;
        match change {
            WatcherChange::Added(target, link) => {
                let creator = self.users.creator(&target.workspace).await?.unwrap_or(target.owner);
                let target = Target { workspace_creator: creator, ..*target };
                if self.targets.watch(&target, &link, at, &event.correlation_id).await? == WatchOutcome::NoRoom {
                    let (workspace_id, short_code) = (target.workspace.to_string(), link.code.as_str());
                    tracing::warn!(
                        workspace_id,
                        short_code,
                        "a link does not watch, since as many URLs are monitored as may be"
                    );
                }
                Ok(())
            }
            WatcherChange::Paused(target, link) => self.targets.pause(&target, &link, at).await,
            WatcherChange::Removed(target, link) => self.targets.unwatch(&target, &link, at).await,
        }
    }
}
