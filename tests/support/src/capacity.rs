use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextMut, BeforeTransmitInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use dynoxide::types::{Item, item_size, table_write_capacity_units};
use serde_json::Value;

use crate::faults::{Underway, json_of, lock, operation_of, set_json};

const READS: [&str; 5] = ["GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems"];
const WRITES: [&str; 5] = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"];

/// Measures what the calls of a client cost, in DynamoDB's request units. Clones share the counts.
///
/// It asks DynamoDB for the capacity of every call and adds up the answers: a call that the SDK repeats costs what each try
/// costs. A single write whose condition fails is charged, though its answer says nothing of it, and the meter computes that:
/// the larger of the item that is there and of the one that was to be put. For this it lets such a refusal carry the item
/// that is there, so a client sees it even if it hasn't asked. What an update would have made of the item is unknown, hence
/// an update is charged for the item as it is.
///
/// Not counted, since nobody says what they cost: a cancelled transaction, and a call whose answer is lost. Refusals are
/// [counted](Consumption::refusals), so a test can tell.
#[derive(Debug, Clone, Default)]
pub struct CapacityMeter(Arc<State>);

#[derive(Debug, Default)]
struct State {
    by_operation: Mutex<BTreeMap<String, Consumption>>,
    sent: Underway<Sent>,
}

#[derive(Debug)]
struct Sent {
    operation: String,
    request: Value,
}

/// What some calls have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumption {
    /// How many DynamoDB has answered, whatever the answer.
    pub calls: usize,
    /// How many of them it has refused, for a condition or for any other reason.
    pub refusals: usize,
    /// Read request units.
    pub read_units: f64,
    /// Write request units, those of indexes included.
    pub write_units: f64,
}

impl Consumption {
    /// Has a request ask for what it costs, if its operation costs anything.
    pub fn ask(operation: &str, request: &mut Value) {
        if READS.contains(&operation) || WRITES.contains(&operation) {
            request["ReturnConsumedCapacity"] = "INDEXES".into();
            if request.get("ConditionExpression").is_some() {
                request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD".into();
            }
        }
    }

    /// Whether an operation changes items.
    pub fn is_write(operation: &str) -> bool {
        WRITES.contains(&operation)
    }

    /// What a call that has [asked](Self::ask) for it has cost, as its answer says it.
    ///
    /// # Errors
    /// When an item in it is none.
    pub fn of(operation: &str, request: &Value, answer: &Value, refused: bool) -> Result<Self, serde_json::Error> {
        let mut consumption = Self { calls: 1, refusals: usize::from(refused), ..Self::default() };
        let capacity = &answer["ConsumedCapacity"];
        let tables = capacity.as_array().map_or_else(|| std::slice::from_ref(capacity), Vec::as_slice);
        for table in tables {
            let (read, write) = (table["ReadCapacityUnits"].as_f64(), table["WriteCapacityUnits"].as_f64());
            consumption.read_units += read.unwrap_or_default();
            consumption.write_units += write.unwrap_or_default();
            // Only transactions tell reads from writes. Their kind can't: repeated with the same token, one that writes is
            // charged for reading.
            if read.is_none() && write.is_none() {
                let units = table["CapacityUnits"].as_f64().unwrap_or_default();
                if READS.contains(&operation) {
                    consumption.read_units += units;
                } else {
                    consumption.write_units += units;
                }
            }
        }
        // With a namespace in front of it or without.
        let error = answer["__type"].as_str().and_then(|error| error.rsplit('#').next());
        if refused && error == Some("ConditionalCheckFailedException") {
            let size = |item: &Value| -> Result<Option<usize>, serde_json::Error> {
                let item: Option<Item> = serde_json::from_value(item.clone())?;
                Ok(item.as_ref().map(item_size))
            };
            consumption.write_units += table_write_capacity_units(size(&answer["Item"])?, size(&request["Item"])?);
        }
        Ok(consumption)
    }

    /// Adds what other calls have cost.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.refusals += other.refusals;
        self.read_units += other.read_units;
        self.write_units += other.write_units;
    }
}

impl CapacityMeter {
    /// Forgets what it has measured.
    pub fn reset(&self) {
        lock(&self.0.by_operation).clear();
    }

    /// All read request units.
    pub fn read_units(&self) -> f64 {
        self.total().read_units
    }

    /// All write request units, those of indexes included.
    pub fn write_units(&self) -> f64 {
        self.total().write_units
    }

    /// Read and write request units, which it forgets.
    pub fn spent(&self) -> (f64, f64) {
        let total = self.total();
        self.reset();
        (total.read_units, total.write_units)
    }

