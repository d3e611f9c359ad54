//! Who is behind user agents.

use std::collections::HashMap;

use linklet_domain::{Client, Visitor};
use linklet_lambda::http::ApiError;
use linklet_user_agents::Classifier;

use crate::clicks::classifier;

/// Judges user agents, each of them once.
pub(crate) struct Judge {
    classifier: &'static Classifier,
    known: HashMap<String, Client>,
}

impl Judge {
    pub(crate) fn load() -> Result<Self, ApiError> {
        Ok(Self { classifier: classifier()?, known: HashMap::new() })
    }

    pub(crate) fn client(&mut self, visitor: &Visitor) -> &Client {
        if !self.known.contains_key(&visitor.user_agent) {
            self.known.insert(visitor.user_agent.clone(), self.classifier.classify(&visitor.user_agent));
        }
        &self.known[&visitor.user_agent]
    }
}
