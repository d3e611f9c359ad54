//! On which processors all of this runs.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// While this lives, this thread runs on one processor only, and so do the threads and processes that it starts. All of them
/// wait for each other, so a second processor would only have to be woken, and how long that takes depends on how deep it
/// sleeps.
#[cfg(target_os = "linux")]
pub struct OneProcessor {
    before: CpuSet,
}

#[cfg(target_os = "linux")]
impl OneProcessor {
    /// Chooses the last one, since the first ones have most of the interrupts.
    pub fn choose() -> Self {
        let before = sched_getaffinity(None).expect("Linux says where a thread runs");
        let mut one = CpuSet::new();
        one.set((0..CpuSet::MAX_CPU).rev().find(|processor| before.is_set(*processor)).unwrap_or(0));
        sched_setaffinity(None, &one).expect("Linux lets a thread choose");
        Self { before }
    }
}

#[cfg(target_os = "linux")]
impl Drop for OneProcessor {
    fn drop(&mut self) {
        // What runs without it only runs on fewer processors than it could.
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// The benchmark is for Linux, and elsewhere it should compile, since the checks take in all crates.
#[cfg(not(target_os = "linux"))]
pub struct OneProcessor;

#[cfg(not(target_os = "linux"))]
impl OneProcessor {
    pub fn choose() -> Self {
        panic!("this needs Linux")
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_for_what_starts_meanwhile() {
        let processors = || sched_getaffinity(None).unwrap().count();
        let before = processors();

        let one = OneProcessor::choose();
        let started = std::thread::spawn(processors).join().unwrap();
        drop(one);

        assert_eq!((started, processors()), (1, before));
    }
}
