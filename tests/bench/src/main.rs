//! How close Linklet's functions are to what is possible: `make bench`.
//!
//! Each function is started and handed events as Lambda does it, with real answers from a DynamoDB on this machine. Beside them
//! run an empty function, a bare read, and the same redirect in Node and Python. All take turns, so that whatever disturbs the
//! machine disturbs them alike.

#![expect(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a benchmark prints, ends if anything goes wrong, and counts to some millions"
)]

mod analytics;
mod answers;
mod functions;
mod get_item;
mod goals;
mod measure;
mod options;
mod package;
mod peers;
mod processors;
mod report;
mod subjects;
mod tables;
mod trial;
mod workloads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use linklet_test_support::Journal;
use tracing::Level;

use self::get_item::GetItem;
use self::goals::goals;
use self::options::{Extent, Options};
use self::processors::OneProcessor;
use self::report::{Figures, Machine, Report};
use self::subjects::{Cast, Subject};
use self::tables::Tables;
use self::trial::{COUNTED, Neighbour, Trial, WARM_UP};

/// If a larger part of the processors does something else, times say little.
const BUSY: f64 = 0.1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_max_level(Level::ERROR).with_writer(io::stderr).init();
    let options = match Options::parse(env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    let machine = Machine::this();
    if machine.busy > BUSY {
        let busy = machine.busy * 100.0;
        eprintln!("this machine is {busy:.0} % busy, so times are longer and goals may be missed by chance");
    }
    let this = env::current_exe().expect("Linux knows what runs");
    let ours = this.parent().expect("the benchmark is in a folder");
    let target = ours.parent().expect("the benchmark is in target");
    let figures = if options.has_rounds() {
        Bench::new(&options, target.join(&options.profile)).play().await
    } else {
        Vec::new()
    };
    report(&options, machine, figures, ours, target).await;
    ExitCode::SUCCESS
}

struct Bench<'a> {
    cast: Cast<'a>,
    /// One for each subject.
    trials: Vec<Trial>,
    get_item: Option<GetItem>,
    options: &'a Options,
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, programs: PathBuf) -> Self {
        let get_item = options.wants(GetItem::NAME).then(|| GetItem::new(&programs, options.extent));
        Self { cast: Cast::new(options, programs), trials: Vec::new(), get_item, options }
    }

    async fn play(mut self) -> Vec<Figures> {
        let _one = OneProcessor::choose();
        let rounds = self.options.rounds();
        for round in 1..=rounds {
            eprintln!("round {round} of {rounds}");
            self.play_round().await;
        }
        let subjects = self.count_calls().await;
        self.figures(&subjects)
    }

    async fn play_round(&mut self) {
        let extent = self.options.extent;
        let invocations = extent.of(self.options.invocations).div_ceil(self.options.rounds());
        // As many links as a process gets events, so that none of them is followed twice.
        let tables = Tables::start(extent.of(WARM_UP) + invocations).await;
        let subjects = self.cast.subjects(&tables);
        self.trials.resize_with(subjects.len(), || Trial::of(extent));
        for _ in 0..extent.of(self.options.starts).div_ceil(self.options.rounds()) {
            for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
                trial.start_cold(subject).await;
            }
        }
        let mut neighbour = Neighbour::start(self.cast.neighbour(&tables));
        for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
            trial.run_warm(subject, invocations, &mut neighbour).await;
        }
        if let Some(get_item) = &mut self.get_item {
            get_item.run(&tables, invocations, &mut neighbour).await;
        }
    }

    async fn count_calls(&mut self) -> Vec<Subject> {
        let tables = Tables::start(self.options.extent.of(COUNTED) + 1).await;
        let journal = Journal::default();
        let endpoint = journal.in_front_of(tables.dynamodb());
        let subjects = self.cast.subjects(&tables);
        for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
            trial.count_calls(subject, &journal, &endpoint).await;
        }
        subjects
    }

    fn figures(&self, subjects: &[Subject]) -> Vec<Figures> {
        let mut figures: Vec<_> =
            self.trials.iter().zip(subjects).map(|(trial, subject)| trial.figures(subject)).collect();
        let baselines = figures.iter().take_while(|figures| figures.name.starts_with("noop")).count();
        figures.splice(baselines..baselines, self.get_item.as_ref().map(GetItem::figures));
        figures
    }
}

async fn report(options: &Options, machine: Machine, subjects: Vec<Figures>, ours: &Path, target: &Path) {
    let (goals, extent) = (goals(&subjects), options.extent);
    let [invocations, starts] = [options.invocations, options.starts].map(|count| extent.of(count));
    let mut report = Report { machine, invocations, starts, subjects, goals, ..Report::default() };
    if !report.subjects.is_empty() {
        println!("{}\n{}", report.table(), report.goals());
    }
    if options.wants("analytics") {
        report.analytics = analytics::measure(extent).await;
    }
    // By functions that are optimised as this program is: what takes many milliseconds doesn't depend on how well code is linked.
    if options.wants("pages") {
        report.pages = answers::pages(ours, extent).await;
    }
    if options.wants("questions") {
        report.questions = answers::questions(ours, extent).await;
    }
    if options.wants("bulk") {
        report.bulk = answers::bulk(ours, extent).await;
    }
    // A trial leaves the last measurement's report where it is.
    let file = target.join(if extent == Extent::Trial { "bench/trial.json" } else { "bench/report.json" });
    report.write(&file).expect("the report can be written");
    println!("\n{}", file.display());
}
