//! Links of one person, to hand them over.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{CorrelationId, EventId, ShortCode, Timestamp, UserId, WorkspaceId};

use super::LinksTable;
use super::item::{link_key, workspace_partition};
use super::listing::place_of;
use crate::{Cursor, RepositoryError, Result, item::text};

/// Some of the links of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedLinks {
    /// Their codes.
    pub codes: Vec<ShortCode>,
    /// After which link to read on; `None` at the end.
    pub rest: Option<Cursor<ShortCode>>,
}

impl LinksTable {
    /// The links that a person has created in a workspace until a time, among the next `looked_at` of the workspace, oldest first.
    /// That must be at least 2, since the link to read on after is among them. They are found by an index, which is some moments
    /// behind.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn owned(
        &self,
        workspace: &WorkspaceId,
        owner: &UserId,
        created_until: Timestamp,
        after: Option<&Cursor<ShortCode>>,
        looked_at: usize,
    ) -> Result<OwnedLinks> {
        const OPERATION: &str = "read the links of a person";
        let first = after.map_or_else(|| "0".to_owned(), Cursor::sort_key);
        // `~` sorts after every code.
        let last = format!("{created_until}#~");
        if last < first {
            return Ok(OwnedLinks { codes: Vec::new(), rest: None });
        }
        let found = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .index_name(Self::LEAN)
            // Includes the link of the cursor, which is handed over already.
            .key_condition_expression("by_workspace_pk = :workspace AND by_workspace_sk BETWEEN :first AND :last")
            .filter_expression("user_id = :owner")
            .projection_expression("by_workspace_sk")
            .expression_attribute_values(":workspace", text(&workspace_partition(workspace)))
            .expression_attribute_values(":first", text(&first))
            .expression_attribute_values(":last", text(&last))
            .expression_attribute_values(":owner", text(owner))
            .limit(i32::try_from(looked_at).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        let places = found.items.unwrap_or_default();
        let codes = places.iter().map(|item| place_of(item).map(|place| place.id)).collect::<Result<_, _>>()?;
        let rest = found.last_evaluated_key.as_ref().map(place_of).transpose()?;
        Ok(OwnedLinks { codes, rest })
    }

    /// Makes a link another member's, if it still is the owner's.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn hand_over(
        &self,
        code: &ShortCode,
        owner: &UserId,
        heir: &UserId,
        correlation_id: &CorrelationId,
    ) -> Result<()> {
        const HANDED: &str = "SET user_id = :heir, is_news = :no, change_id = :change, correlation_id = :correlation \
                              REMOVE changed_by";
        let update = self
            .0
            .update("hand over a link", link_key(code), HANDED)
            // A tombstone isn't listed.
            .only_if("attribute_exists(by_workspace_pk) AND user_id = :owner")
            .values([
                (":owner", text(owner)),
                (":heir", text(heir)),
                (":no", AttributeValue::Bool(false)),
                (":change", text(&EventId::generate())),
                (":correlation", text(correlation_id)),
            ]);
        update.unless_refused().await.map(|_| ())
    }
}
