use std::{iter::once, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Availability, CorrelationId, EventId, LinkId, LinkMetadata, LinkPatch, LinkState, RedirectOptions, RemovalReason,
    Revision, Routing, ShortCode, SuspensionReason, Suspensions, TargetId, TargetUrl, Timestamp, UserId, Visibility,
    WorkspaceId, lifetimes, link_metadata::member,
};

/// Which link it is, and whose: what a tombstone keeps of its link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkIdentity {
    /// The code, unique over all workspaces, and which of the links with this code.
    #[serde(flatten)]
    pub id: LinkId,
    /// The workspace that owns the link.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The user who created the link and is notified about it.
    #[serde(rename = "user_id")]
    pub owner: UserId,
}

/// A write of a link or a tombstone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkWrite {
    /// What the ids of its events are made of. The next write is made only if this one still is the last.
    #[serde(rename = "change_id")]
    pub id: EventId,
    /// The correlation id of the latest request or job that has written. A write that publishes an expiry keeps it.
    pub correlation_id: CorrelationId,
}

impl LinkWrite {
    /// A new write.
    pub fn of(correlation_id: &CorrelationId) -> Self {
        Self { id: EventId::generate(), correlation_id: correlation_id.clone() }
    }
}

/// A short link with all its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Which link it is, and whose.
    pub identity: LinkIdentity,
    /// The destination.
    pub target: TargetUrl,
    /// When the link was created.
    pub created_at: Timestamp,
    /// When somebody changed the link last; at first, when it was created.
    pub updated_at: Timestamp,
    /// Whether the link leads to its destination.
    pub availability: Availability,
    /// Whether `url.expired` was published for this expiry.
    pub expiry_is_published: bool,
    /// Title, description and tags.
    pub metadata: LinkMetadata,
    /// Its redirect options.
    pub options: RedirectOptions,
    /// Where it leads some of its visitors.
    pub routing: Option<Routing>,
    /// Whether the destination is monitored until the link is deleted or expires.
    pub watch: bool,
    /// Whether lists leave the link out unless they are asked for it. It redirects as before.
    pub archived: bool,
    /// How often it was clicked in the system that it was imported from, but for clicks that were imported singly. These clicks are in no
    /// statistics. `None` if it wasn't imported.
    pub imported_clicks: Option<u64>,
    /// The host of the short URL that it had there, if that is known.
    pub imported_from: Option<String>,
    /// How often somebody has changed the link. Its clicks change nothing of it.
    pub revision: Revision,
    /// The write that has made it what it is.
    pub last_write: LinkWrite,
}

impl Link {
    /// The short code.
    pub fn code(&self) -> &ShortCode {
        &self.identity.id.code
    }

    /// What its clicks and statistics are stored under.
    pub fn id(&self) -> &LinkId {
        &self.identity.id
    }

    /// Whether the link leads everybody to its destination at any time, whatever suspends it. No other link has a reuse entry.
    pub fn is_plain(&self) -> bool {
        let unsuspended = Availability { suspensions: Suspensions::default(), ..self.availability };
        unsuspended.is_unlimited() && self.options.are_none() && self.routing.is_none()
    }

    /// Whether shortening the same URL again may return this link.
    pub fn is_reusable(&self) -> bool {
        self.is_plain() && self.availability.suspensions.is_empty()
    }

    /// Where the link leads anybody: its destination, its fallback, and those of its rules and variants.
    pub fn destinations(&self) -> impl Iterator<Item = &TargetUrl> {
        let routing = self.routing.iter();
        let rules = routing.clone().flat_map(|routing| routing.rules()).map(|rule| &rule.url);
        let variants = routing.flat_map(|routing| routing.variants()).map(|variant| &variant.url);
        once(&self.target).chain(&self.options.fallback_url).chain(rules).chain(variants)
    }

