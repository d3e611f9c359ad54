//! What a workspace takes along, page by page: JSON or a table, with as much as an answer holds.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tokio::time::Instant;

use super::csv::{LARGEST, MOST_BYTES, named, weight};
use super::{ApiError, Format, NextPage, Request, Response, Result, StatusCode, TableRows, json, linked};
use crate::throttle::StatsQueryLimiter;

/// The version of the JSON of exports.
const VERSION: u8 = 1;

/// A page of an export.
pub struct ExportPage {
    name: &'static str,
    columns: &'static str,
    form: Form,
    /// How many more items it may have.
    pub room: usize,
    /// Until when more is read for it.
    pub until: Instant,
}

enum Form {
    Json(Vec<Box<RawValue>>, usize),
    Csv(Box<TableRows>),
}

impl ExportPage {
    /// How many items a page has at most.
    const MOST_ITEMS: usize = 20_000;

    /// An empty page of items that have this name, in the form and with the limit of the request. A table has these members of them,
    /// which commas separate.
    ///
    /// # Errors
    /// 400 when a parameter has another form.
    pub fn of(request: &Request, name: &'static str, columns: &'static str) -> Result<Self> {
        let (room, until) = (request.number_of_rows(Self::MOST_ITEMS)?, Instant::now() + StatsQueryLimiter::READ_FOR);
        let form = match Format::of(request)? {
            Format::Json => Form::Json(Vec::new(), 0),
            Format::Csv => {
                let mut rows = TableRows::default();
                rows.add(columns.split(','))?;
                Form::Csv(Box::new(rows))
            }
        };
        Ok(Self { name, columns, form, room, until })
    }

    /// Whether nothing more fits in.
    pub fn is_full(&self) -> bool {
        self.room == 0
            || match &self.form {
                Form::Json(_, bytes) => *bytes >= MOST_BYTES - LARGEST,
                Form::Csv(rows) => rows.is_full(),
            }
    }

    /// Whether nothing more may be read for it.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Adds an item.
    ///
    /// # Errors
    /// When it has no form as JSON.
    pub fn add(&mut self, item: &impl Serialize) -> Result<()> {
        self.room = self.room.saturating_sub(1);
        match &mut self.form {
            Form::Json(items, bytes) => {
                let item = serde_json::value::to_raw_value(item).map_err(ApiError::internal)?;
                *bytes += weight(item.get(), b"\"\\", 2) + 1;
                items.push(item);
                Ok(())
            }
            Form::Csv(rows) => {
                let item = serde_json::to_value(item).map_err(ApiError::internal)?;
                rows.add(self.columns.split(',').map(|name| cell(&item[name])))
            }
        }
    }

    /// The answer, as a file, with what leads to the position where the next page begins.
    ///
    /// # Errors
    /// 400 when `bom` is neither true nor false.
    pub fn answer(self, request: &Request, next: Option<String>) -> Result<Response> {
        let next = request.next_page(next);
        match self.form {
            Form::Csv(rows) => rows.page(request, &next),
            Form::Json(items, _) => exported(request, &next, &BTreeMap::from([(self.name, items)])),
        }
    }
}

#[derive(Serialize)]
struct Exported<'a, T> {
    version: u8,
    #[serde(flatten)]
    content: &'a T,
    #[serde(flatten)]
    next: &'a NextPage,
}

/// A page of an export that is JSON, as a file.
///
/// # Errors
/// When the cursor can't be in a header.
pub fn exported(request: &Request, next: &NextPage, content: &impl Serialize) -> Result<Response> {
    let answer = json(StatusCode::OK, &Exported { version: VERSION, content, next });
    linked(named(answer, request, "json")?, request, next)
}

/// A member as a cell: a text as it is, nothing for what isn't there, and all else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
