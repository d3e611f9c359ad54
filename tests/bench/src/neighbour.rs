//! Who else works on the processor.

use crate::{
    lambda::{Environment, LambdaError},
    subjects::Subject,
    workloads::Workload,
};

/// Another function's environment, which works between the events that are measured.
///
/// Lambda freezes an environment between two events, and its processor does other work: of what a function had in caches and
/// branch predictors, little is left when it goes on. Events in quick succession would find everything in place, and the less a
/// function does, the more that would flatter it.
pub struct Neighbour {
    environment: Environment,
    workload: Workload,
    events: usize,
}

impl Neighbour {
    /// Moves in.
    ///
    /// # Errors
    /// When its process can't be started.
    pub async fn start(subject: &Subject) -> Result<Self, LambdaError> {
        let environment = Environment::start(&subject.program).await?;
        Ok(Self { environment, workload: subject.workload.clone(), events: 0 })
    }

    /// Works on one event.
    ///
    /// # Errors
    /// When it can't.
    pub async fn work(&mut self) -> Result<(), LambdaError> {
        let event = self.workload.event(self.events);
        self.events += 1;
        self.environment.invoke(event).await.map(drop)
    }
}
