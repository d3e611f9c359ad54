//! Answers as tables for spreadsheets (RFC 4180).

use std::borrow::Cow;

use linklet_domain::{ClickId, Dimension, Invalid};
use linklet_lambda::http::{Request, Response, Result, TableRows};
use linklet_lambda::zone::Zone;

use crate::answer::Period;
use crate::view::{ClickView, next_page};

/// What of an answer a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Series,
    Breakdown(Dimension),
}

/// The table that a request wants: the series, unless it says another one.
///
/// # Errors
/// 400 when the parameter is none.
pub(crate) fn table(request: &Request) -> Result<Table, Invalid> {
    let table = request.parsed("table", |text| {
        let breakdown = Dimension::ALL.into_iter().find(|dimension| dimension.name() == text).map(Table::Breakdown);
        let table = if text == "series" { Some(Table::Series) } else { breakdown };
        let names = || Dimension::ALL.map(Dimension::name).join(", ");
        table.ok_or_else(|| Invalid::new(format!("table must be series or one of {}", names())))
    })?;
    Ok(table.unwrap_or(Table::Series))
}

/// The table of a time.
///
/// # Errors
/// 400 when `bom` is neither true nor false.
pub(crate) fn of_table(request: &Request, period: &Period, table: Table) -> Result<Response> {
    let mut rows = TableRows::default();
    match table {
        Table::Series => {
            rows.add(["period", "clicks", "human_clicks"])?;
            for (period, count) in &period.findings.points {
                rows.add([period.as_str(), &count.clicks.to_string(), &count.human_clicks.to_string()])?;
            }
        }
        Table::Breakdown(dimension) => {
            rows.add([dimension.label(), "count"])?;
            for (value, count) in period.findings.by(dimension).ranking() {
                rows.add([value.as_str(), &count.to_string()])?;
            }
        }
    }
    rows.answer(request)
}

/// As many clicks as a page holds. What is left of them, or comes after them, is behind its link to the next page.
///
/// # Errors
/// Never: texts can be written.
pub(crate) fn of_clicks(
    request: &Request,
    clicks: impl Iterator<Item = ClickView>,
    mut next: Option<ClickId>,
    zone: &Zone,
) -> Result<Response> {
    let mut rows = TableRows::default();
    rows.add(COLUMNS)?;
    let mut clicks = clicks.peekable();
    while let Some(click) = clicks.next() {
        let id = click.id;
        rows.add(row(&click, zone))?;
        if rows.is_full() && clicks.peek().is_some() {
            next = Some(id);
            break;
        }
    }
    rows.page(request, &next_page(request, next))
}

const COLUMNS: [&str; 13] = [
    "id",
    "clicked_at",
    "audience",
    "device",
    "browser",
    "browser_version",
    "os",
    "country",
    "city",
    "referer",
    "source",
    "campaign",
    "user_agent",
];

fn row<'c>(click: &'c ClickView, zone: &Zone) -> [Cow<'c, str>; COLUMNS.len()] {
    let or_empty = |text: &'c Option<String>| Cow::from(text.as_deref().unwrap_or_default());
    [
        click.id.to_string().into(),
        zone.with_offset(click.clicked_at).into(),
        <&str>::from(click.audience).into(),
        <&str>::from(click.device).into(),
        click.browser.as_str().into(),
        click.browser_version.as_str().into(),
        click.os.as_str().into(),
        click.country.as_ref().map_or("", |country| country.as_str()).into(),
        or_empty(&click.city),
        or_empty(&click.referer),
        click.source.into(),
        or_empty(&click.campaign),
        click.user_agent.as_str().into(),
    ]
}
