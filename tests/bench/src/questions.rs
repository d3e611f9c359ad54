//! What questions about clicks take: `questions` among the benchmark's subjects.
//!
//! Days are rows, however many clicks they have; single clicks are read up to a bound. So the link has more of them than that.

use std::path::Path;

use crate::{
    answers::{AnswerCost, AnswersError, Asked, measure},
    options::Extent,
    tables::Tables,
    workloads::Workload,
};

/// How many clicks the link has, in 30 days, and how many links there are like it.
const CLICKS: usize = 30_000;
const LINKS: usize = 300;
/// How often each question is asked: less than a workspace may ask in a minute.
const REQUESTS: usize = 6;
/// What is asked about the link, and under which name it is reported.
const QUERIES: [(&str, &str, &str); 6] = [
    ("summary", "", ""),
    ("30 days", "", "DAYS&audience=human"),
    ("30 days of Berlin", "", "DAYS&audience=human&tz=Europe/Berlin"),
    ("a filter", "", "DAYS&audience=human&browser=Firefox"),
    ("latest clicks", "/clicks", "limit=20"),
    ("a page of CSV", "/clicks", "format=csv"),
];

/// Asks an environment of its own each question.
///
/// # Errors
/// When a function fails or answers wrongly.
pub async fn measure_questions(programs: &Path, extent: Extent) -> Result<Vec<AnswerCost>, AnswersError> {
    let tables = Tables::start(1).await;
    let (clicks, links) = (extent.of(CLICKS), extent.of(LINKS));
    let owner = tables.add_followed_links(links, clicks).await;
    println!("\nquestions about a link with {clicks} clicks in 30 days, and about {links} such links");
    println!("{}", AnswerCost::HEAD);
    let of_link = QUERIES.into_iter().map(|(name, route, query)| {
        let workload = Workload::question(&owner, route, query);
        Asked { function: "stats", name, workload }
    });
    let of_many = Asked { function: "overview", name: "breakdowns", workload: Workload::breakdowns(&owner) };
    let mut costs = Vec::new();
    for asked in of_link.chain([of_many]) {
        let cost = measure(&tables, programs, &asked, extent.of(REQUESTS)).await?;
        println!("{cost}");
        costs.push(cost);
    }
    Ok(costs)
}
