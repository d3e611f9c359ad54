//! One subject's measurements.

use std::{io, net::SocketAddr, time::Duration};

use crate::{
    lambda::{Environment, Invocation, LambdaError, Program},
    measure::{Samples, cpu_time, peak_memory},
    neighbour::Neighbour,
    options::Extent,
    package::zipped_size,
    proxy::CountingProxy,
    report::Figures,
    subjects::Subject,
};

/// So many answers of a new environment aren't timed: until then, programs that compile themselves are busy with that.
pub const WARM_UP: usize = 500;
/// Over so many invocations the calls to DynamoDB are counted.
pub const COUNTED: usize = 1_000;

/// Why a subject could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error("{0} has failed")]
    Function(String, #[source] LambdaError),
    #[error("{subject} answers wrongly: {answer}")]
    WrongAnswer { subject: String, answer: String },
    #[error("{0} can't be observed")]
    Observation(String, #[source] io::Error),
    #[error("{subject}: {reason}")]
    Proxy { subject: String, reason: String },
}

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
    usage: Option<Usage>,
}

/// What an invocation costs on average.
#[derive(Debug, Clone, Copy)]
struct Usage {
    calls: f64,
    read_units: f64,
    write_units: f64,
    early_writes: f64,
}

impl Trial {
    /// One with warm-ups and counts of this extent.
    pub fn of(extent: Extent) -> Self {
        Self { extent, ..Self::default() }
    }

    /// Measures a cold start: from creating the process to the first answer.
    pub async fn start_cold(&mut self, subject: &Subject) -> Result<(), TrialError> {
        let environment = start(subject, &subject.program).await?;
        let first = self.invoke(subject, &environment).await?;
        self.cold.push(first.received - environment.started());
        Ok(())
    }

    /// Measures so many invocations of a warm environment. The neighbour works before each.
    pub async fn run_warm(
        &mut self,
        subject: &Subject,
        invocations: usize,
        neighbour: &mut Neighbour,
    ) -> Result<(), TrialError> {
        let environment = start(subject, &subject.program).await?;
        for _ in 0..self.extent.of(WARM_UP) {
            self.invoke(subject, &environment).await?;
        }
        let observed = |error| TrialError::Observation(subject.name.clone(), error);
        let before = cpu_time(environment.process()).map_err(observed)?;
        for _ in 0..invocations {
            neighbour.work().await?;
            let invocation = self.invoke(subject, &environment).await?;
            self.warm.push(invocation.answered);
            self.done.push(invocation.done);
        }
        self.cpu += cpu_time(environment.process()).map_err(observed)?.saturating_sub(before);
        self.timed += invocations;
        self.peak_memory = self.peak_memory.max(peak_memory(environment.process()).map_err(observed)?);
        Ok(())
    }

    /// Counts the calls to DynamoDB, if the subject makes any.
    pub async fn count_calls(
        &mut self,
        subject: &Subject,
        proxy: &CountingProxy,
        address: SocketAddr,
    ) -> Result<(), TrialError> {
        let mut program = subject.program.clone();
        let Some(endpoint) = program.variables.get_mut("AWS_ENDPOINT_URL_DYNAMODB") else { return Ok(()) };
        *endpoint = format!("http://{address}");
        let environment = start(subject, &program).await?;
        self.invoke(subject, &environment).await?;
        let api = environment.api();
        proxy.reset(move || api.is_answered());
        let events = self.extent.of(COUNTED);
        for _ in 0..events {
            self.invoke(subject, &environment).await?;
        }
        let counted = proxy.counted().map_err(|reason| TrialError::Proxy { subject: subject.name.clone(), reason })?;
        let each = |number: f64| number / events as f64;
        self.usage = Some(Usage {
            calls: each(counted.consumption.calls as f64),
            read_units: each(counted.consumption.read_units),
            write_units: each(counted.consumption.write_units),
            early_writes: each(counted.early_writes as f64),
        });
        Ok(())
    }

    /// Has the environment work on the subject's next event.
    pub async fn invoke(&mut self, subject: &Subject, environment: &Environment) -> Result<Invocation, TrialError> {
        let number = self.invocations;
        self.invocations += 1;
        let event = subject.workload.event(number);
        let failed = |error| TrialError::Function(subject.name.clone(), error);
        let invocation = environment.invoke(event).await.map_err(failed)?;
        if subject.workload.is_right(number, &invocation.answer) {
            return Ok(invocation);
        }
        let answer = String::from_utf8_lossy(&invocation.answer).into_owned();
        Err(TrialError::WrongAnswer { subject: subject.name.clone(), answer })
    }

    /// What has come out.
    ///
    /// # Errors
    /// When the package can't be read.
    pub fn figures(&self, subject: &Subject) -> Result<Figures, TrialError> {
        const MB: f64 = 1_000_000.0;
        let micros = |samples: &Samples, percent| samples.percentile(percent).map(|time| time.as_secs_f64() * 1e6);
        let millis = |samples: &Samples, percent| samples.percentile(percent).map(|time| time.as_secs_f64() * 1e3);
        let unread = |error| TrialError::Observation(subject.name.clone(), error);
        Ok(Figures {
            name: subject.name.clone(),
            cold_ms_p50: millis(&self.cold, 50),
            cold_ms_p99: millis(&self.cold, 99),
            warm_us_p50: micros(&self.warm, 50),
            warm_us_p90: micros(&self.warm, 90),
            warm_us_p99: micros(&self.warm, 99),
            done_us_p50: micros(&self.done, 50),
            cpu_ms_per_1k: (self.timed > 0).then(|| self.cpu.as_secs_f64() * 1e6 / self.timed as f64),
            rss_mb: (self.timed > 0).then_some(self.peak_memory as f64 / MB),
            zip_mb: Some(zipped_size(&subject.package).map_err(unread)? as f64 / MB),
            rru: self.usage.map(|usage| usage.read_units),
            wru: self.usage.map(|usage| usage.write_units),
            calls: self.usage.map(|usage| usage.calls),
            early_writes: self.usage.map(|usage| usage.early_writes),
            versions: subject.versions.clone(),
        })
    }
}

/// Starts an environment of a subject, with its program or one like that.
pub async fn start(subject: &Subject, program: &Program) -> Result<Environment, TrialError> {
    let failed = |error| TrialError::Function(subject.name.clone(), error);
    Environment::start(program).await.map_err(failed)
}
