//! `POST /api/import`: creates links that come from other systems, and counts their clicks.
//!
//! A client cuts its file into requests, and nothing is remembered between them: a repeated request finds the links that the one before
//! has made.

mod clicks;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use linklet_domain::{ExternalId, Invalid, LimitedRoute, RateLimit, Tags, Unavailable, optional};
use linklet_import::{Content, Import, LinkRow, Reading, Row};
use linklet_lambda::bulk;
use linklet_lambda::http::{ApiError, JsonObject, Problem, Request, Response, Result, StatusCode, json};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_writer::{Arrival, ImportMode, ImportOutcome, Past};
use linklet_lambda::throttle::admit_workspace;
use linklet_lambda::zone::Zone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Shorten;

/// How many rows a request has at most.
pub const MOST_ROWS: usize = 500;

/// How long a request begins with further rows. The function's timeout leaves room to end what was begun.
const BEGINS_FOR: Duration = Duration::from_secs(18);

/// What becomes of a link that can't keep its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnConflict {
    /// It isn't imported.
    #[default]
    Skip,
    /// It gets a new code.
    NewCode,
    /// Nothing of the request is imported.
    Fail,
}

#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Body {
    from: Option<String>,
    format: Option<String>,
    text: Option<String>,
    items: Option<Vec<Value>>,
    timezone: Option<String>,
    dry_run: Option<bool>,
    on_conflict: Option<OnConflict>,
    first_line: Option<u64>,
    tags: Option<Tags>,
}

impl Shorten {
    pub(crate) async fn import(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let object = request.large_json_object()?;
        let body: Body = object.read()?;
        let limit = (LimitedRoute::Import, RateLimit::IMPORTED_LINKS);
        let admit = |rows| admit_workspace(&self.throttle.table, limit, request, &caller.workspace, rows);
        // The first row is counted before it is read, since reading takes time, too.
        admit(1).await?;
        let import = body.rows()?;
        admit(u32::try_from(import.rows.len().saturating_sub(1)).unwrap_or(u32::MAX)).await?;
        let (on_conflict, is_dry_run) = (body.on_conflict.unwrap_or_default(), body.dry_run.unwrap_or_default());
        let mode = ImportMode {
            is_dry_run,
            gives_new_codes: on_conflict == OnConflict::NewCode,
            may_look_generated: self.may_look_generated,
        };
        let (from, tags) = (body.from.as_deref(), &body.tags.unwrap_or_default());
        let until = Instant::now() + BEGINS_FOR;
        let batch = Batch { request, caller, rows: &import.rows, tags, from, until };
        if on_conflict == OnConflict::Fail && !is_dry_run {
            let tried = self.each(batch, ImportMode { is_dry_run: true, ..mode }).await?;
            if !are_all_fine(&import.rows, &tried) {
                return Ok(answer(&import, body.first_line, tried, false));
            }
        }
        let rows = self.each(batch, mode).await?;
        Ok(answer(&import, body.first_line, rows, !is_dry_run))
    }

    /// Imports each row: links first, then clicks. Links of one code come one after another, so that the first of them gets it.
    ///
    /// # Errors
    /// When a table can't be reached. What was imported stays, and is the same when the request is repeated.
    async fn each(&self, batch: Batch<'_>, mode: ImportMode) -> Result<Vec<RowResult>> {
        let Batch { rows, until, .. } = batch;
        let mut results =
            bulk::each(rows.len(), by_code(rows), until, |index| self.one(batch, &rows[index], mode)).await;
        let of_links = clicks::by_link(batch);
        let work = |index: usize| Box::pin(self.clicks_of_link(batch, &of_links[index], mode));
        let clicked = bulk::each(of_links.len(), bulk::apart(of_links.len()), until, work).await;
        for (positions, done) in of_links.iter().zip(clicked) {
            // What isn't begun stays so.
            let done = match done {
                Err(ApiError::Problem(Problem::TryAgain)) => continue,
                done => done?,
            };
            positions.iter().zip(done).for_each(|(position, result)| results[*position] = Ok(result));
        }
        let result = |(result, row): (Result<RowResult>, &Row)| {
            match result {
                Err(ApiError::Problem(Problem::TryAgain)) => Ok(RowResult::of(Status::NotTried)),
                Err(error) if error.status().is_server_error() => Err(error),
                Err(error) => Ok(RowResult { reason: Some(error.sentence()), ..RowResult::of(Status::Invalid) }),
                Ok(result) => Ok(result),
            }
            .map(|result| result.of_row(row))
        };
        let results = results.into_iter().zip(rows).map(result).collect::<Result<_>>()?;
        Ok(if mode.is_dry_run { with_repeated_codes(rows, results) } else { results })
    }

