//! `simulate [--real] [--seconds=N] TRACE …`: plays traces, and prints what came of each as a line of JSON. `infra/simulate.py` shows it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to whoever runs it")]

use std::{process::ExitCode, time::Duration};

use linklet_simulate::{play, play_in_real_time, traces};

/// Half of the time would go into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut outcome = ExitCode::SUCCESS;
    let (options, names): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    for name in names {
        let Some(mut trace) = traces::all().into_iter().find(|trace| trace.name == name) else {
            eprintln!("{name} is no trace");
            return ExitCode::FAILURE;
        };
        let seconds = options.iter().find_map(|option| option.strip_prefix("--seconds=")?.parse().ok());
        trace.arrivals.lasts = seconds.map_or(trace.arrivals.lasts, Duration::from_secs);
        let is_real = options.iter().any(|option| option == "--real");
        let report = if is_real { play_in_real_time(&trace) } else { play(&trace) };
        println!("{}", report.numbers);
        for fault in report.faults {
            eprintln!("{name}: {fault}");
            outcome = ExitCode::FAILURE;
        }
    }
    outcome
}
