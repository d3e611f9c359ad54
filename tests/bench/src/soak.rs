//! Whether functions give their memory back: `soak` among the benchmark's subjects.
//!
//! An execution environment lives for hours and has a fixed amount of memory. So what it holds after its thousandth event is
//! compared with what it holds after its twenty-thousandth.

use std::{collections::BTreeSet, fmt, fs, io, path::Path, time::Duration};

use linklet_test_support::Template;
use serde::Serialize;

use crate::{
    functions::{self, TemplateError},
    hosts::{Hosts, HostsError},
    lambda::{Environment, LambdaError, Program},
    measure::{cpu_time, memory},
    options::Extent,
    tables::Tables,
    workloads::Workload,
};

/// How much more memory there may be at the end than early on.
const GROWTH: f64 = 1.1;
/// After so many events memory is read, if an event takes no longer than most.
const EVENTS: (usize, usize) = (1_000, 20_000);
/// What an environment has open may be so much more at the end, of what it opens now and then.
const FILES: usize = 8;
/// Links for the functions that need some.
const LINKS: usize = 2_000;
/// Web sites that are monitored.
const HOSTS: usize = 500;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum SoakError {
    #[error("there is a variable that can't be known")]
    Variables(#[from] TemplateError),
    #[error("{0} has failed")]
    Function(&'static str, #[source] LambdaError),
    #[error("{function} answers event {number} wrongly: {answer}")]
    WrongAnswer { function: &'static str, number: usize, answer: String },
    #[error("the memory of {0} or what it has open can't be read")]
    Process(&'static str, #[source] io::Error),
    #[error("there are no web sites to monitor")]
    Hosts(#[from] HostsError),
}

/// What a function's environment is given to do.
struct Task {
    name: &'static str,
    function: &'static str,
    /// A sample event of the function, unless there is a better one.
    workload: Option<fn(&Tables) -> Workload>,
    /// After so many events memory is read for the first and for the last time.
    events: (usize, usize),
    /// How many web sites are monitored.
    hosts: usize,
}

impl Task {
    fn to(self, extent: Extent) -> Self {
        let events = (extent.of(self.events.0), extent.of(self.events.1));
        Self { events, hosts: if self.hosts > 0 { extent.of(self.hosts) } else { 0 }, ..self }
    }
}

const fn task(name: &'static str, function: &'static str, workload: fn(&Tables) -> Workload) -> Task {
    Task { name, function, workload: Some(workload), events: EVENTS, hosts: 0 }
}

/// What functions do most that change something with each event, or that more is known of than that they answer. A login takes as
/// long as a hundred other events, and so does opening a link with a password.
const TASKS: [Task; 16] = [
    task("account", "account", Workload::workspace),
    Task { events: (100, 1_000), ..task("auth, logins", "auth", |_| Workload::logins()) },
    task("auth, tokens", "auth", Workload::me),
    task("delete", "delete", Workload::delete),
    task("jobs-api", "jobs-api", Workload::jobs),
    task("leave", "leave", Workload::export),
    task("list", "list", Workload::list),
    task("overview", "overview", Workload::overview),
    task("redirect", "redirect", |tables| Workload::cold_links(tables.links)),
    task("shorten", "shorten", Workload::shorten),
    task("stats", "stats", |_| Workload::stats()),
    Task { events: (100, 1_000), ..task("unlock", "unlock", |_| Workload::unlock()) },
    task("update", "update", Workload::rename),
    task("watch", "watch", Workload::register_target),
    Task { events: (20, 200), hosts: HOSTS, ..task("watch-check", "watch-check", |_| Workload::rounds()) },
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
    /// Open files and connections after as many events.
    pub files: (usize, usize),
    /// Time of the processor for an event in between, in milliseconds.
    pub cpu_ms: f64,
    /// Whether both are within their bounds.
    pub levels_off: bool,
}

impl Soaked {
    fn new(task: &Task, early: Held, late: Held) -> Self {
        const MB: f64 = 1_000_000.0;
        let mb = (early.memory as f64 / MB, late.memory as f64 / MB);
        let growth = mb.1 / mb.0;
        let levels_off = growth <= GROWTH && late.files <= early.files + FILES;
        let events = (task.events.1 - task.events.0) as f64;
        let cpu_ms = late.cpu.saturating_sub(early.cpu).as_secs_f64() * 1_000.0 / events;
        Self { name: task.name, events: task.events, mb, growth, files: (early.files, late.files), cpu_ms, levels_off }
    }
}

impl fmt::Display for Soaked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (early, late) = self.events;
        let verdict = if self.levels_off { "levels off" } else { "GROWS" };
        let Self { name, mb, growth, files, cpu_ms, .. } = self;
        write!(
            formatter,
            "{name:<14} {:>8.1} {:>8.1} {growth:>8.3} {:>6} {:>6} {cpu_ms:>9.2}  {verdict:<10}  {early} and {late} events",
            mb.0, mb.1, files.0, files.1
        )
    }
}

/// What an environment holds.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    memory: u64,
    files: usize,
    cpu: Duration,
}

/// Has every function behind the API, and the one that monitors URLs, work on many events, one environment each.
///
/// # Errors
/// When a function fails or answers wrongly.
pub async fn soak(programs: &Path, extent: Extent) -> Result<Vec<Soaked>, SoakError> {
    let mut soaked = Vec::new();
    println!(
        "\nresident memory, MB (growth at most {GROWTH}), files that are open, and milliseconds of the processor for an event"
    );
    println!("{:14} {:>8} {:>8} {:>8} {:>6} {:>6} {:>9}", "", "early", "late", "growth", "early", "late", "ms");
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
        Task { name: function, function, workload: None, events: EVENTS, hosts: 0 }
    });
    TASKS.into_iter().chain(others).collect()
}

