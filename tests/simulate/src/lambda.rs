//! Lambda: an account's executions, functions with their environments, and the time that a function's processor needs.

use std::{cell::RefCell, collections::VecDeque, fmt, rc::Rc, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep, sleep_until};

use crate::{capacity::Capacity, clock::Clock, limits};

/// The share of a processor that an environment has.
#[derive(Clone)]
pub struct Processor {
    share: f64,
    busy_until: Arc<Mutex<Instant>>,
}

impl Processor {
    /// That of a function with so much memory, in MB; more than one processor doesn't help code with one thread.
    pub fn with_memory(megabytes: f64) -> Self {
        Self { share: (megabytes / limits::PROCESSOR).min(1.0), busy_until: Arc::new(Mutex::new(Instant::now())) }
    }

    /// Works for so much time of a whole processor, after what it has to do already.
    pub async fn work(&self, time: Duration) {
        let end = {
            let mut busy_until = self.busy_until.lock();
            *busy_until = Instant::now().max(*busy_until) + time.div_f64(self.share);
            *busy_until
        };
        sleep_until(end).await;
    }
}

impl fmt::Debug for Processor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.0} % of a processor", 100.0 * self.share)
    }
}

/// What all functions share.
#[derive(Debug)]
pub struct Account {
    limit: usize,
    running: usize,
}

impl Account {
    /// An account with this limit of concurrent executions.
    pub fn with_limit(limit: usize) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self { limit, running: 0 }))
    }
}

/// What a function has used.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    pub invocations: usize,
    pub environments: usize,
    /// Memory by time.
    pub gigabyte_seconds: f64,
    /// The most executions at a time.
    pub most: usize,
    running: usize,
    /// When the account had no execution left, or the function no new environment, for the first time, and how often.
    pub refused: Option<(Duration, usize)>,
}

/// A function whose environments hold an `E`.
pub struct Function<E> {
    memory: f64,
    share: f64,
    clock: Clock,
    account: Rc<RefCell<Account>>,
    make: Box<dyn Fn(&Processor) -> E>,
    idle: RefCell<VecDeque<Environment<E>>>,
    starts: RefCell<Capacity>,
    requests: RefCell<Capacity>,
    usage: RefCell<Usage>,
}

/// An execution environment.
pub struct Environment<E> {
    pub processor: Processor,
    pub has: E,
}

impl<E> Function<E> {
    /// A function with so much memory, in MB, and no environment yet.
    pub fn new(
        memory: f64,
        clock: Clock,
        account: &Rc<RefCell<Account>>,
        make: impl Fn(&Processor) -> E + 'static,
    ) -> Self {
        let a_second = limits::STARTS / limits::STARTS_WITHIN.as_secs_f64();
        Self {
            memory,
            share: 1.0,
            clock,
            account: account.clone(),
            make: Box::new(make),
            idle: RefCell::default(),
            starts: RefCell::new(Capacity::saving_up(a_second, limits::STARTS)),
            requests: RefCell::new(Capacity::of(limits::REQUESTS_PER_EXECUTION * account.borrow().limit as f64)),
            usage: RefCell::default(),
        }
    }

    /// Leaves only this share of its environments' processors to what is simulated: the rest works on what isn't.
    #[must_use]
    pub fn with_share(self, share: f64) -> Self {
        Self { share, ..self }
    }

    /// The share that is left.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// Runs this in an environment, or doesn't if there is none.
    pub async fn invoke<T>(&self, work: impl AsyncFnOnce(&Environment<E>) -> T) -> Option<T> {
        let began = self.clock.elapsed();
        let Some(environment) = self.environment(began).await else {
            self.usage.borrow_mut().refused.get_or_insert((began, 0)).1 += 1;
            return None;
        };
        let began = self.clock.elapsed();
        let outcome = work(&environment).await;
        let took = self.clock.elapsed() - began;
        self.account.borrow_mut().running -= 1;
        self.idle.borrow_mut().push_back(environment);
        let mut usage = self.usage.borrow_mut();
        usage.running -= 1;
        usage.invocations += 1;
        usage.gigabyte_seconds += self.memory / 1_024.0 * took.as_secs_f64().max(0.001);
        Some(outcome)
    }

    /// The environment that has been idle the longest, which is the worst choice for what they remember.
    async fn environment(&self, now: Duration) -> Option<Environment<E>> {
        {
            let mut account = self.account.borrow_mut();
            if account.running >= account.limit || !self.requests.borrow_mut().take_one(now) {
                return None;
            }
            let idle = self.idle.borrow_mut().pop_front();
            if idle.is_none() && !self.starts.borrow_mut().take_one(now) {
                return None;
            }
            account.running += 1;
            let mut usage = self.usage.borrow_mut();
            usage.running += 1;
            usage.most = usage.most.max(usage.running);
            if idle.is_some() {
                return idle;
            }
            usage.environments += 1;
        }
        sleep(limits::COLD_START).await;
        let processor = Processor::with_memory(self.memory * self.share);
        let has = (self.make)(&processor);
        Some(Environment { processor, has })
    }

    /// What it has used so far.
    pub fn usage(&self) -> Usage {
        self.usage.borrow().clone()
    }
}
