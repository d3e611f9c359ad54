use std::time::Duration;

use crate::{
    Generation, Invalid, LinkId, LinkMetadata, LinkPatch, Revision, ShortCode, TargetId, TargetUrl, Timestamp, UserId,
    WorkspaceId, lifetimes,
};

/// A short link with all its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The short code, unique over all workspaces.
    pub code: ShortCode,
    /// Distinguishes the link from others that have had its code before.
    pub generation: Generation,
    /// The destination.
    pub target: TargetUrl,
    /// The workspace that owns the link.
    pub workspace: WorkspaceId,
    /// The user who created the link and is notified about it.
    pub owner: UserId,
    /// When the link was created.
    pub created_at: Timestamp,
    /// When somebody changed the link last; at first, when it was created.
    pub updated_at: Timestamp,
    /// When the link expires; `None` if never. It doesn't redirect from this moment on.
    pub expires_at: Option<Timestamp>,
    /// Whether `url.expired` was published for this expiry.
    pub expiry_is_published: bool,
    /// Title, description and tags.
    pub metadata: LinkMetadata,
    /// Whether the destination is monitored until the link is deleted or expires.
    pub watch: bool,
    /// Whether the owner has deactivated or deleted the link.
    pub state: LinkState,
    /// How often somebody has changed the link. Its clicks change nothing of it.
    pub revision: Revision,
}

/// The state of a link that its owner controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// The link redirects until it expires.
    Active,
    /// The link is switched off and can be switched on again.
    Inactive,
    /// The link was deleted at this time and never redirects again.
    Deleted(Timestamp),
}

/// The status of a link at a given time. All but [`Self::Active`] answer a visitor with 410.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// The link redirects.
    Active,
    /// The owner switched the link off.
    Inactive,
    /// The owner deleted the link.
    Deleted,
    /// The link has expired.
    Expired,
    /// The owner deleted the link with its statistics.
    Purged,
}

impl LinkStatus {
    /// The status's name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
            Self::Purged => "purged",
        }
    }

    /// Parses a status that a stored link can have: any but `purged`, of which only a tombstone is left.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::Active, Self::Inactive, Self::Deleted, Self::Expired]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| Invalid::new("status must be active, inactive, deleted or expired"))
    }

    pub(crate) fn at(now: Timestamp, state: LinkState, expires_at: Option<Timestamp>) -> Self {
        match state {
            LinkState::Deleted(_) => Self::Deleted,
            _ if expires_at.is_some_and(|expiry| expiry <= now) => Self::Expired,
            LinkState::Inactive => Self::Inactive,
            LinkState::Active => Self::Active,
        }
    }
}

impl Link {
    /// The members of a link that Linklet will have and doesn't have yet. A link that is made or changed with one of them would be
    /// more open than somebody thinks who has sent it.
    pub const UNSUPPORTED: [&str; 7] =
        ["valid_from", "max_clicks", "password", "fallback_url", "forward_query", "rules", "preview"];

    /// What its clicks and statistics are stored under.
    #[must_use]
    pub fn id(&self) -> LinkId {
        LinkId { code: self.code.clone(), generation: self.generation.clone() }
    }

    /// Whether shortening the same URL again may return this link: it is active and never expires.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        self.state == LinkState::Active && self.expires_at.is_none()
    }

    /// The target that the link watches; `None` if it doesn't watch one or is deleted. An inactive link keeps watching, since
    /// it can be switched on again.
    #[must_use]
    pub fn watched_target(&self) -> Option<TargetId> {
        let is_watching = self.watch && !matches!(self.state, LinkState::Deleted(_));
        is_watching.then(|| TargetId::of_url(&self.workspace, &self.target).ok()).flatten()
    }

    /// The target that the link is to watch for longer than it would without this change; `None` also if the change gives up
    /// watching.
    #[must_use]
    pub fn target_watched_longer(&self, change: &LinkPatch) -> Option<TargetId> {
        let is_longer = match (self.expires_at, change.expires_at?) {
            (Some(before), Some(after)) => before < after,
            (before, after) => before.is_some() && after.is_none(),
        };
        if is_longer && change.watch.is_none() { self.watched_target() } else { None }
    }

    /// The next step of the link's expiry and when it is due, if expired links are kept for this long. `None` if the link never
    /// expires.
    #[must_use]
    pub fn next_expiry_step(&self, kept_for: Duration) -> Option<(Timestamp, ExpiryStep)> {
        let expires_at = self.expires_at?;
        let is_published = self.expiry_is_published || matches!(self.state, LinkState::Deleted(_));
        Some(match is_published {
            true => (expires_at.plus(kept_for), ExpiryStep::Remove),
            false => (expires_at, ExpiryStep::Publish),
        })
    }

    /// The link's status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        LinkStatus::at(now, self.state, self.expires_at)
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

