//! What is logged while something runs.

use std::{cell::RefCell, fmt, io, sync::Once};

use linklet_lambda::telemetry;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;
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
pub fn logged(run: impl FnOnce()) -> Vec<Vec<(String, Value)>> {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::registry().with(telemetry::lines("fuzz", Level::DEBUG, || ThisThread)).init();
    });
    WRITTEN.take();
    run();
    let text = String::from_utf8(WRITTEN.take()).expect("a log is text");
    text.split_terminator('\n').map(members).collect()
}

fn members(line: &str) -> Vec<(String, Value)> {
    assert!(!line.chars().any(char::is_control), "a control character in {line:?}");
    let Members(members) = serde_json::from_str(line).expect("a line is a JSON object");
    for (position, (name, _)) in members.iter().enumerate() {
        assert!(members[..position].iter().all(|(earlier, _)| earlier != name), "{name} is twice in {line}");
    }
    members
}

/// An object's members as they are written; `Value` would keep the last of two.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}