    async fn one(&self, batch: Batch<'_>, row: &Row, mode: ImportMode) -> Result<RowResult> {
        let Batch { request, caller, tags, from, .. } = batch;
        let link = match &row.content {
            Ok(Content::Link(link)) => link,
            // Clicks come after their links.
            Ok(Content::Click(_)) => return Err(Problem::TryAgain.into()),
            Err(why) => return Ok(RowResult::because(Status::Invalid, &why.to_string())),
        };
        let body = JsonObject::of(&body_of(link, tags))?;
        let code = link.code.as_deref();
        let host = host_of(link.host.as_deref(), from);
        let former = code.and_then(|code| former(host.as_deref(), code));
        let arrival = Arrival { body: &body, code, former, past: past(link, host) };
        let outcome = self.writer.import(request, caller, arrival, mode).await?;
        let ignored = link.ignored.clone();
        let disabled = why_disabled(link).map(str::to_owned);
        Ok(match outcome {
            ImportOutcome::Created(code) => RowResult {
                short_code: code.map(|code| code.to_string()),
                ignored,
                reason: disabled,
                ..RowResult::of(Status::Created)
            },
            ImportOutcome::Same(code) => {
                RowResult { short_code: Some(code.to_string()), ..RowResult::of(Status::Same) }
            }
            ImportOutcome::Taken => taken(),
            ImportOutcome::Unsupported(why) => RowResult::because(Status::Unsupported, about(why)),
        })
    }
}

/// Why a link comes disabled that wasn't.
fn why_disabled(link: &LinkRow) -> Option<&'static str> {
    match link {
        LinkRow { is_protected: true, .. } => Some("it is disabled, since its password isn't in the export"),
        LinkRow { is_used_up: true, .. } => Some("it is disabled, since it was used as often as it may be"),
        _ => None,
    }
}

/// The rows of a request.
#[derive(Clone, Copy)]
struct Batch<'a> {
    request: &'a Request,
    caller: &'a Caller,
    rows: &'a [Row],
    /// What all of them get.
    tags: &'a Tags,
    /// The host of short URLs of which the rows say none.
    from: Option<&'a str>,
    /// When no further row is begun.
    until: Instant,
}

impl Body {
    /// # Errors
    /// 400 when there is nothing to read, too much, or a member has another form.
    fn rows(&self) -> Result<Import, Invalid> {
        let format = self.format.as_deref().map(|name| name.parse().map_err(|_| unknown_format())).transpose()?;
        let zone = self.timezone.as_deref().map(Zone::parse).transpose();
        let unknown = |_| Invalid::new("timezone must be the IANA name of a time zone").in_field("timezone");
        let zone = zone.map_err(unknown)?.unwrap_or_else(Zone::utc);
        let reading = Reading { format, zone: zone.into(), most_rows: MOST_ROWS };
        let (field, import) = match (&self.text, &self.items) {
            (Some(text), None) => ("text", linklet_import::read(text, &reading)),
            (None, Some(items)) => ("items", linklet_import::read_items(items, &reading)),
            _ => return Err(Invalid::new("a request has either text or items").in_field("text")),
        };
        import.map_err(|unreadable| Invalid::new(unreadable.to_string()).in_field(field))
    }
}

fn unknown_format() -> Invalid {
    let names = linklet_import::Format::NAMES.join(", ");
    Invalid::new(format!("format must be one of {names}")).in_field("format")
}

/// Positions of rows, those of codes together that differ by case alone.
fn by_code(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let group = match &row.content {
            Ok(Content::Link(link)) => link.code.as_ref().map_or_else(|| link.url.clone(), |code| code.to_lowercase()),
            // What isn't imported has to wait for nobody.
            _ => format!("{index} "),
        };
        groups.entry(group).or_default().push(index);
    }
    groups.into_values().collect()
}

/// The link with the members of a request for a new one.
fn body_of(link: &LinkRow, tags: &Tags) -> Value {
    let tags: Vec<_> = link.tags.iter().map(String::as_str).chain(tags.iter().map(AsRef::as_ref)).collect();
    let mut body = serde_json::json!({
        "url": link.url,
        "title": link.title,
        "description": link.description,
        "tags": tags,
        "expires_at": link.expires_at,
        "valid_from": link.valid_from,
        "max_clicks": link.max_clicks,
        "fallback_url": link.fallback_url,
        "forward_query": link.forward_query,
        "rules": link.rules,
    });
    for (member, value) in &link.own {
        body[member] = value.clone();
    }
    body
}

