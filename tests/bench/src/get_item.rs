//! The measure of DynamoDB itself: one read after another, by a program that does nothing else.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    measure::Samples,
    report::Figures,
    tables::{Tables, code},
    trial::WARM_UP,
};

/// Reads of another link each time, so far.
pub struct GetItem {
    program: PathBuf,
    times: Samples,
}

/// The program has not done it.
#[derive(Debug, thiserror::Error)]
#[error("{} has failed: {reason}", program.display())]
pub struct GetItemError {
    program: PathBuf,
    reason: String,
}

impl GetItem {
    pub const NAME: &str = "get-item";

    /// With the program in this folder.
    pub fn new(programs: &Path) -> Self {
        Self { program: programs.join("bench-get-item"), times: Samples::default() }
    }

    /// Has a process of its own read so many links.
    pub fn run(&mut self, tables: &Tables, reads: usize) -> Result<(), GetItemError> {
        let keys: String =
            (0..WARM_UP + reads).map(|number| format!("LINK#{}\n", code(number % tables.links))).collect();
        let failed = |reason: String| GetItemError { program: self.program.clone(), reason };
        let output = self.output(tables, &keys).map_err(|error| failed(error.to_string()))?;
        let nanos: Vec<u64> = output.lines().filter_map(|line| line.parse().ok()).collect();
        if nanos.len() != reads {
            return Err(failed(format!("{} of {reads} reads are reported", nanos.len())));
        }
        self.times.extend(nanos.into_iter().map(Duration::from_nanos));
        Ok(())
    }

    fn output(&self, tables: &Tables, keys: &str) -> std::io::Result<String> {
        let mut process = Command::new(&self.program)
            .args(["LinksTable", &WARM_UP.to_string()])
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
        // Dropped at once: the program reads until its end.
        if let Some(mut input) = process.stdin.take() {
            input.write_all(keys.as_bytes())?;
        }
        let output = process.wait_with_output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// What has come out.
    pub fn figures(&self) -> Figures {
        let micros = |percent| self.times.percentile(percent).map(|time| time.as_secs_f64() * 1e6);
        Figures {
            name: Self::NAME.to_owned(),
            warm_us_p50: micros(50),
            warm_us_p90: micros(90),
            warm_us_p99: micros(99),
            ..Figures::default()
        }
    }
}
