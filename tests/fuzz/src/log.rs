//! What is logged while something runs.

use std::{cell::RefCell, collections::BTreeMap, io, sync::Once};

use linklet_lambda::telemetry;
use serde_json::{Deserializer, Value};
use serde_with::rust::maps_duplicate_key_is_error;
use tracing::Level;
use tracing_subscriber::{layer::SubscriberExt as _, util::SubscriberInitExt as _};

thread_local! {
    static WRITTEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ThisThread;

impl io::Write for ThisThread {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        WRITTEN.with_borrow_mut(|written| written.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs something on this thread and returns the members of each line that it logged. Whatever goes in, a line is one JSON
/// object without control characters, and no member is in it twice.
pub fn logged(run: impl FnOnce()) -> Vec<BTreeMap<String, Value>> {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::registry().with(telemetry::lines("fuzz", Level::DEBUG, || ThisThread)).init();
    });
    WRITTEN.take();
    run();
    let text = String::from_utf8(WRITTEN.take()).expect("a log is text");
    text.split_terminator('\n').map(members).collect()
}

fn members(line: &str) -> BTreeMap<String, Value> {
    assert!(!line.chars().any(char::is_control), "a control character in {line:?}");
    let mut json = Deserializer::from_str(line);
    let members = maps_duplicate_key_is_error::deserialize(&mut json).expect("a line is a JSON object");
    json.end().expect("a line is one object");
    members
}
