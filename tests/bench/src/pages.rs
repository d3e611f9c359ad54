//! What pages of the management view take in a workspace of many heavy links: `pages` among the benchmark's subjects.
//!
//! A page goes through the links of a workspace, so time and memory of the function depend on how much of them it reads.

use std::{fmt, io, path::Path, time::Duration};

use serde::Serialize;

use crate::{
    functions::{self, TemplateError},
    lambda::{Environment, LambdaError, Program},
    measure::{Samples, cpu_time, peak_memory},
    options::Extent,
    proxy::CountingProxy,
    tables::Tables,
    workloads::Workload,
};

/// How many links the workspace has, and how many it takes to fill a page with those that a rare word is in.
const LINKS: usize = 10_000;
const FEWEST: usize = 2_000;
/// How often each page is asked for.
const REQUESTS: usize = 20;
/// What is asked for, and under which name it is reported.
const QUERIES: [(&str, &str); 5] = [
    ("no filter", ""),
    ("a tag", "tag=tenth"),
    ("order by clicks", "sort=clicks"),
    ("search, common", "search=example"),
    ("search, rare", "search=needle"),
];

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum PagesError {
    #[error("there is a variable that can't be known")]
    Variables(#[from] TemplateError),
    #[error("list has failed")]
    Function(#[from] LambdaError),
    #[error("list can't be observed")]
    Observation(#[from] io::Error),
    #[error("list answers {query:?} wrongly: {answer}")]
    WrongAnswer { query: &'static str, answer: String },
    #[error("calls could not be counted: {0}")]
    Proxy(String),
}

/// What a page takes.
#[derive(Debug, Serialize)]
pub struct PageCost {
    pub name: &'static str,
    pub query: &'static str,
    /// Calls to DynamoDB, and their read units.
    pub calls: usize,
    pub rru: f64,
    /// From handing the event out to the answer, in milliseconds.
    pub ms_p50: f64,
    pub ms_p90: f64,
    /// Processor time of the function for one request, in milliseconds.
    pub cpu_ms: f64,
    /// The most memory, in millions of bytes.
    pub rss_mb: f64,
}

impl fmt::Display for PageCost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, calls, rru, ms_p50, ms_p90, cpu_ms, rss_mb, .. } = self;
        write!(formatter, "{name:<20} {calls:>6} {rru:>8.1} {ms_p50:>8.0} {ms_p90:>8.0} {cpu_ms:>8.0} {rss_mb:>8.1}")
    }
}

/// Asks an environment of its own for each kind of page.
///
/// # Errors
/// When the function fails or answers wrongly.
pub async fn measure(programs: &Path, extent: Extent) -> Result<Vec<PageCost>, PagesError> {
    let tables = Tables::start(1).await;
    let links = extent.of(LINKS).max(FEWEST);
    let owner = tables.add_heavy_links(links).await;
    println!("\npages of 20 of {links} links of 3.7 KB, DynamoDB over HTTP on this machine");
    println!("page                  calls    reads   ms p50      p90   CPU ms   RSS MB");
    let mut costs = Vec::new();
    for (name, query) in QUERIES {
        let cost =
            measure_one(&tables, programs, name, Workload::page(&owner, query), query, extent.of(REQUESTS)).await?;
        println!("{cost}");
        costs.push(cost);
    }
    Ok(costs)
}

async fn measure_one(
    tables: &Tables,
    programs: &Path,
    name: &'static str,
    workload: Workload,
    query: &'static str,
    requests: usize,
) -> Result<PageCost, PagesError> {
    let (mut variables, memory) = functions::variables("list", &tables.queues)?;
    variables.extend(tables.endpoints());
    let mut program = Program { command: vec![programs.join("list")], variables, memory };
    let environment = Environment::start(&program).await?;
    ask(&environment, &workload, query).await?;
    let (mut times, before) = (Samples::default(), cpu_time(environment.process())?);
    for _ in 0..requests {
        times.push(ask(&environment, &workload, query).await?);
    }
    let cpu = cpu_time(environment.process())?.saturating_sub(before);
    let rss = peak_memory(environment.process())?;

    let (proxy, address) = CountingProxy::start(tables.dynamodb()).await?;
    program.variables.insert("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), format!("http://{address}"));
    let counted = Environment::start(&program).await?;
    proxy.reset(|| false);
    ask(&counted, &workload, query).await?;
    let usage = proxy.counted().map_err(PagesError::Proxy)?.consumption;

    let millis = |percent| times.percentile(percent).unwrap_or_default().as_secs_f64() * 1e3;
    Ok(PageCost {
        name,
        query,
        calls: usage.calls,
        rru: usage.read_units,
        ms_p50: millis(50),
        ms_p90: millis(90),
        cpu_ms: cpu.as_secs_f64() * 1e3 / requests as f64,
        rss_mb: rss as f64 / 1e6,
    })
}

async fn ask(environment: &Environment, workload: &Workload, query: &'static str) -> Result<Duration, PagesError> {
    let invocation = environment.invoke(workload.event(0)).await?;
    if workload.is_right(0, &invocation.answer) {
        return Ok(invocation.answered);
    }
    let answer = String::from_utf8_lossy(&invocation.answer).chars().take(1_000).collect();
    Err(PagesError::WrongAnswer { query, answer })
}
