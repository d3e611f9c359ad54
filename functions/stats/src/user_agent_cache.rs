//! Who is behind user agents.

use std::{collections::HashMap, sync::LazyLock};

use linklet_domain::{Client, Visitor};
use linklet_lambda::http::{ApiError, Result};
use linklet_user_agents::{Classifier, LoadError};

/// The classifier, which is loaded by the first request that needs it, since loading delays the start.
static CLASSIFIER: LazyLock<Result<Classifier, LoadError>> = LazyLock::new(Classifier::load);

/// # Errors
/// When it can't be loaded.
fn classifier() -> Result<&'static Classifier> {
    CLASSIFIER.as_ref().map_err(ApiError::internal)
}

/// Classifies user agents, each of them once.
pub(crate) struct UserAgentCache {
    classifier: &'static Classifier,
    known: HashMap<String, Client>,
}

impl UserAgentCache {
    pub(crate) fn load() -> Result<Self> {
        Ok(Self { classifier: classifier()?, known: HashMap::new() })
    }

    pub(crate) fn client(&mut self, visitor: &Visitor) -> &Client {
        if !self.known.contains_key(&visitor.user_agent) {
            self.known.insert(visitor.user_agent.clone(), self.classifier.classify(&visitor.user_agent));
        }
        &self.known[&visitor.user_agent]
    }
}
