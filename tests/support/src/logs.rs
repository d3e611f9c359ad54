use std::io;
use std::sync::{Arc, Mutex};

use linklet_lambda::telemetry;
use serde_json::Value;
use tracing::{Level, subscriber::DefaultGuard};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::faults::lock;

/// What this thread logs from now on, as long as this lives. For tests whose runtime has one thread, in a process in which
/// every test captures: a line that is first written while nobody listens may stay switched off.
pub struct CapturedLogs {
    written: LogSink,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct LogSink(Arc<Mutex<Vec<u8>>>);

impl io::Write for LogSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CapturedLogs {
    /// Starts to capture.
    pub fn start() -> Self {
        let written = LogSink::default();
        let writer = written.clone();
        let lines = telemetry::lines("test", Level::DEBUG, move || writer.clone());
        let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines));
        Self { written, _guard: guard }
    }

    /// The lines so far.
    ///
    /// # Panics
    /// When one is no JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    /// The only line with this message so far.
    ///
    /// # Panics
    /// When there are more or none.
    pub fn only(&self, message: &str) -> Value {
        let mut lines = self.lines();
        lines.retain(|line| line["message"] == message);
        assert_eq!(lines.len(), 1, "{message}: {}", self.text());
        lines.remove(0)
    }

    /// All that was written so far.
    ///
    /// # Panics
    /// When it is no text.
    pub fn text(&self) -> String {
        String::from_utf8(lock(&self.written.0).clone()).expect("logs are text")
    }

    /// The messages of this level (`WARN`, `ERROR`) so far.
    pub fn messages(&self, level: &str) -> Vec<String> {
        let of_level = |line: &Value| line["level"] == level;
        let message = |line: Value| line["message"].as_str().unwrap_or_default().to_owned();
        self.lines().into_iter().filter(of_level).map(message).collect()
    }
}
