//! ThrottleTable: how often somebody has called a route in the current window.
//!
//! Every call is sent once and given up soon: an `ADD` that is sent again would count twice, and a limit is not worth a wait.

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

/// The table of calls.
#[derive(Debug, Clone)]
pub struct ThrottleTable(Table);

/// What came of counting a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountOutcome {
    /// It is counted, and this is the window with it.
    Counted(Window),
    /// The limit was reached before: nothing is counted.
    Refused(Window),
}

/// What came of an update on a condition.
enum Updated {
    To(Window),
    /// The condition did not hold; this is what stands there.
    Refused(Option<Window>),
}

impl ThrottleTable {
    const TIMEOUT: Duration = Duration::from_millis(500);
    /// How often others may start or end a window in between.
    const TRIES: u32 = 3;

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Counts a call, unless the limit is reached: exactly, however many call at once.
    ///
    /// # Errors
    /// When DynamoDB can't be reached within half a second; then the call may or may not be counted.
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
        Err(RepositoryError::overtaken(OPERATION))
    }

    /// Takes back a call that was counted in this window, if it still lasts.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then the call stays counted.
    pub async fn give_back(
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
        send("give a call back", update).await?;
        Ok(())
    }

    /// Adds calls that were counted elsewhere, whatever the limit, and answers with the window that all count in. If none
    /// lasts, the given one begins here.
    ///
    /// # Errors
    /// When DynamoDB can't be reached within half a second; then the calls may or may not be added.
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
        Err(RepositoryError::overtaken(OPERATION))
    }

    /// Writes this window if none lasts.
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
    // Another connect timeout would give these calls connections of their own, so that stays as it is.
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
