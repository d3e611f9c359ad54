//! Key attributes, reads, writes and conversions that all tables share.

use std::collections::HashMap;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, KeysAndAttributes, ReturnConsumedCapacity, WriteRequest};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{RepositoryError, Result, back_off, throttle::reads};

/// An item as the SDK represents it: attribute values by attribute name.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The condition of a write that creates an item and never replaces one.
pub(crate) const IS_NEW: &str = "attribute_not_exists(pk)";

/// The primary key of an item; all tables have the same two key attributes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn into_item(self) -> Item {
        Item::from([("pk".to_owned(), AttributeValue::S(self.pk)), ("sk".to_owned(), AttributeValue::S(self.sk))])
    }
}

/// An item whose attributes are the members of a value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stored<T> {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub value: T,
    pub ttl: Option<i64>,
}

impl<T> Stored<T> {
    /// The value, if its time isn't over. DynamoDB deletes an item some time after its TTL.
    pub(crate) fn current(self, now: Timestamp) -> Option<T> {
        self.ttl.is_none_or(|ttl| now.unix_seconds() < ttl).then_some(self.value)
    }
}

/// How recent the result of a read is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// It may lack the writes of the last moments, and costs half.
    Eventual,
    /// It has all writes that were confirmed before.
    Strong,
}

/// Which items of a partition a query reads, by their sort keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SortKeys<'a> {
    All,
    Beginning(&'a str),
    Before(&'a str),
    From(&'a str),
    /// Both inclusive.
    Between(&'a str, &'a str),
}

/// A table: the name under which it is deployed, and the client for it.
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) client: Client,
    pub(crate) name: String,
}

impl Table {
    /// The table with this name.
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self { client, name: name.into() }
    }

    /// A query for a partition's items with such sort keys.
    pub(crate) fn query(&self, partition: &str, sort_keys: SortKeys<'_>) -> QueryFluentBuilder {
        let (condition, first, second) = match sort_keys {
            SortKeys::All => ("pk = :pk", None, None),
            SortKeys::Beginning(prefix) => ("pk = :pk AND begins_with(sk, :first)", Some(prefix), None),
            SortKeys::Before(end) => ("pk = :pk AND sk < :first", Some(end), None),
            SortKeys::From(first) => ("pk = :pk AND sk >= :first", Some(first), None),
            SortKeys::Between(first, last) => ("pk = :pk AND sk BETWEEN :first AND :second", Some(first), Some(last)),
        };
        let values = [(":pk", Some(partition)), (":first", first), (":second", second)].into_iter();
        let values = values.filter_map(|(name, value)| Some((name.to_owned(), text(value?)))).collect();
        self.client.query().key_condition_expression(condition).set_expression_attribute_values(Some(values))
    }

    /// Reads all of a partition's items with such sort keys by strongly consistent reads.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        partition: &str,
        sort_keys: SortKeys<'_>,
    ) -> Result<Vec<T>> {
        let query = self.query(partition, sort_keys).consistent_read(true);
        let items = self.query_all(operation, query, usize::MAX).await?;
        items.into_iter().map(|item| from_item(operation, item)).collect()
    }

    /// Runs a query through all of DynamoDB's 1 MB pages, until its end or until it has `limit` items.
    pub(crate) async fn query_all(
        &self,
        operation: &'static str,
        query: QueryFluentBuilder,
        limit: usize,
    ) -> Result<Vec<Item>> {
        let query = query.set_limit(i32::try_from(limit).ok());
        let mut answers = Answers::new(self, operation, query, usize::MAX);
        let mut items = Vec::new();
        while items.len() < limit
            && let Some(more) = answers.next().await?
        {
            items.extend(more);
        }
        items.truncate(limit);
        Ok(items)
    }

    /// A query of which answers are read one after another.
    pub(crate) fn query_answers(&self, operation: &'static str, query: QueryFluentBuilder) -> Answers {
        Answers::new(self, operation, query, usize::MAX)
    }

    /// A query for a list that may be of any length, of which [`READ_BUDGET`] is read.
    pub(crate) fn query_within_budget(&self, operation: &'static str, query: QueryFluentBuilder) -> Answers {
        Answers::new(self, operation, query, READ_BUDGET)
    }
}

/// How many answers to a query are read for one page of a list, so that a page costs no more than this however much the
/// workspace has. DynamoDB reads up to 1 MB for an answer, so it is 8 MB, which are 1,024 read units.
const READ_BUDGET: usize = 8;

/// The answers to a query, one after another, so that only one of them is in memory. Each is up to 1 MB.
#[derive(Debug)]
pub(crate) struct Answers {
    operation: &'static str,
    query: QueryFluentBuilder,
    left: usize,
    /// The key of the last item that was read, unless that was the last one that there is.
    last_read: Option<Item>,
    /// Whether everything was read.
    pub is_at_end: bool,
}