    /// Whether the link leads nowhere where it didn't lead before: what was taken away doesn't matter.
    pub fn adds_no_destination(&self, before: &Self) -> bool {
        let (routing, fallback) = (&self.routing, &self.options.fallback_url);
        let has_no_new_rule = match (routing, &before.routing) {
            (None, _) => true,
            (Some(routing), Some(before)) => routing.is_part_of(before),
            (Some(_), None) => false,
        };
        self.target == before.target
            && has_no_new_rule
            && (fallback.is_none() || *fallback == before.options.fallback_url)
    }

    /// When a change counts as made that is made at this time: later than the one before, whatever the clocks say.
    fn next_change_at(&self, at: Timestamp) -> Timestamp {
        at.max(self.updated_at.plus(Duration::from_millis(1)))
    }

    /// The link after its deletion at this time. It is found among the deleted ones, so it isn't archived.
    pub fn deleted(&self, at: Timestamp) -> Self {
        let at = self.next_change_at(at);
        Self {
            updated_at: at,
            availability: Availability { state: LinkState::Deleted(at), ..self.availability },
            archived: false,
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    /// The link with these suspensions. That is no change of the link's people, so its revision and its time stay.
    pub fn suspended(&self, suspensions: Suspensions) -> Self {
        Self { availability: Availability { suspensions, ..self.availability }, ..self.clone() }
    }

    /// The link after a change that is made at this time.
    pub fn changed_by(&self, patch: &LinkPatch, at: Timestamp) -> Self {
        let (options, was) = (&self.options, self.availability);
        let max_clicks = member(patch.max_clicks.as_ref(), &options.max_clicks);
        Self {
            target: member(patch.url.as_ref(), &self.target),
            updated_at: self.next_change_at(at),
            availability: Availability {
                state: match (was.state, patch.is_active) {
                    (LinkState::Active | LinkState::Inactive, Some(true)) => LinkState::Active,
                    (LinkState::Active | LinkState::Inactive, Some(false)) => LinkState::Inactive,
                    (state, _) => state,
                },
                valid_from: patch.valid_from.unwrap_or(was.valid_from),
                expires_at: patch.expires_at.unwrap_or(was.expires_at),
                exhausted_at: was.exhausted_at.filter(|_| max_clicks == options.max_clicks),
                is_protected: patch.is_protected.unwrap_or(was.is_protected),
                suspensions: was.suspensions,
            },
            // The same expiry again is no other one.
            expiry_is_published: self.expiry_is_published && patch.expires_at.is_none_or(|at| at == was.expires_at),
            metadata: self.metadata.changed_by(patch),
            options: RedirectOptions {
                fallback_url: member(patch.fallback_url.as_ref(), &options.fallback_url),
                max_clicks,
                forward_query: patch.forward_query.unwrap_or(options.forward_query),
                preview: member(patch.preview.as_ref(), &options.preview),
            },
            routing: member(patch.routing.as_ref(), &self.routing),
            watch: patch.watch.unwrap_or(self.watch),
            archived: patch.archived.unwrap_or(self.archived),
            revision: self.revision.next(),
            ..self.clone()
        }
    }

    /// Whether a change has left everything as it was but the time and number of the change.
    pub fn is_as(&self, before: &Self) -> bool {
        let (updated_at, revision) = (before.updated_at, before.revision);
        Self { updated_at, revision, ..self.clone() } == *before
    }

    /// The target that the link watches; `None` if it doesn't watch one or is deleted. An inactive link keeps watching, since
    /// it can be switched on again.
    pub fn watched_target(&self) -> Option<TargetId> {
        let is_watching = self.watch && !self.availability.is_deleted();
        is_watching.then(|| TargetId::of_url(&self.identity.workspace, &self.target).ok()).flatten()
    }

    /// The target that the link watches after a change, if it is another than before, or is watched for longer.
    pub fn target_watched_anew(&self, before: &Self) -> Option<TargetId> {
        let target = self.watched_target()?;
        let is_longer = match (before.availability.expires_at, self.availability.expires_at) {
            (Some(before), Some(after)) => before < after,
            (before, after) => before.is_some() && after.is_none(),
        };
        (is_longer || before.watched_target().as_ref() != Some(&target)).then_some(target)
    }

    /// The next step of the link's expiry and when it is due, if expired links are kept for this long. `None` if there is none: the
    /// link never expires, or it leads to a fallback from then on, until somebody deletes it.
    pub fn next_expiry_step(&self, kept_for: Duration) -> Option<(Timestamp, ExpiryStep)> {
        let expires_at = self.availability.expires_at?;
        let is_deleted = self.availability.is_deleted();
        if !is_deleted && !self.expiry_is_published {
            return Some((expires_at, ExpiryStep::Publish));
        }
        let is_kept = self.options.fallback_url.is_some() && !is_deleted;
        (!is_kept).then(|| (expires_at.plus(kept_for), ExpiryStep::Remove))
    }
}

/// What is left to do about a link that expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryStep {
    /// Publish `url.expired`, which also ends watching. A link that was deleted before has no such event.
    Publish,
    /// Replace the link by its tombstone.
    Remove,
}

/// What is stored for a short code: a link, or the tombstone of a removed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record<L> {
    /// A link.
    Link(L),
    /// The tombstone of a link that was removed.
    Tombstone(Tombstone),
}

