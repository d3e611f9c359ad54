//! What operators have blocked, for functions that create links or lead them elsewhere.

use std::{sync::Arc, time::Duration};

use linklet_domain::{Block, Blocked, Link, Timestamp};
use linklet_dynamodb::LinksTable;
use tokio::sync::Mutex;

use crate::http::{Problem, Result};

/// The blocks, as this environment has read them within the last minute.
pub struct Blocks {
    links: LinksTable,
    held: Mutex<Option<(Timestamp, Arc<[Block]>)>>,
}

impl Blocks {
    /// For how long what was read holds.
    pub const HELD_FOR: Duration = Duration::from_secs(60);

    /// The blocks of this table.
    pub fn new(links: LinksTable) -> Self {
        Self { links, held: Mutex::default() }
    }

    /// Refuses a link that an operator would suspend.
    ///
    /// # Errors
    /// 403 if a block affects it, and when DynamoDB can't be reached.
    pub async fn refuse(&self, link: &Link, now: Timestamp) -> Result<()> {
        let blocks = self.read(now).await?;
        match blocks.iter().find(|block| block.blocked.affects(link)).map(|block| &block.blocked) {
            Some(Blocked::Host(_)) => Err(Problem::DestinationBlocked.into()),
            Some(Blocked::Workspace(_)) => Err(Problem::WorkspaceBlocked.into()),
            None => Ok(()),
        }
    }

    /// Of many links that are created at once, the first reads.
    async fn read(&self, now: Timestamp) -> Result<Arc<[Block]>> {
        let mut held = self.held.lock().await;
        if let Some((_, blocks)) = held.as_ref().filter(|(read_at, _)| now < read_at.plus(Self::HELD_FOR)) {
            return Ok(Arc::clone(blocks));
        }
        let blocks = Arc::from(self.links.blocks().await?);
        *held = Some((now, Arc::clone(&blocks)));
        Ok(blocks)
    }
}
