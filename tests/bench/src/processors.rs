//! On which processors all of this runs.

#[cfg(target_os = "linux")]
pub use linux::OneProcessor;
#[cfg(not(target_os = "linux"))]
pub use other::OneProcessor;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// While this lives, this thread runs on one processor only, and so do the threads and processes that it starts. All of them
    /// wait for each other, so a second processor would only have to be woken, and how long that takes depends on how deep it
    /// sleeps.
    pub struct OneProcessor {
        before: CpuSet,
    }

    impl OneProcessor {
        /// Chooses the last one, since the first ones have most of the interrupts.
        ///
        /// # Errors
        /// When Linux doesn't allow it.
        pub fn choose() -> io::Result<Self> {
            let before = sched_getaffinity(None)?;
            let mut one = CpuSet::new();
            one.set((0..CpuSet::MAX_CPU).rev().find(|processor| before.is_set(*processor)).unwrap_or(0));
            sched_setaffinity(None, &one)?;
            Ok(Self { before })
        }
    }

    impl Drop for OneProcessor {
        fn drop(&mut self) {
            // What runs without it only runs on fewer processors than it could.
            let _ = sched_setaffinity(None, &self.before);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn one_processor_is_for_what_starts_meanwhile() {
            let processors = || sched_getaffinity(None).unwrap().count();
            let before = processors();

            let one = OneProcessor::choose().unwrap();
            let started = std::thread::spawn(processors).join().unwrap();
            drop(one);

            assert_eq!((started, processors()), (1, before));
        }
    }
}

/// The benchmark is for Linux, and elsewhere it should compile, since the checks take in all crates.
#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;

    pub struct OneProcessor;

    impl OneProcessor {
        pub fn choose() -> io::Result<Self> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "this needs Linux"))
        }
    }
}
