//! Logging: one JSON object per line, with the same members in all functions.
//!
//! A line has `level`, `time`, `service`, the `commit` that is deployed, the fields of its spans and its own fields, including `message`. What is logged of a
//! request or batch has a `correlation_id`: that of its span, its own, or else those of the batch. All values are JSON-escaped, so that a client can't forge a line. Logs are paid for by the byte, so a field that
//! has nothing to say is left out. `level` and `time` stay: Lambda would add its own.

use std::{env, error::Error, fmt::Write as _, time::Duration};

use linklet_domain::{CorrelationId, Timestamp};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::{config, metrics};

/// Starts logging to standard output, which Lambda sends to CloudWatch Logs. The environment variable `LOG_LEVEL` sets the
/// level: `error`, `warn`, `info` (default) or `debug`.
pub fn init(service: &'static str) {
    let level = env::var("LOG_LEVEL").ok().and_then(|level| level.parse().ok()).unwrap_or(Level::INFO);
    let subscriber = tracing_subscriber::registry().with(lines(service, level, std::io::stdout));
    // A second call (in tests) keeps the first subscriber.
    if subscriber.try_init().is_err() {
        tracing::debug!("logging was started before");
    }
}

/// A layer that writes log lines as JSON.
pub fn lines<S, W>(service: &'static str, level: Level, writer: W) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let metrics_are_on = metrics::are_on();
    let commit = config::optional("COMMIT");
    wanted_lines((service, commit), writer, move |metadata| is_wanted(metadata, level, metrics_are_on))
}

fn wanted_lines<S, W>(
    (service, commit): (&'static str, Option<String>),
    writer: W,
    is_wanted: impl Fn(&Metadata<'_>) -> bool + Send + Sync + 'static,
) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer()
        .fmt_fields(JsonFields)
        .event_format(JsonLine { service, commit: commit.map(commit_member).unwrap_or_default() })
        .with_writer(writer)
        .with_filter(filter_fn(is_wanted))
}

/// Whether a line is written. Libraries may log only warnings and errors, since their lower levels contain requests with tokens
/// and addresses. While metrics are on, the lines that have them are written at any level, since alarms need them.
fn is_wanted(metadata: &Metadata<'_>, level: Level, metrics_are_on: bool) -> bool {
    let is_ours = metadata.target().starts_with("linklet");
    let has_metrics = is_ours && metrics_are_on && metadata.fields().field("emf").is_some();
    has_metrics || *metadata.level() <= if is_ours { level } else { level.min(Level::WARN) }
}

/// The span of a request, a message or a scheduled call: all that is logged within it has this correlation id. Such spans must
/// not be nested, and their lines have no correlation id of their own, since JSON members must not be repeated.
pub fn span_of(correlation_id: &CorrelationId) -> Span {
    tracing::info_span!("request", correlation_id = correlation_id.as_str())
}

/// A duration for a log line, exact to a tenth of a millisecond.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}

/// Formats an error and the chain of its sources in one line, separated by colons.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a String can't fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// What a call has returned; nothing after a warning with this message if it has failed.
pub fn warn_of<T>(outcome: Result<T, impl Error + 'static>, message: &'static str) -> Option<T> {
    outcome.inspect_err(|error| tracing::warn!(error = chain(error), "{message}")).ok()
}

const CORRELATION_ID: &str = "correlation_id";

struct JsonLine {
    service: &'static str,
    /// The member with the commit that is deployed; nothing if that isn't known.
    commit: String,
}

fn commit_member(commit: String) -> String {
    format!(r#","commit":{}"#, serde_json::Value::from(commit))
}

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let (level, service, commit) = (event.metadata().level(), self.service, &self.commit);
        write!(line, r#"{{"level":"{level}","time":"{}","service":"{service}"{commit}"#, Timestamp::now())?;
        let mut has_id = event.metadata().fields().field(CORRELATION_ID).is_some();
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                line.write_str(fields)?;
                has_id |= fields.contains(CORRELATION_ID);
            }
        }
        if !has_id && let Some(ids) = metrics::requests() {
            write!(line, r#","{CORRELATION_ID}":{}"#, serde_json::Value::from(ids))?;
        }
        context.format_fields(line.by_ref(), event)?;
        writeln!(line, "}}")
    }
}

/// Writes each field as `,"name":value`.
struct JsonFields;

