use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_sdk_dynamodb::config::interceptors::{
    BeforeDeserializationInterceptorContextMut, BeforeSerializationInterceptorContextRef,
    BeforeTransmitInterceptorContextMut, BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextMut,
    FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_sdk_dynamodb::operation::batch_get_item::{BatchGetItemInput, BatchGetItemOutput};
use aws_sdk_dynamodb::types::KeysAndAttributes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// How a call to DynamoDB fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It never gets there: the connection is refused. The SDK repeats such a call.
    NotSent,
    /// It is carried out, and the connection breaks before the answer is read. The SDK repeats such a call.
    AnswerLost,
    /// DynamoDB refuses it with `ProvisionedThroughputExceededException`, and doesn't carry it out. The SDK repeats such a
    /// call.
    Throttled,
    /// DynamoDB cancels the transaction for this reason, given for its last action, and doesn't carry it out. The SDK
    /// doesn't repeat such a call. A call that isn't `TransactWriteItems` is [throttled](Self::Throttled) instead.
    Cancelled(Cancellation),
    /// `BatchGetItem` leaves one key unprocessed, the first of the first table by name, and reads the others. If it is the
    /// only one, nothing is read. Other calls succeed.
    Unprocessed,
    /// `BatchGetItem` leaves the first half of the keys unprocessed, at least one, and reads the others.
    HalfUnprocessed,
}

/// Why DynamoDB cancels a transaction that could succeed when it is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancellation {
    /// Another transaction has one of the items.
    TransactionConflict,
    /// One of the items is written too often.
    Throttling,
}

impl Cancellation {
    const fn code(self) -> &'static str {
        match self {
            Self::TransactionConflict => "TransactionConflict",
            Self::Throttling => "ThrottlingError",
        }
    }

    const fn message(self) -> &'static str {
        match self {
            Self::TransactionConflict => "Transaction is ongoing for the item",
            Self::Throttling => "Throughput exceeds the current throughput limit for your table or index.",
        }
    }
}

/// Makes calls of a client fail. Clones share the plan.
///
/// Calls are counted as they leave, from 0, whatever they do. What the SDK sends again is another call, with the next number:
/// a fault at 0 meets the first try, one at 1 the second. Clients of [`TestDynamoDb`](crate::TestDynamoDb) try once; for
/// more, give theirs another `retry_config`.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    plan: Mutex<Plan>,
    batch_reads: Underway<BatchGetItemInput>,
    struck: Underway<Strike>,
}

#[derive(Debug, Default)]
struct Plan {
    faults: BTreeMap<usize, Fault>,
    calls: usize,
}

/// What remains to be done to a call that has left.
#[derive(Debug)]
enum Strike {
    LoseAnswer,
    Refuse(Value),
    /// `answer` stands for that of DynamoDB, if that got no question.
    Leave {
        unprocessed: HashMap<String, KeysAndAttributes>,
        answer: Option<Value>,
    },
}

impl Faults {
    /// Lets the call with this number, counted from now on, fail; `None` lets all of them succeed.
    pub fn plan(&self, fault: Option<(usize, Fault)>) {
        self.plan_all(fault);
    }

    /// Lets the calls with these numbers, counted from now on, fail, and all others succeed.
    pub fn plan_all(&self, faults: impl IntoIterator<Item = (usize, Fault)>) {
        *lock(&self.0.plan) = Plan { faults: faults.into_iter().collect(), calls: 0 };
    }

    /// How many calls have left since the latest plan.
    pub fn calls(&self) -> usize {
        lock(&self.0.plan).calls
    }

    fn next(&self) -> Option<Fault> {
        let mut plan = lock(&self.0.plan);
        let number = plan.calls;
        plan.calls += 1;
        plan.faults.get(&number).copied()
    }

    fn leave(&self, fault: Fault, config: &ConfigBag) -> Option<HashMap<String, KeysAndAttributes>> {
        let count = |keys: usize| if fault == Fault::Unprocessed { 1 } else { keys.div_ceil(2) };
        self.0.batch_reads.with(config, |input| leave_first(input, count)).flatten()
    }

