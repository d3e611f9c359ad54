use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use aws_sdk_dynamodb::{
    config::{
        ConfigBag, Intercept, RuntimeComponents,
        interceptors::{BeforeDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef},
    },
    error::BoxError,
};

/// How a call to DynamoDB fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It never gets there.
    NotSent,
    /// It is carried out, and nobody hears of it.
    AnswerLost,
}

/// Makes one call of a client fail. Clones share the plan.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<State>);

#[derive(Debug, Default)]
struct State {
    plan: Mutex<Option<(usize, Fault)>>,
    sent: AtomicUsize,
    answered: AtomicUsize,
}

impl Faults {
    /// Lets the call with this number, counted from now on, fail; `None` lets all of them succeed.
    pub fn plan(&self, fault: Option<(usize, Fault)>) {
        *self.0.plan.lock().expect("no test panics while it holds the lock") = fault;
        self.0.sent.store(0, Ordering::SeqCst);
        self.0.answered.store(0, Ordering::SeqCst);
    }

    fn strike(&self, counter: &AtomicUsize, kind: Fault) -> Result<(), BoxError> {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        let plan = *self.0.plan.lock().expect("no test panics while it holds the lock");
        if plan == Some((number, kind)) { Err(format!("planned: call {number}, {kind:?}").into()) } else { Ok(()) }
    }
}

/// Counts the calls of a client that write. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct WriteCounter(Arc<AtomicUsize>);

impl WriteCounter {
    /// How many there have been.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
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
        let operation = context.request().headers().get("x-amz-target").unwrap_or_default();
        let reads = ["GetItem", "BatchGetItem", "Query"];
        if !reads.iter().any(|read| operation.ends_with(&format!(".{read}"))) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Intercept for Faults {
    fn name(&self) -> &'static str {
        "Faults"
    }

    fn read_before_transmit(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.strike(&self.0.sent, Fault::NotSent)
    }

    fn read_after_transmit(
        &self,
        _context: &BeforeDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.strike(&self.0.answered, Fault::AnswerLost)
    }
}
