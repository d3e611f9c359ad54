//! A cache of hot links: those that many requests ask for at the moment.
//!
//! A hot link is cached for a second, so a viral link costs one read per second instead of one per visitor, while a change of
//! any other link is seen at once. The last state of a cached link is kept for some minutes as a fallback, for when the table
//! can't be read.

use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{Record, RedirectTarget, ShortCode, Timestamp};
use linklet_lambda::following::Pace;
use lru::LruCache;
use parking_lot::Mutex;

/// The cached records of this execution environment.
///
/// A hit returns the record of a code. Whether the link still redirects is for the caller to check, since it may have expired.
#[derive(Debug)]
pub struct HotLinks {
    codes: Mutex<LruCache<ShortCode, Code>>,
}

#[derive(Debug)]
struct Code {
    requests: Pace<{ HotLinks::HOT }>,
    held: Option<CachedRecord>,
}

#[derive(Debug, Clone)]
struct CachedRecord {
    record: Record<RedirectTarget>,
    read_at: Timestamp,
    /// How long after `read_at` a request is answered without reading again.
    fresh_for: Duration,
}

impl Code {
    fn asked_for(now: Timestamp) -> Self {
        let mut code = Self { requests: Pace::default(), held: None };
        code.requests.note(now);
        code
    }
}

impl HotLinks {
    /// How many requests within a second make a link hot.
    pub const HOT: usize = 8;
    /// How long a hot link is cached.
    pub const HELD_FOR: Duration = Duration::from_secs(1);
    /// How long a tombstone is cached. It is final, so it is cached longer than a link, and need not be hot. That of a purged link
    /// is not: its workspace may take the code again at once.
    pub const TOMBSTONE_HELD_FOR: Duration = Duration::from_secs(60);
    /// How long the last state of a link may be used while the table can't be read.
    pub const LAST_RESORT_FOR: Duration = Duration::from_secs(300);
    /// Maximum number of codes, of which the least recently used is evicted: some 3 MB if all are cached and have long URLs.
    pub const MAX_CODES: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    /// The record of a code, if it is cached. Each request calls this first, which also counts the request.
    pub fn get(&self, code: &ShortCode, now: Timestamp) -> Option<Record<RedirectTarget>> {
        let mut codes = self.codes.lock();
        let known = codes.get_mut(code)?;
        known.requests.note(now);
        let held = known.held.as_ref().filter(|held| is_within(held.fresh_for, held.read_at, now))?;
        Some(held.record.clone())
    }

    /// Caches what was read for a request that arrived at `now`, if the link is hot or a tombstone.
    pub fn learn(&self, code: &ShortCode, found: Option<&Record<RedirectTarget>>, now: Timestamp) {
        let mut codes = self.codes.lock();
        // An unknown code is not cached, or a client that tries out codes could evict all others.
        let Some(record) = found else {
            codes.pop(code);
            return;
        };
        let known = codes.get_or_insert_mut_ref(code, || Code::asked_for(now));
        // A late response of an earlier read must not bring a deleted link back.
        if known.held.as_ref().is_some_and(|held| held.read_at > now) {
            return;
        }
        let fresh_for = match record {
            Record::Tombstone(_) if record.is_purged() => Self::HELD_FOR,
            Record::Tombstone(_) => Self::TOMBSTONE_HELD_FOR,
            Record::Link(_) if known.requests.is_reached(now) => Self::HELD_FOR,
            // A link that was hot once is kept up to date, as a fallback.
            Record::Link(_) if known.held.is_some() => Duration::ZERO,
            Record::Link(_) => return,
        };
        known.held = Some(CachedRecord { record: record.clone(), read_at: now, fresh_for });
    }

    /// The last known state of a link that was hot, for use while the table can't be read.
    pub fn last_resort(&self, code: &ShortCode, now: Timestamp) -> Option<Record<RedirectTarget>> {
        let codes = self.codes.lock();
        let held = codes.peek(code)?.held.as_ref()?;
        (held.read_at.until(now) <= Self::LAST_RESORT_FOR).then(|| held.record.clone())
    }
}

