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
mod functions;
mod get_item;
mod goals;
mod lambda;
mod measure;
mod options;
mod package;
mod peers;
mod proxy;
mod report;
mod subjects;
mod tables;
mod trial;
mod viral;

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use linklet_lambda::telemetry;
use tracing::Level;

use self::{
    functions::Variables,
    get_item::GetItem,
    goals::goals,
    lambda::Program,
    options::{Options, Variant},
    proxy::CountingProxy,
    report::{Figures, Machine, Report},
    subjects::{Subject, Workload},
    tables::Tables,
    trial::Trial,
};

/// The turns that subjects take.
const ROUNDS: usize = 5;
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
        eprintln!(
            "this machine is {:.0} % busy, so times are longer and goals may be missed by chance",
            machine.busy * 100.0
        );
    }
    // As many links as invocations, so that a link that is followed once stays one.
    let links = options.invocations;
    let tables = Tables::start(links).await;
    let bench = Bench { programs: target()?.join(&options.profile), tables, options, links };
    let mut trials: Vec<_> = bench.subjects()?.into_iter().map(Trial::new).collect();
    let mut get_item = bench.get_item();
    bench.measure(&mut trials, get_item.as_mut()).await?;
    bench.count_calls(&mut trials).await?;

    let mut subjects = trials.iter().map(Trial::figures).collect::<Result<Vec<_>, _>>()?;
    let baselines = subjects.iter().take_while(|subject| subject.name.starts_with("noop")).count();
    subjects.splice(baselines..baselines, get_item.as_ref().map(GetItem::figures));
    bench.report(machine, subjects).await
}

/// The folder that Cargo builds into.
fn target() -> io::Result<PathBuf> {
    let this = env::current_exe()?;
    this.ancestors().nth(2).map(Path::to_owned).ok_or_else(|| io::Error::other("the benchmark isn't in target"))
}

struct Bench {
    options: Options,
    tables: Tables,
    /// The folder of the functions' executables.
    programs: PathBuf,
    /// How many there are to follow.
    links: usize,
}

impl Bench {
    /// What is measured as a function, in the order of the report.
    fn subjects(&self) -> Result<Vec<Subject>, Box<dyn Error>> {
        let (cold, hot) = (Workload::cold_links(self.links), Workload::hot_link());
        let mut subjects = vec![self.baseline("noop"), self.baseline("noop-extension")];
        for (name, function, workload) in [
            ("redirect-cold-link", "redirect", cold.clone()),
            ("redirect-hot-link", "redirect", hot.clone()),
            ("shorten", "shorten", Workload::shorten(&self.tables)),
            ("list", "list", Workload::list(&self.tables)),
            ("stats", "stats", Workload::stats()),
            ("auth", "auth", Workload::me(&self.tables)),
        ] {
            subjects.push(self.function(name, function, workload)?);
        }
        subjects.retain(|subject| self.options.wants(&subject.name));
        for variant in &self.options.variants {
            subjects.push(self.variant(variant, "cold-link", cold.clone())?);
            subjects.push(self.variant(variant, "hot-link", hot.clone())?);
        }
        for peer in ["node", "python"] {
            subjects.extend(self.peer(peer, &cold)?);
        }
        Ok(subjects)
    }

    fn baseline(&self, name: &str) -> Subject {
        let executable = self.programs.join(format!("bench-{name}"));
        Subject {
            name: name.to_owned(),
            program: Program { command: vec![executable.clone()], variables: Variables::new(), memory: 256 },
            package: executable,
            versions: BTreeMap::new(),
            workload: Workload::nothing(),
        }
    }

    fn function(&self, name: &str, function: &str, workload: Workload) -> Result<Subject, Box<dyn Error>> {
        let executable = self.programs.join(function);
        let (mut variables, memory) = functions::variables(function, &self.tables.queues)?;
        variables.extend(self.tables.endpoints());
        let program = Program { command: vec![executable.clone()], variables, memory };
        Ok(Subject { name: name.to_owned(), program, package: executable, versions: BTreeMap::new(), workload })
    }

    fn variant(&self, variant: &Variant, links: &str, workload: Workload) -> Result<Subject, Box<dyn Error>> {
        let mut subject = self.function(&format!("{}-{links}", variant.label), "redirect", workload)?;
        subject.package.clone_from(&variant.program);
        subject.program.command = vec![variant.program.clone()];
        subject.program.variables.extend(variant.variables.clone());
        Ok(subject)
    }

    fn peer(&self, name: &str, workload: &Workload) -> Result<Option<Subject>, Box<dyn Error>> {
        let subject = format!("peer-{name}");
        if !self.options.wants(&subject) {
            return Ok(None);
        }
        let Some(peer) = peers::install(name)? else { return Ok(None) };
        let (mut variables, memory) = functions::variables("redirect", &self.tables.queues)?;
        variables.extend(self.tables.endpoints());
        variables.insert("CLICK_SALT".to_owned(), linklet_test_support::TOKEN_SECRET.to_owned());
        variables.extend(peer.variables);
        let program = Program { command: peer.command, variables, memory };
        let (package, versions, workload) = (peer.package_dir, peer.versions, workload.clone());
        Ok(Some(Subject { name: subject, program, package, versions, workload }))
    }

    fn get_item(&self) -> Option<GetItem> {
        let program = self.programs.join("bench-get-item");
        let is_wanted = self.options.wants(GetItem::NAME);
        is_wanted.then(|| GetItem::new(program, self.tables.endpoints(), self.links))
    }

    async fn measure(&self, trials: &mut [Trial], mut get_item: Option<&mut GetItem>) -> Result<(), Box<dyn Error>> {
        let each_round = |all: usize| all.div_ceil(ROUNDS);
        for round in 1..=ROUNDS {
            eprintln!("round {round} of {ROUNDS}");
            for _ in 0..each_round(self.options.starts) {
                for trial in &mut *trials {
                    trial.start_cold().await?;
                }
            }
            for trial in &mut *trials {
                trial.run_warm(each_round(self.options.invocations)).await?;
            }
            if let Some(get_item) = &mut get_item {
                get_item.run(each_round(self.options.invocations))?;
            }
        }
        Ok(())
    }

    async fn count_calls(&self, trials: &mut [Trial]) -> Result<(), Box<dyn Error>> {
        let (proxy, address) = CountingProxy::start(self.tables.dynamodb()).await?;
        for trial in trials {
            eprintln!("calls of {}", trial.name());
            trial.count_calls(&proxy, address).await?;
        }
        Ok(())
    }

    async fn report(&self, machine: Machine, subjects: Vec<Figures>) -> Result<(), Box<dyn Error>> {
        let goals = goals(&subjects);
        let mut report = Report {
            machine,
            invocations: self.options.invocations,
            starts: self.options.starts,
            subjects,
            goals,
            analytics: Vec::new(),
        };
        println!("{}\n{}", report.table(), report.goals());
        if self.options.wants("analytics") {
            report.analytics = analytics::measure().await;
        }
        if self.options.wants("viral") {
            viral::simulate();
        }
        let file = target()?.join("bench/report.json");
        report.write(&file)?;
        println!("\n{}", file.display());
        Ok(())
    }
}
