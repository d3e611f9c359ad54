//! A circuit breaker around DynamoDB: while it doesn't answer, calls fail at once instead of waiting for their timeouts.
//!
//! [`Breaker`] is an interceptor of the SDK and sees every call of a client. [`Circuit`] is the state machine behind it,
//! independent of clock and SDK.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::config::interceptors::{
    BeforeSerializationInterceptorContextMut, FinalizerInterceptorContextRef,
};
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use parking_lot::Mutex;

use crate::metrics::{self, Metric};

/// The state machine of a circuit breaker.
///
/// Closed: calls are admitted, and consecutive failures are counted. Open: calls are refused. Half-open: one call is admitted,
/// the probe, whose result closes or reopens the circuit.
#[derive(Debug)]
pub struct Circuit {
    state: State,
    /// Incremented with each change of state, so that results of earlier calls can be ignored.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32, last_failure: Option<Instant> },
    Open { since: Instant },
    HalfOpen { probing_since: Instant },
}

/// The permission for a call, with which its result has to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    epoch: u64,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// DynamoDB answered, possibly with an error that is the caller's.
    Answered,
    /// DynamoDB didn't answer, or answered with a server error.
    Failed,
}

/// A change of state that a result has caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The circuit has opened.
    Opened,
    /// The probe has failed, and the circuit is open for another [`Circuit::OPEN_FOR`].
    Reopened,
    /// The circuit has closed.
    Closed,
}

impl Circuit {
    /// Number of consecutive failures that open the circuit.
    pub const FAILURE_THRESHOLD: u32 = 5;
    /// Maximum time between two failures that count as consecutive.
    pub const FAILURE_WINDOW: Duration = Duration::from_secs(10);
    /// How long an open circuit refuses all calls.
    pub const OPEN_FOR: Duration = Duration::from_secs(30);
    /// How long the result of a probe is awaited before another call becomes the probe. It is longer than the SDK's timeouts
    /// ([`crate::aws`]), so the caller of such a probe was dropped.
    pub const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

    const CLOSED: State = State::Closed { failures: 0, last_failure: None };

    /// Admits a call, or returns `None` if it is refused.
    pub fn admit(&mut self, now: Instant) -> Option<Permit> {
        let is_due = match self.state {
            State::Closed { .. } => return Some(Permit { epoch: self.epoch }),
            State::Open { since } => has_passed(Self::OPEN_FOR, since, now),
            State::HalfOpen { probing_since } => has_passed(Self::PROBE_TIMEOUT, probing_since, now),
        };
        is_due.then(|| {
            self.enter(State::HalfOpen { probing_since: now });
            Permit { epoch: self.epoch }
        })
    }

    /// Processes the result of a call. The result of a call that was admitted before the latest change of state is ignored.
    pub fn report(&mut self, permit: Permit, result: CallResult, now: Instant) -> Option<Change> {
        if permit.epoch != self.epoch {
            return None;
        }
        match (self.state, result) {
            (State::Closed { failures, last_failure }, CallResult::Failed) => {
                let is_consecutive =
                    last_failure.is_some_and(|last| now.saturating_duration_since(last) <= Self::FAILURE_WINDOW);
                let failures = if is_consecutive { failures + 1 } else { 1 };
                if failures >= Self::FAILURE_THRESHOLD {
                    self.enter(State::Open { since: now });
                    return Some(Change::Opened);
                }
                self.state = State::Closed { failures, last_failure: Some(now) };
                None
            }
            (State::Closed { .. }, CallResult::Answered) => {
                self.state = Self::CLOSED;
                None
            }
            (State::HalfOpen { .. }, CallResult::Answered) => {
                self.enter(Self::CLOSED);
                Some(Change::Closed)
            }
            (State::HalfOpen { .. }, CallResult::Failed) => {
                self.enter(State::Open { since: now });
                Some(Change::Reopened)
            }
            // No permit has the epoch of an open circuit.
            (State::Open { .. }, _) => None,
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.epoch += 1;
    }
}

impl Default for Circuit {
    /// A closed circuit without failures.
    fn default() -> Self {
        Self { state: Self::CLOSED, epoch: 0 }
    }
}

/// Whether `span` has passed. A clock that was set back counts as passed: a probe that is too early costs one call, a circuit
/// that stays open too long fails all requests.
fn has_passed(span: Duration, since: Instant, now: Instant) -> bool {
    now.checked_duration_since(since).is_none_or(|passed| passed >= span)
}

/// The circuit breaker as an interceptor of the SDK. Clones share the circuit.
///
/// A call is a whole operation with its retries: it is refused before the first attempt, and its result is that of the last.
#[derive(Clone)]
pub struct Breaker {
    circuit: Arc<Mutex<Circuit>>,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
}

/// The error of a call that the open circuit breaker has refused.
#[derive(Debug, thiserror::Error)]
#[error("the circuit breaker is open")]
pub struct BreakerOpen;

impl Breaker {
    /// A closed circuit breaker with this clock.
    pub fn with_clock(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self { circuit: Arc::default(), clock: Arc::new(clock) }
    }

