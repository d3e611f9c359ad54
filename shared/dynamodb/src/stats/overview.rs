//! The overview of a workspace, which is kept so that it isn't added up for each who asks.
//!
//! Who finds it too old claims it, adds up a new one and puts it in the place of the old one. A claim holds for as long as a
//! function may run, so that one that dies keeps nobody from trying again.

use std::time::Duration;

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{put_item::PutItemError, update_item::UpdateItemError},
};
use linklet_domain::{Overview, Timestamp, WorkspaceId, lifetimes};
use serde::{Deserialize, Serialize};

use super::StatsTable;
use crate::{
    Consistency, RepositoryError,
    item::{Key, number, text, to_item},
};

/// `OVERVIEW#<workspace>` / `OVERVIEW`. A claim is written beside it.
#[derive(Debug, Serialize, Deserialize)]
struct OverviewItem {
    #[serde(flatten)]
    key: Key,
    as_of: Timestamp,
    overview: Overview,
    ttl: i64,
}

fn overview_key(workspace: &WorkspaceId) -> Key {
    Key::new(format!("OVERVIEW#{workspace}"), "OVERVIEW")
}

fn ttl(from: Timestamp) -> i64 {
    from.plus(lifetimes::OVERVIEWS).unix_seconds()
}

impl StatsTable {
    /// How long a claim holds: longer than a function may run.
    pub const OVERVIEW_CLAIM: Duration = Duration::from_secs(15);

    /// The overview that was made last, if one is kept.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or the overview has a form that this version doesn't write.
    pub async fn overview(&self, workspace: &WorkspaceId) -> Result<Option<Overview>, RepositoryError> {
        let key = overview_key(workspace);
        let found = self.0.get_with::<OverviewItem>("read an overview", key, Consistency::Eventual).await?;
        Ok(found.map(|item| item.overview))
    }

    /// Claims to make the overview that comes after that of `known`. Returns whether nobody else has claimed or made it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn claim_overview(
        &self,
        workspace: &WorkspaceId,
        known: Timestamp,
        now: Timestamp,
    ) -> Result<bool, RepositoryError> {
        let claim = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(overview_key(workspace).into_item()))
            .update_expression("SET claimed_until = :until, #ttl = :ttl")
            .condition_expression("as_of = :known AND (attribute_not_exists(claimed_until) OR claimed_until <= :now)")
            .expression_attribute_names("#ttl", "ttl")
            .expression_attribute_values(":until", text(&now.plus(Self::OVERVIEW_CLAIM)))
            .expression_attribute_values(":ttl", number(&ttl(now)))
            .expression_attribute_values(":known", text(&known))
            .expression_attribute_values(":now", text(&now));
        match claim.send().await.map_err(SdkError::into_service_error) {
            Ok(_) => Ok(true),
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(false),
            Err(error) => Err(RepositoryError::unavailable("claim an overview")(error)),
        }
    }

    /// Keeps an overview, and with it ends its claim, unless a later one is kept already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keep_overview(&self, workspace: &WorkspaceId, overview: &Overview) -> Result<(), RepositoryError> {
        const OPERATION: &str = "keep an overview";
        let item = OverviewItem {
            key: overview_key(workspace),
            as_of: overview.as_of,
            overview: overview.clone(),
            ttl: ttl(overview.as_of),
        };
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &item)?))
            .condition_expression("attribute_not_exists(as_of) OR as_of < :as_of")
            .expression_attribute_values(":as_of", text(&overview.as_of));
        match put.send().await.map_err(SdkError::into_service_error) {
            Ok(_) | Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }
}
