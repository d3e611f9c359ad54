//! Who else works on the processor.

use crate::{
    lambda::Environment,
    subjects::Subject,
    trial::{Trial, TrialError, start},
};

/// Another function's environment, which works between the events that are measured.
///
/// Lambda freezes an environment between two events, and its processor does other work: of what a function had in caches and
/// branch predictors, little is left when it goes on. Events in quick succession would find everything in place, and the less a
/// function does, the more that would flatter it.
pub struct Neighbour {
    subject: Subject,
    environment: Environment,
    trial: Trial,
}

impl Neighbour {
    /// Moves in.
    ///
    /// # Errors
    /// When its process can't be started.
    pub async fn start(subject: Subject) -> Result<Self, TrialError> {
        let environment = start(&subject, &subject.program).await?;
        Ok(Self { subject, environment, trial: Trial::default() })
    }

    /// Works on one event.
    ///
    /// # Errors
    /// When it can't, or answers wrongly: a neighbour that does nothing would disturb nobody.
    pub async fn work(&mut self) -> Result<(), TrialError> {
        self.trial.invoke(&self.subject, &self.environment).await.map(drop)
    }
}