    fn admit(&self) -> Option<Permit> {
        let now = (self.clock)();
        self.circuit.lock().admit(now)
    }

    fn report(&self, permit: Permit, result: CallResult) {
        let now = (self.clock)();
        let change = self.circuit.lock().report(permit, result, now);
        match change {
            Some(Change::Opened) => {
                metrics::add(Metric::BreakerOpened, 1);
                tracing::warn!("DynamoDB does not answer: the circuit breaker has opened");
            }
            // Counted like an opening, so that the alarm lasts as long as the outage, but not logged again.
            Some(Change::Reopened) => metrics::add(Metric::BreakerOpened, 1),
            Some(Change::Closed) => tracing::warn!("DynamoDB answers again: the circuit breaker has closed"),
            None => {}
        }
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self::with_clock(Instant::now)
    }
}

impl fmt::Debug for Breaker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Breaker").field("circuit", &self.circuit).finish_non_exhaustive()
    }
}

/// Allows the interceptor to store a call's permit in the SDK's config bag between its two hooks.
impl Storable for Permit {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Breaker {
    fn name(&self) -> &'static str {
        "Breaker"
    }

    // An error in this hook ends the call before a connection is opened, and the SDK doesn't retry it.
    fn modify_before_serialization(
        &self,
        _context: &mut BeforeSerializationInterceptorContextMut<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let permit = self.admit().ok_or(BreakerOpen)?;
        config.interceptor_state().store_put(permit);
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let Some(permit) = config.load::<Permit>() {
            self.report(*permit, result_of(context));
        }
        Ok(())
    }
}

