//! Times and their percentiles, and what Linux says about a process.

use std::{fs, io, time::Duration};

/// How long something took, many times.
#[derive(Debug, Default, Clone)]
pub struct Samples(Vec<Duration>);

impl Samples {
    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The smallest time that this many percent of all don't exceed; `None` if there are none.
    pub fn percentile(&self, percent: usize) -> Option<Duration> {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }
}

/// How long the threads of a process have run. Those that have ended don't count.
///
/// # Errors
/// When there is no such process, or no Linux.
pub fn cpu_time(process: u32) -> io::Result<Duration> {
    let mut total = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let thread = thread?.path();
        match fs::read_to_string(thread.join("schedstat")) {
            Ok(times) => total += Duration::from_nanos(first_number(&times)?),
            // It has ended since it was listed.
            Err(_) if !thread.exists() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The most memory that a process has had so far, in bytes: what was in RAM at once, shared libraries included.
///
/// # Errors
/// When there is no such process, or no Linux.
pub fn peak_memory(process: u32) -> io::Result<u64> {
    status(process, "VmHWM:")
}

/// The memory that a process has now, in bytes, of the same kinds.
///
/// # Errors
/// When there is no such process, or no Linux.
pub fn memory(process: u32) -> io::Result<u64> {
    status(process, "VmRSS:")
}

fn status(process: u32, name: &str) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    Ok(first_number(kilobytes)? * 1_024)
}

fn first_number(text: &str) -> io::Result<u64> {
    let number = text.split_whitespace().next().and_then(|number| number.parse().ok());
    number.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "Linux reports a number here"))
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

        assert_eq!(times.percentile(50), Some(Duration::from_millis(2)));
        assert_eq!(times.percentile(99), Some(Duration::from_millis(4)));
        assert_eq!(samples([7]).percentile(50), Some(Duration::from_millis(7)));
        assert_eq!(samples([]).percentile(50), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_works_uses_time_and_memory() {
        let before = cpu_time(std::process::id()).unwrap();
        let mut sum = 0_u64;
        while cpu_time(std::process::id()).unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }

        let this = std::process::id();
        let memory = memory(this).unwrap();
        assert!(memory > 100_000 && memory <= peak_memory(this).unwrap());
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert!(cpu_time(u32::MAX).is_err());
        assert!(peak_memory(u32::MAX).is_err());
    }
}