    fn strike(&self, fault: Fault, request: &mut HttpRequest, config: &ConfigBag) -> Result<Option<Strike>, BoxError> {
        let operation = operation_of(request);
        Ok(match fault {
            Fault::NotSent => {
                request.set_uri(UNREACHABLE)?;
                None
            }
            Fault::AnswerLost => Some(Strike::LoseAnswer),
            Fault::Cancelled(reason) if operation == "TransactWriteItems" => {
                let actions = json_of(request)?["TransactItems"].as_array().map_or(0, Vec::len);
                spoil(request);
                Some(Strike::Refuse(cancelled(reason, actions)))
            }
            Fault::Throttled | Fault::Cancelled(_) => {
                spoil(request);
                Some(Strike::Refuse(throttled()))
            }
            Fault::Unprocessed | Fault::HalfUnprocessed => match self.leave(fault, config) {
                Some(unprocessed) => {
                    let answer = if withhold(&unprocessed, request)? { None } else { Some(json!({"Responses": {}})) };
                    Some(Strike::Leave { unprocessed, answer })
                }
                None => None,
            },
        })
    }
}

/// The port of the discard service, where no test listens.
const UNREACHABLE: &str = "http://127.0.0.1:9";

fn throttled() -> Value {
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "The level of configured provisioned throughput for the table was exceeded. Consider increasing your \
                    provisioning level with the UpdateTable API.",
    })
}

fn cancelled(reason: Cancellation, actions: usize) -> Value {
    let mut codes = vec!["None"; actions];
    let mut reasons = vec![json!({"Code": "None"}); actions];
    if let (Some(code), Some(last)) = (codes.last_mut(), reasons.last_mut()) {
        *code = reason.code();
        *last = json!({"Code": reason.code(), "Message": reason.message()});
    }
    let codes = codes.join(", ");
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "message": format!("Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"),
        "CancellationReasons": reasons,
    })
}

/// An interceptor can't keep a request from being sent, so it is sent as one that DynamoDB can't carry out.
fn spoil(request: &mut HttpRequest) {
    request.headers_mut().insert("x-amz-target", "DynamoDB_20120810.Refused");
}

fn leave_first(
    input: &BatchGetItemInput,
    count: impl Fn(usize) -> usize,
) -> Option<HashMap<String, KeysAndAttributes>> {
    let tables = input.request_items()?.iter().filter(|(_, asked)| !asked.keys().is_empty());
    let (table, asked) = tables.min_by_key(|(table, _)| table.as_str())?;
    let mut first = asked.clone();
    first.keys.truncate(count(asked.keys().len()));
    Some(HashMap::from([(table.clone(), first)]))
}

/// Takes from the request what is to be left unprocessed; says whether anything remains. If not, the request is spoilt.
fn withhold(unprocessed: &HashMap<String, KeysAndAttributes>, request: &mut HttpRequest) -> Result<bool, BoxError> {
    let mut body = json_of(request)?;
    let tables = body["RequestItems"].as_object_mut().ok_or("a batch of reads names tables")?;
    for (table, left) in unprocessed {
        let keys = tables.get_mut(table).and_then(|asked| asked["Keys"].as_array_mut()).ok_or("a table has keys")?;
        keys.drain(..left.keys().len());
        if keys.is_empty() {
            tables.remove(table);
        }
    }
    let remains = !tables.is_empty();
    if remains {
        set_json(request, &body);
    } else {
        spoil(request);
    }
    Ok(remains)
}

fn answer_instead(response: &mut HttpResponse, status: u16, body: &Value) -> Result<(), BoxError> {
    let body = body.to_string();
    *response.status_mut() = status.try_into()?;
    response.headers_mut().insert("content-length", body.len().to_string());
    // DynamoDB's checksum, which is of the other body.
    response.headers_mut().remove("x-amz-crc32");
    // Some implementations name the error there, too, and the SDK looks there first.
    response.headers_mut().remove("x-amzn-errortype");
    *response.body_mut() = body.into();
    Ok(())
}

