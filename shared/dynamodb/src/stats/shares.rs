//! Shares of statistics, and the answers to those who have them, which are kept so that they aren't computed for each visitor.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{LinkId, Share, ShareId, Shared, Timestamp, WorkspaceId, lifetimes};
use serde::{Deserialize, Serialize};

use super::StatsTable;
use crate::item::{Key, SortKeys, Stored};
use crate::write::ACTION;
use crate::{Consistency, Result};

/// `SHARES#<workspace>` / `<id>`: a share.
type ShareItem = Stored<Share>;

/// An answer to whoever has a share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedAnswer {
    /// When it was computed.
    pub as_of: Timestamp,
    /// The body.
    #[serde(rename = "answer")]
    pub body: String,
}

impl SharedAnswer {
    /// Whether nobody computes another one yet.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.as_of.plus(lifetimes::SHARED_ANSWERS)
    }
}

/// `SHARED#<id>` / `<question>`: an answer.
type AnswerItem = Stored<SharedAnswer>;

fn partition(workspace: &WorkspaceId) -> String {
    format!("SHARES#{workspace}")
}

fn share_key(workspace: &WorkspaceId, id: &ShareId) -> Key {
    Key::new(partition(workspace), id.as_str())
}

fn answers_of(id: &ShareId) -> String {
    format!("SHARED#{id}")
}

impl StatsTable {
    /// The action of a transaction that puts a share whose id is new.
    pub(crate) fn new_share(&self, share: &Share) -> Result<TransactWriteItem> {
        let ttl = share.expires_at.map(|end| end.unix_seconds() + 1);
        self.table.put_new(&ShareItem { key: share_key(&share.workspace, &share.id), value: share.clone(), ttl })
    }

    /// The action of a transaction that ends a share which is there.
    pub(crate) fn share_deletion(&self, share: &Share) -> Result<TransactWriteItem> {
        self.table.delete(ACTION, share_key(&share.workspace, &share.id)).only_if("attribute_exists(pk)").action()
    }

    /// Reads a share, unless it has expired.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn share(
        &self,
        workspace: &WorkspaceId,
        id: &ShareId,
        now: Timestamp,
        consistency: Consistency,
    ) -> Result<Option<Share>> {
        let found = self.table.get_with::<ShareItem>("read a share", share_key(workspace, id), consistency);
        Ok(found.await?.map(|item| item.value).filter(|share| share.is_valid_at(now)))
    }

    /// Lists the shares of a workspace, without those that have expired.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn shares(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Vec<Share>> {
        let items = self.table.list::<ShareItem>("list shares", &partition(workspace), SortKeys::All).await?;
        Ok(items.into_iter().map(|item| item.value).filter(|share| share.is_valid_at(now)).collect())
    }

    /// What was answered to a question last, if it is kept.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn shared_answer(&self, id: &ShareId, question: &str, now: Timestamp) -> Result<Option<SharedAnswer>> {
        let key = Key::new(answers_of(id), question);
        let found = self.table.get_with::<AnswerItem>("read a shared answer", key, Consistency::Eventual).await?;
        Ok(found.map(|item| item.value).filter(|answer| answer.is_fresh(now)))
    }

    /// Keeps an answer, unless a later one is kept already.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keep_shared_answer(&self, id: &ShareId, question: &str, answer: &SharedAnswer) -> Result<()> {
        let ttl = Some(answer.as_of.plus(lifetimes::SHARED_ANSWERS).unix_seconds());
        let item = AnswerItem { key: Key::new(answers_of(id), question), value: answer.clone(), ttl };
        let put = self.table.put_item("keep a shared answer", &item)?;
        let put = put.only_if("attribute_not_exists(as_of) OR as_of < :as_of");
        put.value(":as_of", crate::item::text(&answer.as_of)).unless_refused().await.map(|_| ())
    }

    /// Ends the shares of a link, and deletes the answers that are kept of it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn end_shares_of(&self, workspace: &WorkspaceId, link: &LinkId) -> Result<()> {
        self.end_shares(workspace, |share| share.shared == Shared::Link(link.clone())).await
    }

    /// Ends all shares of a workspace, and deletes the answers that are kept of them.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then part of it may be done.
    pub async fn forget_shares(&self, workspace: &WorkspaceId) -> Result<()> {
        self.end_shares(workspace, |_| true).await
    }

    async fn end_shares(&self, workspace: &WorkspaceId, is_meant: impl Fn(&Share) -> bool) -> Result<()> {
        const OPERATION: &str = "end shares";
        let mut items = self.table.list::<ShareItem>(OPERATION, &partition(workspace), SortKeys::All).await?;
        items.retain(|item| is_meant(&item.value));
        // First the shares: whoever is asking keeps no answer for one that isn't read any more, or for a minute at most.
        let keys = items.iter().map(|item| item.key.clone().into_item()).collect();
        self.table.delete_all(OPERATION, keys).await?;
        for item in &items {
            self.table.delete_partition(OPERATION, &answers_of(&item.value.id)).await?;
        }
        Ok(())
    }
}
