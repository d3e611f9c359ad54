//! Rate limits by address, decided without I/O.
//!
//! Each execution environment counts the calls of a subject in memory and decides by its own count. Once a subject has used a
//! tenth of the limit here, the count is merged into ThrottleTable, at most every five seconds, and the table's total replaces
//! the local one. So an ordinary visitor costs no write. A subject that N environments serve can exceed the limit: of 300
//! calls, up to 29 per environment are never merged, and calls between two merges are known to one environment only. No
//! environment allows more than the limit, so N times the limit is the upper bound.

use std::{num::NonZeroUsize, time::Duration};

use linklet_domain::{Allowance, LimitedRoute, RateLimit, Refusal, Salt, ThrottleSubject, Timestamp, Window};
use linklet_dynamodb::{RepositoryError, ThrottleTable};
use lru::LruCache;
use parking_lot::Mutex;

use crate::http::{ApiError, Edge, Request, Result};
use crate::metrics::{self, Metric};
use crate::telemetry::warn_of;

/// Counts the calls of this environment.
pub struct Limiter {
    /// What a client is allowed.
    pub limit: RateLimit,
    counts: Mutex<LruCache<ThrottleSubject, Count>>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    /// The window with all known calls: the total of the latest merge, and the calls here since.
    window: Window,
    /// The calls in this environment.
    here: u32,
    /// The calls in this environment that aren't merged yet.
    unmerged: u32,
    merged_at: Option<Timestamp>,
}

impl Count {
    fn starting(now: Timestamp, merged_at: Option<Timestamp>) -> Self {
        Self { window: Window::starting(now), here: 0, unmerged: 0, merged_at }
    }
}

impl Limiter {
    /// The shortest time between two merges of a subject.
    pub const MERGE_INTERVAL: Duration = Duration::from_secs(5);
    /// A subject's calls are merged once they are at least the limit divided by this.
    pub const MERGE_PART: u32 = 10;
    /// Maximum number of subjects, of which the least recently used is evicted: some 2 MB. A client with more addresses gains
    /// nothing by evicting its own, since each address has a limit of its own.
    pub const MAX_SUBJECTS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

    /// A limiter without any counted calls.
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, counts: Mutex::new(LruCache::sparse(Self::MAX_SUBJECTS)) }
    }

    /// Counts a call for all of its subjects, unless the limit of one is reached. What remains is that of the strictest.
    ///
    /// # Errors
    /// When a limit is reached; the call is counted for none then.
    pub fn count(&self, subjects: &[ThrottleSubject], now: Timestamp) -> Result<Option<Allowance>, Refusal> {
        let mut counts = self.counts.lock();
        // The largest network first, so that a refusal of it makes no room for the addresses in it, which may be many.
        for subject in subjects.iter().rev() {
            let (limit, count) = (self.limit.of(subject), current(&mut counts, subject, now));
            if limit.is_reached(count.window) {
                return Err(limit.refusal(count.window, now));
            }
        }
        let allowances = subjects.iter().map(|subject| {
            let count = current(&mut counts, subject, now);
            count.window.hits += 1;
            count.here += 1;
            count.unmerged += 1;
            self.limit.of(subject).allowance(count.window, now)
        });
        Ok(allowances.reduce(Allowance::stricter))
    }

    /// The calls to merge into the table now, if any. The caller must merge them.
    fn due(&self, subject: &ThrottleSubject, now: Timestamp) -> Option<Window> {
        let mut counts = self.counts.lock();
        let count = counts.get_mut(subject).filter(|count| count.window.is_live(now))?;
        let is_frequent =
            u64::from(count.here) * u64::from(Self::MERGE_PART) >= u64::from(self.limit.of(subject).calls());
        let was_merged = count.merged_at.is_some_and(|merged| merged.until(now) < Self::MERGE_INTERVAL);
        if count.unmerged == 0 || !is_frequent || was_merged {
            return None;
        }
        count.merged_at = Some(now);
        Some(Window { hits: count.unmerged, ..count.window })
    }

    /// Merges the calls of these subjects that are due. What fails is merged later.
    pub async fn merge_due(
        &self,
        (table, route): (&ThrottleTable, LimitedRoute),
        subjects: &[ThrottleSubject],
        now: Timestamp,
    ) {
        for subject in subjects {
            let Some(calls) = self.due(subject, now) else { continue };
            // Boxed, since most requests carry the room for a call in vain.
            let merged = Box::pin(table.merge(route, subject, calls, now)).await;
            if let Some(total) = answer_of_table(merged, "calls were not merged") {
                self.merged(subject, calls, total);
            }
        }
    }

    /// Replaces the local window by the table's after a merge, and adds the calls that came meanwhile.
    fn merged(&self, subject: &ThrottleSubject, sent: Window, total: Window) {
        let mut counts = self.counts.lock();
        // The total of a window that is over is of no use.
        if let Some(count) = counts.get_mut(subject).filter(|count| count.window.ends_at == sent.ends_at) {
            count.unmerged = count.unmerged.saturating_sub(sent.hits);
            count.window = Window { hits: total.hits.saturating_add(count.unmerged), ..total };
        }
    }
}