impl<L> Record<L> {
    /// Returns a property that links and tombstones both have.
    fn common<'a, T>(
        &'a self,
        of_link: impl Fn(&'a L) -> &'a T,
        of_tombstone: impl Fn(&'a Tombstone) -> &'a T,
    ) -> &'a T {
        match self {
            Self::Link(link) => of_link(link),
            Self::Tombstone(tombstone) => of_tombstone(tombstone),
        }
    }
}

impl Record<RedirectTarget> {
    /// The workspace that owns or owned the link.
    #[must_use]
    pub fn workspace(&self) -> &WorkspaceId {
        self.common(|link| &link.workspace, |tombstone| &tombstone.workspace)
    }

    /// What the link's clicks and statistics are stored under.
    #[must_use]
    pub fn id(&self) -> LinkId {
        match self {
            Self::Link(link) => link.id.clone(),
            Self::Tombstone(tombstone) => tombstone.id(),
        }
    }

    /// Whether the link was purged: deleted with its statistics.
    #[must_use]
    pub fn is_purged(&self) -> bool {
        matches!(self, Self::Tombstone(tombstone) if tombstone.reason == LinkStatus::Purged)
    }
}

impl Record<Link> {
    /// What the link's clicks and statistics are stored under.
    #[must_use]
    pub fn id(&self) -> LinkId {
        match self {
            Self::Link(link) => link.id(),
            Self::Tombstone(tombstone) => tombstone.id(),
        }
    }

    /// The workspace that owns or owned the link.
    #[must_use]
    pub fn workspace(&self) -> &WorkspaceId {
        self.common(|link| &link.workspace, |tombstone| &tombstone.workspace)
    }

    /// The user who created the link.
    #[must_use]
    pub fn owner(&self) -> &UserId {
        self.common(|link| &link.owner, |tombstone| &tombstone.owner)
    }
}

/// The tombstone of a removed link: it reserves the short code and records why the link was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The link's short code.
    pub code: ShortCode,
    /// The link's generation.
    pub generation: Generation,
    /// The workspace that owned the link.
    pub workspace: WorkspaceId,
    /// The user who created the link.
    pub owner: UserId,
    /// Why the link was removed: deleted, expired or purged.
    pub reason: LinkStatus,
    /// When the tombstone replaced the link.
    pub removed_at: Timestamp,
    /// The target that the link watched when it was removed. The id is a hash, so it doesn't reveal the URL of a purged link.
    pub watched_target: Option<TargetId>,
}

impl Tombstone {
    /// What the link's clicks and statistics are stored under.
    #[must_use]
    pub fn id(&self) -> LinkId {
        LinkId { code: self.code.clone(), generation: self.generation.clone() }
    }

    /// How long the code of a purged link stays reserved.
    pub const KEPT_FOR: Duration = lifetimes::PURGED_LINKS;

    /// When the code may be used for another link; `None` means never. Only the code of a purged link can be used again: the
    /// statistics of other links are kept under their code, and a new owner must not get them.
    #[must_use]
    pub fn kept_until(&self) -> Option<Timestamp> {
        (self.reason == LinkStatus::Purged).then(|| self.removed_at.plus(Self::KEPT_FOR))
    }

    /// The tombstone that a purge leaves, of a link or of a removed link whose statistics were kept until now.
    #[must_use]
    pub fn of_purged(record: &Record<Link>, at: Timestamp) -> Self {
        let purged = |id: LinkId, workspace: &WorkspaceId, owner: &UserId, watched_target| Self {
            code: id.code,
            generation: id.generation,
            workspace: workspace.clone(),
            owner: owner.clone(),
            reason: LinkStatus::Purged,
            removed_at: at,
            watched_target,
        };
        match record {
            Record::Link(link) => purged(link.id(), &link.workspace, &link.owner, link.watched_target()),
            Record::Tombstone(old) => purged(old.id(), &old.workspace, &old.owner, old.watched_target.clone()),
        }
    }

    /// The tombstone of a link whose time is over: expired, or deleted before it expired.
    #[must_use]
    pub fn of_expired(link: &Link, at: Timestamp) -> Self {
        let reason = match link.state {
            LinkState::Deleted(_) => LinkStatus::Deleted,
            LinkState::Active | LinkState::Inactive => LinkStatus::Expired,
        };
        Self {
            code: link.code.clone(),
            generation: link.generation.clone(),
            workspace: link.workspace.clone(),
            owner: link.owner.clone(),
            reason,
            removed_at: at,
            watched_target: link.watched_target(),
        }
    }
}

/// The part of a link that a redirect reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectTarget {
    /// The code, and which of the links with this code.
    pub id: LinkId,
    /// The destination.
    pub target: TargetUrl,
    /// The workspace that owns the link.
    pub workspace: WorkspaceId,
    /// The user who is notified when the link reaches a milestone.
    pub owner: UserId,
    /// When the link expires; `None` if never. It doesn't redirect from this moment on.
    pub expires_at: Option<Timestamp>,
    /// Whether the owner has deactivated or deleted the link.
    pub state: LinkState,
}

