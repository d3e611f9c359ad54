//! libFuzzer around one target, which the environment variable `FUZZ_TARGET` names. `make fuzz` builds and runs it.

#![no_main]

use std::sync::LazyLock;

use linklet_fuzz::{Target, target};

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("there is no target {name:?}"))
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| (CHOSEN.run)(input));
