//! Randomness that can be repeated.

use std::hash::{BuildHasher as _, RandomState};

/// The seed that `PROPTEST_RNG_SEED` names, or a new one. It is printed, so that a failing run can be repeated.
pub fn seed() -> u64 {
    let seed = match std::env::var("PROPTEST_RNG_SEED") {
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => RandomState::new().hash_one(()),
    };
    println!("PROPTEST_RNG_SEED={seed}");
    seed
}
