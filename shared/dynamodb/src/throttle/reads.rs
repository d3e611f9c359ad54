//! What a workspace reads: each request that reads much is counted, and reads no further when the workspace has read too much.

use std::sync::Arc;

use aws_sdk_dynamodb::types::ConsumedCapacity;
use linklet_domain::{LimitedRoute, RateLimit, ThrottleSubject, Timestamp, Window, WorkspaceId};
use parking_lot::Mutex;

use super::ThrottleTable;
use crate::{RepositoryError, Result};

tokio::task_local! {
    /// Counts what the request reads that is under way, if that is counted.
    static METER: Arc<ReadMeter>;
}

/// The read units of a request.
#[derive(Debug)]
pub struct ReadMeter {
    table: ThrottleTable,
    route: LimitedRoute,
    subject: ThrottleSubject,
    now: Timestamp,
    units: Mutex<Units>,
    failed: Mutex<Option<RepositoryError>>,
}

#[derive(Debug, Default)]
struct Units {
    read: f64,
    counted: u32,
}

impl Units {
    /// The read units that aren't counted yet, if there are so many; they count as counted from then on.
    fn due(&mut self, fewest: u32) -> Option<u32> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a request reads some thousand units"
        )]
        let due = (self.read.ceil() as u32).saturating_sub(self.counted);
        let is_due = due > 0 && due >= fewest;
        self.counted += if is_due { due } else { 0 };
        is_due.then_some(due)
    }
}

impl ReadMeter {
    /// So many read units of a request are free.
    pub const FREE: u32 = 50;

    /// So many more are counted together.
    const STEP: u32 = 250;

    /// Counts for a workspace.
    pub fn new(table: &ThrottleTable, workspace: &WorkspaceId, now: Timestamp) -> Self {
        let subject = ThrottleSubject::Workspace(*workspace);
        let route = LimitedRoute::Reads;
        Self { table: table.clone(), route, subject, now, units: Mutex::default(), failed: Mutex::default() }
    }

    /// Counts for the shares of a workspace, apart from what its members read.
    pub fn of_shares(table: &ThrottleTable, workspace: &WorkspaceId, now: Timestamp) -> Self {
        Self { route: LimitedRoute::SharedReads, ..Self::new(table, workspace, now) }
    }

    /// Does what reads. Its repositories fail with [`RepositoryError::ReadTooMuch`] once the workspace has read too much in this
    /// minute. Returns also why something could not be counted.
    pub async fn measure<T>(self, reads: impl Future<Output = T>) -> (T, Option<RepositoryError>) {
        let meter = Arc::new(self);
        let done = METER.scope(Arc::clone(&meter), reads).await;
        let rest = {
            let mut units = meter.units.lock();
            if units.counted > 0 { units.due(1) } else { None }
        };
        if let Some(rest) = rest {
            meter.count(rest).await;
        }
        let failed = meter.failed.lock().take();
        (done, failed)
    }

    async fn add(&self, operation: &'static str, units: f64) -> Result<()> {
        let due = {
            let mut so_far = self.units.lock();
            so_far.read += units;
            let fewest = if so_far.counted == 0 { Self::FREE } else { Self::STEP };
            so_far.due(fewest)
        };
        let Some(due) = due else { return Ok(()) };
        match self.count(due).await {
            Some(window) if RateLimit::READ_UNITS.has_no_room(window, 0) => Err(self.refusal(operation, window)),
            _ => Ok(()),
        }
    }

    /// Counts what was read, whether or not that was too much, and returns what the workspace has read; `None` if it can't be counted,
    /// since an outage of the counts is none of what is read.
    async fn count(&self, units: u32) -> Option<Window> {
        let read = Window { hits: units, ..Window::starting(self.now) };
        match self.table.merge(self.route, &self.subject, read, self.now).await {
            Ok(window) => Some(window),
            Err(error) => {
                *self.failed.lock() = Some(error);
                None
            }
        }
    }

    fn refusal(&self, operation: &'static str, window: Window) -> RepositoryError {
        RepositoryError::ReadTooMuch { operation, refusal: RateLimit::READ_UNITS.refusal(window, self.now) }
    }
}

/// Whether DynamoDB has to say what an answer costs.
///
/// # Errors
/// When this environment knows that the workspace has read too much, so that nothing more is read.
pub(crate) fn is_metered(operation: &'static str) -> Result<bool> {
    let Ok(meter) = METER.try_with(Arc::clone) else { return Ok(false) };
    let known = meter.table.known.live(meter.route, &meter.subject, meter.now);
    match known.filter(|window| RateLimit::READ_UNITS.has_no_room(*window, ReadMeter::FREE)) {
        Some(window) => Err(meter.refusal(operation, window)),
        None => Ok(true),
    }
}

/// Counts what an answer has cost.
///
/// # Errors
/// When the workspace has read too much.
pub(crate) async fn note(operation: &'static str, capacity: Option<&ConsumedCapacity>) -> Result<()> {
    let Ok(meter) = METER.try_with(Arc::clone) else { return Ok(()) };
    let units = capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    Box::pin(meter.add(operation, units)).await
}
