use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use aws_sdk_dynamodb::config::interceptors::{
    AfterDeserializationInterceptorContextRef, BeforeSerializationInterceptorContextRef,
    BeforeTransmitInterceptorContextMut,
};
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::{BoxError, DisplayErrorContext};
use aws_sdk_dynamodb::{Client, Config};
use serde_json::Value;
use tokio::runtime::{Builder, Handle};

use crate::faults::{lock, set_json};
use crate::service::Operation;

/// A DynamoDB somewhere else, called in its own JSON, in which tests write down items and Lambda delivers streams.
///
/// The SDK signs and sends, but what it sends is the caller's: the SDK's types know no JSON, and those of streams are in
/// another crate.
#[derive(Clone)]
pub(crate) struct Remote(Client);

impl Remote {
    pub(crate) fn new(config: Config) -> Self {
        Self(Client::from_conf(config))
    }

    /// Blocks until the answer is there, also in an asynchronous test.
    ///
    /// # Panics
    /// When the call is refused or doesn't get there.
    pub(crate) fn call(&self, operation: Operation, request: Value) -> Value {
        let (client, verbatim) = (self.0.clone(), Verbatim::new(operation, request));
        let answer = block_on(async move {
            // Any operation will do: all have the same address and the same protocol.
            let sent = client.list_tables().customize().interceptor(verbatim.clone()).send().await;
            let answer = sent.map(|_| lock(&verbatim.answer).take());
            answer.map_err(|error| DisplayErrorContext(error).to_string())
        });
        answer.unwrap_or_else(|error| panic!("DynamoDB refuses {operation:?}: {error}"))
    }
}

/// Blocks until this is done, also in an asynchronous test.
pub(crate) fn block_on<T: Send + 'static>(call: impl Future<Output = T> + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    runtime().spawn(async move {
        // Nobody waits any more if the test has ended.
        let _ = sender.send(call.await);
    });
    receiver.recv().expect("the call ends")
}

/// A runtime for all calls, since connections belong to the one that they were opened in, and each test has its own.
pub(crate) fn runtime() -> &'static Handle {
    static RUNTIME: LazyLock<Handle> = LazyLock::new(|| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        let handle = runtime.handle().clone();
        thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
        handle
    });
    &RUNTIME
}

/// Makes a call one of this operation, and keeps the answer.
#[derive(Debug, Clone)]
struct Verbatim {
    operation: Operation,
    request: Value,
    answer: Arc<Mutex<Value>>,
}

impl Verbatim {
    fn new(operation: Operation, request: Value) -> Self {
        Self { operation, request, answer: Arc::default() }
    }
}

impl Intercept for Verbatim {
    fn name(&self) -> &'static str {
        "Verbatim"
    }

    fn modify_before_signing(
        &self,
        context: &mut BeforeTransmitInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let target = format!("{}.{:?}", self.operation.api(), self.operation);
        context.request_mut().headers_mut().insert("x-amz-target", target);
        set_json(context.request_mut(), &self.request);
        Ok(())
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let body = context.response().body().bytes().ok_or("an answer was read")?;
        *lock(&self.answer) = serde_json::from_slice(body)?;
        Ok(())
    }
}

/// Gives calls time, whatever the code under test does: on a machine that is busy, DynamoDB Local takes longer to answer fifty
/// at once than a client of the API would wait.
#[derive(Debug)]
pub(crate) struct LongTimeout;

impl Intercept for LongTimeout {
    fn name(&self) -> &'static str {
        "LongTimeout"
    }

    fn read_before_execution(
        &self,
        _context: &BeforeSerializationInterceptorContextRef<'_>,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        const LONG: Duration = Duration::from_secs(30);
        config.interceptor_state().store_put(TimeoutConfig::builder().operation_timeout(LONG).build());
        Ok(())
    }
}
