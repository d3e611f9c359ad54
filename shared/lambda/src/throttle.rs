//! The rate limit of a route, with exact counts in ThrottleTable.

use linklet_domain::{Allowance, LimitedRoute, RateLimit, Salt, ThrottleSubject, Window};
use linklet_dynamodb::{CountOutcome, ThrottleTable};

use crate::{
    http::{ApiError, Edge, Request},
    metrics::{self, Metric},
    telemetry::chain,
};

/// Enforces the rate limit of a route. Each call costs one write per subject.
pub struct Throttle {
    /// The table that has the counts.
    pub table: ThrottleTable,
    /// The route.
    pub route: LimitedRoute,
    /// The limit per client; networks of several clients have [more](ThrottleSubject::allowances).
    pub limit: RateLimit,
    /// The trusted edge, which determines the client's address.
    pub edge: Edge,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

impl Throttle {
    /// The subjects for the client's IP address: one, or for IPv6 the networks that it is in.
    #[must_use]
    pub fn senders(&self, request: &Request) -> Vec<ThrottleSubject> {
        ThrottleSubject::all_at(&self.edge.address(request), &self.salt)
    }

    /// Counts a request for each subject. If one of them has reached its limit, the request is refused and counted for none;
    /// the cheapest order begins with the subject that most likely has reached its limit.
    ///
    /// If ThrottleTable doesn't answer in time, the request is allowed and a warning is logged, so that an outage of the table
    /// doesn't become one of the route.
    ///
    /// # Errors
    /// 429 if a subject has reached the limit.
    pub async fn admit(&self, request: &Request, subjects: &[ThrottleSubject]) -> Result<(), ApiError> {
        let now = request.received_at();
        let mut counted: Vec<(&ThrottleSubject, Window)> = Vec::with_capacity(subjects.len());
        for subject in subjects {
            let limit = self.limit.of(subject);
            match self.table.count(self.route, subject, limit, now).await {
                Ok(CountOutcome::Counted(window)) => counted.push((subject, window)),
                Ok(CountOutcome::Refused(window)) => {
                    self.uncount(&counted).await;
                    return Err(ApiError::Throttled(limit.refusal(window, now)));
                }
                Err(error) => {
                    metrics::add(Metric::ThrottleUnavailable, 1);
                    tracing::warn!(error = chain(&error), "a call was allowed without being counted");
                    break;
                }
            }
        }
        let allowances = counted.iter().map(|(subject, window)| self.limit.of(subject).allowance(*window));
        if let Some(allowance) = allowances.reduce(Allowance::stricter) {
            request.note_allowance(allowance);
        }
        Ok(())
    }

    async fn uncount(&self, counted: &[(&ThrottleSubject, Window)]) {
        for (subject, window) in counted {
            if let Err(error) = self.table.uncount(self.route, subject, *window).await {
                tracing::warn!(error = chain(&error), "a refused call could not be uncounted");
            }
        }
    }
}
