//! The measure of DynamoDB itself: one read after another, by a program that does nothing else.

use std::{
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use crate::{
    measure::Samples,
    neighbour::Neighbour,
    options::Extent,
    report::Figures,
    tables::{Tables, code},
    trial::{TrialError, WARM_UP},
};

/// Reads of another link each time, so far.
pub struct GetItem {
    program: PathBuf,
    extent: Extent,
    times: Samples,
    busy: Duration,
    reads: u32,
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum GetItemError {
    #[error("{program} can't be talked to")]
    Program { program: String, source: io::Error },
    #[error("{program} has not said how long a read took, but {line:?}")]
    Line { program: String, line: String },
    #[error("the neighbour has failed")]
    Neighbour(#[source] TrialError),
}

impl GetItem {
    pub const NAME: &str = "get-item";

    /// With the program in this folder.
    pub fn new(programs: &Path, extent: Extent) -> Self {
        Self {
            program: programs.join("bench-get-item"),
            extent,
            times: Samples::default(),
            busy: Duration::ZERO,
            reads: 0,
        }
    }

    /// Has a process of its own read so many links. The neighbour works before each.
    pub async fn run(&mut self, tables: &Tables, reads: usize, neighbour: &mut Neighbour) -> Result<(), GetItemError> {
        let mut reader = Reader::start(&self.program, tables).map_err(|source| self.failed(source))?;
        let warm_up = self.extent.of(WARM_UP);
        for number in 0..warm_up {
            self.read(&mut reader, tables, number)?;
        }
        for number in warm_up..warm_up + reads {
            neighbour.work().await.map_err(GetItemError::Neighbour)?;
            let (time, busy) = self.read(&mut reader, tables, number)?;
            self.times.push(time);
            self.busy += busy;
            self.reads += 1;
        }
        Ok(())
    }

    fn read(&self, reader: &mut Reader, tables: &Tables, number: usize) -> Result<(Duration, Duration), GetItemError> {
        let line = reader.read(&code(number % tables.links)).map_err(|source| self.failed(source))?;
        measurement(line.trim()).ok_or_else(|| GetItemError::Line { program: self.program.display().to_string(), line })
    }

    fn failed(&self, source: io::Error) -> GetItemError {
        GetItemError::Program { program: self.program.display().to_string(), source }
    }

    /// What has come out.
    pub fn figures(&self) -> Figures {
        let micros = |percent| self.times.percentile(percent).map(|time| time.as_secs_f64() * 1e6);
        Figures {
            name: Self::NAME.to_owned(),
            warm_us_p50: micros(50),
            warm_us_p90: micros(90),
            warm_us_p99: micros(99),
            cpu_ms_per_1k: (self.reads > 0).then(|| self.busy.as_secs_f64() * 1e6 / f64::from(self.reads)),
            ..Figures::default()
        }
    }
}

/// A line of what the program prints.
fn measurement(line: &str) -> Option<(Duration, Duration)> {
    let (time, busy) = line.split_once(' ')?;
    Some((Duration::from_nanos(time.parse().ok()?), Duration::from_nanos(busy.parse().ok()?)))
}

/// The running program. It ends with this.
struct Reader {
    process: Child,
    keys: ChildStdin,
    times: BufReader<ChildStdout>,
}

impl Reader {
    fn start(program: &Path, tables: &Tables) -> io::Result<Self> {
        let mut process = Command::new(program)
            .arg("LinksTable")
            .env_clear()
            .envs([
                ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
                ("AWS_REGION", "eu-central-1"),
            ])
            .envs(tables.endpoints())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(keys), Some(times)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("a process without pipes"));
        };
        Ok(Self { process, keys, times: BufReader::new(times) })
    }

    /// Has a link read. Nothing else is to be done meanwhile: DynamoDB has a thread of its own.
    fn read(&mut self, code: &str) -> io::Result<String> {
        writeln!(self.keys, "LINK#{code}")?;
        let mut line = String::new();
        self.times.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
