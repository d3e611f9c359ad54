use std::rc::Rc;

use serde_json::Value;

/// Sums of such counts are still exact in JSON.
const LARGEST: u64 = 1_000_000_000_000_000;

/// Values under names, which have only lower-case letters and digits: `Long URL`, `long_url` and `longUrl` are one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// Where it begins.
    pub line: u64,
    fields: Vec<(Rc<str>, Value)>,
}

/// A name as records have it. Those of a table share it.
pub(crate) fn plain(name: &str) -> Rc<str> {
    let plain: String =
        name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    plain.into()
}

impl Record {
    pub(crate) fn new(line: u64, fields: impl IntoIterator<Item = (Rc<str>, Value)>) -> Self {
        Self { line, fields: fields.into_iter().collect() }
    }

    /// Whether it has a name, also if nothing stands under it.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(own, _)| **own == *name)
    }

    /// Whether it has one of these names.
    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// What stands under the first of these names that has something.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&Value> {
        let value_of = |name: &&str| self.fields.iter().find(|(own, value)| **own == **name && !is_empty(value));
        names.iter().find_map(value_of).map(|(_, value)| value)
    }

    /// The same as a text: a number in its digits, and of a list the first.
    pub(crate) fn text(&self, names: &[&str]) -> Option<String> {
        text_of(self.get(names)?)
    }

    /// A number, also with separators of thousands, and as programs write it that know fractions only: `12.0`.
    pub(crate) fn count(&self, names: &[&str]) -> Option<u64> {
        let digits: String =
            self.text(names)?.chars().filter(|character| !matches!(character, ',' | ' ' | '\u{a0}')).collect();
        digits.strip_suffix(".0").unwrap_or(&digits).parse().ok().map(|count: u64| count.min(LARGEST))
    }

    /// Whether something is said to be so.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        let says_so = |text: String| !matches!(&*text.to_lowercase(), "0" | "false" | "no" | "off");
        self.text(names).is_some_and(says_so)
    }

    /// Whether something is said to be so under one of these names.
    pub(crate) fn is_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(&[name]))
    }
}

pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_so) => Some(is_so.to_string()),
        Value::Array(all) => all.first().and_then(text_of),
        Value::Null | Value::Object(_) => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    }
}
