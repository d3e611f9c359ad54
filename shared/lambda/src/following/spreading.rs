//! Which links are so hot that their clicks go over more partitions of ClicksTable.
//!
//! This is decided by the clicks of this environment alone, without I/O. A link whose clicks are spread more costs more to read,
//! so only many clicks at once make it hot.

use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{LinkId, Spread, Timestamp};
use lru::LruCache;
use parking_lot::Mutex;

use super::Pace;

/// The links whose clicks this execution environment stores.
#[derive(Debug)]
pub struct Spreading {
    links: Mutex<LruCache<LinkId, FollowedLink>>,
}

#[derive(Debug, Default)]
struct FollowedLink {
    pace: Pace<{ Spreading::HOT }>,
    /// Clicks before this time are stored wide.
    wide_until: Option<Timestamp>,
    /// The click for which the latest attempt was made to write a marker.
    asked_at: Option<Timestamp>,
}

/// What to do with a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Store it like this.
    Store(Spread),
    /// Store it wide if a marker until this time can be written, and narrow if not.
    Widen {
        /// The time before which clicks may be stored wide then.
        until: Timestamp,
    },
}

impl Spreading {
    /// How many clicks within a second make a link hot.
    pub const HOT: usize = 32;
    /// As so many clicks counts one that the table has refused: an environment that waits for the table has no time for many.
    pub const REFUSED: usize = 16;
    /// How long a hot link's clicks are stored wide.
    pub const WIDE_FOR: Duration = Duration::from_secs(3_600);
    /// The shortest time between two attempts to write a link's marker.
    pub const ATTEMPTS_APART: Duration = Duration::from_millis(300);
    /// Maximum number of links, of which the least recently followed is evicted: 0.6 MB.
    pub const MAX_LINKS: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    /// What to do with a click of this time. Each click asks this once, which also counts it.
    pub fn advise(&self, link: &LinkId, at: Timestamp) -> Advice {
        let mut links = self.links.lock();
        let followed = links.get_or_insert_mut_ref(link, FollowedLink::default);
        followed.pace.note(at);
        if followed.wide_until.is_some_and(|until| at < until) {
            return Advice::Store(Spread::Wide);
        }
        let has_just_asked = followed.asked_at.is_some_and(|asked| asked.until(at) < Self::ATTEMPTS_APART);
        if has_just_asked || !followed.pace.is_reached(at) {
            return Advice::Store(Spread::Narrow);
        }
        followed.asked_at = Some(at);
        Advice::Widen { until: at.plus(Self::WIDE_FOR) }
    }

    /// Remembers that the table has refused a click of this time.
    pub fn refused(&self, link: &LinkId, at: Timestamp) {
        if let Some(followed) = self.links.lock().get_mut(link) {
            (1..Self::REFUSED).for_each(|_| followed.pace.note(at));
        }
    }

    /// Remembers that a link has a marker until this time.
    pub fn widened(&self, link: &LinkId, until: Timestamp) {
        if let Some(followed) = self.links.lock().get_mut(link) {
            followed.wide_until = Some(until);
        }
    }
}

impl Default for Spreading {
    fn default() -> Self {
        Self { links: Mutex::new(LruCache::sparse(Self::MAX_LINKS)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);
    const NARROW: Advice = Advice::Store(Spread::Narrow);
    const WIDE: Advice = Advice::Store(Spread::Wide);

    fn link(number: usize) -> LinkId {
        LinkId::parse(&format!("c{number}xyz.x7Kf2a")).unwrap()
    }

    fn after(millis: u32) -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap().plus(MILLISECOND * millis)
    }

    fn click(spreading: &Spreading, at: Timestamp) -> Advice {
        spreading.advise(&link(0), at)
    }

    /// A link whose marker was written with its click number 32, of time 0.
    fn wide() -> Spreading {
        let spreading = Spreading::default();
        for _ in 1..32 {
            assert_eq!(click(&spreading, after(0)), NARROW);
        }
        let until = after(0).plus(Spreading::WIDE_FOR);
        assert_eq!(click(&spreading, after(0)), Advice::Widen { until });
        spreading.widened(&link(0), until);
        spreading
    }

    #[test]
    fn a_link_is_hot_from_its_32nd_click_within_a_second() {
        let spreading = Spreading::default();
        for number in 0..31 {
            assert_eq!(click(&spreading, after(number)), NARROW, "{number}");
        }

        let last = click(&spreading, after(1_000));

        assert_eq!(last, Advice::Widen { until: after(1_000).plus(Spreading::WIDE_FOR) });
    }

    #[test]
    fn clicks_33_milliseconds_apart_never_make_a_link_hot() {
        let spreading = Spreading::default();
        for number in 0..1_000 {
            assert_eq!(click(&spreading, after(33 * number)), NARROW, "{number}");
        }
    }

    #[test]
    fn a_link_is_hot_after_two_refused_clicks_within_a_second() {
        let spreading = Spreading::default();
        let advices = [0, 1_001, 2_000, 2_001].map(|millis| {
            let advice = click(&spreading, after(millis));
            spreading.refused(&link(0), after(millis));
            advice
        });

        assert_eq!(advices[..3], [NARROW; 3]);
        assert_eq!(advices[3], Advice::Widen { until: after(2_001).plus(Spreading::WIDE_FOR) });
    }

    #[test]
    fn a_hot_links_clicks_are_stored_wide_by_their_own_times() {
        let (spreading, hour) = (wide(), 3_600_000);

        assert_eq!([0, 5, hour - 1].map(|millis| click(&spreading, after(millis))), [WIDE; 3]);
        assert_eq!(click(&spreading, after(hour)), NARROW, "it has cooled down");
        assert_eq!(click(&spreading, after(hour - 1)), WIDE, "it was followed before");
    }

    #[test]
    fn a_link_that_is_still_hot_gets_its_next_marker_at_once() {
        let (spreading, hour) = (wide(), 3_600_000);
        for number in 1..=32 {
            assert_eq!(click(&spreading, after(hour - number)), WIDE);
        }

        let next = click(&spreading, after(hour));

        assert_eq!(next, Advice::Widen { until: after(2 * hour) });
    }

    #[test]
    fn without_a_marker_clicks_stay_narrow_and_widening_is_tried_again() {
        let spreading = Spreading::default();
        let advices: Vec<_> = (0..500).map(|millis| click(&spreading, after(millis))).collect();

        let attempts: Vec<_> = (0..).zip(&advices).filter(|(_, advice)| **advice != NARROW).collect();

        let attempt = |millis: u32| Advice::Widen { until: after(millis).plus(Spreading::WIDE_FOR) };
        assert_eq!(attempts, [(31, &attempt(31)), (331, &attempt(331))]);
    }

    #[test]
    fn other_links_are_as_they_were() {
        let spreading = wide();

        assert_eq!(spreading.advise(&link(1), after(1)), NARROW);
    }

    #[test]
    fn memory_is_bounded_and_a_link_that_is_followed_stays_wide() {
        let spreading = wide();
        for number in 1..Spreading::MAX_LINKS.get() * 3 {
            spreading.advise(&link(number), after(1));
            assert_eq!(click(&spreading, after(1)), WIDE);
        }

        assert_eq!(spreading.links.lock().len(), Spreading::MAX_LINKS.get());
        assert!(spreading.links.lock().iter().all(|(_, followed)| followed.pace.len() <= Spreading::HOT));
    }
}
