//! A cache of classified user agents, since the same few thousand are seen most of the time.

use std::num::NonZeroUsize;

use linklet_domain::Client;
use linklet_user_agents::Classifier;
use lru::LruCache;
use parking_lot::Mutex;

/// Classifies user agents, with a cache.
pub struct Clients {
    classifier: Classifier,
    known: Mutex<LruCache<String, Client>>,
}

impl Clients {
    /// User agents are at most 512 bytes, so this is 3 MB at most.
    const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

    /// An empty cache in front of this classifier.
    pub fn new(classifier: Classifier) -> Self {
        Self { classifier, known: Mutex::new(LruCache::sparse(Self::REMEMBERED)) }
    }

    /// The client that a user agent names.
    pub fn of(&self, user_agent: &str) -> Client {
        let mut known = self.known.lock();
        known.get_or_insert_ref(user_agent, || self.classifier.classify(user_agent)).clone()
    }
}
