//! What all tables share: the key attributes and the conversions between items and structs.

use std::collections::HashMap;

use aws_sdk_dynamodb::{Client, operation::query::builders::QueryFluentBuilder, types::AttributeValue};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::RepositoryError;

/// An item as the SDK has it.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The condition under which a write creates an item and never replaces one.
pub(crate) const IS_NEW: &str = "attribute_not_exists(pk)";

/// The primary key, the same two attributes in every table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// A table by its deployed name, with the client that reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub client: Client,
    pub name: String,
}

impl Table {
    /// Runs a query to its end or until `limit` items are there, across the 1 MB pages that DynamoDB answers with.
    pub(crate) async fn query_all(
        &self,
        operation: &'static str,
        query: QueryFluentBuilder,
        limit: usize,
    ) -> Result<Vec<Item>, RepositoryError> {
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let page = query
                .clone()
                .table_name(&self.name)
                .set_exclusive_start_key(start)
                .send()
                .await
                .map_err(RepositoryError::unavailable(operation))?;
            items.extend(page.items.unwrap_or_default());
            start = page.last_evaluated_key;
            if start.is_none() || items.len() >= limit {
                items.truncate(limit);
                return Ok(items);
            }
        }
    }
}

pub(crate) fn to_item<T: Serialize>(operation: &'static str, value: &T) -> Result<Item, RepositoryError> {
    serde_dynamo::aws_sdk_dynamodb_1::to_item(value).map_err(RepositoryError::unexpected_item(operation))
}

pub(crate) fn from_item<T: DeserializeOwned>(operation: &'static str, item: Item) -> Result<T, RepositoryError> {
    serde_dynamo::aws_sdk_dynamodb_1::from_item(item).map_err(RepositoryError::unexpected_item(operation))
}

pub(crate) fn text(value: &(impl ToString + ?Sized)) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

pub(crate) fn number(value: &impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}
