//! The measure of DynamoDB itself: one read after another, by a program that does nothing else.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::measure::Samples;
use crate::options::Extent;
use crate::report::Figures;
use crate::tables::{Tables, code};
use crate::trial::{Neighbour, WARM_UP};

/// Reads of another link each time, so far.
pub struct GetItem {
    program: PathBuf,
    extent: Extent,
    times: Samples,
    busy: Duration,
    reads: u32,
}

impl GetItem {
    pub const NAME: &str = "get-item";

    /// With the program in this folder.
    pub fn new(programs: &Path, extent: Extent) -> Self {
        let program = programs.join("bench-get-item");
        Self { program, extent, times: Samples::default(), busy: Duration::ZERO, reads: 0 }
    }

    /// Has a process of its own read so many links. The neighbour works before each.
    pub async fn run(&mut self, tables: &Tables, reads: usize, neighbour: &mut Neighbour) {
        let mut reader = Reader::start(&self.program, tables);
        let warm_up = self.extent.of(WARM_UP);
        for number in 0..warm_up {
            reader.read(&code(number % tables.links));
        }
        for number in warm_up..warm_up + reads {
            neighbour.work().await;
            let (time, busy) = reader.read(&code(number % tables.links));
            self.times.push(time);
            self.busy += busy;
            self.reads += 1;
        }
    }

    /// What has come out.
    pub fn figures(&self) -> Figures {
        Figures {
            name: Self::NAME.to_owned(),
            warm_us_p50: self.times.micros(50),
            warm_us_p90: self.times.micros(90),
            warm_us_p99: self.times.micros(99),
            cpu_ms_per_1k: (self.reads > 0).then(|| self.busy.as_secs_f64() * 1e6 / f64::from(self.reads)),
            ..Figures::default()
        }
    }
}

/// The running program. It ends with this.
struct Reader {
    process: Child,
    keys: ChildStdin,
    times: BufReader<ChildStdout>,
}

impl Reader {
    fn start(program: &Path, tables: &Tables) -> Self {
        let mut process = Command::new(program)
            .arg("LinksTable")
            .env_clear()
            .envs([("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "secret")])
            .env("AWS_REGION", "eu-central-1")
            .envs(tables.endpoints())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bench-get-item starts");
        let (keys, times) = process.stdin.take().zip(process.stdout.take()).expect("it has pipes");
        Self { process, keys, times: BufReader::new(times) }
    }

    /// Has a link read. Nothing else is to be done meanwhile: DynamoDB has a thread of its own.
    fn read(&mut self, code: &str) -> (Duration, Duration) {
        writeln!(self.keys, "LINK#{code}").expect("bench-get-item takes a key");
        let mut line = String::new();
        self.times.read_line(&mut line).expect("bench-get-item answers");
        let mut nanos = line.split_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
        let (time, busy) = (nanos.next().flatten(), nanos.next().flatten());
        time.zip(busy).expect("bench-get-item says how long a read took")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
