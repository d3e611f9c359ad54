//! A limit that is counted in ThrottleTable, before any other work.

use linklet_domain::{Allowance, LimitedRoute, RateLimit, Salt, ThrottleSubject, Window};
use linklet_dynamodb::{CountOutcome, ThrottleTable};

use crate::{
    http::{ApiError, Edge, Request},
    metrics::{self, Metric},
    telemetry::chain,
};

/// Counts the calls of a route, exactly, for one write each.
pub struct Throttle {
    /// Where they are counted.
    pub table: ThrottleTable,
    /// Which route.
    pub route: LimitedRoute,
    /// How many calls a subject may make.
    pub limit: RateLimit,
    /// Whose headers are believed.
    pub edge: Edge,
    /// Hides addresses.
    pub salt: Salt,
}

impl Throttle {
    /// The request's sender, by address.
    #[must_use]
    pub fn sender(&self, request: &Request) -> ThrottleSubject {
        ThrottleSubject::at(&self.edge.address(request), &self.salt)
    }

    /// Counts the request for each of these, all of whom need room for it. If one has none, nobody's call is counted; so let
    /// the one come first that is the most likely to have none, since that costs the least.
    ///
    /// When the table can't be reached in time, the request is allowed and a warning is logged: a limit protects the service,
    /// and must not be what stops it.
    ///
    /// # Errors
    /// 429.
    pub async fn admit(&self, request: &Request, subjects: &[ThrottleSubject]) -> Result<(), ApiError> {
        let now = request.received_at();
        let mut counted: Vec<(&ThrottleSubject, Window)> = Vec::with_capacity(subjects.len());
        for subject in subjects {
            match self.table.count(self.route, subject, self.limit, now).await {
                Ok(CountOutcome::Counted(window)) => counted.push((subject, window)),
                Ok(CountOutcome::Refused(window)) => {
                    self.give_back(&counted).await;
                    return Err(ApiError::Throttled(self.limit.refusal(window, now)));
                }
                Err(error) => {
                    metrics::add(Metric::ThrottleUnavailable, 1);
                    tracing::warn!(error = chain(&error), "a call was allowed without being counted");
                    break;
                }
            }
        }
        let allowances = counted.iter().map(|(_, window)| self.limit.allowance(*window));
        if let Some(allowance) = allowances.reduce(Allowance::and) {
            request.note_allowance(allowance);
        }
        Ok(())
    }

    async fn give_back(&self, counted: &[(&ThrottleSubject, Window)]) {
        for (subject, window) in counted {
            if let Err(error) = self.table.give_back(self.route, subject, *window).await {
                tracing::warn!(error = chain(&error), "a refused call stays counted");
            }
        }
    }
}
