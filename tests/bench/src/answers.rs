//! What single answers take: calls, time, processor time and memory of an environment of its own.
//!
//! A page of the management view goes through the links of a workspace. Questions read days, however many clicks they have, or
//! single clicks up to a bound, so the link has more of them than that.

use std::{fmt, path::Path};

use linklet_test_support::{FakeLambda, Journal};
use serde::Serialize;

use crate::measure::{Samples, cpu_time, peak_memory};
use crate::options::Extent;
use crate::tables::Tables;
use crate::workloads::Workload;

/// How many links the workspace of `pages` has, and how many it takes to fill a page with those that a rare word is in.
const HEAVY_LINKS: usize = 10_000;
const FEWEST: usize = 2_000;
/// The pages that are asked for, and under which name they are reported.
const PAGES: [(&str, &str); 5] = [
    ("no filter", ""),
    ("a tag", "tag=tenth"),
    ("order by clicks", "sort=clicks"),
    ("search, common", "search=example"),
    ("search, rare", "search=needle"),
];
/// How many clicks the link of `questions` has, in 30 days, and how many links there are like it.
const CLICKS: usize = 30_000;
const LINKS: usize = 300;
/// What is asked about the link, and under which name it is reported.
const QUESTIONS: [(&str, &str, &str); 6] = [
    ("summary", "", ""),
    ("30 days", "", "DAYS&audience=human"),
    ("30 days of Berlin", "", "DAYS&audience=human&tz=Europe/Berlin"),
    ("a filter", "", "DAYS&audience=human&browser=Firefox"),
    ("latest clicks", "/clicks", "limit=20"),
    ("a page of CSV", "/clicks", "format=csv"),
];
/// How often each is asked: questions and bulk requests less often than a workspace may in a minute.
const REQUESTS_FOR_PAGES: usize = 20;
const REQUESTS: usize = 6;
/// Bytes of what Lambda calls a megabyte.
const MIB: f64 = 1_048_576.0;

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
struct Asked {
    function: &'static str,
    name: &'static str,
    workload: Workload,
}

/// Pages of the management view in a workspace of many heavy links.
pub async fn pages(programs: &Path, extent: Extent) -> Vec<AnswerCost> {
    let tables = Tables::start(1).await;
    let links = extent.of(HEAVY_LINKS).max(FEWEST);
    let owner = tables.add_heavy_links(links).await;
    let page = |(name, query)| Asked { function: "list", name, workload: Workload::page(&owner, query) };
    let title = format!("pages of 20 of {links} links of 3.7 KB, DynamoDB over HTTP on this machine");
    ask(&title, &tables, programs, extent.of(REQUESTS_FOR_PAGES), PAGES.into_iter().map(page)).await
}

/// Questions about the clicks of a link, and of many.
pub async fn questions(programs: &Path, extent: Extent) -> Vec<AnswerCost> {
    let tables = Tables::start(1).await;
    let (clicks, links) = (extent.of(CLICKS), extent.of(LINKS));
    let owner = tables.add_followed_links(links, clicks).await;
    let of_link = QUESTIONS.into_iter().map(|(name, route, query)| {
        let workload = Workload::question(&owner, route, query);
        Asked { function: "stats", name, workload }
    });
    let of_many = Asked { function: "overview", name: "breakdowns", workload: Workload::breakdowns(&owner) };
    let title = format!("questions about a link with {clicks} clicks in 30 days, and about {links} such links");
    ask(&title, &tables, programs, extent.of(REQUESTS), of_link.chain([of_many])).await
}

/// Requests that create a hundred links each.
pub async fn bulk(programs: &Path, extent: Extent) -> Vec<AnswerCost> {
    let tables = Tables::start(1).await;
    let asked = Asked { function: "shorten", name: "100 new links", workload: Workload::shorten_many(&tables) };
    let costs = ask("requests about many links", &tables, programs, extent.of(REQUESTS), [asked]).await;
    println!("{:.2} write units for each link", costs[0].wru / Workload::LINKS as f64);
    costs
}

async fn ask(
    title: &str,
    tables: &Tables,
    programs: &Path,
    requests: usize,
    all: impl IntoIterator<Item = Asked>,
) -> Vec<AnswerCost> {
    println!("\n{title}\n                      calls    reads   ms p50      p90   CPU ms   RSS MB   of its");
    let mut costs = Vec::new();
    for asked in all {
        let cost = measure(tables, programs, &asked, requests).await;
        println!("{cost}");
        costs.push(cost);
    }
    costs
}

/// Asks an environment of its own so many times, after a first one, and another environment once for the calls.
async fn measure(tables: &Tables, programs: &Path, asked: &Asked, requests: usize) -> AnswerCost {
    let mut program = tables.program(asked.function, programs.join(asked.function));
    let of =
        async |environment: &FakeLambda, number| asked.workload.ask(asked.name, environment, number).await.answered;
    let environment = FakeLambda::start(&program, &Journal::default());
    of(&environment, 0).await;
    let (mut times, before) = (Samples::default(), cpu_time(environment.process()));
    for number in 1..=requests {
        times.push(of(&environment, number).await);
    }
    let cpu = cpu_time(environment.process()).saturating_sub(before);
    let rss = peak_memory(environment.process());

    let journal = Journal::default();
    program.variables.insert("AWS_ENDPOINT_URL_DYNAMODB".to_owned(), journal.in_front_of(tables.dynamodb()));
    of(&FakeLambda::start(&program, &journal), requests + 1).await;

    AnswerCost {
        name: asked.name,
        calls: journal.meter().calls(),
        rru: journal.meter().read_units(),
        wru: journal.meter().write_units(),
        ms_p50: times.millis(50).unwrap_or_default(),
        ms_p90: times.millis(90).unwrap_or_default(),
        cpu_ms: cpu.as_secs_f64() * 1e3 / requests as f64,
        rss_mb: rss as f64 / 1e6,
        memory: rss as f64 / (program.memory as f64 * MIB),
    }
}
