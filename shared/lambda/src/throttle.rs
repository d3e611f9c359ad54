//! The rate limits of a route or a workspace.

use std::time::Duration;

use linklet_domain::{
    LimitedRoute, RateLimit, RouteLimits, Salt, ThrottleSubject, Timestamp, UserId, Window, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{CountOutcome, ReadMeter, ThrottleTable};

use crate::http::{ApiError, Edge, Request, Result};
use crate::identity::Caller;
use crate::limiter::{Limiter, answer_of_table};
use crate::telemetry::warn_of;

/// Enforces the rate limits of a route: by person, exactly, which costs a write, and by address as the [limiter](Limiter) does, which
/// costs most callers none.
pub struct Throttle {
    /// The table that has the counts.
    pub table: ThrottleTable,
    /// The route.
    pub route: LimitedRoute,
    /// What it allows a person.
    pub by_person: RateLimit,
    /// Counts what it allows an address.
    pub limiter: Limiter,
    /// The trusted edge, which determines the client's address.
    pub edge: Edge,
    /// The salt for the hashes of addresses.
    pub salt: Salt,
}

impl Throttle {
    /// With these limits of a route.
    pub fn new(table: ThrottleTable, route: LimitedRoute, limits: RouteLimits, (edge, salt): (Edge, Salt)) -> Self {
        Self { table, route, by_person: limits.by_person, limiter: Limiter::new(limits.by_address), edge, salt }
    }

    /// These limits for another route, whose calls are counted apart.
    pub fn of(&self, route: LimitedRoute) -> Self {
        let (table, limiter) = (self.table.clone(), Limiter::new(self.limiter.limit));
        Self { table, route, by_person: self.by_person, limiter, edge: self.edge, salt: self.salt.clone() }
    }

    /// Counts a request for the person and for their address, which of IPv6 is in three networks. If one of them has reached its
    /// limit, the request is refused and counted for none.
    ///
    /// If ThrottleTable doesn't answer in time, the request is allowed and a warning is logged, so that an outage of the table
    /// doesn't become one of the route.
    ///
    /// # Errors
    /// 429 if a subject has reached the limit.
    pub async fn admit(&self, request: &Request, person: &UserId) -> Result<()> {
        let now = request.received_at;
        let person = ThrottleSubject::Person(*person);
        let counted = count(&self.table, (self.route, self.by_person), &person, 1, now).await?;
        let addresses = ThrottleSubject::all_at(&self.edge.address(request), &self.salt);
        let by_address = self.limiter.count(&addresses, now);
        self.limiter.merge_due((&self.table, self.route), &addresses, now).await;
        let by_address = match by_address {
            Ok(allowance) => allowance,
            Err(refusal) => {
                request.note_refused(&addresses);
                self.uncount(&person, counted).await;
                return Err(ApiError::Throttled(refusal));
            }
        };
        if let Some(window) = counted {
            let allowance = self.by_person.allowance(window, now);
            request.note_allowance(by_address.map_or(allowance, |other| other.stricter(allowance)));
        }
        Ok(())
    }

    async fn uncount(&self, person: &ThrottleSubject, counted: Option<Window>) {
        let Some(window) = counted else { return };
        warn_of(self.table.uncount(self.route, person, window).await, "a refused call could not be uncounted");
    }
}

/// Counts a workspace's calls of a route, so many at once, unless it has made too many: all of them or none. If ThrottleTable doesn't
/// answer in time, they are allowed.
///
/// # Errors
/// 429 when the workspace has made too many.
pub async fn admit_workspace(
    table: &ThrottleTable,
    limited: (LimitedRoute, RateLimit),
    request: &Request,
    workspace: &WorkspaceId,
    calls: u32,
) -> Result<()> {
    count(table, limited, &ThrottleSubject::Workspace(*workspace), calls, request.received_at).await.map(drop)
}

/// Counts a person's call of a route that has no limit by address, unless they have made too many. If ThrottleTable doesn't answer in
/// time, it is allowed.
///
/// # Errors
/// 429 when the person has made too many.
pub async fn admit_person(
    table: &ThrottleTable,
    (route, limit): (LimitedRoute, RateLimit),
    request: &Request,
    person: &UserId,
) -> Result<()> {
    let now = request.received_at;
    if let Some(window) = count(table, (route, limit), &ThrottleSubject::Person(*person), 1, now).await? {
        request.note_allowance(limit.allowance(window, now));
    }
    Ok(())
}

async fn count(
    table: &ThrottleTable,
    (route, limit): (LimitedRoute, RateLimit),
    subject: &ThrottleSubject,
    calls: u32,
    now: Timestamp,
) -> Result<Option<Window>> {
    match answer_of_table(table.count(route, subject, limit, calls, now).await, UNCOUNTED) {
        Some(CountOutcome::Refused(window)) => Err(ApiError::Throttled(limit.refusal(window, now))),
        Some(CountOutcome::Counted(window)) => Ok(Some(window)),
        None => Ok(None),
    }
}

/// Limits what the questions of a workspace read: its links, their days, and single clicks.
pub struct StatsQueryLimiter(pub ThrottleTable);

impl StatsQueryLimiter {
    /// How many bytes of single clicks, or of days, are read for a question: 1,024 read units.
    pub const READ_BYTES: usize = 8 << 20;

    /// How long is read for a question. A function may run for ten seconds, and has to judge and show what was read.
    pub const READ_FOR: Duration = Duration::from_secs(5);

    /// The longest time that can be asked about, in days.
    pub const MOST_DAYS: u64 = lifetimes::in_days(lifetimes::RAW_CLICKS);

    /// How many days a question is about that says no beginning.
    pub const DEFAULT_DAYS: u32 = 30;

    /// Answers a question, of which only what goes beyond [some read units](ReadMeter::FREE) is counted. It fails with 429 when the
    /// workspace has [read too much](RateLimit::READ_UNITS). If ThrottleTable doesn't answer in time, it is answered.
    pub async fn answer<T>(&self, request: &Request, caller: &Caller, answer: impl Future<Output = T>) -> T {
        let meter = ReadMeter::new(&self.0, &caller.workspace, request.received_at);
        // On the heap, since it would otherwise be part of what counts it.
        let (answered, failed) = meter.measure(Box::pin(answer)).await;
        failed.into_iter().for_each(|error| _ = answer_of_table::<()>(Err(error), UNCOUNTED));
        answered
    }
}

const UNCOUNTED: &str = "a call was allowed without being counted";
