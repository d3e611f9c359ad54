//! The consumer of the queue of checks.

use std::time::Instant;

use aws_lambda_events::sqs::{SqsBatchResponse, SqsEvent};
use linklet_domain::{CheckOutcome, CheckResult, PlannedCheck, Timestamp};
use linklet_dynamodb::{RoundOutcome, RoundRecord, WatchTable};
use linklet_lambda::{
    batch::{self, Consumer, DeadLetterQueue},
    metrics::{self, Metric},
    telemetry::chain,
};
use tracing::Instrument as _;

use crate::{Check, Fetcher, Network, SystemNetwork};

/// The consumer of the queue of checks.
pub struct Checker<N = SystemNetwork> {
    /// Fetches the URLs.
    pub fetcher: Fetcher<N>,
    /// The repository of targets, which stores the results.
    pub targets: WatchTable,
    /// The dead-letter queue, for messages that can't be parsed.
    pub dead_letters: DeadLetterQueue,
}

impl<N: Network> Consumer<SqsEvent, SqsBatchResponse> for Checker<N> {
    async fn consume(&self, batch: SqsEvent) -> SqsBatchResponse {
        let started = Instant::now();
        let records = batch.records.len();
        let (checks, unreadable) = batch::read::<PlannedCheck>(batch);
        let failed = self.dead_letters.park_all(unreadable).await;
        for received in checks {
            self.process(&received.event).instrument(received.span()).await;
        }
        batch::log(records, failed.len(), started);
        batch::failures(failed)
    }
}

impl<N: Network> Checker<N> {
    /// Checks a target and stores the result. It never fails the message: a failed message would block all checks of its host
    /// for the visibility timeout, and its round would be over when it is redelivered.
    async fn process(&self, planned: &PlannedCheck) {
        let checked_at = Timestamp::now();
        if planned.is_over(checked_at) {
            metrics::add(Metric::ChecksSkipped, 1);
            return;
        }
        let check = self.fetcher.check(&planned.url).await;
        let result = CheckResult {
            checked_at,
            outcome: outcome_of(&check),
            latency_ms: u64::try_from(check.latency.as_millis()).unwrap_or(u64::MAX),
        };
        metrics::add(Metric::ChecksFailed, result.is_failure().into());
        self.record(planned, &result).await;
    }

    async fn record(&self, planned: &PlannedCheck, result: &CheckResult) {
        let PlannedCheck { target_id, workspace_id, slot, status: known_status, .. } = planned;
        let round = RoundRecord { target: target_id, slot: *slot, known_status: *known_status, result };
        match self.targets.record(round).await {
            Ok(RoundOutcome::Changed(status)) => tracing::info!(
                target_id = target_id.as_str(),
                workspace_id = %workspace_id,
                target_status = status.as_str(),
                "a target's status changed"
            ),
            Ok(RoundOutcome::Recorded | RoundOutcome::AlreadyRecorded) => {}
            Err(error) => {
                metrics::add(Metric::ChecksLost, 1);
                tracing::error!(target_id = target_id.as_str(), error = chain(&error), "a result could not be stored");
            }
        }
    }
}

fn outcome_of(check: &Check) -> CheckOutcome {
    match &check.outcome {
        Ok(status) => CheckOutcome::Answered(status.as_u16()),
        Err(error) => CheckOutcome::Failed(error.class()),
    }
}
