//! What requests about many links take: `bulk` among the benchmark's subjects.

use std::path::Path;

use crate::{
    answers::{AnswerCost, AnswersError, Asked, measure},
    options::Extent,
    tables::Tables,
    workloads::Workload,
};

/// How often a hundred links are created: with the first request and the counted one, fewer than a workspace may in a minute.
const REQUESTS: usize = 7;

/// Asks an environment of shorten for a hundred links each time.
///
/// # Errors
/// When the function fails or answers wrongly.
pub async fn measure_bulk(programs: &Path, extent: Extent) -> Result<Vec<AnswerCost>, AnswersError> {
    let tables = Tables::start(1).await;
    let asked = Asked { function: "shorten", name: "100 new links", workload: Workload::shorten_many(&tables) };
    println!("\nrequests about many links");
    println!("{}", AnswerCost::HEAD);
    let cost = measure(&tables, programs, &asked, extent.of(REQUESTS)).await?;
    println!("{cost}\n{:.2} write units for each link", cost.wru / Workload::LINKS as f64);
    Ok(vec![cost])
}