impl Default for HotLinks {
    fn default() -> Self {
        Self { codes: Mutex::new(LruCache::sparse(Self::MAX_CODES)) }
    }
}

/// Whether `now` is less than `span` after `since`. After a clock went back it isn't, since reading once more is harmless.
fn is_within(span: Duration, since: Timestamp, now: Timestamp) -> bool {
    since <= now && since.until(now) < span
}

#[cfg(test)]
mod tests {
    use linklet_domain::{
        Availability, CorrelationId, LinkId, LinkIdentity, LinkState, LinkWrite, RemovalReason, Suspensions, TargetUrl,
        Tombstone, UserId, WorkspaceId,
    };

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn code(text: &str) -> ShortCode {
        ShortCode::parse(text).unwrap()
    }

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn identity() -> LinkIdentity {
        LinkIdentity {
            id: LinkId::parse("launch.x7Kf2a").unwrap(),
            workspace: WorkspaceId::parse("0199c3a4-5b6c-7d8e-9f01-23456789abcd").unwrap(),
            owner: UserId::parse("0199c3a4-5b6c-7d8e-9f01-23456789abcd").unwrap(),
        }
    }

    fn link_in(state: LinkState) -> Record<RedirectTarget> {
        Record::Link(RedirectTarget {
            identity: identity(),
            target: TargetUrl::parse("https://example.com").unwrap(),
            availability: Availability { state, ..Availability::default() },
            settings: None,
            statistics: None,
        })
    }

    fn link() -> Record<RedirectTarget> {
        link_in(LinkState::Active)
    }

    fn tombstone() -> Record<RedirectTarget> {
        Record::Tombstone(Tombstone {
            identity: identity(),
            reason: RemovalReason::Expired,
            removed_at: noon(),
            watched_target: None,
            suspensions: Suspensions::default(),
            statistics: None,
            last_write: LinkWrite::of(&CorrelationId::generate()),
        })
    }

    /// A request at this time, to a table where this stands; says whether the table was read.
    fn ask(hot: &HotLinks, found: Option<&Record<RedirectTarget>>, now: Timestamp) -> bool {
        let is_held = hot.get(&code("launch"), now).is_some();
        if !is_held {
            hot.learn(&code("launch"), found, now);
        }
        !is_held
    }

    /// A link that is held since noon.
    fn hot() -> HotLinks {
        let hot = HotLinks::default();
        for _ in 0..8 {
            assert!(ask(&hot, Some(&link()), noon()));
        }
        hot
    }

    fn last_resort(hot: &HotLinks, now: Timestamp) -> Option<Record<RedirectTarget>> {
        hot.last_resort(&code("launch"), now)
    }

    #[test]
    fn a_code_is_held_from_its_eighth_request_within_a_second() {
        let hot = HotLinks::default();
        for millis in [0, 1, 2, 3, 4, 5, 6, 1_000] {
            assert!(ask(&hot, Some(&link()), noon().plus(MILLISECOND * millis)), "{millis}");
        }

        assert!(!ask(&hot, Some(&link()), noon().plus(MILLISECOND * 1_001)));
    }

    #[test]
    fn eight_requests_in_more_than_a_second_are_not_enough() {
        let hot = HotLinks::default();
        for request in 0..100 {
            assert!(ask(&hot, Some(&link()), noon().plus(MILLISECOND * 143 * request)), "{request}");
        }
        assert_eq!(last_resort(&hot, noon()), None);
    }

    #[test]
    fn it_is_held_for_a_second_and_then_read_once_more() {
        let hot = hot();
        for millis in [1, 500, 700, 800, 900, 950, 980, 999] {
            assert!(!ask(&hot, Some(&link()), noon().plus(MILLISECOND * millis)), "{millis}");
        }

        assert!(ask(&hot, Some(&link()), noon().plus(MILLISECOND * 1_000)));
        assert!(!ask(&hot, Some(&link()), noon().plus(MILLISECOND * 1_001)), "still as many ask for it");
    }

