//! One subject's measurements.

use std::time::Duration;

use linklet_test_support::{FakeLambda, Invocation, Journal};

use crate::measure::{Samples, cpu_time, peak_memory};
use crate::options::Extent;
use crate::package::zipped_size;
use crate::report::Figures;
use crate::subjects::Subject;
use crate::workloads::Workload;

/// So many answers of a new environment aren't timed: until then, programs that compile themselves are busy with that.
pub const WARM_UP: usize = 500;
/// Over so many invocations the calls to DynamoDB are counted.
pub const COUNTED: usize = 1_000;

/// What has been measured of a subject so far.
#[derive(Default)]
pub struct Trial {
    extent: Extent,
    invocations: usize,
    cold: Samples,
    warm: Samples,
    done: Samples,
    cpu: Duration,
    timed: usize,
    peak_memory: u64,
    usage: Usage,
}

/// What an invocation costs on average, if the subject makes any calls.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    calls: Option<f64>,
    read_units: Option<f64>,
    write_units: Option<f64>,
    early_writes: Option<f64>,
}

impl Trial {
    /// One with warm-ups and counts of this extent.
    pub fn of(extent: Extent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// Measures a cold start: from creating the process to the first answer.
    pub async fn start_cold(&mut self, subject: &Subject) {
        let environment = FakeLambda::start(&subject.program, &Journal::default());
        let first = self.invoke(subject, &environment).await;
        self.cold.push(first.received - environment.started());
    }

    /// Measures so many invocations of a warm environment. The neighbour works before each.
    pub async fn run_warm(&mut self, subject: &Subject, invocations: usize, neighbour: &mut Neighbour) {
        let environment = FakeLambda::start(&subject.program, &Journal::default());
        for _ in 0..self.extent.of(WARM_UP) {
            self.invoke(subject, &environment).await;
        }
        let process = environment.process();
        let before = cpu_time(process);
        for _ in 0..invocations {
            neighbour.work().await;
            let invocation = self.invoke(subject, &environment).await;
            self.warm.push(invocation.answered);
            self.done.push(invocation.done);
        }
        self.cpu += cpu_time(process).saturating_sub(before);
        self.timed += invocations;
        self.peak_memory = self.peak_memory.max(peak_memory(process));
    }

    /// Counts the calls to DynamoDB, which the journal's proxy in front of it notes, if the subject makes any.
    pub async fn count_calls(&mut self, subject: &Subject, journal: &Journal, proxy: &str) {
        let mut program = subject.program.clone();
        let Some(endpoint) = program.variables.get_mut("AWS_ENDPOINT_URL_DYNAMODB") else { return };
        proxy.clone_into(endpoint);
        let environment = FakeLambda::start(&program, journal);
        self.invoke(subject, &environment).await;
        journal.clear();
        let events = self.extent.of(COUNTED);
        for _ in 0..events {
            self.invoke(subject, &environment).await;
        }
        let (meter, each) = (journal.meter(), |number: f64| Some(number / events as f64));
        self.usage = Usage {
            calls: each(meter.calls() as f64),
            read_units: each(meter.read_units()),
            write_units: each(meter.write_units()),
            early_writes: each(journal.early_writes() as f64),
        };
    }

    /// Has the environment work on the subject's next event.
    async fn invoke(&mut self, subject: &Subject, environment: &FakeLambda) -> Invocation {
        self.invocations += 1;
        subject.workload.ask(&subject.name, environment, self.invocations - 1).await
    }

    /// What has come out.
    pub fn figures(&self, subject: &Subject) -> Figures {
        const MB: f64 = 1_000_000.0;
        let is_timed = self.timed > 0;
        Figures {
            name: subject.name.clone(),
            cold_ms_p50: self.cold.millis(50),
            cold_ms_p99: self.cold.millis(99),
            warm_us_p50: self.warm.micros(50),
            warm_us_p90: self.warm.micros(90),
            warm_us_p99: self.warm.micros(99),
            done_us_p50: self.done.micros(50),
            cpu_ms_per_1k: is_timed.then(|| self.cpu.as_secs_f64() * 1e6 / self.timed as f64),
            rss_mb: is_timed.then_some(self.peak_memory as f64 / MB),
            zip_mb: Some(zipped_size(&subject.package).expect("a package can be read") as f64 / MB),
            rru: self.usage.read_units,
            wru: self.usage.write_units,
            calls: self.usage.calls,
            early_writes: self.usage.early_writes,
            versions: subject.versions.clone(),
        }
    }
}

/// Another function's environment, which works between the events that are measured.
///
/// Lambda freezes an environment between two events, and its processor does other work: of what a function had in caches and
/// branch predictors, little is left when it goes on. Events in quick succession would find everything in place, and the less a
/// function does, the more that would flatter it.
pub struct Neighbour {
    workload: Workload,
    environment: FakeLambda,
    events: usize,
}

impl Neighbour {
    /// Starts it.
    pub fn start(Subject { program, workload, .. }: Subject) -> Self {
        Self { workload, environment: FakeLambda::start(&program, &Journal::default()), events: 0 }
    }

    /// Works on one event. A neighbour that answers wrongly would disturb nobody, so this ends the benchmark.
    pub async fn work(&mut self) {
        self.workload.ask("the neighbour", &self.environment, self.events).await;
        self.events += 1;
    }
}
