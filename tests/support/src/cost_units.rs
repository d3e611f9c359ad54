//! What the calculator of costs reads and must not guess: `infra/costs/units.json`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, fs};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::faults::lock;

/// Tests run at the same time, and one that writes reads the whole file and replaces it.
static TURN: Mutex<()> = Mutex::new(());

/// A section of the calculator's file.
///
/// # Panics
/// When the file has no such section, or one of another form.
pub fn cost_units<T: DeserializeOwned>(section: &str) -> T {
    let _turn = lock(&TURN);
    let mut file: Value = serde_json::from_str(&read()).expect("units.json is JSON");
    serde_json::from_value(file[section].take()).unwrap_or_else(|error| panic!("units.json, {section}: {error}"))
}

/// Puts what was measured into a section of the calculator's file, if `WRITE_UNITS` is set, as `make units` does. Texts, order
/// and layout stay as people have written them.
///
/// # Panics
/// When the file has no place for a number.
pub fn write_cost_units(section: &str, measured: &impl Serialize) {
    if env::var_os("WRITE_UNITS").is_some() {
        let _turn = lock(&TURN);
        let measured = serde_json::to_value(measured).expect("numbers are JSON");
        fs::write(path(), updated(&read(), section, &measured)).expect("units.json can be written");
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra/costs/units.json")
}

fn read() -> String {
    fs::read_to_string(path()).expect("units.json can be read")
}

/// The file's text with other values in a section, which ends where its brace is closed.
fn updated(text: &str, section: &str, values: &Value) -> String {
    let (before, rest) = split_after(text, section);
    let (members, after) = rest.split_once("\n  }").expect("a section ends");
    format!("{before}{}\n  }}{after}", with_values(members, values.as_object().expect("a section has members")))
}

/// The text of an object's members with other values in it.
fn with_values(members: &str, values: &Map<String, Value>) -> String {
    values.iter().fold(members.to_owned(), |text, (name, value)| {
        let (before, rest) = split_after(&text, name);
        match value {
            Value::Object(values) => {
                let (members, after) = rest.split_once('}').expect("an object ends");
                format!("{before}{}}}{after}", with_values(members, values))
            }
            value => format!("{before}{value}{}", &rest[rest.find([',', ' ', '\n', '}']).unwrap_or(rest.len())..]),
        }
    })
}

/// Where a member's value begins.
fn split_after<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let key = format!("\"{name}\": ");
    let start =
        text.find(&key).unwrap_or_else(|| panic!("units.json has no {name} yet: write a line, with any numbers"));
    text.split_at(start + key.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_replaced_and_all_else_stays() {
        let before = r#"{
  "about": "anything",
  "rows": {
    "click": { "bytes": 490, "days": 396, "what": "a click, by Chrome" },
    "total": { "bytes": 321, "days": null, "what": "the totals" }
  },
  "template": {
    "memory_mb": {
      "auth": 1024, "list": 256
    },
    "alarms": 39,
    "tracing": "Active"
  }
}
"#;
        let rows = json!({"total": {"bytes": 5, "days": null}, "click": {"bytes": 500, "days": 400}});
        let template = json!({"alarms": 40, "memory_mb": {"auth": 512, "list": 256}, "tracing": "PassThrough"});

        let after = updated(&updated(before, "rows", &rows), "template", &template);

        let expected = before.replace("490", "500").replace("396", "400").replace("321", "5");
        assert_eq!(after, expected.replace("1024", "512").replace("39", "40").replace("Active", "PassThrough"));
    }
}