impl RedirectTarget {
    /// The link's status at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        LinkStatus::at(now, self.state, self.expires_at)
    }

    /// How long a browser may cache the redirect: 90 s, or until the link expires if that is sooner.
    #[must_use]
    pub fn cacheable_for(&self, now: Timestamp) -> Duration {
        const LONGEST: Duration = Duration::from_secs(90);
        self.expires_at.map_or(LONGEST, |expiry| now.until(expiry).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoWatch;

    fn target(expires_at: Option<Timestamp>, state: LinkState) -> RedirectTarget {
        RedirectTarget {
            id: LinkId::parse("abcd.x7Kf2a").unwrap(),
            target: TargetUrl::parse("https://example.com").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            expires_at,
            state,
        }
    }

    #[test]
    fn a_link_expires_in_the_very_moment() {
        let expiry = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let link = target(Some(expiry), LinkState::Active);

        assert_eq!(link.status(expiry.minus(Duration::from_millis(1))), LinkStatus::Active);
        assert_eq!(link.status(expiry), LinkStatus::Expired);
    }

    #[test]
    fn a_deleted_link_stays_deleted_when_it_also_expires() {
        let now = Timestamp::now();

        assert_eq!(target(Some(now), LinkState::Deleted(now)).status(now), LinkStatus::Deleted);
    }

    fn watching(state: LinkState) -> Link {
        Link {
            code: ShortCode::parse("abcd").unwrap(),
            generation: Generation::parse("x7Kf2a").unwrap(),
            target: TargetUrl::parse("https://example.com/a").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            created_at: Timestamp::now(),
            updated_at: Timestamp::now(),
            expires_at: None,
            expiry_is_published: false,
            metadata: LinkMetadata::default(),
            watch: true,
            state,
            revision: Revision::FIRST,
        }
    }

    #[test]
    fn an_expiry_is_published_first_and_the_link_is_kept_for_a_while_after_it() {
        let (expiry, kept_for) = (Timestamp::parse("2026-03-02T14:00:00Z").unwrap(), Duration::from_secs(3_600));
        let link = Link { expires_at: Some(expiry), ..watching(LinkState::Active) };
        let kept_until = Some((expiry.plus(kept_for), ExpiryStep::Remove));

        assert_eq!(link.next_expiry_step(kept_for), Some((expiry, ExpiryStep::Publish)));
        assert_eq!(Link { expiry_is_published: true, ..link.clone() }.next_expiry_step(kept_for), kept_until);
        assert_eq!(
            Link { state: LinkState::Deleted(expiry), ..link.clone() }.next_expiry_step(kept_for),
            kept_until,
            "it has been said that the link is gone"
        );
        assert_eq!(Link { expires_at: None, ..link }.next_expiry_step(kept_for), None);
    }

    #[test]
    fn a_link_watches_the_target_of_its_url_until_it_is_deleted() {
        let on = watching(LinkState::Active);
        let target = TargetId::of_url(&on.workspace, &TargetUrl::parse("HTTPS://example.com:443/a/").unwrap()).unwrap();

        assert_eq!(on.watched_target(), Some(target.clone()));
        assert_eq!(Link { state: LinkState::Inactive, ..on.clone() }.watched_target(), Some(target));
        assert_eq!(Link { state: LinkState::Deleted(Timestamp::now()), ..on.clone() }.watched_target(), None);
        assert_eq!(Link { watch: false, ..on }.watched_target(), None);
    }

    #[test]
    fn a_target_is_watched_longer_with_a_later_expiry_or_none_unless_watching_is_given_up() {
        let [noon, later] = ["2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z"].map(|at| Timestamp::parse(at).unwrap());
        let expiring = |at| Link { expires_at: Some(at), ..watching(LinkState::Active) };
        let to = |expires_at| LinkPatch { expires_at: Some(expires_at), ..LinkPatch::default() };
        let is_longer = |link: &Link, change: &LinkPatch| link.target_watched_longer(change) == link.watched_target();

        assert!(is_longer(&expiring(noon), &to(Some(later))) && is_longer(&expiring(noon), &to(None)));
        let given_up = LinkPatch { watch: Some(NoWatch), ..to(None) };
        for (link, change) in [
            (expiring(later), to(Some(noon))),
            (expiring(later), to(Some(later))),
            (expiring(later), LinkPatch { is_active: Some(true), ..LinkPatch::default() }),
            (expiring(noon), given_up),
            (watching(LinkState::Active), to(Some(later))),
            (watching(LinkState::Active), to(None)),
        ] {
            assert_eq!(link.target_watched_longer(&change), None, "{change:?}");
        }
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

    #[test]
    fn a_browser_never_keeps_a_redirect_past_expiry() {
        let now = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let in_seconds = |seconds| target(Some(now.plus(Duration::from_secs(seconds))), LinkState::Active);

        assert_eq!(target(None, LinkState::Active).cacheable_for(now).as_secs(), 90);
        assert_eq!(in_seconds(600).cacheable_for(now).as_secs(), 90);
        assert_eq!(in_seconds(7).cacheable_for(now).as_secs(), 7);
    }
}