impl Answers {
    fn new(table: &Table, operation: &'static str, query: QueryFluentBuilder, most: usize) -> Self {
        Self { operation, query: query.table_name(&table.name), left: most, last_read: None, is_at_end: false }
    }

    /// The next answer; `None` after the last one, or after as many as may be read.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Item>>> {
        if self.is_at_end || self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let told = reads::is_metered(self.operation)?.then_some(ReturnConsumedCapacity::Total);
        let query =
            self.query.clone().set_exclusive_start_key(self.last_read.take()).set_return_consumed_capacity(told);
        let answer = query.send().await.map_err(RepositoryError::unavailable(self.operation))?;
        reads::note(self.operation, answer.consumed_capacity.as_ref()).await?;
        self.is_at_end = answer.last_evaluated_key.is_none();
        self.last_read = answer.last_evaluated_key;
        Ok(Some(answer.items.unwrap_or_default()))
    }

    /// Has each further answer be larger than the one before, if the query has a limit.
    pub(crate) fn enlarge(&mut self) {
        const FACTOR: i32 = 4;
        let larger = self.query.get_limit().map(|limit| limit.saturating_mul(FACTOR));
        self.query = self.query.clone().set_limit(larger);
    }

    /// Has further answers have so many items at most.
    pub(crate) fn limit_to(&mut self, rows: usize) {
        self.query = self.query.clone().set_limit(i32::try_from(rows).ok());
    }

    /// The key of the last item that was read, unless everything was.
    pub(crate) fn last_read(&self) -> Option<&Item> {
        self.last_read.as_ref()
    }
}

impl Table {
    /// Reads an item with a strongly consistent read.
    pub(crate) async fn get<T: DeserializeOwned>(&self, operation: &'static str, key: Key) -> Result<Option<T>> {
        self.get_with(operation, key, Consistency::Strong).await
    }

    pub(crate) async fn get_with<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        key: Key,
        consistency: Consistency,
    ) -> Result<Option<T>> {
        self.find(operation, key, consistency).await.and_then(|item| from_found(operation, item))
    }

    /// Reads an item as it is stored.
    pub(crate) async fn find(
        &self,
        operation: &'static str,
        key: Key,
        consistency: Consistency,
    ) -> Result<Option<Item>> {
        let found = self
            .client
            .get_item()
            .table_name(&self.name)
            .set_key(Some(key.into_item()))
            .consistent_read(consistency == Consistency::Strong)
            .send()
            .await
            .map_err(RepositoryError::unavailable(operation))?;
        Ok(found.item)
    }

    /// Maximum number of items in a BatchGetItem (DynamoDB's limit).
    pub(crate) const MAX_BATCH: usize = 100;

    /// Reads any number of items, in any order.
    pub(crate) async fn batch_get(
        &self,
        operation: &'static str,
        keys: Vec<Key>,
        consistent: bool,
        projection: Option<&str>,
    ) -> Result<Vec<Item>> {
        const CONCURRENCY: usize = 4;
        let batches: Vec<_> = keys.chunks(Self::MAX_BATCH).map(<[Key]>::to_vec).collect();
        let batches = batches.into_iter().map(|batch| self.get_batch(operation, batch, consistent, projection));
        stream::iter(batches).buffered(CONCURRENCY).try_concat().await
    }

    /// Reads as many items as one call may, and retries the keys that DynamoDB returns as unprocessed.
    async fn get_batch(
        &self,
        operation: &'static str,
        keys: Vec<Key>,
        consistent: bool,
        projection: Option<&str>,
    ) -> Result<Vec<Item>> {
        const TRIES: u32 = 7;
        let mut pending: Vec<Item> = keys.into_iter().map(Key::into_item).collect();
        let mut found = Vec::with_capacity(pending.len());
        for attempt in 0..TRIES {
            let request = KeysAndAttributes::builder()
                .set_keys(Some(pending))
                .consistent_read(consistent)
                .set_projection_expression(projection.map(str::to_owned))
                .build()
                .map_err(RepositoryError::unavailable(operation))?;
            let answer = self
                .client
                .batch_get_item()
                .request_items(&self.name, request)
                .send()
                .await
                .map_err(RepositoryError::unavailable(operation))?;
            found.extend(answer.responses.unwrap_or_default().remove(&self.name).unwrap_or_default());
            pending = answer
                .unprocessed_keys
                .unwrap_or_default()
                .remove(&self.name)
                .map(|left| left.keys)
                .unwrap_or_default();
            if pending.is_empty() {
                return Ok(found);
            }
            back_off(attempt).await;
        }
        Err(RepositoryError::incomplete(operation))
    }

    /// Reads a few items together by strongly or eventually consistent reads, and returns each in the place of its key.
    pub(crate) async fn get_each<const N: usize>(
        &self,
        operation: &'static str,
        keys: [Option<Key>; N],
        consistency: Consistency,
    ) -> Result<[Option<Item>; N]> {
        let wanted = keys.iter().flatten().cloned().collect();
        let mut found = self.batch_get(operation, wanted, consistency == Consistency::Strong, None).await?;
        Ok(keys.map(|key| {
            let key = key?.into_item();
            let place = found.iter().position(|item| key.iter().all(|(name, part)| item.get(name) == Some(part)))?;
            Some(found.swap_remove(place))
        }))
    }

    /// The keys of all items of a partition, by strongly consistent reads.
    pub(crate) async fn keys_of(&self, operation: &'static str, partition: &str) -> Result<Vec<Key>> {
        let query = self.query(partition, SortKeys::All).consistent_read(true).projection_expression("pk, sk");
        let items: Vec<_> = self.query_all(operation, query, usize::MAX).await?;
        items.into_iter().map(|item| from_item(operation, item)).collect()
    }

    /// Deletes all items of a partition.
    pub(crate) async fn delete_partition(&self, operation: &'static str, partition: &str) -> Result<()> {
        let keys = self.keys_of(operation, partition).await?;
        self.delete_all(operation, keys.into_iter().map(Key::into_item).collect()).await
    }

    /// Deletes items by their keys in batches of 25, and retries those that DynamoDB returns as unprocessed.
    pub(crate) async fn delete_all(&self, operation: &'static str, keys: Vec<Item>) -> Result<()> {
        const BATCH: usize = 25;
        const TRIES: u32 = 8;
        let mut requests = Vec::with_capacity(keys.len());
        for key in keys {
            let delete =
                DeleteRequest::builder().set_key(Some(key)).build().map_err(RepositoryError::unavailable(operation))?;
            requests.push(WriteRequest::builder().delete_request(delete).build());
        }
        for batch in requests.chunks(BATCH) {
            let mut pending = batch.to_vec();
            for attempt in 0..TRIES {
                let answer = self
                    .client
                    .batch_write_item()
                    .request_items(&self.name, pending)
                    .send()
                    .await
                    .map_err(RepositoryError::unavailable(operation))?;
                pending = answer.unprocessed_items.unwrap_or_default().remove(&self.name).unwrap_or_default();
                if pending.is_empty() {
                    break;
                }
                back_off(attempt).await;
            }
            if !pending.is_empty() {
                return Err(RepositoryError::incomplete(operation));
            }
        }
        Ok(())
    }
}

