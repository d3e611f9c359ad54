//! The events of a link, made from what the stream says of its writes.

use std::time::Duration;

use linklet_domain::{
    Changer, CorrelationId, Event, EventDetail, EventId, Link, LinkChanges, LinkEvent, LinkIdentity, LinkState,
    RemovalReason, TargetId, Timestamp, Tombstone, UrlCreated, UrlDeleted, UrlExhausted, UrlResumed, UrlSuspended,
    UrlUpdated, UserId,
};

use super::item::{LinkItem, TombstoneItem};

impl LinkItem {
    /// The `url.created` event of a new link.
    pub(crate) fn created_event(self) -> Event {
        Event {
            event_id: self.last_write.id.clone(),
            occurred_at: self.created_at,
            correlation_id: self.last_write.correlation_id.clone(),
            workspace_id: self.identity.workspace,
            detail: EventDetail::UrlCreated(UrlCreated { quiet: self.quiet, ..state_of_link(self.into_link()) }),
        }
    }

    /// The events of the change from `before` to this item. A write of several members may have several.
    pub(crate) fn changed_events(self, before: Self) -> Vec<Event> {
        let change = LinkChange {
            id: self.last_write.id.clone(),
            correlation_id: self.last_write.correlation_id.clone(),
            deleted_by: self.deleted_by,
            by: self.changed_by.clone(),
            before: before.into_link(),
            after: self.into_link(),
        };
        change.events()
    }
}

impl TombstoneItem {
    /// The event of a new tombstone.
    pub(crate) fn removed_event(self) -> Event {
        let Self { tombstone: Tombstone { identity, reason, removed_at, watched_target, last_write, .. }, .. } = self;
        let LinkIdentity { id: link, workspace: workspace_id, owner: user_id } = identity;
        let by = self.purged_by;
        Event {
            event_id: last_write.id,
            occurred_at: removed_at,
            correlation_id: last_write.correlation_id,
            workspace_id,
            detail: match reason {
                RemovalReason::Purged => EventDetail::UrlPurged(LinkEvent { link, user_id, by, watched_target }),
                RemovalReason::Deleted | RemovalReason::Expired => {
                    EventDetail::UrlRemoved(LinkEvent { link, user_id, by, watched_target: None })
                }
            },
        }
    }
}

/// A change of a link that stays a link.
struct LinkChange {
    id: EventId,
    correlation_id: CorrelationId,
    deleted_by: Option<UserId>,
    by: Option<Changer>,
    before: Link,
    after: Link,
}

