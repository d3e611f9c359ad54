//! The limit of redirects, decided without I/O.
//!
//! Each execution environment counts for itself and asks nobody before it answers. What it has counted is merged into
//! ThrottleTable now and then, and the table's total is what the next decisions start from. So a subject that spreads its
//! calls over environments may exceed the limit a little, and an ordinary visitor costs no write at all.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use linklet_domain::{Allowance, RateLimit, Refusal, ThrottleSubject, Timestamp, Window};

/// Counts the calls of this environment.
pub struct Limiter {
    limit: RateLimit,
    counts: Mutex<HashMap<ThrottleSubject, Count>>,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    /// All calls that are known of: those that the latest merge told, and those since.
    window: Window,
    /// The calls that came here.
    here: u32,
    /// Those among them that the table doesn't know.
    unmerged: u32,
    merged_at: Option<Timestamp>,
}

impl Count {
    fn starting(now: Timestamp, merged_at: Option<Timestamp>) -> Self {
        Self { window: Window::starting(now), here: 0, unmerged: 0, merged_at }
    }
}

impl Limiter {
    /// At most so often, the calls of a subject are merged.
    pub const MERGE_INTERVAL: Duration = Duration::from_secs(5);
    /// Nothing is merged before a subject has made this part of the limit here, a tenth.
    pub const MERGE_PART: u32 = 10;
    /// So many subjects are remembered: some 2 MB.
    pub const MAX_SUBJECTS: usize = 10_000;

    /// Nobody has called yet.
    #[must_use]
    pub fn new(limit: RateLimit) -> Self {
        Self { limit, counts: Mutex::default() }
    }

    /// Counts a call, unless the limit is reached.
    ///
    /// # Errors
    /// When it is; then nothing is counted.
    pub fn count(&self, subject: &ThrottleSubject, now: Timestamp) -> Result<Allowance, Refusal> {
        let mut counts = self.counts();
        if !counts.contains_key(subject) {
            make_room(&mut counts, now);
        }
        let count = counts.entry(subject.clone()).or_insert_with(|| Count::starting(now, None));
        if !count.window.is_live(now) {
            *count = Count::starting(now, count.merged_at);
        }
        if self.limit.is_reached(count.window) {
            return Err(self.limit.refusal(count.window, now));
        }
        count.window.hits += 1;
        count.here += 1;
        count.unmerged += 1;
        Ok(self.limit.allowance(count.window))
    }

    /// The calls that should be merged now, if any. Whoever gets them merges them.
    pub fn due(&self, subject: &ThrottleSubject, now: Timestamp) -> Option<Window> {
        let mut counts = self.counts();
        let count = counts.get_mut(subject).filter(|count| count.window.is_live(now))?;
        let is_frequent = u64::from(count.here) * u64::from(Self::MERGE_PART) >= u64::from(self.limit.calls());
        let was_merged = count.merged_at.is_some_and(|merged| merged.until(now) < Self::MERGE_INTERVAL);
        if count.unmerged == 0 || !is_frequent || was_merged {
            return None;
        }
        count.merged_at = Some(now);
        Some(Window { hits: count.unmerged, ..count.window })
    }

    /// Takes over the table's window and total, with the calls that came meanwhile.
    pub fn merged(&self, subject: &ThrottleSubject, sent: Window, total: Window) {
        let mut counts = self.counts();
        // Of an older window, the table's answer says nothing any more.
        if let Some(count) = counts.get_mut(subject).filter(|count| count.window.ends_at == sent.ends_at) {
            count.unmerged = count.unmerged.saturating_sub(sent.hits);
            count.window = Window { hits: total.hits.saturating_add(count.unmerged), ..total };
        }
    }

    /// Nobody panics while holding the lock, so even a poisoned one guards sound counts.
    fn counts(&self) -> MutexGuard<'_, HashMap<ThrottleSubject, Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets windows that are over, and if that isn't enough the tenth with the fewest calls: who calls most stays known. A tenth
/// at once, so that this is seldom.
fn make_room(counts: &mut HashMap<ThrottleSubject, Count>, now: Timestamp) {
    if counts.len() < Limiter::MAX_SUBJECTS {
        return;
    }
    counts.retain(|_, count| count.window.is_live(now));
    let keep = Limiter::MAX_SUBJECTS / 10 * 9;
    if counts.len() > keep {
        let mut all: Vec<_> = counts.drain().collect();
        all.select_nth_unstable_by_key(keep - 1, |(_, count)| std::cmp::Reverse(count.window.hits));
        all.truncate(keep);
        counts.extend(all);
    }
}

#[cfg(test)]
mod tests {
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