impl Intercept for Faults {
    fn name(&self) -> &'static str {
        "Faults"
    }

    fn read_before_serialization(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.batch_reads.set(config, context.input().downcast_ref().cloned());
        Ok(())
    }

    fn modify_before_transmit(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let strike = match self.next() {
            Some(fault) => self.strike(fault, context.request_mut(), config)?,
            None => None,
        };
        self.0.struck.set(config, strike);
        Ok(())
    }

    fn modify_before_deserialization(
        &self,
        context: &mut BeforeDeserializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let response = context.response_mut();
        let struck = self.0.struck.with(config, |strike| match strike {
            Strike::LoseAnswer => {
                // Reading a body that was taken fails as reading from a broken connection does.
                drop(response.take_body());
                Ok(())
            }
            Strike::Refuse(error) => answer_instead(response, 400, error),
            Strike::Leave { answer: Some(answer), .. } => answer_instead(response, 200, answer),
            Strike::Leave { answer: None, .. } => Ok(()),
        });
        struck.unwrap_or(Ok(()))
    }

    fn modify_before_attempt_completion(
        &self,
        context: &mut FinalizerInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // The body is read between hooks, so what is added to an answer of DynamoDB's is added once it is read.
        if let Some(Strike::Leave { unprocessed, .. }) = self.0.struck.take(config)
            && let Some(Ok(output)) = context.output_or_error_mut()
            && let Some(output) = output.downcast_mut::<BatchGetItemOutput>()
        {
            output.unprocessed_keys.get_or_insert_default().extend(unprocessed);
        }
        Ok(())
    }

    fn read_after_execution(
        &self,
        _context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.batch_reads.set(config, None);
        Ok(())
    }
}

/// What an interceptor has to remember of each call that is under way.
///
/// A call's hooks are handed nothing that an interceptor could mark and find again: the request is gone when the answer is
/// there. They are handed the same [`ConfigBag`], which is the call's own and stays where it is until the call ends. So its
/// address tells the calls apart that are under way; a call that was dropped leaves a trace until one with the same address
/// is [set](Self::set).
#[derive(Debug)]
pub(crate) struct Underway<T>(Mutex<HashMap<usize, T>>);

impl<T> Default for Underway<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Underway<T> {
    pub(crate) fn set(&self, call: &ConfigBag, value: Option<T>) {
        let mut calls = lock(&self.0);
        match value {
            Some(value) => calls.insert(address(call), value),
            None => calls.remove(&address(call)),
        };
    }

    pub(crate) fn take(&self, call: &ConfigBag) -> Option<T> {
        lock(&self.0).remove(&address(call))
    }

    fn with<R>(&self, call: &ConfigBag, read: impl FnOnce(&T) -> R) -> Option<R> {
        lock(&self.0).get(&address(call)).map(read)
    }
}

fn address(call: &ConfigBag) -> usize {
    std::ptr::from_ref(call).addr()
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no test panics while it holds the lock")
}

/// The name of the operation that is called.
pub fn operation_of(request: &HttpRequest) -> String {
    let target = request.headers().get("x-amz-target").unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default().to_owned()
}

pub(crate) fn json_of(request: &HttpRequest) -> Result<Value, BoxError> {
    Ok(serde_json::from_slice(request.body().bytes().ok_or("the request's body is in memory")?)?)
}

pub(crate) fn set_json(request: &mut HttpRequest, body: &Value) {
    let body = body.to_string();
    request.headers_mut().insert("content-length", body.len().to_string());
    *request.body_mut() = body.into();
}

/// Counts the calls of a client that write. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct WriteCounter(watch::Sender<usize>);

impl WriteCounter {
    /// How many there have been.
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until so many more have left.
    pub async fn more(&self, writes: usize) {
        let mut count = self.0.subscribe();
        let until = self.count() + writes;
        // The sender lives as long as `self`.
        drop(count.wait_for(|count| *count >= until).await);
    }

    /// Drops the work when so many more writes of it have left, as Lambda kills a function.
    ///
    /// # Panics
    /// When the work is done by then.
    pub async fn kill_after<T>(&self, writes: usize, work: impl Future<Output = T> + Unpin) {
        tokio::select! {
            () = self.more(writes) => {}
            _ = work => panic!("the work was done before it could be killed"),
        }
    }
}