/// What is stored for a code when it is that of a link: the link itself, or the part of it that was read.
pub trait StoredLink {
    /// Which link it is, and whose.
    fn identity(&self) -> &LinkIdentity;

    /// Who may see its statistics, if it says so itself.
    fn statistics(&self) -> Option<Visibility>;

    /// What suspends it.
    fn suspensions(&self) -> Suspensions;
}

impl StoredLink for Link {
    fn identity(&self) -> &LinkIdentity {
        &self.identity
    }

    fn statistics(&self) -> Option<Visibility> {
        self.metadata.statistics
    }

    fn suspensions(&self) -> Suspensions {
        self.availability.suspensions
    }
}

impl<L: StoredLink> Record<L> {
    /// Which link it is or was, and whose.
    pub fn identity(&self) -> &LinkIdentity {
        match self {
            Self::Link(link) => link.identity(),
            Self::Tombstone(tombstone) => &tombstone.identity,
        }
    }

    /// Who may see its statistics, if it says so itself.
    pub fn statistics(&self) -> Option<Visibility> {
        match self {
            Self::Link(link) => link.statistics(),
            Self::Tombstone(tombstone) => tombstone.statistics,
        }
    }

    /// Whether an operator has suspended it, also if its people have deleted it since.
    pub fn is_suspended_by_operators(&self) -> bool {
        let suspensions = match self {
            Self::Link(link) => link.suspensions(),
            Self::Tombstone(tombstone) => tombstone.suspensions,
        };
        !suspensions.by_operators().is_empty()
    }

    /// Whether a new link of this workspace can have the code.
    pub fn leaves_its_code_to(&self, workspace: &WorkspaceId) -> bool {
        matches!(self, Self::Tombstone(tombstone) if tombstone.kept_until().is_some() && tombstone.identity.workspace == *workspace)
    }

    /// Whether the link was purged: deleted with its statistics.
    pub fn is_purged(&self) -> bool {
        matches!(self, Self::Tombstone(tombstone) if tombstone.reason == RemovalReason::Purged)
    }
}

impl Record<Link> {
    /// The write that has made it what it is.
    pub fn last_write(&self) -> &LinkWrite {
        match self {
            Self::Link(link) => &link.last_write,
            Self::Tombstone(tombstone) => &tombstone.last_write,
        }
    }
}

/// What becomes of a link, or of the tombstone that has replaced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEdit {
    /// It stays as it is.
    Keep,
    /// It becomes this link.
    Change(Box<Link>),
    /// This tombstone replaces it.
    Replace(Tombstone),
}

impl LinkEdit {
    /// Deletes a link, unless it was deleted before.
    pub fn delete(link: &Link, at: Timestamp) -> Self {
        if link.availability.is_deleted() { Self::Keep } else { Self::Change(Box::new(link.deleted(at))) }
    }

