//! Writes of one item, each alone or as an action of a transaction.

use std::collections::HashMap;

use aws_sdk_dynamodb::Error;
use aws_sdk_dynamodb::config::Builder;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update,
};
use serde::Serialize;

use crate::item::{IS_NEW, Item, Key, Table, to_item};
use crate::{RepositoryError, Result, back_off};

/// What a write is for that is only an action of a transaction, which says itself what it is for.
pub(crate) const ACTION: &str = "make an action of a transaction";

/// A write of one item. An expression names an attribute whose name is a reserved word, such as `ttl`, as `#ttl`. One whose name
/// can't stand in an expression has a [placeholder](Write::placeholder).
#[derive(Debug, Clone)]
#[must_use = "a write does nothing before it is sent or made an action of a transaction"]
pub(crate) struct Write<'a> {
    table: &'a Table,
    operation: &'static str,
    kind: Kind,
    condition: Option<String>,
    placeholders: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
    returns_new: bool,
    returns_refused: bool,
    /// The settings of an update that is sent once.
    once: Option<Builder>,
}

#[derive(Debug, Clone)]
enum Kind {
    Put(Item),
    Update { key: Key, expression: String },
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
    pub(crate) fn put_item(&self, operation: &'static str, item: &impl Serialize) -> Result<Write<'_>> {
        Ok(self.put_attributes(operation, to_item(operation, item)?))
    }

    /// Puts an item that is serialised already.
    pub(crate) fn put_attributes(&self, operation: &'static str, item: Item) -> Write<'_> {
        self.write(operation, Kind::Put(item))
    }

    /// Changes an item, or makes one with this key. With an empty expression, an item that isn't there is made, and one that is
    /// there stays as it is; an action of a transaction needs an expression.
    pub(crate) fn update(&self, operation: &'static str, key: Key, expression: impl Into<String>) -> Write<'_> {
        self.write(operation, Kind::Update { key, expression: expression.into() })
    }

    /// Deletes an item.
    pub(crate) fn delete(&self, operation: &'static str, key: Key) -> Write<'_> {
        self.write(operation, Kind::Delete(key))
    }

    /// A transaction action that puts an item without a condition.
    pub(crate) fn put(&self, item: &impl Serialize) -> Result<TransactWriteItem> {
        self.put_item(ACTION, item)?.action()
    }

    /// A transaction action that puts an item on a condition with these values.
    pub(crate) fn put_if(
        &self,
        item: &impl Serialize,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> Result<TransactWriteItem> {
        self.put_item(ACTION, item)?.only_if(condition).values(values).action()
    }

    /// A transaction action that creates an item and fails if its key exists.
    pub(crate) fn put_new(&self, item: &impl Serialize) -> Result<TransactWriteItem> {
        self.put_item(ACTION, item)?.only_if(IS_NEW).action()
    }

    /// A transaction action that changes nothing and fails if the condition doesn't hold for the item.
    pub(crate) fn check(
        &self,
        key: Key,
        condition: &str,
        values: impl IntoIterator<Item = (&'static str, AttributeValue)>,
    ) -> Result<TransactWriteItem> {
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let check = ConditionCheck::builder()
            .table_name(&self.name)
            .set_key(Some(key.into_item()))
            .condition_expression(condition)
            .set_expression_attribute_names(unless_empty(names_in(&[condition])))
            .set_expression_attribute_values(unless_empty(values))
            .build()
            .map_err(RepositoryError::unavailable(ACTION))?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }

    fn write(&self, operation: &'static str, kind: Kind) -> Write<'_> {
        let (placeholders, values) = (HashMap::new(), HashMap::new());
        Write {
            table: self,
            operation,
            kind,
            condition: None,
            placeholders,
            values,
            returns_new: false,
            returns_refused: false,
            once: None,
        }
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

    /// What `#placeholder` stands for in an expression, if not for an attribute that is called so.
    pub(crate) fn placeholder(mut self, placeholder: &str, attribute: impl Into<String>) -> Self {
        self.placeholders.insert(format!("#{placeholder}"), attribute.into());
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

    /// Has an action of a transaction return the item that it is refused for.
    pub(crate) fn returning_refused(mut self) -> Self {
        self.returns_refused = true;
        self
    }

    /// Has an update sent with these settings, and never again, unless a transaction was in its way.
    pub(crate) fn once(mut self, settings: Builder) -> Self {
        self.once = Some(settings);
        self
    }

    /// Sends the write, and again while a transaction is writing the same item.
    pub(crate) async fn send(self) -> Result<Outcome> {
        let if_refused = self.condition.as_ref().map(|_| ReturnValuesOnConditionCheckFailure::AllOld);
        self.send_for(if_refused).await
    }

    /// The calls are boxed: otherwise whatever awaits a write would have room for the largest of them.
    async fn send_for(self, if_refused: Option<ReturnValuesOnConditionCheckFailure>) -> Result<Outcome> {
        let names = self.names();
        let Self {
            table: Table { client, name: table }, operation, kind, condition, values, returns_new, once, ..
        } = self;
        let values = unless_empty(values);
        let sent = match kind {
            Kind::Put(item) => {
                let put = client
                    .put_item()
                    .table_name(table)
                    .set_item(Some(item))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(if_refused);
                let sent = unless_in_conflict(|| Box::pin(put.clone().send())).await;
                sent.map(|_| Item::new()).map_err(Error::from)
            }
            Kind::Update { key, expression } => {
                let update = client
                    .update_item()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .set_update_expression((!expression.is_empty()).then_some(expression))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values(returns_new.then_some(ReturnValue::AllNew))
                    .set_return_values_on_condition_check_failure(if_refused);
                let sent = match once {
                    // What a transaction has kept out was certainly not written.
                    Some(settings) => {
                        let send = || update.clone().customize().config_override(settings.clone()).send();
                        unless_in_conflict(|| Box::pin(send())).await
                    }
                    None => unless_in_conflict(|| Box::pin(update.clone().send())).await,
                };
                sent.map(|updated| updated.attributes.unwrap_or_default()).map_err(Error::from)
            }
            Kind::Delete(key) => {
                let delete = client
                    .delete_item()
                    .table_name(table)
                    .set_key(Some(key.into_item()))
                    .set_condition_expression(condition)
                    .set_expression_attribute_names(names)
                    .set_expression_attribute_values(values)
                    .set_return_values_on_condition_check_failure(if_refused);
                let sent = unless_in_conflict(|| Box::pin(delete.clone().send())).await;
                sent.map(|_| Item::new()).map_err(Error::from)
            }
        };
        match sent {
            Ok(item) => Ok(Outcome::Done(item)),
            Err(Error::ConditionalCheckFailedException(refused)) => Ok(Outcome::Refused(refused.item)),
            Err(error) => Err(failed(operation, error)),
        }
    }

    /// Sends the write, and returns whether it was done: `false` means that its condition has failed.
    pub(crate) async fn unless_refused(self) -> Result<bool> {
        Ok(matches!(self.send_for(None).await?, Outcome::Done(_)))
    }

    /// Sends the write, to which a refusal is an error: nobody counts on it.
    pub(crate) async fn or_fail(self) -> Result<()> {
        let operation = self.operation;
        if self.unless_refused().await? { Ok(()) } else { Err(RepositoryError::refused(operation)) }
    }

    /// The write as an action of a transaction.
    pub(crate) fn action(self) -> Result<TransactWriteItem> {
        let names = self.names();
        let Self { table, operation, kind, condition, values, returns_refused, .. } = self;
        let values = unless_empty(values);
        let if_refused = returns_refused.then_some(ReturnValuesOnConditionCheckFailure::AllOld);
        let action = TransactWriteItem::builder();
        let built = match kind {
            Kind::Put(item) => Put::builder()
                .table_name(&table.name)
                .set_item(Some(item))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .set_return_values_on_condition_check_failure(if_refused)
                .build()
                .map(|put| action.put(put)),
            Kind::Update { key, expression } => Update::builder()
                .table_name(&table.name)
                .set_key(Some(key.into_item()))
                .set_update_expression((!expression.is_empty()).then_some(expression))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .set_return_values_on_condition_check_failure(if_refused)
                .build()
                .map(|update| action.update(update)),
            Kind::Delete(key) => Delete::builder()
                .table_name(&table.name)
                .set_key(Some(key.into_item()))
                .set_condition_expression(condition)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .set_return_values_on_condition_check_failure(if_refused)
                .build()
                .map(|delete| action.delete(delete)),
        };
        Ok(built.map_err(RepositoryError::unavailable(operation))?.build())
    }

    fn names(&self) -> Option<HashMap<String, String>> {
        let change = if let Kind::Update { expression, .. } = &self.kind { expression } else { "" };
        let mut names = names_in(&[change, self.condition.as_deref().unwrap_or_default()]);
        names.extend(self.placeholders.clone());
        unless_empty(names)
    }
}

/// What DynamoDB refuses a write with while a transaction is writing the same item. The SDK doesn't retry it.
const CONFLICT: &str = "TransactionConflictException";

/// Sends a write of one item, and again as long as a transaction is writing the same item.
async fn unless_in_conflict<T, E, R, F>(mut send: impl FnMut() -> F) -> Result<T, SdkError<E, R>>
where
    E: ProvideErrorMetadata,
    F: Future<Output = Result<T, SdkError<E, R>>>,
{
    const TRIES: u32 = 6;
    let mut attempt = 0;
    loop {
        match send().await {
            Err(error) if error.code() == Some(CONFLICT) && attempt < TRIES => {
                back_off(attempt).await;
                attempt += 1;
            }
            other => return other,
        }
    }
}

fn failed(operation: &'static str, error: Error) -> RepositoryError {
    match error.code() {
        Some(CONFLICT) => RepositoryError::contention(operation),
        _ => RepositoryError::unavailable(operation)(error),
    }
}

/// The names that expressions have placeholders for: `#ttl` stands for `ttl`.
fn names_in(expressions: &[&str]) -> HashMap<String, String> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let placeholders = expressions.iter().flat_map(|expression| expression.split('#').skip(1));
    placeholders
        .map(|rest| rest.split(|character| !is_part(character)).next().unwrap_or_default())
        .map(|name| (format!("#{name}"), name.to_owned()))
        .collect()
}

/// DynamoDB refuses a map without an entry.
fn unless_empty<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use aws_sdk_dynamodb::{error::ErrorMetadata, operation::delete_item::DeleteItemError};

    use super::*;

    /// Sends a request that fails twice with this error code: whether it succeeded, and how often it was sent.
    async fn sent_with(code: &str) -> (bool, u32) {
        let tries = AtomicU32::new(0);
        let outcome = unless_in_conflict(async || {
            if tries.fetch_add(1, Ordering::SeqCst) == 2 {
                return Ok(());
            }
            let error = DeleteItemError::generic(ErrorMetadata::builder().code(code).build());
            Err(SdkError::service_error(error, ()))
        })
        .await;
        (outcome.is_ok(), tries.into_inner())
    }

    #[test]
    fn a_placeholder_stands_for_the_attribute_that_it_is_called_after() {
        let names = names_in(&["SET life.#name = :name REMOVE #ttl", "", "pk = :pk AND #ttl<:now"]);

        let expected =
            [("#name", "name"), ("#ttl", "ttl")].map(|(placeholder, name)| (placeholder.into(), name.into()));
        assert_eq!(names, HashMap::from(expected));
        assert_eq!(names_in(&["SET a = :a"]), HashMap::new());
    }

    #[tokio::test]
    async fn only_a_write_in_conflict_with_a_transaction_is_retried() {
        assert_eq!(sent_with("TransactionConflictException").await, (true, 3));
        assert_eq!(sent_with("ValidationException").await, (false, 1));
    }

    #[test]
    fn a_write_that_meets_a_transaction_in_all_tries_fails_for_contention() {
        let failure = |code: &str| {
            let error = failed("test", DeleteItemError::generic(ErrorMetadata::builder().code(code).build()).into());
            std::error::Error::source(&error).unwrap().to_string()
        };

        assert!(failure(CONFLICT).starts_with("conflicting writes"));
        assert!(!failure("ValidationException").starts_with("conflicting writes"));
    }
}
