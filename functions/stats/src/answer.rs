//! Questions about a time, and their answers.

use std::ops::Range;

use linklet_domain::{Findings, LinkId, Timestamp};
use linklet_lambda::zone::Zone;
use serde::Serialize;
use tokio::time::Instant;

use crate::question::Question;

/// The numbers of a time.
pub(crate) struct Period {
    /// The time that they are of.
    pub time: Range<Timestamp>,
    pub findings: Findings,
}

/// The answer to a question.
pub(crate) struct Answer {
    pub period: Period,
    /// The time before; `None` if not all of it could be read.
    pub before: Option<Period>,
    /// How much the numbers are of, if that isn't all.
    pub covers: Option<Covers>,
    /// The zone whose days and hours the points are.
    pub zone: Zone,
}

/// A question at a time, and until when it may take.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub question: &'a Question,
    pub link: &'a LinkId,
    pub now: Timestamp,
    pub until: Instant,
}

/// How much of a time was looked at.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Covers {
    /// How many clicks were looked at.
    pub clicks: u64,
    /// How many were counted in the hours of the time.
    pub of: u64,
    /// All clicks from this time on were looked at.
    pub since: Timestamp,
}
