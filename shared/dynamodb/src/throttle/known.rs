use std::num::NonZeroUsize;

use linklet_domain::{LimitedRoute, ThrottleSubject, Timestamp, Window};
use lru::LruCache;
use parking_lot::Mutex;

/// The windows as this environment has seen them last. It is a hint only: what other environments have counted since isn't known, and
/// what is forgotten costs a write unit more.
#[derive(Debug)]
pub(super) struct KnownWindows(Mutex<LruCache<(LimitedRoute, ThrottleSubject), Window>>);

/// Maximum number of windows, of which the least recently used is forgotten: some 200 KB.
const MAX: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

impl Default for KnownWindows {
    fn default() -> Self {
        Self(Mutex::new(LruCache::sparse(MAX)))
    }
}

impl KnownWindows {
    /// The window that isn't over, if one is known.
    pub fn live(&self, route: LimitedRoute, subject: &ThrottleSubject, now: Timestamp) -> Option<Window> {
        self.0.lock().get(&(route, subject.clone())).copied().filter(|window| window.is_live(now))
    }

    pub fn remember(&self, route: LimitedRoute, subject: &ThrottleSubject, window: Window) {
        self.0.lock().put((route, subject.clone()), window);
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::Salt;

    use super::*;

    #[test]
    fn memory_is_bounded_and_who_goes_on_calling_stays_known() {
        let (known, now) = (KnownWindows::default(), Timestamp::now());
        let salt = Salt::parse(&"salt".repeat(8)).unwrap();
        let subject = |number: usize| ThrottleSubject::at(&format!("10.0.{}.{}", number >> 8, number & 255), &salt);
        let is_live = |number| known.live(LimitedRoute::Shorten, &subject(number), now).is_some();

        for number in 0..3 * MAX.get() {
            known.remember(LimitedRoute::Shorten, &subject(number), Window::starting(now));
            assert!(is_live(0), "after {number}");
        }

        assert_eq!(known.0.lock().len(), MAX.get());
        assert!(!is_live(1) && is_live(3 * MAX.get() - 1));
        assert_eq!(known.live(LimitedRoute::Redirect, &subject(0), now), None);
        assert_eq!(known.live(LimitedRoute::Shorten, &subject(0), Window::starting(now).ends_at), None);
    }
}
