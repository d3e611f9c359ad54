//! What becomes of a request for a short link.

use std::time::Duration;

use crate::{
    Availability, ClickLimit, LinkIdentity, LinkState, LinkStatus, Preview, Record, RedirectOptions, Routing,
    StoredLink, SuspensionReason, Suspensions, TargetUrl, Timestamp, Visibility,
};

/// The part of a link that a redirect reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectTarget {
    /// Which link it is, and whose.
    pub identity: LinkIdentity,
    /// The destination.
    pub target: TargetUrl,
    /// Whether the link leads there.
    pub availability: Availability,
    /// What a plain link, as nearly all are, has none of.
    pub settings: Option<Box<RedirectSettings>>,
    /// Who may see its statistics, if it says so itself. No redirect needs it, and statistics read links as redirects do.
    pub statistics: Option<Visibility>,
}

/// What distinguishes a link from a plain one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RedirectSettings {
    /// Its redirect options.
    pub options: RedirectOptions,
    /// Where it leads some of its visitors.
    pub routing: Option<Routing>,
}

impl RedirectSettings {
    /// These options, rules and variants; `None` for a plain link.
    pub fn of(options: RedirectOptions, routing: Option<Routing>) -> Option<Box<Self>> {
        (!options.are_none() || routing.is_some()).then(|| Box::new(Self { options, routing }))
    }
}

impl StoredLink for RedirectTarget {
    fn identity(&self) -> &LinkIdentity {
        &self.identity
    }

    fn statistics(&self) -> Option<Visibility> {
        self.statistics
    }

    fn suspensions(&self) -> Suspensions {
        self.availability.suspensions
    }
}

/// What a request wants of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// To go where it leads.
    Visit,
    /// To know where it leads, without going there.
    Inspect,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// Somebody who wants to go there, with a browser or a tool.
    Person,
    /// A machine that opens links of its own accord, such as a crawler, a link preview or a mail scanner.
    Machine,
}

/// What a request counts as in the statistics of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountsAs {
    /// A click.
    Click,
    /// It isn't counted.
    Nothing,
}

/// For how long whoever asks may go to a target again without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// For so long.
    For(Duration),
    /// Not at all: each visit is judged.
    Never,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is led to the target, or where rules and variants say, if the link has a use left.
    Follow {
        /// The link, with its target.
        target: RedirectTarget,
        /// For how long the answer may be kept.
        cache: Caching,
        /// What it counts as.
        counts_as: CountsAs,
    },
    /// It is shown a page that says nothing of the target, beyond the preview that the link has.
    Show {
        /// The link.
        target: RedirectTarget,
        /// What it counts as.
        counts_as: CountsAs,
    },
    /// It is asked for the link's password.
    Lock {
        /// The link.
        target: RedirectTarget,
    },
    /// It is led to the link's fallback.
    Divert {
        /// Where that is.
        fallback: TargetUrl,
    },
    /// It is refused, since the law asks for that.
    Withhold,
    /// It is refused.
    Refuse {
        /// The link's status.
        why: LinkStatus,
    },
}

impl Decision {
    /// The longest time for which a redirect may be cached. It is short, since a link can be switched off or deleted.
    const LONGEST_CACHE: Duration = Duration::from_secs(90);

    /// Decides on a request for what is stored under its code, which arrives `at` this time. Who asks is found out only if it
    /// matters.
    pub fn on(record: Record<RedirectTarget>, intent: Intent, at: Timestamp, asker: impl FnOnce() -> Asker) -> Self {
        let target = match record {
            Record::Link(link) => link,
            Record::Tombstone(tombstone) => return Self::Refuse { why: tombstone.reason.into() },
        };
        match target.availability.status(at) {
            LinkStatus::Active if target.availability.is_protected => Self::Lock { target },
            LinkStatus::Active => Self::to_follow(target, intent, at, asker),
            LinkStatus::Suspended if target.availability.suspensions.contains(SuspensionReason::Legal) => {
                Self::Withhold
            }
            why => target.refusal(why),
        }
    }

    fn to_follow(target: RedirectTarget, intent: Intent, at: Timestamp, asker: impl FnOnce() -> Asker) -> Self {
        let counts_as = match intent {
            Intent::Visit => CountsAs::Click,
            Intent::Inspect => CountsAs::Nothing,
        };
        let (is_limited, is_person) =
            (target.limit().is_some(), !target.tells_askers_apart() || asker() == Asker::Person);
        if is_person && (!is_limited || intent == Intent::Visit) {
            return Self::Follow { cache: target.caching(at), target, counts_as };
        }
        // Whoever takes no use of a link with a limit hasn't followed it.
        Self::Show { counts_as: if is_limited { CountsAs::Nothing } else { counts_as }, target }
    }
}

