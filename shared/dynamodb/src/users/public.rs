//! What those read of workspaces who answer strangers.

use linklet_domain::{LogoId, PublicWorkspace, WorkspaceId};

use super::item::{LogoItem, PublicItem, logo_key, public_key};
use crate::item::Table;
use crate::{Consistency, Result};

/// The repository of what strangers may know of workspaces: UsersTable, without the right to read anything else.
#[derive(Debug, Clone)]
pub struct PublicWorkspaces(pub Table);

impl PublicWorkspaces {
    /// Reads what strangers may know of a workspace with an eventually consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, id: &WorkspaceId) -> Result<Option<PublicWorkspace>> {
        const OPERATION: &str = "read what is public of a workspace";
        let found = self.0.get_with::<PublicItem>(OPERATION, public_key(id), Consistency::Eventual).await?;
        Ok(found.map(|item| item.value))
    }

    /// Reads the file of a logo with an eventually consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn logo(&self, id: &LogoId) -> Result<Option<Vec<u8>>> {
        let found = self.0.get_with::<LogoItem>("read a logo", logo_key(id), Consistency::Eventual).await?;
        Ok(found.map(|item| item.png.into_vec()))
    }
}
