//! A workspace's name, slug and settings.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, Delete, TransactWriteItem, Update};
use linklet_domain::{UserId, Workspace, WorkspaceId, WorkspacePatch, WorkspaceSlug};

use super::{
    UsersTable,
    item::{SlugItem, WorkspaceItem, slug_key, workspace_key},
};
use crate::{
    RepositoryError,
    item::text,
    transaction::{Sent, Transaction, settle},
};

/// What came of changing a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceOutcome {
    /// It is like this now.
    Changed(Workspace),
    /// Another workspace has the slug.
    SlugTaken,
    /// There is no such workspace.
    NoWorkspace,
    /// The caller isn't an admin of the workspace any more.
    CallerNotAdmin,
}

const CHANGE: &str = "change a workspace";

impl UsersTable {
    /// The workspace with this id.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>, RepositoryError> {
        Ok(self.0.get::<WorkspaceItem>("find a workspace", workspace_key(id)).await?.map(Workspace::from))
    }

    /// Changes what the patch names, if the caller is an admin now. A new slug is taken, the old one freed and the workspace
    /// changed all or nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_workspace(
        &self,
        id: &WorkspaceId,
        caller: &UserId,
        patch: &WorkspacePatch,
    ) -> Result<WorkspaceOutcome, RepositoryError> {
        settle(CHANGE, || self.try_to_change(id, caller, patch)).await
    }

    /// `None` if the workspace got another slug in the meantime.
    async fn try_to_change(
        &self,
        id: &WorkspaceId,
        caller: &UserId,
        patch: &WorkspacePatch,
    ) -> Result<Option<WorkspaceOutcome>, RepositoryError> {
        let Some(current) = self.workspace(id).await? else { return Ok(Some(WorkspaceOutcome::NoWorkspace)) };
        if current.changed_by(patch) == current {
            return Ok(Some(WorkspaceOutcome::Changed(current)));
        }
        let mut transaction = Transaction::new(CHANGE)
            .and(self.caller_is_admin(id, caller)?, Some(WorkspaceOutcome::CallerNotAdmin))
            .and(self.workspace_change(&current, patch)?, None);
        if let Some(slug) = patch.slug.as_ref().filter(|slug| **slug != current.slug) {
            transaction = transaction
                .and(self.slug_claim(&current, slug)?, Some(WorkspaceOutcome::SlugTaken))
                .and(self.slug_release(&current)?, None);
        }
        Ok(match transaction.send(&self.0.client).await? {
            // Another change of name or settings may have come before: what stands there now has all of them.
            Sent::Committed => self.workspace(id).await?.map(WorkspaceOutcome::Changed),
            Sent::Refused(refusal) => refusal,
            Sent::InConflict => None,
        })
    }

    fn slug_claim(&self, current: &Workspace, slug: &WorkspaceSlug) -> Result<TransactWriteItem, RepositoryError> {
        let claim = SlugItem { key: slug_key(slug), workspace_id: current.id.clone() };
        // It may be the workspace's own, if a request for the same slug was faster: then the workspace's row refuses.
        let is_free = "attribute_not_exists(pk) OR workspace_id = :workspace";
        self.0.put_if(CHANGE, &claim, is_free, [(":workspace", text(&current.id))])
    }

    fn slug_release(&self, current: &Workspace) -> Result<TransactWriteItem, RepositoryError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(slug_key(&current.slug).into_item()))
            .condition_expression("workspace_id = :workspace")
            .expression_attribute_values(":workspace", text(&current.id))
            .build()
            .map_err(RepositoryError::unavailable(CHANGE))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    fn workspace_change(
        &self,
        current: &Workspace,
        patch: &WorkspacePatch,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let changes = Changes::of(patch);
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(workspace_key(&current.id).into_item()))
            .update_expression(&changes.expression)
            .condition_expression("slug = :standing")
            .set_expression_attribute_names(Some(changes.names))
            .set_expression_attribute_values(Some(changes.values))
            .expression_attribute_values(":standing", text(&current.slug))
            .build()
            .map_err(RepositoryError::unavailable(CHANGE))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}

/// What a patch sets, and nothing else: two patches of different members don't undo each other.
struct Changes {
    expression: String,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Changes {
    fn of(patch: &WorkspacePatch) -> Self {
        let WorkspacePatch { name, slug, settings } = patch;
        let set: Vec<(&str, AttributeValue)> = [
            name.as_ref().map(|name| ("name", text(name))),
            slug.as_ref().map(|slug| ("slug", text(slug))),
            settings.as_ref().map(|settings| ("settings", text(&String::from(settings.clone())))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let assignments: Vec<_> = set.iter().map(|(name, _)| format!("#{name} = :{name}")).collect();
        Self {
            expression: format!("SET {}", assignments.join(", ")),
            names: set.iter().map(|(name, _)| (format!("#{name}"), (*name).to_owned())).collect(),
            values: set.into_iter().map(|(name, value)| (format!(":{name}"), value)).collect(),
        }
    }
}
