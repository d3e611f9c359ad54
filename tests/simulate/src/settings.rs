//! What of the template and of an account a trace depends on.

use std::time::Duration;

use linklet_test_support::Template;

use crate::{limits, queue::QueueSettings};

/// Parameters, quotas, and what else somebody may set before a flood comes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Concurrent executions of the account.
    pub account: usize,
    /// Requests a second that API Gateway lets through.
    pub gateway: f64,
    /// Write units a second that the tables of clicks and of statistics are warmed for.
    pub warm_clicks: f64,
    pub warm_stats: f64,
    /// `RelayParallelization`
    pub relay_parallelization: usize,
    /// `AnalyticsConcurrency`
    pub analytics_concurrency: usize,
    /// `ClicksBatchWindowSeconds`
    pub relay_window: Duration,
    /// `AnalyticsBatchWindowSeconds`
    pub analytics_window: Duration,
    /// `QueueVisibilitySeconds`
    pub visibility: Duration,
    /// Memory of analytics, in MB.
    pub analytics_memory: f64,
    /// How many batches of the queue Lambda works on at first.
    pub pollers: usize,
    /// Of so many clicks, one is recorded with the SDK, the others [without](crate::shortcut).
    pub recorded: usize,
    /// Of so many parts of a link one is played, with as large a share of what it shares with the others.
    pub parts: usize,
}

impl Default for Settings {
    /// The template's defaults in an account that has asked for nothing.
    fn default() -> Self {
        Self::in_account(1_000)
    }
}

impl Settings {
    /// The template's defaults for an account with this `AccountConcurrency`.
    pub fn in_account(limit: usize) -> Self {
        let consumers = &Template::load().mappings()["Consumers"][limit.to_string()];
        Self {
            account: limit,
            gateway: 10_000.0,
            warm_clicks: limits::NEW_TABLE_WRITES,
            warm_stats: limits::NEW_TABLE_WRITES,
            relay_parallelization: parameter("RelayParallelization") as usize,
            analytics_concurrency: consumers["Analytics"].as_u64().expect("the account has a number") as usize,
            relay_window: Duration::from_secs_f64(parameter("ClicksBatchWindowSeconds")),
            analytics_window: Duration::from_secs_f64(parameter("AnalyticsBatchWindowSeconds")),
            visibility: Duration::from_secs_f64(parameter("QueueVisibilitySeconds")),
            analytics_memory: memory("AnalyticsFunction"),
            pollers: limits::POLLERS_AT_FIRST,
            recorded: 1,
            parts: 1,
        }
    }
}

/// The default of a parameter that is a number.
fn parameter(name: &str) -> f64 {
    Template::load().parameters()[name]["Default"].as_f64().expect("the parameter has a default")
}

/// The property of a resource of the template, as a number.
fn number(resource: &str, path: &[&str]) -> f64 {
    let value = path.iter().fold(Template::load().properties(resource), |value, name| &value[*name]);
    value.as_f64().expect("the property is a number")
}

/// How many records of a stream the relay gets at once.
pub fn relay_batch() -> usize {
    number("ClicksStream", &["BatchSize"]) as usize
}

/// How many messages analytics gets at once.
pub fn analytics_batch() -> usize {
    number("AnalyticsSource", &["BatchSize"]) as usize
}

/// The memory of a function, in MB.
pub fn memory(function: &str) -> f64 {
    Template::load().functions()[function]["MemorySize"].as_f64().expect("a function has memory")
}

/// What the queue of analytics does with messages that fail.
pub fn analytics_queue(visibility: Duration) -> QueueSettings {
    let receives = number("AnalyticsQueue", &["RedrivePolicy", "maxReceiveCount"]);
    QueueSettings { receives: receives as u32, visibility }
}