    fn call(limiter: &Limiter, times: u32, now: Timestamp) {
        for _ in 0..times {
            limiter.count(&ada(), now).unwrap();
        }
    }

    #[test]
    fn calls_up_to_the_limit_are_allowed_and_the_next_is_not() {
        let limiter = limiter();

        for remaining in (0..20).rev() {
            assert_eq!(limiter.count(&ada(), noon()), Ok(Allowance { limit: 20, remaining }));
        }
        let later = noon().plus(SECOND / 2);
        assert_eq!(limiter.count(&ada(), later), Err(Refusal { limit: 20, retry_after: 60 }));
    }

    #[test]
    fn a_window_lasts_a_minute_from_the_first_call() {
        let limiter = limiter();
        call(&limiter, 1, noon());
        call(&limiter, 19, noon().plus(SECOND * 59));
        assert!(limiter.count(&ada(), noon().plus(SECOND * 59)).is_err());

        let after = noon().plus(SECOND * 60);

        assert_eq!(limiter.count(&ada(), after), Ok(Allowance { limit: 20, remaining: 19 }));
    }

    #[test]
    fn a_refused_call_is_not_counted() {
        let limiter = limiter();
        call(&limiter, 20, noon());
        for _ in 0..5 {
            limiter.count(&ada(), noon()).unwrap_err();
        }

        assert_eq!(limiter.due(&ada(), noon()).unwrap().hits, 20);
    }

    #[test]
    fn addresses_are_counted_apart() {
        let limiter = limiter();
        call(&limiter, 20, noon());

        assert!(limiter.count(&subject(2), noon()).is_ok());
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

        assert_eq!(limiter.count(&ada(), noon()), Ok(Allowance { limit: 20, remaining: 1 }));
        call(&limiter, 1, noon());
        assert_eq!(limiter.count(&ada(), noon()), Err(Refusal { limit: 20, retry_after: 20 }));
        assert!(limiter.count(&ada(), ends_at).is_ok());
    }

    #[test]
    fn calls_during_a_merge_are_part_of_the_next() {
        let limiter = limiter();
        call(&limiter, 5, noon());
        let sent = limiter.due(&ada(), noon()).unwrap();
        call(&limiter, 3, noon());

        limiter.merged(&ada(), sent, Window { hits: 10, ..sent });

        assert_eq!(limiter.count(&ada(), noon()), Ok(Allowance { limit: 20, remaining: 6 }), "10 + 3 + 1");
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

        assert_eq!(limiter.count(&ada(), after), Ok(Allowance { limit: 20, remaining: 18 }));
    }

    #[test]
    fn a_window_that_is_over_is_not_merged() {
        let limiter = limiter();
        call(&limiter, 5, noon());

        assert_eq!(limiter.due(&ada(), noon().plus(SECOND * 60)), None);
    }

    #[test]
    fn memory_is_bounded_and_those_with_the_fewest_calls_go_first() {
        let limiter = limiter();
        call(&limiter, 19, noon());
        for number in 2..=Limiter::MAX_SUBJECTS * 2 {
            limiter.count(&subject(number), noon()).unwrap();
            assert!(limiter.counts().len() <= Limiter::MAX_SUBJECTS);
        }

        assert_eq!(limiter.count(&ada(), noon()), Ok(Allowance { limit: 20, remaining: 0 }));
    }

    #[test]
    fn windows_that_are_over_go_before_any_other() {
        let limiter = limiter();
        for number in 2..Limiter::MAX_SUBJECTS {
            limiter.count(&subject(number), noon()).unwrap();
        }
        let later = noon().plus(SECOND * 59);
        call(&limiter, 1, later);
        assert_eq!(limiter.counts().len(), Limiter::MAX_SUBJECTS - 1);
        limiter.count(&subject(100_000), later).unwrap();

        limiter.count(&subject(100_001), noon().plus(SECOND * 60)).unwrap();

        assert_eq!(limiter.counts().len(), 3);
        assert_eq!(limiter.count(&ada(), later), Ok(Allowance { limit: 20, remaining: 18 }));
    }
}