    /// Purges a link, or what a deleted or expired one has left, unless it was purged before.
    pub fn purge(record: &Record<Link>, at: Timestamp) -> Self {
        if record.is_purged() { Self::Keep } else { Self::Replace(Tombstone::of_purged(record, at)) }
    }

    /// Suspends a link for a reason.
    pub fn suspend(link: &Link, reason: SuspensionReason) -> Self {
        Self::suspended(link, link.availability.suspensions.with(reason))
    }

    /// Lifts these suspensions of a link, which leads again if nothing else suspends it.
    pub fn lift(link: &Link, suspensions: Suspensions) -> Self {
        Self::suspended(link, link.availability.suspensions.without(suspensions))
    }

    /// A deleted link stays as it is, since it never leads anywhere again.
    fn suspended(link: &Link, suspensions: Suspensions) -> Self {
        if link.availability.suspensions == suspensions || link.availability.is_deleted() {
            return Self::Keep;
        }
        Self::Change(Box::new(link.suspended(suspensions)))
    }
}

/// The tombstone of a removed link: it reserves the short code and records why the link was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Which link it was, and whose.
    #[serde(flatten)]
    pub identity: LinkIdentity,
    /// Why the link was removed.
    #[serde(rename = "tombstone")]
    pub reason: RemovalReason,
    /// When the tombstone replaced the link.
    pub removed_at: Timestamp,
    /// The target that the link watched when it was removed. The id is a hash, so it doesn't reveal the URL of a purged link.
    pub watched_target: Option<TargetId>,
    /// Why operators had suspended the link. Such a code is never used again.
    #[serde(default, skip_serializing_if = "Suspensions::is_empty")]
    pub suspensions: Suspensions,
    /// Who may see the link's statistics, if it said so itself.
    pub statistics: Option<Visibility>,
    /// The write that has made it what it is.
    #[serde(flatten)]
    pub last_write: LinkWrite,
}

impl Tombstone {
    /// How long the code of a purged link stays reserved.
    pub const KEPT_FOR: Duration = lifetimes::PURGED_LINKS;

    /// When the code may be used for another link; `None` means never. Only the code of a purged link can be used again: the
    /// statistics of other links are kept under their code, and a new owner must not get them.
    pub fn kept_until(&self) -> Option<Timestamp> {
        (self.reason == RemovalReason::Purged && self.suspensions.is_empty())
            .then(|| self.removed_at.plus(Self::KEPT_FOR))
    }

    /// The tombstone that a purge leaves, of a link or of a removed link whose statistics were kept until now.
    pub fn of_purged(record: &Record<Link>, at: Timestamp) -> Self {
        let (watched_target, suspensions) = match record {
            Record::Link(link) => (link.watched_target(), link.availability.suspensions.by_operators()),
            Record::Tombstone(old) => (old.watched_target.clone(), old.suspensions),
        };
        Self {
            identity: record.identity().clone(),
            reason: RemovalReason::Purged,
            removed_at: at,
            watched_target,
            suspensions,
            statistics: record.statistics(),
            last_write: record.last_write().clone(),
        }
    }