/// An item with the attributes that have a value: `None` and empty lists are left out.
pub(crate) fn to_item<T: Serialize>(operation: &'static str, value: &T) -> Result<Item> {
    let mut item = to_attributes(operation, value)?;
    item.retain(|_, value| !value.is_null() && !value.as_l().is_ok_and(Vec::is_empty));
    Ok(item)
}

/// The attributes of a value; those of `None` are null.
pub(crate) fn to_attributes<T: Serialize>(operation: &'static str, value: &T) -> Result<Item> {
    serde_dynamo::aws_sdk_dynamodb_1::to_item(value).map_err(RepositoryError::unexpected_item(operation))
}

pub(crate) fn from_item<T: DeserializeOwned>(operation: &'static str, item: Item) -> Result<T> {
    serde_dynamo::aws_sdk_dynamodb_1::from_item(item).map_err(RepositoryError::unexpected_item(operation))
}

pub(crate) fn from_found<T: DeserializeOwned>(operation: &'static str, item: Option<Item>) -> Result<Option<T>> {
    item.map(|item| from_item(operation, item)).transpose()
}

/// An item's size as DynamoDB counts it: names and values in UTF-8, numbers with one byte per two digits and one more, and maps and
/// lists with three bytes and one per member.
pub(crate) fn size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of_value(value)).sum()
}

fn size_of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::M(members) => 3 + members.len() + size(members),
        AttributeValue::L(members) => 3 + members.len() + members.iter().map(size_of_value).sum::<usize>(),
        _ => 1,
    }
}

pub(crate) const WORKSPACE_PREFIX: &str = "WS#";

/// The partition of what a workspace has, in most tables.
pub(crate) fn workspace_partition(workspace: &WorkspaceId) -> String {
    format!("{WORKSPACE_PREFIX}{workspace}")
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn text(value: &(impl ToString + ?Sized)) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

pub(crate) fn number(value: &impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_without_value_is_omitted_from_items_and_null_in_changes() {
        #[derive(Serialize)]
        struct Row {
            title: Option<&'static str>,
            tags: Vec<&'static str>,
            labels: Vec<&'static str>,
        }
        let row = Row { title: None, tags: vec![], labels: vec!["a"] };

        let (item, attributes) = (to_item("test", &row).unwrap(), to_attributes("test", &row).unwrap());

        assert_eq!(item, Item::from([("labels".to_owned(), AttributeValue::L(vec![text("a")]))]));
        assert_eq!(attributes["title"], AttributeValue::Null(true));
    }
}
