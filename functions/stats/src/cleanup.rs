//! `GET /api/admin/cleanup/stats`: statistics of the cleanup of the workspace's expired links.

use std::time::Duration;

use linklet_domain::Timestamp;
use linklet_dynamodb::CleanupStats;
use linklet_lambda::http::{Request, Response, Result, StatusCode, json};
use linklet_lambda::identity::Caller;
use serde::Serialize;

use crate::Stats;

impl Stats {
    pub(crate) async fn cleanup(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let stats = self.links.cleanup_stats(&caller.workspace, request.received_at).await?;
        Ok(json(StatusCode::OK, &CleanupView::from(stats)))
    }
}

#[derive(Serialize)]
struct CleanupView {
    last_cleanup_time: Option<Timestamp>,
    total_cleaned: u64,
    last_batch_size: u64,
    successful_runs: u64,
    failed_runs: u64,
    average_cleanup_ms: f64,
    is_running: bool,
}

impl From<CleanupStats> for CleanupView {
    fn from(stats: CleanupStats) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ runs, and the mean needn't be exact")]
        let runs = stats.successful_runs.max(1) as f64;
        Self {
            last_cleanup_time: stats.last_cleanup_at,
            total_cleaned: stats.total_cleaned,
            last_batch_size: stats.last_batch_size,
            successful_runs: stats.successful_runs,
            failed_runs: stats.failed_runs,
            average_cleanup_ms: Duration::from_millis(stats.successful_ms).as_secs_f64() * 1_000.0 / runs,
            is_running: stats.running_until.is_some(),
        }
    }
}