fn past(link: &LinkRow, host: Option<String>) -> Past {
    Past {
        host,
        created_at: link.created_at,
        clicks: link.clicks,
        is_active: !link.is_disabled && why_disabled(link).is_none(),
        archived: link.archived,
    }
}

/// The external id of a link that gets a new code: the short URL that it had, without scheme.
fn former(host: Option<&str>, code: &str) -> Option<ExternalId> {
    ExternalId::parse(&format!("{}/{code}", host.unwrap_or("import"))).ok()
}

/// The host of a row's short URL, or else the one that the request names, in the form in which all of them are compared.
fn host_of(host: Option<&str>, from: Option<&str>) -> Option<String> {
    let host = host.or(from)?.trim().to_lowercase();
    Some(host.strip_prefix("www.").map_or_else(|| host.clone(), str::to_owned)).filter(|host| !host.is_empty())
}

/// The results of a dry run as they would be: of links that want the same code, the first gets it.
fn with_repeated_codes(rows: &[Row], results: Vec<RowResult>) -> Vec<RowResult> {
    let mut wanted: HashMap<String, &str> = HashMap::new();
    let as_it_would_be = rows.iter().zip(results).map(|(row, result)| match (&row.content, &result.short_code) {
        (Ok(Content::Link(link)), Some(code)) if result.status == Status::Created => {
            let first = *wanted.entry(code.clone()).or_insert(&link.url);
            if first == link.url { result } else { taken().of_row(row) }
        }
        _ => result,
    });
    as_it_would_be.collect()
}

/// Whether nothing of what was tried keeps the others from being imported. A click may be too old, or its link be one of these.
fn are_all_fine(rows: &[Row], tried: &[RowResult]) -> bool {
    let code_of = |row: &Row| match &row.content {
        Ok(Content::Link(link)) => link.code.clone(),
        _ => None,
    };
    let codes: HashSet<String> = rows.iter().filter_map(code_of).collect();
    tried.iter().all(|row| match row.status {
        Status::Created | Status::Same | Status::TooOld => true,
        Status::NoLink => row.short_code.as_ref().is_some_and(|code| codes.contains(code)),
        Status::Taken | Status::Invalid | Status::Unsupported | Status::NotTried => false,
    })
}

fn taken() -> RowResult {
    RowResult::because(Status::Taken, "another link has this short code")
}

fn about(why: Unavailable) -> &'static str {
    match why {
        Unavailable::Reserved => "this short code is a reserved word",
        Unavailable::Generated => "this short code looks like a generated one",
        Unavailable::Invalid | Unavailable::Taken => "a short code has 1–64 characters of 0-9, A-Z, a-z, - and _",
    }
}

/// What has become of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Created,
    Same,
    Taken,
    Invalid,
    Unsupported,
    /// A click of no link that was imported.
    NoLink,
    /// A click that is older than raw clicks are kept. It is in what is left of its link's total.
    TooOld,
    /// The time was over; the request is to be repeated.
    NotTried,
}

#[derive(Debug, Serialize)]
struct RowResult {
    line: u64,
    status: Status,
    /// The link's; if there is none, as the row has it.
    short_code: Option<String>,
    /// As the row has it.
    original_url: Option<String>,
    reason: Option<String>,
    ignored: Vec<String>,
}

impl RowResult {
    fn of(status: Status) -> Self {
        Self { line: 0, status, short_code: None, original_url: None, reason: None, ignored: Vec::new() }
    }

    /// With what the row says.
    fn of_row(self, row: &Row) -> Self {
        let (code, original_url) = match &row.content {
            Ok(Content::Link(link)) => (link.code.clone(), Some(link.url.clone())),
            Ok(Content::Click(click)) => (Some(click.code.clone()), None),
            Err(_) => (None, None),
        };
        let short_code = if self.status == Status::Created { self.short_code } else { self.short_code.or(code) };
        Self { line: row.line, short_code, original_url, ..self }
    }

    fn because(status: Status, reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::of(status) }
    }
}

#[derive(Serialize)]
struct ImportView {
    format: String,
    /// Whether links were created; not in a dry run, nor if one of them kept all from that.
    written: bool,
    results: Vec<RowResult>,
}

fn answer(import: &Import, first_line: Option<u64>, results: Vec<RowResult>, written: bool) -> Response {
    let before = first_line.unwrap_or(1).saturating_sub(1);
    let results = results.into_iter().map(|row| RowResult { line: row.line.saturating_add(before), ..row });
    json(StatusCode::OK, &ImportView { format: import.format.to_string(), written, results: results.collect() })
}
