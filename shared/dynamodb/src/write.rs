//! Writes of one item, each alone or as an action of a transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    error::SdkError,
    operation::{delete_item::DeleteItemError, put_item::PutItemError, update_item::UpdateItemError},
    types::{
        AttributeValue, ConditionCheck, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure,
        TransactWriteItem, Update,
    },
};
use serde::Serialize;

use crate::{
    RepositoryError,
    item::{IS_NEW, Item, Key, Table, retry_transaction_conflicts, to_item},
};

/// A write of one item. An expression names an attribute whose name is a reserved word, such as `ttl`, as `#ttl`.
#[derive(Debug, Clone)]
#[must_use = "a write does nothing before it is sent or made an action of a transaction"]
pub(crate) struct Write<'a> {
    table: &'a Table,
    operation: &'static str,
    kind: Kind,
    condition: Option<String>,
    values: HashMap<String, AttributeValue>,
    returns_new: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Put(Item),
    Update { key: Key, expression: Option<String> },
    Delete(Key),
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// It is done; this is the item after it, if the write [returns it](Write::returning_new).
    Done(Item),
    /// Its condition has failed; this is the item that is there, if any.
    Refused(Option<Item>),
}

impl Table {
    /// Puts an item in the place of the one with its key, if there is one.
    pub(crate) fn put_item(
        &self,
        operation: &'static str,
        item: &impl Serialize,
    ) -> Result<Write<'_>, RepositoryError> {
        Ok(self.write(operation, Kind::Put(to_item(operation, item)?)))
    }

    /// Changes an item, or makes one with this key. Without an expression, an item that isn't there is made, and one that is there
    /// stays as it is.
    pub(crate) fn update(&self, operation: &'static str, key: Key, expression: impl Into<Option<String>>) -> Write<'_> {
        self.write(operation, Kind::Update { key, expression: expression.into() })
    }

    /// Deletes an item.
    pub(crate) fn delete(&self, operation: &'static str, key: Key) -> Write<'_> {
        self.write(operation, Kind::Delete(key))
    }

    /// A transaction action that creates an item and fails if its key exists.
    pub(crate) fn put_new(
        &self,
        operation: &'static str,
        item: &impl Serialize,
    ) -> Result<TransactWriteItem, RepositoryError> {
        self.put_item(operation, item)?.only_if(IS_NEW).action()
    }

    /// A transaction action that changes nothing and fails if the condition doesn't hold for the item.
    pub(crate) fn check(
        &self,
        operation: &'static str,
        key: Key,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> Result<TransactWriteItem, RepositoryError> {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let check = ConditionCheck::builder()
            .table_name(&self.name)
            .set_key(Some(key.into_item()))
            .condition_expression(condition)
            .set_expression_attribute_names(names_in([Some(condition)]))
            .set_expression_attribute_values(unless_empty(values))
            .build()
            .map_err(RepositoryError::unavailable(operation))?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }

    fn write(&self, operation: &'static str, kind: Kind) -> Write<'_> {
        Write { table: self, operation, kind, condition: None, values: HashMap::new(), returns_new: false }
    }
}

impl Write<'_> {
    /// Writes only if this holds for the item that is there.
    pub(crate) fn only_if(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Writes only if this holds as well.
    pub(crate) fn and_if(mut self, condition: &str) -> Self {
        self.condition =
            Some(self.condition.map_or_else(|| condition.to_owned(), |all| format!("({all}) AND {condition}")));
        self
    }

    /// A value that an expression names.
    pub(crate) fn value(mut self, name: &str, value: AttributeValue) -> Self {
        self.values.insert(name.to_owned(), value);
        self
    }

    /// Values that an expression names.
    pub(crate) fn values<N: Into<String>>(mut self, values: impl IntoIterator<Item = (N, AttributeValue)>) -> Self {
        self.values.extend(values.into_iter().map(|(name, value)| (name.into(), value)));
        self
    }

    /// Has an update return the item after it.
    pub(crate) fn returning_new(mut self) -> Self {
        self.returns_new = true;
        self
    }

    /// Sends the write, and again while a transaction is writing the same item.
    pub(crate) async fn send(self) -> Result<Outcome, RepositoryError> {
        const OLD: ReturnValuesOnConditionCheckFailure = ReturnValuesOnConditionCheckFailure::AllOld;
        let names = self.names();
        let Self { table: Table { client, name: table }, operation, kind, condition, values, returns_new } = self;
        let values = unless_empty(values);
        match kind {
            Kind::Put(item) => {
                let put = client
                    .put_item()
                    .table_name(table)
                    .set_item(Some(item))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(OLD);
                let sent = retry_transaction_conflicts(|| put.clone().send()).await;
                match sent.map_err(SdkError::into_service_error) {
                    Ok(_) => Ok(Outcome::Done(Item::new())),
                    Err(PutItemError::ConditionalCheckFailedException(refused)) => Ok(Outcome::Refused(refused.item)),
                    Err(error) => Err(RepositoryError::unavailable(operation)(error)),
                }
            }
            Kind::Update { key, expression } => {
                let update = client
                    .update_item()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .set_update_expression(expression)
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values(returns_new.then_some(ReturnValue::AllNew))
                    .return_values_on_condition_check_failure(OLD);
                let sent = retry_transaction_conflicts(|| update.clone().send()).await;
                match sent.map_err(SdkError::into_service_error) {
                    Ok(updated) => Ok(Outcome::Done(updated.attributes.unwrap_or_default())),
                    Err(UpdateItemError::ConditionalCheckFailedException(refused)) => {
                        Ok(Outcome::Refused(refused.item))
                    }
                    Err(error) => Err(RepositoryError::unavailable(operation)(error)),
                }
            }
            Kind::Delete(key) => {
                let delete = client
                    .delete_item()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .return_values_on_condition_check_failure(OLD);
                let sent = retry_transaction_conflicts(|| delete.clone().send()).await;
                match sent.map_err(SdkError::into_service_error) {
                    Ok(_) => Ok(Outcome::Done(Item::new())),
                    Err(DeleteItemError::ConditionalCheckFailedException(refused)) => {
                        Ok(Outcome::Refused(refused.item))
                    }
                    Err(error) => Err(RepositoryError::unavailable(operation)(error)),
                }
            }
        }
    }

    /// Sends the write, and returns whether it was done: `false` means that its condition has failed.
    pub(crate) async fn unless_refused(self) -> Result<bool, RepositoryError> {
        Ok(matches!(self.send().await?, Outcome::Done(_)))
    }

    /// The write as an action of a transaction.
    pub(crate) fn action(self) -> Result<TransactWriteItem, RepositoryError> {
        let names = self.names();
        let Self { table, operation, kind, condition, values, .. } = self;
        let values = unless_empty(values);
        let action = TransactWriteItem::builder();
        let built = match kind {
            Kind::Put(item) => Put::builder()
                .table_name(&table.name)
                .set_item(Some(item))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|put| action.put(put)),
            Kind::Update { key, expression } => Update::builder()
                .table_name(&table.name)
                .set_key(Some(key.into_item()))
                .set_update_expression(expression)
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|update| action.update(update)),
            Kind::Delete(key) => Delete::builder()
                .table_name(&table.name)
                .set_key(Some(key.into_item()))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map(|delete| action.delete(delete)),
        };
        Ok(built.map_err(RepositoryError::unavailable(operation))?.build())
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        let expression = match &self.kind {
            Kind::Update { expression, .. } => expression.as_deref(),
            Kind::Put(_) | Kind::Delete(_) => None,
        };
        names_in([expression, self.condition.as_deref()])
    }
}

/// The names that expressions have placeholders for: `#ttl` stands for `ttl`.
fn names_in<const N: usize>(expressions: [Option<&str>; N]) -> Option<HashMap<String, String>> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let placeholders = expressions.into_iter().flatten().flat_map(|expression| expression.split('#').skip(1));
    let names = placeholders
        .map(|rest| rest.split(|character| !is_part(character)).next().unwrap_or_default())
        .map(|name| (format!("#{name}"), name.to_owned()));
    unless_empty(names.collect())
}

/// DynamoDB refuses a map without an entry.
fn unless_empty<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_stands_for_the_attribute_that_it_is_called_after() {
        let names =
            names_in([Some("SET life.#name = :name REMOVE #ttl"), None, Some("pk = :pk AND #ttl<:now")]).unwrap();

        let expected =
            [("#name", "name"), ("#ttl", "ttl")].map(|(placeholder, name)| (placeholder.into(), name.into()));
        assert_eq!(names, HashMap::from(expected));
        assert_eq!(names_in([Some("SET a = :a"), None]), None);
    }
}
