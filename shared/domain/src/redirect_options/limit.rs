use serde::{Deserialize, Serialize};

use crate::Invalid;

/// How often a link may be followed by people: 1–1,000,000 times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "i64")]
pub struct ClickLimit(u32);

impl ClickLimit {
    /// The highest limit.
    pub const MOST: u32 = 1_000_000;

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl TryFrom<i64> for ClickLimit {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        let limit = u32::try_from(number).ok().filter(|limit| (1..=Self::MOST).contains(limit));
        limit.map(Self).ok_or_else(|| Invalid::new("max_clicks must be a whole number from 1 to 1,000,000"))
    }
}

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses {
    /// How often the link was followed since it has a limit. It is more than the limit if that was lowered.
    pub used: u32,
    /// The limit.
    pub max: ClickLimit,
    /// The limit that was noted to be used up; `None` if there is something left, or nobody has noted it.
    pub full_for: Option<ClickLimit>,
}

impl Uses {
    /// Whether nothing is left and nobody has noted it.
    pub fn are_to_be_noted(&self) -> bool {
        self.used >= self.max.get() && self.full_for != Some(self.max)
    }
}
