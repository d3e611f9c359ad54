//! ThrottleTable: the number of calls per client and route in the current window.
//!
//! Requests have a short timeout and no retries, since a retried `ADD` could count twice, and a rate limit must not delay the
//! request that it protects.

mod item;

use std::time::Duration;

use aws_sdk_dynamodb::{
    Client,
    config::{Builder, retry::RetryConfig, timeout::TimeoutConfig},
    error::SdkError,
    operation::update_item::{UpdateItemError, builders::UpdateItemFluentBuilder},
    types::{ReturnValue, ReturnValuesOnConditionCheckFailure},
};
use linklet_domain::{LimitedRoute, RateLimit, ThrottleSubject, Timestamp, Window};

use self::item::{WindowItem, ttl, window_key};
use crate::{
    RepositoryError,
    item::{Item, Table, from_item, number, text},
};

/// The repository of rate limit windows: ThrottleTable.
#[derive(Debug, Clone)]
pub struct ThrottleTable(Table);

/// The outcome of counting a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOutcome {
    /// The call is counted; the window includes it.
    Counted(Window),
    /// The limit of the window was reached before, so the call isn't counted.
    Refused(Window),
}

/// The outcome of a conditional update.
enum Updated {
    /// The window after the update.
    To(Window),
    /// The condition failed; this is the existing window, if any.
    Refused(Option<Window>),
}

impl ThrottleTable {
    const TIMEOUT: Duration = Duration::from_millis(500);
    /// Number of attempts, if concurrent calls start a window, or it ends, between the two updates of an attempt.
    const TRIES: u32 = 3;

    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Counts a call, unless the limit is reached. The count is exact, also with concurrent calls.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within half a second; the call may or may not be counted then.
    pub async fn count(
        &self,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        limit: RateLimit,
        now: Timestamp,
    ) -> Result<CountOutcome, RepositoryError> {
        const OPERATION: &str = "count a call";
        for _ in 0..Self::TRIES {
            let update = self
                .update(route, subject)
                .update_expression("ADD hits :hits")
                .condition_expression("window_ends > :now AND hits < :limit")
                .expression_attribute_values(":hits", number(&1))
                .expression_attribute_values(":now", text(&now))
                .expression_attribute_values(":limit", number(&limit.calls()));
            match send(OPERATION, update).await? {
                Updated::To(window) => return Ok(CountOutcome::Counted(window)),
                Updated::Refused(Some(window)) if window.is_live(now) => return Ok(CountOutcome::Refused(window)),
                Updated::Refused(_) => {}
            }
            let first = Window { hits: 1, ..Window::starting(now) };
            if let Updated::To(window) = self.start(OPERATION, route, subject, first, now).await? {
                return Ok(CountOutcome::Counted(window));
            }
        }
        Err(RepositoryError::contention(OPERATION))
    }

    /// Undoes [`Self::count`]: subtracts a call that was counted in this window, unless another window has begun.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; the call may stay counted then.
    pub async fn uncount(
        &self,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        window: Window,
    ) -> Result<(), RepositoryError> {
        let update = self
            .update(route, subject)
            .update_expression("ADD hits :hits")
            .condition_expression("window_ends = :ends")
            .expression_attribute_values(":hits", number(&-1))
            .expression_attribute_values(":ends", text(&window.ends_at));
        send("uncount a call", update).await?;
        Ok(())
    }

    /// Adds calls that an execution environment has counted in memory, regardless of the limit, and returns the shared window.
    /// If there is no current window, `counted` becomes it.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within half a second; the calls may or may not be added then.
    pub async fn merge(
        &self,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        counted: Window,
        now: Timestamp,
    ) -> Result<Window, RepositoryError> {
        const OPERATION: &str = "merge calls";
        for _ in 0..Self::TRIES {
            let update = self
                .update(route, subject)
                .update_expression("ADD hits :hits")
                .condition_expression("window_ends > :now")
                .expression_attribute_values(":hits", number(&counted.hits))
                .expression_attribute_values(":now", text(&now));
            if let Updated::To(window) = send(OPERATION, update).await? {
                return Ok(window);
            }
            if let Updated::To(window) = self.start(OPERATION, route, subject, counted, now).await? {
                return Ok(window);
            }
        }
        Err(RepositoryError::contention(OPERATION))
    }

    /// Writes a new window, unless there is a current one.
    async fn start(
        &self,
        operation: &'static str,
        route: LimitedRoute,
        subject: &ThrottleSubject,
        window: Window,
        now: Timestamp,
    ) -> Result<Updated, RepositoryError> {
        let update = self
            .update(route, subject)
            .update_expression("SET hits = :hits, window_ends = :ends, #ttl = :ttl")
            .condition_expression("attribute_not_exists(window_ends) OR window_ends <= :now")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":hits", number(&window.hits))
            .expression_attribute_values(":ends", text(&window.ends_at))
            .expression_attribute_values(":ttl", number(&ttl(window.ends_at)))
            .expression_attribute_values(":now", text(&now));
        send(operation, update).await
    }

    fn update(&self, route: LimitedRoute, subject: &ThrottleSubject) -> UpdateItemFluentBuilder {
        self.0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(window_key(route, subject).into_item()))
            .return_values(ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

async fn send(operation: &'static str, update: UpdateItemFluentBuilder) -> Result<Updated, RepositoryError> {
    // The connect timeout isn't changed: with another one, the SDK wouldn't share connections with other calls.
    let timeouts = TimeoutConfig::builder().operation_timeout(ThrottleTable::TIMEOUT).build();
    let once = Builder::new().timeout_config(timeouts).retry_config(RetryConfig::disabled());
    let window = |item: Item| from_item::<WindowItem>(operation, item).map(Window::from);
    match update.customize().config_override(once).send().await.map_err(SdkError::into_service_error) {
        Ok(updated) => Ok(Updated::To(window(updated.attributes.unwrap_or_default())?)),
        Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
            Ok(Updated::Refused(refused.item.map(window).transpose()?))
        }
        Err(error) => Err(RepositoryError::unavailable(operation)(error)),
    }
}
