//! Times and their percentiles, and what Linux says about a process.

use std::{fs, time::Duration};

/// How long something took, many times.
#[derive(Debug, Default, Clone)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The smallest time that this many percent of all don't exceed; `None` if there are none.
    fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    /// A percentile in milliseconds.
    pub fn millis(&self, percent: usize) -> Option<f64> {
        self.percentile(percent).map(|time| time.as_secs_f64() * 1e3)
    }

    /// A percentile in microseconds.
    pub fn micros(&self, percent: usize) -> Option<f64> {
        self.percentile(percent).map(|time| time.as_secs_f64() * 1e6)
    }
}

/// How long the threads of a process have run. Those that have ended don't count.
///
/// # Panics
/// When there is no such process, or no Linux.
pub fn cpu_time(process: u32) -> Duration {
    let mut total = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task")).expect("a process has threads") {
        let thread = thread.expect("a thread has a name").path();
        match fs::read_to_string(thread.join("schedstat")) {
            Ok(times) => total += Duration::from_nanos(first_number(&times)),
            // It has ended since it was listed.
            Err(error) => assert!(!thread.exists(), "{error}"),
        }
    }
    total
}

/// The most memory that a process has had so far, in bytes: what was in RAM at once, shared libraries included.
///
/// # Panics
/// When there is no such process, or no Linux.
pub fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process has a status");
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    first_number(kilobytes) * 1_024
}

fn first_number(text: &str) -> u64 {
    let number = text.split_whitespace().next().and_then(|number| number.parse().ok());
    number.expect("Linux reports a number here")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(millis: impl IntoIterator<Item = u64>) -> Samples {
        Samples(millis.into_iter().map(Duration::from_millis).collect())
    }

    #[test]
    fn a_percentile_is_one_of_the_times_whatever_their_order() {
        let times = samples((1..=100).rev());

        for (percent, expected) in [(0, 1), (1, 1), (50, 50), (90, 90), (99, 99), (100, 100)] {
            assert_eq!(times.percentile(percent), Some(Duration::from_millis(expected)), "p{percent}");
        }
    }

    #[test]
    fn of_few_times_the_slowest_is_the_99th_percentile() {
        let times = samples([4, 1, 3, 2]);

        assert_eq!((times.millis(50), times.micros(99)), (Some(2.0), Some(4_000.0)));
        assert_eq!(samples([7]).millis(50), Some(7.0));
        assert_eq!(samples([]).millis(50), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_works_uses_time_and_memory() {
        let this = std::process::id();
        let before = cpu_time(this);
        let mut sum = 0_u64;
        while cpu_time(this) == before {
            sum = std::hint::black_box(sum + 1);
        }

        assert!(peak_memory(this) > 100_000);
    }
}
