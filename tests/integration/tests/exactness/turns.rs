//! In which order the calls of two consumers reach DynamoDB, and where a consumer dies.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use aws_sdk_dynamodb::config::endpoint::{Endpoint, EndpointFuture, Params, ResolveEndpoint};
use aws_sdk_dynamodb::config::interceptors::FinalizerInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;

/// Two consumers at a table: one call is under way at a time.
///
/// Without it, what two consumers do to each other would depend on the machine. A call asks for its turn where the SDK asks
/// for the endpoint, which it does before each try and is the only place where it can be kept waiting.
#[derive(Debug, Clone, Default)]
pub struct Turns(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Who makes the next calls; when it is used up, whoever comes first.
    order: VecDeque<usize>,
    seats: [Seated; 2],
    under_way: Option<usize>,
    waiting: Vec<Waker>,
}

#[derive(Debug, Default)]
struct Seated {
    is_present: bool,
    calls: usize,
    dies_before: Option<usize>,
    is_dead: bool,
}

/// A consumer's place.
#[derive(Debug, Clone)]
pub struct Seat {
    turns: Turns,
    number: usize,
}

impl Turns {
    pub fn seat(&self, number: usize) -> Seat {
        Seat { turns: self.clone(), number }
    }

    /// Lets the first consumer, or both, come in: who makes the next calls, and before which of its calls each of them dies.
    pub fn begin(&self, order: &[usize], first: Option<usize>, second: Option<Option<usize>>) {
        let present = |dies_before| Seated { is_present: true, dies_before, ..Seated::default() };
        let seats = [present(first), second.map(present).unwrap_or_default()];
        *self.state() = State { order: order.iter().copied().collect(), seats, ..State::default() };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Seat {
    /// Does the work, until it is done or the consumer is dead: then there is no answer.
    pub async fn live<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let answer = {
            let mut work = pin!(work);
            poll_fn(|context| match work.as_mut().poll(context) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending if self.turns.state().seats[self.number].is_dead => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            })
            .await
        };
        let mut state = self.turns.state();
        state.seats[self.number].is_present = false;
        state.answered(self.number);
        answer
    }

    fn poll_turn(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.turns.state();
        if state.lets_call(self.number) {
            return Poll::Ready(());
        }
        state.waiting.push(context.waker().clone());
        Poll::Pending
    }
}

impl State {
    fn lets_call(&mut self, seat: usize) -> bool {
        if self.under_way.is_some() || self.seats[seat].is_dead {
            return false;
        }
        while self.order.front().is_some_and(|next| !self.seats[*next].is_present) {
            self.order.pop_front();
        }
        if self.order.front().is_some_and(|next| *next != seat) {
            return false;
        }
        let seated = &mut self.seats[seat];
        if seated.dies_before == Some(seated.calls) {
            seated.is_dead = true;
            return false;
        }
        seated.calls += 1;
        self.order.pop_front();
        self.under_way = Some(seat);
        true
    }

    fn answered(&mut self, seat: usize) {
        self.under_way.take_if(|under_way| *under_way == seat);
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl ResolveEndpoint for Seat {
    fn resolve_endpoint<'a>(&'a self, params: &'a Params) -> EndpointFuture<'a> {
        let (seat, url) = (self.clone(), params.endpoint().map(str::to_owned));
        EndpointFuture::new(async move {
            poll_fn(|context| seat.poll_turn(context)).await;
            let url = url.ok_or("a test's client has an endpoint")?;
            Ok(Endpoint::builder().url(url).build())
        })
    }
}

impl Intercept for Seat {
    fn name(&self) -> &'static str {
        "Seat"
    }

    fn read_after_attempt(
        &self,
        _context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.turns.state().answered(self.number);
        Ok(())
    }
}