/// The result of a call. Errors such as a failed condition, throttling or a validation error show that DynamoDB works.
fn result_of(context: &FinalizerInterceptorContextRef<'_>) -> CallResult {
    let is_answer = match context.output_or_error() {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.is_operation_error(),
        None => false,
    };
    let is_broken = context.response().is_some_and(|response| response.status().as_u16() >= 500);
    if is_answer && !is_broken { CallResult::Answered } else { CallResult::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A circuit and its time.
    struct Bench {
        circuit: Circuit,
        now: Instant,
    }

    impl Bench {
        fn closed() -> Self {
            // Far from the clock's beginning, so that it can go back.
            Self { circuit: Circuit::default(), now: Instant::now() + Duration::from_secs(3_600) }
        }

        fn open() -> Self {
            let mut bench = Self::closed();
            assert_eq!(bench.fail(5), Some(Change::Opened));
            bench
        }

        fn half_open() -> (Self, Permit) {
            let mut bench = Self::open();
            bench.now += Circuit::OPEN_FOR;
            let probe = bench.admit().unwrap();
            (bench, probe)
        }

        fn admit(&mut self) -> Option<Permit> {
            self.circuit.admit(self.now)
        }

        fn report(&mut self, permit: Permit, result: CallResult) -> Option<Change> {
            self.circuit.report(permit, result, self.now)
        }

        fn fail(&mut self, times: u32) -> Option<Change> {
            let mut change = None;
            for _ in 0..times {
                let permit = self.admit().unwrap();
                change = self.report(permit, CallResult::Failed);
            }
            change
        }
    }

    #[test]
    fn four_failures_leave_it_closed_and_the_fifth_opens_it() {
        let mut bench = Bench::closed();

        assert_eq!(bench.fail(4), None);
        assert!(bench.admit().is_some());
        assert_eq!(bench.fail(1), Some(Change::Opened));
        assert_eq!(bench.admit(), None);
    }

    #[test]
    fn an_answer_resets_the_count_of_failures() {
        let mut bench = Bench::closed();
        bench.fail(4);
        let permit = bench.admit().unwrap();
        bench.report(permit, CallResult::Answered);

        assert_eq!(bench.fail(4), None);
        assert_eq!(bench.fail(1), Some(Change::Opened));
    }

    #[test]
    fn failures_ten_seconds_apart_add_up_and_later_ones_start_again() {
        let mut bench = Bench::closed();
        for _ in 0..4 {
            assert_eq!(bench.fail(1), None);
            bench.now += Circuit::FAILURE_WINDOW;
        }
        assert_eq!(bench.fail(1), Some(Change::Opened));

        let mut bench = Bench::closed();
        bench.fail(4);
        bench.now += Circuit::FAILURE_WINDOW + Duration::from_millis(1);
        assert_eq!(bench.fail(4), None);
        assert_eq!(bench.fail(1), Some(Change::Opened));
    }

    #[test]
    fn it_stays_open_for_thirty_seconds_and_not_longer() {
        let mut bench = Bench::open();
        bench.now += Circuit::OPEN_FOR - Duration::from_millis(1);
        assert_eq!(bench.admit(), None);

        bench.now += Duration::from_millis(1);
        assert!(bench.admit().is_some());
    }

    #[test]
    fn only_one_probe_goes_through() {
        let (mut bench, _probe) = Bench::half_open();

        assert_eq!(bench.admit(), None);
        bench.now += Circuit::PROBE_TIMEOUT - Duration::from_millis(1);
        assert_eq!(bench.admit(), None);
    }

    #[test]
    fn a_probe_that_is_answered_closes_it() {
        let (mut bench, probe) = Bench::half_open();

        assert_eq!(bench.report(probe, CallResult::Answered), Some(Change::Closed));
        assert_eq!(bench.fail(4), None, "the failures from before don't count any more");
    }

    #[test]
    fn a_probe_that_fails_opens_it_for_another_thirty_seconds() {
        let (mut bench, probe) = Bench::half_open();
        bench.now += SECOND;

        assert_eq!(bench.report(probe, CallResult::Failed), Some(Change::Reopened));
        bench.now += Circuit::OPEN_FOR - Duration::from_millis(1);
        assert_eq!(bench.admit(), None);
        bench.now += Duration::from_millis(1);
        assert!(bench.admit().is_some());
    }

    #[test]
    fn a_probe_that_never_reports_gives_way_to_another() {
        let (mut bench, lost) = Bench::half_open();
        bench.now += Circuit::PROBE_TIMEOUT;

        let second = bench.admit().unwrap();

        assert_eq!(bench.admit(), None);
        for result in [CallResult::Answered, CallResult::Failed] {
            assert_eq!(bench.report(lost, result), None, "the first one comes too late");
            assert_eq!(bench.admit(), None);
        }
        assert_eq!(bench.report(second, CallResult::Answered), Some(Change::Closed));
    }

    #[test]
    fn a_call_from_before_it_opened_neither_closes_nor_reopens_it() {
        for result in [CallResult::Answered, CallResult::Failed] {
            let mut bench = Bench::closed();
            let early = bench.admit().unwrap();
            bench.fail(5);

            assert_eq!(bench.report(early, result), None);
            assert_eq!(bench.admit(), None, "it is still open");
            bench.now += Circuit::OPEN_FOR;
            let probe = bench.admit().unwrap();
            assert_eq!(bench.report(early, result), None);
            assert_eq!(bench.admit(), None, "it is still half-open");
            assert_eq!(bench.report(probe, CallResult::Answered), Some(Change::Closed));
            assert_eq!(bench.report(early, result), None);
            assert_eq!(bench.fail(4), None, "a failure from another time doesn't count");
        }
    }

    #[test]
    fn a_clock_that_goes_back_keeps_it_open_no_longer() {
        let mut bench = Bench::open();
        bench.now -= SECOND;
        assert!(bench.admit().is_some());

        let (mut bench, _lost) = Bench::half_open();
        bench.now -= SECOND;
        assert!(bench.admit().is_some());
    }

    #[test]
    fn of_many_threads_one_gets_the_probe() {
        let start = Instant::now();
        let time = Arc::new(Mutex::new(start));
        let clock = time.clone();
        let breaker = Breaker::with_clock(move || *clock.lock());
        for _ in 0..5 {
            breaker.report(breaker.admit().unwrap(), CallResult::Failed);
        }
        *time.lock() = start + Circuit::OPEN_FOR;

        let admitted = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| breaker.admit())).collect();
            calls.into_iter().filter_map(|call| call.join().unwrap()).count()
        });

        assert_eq!(admitted, 1);
    }
}