/// Limits by address what is asked about links of a workspace from outside of it.
pub struct Strangers {
    /// The table that the counts of calls are merged into.
    pub calls: ThrottleTable,
    /// Counts the calls in this environment.
    pub limiter: Limiter,
    /// The trusted edge, which determines the client's address.
    pub edge: Edge,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

impl Strangers {
    /// Counts a question about statistics.
    ///
    /// # Errors
    /// 429 when there were too many from the address.
    pub async fn admit(&self, request: &Request) -> Result<()> {
        let (senders, now) = (ThrottleSubject::all_at(&self.edge.address(request), &self.salt), request.received_at);
        let counted = self.limiter.count(&senders, now);
        self.limiter.merge_due((&self.calls, LimitedRoute::Statistics), &senders, now).await;
        counted.map(drop).map_err(|refusal| {
            request.note_refused(&senders);
            ApiError::Throttled(refusal)
        })
    }
}

/// The count of a subject in its live window, which begins now if there is none.
fn current<'c>(
    counts: &'c mut LruCache<ThrottleSubject, Count>,
    subject: &ThrottleSubject,
    now: Timestamp,
) -> &'c mut Count {
    let count = counts.get_or_insert_mut_ref(subject, || Count::starting(now, None));
    if !count.window.is_live(now) {
        *count = Count::starting(now, count.merged_at);
    }
    count
}