    /// How many calls DynamoDB has answered.
    pub fn calls(&self) -> usize {
        self.total().calls
    }

    /// All of it, by the name of the operation.
    pub fn by_operation(&self) -> BTreeMap<String, Consumption> {
        lock(&self.0.by_operation).clone()
    }

    pub(crate) fn count(
        &self,
        operation: &str,
        request: &Value,
        answer: &Value,
        refused: bool,
    ) -> Result<(), serde_json::Error> {
        let consumption = Consumption::of(operation, request, answer, refused)?;
        lock(&self.0.by_operation).entry(operation.to_owned()).or_default().add(consumption);
        Ok(())
    }

    fn total(&self) -> Consumption {
        let mut total = Consumption::default();
        for consumption in lock(&self.0.by_operation).values() {
            total.add(*consumption);
        }
        total
    }
}

/// How many bytes of storage an item takes, given in DynamoDB's JSON. DynamoDB bills 100 more for each item, and for each copy in
/// an index.
///
/// # Panics
/// When it is no item.
pub fn item_bytes(item: &Value) -> usize {
    let item: Item = serde_json::from_value(item.clone()).expect("an item in DynamoDB's JSON");
    item_size(&item)
}

impl Intercept for CapacityMeter {
    fn name(&self) -> &'static str {
        "CapacityMeter"
    }

    fn modify_before_retry_loop(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request_mut();
        let operation = operation_of(request);
        if READS.contains(&operation.as_str()) || WRITES.contains(&operation.as_str()) {
            let mut body = json_of(request)?;
            Consumption::ask(&operation, &mut body);
            set_json(request, &body);
        }
        Ok(())
    }

    // Earlier than `read_before_transmit`: until then another interceptor may have changed what is called.
    fn read_before_signing(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let sent = Sent { operation: operation_of(request), request: json_of(request)? };
        self.0.sent.set(config, Some(sent));
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let (sent, response) = (self.0.sent.take(config), context.response());
        if let (Some(sent), Some(body)) = (sent, response.body().bytes()) {
            let answer = serde_json::from_slice(body)?;
            let refused = !response.status().is_success();
            self.count(&sent.operation, &sent.request, &answer, refused)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use aws_sdk_dynamodb::Client;
    use aws_sdk_dynamodb::error::ProvideErrorMetadata;
    use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
    use aws_sdk_dynamodb::types::{AttributeValue, ConditionCheck, Delete, Put, TransactWriteItem, Update};

    use super::*;
    use crate::{Fault, Faults, TestDynamoDb};

    const TABLE: &str = "UsersTable";

    fn bench() -> (TestDynamoDb, Client, CapacityMeter) {
        let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
        let client = db.client_with(meter.clone());
        (db, client, meter)
    }

    fn key(name: &str) -> HashMap<String, AttributeValue> {
        ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S(name.to_owned()))).into()
    }

    /// An item with this key that has this size, names of attributes included.
    fn sized(name: &str, bytes: usize) -> HashMap<String, AttributeValue> {
        let mut item = key(name);
        let filling = bytes - "pk".len() - "sk".len() - 2 * name.len() - "filling".len();
        item.insert("filling".to_owned(), AttributeValue::S("x".repeat(filling)));
        item
    }

    fn put(client: &Client, item: HashMap<String, AttributeValue>) -> PutItemFluentBuilder {
        client.put_item().table_name(TABLE).set_item(Some(item))
    }

    fn put_action(item: HashMap<String, AttributeValue>) -> TransactWriteItem {
        let put = Put::builder().table_name(TABLE).set_item(Some(item)).build().unwrap();
        TransactWriteItem::builder().put(put).build()
    }

    #[tokio::test]
    async fn a_transaction_costs_twice_its_writes() {
        let (_db, client, meter) = bench();

        let actions = vec![put_action(key("a")), put_action(sized("b", 1_025))];
        client.transact_write_items().set_transact_items(Some(actions)).send().await.unwrap();

        assert_eq!((meter.write_units(), meter.read_units()), (6.0, 0.0));

        meter.reset();
        let update = Update::builder().table_name(TABLE).set_key(Some(key("a"))).update_expression("SET a = pk");
        let delete = Delete::builder().table_name(TABLE).set_key(Some(key("b")));
        let check = ConditionCheck::builder().table_name(TABLE).set_key(Some(key("c")));
        let check = check.condition_expression("attribute_not_exists(pk)");
        client
            .transact_write_items()
            .transact_items(TransactWriteItem::builder().update(update.build().unwrap()).build())
            .transact_items(TransactWriteItem::builder().delete(delete.build().unwrap()).build())
            .transact_items(TransactWriteItem::builder().condition_check(check.build().unwrap()).build())
            .send()
            .await
            .unwrap();
        assert_eq!((meter.write_units(), meter.read_units()), (2.0 + 4.0 + 2.0, 0.0));
    }

    #[tokio::test]
    async fn a_transaction_sent_again_with_its_token_costs_reads() {
        let (_db, client, meter) = bench();
        let transaction =
            client.transact_write_items().client_request_token("token").transact_items(put_action(key("a")));
        transaction.clone().send().await.unwrap();
        meter.reset();

        transaction.send().await.unwrap();

        assert_eq!((meter.write_units(), meter.read_units()), (0.0, 2.0));
    }

    #[tokio::test]
    async fn a_write_whose_condition_fails_costs_as_much_as_the_larger_item() {
        let (_db, client, meter) = bench();
        put(&client, sized("a", 2_500)).send().await.unwrap();
        let absent = "attribute_not_exists(pk)";
        for (what, bytes, units) in [("smaller", 100, 3.0), ("larger", 3_500, 4.0)] {
            meter.reset();
            let error = put(&client, sized("a", bytes)).condition_expression(absent).send().await.unwrap_err();
            assert_eq!(error.code(), Some("ConditionalCheckFailedException"));
            assert_eq!((meter.write_units(), meter.calls()), (units, 1), "{what} than the one that is there");
        }

        meter.reset();
        let delete = client.delete_item().table_name(TABLE).set_key(Some(key("a"))).condition_expression(absent);
        delete.send().await.unwrap_err();
        assert_eq!(meter.write_units(), 3.0, "a delete");

        meter.reset();
        let update =
            client.update_item().table_name(TABLE).set_key(Some(key("nothing"))).update_expression("SET a = pk");
        update.condition_expression("attribute_exists(pk)").send().await.unwrap_err();
        assert_eq!(meter.write_units(), 1.0, "an update of nothing");
        let expected = Consumption { calls: 1, refusals: 1, write_units: 1.0, ..Consumption::default() };
        assert_eq!(meter.by_operation(), BTreeMap::from([("UpdateItem".to_owned(), expected)]));
    }

    #[tokio::test]
    async fn a_cancelled_transaction_is_a_refusal_without_units() {
        let (_db, client, meter) = bench();
        let check = ConditionCheck::builder().table_name(TABLE).set_key(Some(key("a")));
        let check = check.condition_expression("attribute_exists(pk)").build().unwrap();
        let action = TransactWriteItem::builder().condition_check(check).build();

        client.transact_write_items().transact_items(action).send().await.unwrap_err();

        let expected = Consumption { calls: 1, refusals: 1, ..Consumption::default() };
        assert_eq!(meter.by_operation(), BTreeMap::from([("TransactWriteItems".to_owned(), expected)]));
    }

    #[tokio::test]
    async fn units_are_told_apart_by_operation_until_a_reset() {
        let (_db, client, meter) = bench();
        put(&client, key("a")).send().await.unwrap();
        put(&client, key("b")).send().await.unwrap();
        client.get_item().table_name(TABLE).set_key(Some(key("a"))).send().await.unwrap();

        let puts = Consumption { calls: 2, write_units: 2.0, ..Consumption::default() };
        let gets = Consumption { calls: 1, read_units: 0.5, ..Consumption::default() };
        let expected = BTreeMap::from([("PutItem".to_owned(), puts), ("GetItem".to_owned(), gets)]);
        assert_eq!(meter.by_operation(), expected);
        assert_eq!((meter.calls(), meter.write_units(), meter.read_units()), (3, 2.0, 0.5));

        meter.reset();
        assert_eq!(meter.by_operation(), BTreeMap::new());
    }

    #[tokio::test]
    async fn what_is_not_answered_is_not_counted() {
        let (db, faults, meter) = (TestDynamoDb::start(), Faults::default(), CapacityMeter::default());
        let config = db.client_with(faults.clone()).config().to_builder().interceptor(meter.clone()).build();
        let client = Client::from_conf(config);
        faults.plan_all([(0, Fault::NotSent), (1, Fault::Throttled), (2, Fault::AnswerLost)]);

        for _ in 0..3 {
            put(&client, key("a")).send().await.unwrap_err();
        }
        put(&client, key("a")).send().await.unwrap();

        let expected = Consumption { calls: 2, refusals: 1, write_units: 1.0, ..Consumption::default() };
        assert_eq!(meter.by_operation(), BTreeMap::from([("PutItem".to_owned(), expected)]));
    }
}
