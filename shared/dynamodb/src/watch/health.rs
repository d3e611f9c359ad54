//! How targets are: their status and their latest results, which no list has.

use std::collections::HashMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{CheckResult, Target, TargetId, TargetStatus, Timestamp};

use super::{
    ListedTarget, WatchTable,
    item::{TargetItem, target_key},
};
use crate::{RepositoryError, item::from_item};

/// The health of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The target's status.
    pub status: TargetStatus,
    /// Since when it has the status.
    pub status_since: Timestamp,
    /// The latest result; `None` before the first check.
    pub latest: Option<CheckResult>,
}

impl WatchTable {
    /// How many latest results are read at a time.
    const AT_ONCE: usize = 16;

    /// Reads the health of a target; `None` if there is no such target.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn health(&self, id: &TargetId, now: Timestamp) -> Result<Option<Health>, RepositoryError> {
        let Some(target) = self.find(id).await? else { return Ok(None) };
        Ok(Some(self.health_of(target, now).await?))
    }

    /// Reads the health of up to 100 targets, half a read unit for each target and for each result. Targets that are gone are
    /// absent.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn healths(
        &self,
        targets: &[ListedTarget],
        now: Timestamp,
    ) -> Result<HashMap<TargetId, Health>, RepositoryError> {
        const OPERATION: &str = "read the health of targets";
        if targets.is_empty() {
            return Ok(HashMap::new());
        }
        let keys = targets.iter().map(|target| target_key(&target.id)).collect();
        let items = self.table.batch_get(OPERATION, keys, false, None).await?;
        let health = async |item| {
            let target = Target::from(from_item::<TargetItem>(OPERATION, item)?);
            Ok((target.id.clone(), self.health_of(target, now).await?))
        };
        stream::iter(items).map(health).buffer_unordered(Self::AT_ONCE).try_collect().await
    }

    async fn health_of(&self, target: Target, now: Timestamp) -> Result<Health, RepositoryError> {
        let latest = self.results(&target, None, 1, now).await?.pop();
        let Target { status, status_since, .. } = target;
        Ok(Health { status, status_since, latest })
    }
}
