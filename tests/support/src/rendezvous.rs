use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;

use crate::faults::operation_of;

/// Keeps the first transactions of a client back until so many are about to be sent: whatever they decided by what they had
/// read, none of them has seen another one's writes.
///
/// It blocks, so each transaction has to be on its way in a task of its own, on a runtime with several threads.
#[derive(Debug, Clone)]
pub struct Rendezvous(Arc<State>);

#[derive(Debug)]
struct State {
    barrier: Barrier,
    to_come: AtomicUsize,
}

impl Rendezvous {
    /// Of so many transactions.
    pub fn of(transactions: usize) -> Self {
        Self(Arc::new(State { barrier: Barrier::new(transactions), to_come: AtomicUsize::new(transactions) }))
    }
}

impl Intercept for Rendezvous {
    fn name(&self) -> &'static str {
        "Rendezvous"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let State { barrier, to_come } = &*self.0;
        let one_less = |count: usize| count.checked_sub(1);
        if operation_of(context.request()) == "TransactWriteItems"
            && to_come.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
        {
            tokio::task::block_in_place(|| barrier.wait());
        }
        Ok(())
    }
}
