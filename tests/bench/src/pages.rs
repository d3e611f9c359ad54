//! What pages of the management view take in a workspace of many heavy links: `pages` among the benchmark's subjects.
//!
//! A page goes through the links of a workspace, so time and memory of the function depend on how much of them it reads.

use std::path::Path;

use crate::{
    answers::{AnswerCost, AnswersError, Asked, measure},
    options::Extent,
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

/// Asks an environment of its own for each kind of page.
///
/// # Errors
/// When the function fails or answers wrongly.
pub async fn measure_pages(programs: &Path, extent: Extent) -> Result<Vec<AnswerCost>, AnswersError> {
    let tables = Tables::start(1).await;
    let links = extent.of(LINKS).max(FEWEST);
    let owner = tables.add_heavy_links(links).await;
    println!("\npages of 20 of {links} links of 3.7 KB, DynamoDB over HTTP on this machine");
    println!("{}", AnswerCost::HEAD);
    let mut costs = Vec::new();
    for (name, query) in QUERIES {
        let asked = Asked { function: "list", name, workload: Workload::page(&owner, query) };
        let cost = measure(&tables, programs, &asked, extent.of(REQUESTS)).await?;
        println!("{cost}");
        costs.push(cost);
    }
    Ok(costs)
}
