//! The rate limits of a route or a workspace, with exact counts in ThrottleTable.

use std::{iter, time::Duration};

use linklet_domain::{
    Allowance, LimitedRoute, RateLimit, RouteLimits, Salt, ThrottleSubject, UserId, Window, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{CountOutcome, RepositoryError, ThrottleTable};

use crate::{
    http::{ApiError, Edge, Request},
    metrics::{self, Metric},
    telemetry::chain,
};

/// Enforces the rate limits of a route: by person and by address. Each call costs one write per subject, which is the cheapest
/// exact count of two limits: a transaction of two writes costs four.
pub struct Throttle {
    /// The table that has the counts.
    pub table: ThrottleTable,
    /// The route.
    pub route: LimitedRoute,
    /// What it allows.
    pub limits: RouteLimits,
    /// The trusted edge, which determines the client's address.
    pub edge: Edge,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

impl Throttle {
    /// These limits for another route, whose calls are counted apart.
    #[must_use]
    pub fn of(&self, route: LimitedRoute) -> Self {
        Self { table: self.table.clone(), route, limits: self.limits, edge: self.edge, salt: self.salt.clone() }
    }

    /// Counts a request for the person and for their address, which of IPv6 is in three networks. If one of them has reached its
    /// limit, the request is refused and counted for none. The person is the first, whose limit is the smallest: then a refusal
    /// is one write, and takes nothing from who else is at the address, not even for a moment.
    ///
    /// If ThrottleTable doesn't answer in time, the request is allowed and a warning is logged, so that an outage of the table
    /// doesn't become one of the route.
    ///
    /// # Errors
    /// 429 if a subject has reached the limit.
    pub async fn admit(&self, request: &Request, person: &UserId) -> Result<(), ApiError> {
        let now = request.received_at();
        let mut counted: Vec<(ThrottleSubject, Window)> = Vec::new();
        for subject in self.subjects(request, person) {
            let limit = self.limits.of(&subject);
            match self.table.count(self.route, &subject, limit, now).await {
                Ok(CountOutcome::Counted(window)) => counted.push((subject, window)),
                Ok(CountOutcome::Refused(window)) => {
                    self.uncount(&counted).await;
                    return Err(ApiError::Throttled(limit.refusal(window, now)));
                }
                Err(error) => {
                    warn_of_uncounted(&error);
                    break;
                }
            }
        }
        let allowances = counted.iter().map(|(subject, window)| self.limits.of(subject).allowance(*window));
        if let Some(allowance) = allowances.reduce(Allowance::stricter) {
            request.note_allowance(allowance);
        }
        Ok(())
    }

    fn subjects(&self, request: &Request, person: &UserId) -> impl Iterator<Item = ThrottleSubject> {
        let addresses = ThrottleSubject::all_at(&self.edge.address(request), &self.salt);
        iter::once(ThrottleSubject::Person(*person)).chain(addresses)
    }

    async fn uncount(&self, counted: &[(ThrottleSubject, Window)]) {
        for (subject, window) in counted {
            if let Err(error) = self.table.uncount(self.route, subject, *window).await {
                tracing::warn!(error = chain(&error), "a refused call could not be uncounted");
            }
        }
    }
}

/// Counts a workspace's calls of a route, so many at once, unless it has made too many: all of them or none. If ThrottleTable doesn't
/// answer in time, they are allowed.
///
/// # Errors
/// 429 when the workspace has made too many.
pub async fn admit_workspace(
    table: &ThrottleTable,
    (route, limit): (LimitedRoute, RateLimit),
    request: &Request,
    workspace: &WorkspaceId,
    calls: u32,
) -> Result<(), ApiError> {
    let (subject, now) = (ThrottleSubject::Workspace(*workspace), request.received_at());
    match table.count_many(route, &subject, limit, calls, now).await {
        Ok(CountOutcome::Counted(_)) => Ok(()),
        Ok(CountOutcome::Refused(window)) => Err(ApiError::Throttled(limit.refusal(window, now))),
        Err(error) => {
            warn_of_uncounted(&error);
            Ok(())
        }
    }
}

/// Limits the questions of a workspace that read much: single clicks, or the days of many links. Each costs a write.
pub struct Questions(pub ThrottleTable);

impl Questions {
    /// How many bytes of single clicks, or of days, are read for a question: 1,024 read units.
    pub const READ_BYTES: usize = 8 << 20;

    /// How long is read for a question. A function may run for ten seconds, and has to judge and show what was read.
    pub const READ_FOR: Duration = Duration::from_secs(5);

    /// The longest time that can be asked about, in days.
    pub const MOST_DAYS: u64 = lifetimes::in_days(lifetimes::RAW_CLICKS);

    /// How many days a question is about that says no beginning.
    pub const DEFAULT_DAYS: u32 = 30;

    /// Counts a question, unless its workspace has asked too many. If ThrottleTable doesn't answer in time, it is answered.
    ///
    /// # Errors
    /// 429 when the workspace has asked too many.
    pub async fn admit(&self, request: &Request, workspace: &WorkspaceId) -> Result<(), ApiError> {
        admit_workspace(&self.0, (LimitedRoute::Questions, RateLimit::QUESTIONS), request, workspace, 1).await
    }
}

fn warn_of_uncounted(error: &RepositoryError) {
    metrics::add(Metric::ThrottleUnavailable, 1);
    tracing::warn!(error = chain(error), "a call was allowed without being counted");
}