    /// The tombstone of a link whose time is over: expired, or deleted before it expired.
    pub fn of_expired(link: &Link, at: Timestamp) -> Self {
        Self {
            identity: link.identity.clone(),
            reason: if link.availability.is_deleted() { RemovalReason::Deleted } else { RemovalReason::Expired },
            removed_at: at,
            watched_target: link.watched_target(),
            suspensions: link.availability.suspensions.by_operators(),
            statistics: link.metadata.statistics,
            last_write: link.last_write.clone(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ClickLimit;

    fn expiring_at(expires_at: Option<Timestamp>) -> Availability {
        Availability { expires_at, ..Availability::default() }
    }

    pub(crate) fn some_link() -> Link {
        let (id, now) = (LinkId::parse("abcd.x7Kf2a").unwrap(), Timestamp::now());
        Link {
            identity: LinkIdentity { id, workspace: WorkspaceId::generate(), owner: UserId::generate() },
            target: TargetUrl::parse("https://example.com/a").unwrap(),
            created_at: now,
            updated_at: now,
            availability: Availability::default(),
            expiry_is_published: false,
            metadata: LinkMetadata::default(),
            options: RedirectOptions::default(),
            routing: None,
            watch: false,
            archived: false,
            imported_clicks: None,
            imported_from: None,
            revision: Revision::FIRST,
            last_write: LinkWrite::of(&CorrelationId::generate()),
        }
    }

    fn watching(state: LinkState) -> Link {
        Link { availability: Availability { state, ..Availability::default() }, watch: true, ..some_link() }
    }

    #[test]
    fn an_expiry_is_published_first_and_removes_the_link_later() {
        let (expiry, kept_for) = (Timestamp::parse("2026-03-02T14:00:00Z").unwrap(), Duration::from_secs(3_600));
        let link = Link { availability: expiring_at(Some(expiry)), ..watching(LinkState::Active) };
        let kept_until = Some((expiry.plus(kept_for), ExpiryStep::Remove));

        assert_eq!(link.next_expiry_step(kept_for), Some((expiry, ExpiryStep::Publish)));
        assert_eq!(Link { expiry_is_published: true, ..link.clone() }.next_expiry_step(kept_for), kept_until);
        let deleted = Availability { state: LinkState::Deleted(expiry), ..link.availability };
        let after_deletion = Link { availability: deleted, ..link.clone() }.next_expiry_step(kept_for);
        assert_eq!(after_deletion, kept_until, "it has been said that the link is gone");
        assert_eq!(Link { availability: expiring_at(None), ..link }.next_expiry_step(kept_for), None);
    }

    #[test]
    fn an_expired_link_with_a_fallback_is_kept_until_somebody_deletes_it() {
        let (expiry, kept_for) = (Timestamp::parse("2026-03-02T14:00:00Z").unwrap(), Duration::from_secs(3_600));
        let fallback_url = Some(TargetUrl::parse("https://example.com/over").unwrap());
        let options = RedirectOptions { fallback_url, ..RedirectOptions::default() };
        let link = Link { availability: expiring_at(Some(expiry)), options, ..watching(LinkState::Active) };
        let expired = Link { expiry_is_published: true, ..link.clone() };
        let deleted = Availability { state: LinkState::Deleted(expiry), ..link.availability };

        assert_eq!(link.next_expiry_step(kept_for), Some((expiry, ExpiryStep::Publish)));
        assert_eq!(expired.next_expiry_step(kept_for), None);
        let removal = Some((expiry.plus(kept_for), ExpiryStep::Remove));
        assert_eq!(Link { availability: deleted, ..expired.clone() }.next_expiry_step(kept_for), removal);
        assert_eq!(Link { options: RedirectOptions::default(), ..expired }.next_expiry_step(kept_for), removal);
    }

    #[test]
    fn each_change_is_later_and_a_new_limit_ends_exhaustion() {
        let mut link = watching(LinkState::Inactive);
        link.options.max_clicks = Some(ClickLimit::try_from(5).unwrap());
        link.availability.exhausted_at = Some(link.created_at);
        let patch = |json: &str| serde_json::from_str::<LinkPatch>(json).unwrap();

        let early = link.changed_by(&patch(r#"{"is_active": true}"#), link.updated_at.minus(Duration::from_secs(1)));
        assert!(early.updated_at > link.updated_at);
        let expected = (LinkState::Active, Some(link.created_at));
        assert_eq!((early.availability.state, early.availability.exhausted_at), expected);
        assert_eq!(link.changed_by(&patch(r#"{"max_clicks": 6}"#), early.updated_at).availability.exhausted_at, None);
        assert_eq!(link.changed_by(&patch("{}"), early.updated_at).options, link.options);
    }

    #[test]
    fn only_another_expiry_is_yet_to_be_published() {
        let noon = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let expired =
            Link { availability: expiring_at(Some(noon)), expiry_is_published: true, ..watching(LinkState::Active) };
        let is_published =
            |patch: &str| expired.changed_by(&serde_json::from_str(patch).unwrap(), noon).expiry_is_published;

        assert!(is_published(r#"{"expires_at": "2026-03-02T12:00:00Z"}"#) && is_published(r#"{"title": "T"}"#));
        assert!(!is_published(r#"{"expires_at": "2026-03-02T13:00:00Z"}"#) && !is_published(r#"{"expires_at": null}"#));
    }

    #[test]
    fn a_link_watches_the_target_of_its_url_until_it_is_deleted() {
        let on = watching(LinkState::Active);
        let target = {
            let url = TargetUrl::parse("HTTPS://example.com:443/a/").unwrap();
            TargetId::of_url(&on.identity.workspace, &url).unwrap()
        };

        let watched_in =
            |state| Link { availability: Availability { state, ..on.availability }, ..on.clone() }.watched_target();
        assert_eq!(on.watched_target(), Some(target.clone()));
        assert_eq!(watched_in(LinkState::Inactive), Some(target));
        assert_eq!(watched_in(LinkState::Deleted(Timestamp::now())), None);
        assert_eq!(Link { watch: false, ..on }.watched_target(), None);
    }

    #[test]
    fn a_target_is_watched_anew_after_a_later_expiry_or_another_url() {
        let [noon, later] = ["2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z"].map(|at| Timestamp::parse(at).unwrap());
        let expiring = |at| Link { availability: expiring_at(Some(at)), ..watching(LinkState::Active) };
        let to = |expires_at| LinkPatch { expires_at: Some(expires_at), ..LinkPatch::default() };
        let elsewhere = LinkPatch { url: TargetUrl::parse("https://example.com/b").ok(), ..LinkPatch::default() };
        let target_of = |link: &Link, patch: &LinkPatch| {
            let after = link.changed_by(patch, link.updated_at);
            (after.target_watched_anew(link), after.watched_target())
        };

        for (link, patch) in
            [(expiring(noon), to(Some(later))), (expiring(noon), to(None)), (expiring(noon), elsewhere.clone())]
        {
            let (anew, watched) = target_of(&link, &patch);
            assert!(anew.is_some() && anew == watched, "{patch:?}");
        }
        let ended = |patch: LinkPatch| LinkPatch { watch: Some(false), ..patch };
        for (link, patch) in [
            (expiring(later), to(Some(noon))),
            (expiring(later), to(Some(later))),
            (expiring(later), LinkPatch { is_active: Some(true), ..LinkPatch::default() }),
            (expiring(noon), ended(to(None))),
            (expiring(noon), ended(elsewhere)),
            (watching(LinkState::Active), to(Some(later))),
            (watching(LinkState::Active), to(None)),
        ] {
            assert_eq!(target_of(&link, &patch).0, None, "{patch:?}");
        }
        let begun = LinkPatch { watch: Some(true), ..LinkPatch::default() };
        assert!(target_of(&expiring(later).changed_by(&ended(LinkPatch::default()), noon), &begun).0.is_some());
        assert_eq!(target_of(&expiring(later), &begun).0, None, "it does");
    }

    #[test]
    fn a_tombstone_knows_what_its_link_watched_to_the_end() {
        let (on, now) = (watching(LinkState::Active), Timestamp::now());
        let (deleted, target) = (watching(LinkState::Deleted(now)), on.watched_target());

        let expired = Tombstone::of_expired(&on, now);

        assert!(target.is_some());
        assert_eq!(expired.watched_target, target);
        assert_eq!(Tombstone::of_purged(&Record::Link(on), now).watched_target, target);
        assert_eq!(Tombstone::of_purged(&Record::Tombstone(expired), now).watched_target, target);
        assert_eq!(Tombstone::of_expired(&deleted, now).watched_target, None, "it had ceased to before");
    }
}