async fn run(task: &Task, programs: &Path, links: usize) -> Result<Soaked, SoakError> {
    let tables = Tables::start(links).await;
    let hosts = Hosts::start(task.hosts).await?;
    tables.monitor(hosts.urls()).await;
    let workload = task.workload.map_or_else(|| Workload::sample_of(task.function), |workload| workload(&tables));
    let (mut variables, limit) = functions::variables(task.function, &tables.queues)?;
    variables.extend(tables.endpoints());
    if task.hosts > 0 {
        variables.insert("WATCH_ALLOW_LOOPBACK".to_owned(), "yes-for-tests".to_owned());
        variables.insert("SSL_CERT_FILE".to_owned(), hosts.authority().display().to_string());
    }
    let program = Program { command: vec![programs.join(task.function)], variables, memory: limit };
    let failed = |error| SoakError::Function(task.name, error);
    let environment = Environment::start(&program).await.map_err(failed)?;
    let held = || held(environment.process()).map_err(|error| SoakError::Process(task.name, error));
    let mut early = Held::default();
    for number in 0..task.events.1 {
        if number == task.events.0 {
            early = held()?;
        }
        let answer = environment.invoke(workload.event(number)).await.map_err(failed)?.answer;
        if !workload.is_right(number, &answer) {
            let answer = String::from_utf8_lossy(&answer).into_owned();
            return Err(SoakError::WrongAnswer { function: task.name, number, answer });
        }
    }
    Ok(Soaked::new(task, early, held()?))
}

fn held(process: u32) -> io::Result<Held> {
    let files = fs::read_dir(format!("/proc/{process}/fd"))?.count();
    Ok(Held { memory: memory(process)?, files, cpu: cpu_time(process)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_function_behind_the_api_is_soaked_and_the_one_that_monitors() {
        let tables = Tables::start(1).await;

        let soaked: BTreeSet<_> = tasks().into_iter().map(|task| task.function.to_owned()).collect();

        let behind = Template::load().routes().into_iter().map(|route| route.function);
        assert_eq!(soaked, behind.chain(["watch-check".to_owned()]).collect());
        for function in soaked {
            assert!(functions::variables(&function, &tables.queues).is_ok(), "{function}");
        }
    }

    #[test]
    fn a_function_without_a_task_must_accept_its_sample_event() {
        let tasks = tasks();
        let qr = tasks.iter().find(|task| task.function == "qr").unwrap();
        assert!(qr.workload.is_none());

        let sample = Workload::sample_of("qr");

        assert!(sample.event(7).contains("ANY /{code}/qr"), "{}", sample.event(7));
        let answers = [200, 404].map(|status| sample.is_right(7, format!(r#"{{"statusCode":{status}}}"#).as_bytes()));
        assert_eq!(answers, [true, false]);
    }

    #[test]
    fn a_tenth_more_memory_and_eight_more_files_still_level_off() {
        let task = task("web", "web", |_| Workload::document());

        let levels_off = |memory, files| {
            let early = Held { memory: 10_000_000, files: 10, cpu: Duration::ZERO };
            Soaked::new(&task, early, Held { memory, files, ..early }).levels_off
        };

        assert!(levels_off(11_000_000, 18));
        assert!(!levels_off(11_100_000, 10));
        assert!(!levels_off(10_000_000, 19));
    }
}
