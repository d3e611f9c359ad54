//! Requests about many links. Each link is done by itself, with the rules, rights and errors that it has alone, and has a result of its
//! own.

use std::collections::{BTreeMap, HashSet};
use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use linklet_domain::{Invalid, LimitedRoute, RateLimit};
use linklet_dynamodb::ThrottleTable;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::http::{
    ApiError, JsonObject, Problem, Request, Response, Result, StatusCode, is_replayed, json, mark_as_replay,
};
use crate::identity::Caller;
use crate::throttle::admit_workspace;

/// How many links a request may be about.
pub const MOST_LINKS: usize = 100;

/// How many links of a request are worked on at once.
const AT_ONCE: usize = 16;

/// How many of the links of a request may be given a password, since hashing one takes a while.
const MOST_PASSWORDS: usize = 20;

/// What requests about many links have in common: how many links a workspace may name in a minute, and how long one begins with
/// further links.
pub struct Bulk {
    /// Where links are counted.
    pub throttle: ThrottleTable,
    /// How long a request begins with further links.
    pub begins_for: Duration,
}

impl Bulk {
    /// How long a request begins with further links. The functions' timeouts leave room to end what was begun.
    const BEGINS_FOR: Duration = Duration::from_secs(8);

    /// Counts links in this table.
    pub fn new(throttle: ThrottleTable) -> Self {
        Self { throttle, begins_for: Self::BEGINS_FOR }
    }

    /// Counts the links of a request, unless its workspace has named too many. What isn't begun by the time that is returned isn't
    /// begun any more.
    ///
    /// # Errors
    /// 429 if it has, before anything is done.
    pub async fn admit(&self, request: &Request, caller: &Caller, links: usize) -> Result<Instant> {
        let until = Instant::now() + self.begins_for;
        let (limit, links) = ((LimitedRoute::Bulk, RateLimit::BULK_LINKS), u32::try_from(links).unwrap_or(u32::MAX));
        admit_workspace(&self.throttle, limit, request, &caller.workspace, links).await?;
        Ok(until)
    }
}

/// Refuses a request about no link, or about too many.
///
/// # Errors
/// 400 that names this member.
pub fn require_some(member: &'static str, links: usize) -> Result<(), Invalid> {
    if (1..=MOST_LINKS).contains(&links) {
        return Ok(());
    }
    Err(Invalid::new(format!("{member} must be 1–{MOST_LINKS}")).in_field(member))
}

/// Refuses a request that gives too many links a password.
///
/// # Errors
/// 400.
pub fn limit_passwords<'o>(links: impl IntoIterator<Item = &'o JsonObject>) -> Result<(), Invalid> {
    if links.into_iter().filter(|link| link.value("password").is_some()).count() <= MOST_PASSWORDS {
        return Ok(());
    }
    Err(Invalid::new(format!("at most {MOST_PASSWORDS} links may be given a password at once")).in_field("password"))
}

/// Which of these codes were named before by the same request, so that a link is changed once.
pub fn repeated<'c>(codes: impl IntoIterator<Item = &'c str>) -> Vec<bool> {
    let mut named = HashSet::new();
    codes.into_iter().map(|code| !named.insert(code)).collect()
}

/// The error about a link that was named before.
pub fn named_twice() -> ApiError {
    Invalid::new("the request names this link twice").in_field("code").into()
}

/// One group for each link, for those that don't depend on each other.
pub fn apart(links: usize) -> Vec<Vec<usize>> {
    (0..links).map(|index| vec![index]).collect()
}

/// Does something with each of these links, and returns the results in their order. The links of a group are done one after another, so
/// that a later one finds what the one before it has made; groups are done at once.
pub async fn each<T, F, W>(links: usize, groups: Vec<Vec<usize>>, until: Instant, work: F) -> Vec<Result<T>>
where
    F: Fn(usize) -> W,
    W: Future<Output = Result<T>>,
{
    let work = &work;
    // Collected first, since the compiler doesn't see that a stream of borrowing futures can be sent.
    let begun: Vec<_> = groups.into_iter().map(|group| run_group(group, until, work)).collect();
    let mut results: Vec<_> = (0..links).map(|_| None).collect();
    let done: Vec<_> = stream::iter(begun).buffer_unordered(AT_ONCE).collect().await;
    for (index, result) in done.into_iter().flatten() {
        results[index] = Some(result);
    }
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(Problem::TryAgain.into()))).collect()
}

async fn run_group<T, F, W>(group: Vec<usize>, until: Instant, work: &F) -> Vec<(usize, Result<T>)>
where
    F: Fn(usize) -> W,
    W: Future<Output = Result<T>>,
{
    let mut done = Vec::with_capacity(group.len());
    for index in group {
        if Instant::now() >= until {
            break;
        }
        done.push((index, work(index).await));
    }
    done
}

/// The answer with the results of all links: for each its status, and the body that its answer has alone. It is an earlier one if all
/// results are.
pub fn results(request: &Request, results: Vec<Result<Response>>) -> Response {
    // A table that is away fails each link, and one line says so.
    let mut logged = HashSet::new();
    let mut are_replayed = !results.is_empty();
    let results = results.into_iter().enumerate().map(|(index, result)| {
        let answer = result.unwrap_or_else(|error| {
            match error.status().is_server_error() && !logged.insert(error.problem().code()) {
                true => error.into_response_unlogged(request),
                false => error.into_response(request),
            }
        });
        are_replayed &= is_replayed(&answer);
        let body = std::str::from_utf8(answer.body()).ok().and_then(|text| serde_json::from_str(text).ok());
        let is_good = answer.status().is_success();
        let (link, problem) = if is_good { (body, None) } else { (None, body) };
        LinkResult { index, status: answer.status().as_u16(), link, problem }
    });
    let response = json(StatusCode::OK, &BTreeMap::from([("results", results.collect::<Vec<_>>())]));
    if are_replayed { mark_as_replay(response) } else { response }
}

#[derive(Serialize)]
struct LinkResult {
    index: usize,
    status: u16,
    link: Option<Box<RawValue>>,
    problem: Option<Box<RawValue>>,
}
