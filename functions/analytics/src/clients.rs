//! What user agents say, remembered: the same few thousand come again and again.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use linklet_domain::Client;
use linklet_user_agents::Classifier;

/// The clients behind user agents.
pub struct Clients {
    classifier: Classifier,
    known: Mutex<HashMap<String, Client>>,
}

impl Clients {
    /// User agents are at most 512 bytes, so this is 3 MB at most.
    const REMEMBERED: usize = 4_096;

    /// With nothing remembered.
    #[must_use]
    pub fn new(classifier: Classifier) -> Self {
        Self { classifier, known: Mutex::default() }
    }

    /// The client behind a user agent.
    pub fn of(&self, user_agent: &str) -> Client {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known.get(user_agent) {
            return client.clone();
        }
        let client = self.classifier.classify(user_agent);
        if known.len() >= Self::REMEMBERED {
            known.clear();
        }
        known.insert(user_agent.to_owned(), client.clone());
        client
    }
}