    #[test]
    fn a_code_that_has_cooled_down_is_read_every_time() {
        let hot = hot();

        assert!(ask(&hot, Some(&link()), noon().plus(MILLISECOND * 5_000)));
        assert!(ask(&hot, Some(&link()), noon().plus(MILLISECOND * 5_001)));
    }

    #[test]
    fn a_tombstone_is_held_for_a_minute_from_the_first_request_on() {
        let hot = HotLinks::default();
        assert!(ask(&hot, Some(&tombstone()), noon()));

        assert!(!ask(&hot, Some(&tombstone()), noon().plus(MILLISECOND * 59_999)));
        assert!(ask(&hot, Some(&tombstone()), noon().plus(MILLISECOND * 60_000)));
    }

    #[test]
    fn the_tombstone_of_a_purged_link_is_held_for_one_second() {
        let hot = HotLinks::default();
        let Record::Tombstone(tombstone) = tombstone() else { panic!("it is a tombstone") };
        let purged = Record::Tombstone(Tombstone { reason: RemovalReason::Purged, ..tombstone });
        assert!(ask(&hot, Some(&purged), noon()));

        assert!(!ask(&hot, Some(&purged), noon().plus(MILLISECOND * 999)));
        assert!(ask(&hot, Some(&purged), noon().plus(MILLISECOND * 1_000)));
    }

    #[test]
    fn what_is_not_there_is_never_held_nor_remembered() {
        let hot = HotLinks::default();
        for _ in 0..20 {
            assert!(ask(&hot, None, noon()));
        }
        assert!(hot.codes.lock().is_empty());

        let hot = super::tests::hot();
        assert!(ask(&hot, None, noon().plus(MILLISECOND * 1_000)));
        assert_eq!(last_resort(&hot, noon().plus(MILLISECOND * 1_000)), None);
    }

    #[test]
    fn a_clock_that_goes_back_makes_what_is_held_stale() {
        let hot = hot();

        assert!(hot.get(&code("launch"), noon().minus(MILLISECOND)).is_none());
    }

    #[test]
    fn a_hot_link_is_a_last_resort_for_five_minutes_after_reading() {
        let hot = hot();
        let later = noon().plus(MILLISECOND * 60_000);
        ask(&hot, Some(&link()), later);

        assert_eq!(last_resort(&hot, later.plus(HotLinks::LAST_RESORT_FOR)), Some(link()));
        assert_eq!(last_resort(&hot, later.plus(HotLinks::LAST_RESORT_FOR + MILLISECOND)), None);
    }

    #[test]
    fn the_last_resort_is_the_last_known_state() {
        for last in [link_in(LinkState::Deleted(noon())), link_in(LinkState::Inactive), tombstone()] {
            let hot = hot();
            let later = noon().plus(MILLISECOND * 2_000);
            ask(&hot, Some(&last), later);

            assert_eq!(last_resort(&hot, later), Some(last));
        }
    }

    #[test]
    fn an_answer_that_was_overtaken_brings_no_deleted_link_back() {
        let hot = hot();
        let (early, late) = (noon().plus(MILLISECOND * 1_000), noon().plus(MILLISECOND * 1_001));
        let deleted = link_in(LinkState::Deleted(noon()));
        hot.learn(&code("launch"), Some(&deleted), late);

        hot.learn(&code("launch"), Some(&link()), early);

        assert_eq!(last_resort(&hot, late), Some(deleted));
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let hot = hot();
        for number in 0..HotLinks::MAX_CODES.get() * 3 {
            let now = noon().plus(MILLISECOND * u32::try_from(number).unwrap());
            ask(&hot, Some(&link()), now);
            hot.learn(&code(&format!("c{number}xyz")), Some(&link()), now);
            assert!(hot.codes.lock().len() <= HotLinks::MAX_CODES.get());
        }

        assert!(last_resort(&hot, noon()).is_some());
        assert!(!hot.codes.lock().contains(&code("c0xyz")));
    }
}
