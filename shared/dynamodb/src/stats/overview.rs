//! The overview of a workspace, which is kept so that it isn't added up for each who asks.
//!
//! Who finds it too old claims it, adds up a new one and puts it in the place of the old one. A claim holds for as long as a
//! function may run, so that one that dies keeps nobody from trying again.

use std::time::Duration;

use linklet_domain::{Overview, Timestamp, WorkspaceId, lifetimes};
use serde::{Deserialize, Serialize};

use super::StatsTable;
use crate::{
    Consistency, RepositoryError,
    item::{Key, number, text},
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
        let found = self.table.get_with::<OverviewItem>("read an overview", key, Consistency::Eventual).await?;
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
        const CLAIM: &str = "SET claimed_until = :until, #ttl = :ttl";
        self.table
            .update("claim an overview", overview_key(workspace), CLAIM)
            .only_if("as_of = :known AND (attribute_not_exists(claimed_until) OR claimed_until <= :now)")
            .values([(":until", text(&now.plus(Self::OVERVIEW_CLAIM))), (":ttl", number(&ttl(now)))])
            .values([(":known", text(&known)), (":now", text(&now))])
            .unless_refused()
            .await
    }

    /// Keeps an overview, and with it ends its claim, unless a later one is kept already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keep_overview(&self, workspace: &WorkspaceId, overview: &Overview) -> Result<(), RepositoryError> {
        let item = OverviewItem {
            key: overview_key(workspace),
            as_of: overview.as_of,
            overview: overview.clone(),
            ttl: ttl(overview.as_of),
        };
        let put =
            self.table.put_item("keep an overview", &item)?.only_if("attribute_not_exists(as_of) OR as_of < :as_of");
        put.value(":as_of", text(&overview.as_of)).unless_refused().await.map(|_| ())
    }
}