impl<'writer> FormatFields<'writer> for JsonFields {
    fn format_fields<R: tracing_subscriber::field::RecordFields>(
        &self,
        writer: Writer<'writer>,
        fields: R,
    ) -> std::fmt::Result {
        let mut visitor = JsonVisitor { writer, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct JsonVisitor<'writer> {
    writer: Writer<'writer>,
    result: std::fmt::Result,
}

impl JsonVisitor<'_> {
    fn write(&mut self, field: &Field, value: impl Into<serde_json::Value>) {
        if self.result.is_ok() {
            let value = without_controls(value.into().to_string());
            self.result = write!(self.writer, r#","{}":{value}"#, field.name());
        }
    }
}

/// Escapes DEL and the C1 control characters, which JSON doesn't escape, and some of which control a terminal that shows a log.
fn without_controls(json: String) -> String {
    if !json.contains(char::is_control) {
        return json;
    }
    let escape = |character: char| match character {
        control if control.is_control() => format!("\\u{:04x}", u32::from(control)),
        other => other.to_string(),
    };
    json.chars().map(escape).collect()
}

impl Visit for JsonVisitor<'_> {
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.write(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.write(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.write(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.write(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            // JSON members that `metrics` has formatted. They contain no external input.
            "emf" if self.result.is_ok() => self.result = self.writer.write_str(value),
            _ => self.write(field, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.write(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::Value;

    use super::*;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(log: impl FnOnce()) -> Vec<Value> {
        logged_at(Level::DEBUG, false, log)
    }

    fn logged_at(level: Level, metrics_are_on: bool, log: impl FnOnce()) -> Vec<Value> {
        let captured = Captured::default();
        let writer = captured.clone();
        let is_wanted = move |metadata: &Metadata<'_>| is_wanted(metadata, level, metrics_are_on);
        let lines = wanted_lines(("test", Some("1f0c3a9d".to_owned())), move || writer.clone(), is_wanted);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), log);
        let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
        assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_is_flat_json_with_its_spans_members() {
        let lines = logged(|| {
            let _span = tracing::info_span!("request", correlation_id = %"req-1").entered();
            tracing::info!(status = 200_u16, cold_start = true, "answered");
        });

        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["service"], "test");
        assert_eq!(lines[0]["commit"], "1f0c3a9d");
        assert_eq!(lines[0]["correlation_id"], "req-1");
        assert_eq!(lines[0]["status"], 200);
        assert_eq!(lines[0]["cold_start"], true);
        assert_eq!(lines[0]["message"], "answered");
    }

    #[test]
    fn metrics_become_members_of_the_line() {
        let lines = logged(|| tracing::info!(emf = Some(r#","_aws":{"Timestamp":1},"Errors":1"#), "answered"));

        assert_eq!(lines[0]["_aws"]["Timestamp"], 1);
        assert_eq!(lines[0]["Errors"], 1);
        assert_eq!(lines[0]["message"], "answered");
    }

    #[test]
    fn lines_with_metrics_are_written_at_every_level_while_metrics_are_on() {
        for (metrics_are_on, expected) in [(true, vec!["answered"]), (false, Vec::new())] {
            let lines = logged_at(Level::ERROR, metrics_are_on, || {
                tracing::info!(emf = Some(r#","Errors":1"#), "answered");
                tracing::warn!("something else");
            });

            let messages: Vec<_> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
            assert_eq!(messages, expected);
        }
    }

    #[test]
    fn durations_are_exact_to_a_tenth_of_a_millisecond() {
        assert_eq!(milliseconds(Duration::from_nanos(12_345_678)), 12.3);
    }

    #[test]
    fn without_metrics_a_line_is_as_before() {
        let lines = logged(|| tracing::info!(emf = None::<&str>, "answered"));

        assert_eq!(lines[0].as_object().unwrap().len(), 5, "{}", lines[0]);
    }

    #[test]
    fn nothing_from_outside_can_forge_a_line() {
        let hostile = "x\"}\n{\"level\":\"ERROR\",\"message\":\"forged\u{2028}\u{1b}[31m\u{7f}\u{9b}31m";
        let lines = logged(|| tracing::info!(path = hostile, agent = %hostile, "answered"));

        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["path"], hostile);
        assert_eq!(lines[0]["agent"], hostile);
    }

    #[test]
    fn libraries_only_warn() {
        let lines = logged(|| {
            tracing::debug!("ours");
            tracing::info!(target: "hyper", "a library's talk");
            tracing::warn!(target: "hyper", "a library's warning");
        });

        let messages: Vec<_> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
        assert_eq!(messages, ["ours", "a library's warning"]);
    }
}