impl RedirectTarget {
    /// How often the link may be followed.
    pub fn limit(&self) -> Option<ClickLimit> {
        self.settings.as_ref()?.options.max_clicks
    }

    /// Where the link leads some of its visitors.
    pub fn routing(&self) -> Option<&Routing> {
        self.settings.as_ref()?.routing.as_ref()
    }

    /// What is shown where the link is posted.
    pub fn preview(&self) -> Option<&Preview> {
        self.settings.as_ref()?.options.preview.as_ref()
    }

    /// Whether a visitor's parameters go onto the target.
    pub fn forwards_query(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| settings.options.forward_query)
    }

    /// What becomes of somebody whom the link doesn't lead to its target for this reason. Whoever switches a link off doesn't want
    /// it to lead anywhere.
    pub fn refusal(&self, why: LinkStatus) -> Decision {
        let has_fallback = matches!(why, LinkStatus::Scheduled | LinkStatus::Expired | LinkStatus::Exhausted)
            && self.availability.state == LinkState::Active;
        match self.settings.as_ref().and_then(|settings| settings.options.fallback_url.clone()) {
            Some(fallback) if has_fallback => Decision::Divert { fallback },
            _ => Decision::Refuse { why },
        }
    }

    /// Whether it matters to the link if a person asks or a machine.
    fn tells_askers_apart(&self) -> bool {
        self.limit().is_some() || self.preview().is_some()
    }

    /// Nobody goes to the target without asking once the link has expired, or where each visit is judged.
    fn caching(&self, now: Timestamp) -> Caching {
        if self.availability.is_protected || self.limit().is_some() || self.routing().is_some() {
            return Caching::Never;
        }
        let longest = Decision::LONGEST_CACHE;
        Caching::For(self.availability.expires_at.map_or(longest, |expiry| now.until(expiry).min(longest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CorrelationId, LinkId, LinkState, LinkWrite, RemovalReason, Suspensions, Tombstone, UserId, WorkspaceId,
    };

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn identity() -> LinkIdentity {
        LinkIdentity {
            id: LinkId::parse("abcd.x7Kf2a").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
        }
    }

    fn link(availability: Availability) -> Record<RedirectTarget> {
        link_with(availability, RedirectOptions::default())
    }

    fn link_with(availability: Availability, options: RedirectOptions) -> Record<RedirectTarget> {
        let target = TargetUrl::parse("https://example.com").unwrap();
        Record::Link(RedirectTarget {
            identity: identity(),
            target,
            availability,
            settings: RedirectSettings::of(options, None),
            statistics: None,
        })
    }

    fn with_fallback() -> RedirectOptions {
        RedirectOptions {
            fallback_url: Some(TargetUrl::parse("https://example.com/over").unwrap()),
            ..RedirectOptions::default()
        }
    }

    fn limited() -> RedirectOptions {
        RedirectOptions { max_clicks: Some(ClickLimit::try_from(1).unwrap()), ..RedirectOptions::default() }
    }

    /// What becomes of a request at noon.
    fn asked(record: Record<RedirectTarget>, intent: Intent, asker: Asker) -> Decision {
        Decision::on(record, intent, noon(), || asker)
    }

    fn expiring_in(seconds: u64) -> Availability {
        Availability { expires_at: Some(noon().plus(Duration::from_secs(seconds))), ..Availability::default() }
    }

    fn cached_for(availability: Availability) -> u64 {
        match asked(link(availability), Intent::Visit, Asker::Person) {
            Decision::Follow { cache: Caching::For(time), .. } => time.as_secs(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_browser_never_keeps_a_redirect_past_expiry() {
        assert_eq!(cached_for(Availability::default()), 90);
        assert_eq!(cached_for(expiring_in(600)), 90);
        assert_eq!(cached_for(expiring_in(7)), 7);
    }

    #[test]
    fn only_a_visit_counts_as_a_click() {
        for (intent, expected) in [(Intent::Visit, CountsAs::Click), (Intent::Inspect, CountsAs::Nothing)] {
            let plain = link(Availability::default());
            let decided = Decision::on(plain, intent, noon(), || panic!("nobody needs to know who asks"));

            let Decision::Follow { counts_as, target, .. } = decided else { panic!("{decided:?}") };
            assert_eq!((counts_as, target.target.as_str()), (expected, "https://example.com"));
        }
    }

    #[test]
    fn whoever_asks_for_a_link_that_does_not_redirect_learns_why() {
        let in_state = |state| link(Availability { state, ..Availability::default() });
        let removed = |reason| {
            Record::Tombstone(Tombstone {
                identity: identity(),
                reason,
                removed_at: noon(),
                watched_target: None,
                suspensions: Suspensions::default(),
                statistics: None,
                last_write: LinkWrite::of(&CorrelationId::generate()),
            })
        };
        for (record, why) in [
            (in_state(LinkState::Inactive), LinkStatus::Inactive),
            (in_state(LinkState::Deleted(noon())), LinkStatus::Deleted),
            (link(expiring_in(0)), LinkStatus::Expired),
            (removed(RemovalReason::Deleted), LinkStatus::Deleted),
            (removed(RemovalReason::Expired), LinkStatus::Expired),
            (removed(RemovalReason::Purged), LinkStatus::Purged),
        ] {
            assert_eq!(asked(record, Intent::Visit, Asker::Person), Decision::Refuse { why });
        }
    }

    #[test]
    fn only_scheduled_exhausted_and_expired_links_lead_to_their_fallback() {
        let scheduled =
            Availability { valid_from: Some(noon().plus(Duration::from_secs(1))), ..Availability::default() };
        let exhausted = Availability { exhausted_at: Some(noon()), ..Availability::default() };
        for leads_elsewhere in [scheduled, exhausted, expiring_in(0)] {
            let decided = asked(link_with(leads_elsewhere, with_fallback()), Intent::Visit, Asker::Person);
            assert!(matches!(decided, Decision::Divert { .. }), "{leads_elsewhere:?}: {decided:?}");

            let switched_off = Availability { state: LinkState::Inactive, ..leads_elsewhere };
            let decided = asked(link_with(switched_off, with_fallback()), Intent::Visit, Asker::Person);
            assert!(matches!(decided, Decision::Refuse { .. }), "{switched_off:?}: {decided:?}");
        }
        let deleted = Availability { state: LinkState::Deleted(noon()), ..Availability::default() };
        let suspended = Availability { suspensions: Suspensions::of(SuspensionReason::Abuse), ..scheduled };
        for (nowhere, why) in [(deleted, LinkStatus::Deleted), (suspended, LinkStatus::Suspended)] {
            let decided = asked(link_with(nowhere, with_fallback()), Intent::Visit, Asker::Person);
            assert_eq!(decided, Decision::Refuse { why });
        }
        let by_law = Availability { suspensions: suspended.suspensions.with(SuspensionReason::Legal), ..scheduled };
        assert_eq!(asked(link_with(by_law, with_fallback()), Intent::Visit, Asker::Person), Decision::Withhold);
    }

    #[test]
    fn only_a_persons_visit_follows_a_link_with_a_limit() {
        let on = |intent, asker| asked(link_with(Availability::default(), limited()), intent, asker);

        let followed = on(Intent::Visit, Asker::Person);
        assert!(matches!(followed, Decision::Follow { cache: Caching::Never, counts_as: CountsAs::Click, .. }));
        for (intent, asker) in
            [(Intent::Inspect, Asker::Person), (Intent::Visit, Asker::Machine), (Intent::Inspect, Asker::Machine)]
        {
            let shown = on(intent, asker);
            assert!(matches!(shown, Decision::Show { counts_as: CountsAs::Nothing, .. }), "{intent:?} {asker:?}");
        }
    }

    #[test]
    fn machines_see_the_preview_of_a_link_and_count_as_they_did() {
        let preview = Preview { title: "Ours".parse().ok(), ..Preview::default() };
        let options = RedirectOptions { preview: Some(preview), ..RedirectOptions::default() };
        let on = |intent, asker| asked(link_with(Availability::default(), options.clone()), intent, asker);

        assert!(matches!(on(Intent::Visit, Asker::Machine), Decision::Show { counts_as: CountsAs::Click, .. }));
        assert!(matches!(on(Intent::Inspect, Asker::Machine), Decision::Show { counts_as: CountsAs::Nothing, .. }));
        assert!(matches!(on(Intent::Visit, Asker::Person), Decision::Follow { cache: Caching::For(_), .. }));
    }

    #[test]
    fn a_protected_link_asks_everybody_for_its_password_while_it_leads_anywhere() {
        let protected = Availability { is_protected: true, ..Availability::default() };
        for (intent, asker) in [(Intent::Visit, Asker::Person), (Intent::Inspect, Asker::Machine)] {
            let decided = asked(link_with(protected, limited()), intent, asker);
            assert!(matches!(decided, Decision::Lock { .. }), "{decided:?}");
        }
        let expired = Availability { expires_at: Some(noon()), ..protected };
        assert_eq!(asked(link(expired), Intent::Visit, Asker::Person), Decision::Refuse { why: LinkStatus::Expired });
    }
}
