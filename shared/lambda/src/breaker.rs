//! A circuit breaker around the tables: while DynamoDB doesn't answer, requests are refused at once instead of each waiting
//! for its own timeouts.
//!
//! [`Breaker`] sits in the SDK as an interceptor and so sees every call of a client. What it makes of a call is decided by
//! [`Circuit`], which knows neither a clock nor the SDK.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::{
    config::{
        ConfigBag, Intercept, RuntimeComponents,
        interceptors::{BeforeSerializationInterceptorContextMut, FinalizerInterceptorContextRef},
    },
    error::BoxError,
};
use aws_smithy_types::config_bag::{Storable, StoreReplace};
use parking_lot::Mutex;

use crate::metrics::{self, Metric};

/// Closed: calls go through, and failures in a row are counted. Open: nothing goes through. Half-open: one call does, the
/// probe, and decides.
#[derive(Debug)]
pub struct Circuit {
    state: State,
    /// Goes up whenever results of earlier calls lose their meaning.
    epoch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32, last_failure: Option<Instant> },
    Open { since: Instant },
    HalfOpen { probing_since: Instant },
}

/// A call may go through. Its result is reported with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    epoch: u64,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// DynamoDB answered, be it with a refusal.
    Answered,
    /// There was no answer, or one that says that DynamoDB is broken.
    Failed,
}

/// What a result has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The circuit has opened.
    Opened,
    /// The probe has failed too, so it is open for as long again.
    StaysOpen,
    /// The circuit has closed again.
    Closed,
}

impl Circuit {
    /// So many failures in a row open it.
    pub const FAILURES: u32 = 5;
    /// A failure counts as in a row with the one before if there is no more time between them.
    pub const WINDOW: Duration = Duration::from_secs(10);
    /// For this long it refuses everything.
    pub const OPEN_FOR: Duration = Duration::from_secs(30);
    /// After this time without a result, a probe gives way to another: its caller was dropped. Longer than the SDK tries
    /// ([`crate::aws`]).
    pub const PROBE_TIME: Duration = Duration::from_secs(5);

    const CLOSED: State = State::Closed { failures: 0, last_failure: None };

    /// A closed one.
    #[must_use]
    pub const fn new() -> Self {
        Self { state: Self::CLOSED, epoch: 0 }
    }

    /// Whether a call may go through now.
    pub fn admit(&mut self, now: Instant) -> Option<Permit> {
        let is_due = match self.state {
            State::Closed { .. } => return Some(Permit { epoch: self.epoch }),
            State::Open { since } => has_passed(Self::OPEN_FOR, since, now),
            State::HalfOpen { probing_since } => has_passed(Self::PROBE_TIME, probing_since, now),
        };
        is_due.then(|| {
            self.enter(State::HalfOpen { probing_since: now });
            Permit { epoch: self.epoch }
        })
    }

    /// Takes note of a call's result. That of a call from before the latest change means nothing any more.
    pub fn report(&mut self, permit: Permit, result: CallResult, now: Instant) -> Option<Change> {
        if permit.epoch != self.epoch {
            return None;
        }
        match (self.state, result) {
            (State::Closed { failures, last_failure }, CallResult::Failed) => {
                let in_a_row = last_failure.is_some_and(|last| now.saturating_duration_since(last) <= Self::WINDOW);
                let failures = if in_a_row { failures + 1 } else { 1 };
                if failures >= Self::FAILURES {
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
                Some(Change::StaysOpen)
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
    fn default() -> Self {
        Self::new()
    }
}

/// A clock that went back counts as time that has passed: a probe too early costs one call, a circuit that stays open costs
/// every request.
fn has_passed(span: Duration, since: Instant, now: Instant) -> bool {
    now.checked_duration_since(since).is_none_or(|passed| passed >= span)
}

/// The interceptor. Clones share the circuit.
///
/// A call is a whole operation, with all its tries: it is refused before the first, and its result is that of the last.
#[derive(Clone)]
pub struct Breaker {
    circuit: Arc<Mutex<Circuit>>,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
}

/// The call was refused without an attempt: the tables have not answered for a while.
#[derive(Debug, thiserror::Error)]
#[error("the circuit breaker is open")]
pub struct BreakerOpen;

impl Breaker {
    /// A closed one with this clock.
    #[must_use]
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
            // Measured like an opening, so that an alarm lasts as long as the outage, but no news for the log.
            Some(Change::StaysOpen) => metrics::add(Metric::BreakerOpened, 1),
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

/// Between its two hooks, a call keeps its permit with the SDK.
impl Storable for Permit {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Breaker {
    fn name(&self) -> &'static str {
        "Breaker"
    }

    // An error here ends the call before a connection is looked for, and before the SDK would try again.
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

/// A refusal (a condition, a throttle, a validation) shows that DynamoDB works.
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
            Self { circuit: Circuit::new(), now: Instant::now() + Duration::from_secs(3_600) }
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
    fn an_answer_ends_the_row() {
        let mut bench = Bench::closed();
        bench.fail(4);
        let permit = bench.admit().unwrap();
        bench.report(permit, CallResult::Answered);

        assert_eq!(bench.fail(4), None);
        assert_eq!(bench.fail(1), Some(Change::Opened));
    }

    #[test]
    fn a_failure_counts_with_the_one_ten_seconds_before_and_a_later_one_starts_again_at_one() {
        let mut bench = Bench::closed();
        for _ in 0..4 {
            assert_eq!(bench.fail(1), None);
            bench.now += Circuit::WINDOW;
        }
        assert_eq!(bench.fail(1), Some(Change::Opened));

        let mut bench = Bench::closed();
        bench.fail(4);
        bench.now += Circuit::WINDOW + Duration::from_millis(1);
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
        bench.now += Circuit::PROBE_TIME - Duration::from_millis(1);
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

        assert_eq!(bench.report(probe, CallResult::Failed), Some(Change::StaysOpen));
        bench.now += Circuit::OPEN_FOR - Duration::from_millis(1);
        assert_eq!(bench.admit(), None);
        bench.now += Duration::from_millis(1);
        assert!(bench.admit().is_some());
    }

    #[test]
    fn a_probe_that_never_reports_gives_way_to_another() {
        let (mut bench, lost) = Bench::half_open();
        bench.now += Circuit::PROBE_TIME;

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
