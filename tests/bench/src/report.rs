//! What has come out: a table for people, and the same as JSON.

use std::{collections::BTreeMap, fs, io, path::Path, thread, time::Duration};

use serde::Serialize;

use crate::{analytics::Counting, answers::AnswerCost, goals::Goal};

/// What has been measured of a subject. What doesn't apply to it is missing.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    pub name: String,
    /// From creating the process to the first answer, in milliseconds.
    pub cold_ms_p50: Option<f64>,
    pub cold_ms_p99: Option<f64>,
    /// From handing an event out to its answer, in microseconds.
    pub warm_us_p50: Option<f64>,
    pub warm_us_p90: Option<f64>,
    pub warm_us_p99: Option<f64>,
    /// From handing an event out until the next one can be: what Lambda bills.
    pub done_us_p50: Option<f64>,
    /// Milliseconds of processor time for a thousand invocations.
    pub cpu_ms_per_1k: Option<f64>,
    /// The most memory, in millions of bytes.
    pub rss_mb: Option<f64>,
    /// The size of the deployment package.
    pub zip_mb: Option<f64>,
    /// DynamoDB's read and write request units for an invocation, and calls.
    pub rru: Option<f64>,
    pub wru: Option<f64>,
    pub calls: Option<f64>,
    /// Calls that write and come before the answer.
    pub early_writes: Option<f64>,
    /// Of what isn't built here.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

/// Everything.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub machine: Machine,
    pub invocations: usize,
    pub starts: usize,
    pub subjects: Vec<Figures>,
    pub goals: Vec<Goal>,
    pub analytics: Vec<Counting>,
    pub pages: Vec<AnswerCost>,
    pub questions: Vec<AnswerCost>,
    pub bulk: Vec<AnswerCost>,
}

/// Where it was measured.
#[derive(Debug, Default, Serialize)]
pub struct Machine {
    pub processor: String,
    pub processors: usize,
    pub kernel: String,
    /// Which part of its processors was busy with something else in the second before.
    pub busy: f64,
}

impl Machine {
    /// This one, as far as Linux tells.
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Self {
            processor: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            busy: busy_part().unwrap_or_default(),
        }
    }
}

fn busy_part() -> Option<f64> {
    let (before, ()) = (processor_times()?, thread::sleep(Duration::from_secs(1)));
    let after = processor_times()?;
    let (idle, all) = (after.idle - before.idle, after.all - before.all);
    (all > 0.0).then(|| 1.0 - idle / all)
}

/// Since the machine has started, in ticks.
struct ProcessorTimes {
    idle: f64,
    all: f64,
}

/// The first line of the file has: user, nice, system, idle, waiting for I/O, ….
fn processor_times() -> Option<ProcessorTimes> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let times: Vec<f64> = stat.lines().next()?.split_whitespace().filter_map(|ticks| ticks.parse().ok()).collect();
    Some(ProcessorTimes { idle: times.get(3)? + times.get(4)?, all: times.iter().sum() })
}

impl Report {
    /// Writes it as JSON.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, serde_json::to_string_pretty(self)? + "\n")
    }

    /// The table of subjects.
    pub fn table(&self) -> String {
        let row = |name: &str, cells: [String; COLUMNS.len()]| {
            let widths = COLUMNS.iter().map(|(head, ..)| head.chars().count().max(7));
            let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
            format!("{name:<20}{cells}\n")
        };
        let mut table = row("", COLUMNS.map(|(head, ..)| head.to_owned()));
        for subject in &self.subjects {
            let cell = |value: Option<f64>, decimals| value.map(|value| format!("{value:.decimals$}"));
            let cells = COLUMNS.map(|(_, decimals, of)| cell(of(subject), decimals).unwrap_or_else(|| "–".to_owned()));
            table += &row(&subject.name, cells);
        }
        table
    }

    /// The list of goals.
    pub fn goals(&self) -> String {
        self.goals.iter().map(|goal| format!("{goal}\n")).collect()
    }
}

/// What a column of the table is called, how many decimals it has, and what is in it.
type Column = (&'static str, usize, fn(&Figures) -> Option<f64>);

const COLUMNS: [Column; 13] = [
    ("cold ms", 1, |figures| figures.cold_ms_p50),
    ("p99", 1, |figures| figures.cold_ms_p99),
    ("warm µs", 0, |figures| figures.warm_us_p50),
    ("p90", 0, |figures| figures.warm_us_p90),
    ("p99", 0, |figures| figures.warm_us_p99),
    ("done µs", 0, |figures| figures.done_us_p50),
    ("CPU ms/1k", 0, |figures| figures.cpu_ms_per_1k),
    ("RSS MB", 1, |figures| figures.rss_mb),
    ("zip MB", 2, |figures| figures.zip_mb),
    ("calls", 2, |figures| figures.calls),
    ("reads", 2, |figures| figures.rru),
    ("writes", 2, |figures| figures.wru),
    ("early", 2, |figures| figures.early_writes),
];
