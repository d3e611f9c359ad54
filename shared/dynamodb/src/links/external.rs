//! External ids: what links are called elsewhere, each once in a workspace.
//!
//! An entry leads from an id to its link. It is written in the transaction that gives the link its id, and only if there is no
//! entry or its link doesn't have the id any more. It goes in the transaction that takes the id away. So of two links that want an
//! id at once, one gets it.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{ExternalId, Link, LinkName, Record, ShortCode, WorkspaceId};

use super::LinksTable;
use super::item::{ExternalIdItem, external_id_key};
use crate::{Result, item::text, write::ACTION};

/// What it takes to claim an external id, or the code of the link that has it.
pub(super) type IdClaim<T> = std::result::Result<T, ShortCode>;

impl LinksTable {
    /// The link of a workspace with an external id, by strongly consistent reads.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn with_external_id(&self, workspace: &WorkspaceId, id: &ExternalId) -> Result<Option<Link>> {
        Ok(self.entry_of(workspace, id).await?.and_then(|(_, link)| link))
    }

    /// Reads a whole link that a path names, with strongly consistent reads. An external id is one of this workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find_named(&self, workspace: &WorkspaceId, name: &LinkName) -> Result<Option<Record<Link>>> {
        match name {
            LinkName::Code(code) => self.find(code).await,
            LinkName::External(id) => Ok(self.with_external_id(workspace, id).await?.map(Record::Link)),
        }
    }

    /// The entry of an external id, if there is one, and the link that has the id.
    async fn entry_of(
        &self,
        workspace: &WorkspaceId,
        id: &ExternalId,
    ) -> Result<Option<(ExternalIdItem, Option<Link>)>> {
        let found = self.0.get::<ExternalIdItem>("look up an external id", external_id_key(workspace, id)).await?;
        let Some(entry) = found else { return Ok(None) };
        let has_it =
            |link: &Link| link.id().generation == entry.generation && link.metadata.external_id.as_ref() == Some(id);
        let link = match self.find(&entry.short_code).await? {
            Some(Record::Link(link)) if has_it(&link) => Some(link),
            _ => None,
        };
        Ok(Some((entry, link)))
    }

    /// The action that gives a link its external id, unless a concurrent request takes it; the code of the other link if one
    /// has it.
    pub(super) async fn claim_external_id(&self, link: &Link, id: &ExternalId) -> Result<IdClaim<TransactWriteItem>> {
        let workspace = &link.identity.workspace;
        let entry = ExternalIdItem::new(workspace, link.id(), id);
        match self.entry_of(workspace, id).await? {
            Some((_, Some(other))) => Ok(Err(other.identity.id.code)),
            None => self.0.put_new(&entry).map(Ok),
            // Each entry has a claim of its own, so it is the one that was read and not a later one of the same link.
            Some((stale, None)) => {
                self.0.put_if(&entry, "claim = :stale", Some((":stale", text(&stale.claim)))).map(Ok)
            }
        }
    }

    /// The action that frees the external id of a link, which succeeds also if the entry is gone.
    pub(super) fn release_external_id(&self, link: &Link, id: &ExternalId) -> Result<TransactWriteItem> {
        let delete = self.0.delete(ACTION, external_id_key(&link.identity.workspace, id));
        let is_ours = format!("attribute_not_exists(pk) OR ({IS_THE_LINKS})");
        delete.only_if(is_ours).values(of_link(link)).action()
    }

    /// The actions that give a link another external id; the code of the other link if one has it.
    pub(super) async fn change_of_external_id(
        &self,
        before: &Link,
        after: &Link,
    ) -> Result<IdClaim<Vec<TransactWriteItem>>> {
        let (old, new) = (&before.metadata.external_id, &after.metadata.external_id);
        let mut actions = Vec::new();
        if old == new {
            return Ok(Ok(actions));
        }
        if let Some(new) = new {
            match self.claim_external_id(before, new).await? {
                Ok(claim) => actions.push(claim),
                Err(by) => return Ok(Err(by)),
            }
        }
        if let Some(old) = old {
            actions.push(self.release_external_id(before, old)?);
        }
        Ok(Ok(actions))
    }
}

/// The condition that an entry is a link's.
const IS_THE_LINKS: &str = "short_code = :code AND generation = :generation";

/// The values of [`IS_THE_LINKS`].
fn of_link(link: &Link) -> [(&'static str, AttributeValue); 2] {
    [(":code", text(link.code())), (":generation", text(&link.id().generation))]
}