impl Intercept for WriteCounter {
    fn name(&self) -> &'static str {
        "WriteCounter"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if !["GetItem", "BatchGetItem", "Query"].contains(&operation_of(context.request()).as_str()) {
            self.0.send_modify(|count| *count += 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aws_sdk_dynamodb::Client;
    use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
    use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
    use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
    use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};

    use axum::{Router, http::StatusCode};

    use super::*;
    use crate::{TestDynamoDb, serve};

    const TABLE: &str = "UsersTable";

    /// A table, a client that tries this often, and what fails of its calls.
    fn bench(tries: u32) -> (TestDynamoDb, Client, Faults) {
        let (db, faults) = (TestDynamoDb::start(), Faults::default());
        let client = db.client_retrying(&faults, tries);
        (db, client, faults)
    }

    fn key(name: &str) -> HashMap<String, AttributeValue> {
        ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S(name.to_owned()))).into()
    }

    fn put(client: &Client, name: &str) -> PutItemFluentBuilder {
        client.put_item().table_name(TABLE).set_item(Some(key(name)))
    }

    async fn put_both(client: &Client, names: [&str; 2]) -> Result<(), SdkError<TransactWriteItemsError>> {
        let actions = names.map(|name| {
            let put = Put::builder().table_name(TABLE).set_item(Some(key(name))).build().unwrap();
            TransactWriteItem::builder().put(put).build()
        });
        client.transact_write_items().set_transact_items(Some(actions.into())).send().await.map(drop)
    }

    fn stored(db: &TestDynamoDb) -> BTreeSet<String> {
        db.scan(TABLE).iter().map(|item| item["pk"]["S"].as_str().unwrap().to_owned()).collect()
    }

    fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
        names.map(str::to_owned).into()
    }

    fn asked(names: &[&str]) -> KeysAndAttributes {
        KeysAndAttributes::builder()
            .set_keys(Some(names.iter().copied().map(key).collect()))
            .consistent_read(true)
            .projection_expression("sk")
            .build()
            .unwrap()
    }

    /// Which of these are read, and what is left unprocessed.
    async fn read(client: &Client, names: &[&str]) -> (BTreeSet<String>, Option<HashMap<String, KeysAndAttributes>>) {
        let answer = client.batch_get_item().request_items(TABLE, asked(names)).send().await.unwrap();
        let items = answer.responses.unwrap_or_default().remove(TABLE).unwrap_or_default();
        let read = items.iter().map(|item| item["sk"].as_s().unwrap().clone()).collect();
        (read, answer.unprocessed_keys)
    }

    #[tokio::test]
    async fn a_spoilt_call_fails_in_its_way_and_only_a_lost_answer_changes_something() {
        let cancelled = Fault::Cancelled(Cancellation::TransactionConflict);
        for (fault, expected) in [
            (Fault::NotSent, names([])),
            (Fault::AnswerLost, names(["a"])),
            (Fault::Throttled, names([])),
            // What is no transaction is throttled.
            (cancelled, names([])),
        ] {
            let (db, client, faults) = bench(1);
            faults.plan(Some((0, fault)));

            let error = put(&client, "a").send().await.unwrap_err();

            let is_expected = match (fault, &error) {
                (Fault::NotSent, SdkError::DispatchFailure(_)) | (Fault::AnswerLost, SdkError::ResponseError(_)) => {
                    true
                }
                (_, SdkError::ServiceError(error)) => error.err().is_provisioned_throughput_exceeded_exception(),
                _ => false,
            };
            assert!(is_expected, "{fault:?}: {error:?}");
            assert_eq!(stored(&db), expected, "{fault:?}");
        }
    }

    #[tokio::test]
    async fn a_header_naming_the_spoilt_calls_error_is_not_believed() {
        let refuse = || async { (StatusCode::BAD_REQUEST, [("x-amzn-errortype", "UnknownOperationException")], "{}") };
        let router = Router::new().fallback(refuse);
        let faults = Faults::default();
        let config = local_config!(aws_sdk_dynamodb, serve(router)).interceptor(faults.clone());
        faults.plan(Some((0, Fault::Throttled)));

        let error = put(&Client::from_conf(config.build()), "a").send().await.unwrap_err().into_service_error();

        assert!(error.is_provisioned_throughput_exceeded_exception(), "{error:?}");
    }

    #[tokio::test]
    async fn a_cancelled_transaction_names_its_reasons_and_changes_nothing() {
        for (reason, code) in
            [(Cancellation::TransactionConflict, "TransactionConflict"), (Cancellation::Throttling, "ThrottlingError")]
        {
            let (db, client, faults) = bench(3);
            faults.plan(Some((0, Fault::Cancelled(reason))));

            let error = put_both(&client, ["a", "b"]).await.unwrap_err();

            assert_eq!(error.raw_response().unwrap().status().as_u16(), 400);
            let error = error.into_service_error();
            assert!(error.message().unwrap().ends_with(&format!("[None, {code}]")), "{error:?}");
            let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else { panic!("{error:?}") };
            let codes: Vec<_> = cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap()).collect();
            assert_eq!(codes, ["None", code]);
            assert_eq!(stored(&db), names([]), "the SDK sends it once, whatever its retries are");
            put_both(&client, ["a", "b"]).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_batch_can_be_asked_again_for_what_is_left_unprocessed() {
        for (fault, wanted, found, left) in [
            (Fault::Unprocessed, &["b", "a", "c"][..], names(["a", "c"]), &["b"][..]),
            (Fault::HalfUnprocessed, &["b", "a", "c"], names(["c"]), &["b", "a"]),
            (Fault::Unprocessed, &["a"], names([]), &["a"]),
        ] {
            let (_db, client, faults) = bench(1);
            for name in wanted {
                put(&client, name).send().await.unwrap();
            }
            faults.plan(Some((0, fault)));

            let (read, unprocessed) = read(&client, wanted).await;

            assert_eq!((read, &unprocessed), (found, &Some(HashMap::from([(TABLE.to_owned(), asked(left))]))));
            let answer = client.batch_get_item().set_request_items(unprocessed).send().await.unwrap();
            assert_eq!(answer.responses.unwrap()[TABLE].len(), left.len());
            assert!(answer.unprocessed_keys.unwrap().is_empty());
        }
    }

    #[tokio::test]
    async fn only_a_batch_of_reads_can_be_left_unprocessed() {
        let (db, client, faults) = bench(1);
        faults.plan(Some((0, Fault::Unprocessed)));

        put(&client, "a").send().await.unwrap();

        assert_eq!(stored(&db), names(["a"]));
    }

    #[tokio::test]
    async fn every_planned_call_fails_and_no_other() {
        let (db, client, faults) = bench(1);
        faults.plan_all([(1, Fault::NotSent), (2, Fault::AnswerLost), (4, Fault::Throttled)]);

        let mut failed = Vec::new();
        for name in ["0", "1", "2", "3", "4", "5"] {
            if put(&client, name).send().await.is_err() {
                failed.push(name);
            }
        }

        assert_eq!(failed, ["1", "2", "4"]);
        assert_eq!(stored(&db), names(["0", "2", "3", "5"]));
    }

    #[tokio::test]
    async fn a_new_plan_counts_anew_and_forgets_the_old_one() {
        let (_db, client, faults) = bench(1);
        faults.plan_all([(0, Fault::Throttled), (1, Fault::Throttled)]);
        put(&client, "a").send().await.unwrap_err();
        faults.plan(Some((1, Fault::Throttled)));
        put(&client, "a").send().await.unwrap();
        put(&client, "a").send().await.unwrap_err();

        faults.plan_all([(0, Fault::Throttled)]);
        faults.plan(None);
        put(&client, "a").send().await.unwrap();
    }

    #[tokio::test]
    async fn calls_at_the_same_time_do_not_get_each_others_faults() {
        let (db, client, faults) = bench(1);
        faults.plan_all([(0, Fault::Throttled), (1, Fault::AnswerLost), (2, Fault::NotSent)]);
        let calls = (0..12).map(|number| {
            let call = put(&client, &number.to_string());
            tokio::spawn(async move { call.send().await })
        });

        let (mut throttled, mut lost, mut not_sent, mut stored_names) = (0, 0, 0, 0);
        for call in calls.collect::<Vec<_>>() {
            match call.await.unwrap() {
                Ok(_) => stored_names += 1,
                Err(SdkError::ResponseError(_)) => lost += 1,
                Err(SdkError::DispatchFailure(_)) => not_sent += 1,
                Err(error) if error.as_service_error().is_some() => throttled += 1,
                Err(error) => panic!("{error:?}"),
            }
        }

        assert_eq!((throttled, lost, not_sent, stored_names), (1, 1, 1, 9));
        assert_eq!(stored(&db).len(), 10);
    }

    #[tokio::test]
    async fn the_sdk_repeats_throttled_or_unsent_calls_and_each_try_counts() {
        let (db, client, faults) = bench(3);
        faults.plan_all([(0, Fault::Throttled), (1, Fault::NotSent), (3, Fault::Throttled)]);

        put(&client, "a").condition_expression("attribute_not_exists(pk)").send().await.unwrap();
        assert_eq!(stored(&db), names(["a"]));
        put(&client, "b").send().await.unwrap();

        faults.plan_all((0..3).map(|number| (number, Fault::Throttled)));
        let error = put(&client, "c").send().await.unwrap_err().into_service_error();
        assert!(error.is_provisioned_throughput_exceeded_exception(), "{error:?}");
        assert_eq!(stored(&db), names(["a", "b"]));
    }
}
