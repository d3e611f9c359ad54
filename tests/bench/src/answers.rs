//! What single answers take: calls, time, processor time and memory of an environment of its own.

use std::{fmt, io, path::Path, time::Duration};

use serde::Serialize;

use crate::{
    functions::{self, TemplateError},
    lambda::{Environment, LambdaError, Program},
    measure::{Samples, cpu_time, peak_memory},
    proxy::CountingProxy,
    tables::Tables,
    workloads::Workload,
};

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum AnswersError {
    #[error("there is a variable that can't be known")]
    Variables(#[from] TemplateError),
    #[error("a function has failed")]
    Function(#[from] LambdaError),
    #[error("a function can't be observed")]
    Observation(#[from] io::Error),
    #[error("{name} is answered wrongly: {answer}")]
    WrongAnswer { name: &'static str, answer: String },
    #[error("calls could not be counted: {0}")]
    Proxy(String),
}

/// What an answer takes.
#[derive(Debug, Serialize)]
pub struct AnswerCost {
    pub name: &'static str,
    /// Calls to DynamoDB, and their read and write units.
    pub calls: usize,
    pub rru: f64,
    pub wru: f64,
    /// From handing the event out to the answer, in milliseconds.
    pub ms_p50: f64,
    pub ms_p90: f64,
    /// Processor time of the function for one request, in milliseconds.
    pub cpu_ms: f64,
    /// The most memory, in millions of bytes.
    pub rss_mb: f64,
    /// How much of the memory that the template gives the function that is.
    pub memory: f64,
}

impl AnswerCost {
    /// The names of what is displayed.
    pub const HEAD: &str = "                      calls    reads   ms p50      p90   CPU ms   RSS MB   of its";
}

impl fmt::Display for AnswerCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, calls, rru, ms_p50, ms_p90, cpu_ms, rss_mb, memory, .. } = self;
        write!(
            formatter,
            "{name:<20} {calls:>6} {rru:>8.1} {ms_p50:>8.0} {ms_p90:>8.0} {cpu_ms:>8.0} {rss_mb:>8.1} {:>7.0}%",
            memory * 100.0
        )
    }
}

/// What is asked of a function, and under which name it is reported.
pub struct Asked {
    pub function: &'static str,
    pub name: &'static str,
    pub workload: Workload,
}

/// Asks an environment of its own so many times.
///
/// # Errors
/// When the function fails or answers wrongly.
pub async fn measure(
    tables: &Tables,
    programs: &Path,
    asked: &Asked,
    requests: usize,
) -> Result<AnswerCost, AnswersError> {
    let (mut variables, memory) = functions::variables(asked.function, &tables.queues)?;
    variables.extend(tables.endpoints());
    let mut program = Program { command: vec![programs.join(asked.function)], variables, memory };
    let environment = Environment::start(&program).await?;
    asked.of(&environment, 0).await?;
    let (mut times, before) = (Samples::default(), cpu_time(environment.process())?);
    for number in 1..=requests {
        times.push(asked.of(&environment, number).await?);
    }
    let cpu = cpu_time(environment.process())?.saturating_sub(before);
    let rss = peak_memory(environment.process())?;

    let (proxy, address) = CountingProxy::start(tables.dynamodb()).await?;
    program.variables.insert("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), format!("http://{address}"));
    let counted = Environment::start(&program).await?;
    proxy.reset(|| false);
    asked.of(&counted, requests + 1).await?;
    let usage = proxy.counted().map_err(AnswersError::Proxy)?.consumption;

    let millis = |percent| times.percentile(percent).unwrap_or_default().as_secs_f64() * 1e3;
    Ok(AnswerCost {
        name: asked.name,
        calls: usage.calls,
        rru: usage.read_units,
        wru: usage.write_units,
        ms_p50: millis(50),
        ms_p90: millis(90),
        cpu_ms: cpu.as_secs_f64() * 1e3 / requests as f64,
        rss_mb: rss as f64 / 1e6,
        memory: rss as f64 / (memory as f64 * MIB),
    })
}

/// Bytes of what Lambda calls a megabyte.
const MIB: f64 = 1_048_576.0;

impl Asked {
    async fn of(&self, environment: &Environment, number: usize) -> Result<Duration, AnswersError> {
        let invocation = environment.invoke(self.workload.event(number)).await?;
        if self.workload.is_right(number, &invocation.answer) {
            return Ok(invocation.answered);
        }
        let answer = String::from_utf8_lossy(&invocation.answer).chars().take(1_000).collect();
        Err(AnswersError::WrongAnswer { name: self.name, answer })
    }
}