/// What ThrottleTable has answered; nothing after a warning with this message if it has failed.
pub(crate) fn answer_of_table<T>(answer: Result<T, RepositoryError>, message: &'static str) -> Option<T> {
    let answer = warn_of(answer, message);
    metrics::add(Metric::ThrottleUnavailable, answer.is_none().into());
    answer
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv6Addr, slice};

    use linklet_domain::Salt;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn subject(number: usize) -> ThrottleSubject {
        let address = format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255);
        ThrottleSubject::at(&address, &Salt::parse(&"salt".repeat(8)).unwrap())
    }

    fn ada() -> ThrottleSubject {
        subject(1)
    }

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    /// A limiter of 20 calls a minute, so merges begin with the second.
    fn limiter() -> Limiter {
        Limiter::new(RateLimit::per_minute(20).unwrap())
    }

    fn count(limiter: &Limiter, subject: &ThrottleSubject, now: Timestamp) -> Result<Allowance, Refusal> {
        limiter.count(slice::from_ref(subject), now).map(Option::unwrap)
    }

    fn call(limiter: &Limiter, times: u32, now: Timestamp) {
        for _ in 0..times {
            count(limiter, &ada(), now).unwrap();
        }
    }

    #[test]
    fn calls_up_to_the_limit_are_allowed_and_the_next_is_not() {
        let limiter = limiter();

        for remaining in (0..20).rev() {
            assert_eq!(count(&limiter, &ada(), noon()), Ok(Allowance { limit: 20, remaining, resets_in: 60 }));
        }
        let later = noon().plus(SECOND / 2);
        assert_eq!(count(&limiter, &ada(), later), Err(Refusal { limit: 20, retry_after: 60 }));
    }

    #[test]
    fn a_window_lasts_a_minute_from_the_first_call() {
        let limiter = limiter();
        call(&limiter, 1, noon());
        call(&limiter, 19, noon().plus(SECOND * 59));
        assert!(count(&limiter, &ada(), noon().plus(SECOND * 59)).is_err());

        let after = noon().plus(SECOND * 60);

        assert_eq!(count(&limiter, &ada(), after), Ok(Allowance { limit: 20, remaining: 19, resets_in: 60 }));
    }

    #[test]
    fn a_refused_call_is_not_counted() {
        let limiter = limiter();
        call(&limiter, 20, noon());
        for _ in 0..5 {
            count(&limiter, &ada(), noon()).unwrap_err();
        }

        assert_eq!(limiter.due(&ada(), noon()).unwrap().hits, 20);
    }

    #[test]
    fn addresses_are_counted_apart() {
        let limiter = limiter();
        call(&limiter, 20, noon());

        assert!(count(&limiter, &subject(2), noon()).is_ok());
    }

    /// What a call from this IPv6 address counts for.
    fn networks(address: u128) -> Vec<ThrottleSubject> {
        let address = Ipv6Addr::from_bits(0x2001_0db8_0001 << 80 | address).to_string();
        ThrottleSubject::all_at(&address, &Salt::parse(&"salt".repeat(8)).unwrap())
    }

    #[test]
    fn whoever_has_all_networks_of_a_48_has_sixteen_limits() {
        let limiter = limiter();
        let passed = |networks_of_64: u128| limiter.count(&networks(networks_of_64 << 64), noon()).is_ok();

        let all = (0..=0xffff).filter(|network| passed(*network)).count();

        assert_eq!(all, 16 * 20);
        assert!(limiter.counts.lock().len() < 16 * 20 * 3, "refused calls leave nothing behind");
        assert!(limiter.count(&networks(2 << 80), noon()).is_ok(), "another /48");
    }

    #[test]
    fn whoever_has_all_networks_of_a_56_has_four_limits() {
        let limiter = limiter();
        let passed = |network: u128| limiter.count(&networks(network << 64), noon()).is_ok();

        assert_eq!((0..=0xff).filter(|network| passed(*network)).count(), 4 * 20);
        assert!(passed(0x100), "another /56");
    }

    #[test]
    fn an_ipv6_address_has_one_limit_and_refusals_count_for_no_network() {
        let limiter = limiter();
        let ada = networks(1);

        let passed = (0..100).filter(|_| limiter.count(&ada, noon()).is_ok()).count();

        assert_eq!(passed, 20);
        assert_eq!(limiter.due(&ada[1], noon()).unwrap().hits, 20);
        let neighbour = limiter.count(&networks(1 << 64), noon());
        assert_eq!(neighbour, Ok(Some(Allowance { limit: 20, remaining: 19, resets_in: 60 })));
    }

    #[test]
    fn a_larger_network_is_merged_after_a_tenth_of_its_own_limit() {
        let limiter = limiter();
        let ada = networks(1);
        let due = || ada.iter().map(|subject| limiter.due(subject, noon()).is_some()).collect::<Vec<_>>();

        limiter.count(&ada, noon()).unwrap();
        assert_eq!(due(), [false, false, false]);
        for _ in 1..8 {
            limiter.count(&ada, noon()).unwrap();
        }

        assert_eq!(due(), [true, true, false], "8 of 20, 80 and 320 calls");
    }

    #[test]
    fn nothing_is_merged_before_a_tenth_of_the_limit() {
        let limiter = limiter();
        call(&limiter, 1, noon());
        assert_eq!(limiter.due(&ada(), noon()), None);

        call(&limiter, 1, noon());

        assert_eq!(limiter.due(&ada(), noon()), Some(Window { ends_at: noon().plus(SECOND * 60), hits: 2 }));
        assert_eq!(limiter.due(&subject(2), noon()), None);
    }

    #[test]
    fn calls_are_merged_at_most_every_five_seconds() {
        let limiter = limiter();
        call(&limiter, 2, noon());
        assert!(limiter.due(&ada(), noon()).is_some());
        call(&limiter, 1, noon());

        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 5 - Duration::from_millis(1))), None);
        assert!(limiter.due(&ada(), noon().plus(SECOND * 5)).is_some());
    }

    #[test]
    fn the_five_seconds_hold_across_windows() {
        let limiter = limiter();
        let last = noon().plus(SECOND * 58);
        call(&limiter, 2, noon());
        limiter.due(&ada(), last).unwrap();

        let next_window = noon().plus(SECOND * 60);
        call(&limiter, 2, next_window);

        assert_eq!(limiter.due(&ada(), next_window), None);
        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 63)).unwrap().hits, 2);
    }

    #[test]
    fn a_merge_brings_the_tables_total_and_its_window() {
        let limiter = limiter();
        call(&limiter, 5, noon());
        let sent = limiter.due(&ada(), noon()).unwrap();
        let ends_at = noon().plus(SECOND * 20);

        limiter.merged(&ada(), sent, Window { ends_at, hits: 18 });

        assert_eq!(count(&limiter, &ada(), noon()), Ok(Allowance { limit: 20, remaining: 1, resets_in: 20 }));
        call(&limiter, 1, noon());
        assert_eq!(count(&limiter, &ada(), noon()), Err(Refusal { limit: 20, retry_after: 20 }));
        assert!(count(&limiter, &ada(), ends_at).is_ok());
    }

    #[test]
    fn calls_during_a_merge_are_part_of_the_next() {
        let limiter = limiter();
        call(&limiter, 5, noon());
        let sent = limiter.due(&ada(), noon()).unwrap();
        call(&limiter, 3, noon());

        limiter.merged(&ada(), sent, Window { hits: 10, ..sent });

        assert_eq!(
            count(&limiter, &ada(), noon()),
            Ok(Allowance { limit: 20, remaining: 6, resets_in: 60 }),
            "10 + 3 + 1"
        );
        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 5)).unwrap().hits, 4);
    }

    #[test]
    fn what_is_merged_is_not_merged_again_and_what_failed_is() {
        let limiter = limiter();
        call(&limiter, 5, noon());
        limiter.due(&ada(), noon()).unwrap();
        let second = limiter.due(&ada(), noon().plus(SECOND * 5)).unwrap();
        assert_eq!(second.hits, 5, "the first merge never reported");

        limiter.merged(&ada(), second, second);

        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 10)), None, "nobody has called since");
    }

    #[test]
    fn a_merge_that_ends_after_its_window_changes_nothing() {
        let limiter = limiter();
        call(&limiter, 5, noon());
        let sent = limiter.due(&ada(), noon()).unwrap();
        let after = noon().plus(SECOND * 60);
        call(&limiter, 1, after);

        limiter.merged(&ada(), sent, Window { hits: 20, ..sent });

        assert_eq!(count(&limiter, &ada(), after), Ok(Allowance { limit: 20, remaining: 18, resets_in: 60 }));
    }

    #[test]
    fn a_window_that_is_over_is_not_merged() {
        let limiter = limiter();
        call(&limiter, 5, noon());

        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 60)), None);
    }

    #[test]
    fn memory_is_bounded_and_who_goes_on_calling_stays_known() {
        let limiter = limiter();
        let mut allowed = Vec::new();
        for number in 2..=Limiter::MAX_SUBJECTS.get() * 3 {
            count(&limiter, &subject(number), noon()).unwrap();
            if number % 1_000 == 0 {
                allowed.push(count(&limiter, &ada(), noon()).is_ok());
            }
        }

        assert_eq!(limiter.counts.lock().len(), Limiter::MAX_SUBJECTS.get());
        assert_eq!(allowed, [[true; 20].as_slice(), &[false; 10]].concat());
    }
}
