//! How close Linklet's functions are to what is possible: `make bench`.
//!
//! Each function is started and handed events as Lambda does it ([`lambda`]), with real answers from a DynamoDB on this machine.
//! Beside them run an empty function, a bare read, and the same redirect in Node and Python. All take turns, so that whatever
//! disturbs the machine disturbs them alike.

#![expect(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a benchmark prints, ends if anything goes wrong, and counts to some millions"
)]

mod analytics;
mod answers;
mod bulk;
mod functions;
mod get_item;
mod goals;
mod hosts;
mod lambda;
mod measure;
mod neighbour;
mod options;
mod package;
mod pages;
mod peers;
mod processors;
mod proxy;
mod questions;
mod report;
mod soak;
mod subjects;
mod tables;
mod trial;
mod viral;
mod workloads;

use std::{
    env,
    error::Error,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use linklet_lambda::telemetry;
use tracing::Level;

use self::{
    get_item::GetItem,
    goals::goals,
    neighbour::Neighbour,
    options::{Extent, Options},
    processors::OneProcessor,
    proxy::CountingProxy,
    report::{Figures, Machine, Report},
    subjects::{Cast, Subject},
    tables::Tables,
    trial::{COUNTED, Trial, WARM_UP},
};

/// If a larger part of the processors does something else, times say little.
const BUSY: f64 = 0.1;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_max_level(Level::ERROR).with_writer(io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {}", telemetry::chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(env::args().skip(1))?;
    let machine = Machine::this();
    if machine.busy > BUSY {
        let busy = machine.busy * 100.0;
        eprintln!("this machine is {busy:.0} % busy, so times are longer and goals may be missed by chance");
    }
    let programs = target()?.join(&options.profile);
    let get_item = options.wants(GetItem::NAME).then(|| GetItem::new(&programs, options.extent));
    let cast = Cast::new(&options, programs)?;
    let bench = Bench { cast, trials: Vec::new(), get_item, options: &options };
    let figures = if options.has_rounds() { bench.play().await? } else { Vec::new() };
    report(&options, machine, figures).await
}

/// The folder that Cargo builds into.
fn target() -> io::Result<PathBuf> {
    let this = env::current_exe()?;
    this.ancestors().nth(2).map(Path::to_owned).ok_or_else(|| io::Error::other("the benchmark isn't in target"))
}

struct Bench<'a> {
    cast: Cast<'a>,
    /// One for each subject.
    trials: Vec<Trial>,
    get_item: Option<GetItem>,
    options: &'a Options,
}

impl Bench<'_> {
    async fn play(mut self) -> Result<Vec<Figures>, Box<dyn Error>> {
        let _one = OneProcessor::choose()?;
        let rounds = self.options.rounds();
        for round in 1..=rounds {
            eprintln!("round {round} of {rounds}");
            self.play_round().await?;
        }
        let subjects = self.count_calls().await?;
        self.figures(&subjects)
    }

    async fn play_round(&mut self) -> Result<(), Box<dyn Error>> {
        let extent = self.options.extent;
        let invocations = extent.of(self.options.invocations).div_ceil(self.options.rounds());
        // As many links as a process gets events, so that none of them is followed twice.
        let tables = Tables::start(extent.of(WARM_UP) + invocations).await;
        let subjects = self.cast.subjects(&tables)?;
        self.trials.resize_with(subjects.len(), || Trial::of(extent));
        for _ in 0..extent.of(self.options.starts).div_ceil(self.options.rounds()) {
            for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
                trial.start_cold(subject).await?;
            }
        }
        let mut neighbour = Neighbour::start(self.cast.neighbour(&tables)?).await?;
        for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
            trial.run_warm(subject, invocations, &mut neighbour).await?;
        }
        if let Some(get_item) = &mut self.get_item {
            get_item.run(&tables, invocations, &mut neighbour).await?;
        }
        Ok(())
    }

    async fn count_calls(&mut self) -> Result<Vec<Subject>, Box<dyn Error>> {
        let tables = Tables::start(self.options.extent.of(COUNTED) + 1).await;
        let (proxy, address) = CountingProxy::start(tables.dynamodb()).await?;
        let subjects = self.cast.subjects(&tables)?;
        for (trial, subject) in self.trials.iter_mut().zip(&subjects) {
            trial.count_calls(subject, &proxy, address).await?;
        }
        Ok(subjects)
    }

    fn figures(&self, subjects: &[Subject]) -> Result<Vec<Figures>, Box<dyn Error>> {
        let figures = self.trials.iter().zip(subjects).map(|(trial, subject)| trial.figures(subject));
        let mut figures = figures.collect::<Result<Vec<_>, _>>()?;
        let baselines = figures.iter().take_while(|figures| figures.name.starts_with("noop")).count();
        figures.splice(baselines..baselines, self.get_item.as_ref().map(GetItem::figures));
        Ok(figures)
    }
}

async fn report(options: &Options, machine: Machine, subjects: Vec<Figures>) -> Result<(), Box<dyn Error>> {
    let goals = goals(&subjects);
    let [invocations, starts] = [options.invocations, options.starts].map(|count| options.extent.of(count));
    let mut report = Report { machine, invocations, starts, subjects, goals, ..Report::default() };
    if !report.subjects.is_empty() {
        println!("{}\n{}", report.table(), report.goals());
    }
    if options.wants("analytics") {
        report.analytics = analytics::measure(options.extent).await;
    }
    if options.wants("viral") {
        viral::simulate(options.extent);
    }
    // Optimised as this program is: neither memory nor what takes many milliseconds depends on how well the code is linked.
    let this = env::current_exe()?;
    let programs = this.parent().unwrap_or(&this);
    if options.wants("pages") {
        report.pages = pages::measure_pages(programs, options.extent).await?;
    }
    if options.wants("questions") {
        report.questions = questions::measure_questions(programs, options.extent).await?;
    }
    if options.wants("bulk") {
        report.bulk = bulk::measure_bulk(programs, options.extent).await?;
    }
    if options.wants("soak") {
        report.soak = soak::soak(programs, options.extent).await?;
    }
    let is_trial = options.extent == Extent::Trial;
    // A trial leaves the last measurement's report where it is.
    let file = target()?.join(if is_trial { "bench/trial.json" } else { "bench/report.json" });
    report.write(&file)?;
    println!("\n{}", file.display());
    match report.soak.iter().find(|soaked| !soaked.levels_off) {
        // So few events say nothing of growth.
        Some(growing) if !is_trial => Err(format!("the memory of {} grows", growing.name).into()),
        _ => Ok(()),
    }
}
