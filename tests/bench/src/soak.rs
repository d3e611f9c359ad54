//! Whether functions give their memory back: `soak` among the benchmark's subjects.
//!
//! An execution environment lives for hours and has a fixed amount of memory. So what it holds after its thousandth event is
//! compared with what it holds after its twenty-thousandth.

use std::{collections::BTreeSet, fmt, io, path::Path};

use linklet_test_support::Template;
use serde::Serialize;

use crate::{
    functions::{self, TemplateError},
    lambda::{Environment, LambdaError, Program},
    measure::memory,
    options::Extent,
    tables::Tables,
    workloads::Workload,
};

/// How much more memory there may be at the end than early on.
const GROWTH: f64 = 1.1;
/// After so many events memory is read, if an event takes no longer than most.
const EVENTS: (usize, usize) = (1_000, 20_000);
/// Links for the functions that need some.
const LINKS: usize = 2_000;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum SoakError {
    #[error("there is a variable that can't be known")]
    Variables(#[from] TemplateError),
    #[error("{0} has failed")]
    Function(&'static str, #[source] LambdaError),
    #[error("{function} answers event {number} wrongly: {answer}")]
    WrongAnswer { function: &'static str, number: usize, answer: String },
    #[error("the memory of {0} can't be read")]
    Memory(&'static str, #[source] io::Error),
}

/// What a function's environment is given to do.
struct Task {
    name: &'static str,
    function: &'static str,
    /// A sample event of the function, unless there is a better one.
    workload: Option<fn(&Tables) -> Workload>,
    /// After so many events memory is read for the first and for the last time.
    events: (usize, usize),
}

impl Task {
    fn to(self, extent: Extent) -> Self {
        Self { events: (extent.of(self.events.0), extent.of(self.events.1)), ..self }
    }
}

const fn task(name: &'static str, function: &'static str, workload: fn(&Tables) -> Workload) -> Task {
    Task { name, function, workload: Some(workload), events: EVENTS }
}

/// What functions do most that change something with each event, or that more is known of than that they answer. A login takes as
/// long as a hundred other events.
const TASKS: [Task; 13] = [
    task("account", "account", Workload::workspace),
    Task { events: (100, 1_000), ..task("auth, logins", "auth", |_| Workload::logins()) },
    task("auth, tokens", "auth", Workload::me),
    task("delete", "delete", Workload::delete),
    task("list", "list", Workload::list),
    task("notifications", "notifications", Workload::notifications),
    task("overview", "overview", Workload::overview),
    task("redirect", "redirect", |tables| Workload::cold_links(tables.links)),
    task("shorten", "shorten", Workload::shorten),
    task("stats", "stats", |_| Workload::stats()),
    task("update", "update", Workload::rename),
    task("watch", "watch", Workload::register_target),
    task("web", "web", |_| Workload::document()),
];

/// What has come of it.
#[derive(Debug, Serialize)]
pub struct Soaked {
    pub name: &'static str,
    pub events: (usize, usize),
    /// Resident memory after as many events, in millions of bytes.
    pub mb: (f64, f64),
    /// The second of these over the first.
    pub growth: f64,
    /// Whether the growth is within its bound.
    pub levels_off: bool,
}

impl Soaked {
    fn new(task: &Task, early: u64, late: u64) -> Self {
        const MB: f64 = 1_000_000.0;
        let mb = (early as f64 / MB, late as f64 / MB);
        let growth = mb.1 / mb.0;
        Self { name: task.name, events: task.events, mb, growth, levels_off: growth <= GROWTH }
    }
}

impl fmt::Display for Soaked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (early, late) = self.events;
        let verdict = if self.levels_off { "levels off" } else { "GROWS" };
        let Self { name, mb, growth, .. } = self;
        write!(
            formatter,
            "{name:<14} {:>8.1} {:>8.1} {growth:>8.3}  {verdict:<10}  {early} and {late} events",
            mb.0, mb.1
        )
    }
}

/// Has every function behind the API work on many events, one environment each.
///
/// # Errors
/// When a function fails or answers wrongly.
pub async fn soak(programs: &Path, extent: Extent) -> Result<Vec<Soaked>, SoakError> {
    let mut soaked = Vec::new();
    println!("\nresident memory, MB    early     late   growth  (at most {GROWTH})");
    for task in tasks().into_iter().map(|task| task.to(extent)) {
        let result = run(&task, programs, extent.of(LINKS)).await?;
        println!("{result}");
        soaked.push(result);
    }
    Ok(soaked)
}

/// Those of every function behind the API. A function without one of its own is handed a sample event.
fn tasks() -> Vec<Task> {
    let behind: BTreeSet<_> = Template::load().routes().into_iter().map(|route| route.function).collect();
    let others = behind.into_iter().filter(|function| TASKS.iter().all(|task| task.function != function));
    let others = others.map(|function| {
        let function: &str = function.leak(); // a few names, in a program that soon ends
        Task { name: function, function, workload: None, events: EVENTS }
    });
    TASKS.into_iter().chain(others).collect()
}

async fn run(task: &Task, programs: &Path, links: usize) -> Result<Soaked, SoakError> {
    let tables = Tables::start(links).await;
    let workload = task.workload.map_or_else(|| Workload::sample_of(task.function), |workload| workload(&tables));
    let (mut variables, limit) = functions::variables(task.function, &tables.queues)?;
    variables.extend(tables.endpoints());
    let program = Program { command: vec![programs.join(task.function)], variables, memory: limit };
    let failed = |error| SoakError::Function(task.name, error);
    let environment = Environment::start(&program).await.map_err(failed)?;
    let resident = || memory(environment.process()).map_err(|error| SoakError::Memory(task.name, error));
    let mut early = 0;
    for number in 0..task.events.1 {
        if number == task.events.0 {
            early = resident()?;
        }
        let answer = environment.invoke(workload.event(number)).await.map_err(failed)?.answer;
        if !workload.is_right(number, &answer) {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            return Err(SoakError::WrongAnswer { function: task.name, number, answer });
        }
    }
    Ok(Soaked::new(task, early, resident()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_function_behind_the_api_is_soaked() {
        let tables = Tables::start(1).await;

        let soaked: BTreeSet<_> = tasks().into_iter().map(|task| task.function.to_owned()).collect();

        let behind: BTreeSet<_> = Template::load().routes().into_iter().map(|route| route.function).collect();
        assert_eq!(soaked, behind);
        for function in soaked {
            assert!(functions::variables(&function, &tables.queues).is_ok(), "{function}");
        }
    }

    #[test]
    fn a_function_without_a_task_is_handed_a_sample_event_that_it_must_not_refuse() {
        let tasks = tasks();
        let qr = tasks.iter().find(|task| task.function == "qr").unwrap();
        assert!(qr.workload.is_none());

        let sample = Workload::sample_of("qr");

        assert!(sample.event(7).contains("ANY /{code}/qr"), "{}", sample.event(7));
        let answers = [200, 404].map(|status| sample.is_right(7, format!(r#"{{"statusCode":{status}}}"#).as_bytes()));
        assert_eq!(answers, [true, false]);
    }

    #[test]
    fn a_tenth_more_memory_is_level_and_more_is_growth() {
        let task = task("web", "web", |_| Workload::document());

        assert!(Soaked::new(&task, 10_000_000, 11_000_000).levels_off);
        assert!(!Soaked::new(&task, 10_000_000, 11_100_000).levels_off);
    }
}