impl LinkChange {
    fn events(&self) -> Vec<Event> {
        [
            self.updated(),
            self.switched(),
            self.unwatched(),
            self.extended(),
            self.expired(),
            self.exhausted(),
            self.suspended(),
            self.resumed(),
            self.deleted(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn event(&self, kind: &'static str, occurred_at: Timestamp, detail: EventDetail) -> Event {
        Event {
            event_id: EventId::of_change(&self.id, kind),
            occurred_at,
            correlation_id: self.correlation_id.clone(),
            workspace_id: self.after.identity.workspace,
            detail,
        }
    }

    fn link_event(&self, watched_target: Option<TargetId>) -> LinkEvent {
        let (link, user_id) = (self.after.id().clone(), self.after.identity.owner);
        LinkEvent { link, user_id, by: None, watched_target }
    }

    fn updated(&self) -> Option<Event> {
        let changes = LinkChanges::between(&self.before, &self.after)?;
        let (link, user_id) = (self.after.id().clone(), self.after.identity.owner);
        let watch = watches(&self.after) && !self.after.expiry_is_published;
        let detail =
            EventDetail::UrlUpdated(Box::new(UrlUpdated { link, user_id, changes, by: self.by.clone(), watch }));
        Some(self.event("updated", self.after.updated_at, detail))
    }

    fn switched(&self) -> Option<Event> {
        let switched = LinkEvent { by: self.by.clone(), ..self.link_event(None) };
        let (kind, detail) = match (self.before.availability.state, self.after.availability.state) {
            (LinkState::Inactive, LinkState::Active) => ("activated", EventDetail::UrlActivated(switched)),
            (LinkState::Active, LinkState::Inactive) => ("deactivated", EventDetail::UrlDeactivated(switched)),
            _ => return None,
        };
        Some(self.event(kind, self.after.updated_at, detail))
    }

    fn unwatched(&self) -> Option<Event> {
        let watched_target = self.before.watched_target().filter(|_| !self.after.watch)?;
        let detail = EventDetail::UrlUnwatched(self.link_event(Some(watched_target)));
        Some(self.event("unwatched", self.after.updated_at, detail))
    }

    /// The link is watched again, or from now on. The clocks of two hosts differ, and a watch begins again only after it has ended. So
    /// the event is later than the expiry in any case.
    fn extended(&self) -> Option<Event> {
        let (before, after) = (&self.before, &self.after);
        if after.expiry_is_published || !before.expiry_is_published && (before.watch || !after.watch) {
            return None;
        }
        let expired_at = before.availability.expires_at.filter(|_| before.expiry_is_published);
        let resumes_at = expired_at.map(|expired_at| expired_at.plus(Duration::from_millis(1)));
        let occurred_at = resumes_at.map_or(after.updated_at, |resumes_at| after.updated_at.max(resumes_at));
        let detail = EventDetail::UrlExtended(state_of_link(self.after.clone()));
        Some(self.event("extended", occurred_at, detail))
    }

    fn expired(&self) -> Option<Event> {
        let is_expired = !self.before.expiry_is_published && self.after.expiry_is_published;
        let expired_at = self.before.availability.expires_at.filter(|_| is_expired)?;
        let detail = EventDetail::UrlExpired(self.link_event(self.after.watched_target()));
        // Whoever has changed meanwhile what the link watches has done that before the watch ends.
        let changed_at = Some(self.after.updated_at).filter(|changed| *changed != self.after.created_at);
        Some(self.event("expired", expired_at.max(changed_at.unwrap_or(expired_at)), detail))
    }

    fn exhausted(&self) -> Option<Event> {
        let exhausted_at =
            self.after.availability.exhausted_at.filter(|_| self.before.availability.exhausted_at.is_none())?;
        let detail = EventDetail::UrlExhausted(UrlExhausted {
            link: self.after.id().clone(),
            user_id: self.after.identity.owner,
            max_clicks: self.after.options.max_clicks?,
        });
        Some(self.event("exhausted", exhausted_at, detail))
    }

    fn suspended(&self) -> Option<Event> {
        let (was, is) = (self.before.availability.suspensions, self.after.availability.suspensions);
        let added = is.without(was);
        let link = self.link_event(self.after.watched_target().filter(|_| was.is_empty()));
        let suspended = UrlSuspended { link, reasons: added.by_operators() };
        (!added.is_empty()).then(|| self.event("suspended", self.written_at(), EventDetail::UrlSuspended(suspended)))
    }

    /// A link that has expired meanwhile goes on as one that has: it isn't watched again, also if its expiry is yet to be published.
    fn resumed(&self) -> Option<Event> {
        let (was, is) = (self.before.availability.suspensions, self.after.availability.suspensions);
        let lifted = was.without(is);
        if lifted.is_empty() {
            return None;
        }
        let at = self.written_at();
        let has_expired = self.after.availability.expires_at.is_some_and(|expiry| expiry <= at);
        let state = state_of_link(self.after.clone());
        let link = UrlCreated { watch: state.watch && !has_expired, ..state };
        let resumed = UrlResumed { link, reasons: lifted.by_operators(), still_suspended: !is.is_empty() };
        Some(self.event("resumed", at, EventDetail::UrlResumed(resumed)))
    }

    /// When a change was written that is none of the link's people, and so has no time of its own: the id of the change has it. It comes
    /// after the change of the link before it, whichever clock has measured that.
    fn written_at(&self) -> Timestamp {
        let after_the_change_before = self.after.updated_at.plus(Duration::from_millis(1));
        self.id.generated_at().map_or(after_the_change_before, |at| at.max(after_the_change_before))
    }

    fn deleted(&self) -> Option<Event> {
        let LinkState::Deleted(deleted_at) = self.after.availability.state else { return None };
        if self.before.availability.is_deleted() {
            return None;
        }
        let detail = EventDetail::UrlDeleted(UrlDeleted {
            link: self.after.id().clone(),
            original_url: self.after.target.clone(),
            user_id: self.after.identity.owner,
            deleted_by: self.deleted_by.unwrap_or(self.after.identity.owner),
            by: self.by.clone(),
            watched_target: self.before.watched_target(),
        });
        Some(self.event("deleted", deleted_at, detail))
    }
}

/// Whether a link watches where it leads, as long as it hasn't expired.
fn watches(link: &Link) -> bool {
    link.watched_target().is_some() && link.availability.suspensions.is_empty()
}

/// All that consumers have to know of a link that redirects from now on.
fn state_of_link(link: Link) -> UrlCreated {
    UrlCreated {
        watch: link.watch && link.availability.suspensions.is_empty(),
        link: link.identity.id,
        original_url: link.target,
        user_id: link.identity.owner,
        expires_at: link.availability.expires_at,
        quiet: false,
    }
}
