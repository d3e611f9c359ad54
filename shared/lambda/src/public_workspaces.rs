//! What answers to strangers need of workspaces.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use linklet_domain::{LogoId, PublicWorkspace, Timestamp, Visibility, WorkspaceId};
use linklet_dynamodb::{PublicWorkspaces, RepositoryError};
use lru::LruCache;
use parking_lot::Mutex;

use crate::config::{self, ConfigError};

/// Who may see statistics where neither a link nor its workspace says so: `PUBLIC_STATISTICS`, which is `on` or `off`.
///
/// # Errors
/// When the variable is missing or invalid.
pub fn default_statistics() -> Result<Visibility, ConfigError> {
    const NAME: &str = "PUBLIC_STATISTICS";
    let switch = config::required(NAME)?;
    Visibility::of_switch(&switch).map_err(|error| ConfigError::Invalid { name: NAME, reason: error.to_string() })
}

/// What is public of workspaces, of which the latest are held in memory.
pub struct KnownWorkspaces {
    table: PublicWorkspaces,
    held: Mutex<LruCache<WorkspaceId, Held>>,
}

/// When a workspace was read, and what was found.
type Held = (Timestamp, Option<Arc<PublicWorkspace>>);

impl KnownWorkspaces {
    /// How long a workspace is held, and so how late a change is seen.
    pub const HELD_FOR: Duration = Duration::from_secs(60);

    /// How many workspaces are held: less than 2 MB.
    const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_000).unwrap();

    /// Reads from this table; nothing is held yet.
    pub fn new(table: PublicWorkspaces) -> Self {
        Self { table, held: Mutex::new(LruCache::sparse(Self::CAPACITY)) }
    }

    /// What is public of a workspace, as it was at most a minute ago. A failed read is not held.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(
        &self,
        id: &WorkspaceId,
        now: Timestamp,
    ) -> Result<Option<Arc<PublicWorkspace>>, RepositoryError> {
        if let Some((read_at, found)) = self.held.lock().get(id)
            && *read_at <= now
            && read_at.until(now) < Self::HELD_FOR
        {
            return Ok(found.clone());
        }
        let found = self.table.find(id).await?.map(Arc::new);
        self.held.lock().put(*id, (now, found.clone()));
        Ok(found)
    }

    /// The file of a logo.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn logo(&self, id: &LogoId) -> Result<Option<Vec<u8>>, RepositoryError> {
        self.table.logo(id).await
    }
}
