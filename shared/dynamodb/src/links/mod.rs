//! LinksTable: every link, found by its code, and listed by its workspace.

pub(crate) mod item;

use aws_sdk_dynamodb::{
    Client, operation::put_item::PutItemError, operation::update_item::UpdateItemError,
    types::ReturnValuesOnConditionCheckFailure,
};
use linklet_domain::{CorrelationId, EventId, Link, RedirectTarget, ShortCode, Timestamp, UserId, WorkspaceId};

use self::item::{LinkItem, RedirectItem, link_key, workspace_partition};
use crate::{
    Cursor, Page, RepositoryError,
    item::{IS_NEW, Table, from_item, text, to_item},
};

/// The table of links.
#[derive(Debug, Clone)]
pub struct LinksTable(Table);

/// What came of creating a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateOutcome {
    /// The link exists now.
    Created,
    /// Another link has the code.
    CodeTaken,
}

/// What came of deactivating a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    /// It redirected before and doesn't any more.
    Deleted,
    /// It was deleted before.
    AlreadyDeleted,
}

impl LinksTable {
    const BY_WORKSPACE: &str = "by-workspace";

    /// The table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Stores a new link unless its code is taken.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(&self, link: &Link, correlation_id: &CorrelationId) -> Result<CreateOutcome, RepositoryError> {
        const OPERATION: &str = "create a link";
        let change_id = EventId::generate();
        let created = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &LinkItem::new(link, &change_id, correlation_id))?))
            .condition_expression(IS_NEW)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await;
        match created.map_err(aws_sdk_dynamodb::error::SdkError::into_service_error) {
            Ok(_) => Ok(CreateOutcome::Created),
            // The SDK repeats a write whose answer got lost; then the item in the way is our own.
            Err(PutItemError::ConditionalCheckFailedException(refused)) => {
                let standing = refused.item.map(|item| from_item::<LinkItem>(OPERATION, item)).transpose()?;
                let is_ours = standing.is_some_and(|item| item.change_id == change_id);
                Ok(if is_ours { CreateOutcome::Created } else { CreateOutcome::CodeTaken })
            }
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }

    /// What a redirect needs, read eventually consistently: half the price, and a new link is there within milliseconds.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn redirect_target(&self, code: &ShortCode) -> Result<Option<RedirectTarget>, RepositoryError> {
        const OPERATION: &str = "read a redirect";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .projection_expression(RedirectItem::PROJECTION)
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        found.item.map(|item| from_item::<RedirectItem>(OPERATION, item).map(Into::into)).transpose()
    }

    /// A whole link, read consistently: the basis of decisions about it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, code: &ShortCode) -> Result<Option<Link>, RepositoryError> {
        const OPERATION: &str = "read a link";
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .consistent_read(true)
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        found.item.map(|item| from_item::<LinkItem>(OPERATION, item).map(LinkItem::into_link)).transpose()
    }

    /// Whether a code has ever been given out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn exists(&self, code: &ShortCode) -> Result<bool, RepositoryError> {
        let found = self
            .0
            .client
            .get_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .projection_expression("pk")
            .send()
            .await
            .map_err(RepositoryError::unavailable("look up a code"))?;
        Ok(found.item.is_some())
    }

    /// A workspace's links, newest first, `limit` at most, after the given one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        limit: usize,
        after: Option<&Cursor<ShortCode>>,
    ) -> Result<Page<Link, ShortCode>, RepositoryError> {
        const OPERATION: &str = "list a workspace's links";
        let fetched = limit + 1;
        let mut query = self
            .0
            .client
            .query()
            .index_name(Self::BY_WORKSPACE)
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .scan_index_forward(false)
            .limit(i32::try_from(fetched).unwrap_or(i32::MAX));
        query = match after {
            // A condition on the key instead of an exclusive start key: it holds even if that row is gone by now.
            Some(cursor) => query
                .key_condition_expression("by_workspace_pk = :workspace AND by_workspace_sk < :after")
                .expression_attribute_values(":after", text(&cursor.sort_key())),
            None => query.key_condition_expression("by_workspace_pk = :workspace"),
        };
        let rows = self.0.query_all(OPERATION, query, fetched).await?;
        let links: Result<Vec<_>, _> =
            rows.into_iter().map(|item| from_item::<LinkItem>(OPERATION, item).map(LinkItem::into_link)).collect();
        Ok(Page::of(links?, limit, |link| Cursor { at: link.created_at, id: link.code.clone() }))
    }

    /// Deactivates a link: it answers 410 from now on, its statistics stay.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn delete(
        &self,
        code: &ShortCode,
        by: &UserId,
        at: Timestamp,
        correlation_id: &CorrelationId,
    ) -> Result<DeleteOutcome, RepositoryError> {
        let deleted = self
            .0
            .client
            .update_item()
            .table_name(&self.0.name)
            .set_key(Some(link_key(code).into_item()))
            .update_expression(
                "SET deleted_at = :at, deleted_by = :by, change_id = :change, correlation_id = :correlation",
            )
            .condition_expression("attribute_exists(pk) AND attribute_not_exists(deleted_at)")
            .expression_attribute_values(":at", text(&at))
            .expression_attribute_values(":by", text(by))
            .expression_attribute_values(":change", text(&EventId::generate()))
            .expression_attribute_values(":correlation", text(correlation_id))
            .send()
            .await;
        match deleted.map_err(aws_sdk_dynamodb::error::SdkError::into_service_error) {
            Ok(_) => Ok(DeleteOutcome::Deleted),
            Err(UpdateItemError::ConditionalCheckFailedException(_)) => Ok(DeleteOutcome::AlreadyDeleted),
            Err(error) => Err(RepositoryError::unavailable("delete a link")(error)),
        }
    }
}
