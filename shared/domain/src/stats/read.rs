//! Reading windows, rankings and timelines out of counted clicks.

use std::{ops::RangeInclusive, time::Duration};

use serde::Serialize;

use super::{Breakdown, ClickCount, LinkStats, Profile};
use crate::{Day, Invalid, Timestamp};

/// The numbers that the statistics page opens with.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Every counted click.
    pub total_clicks: u64,
    /// The counted clicks of people.
    pub human_clicks: u64,
    /// An estimate of how many different addresses people clicked from.
    pub unique_visitors: u64,
    /// Clicks in the current UTC hour and the 23 before.
    pub clicks_last_24h: u64,
    /// Clicks in the current UTC hour and the 167 before.
    pub clicks_last_7d: u64,
    /// The clicks since the link was created.
    pub profile: Profile,
    /// When the latest click happened.
    pub last_click_at: Option<Timestamp>,
}

/// Values with their counts, most frequent first.
pub type Ranking = Vec<(String, u64)>;

impl LinkStats {
    /// The numbers that the statistics page opens with. The days must reach back seven days from `now`, and to the first
    /// that isn't in the past.
    pub fn summary(&self, now: Timestamp) -> Summary {
        let profile = self.whole_life();
        Summary {
            total_clicks: profile.clicks,
            human_clicks: profile.human_clicks,
            unique_visitors: profile.visitors.estimate(),
            clicks_last_24h: self.clicks_in_last_hours(now, 24),
            clicks_last_7d: self.clicks_in_last_hours(now, 7 * 24),
            profile,
            last_click_at: self.last_click_at(),
        }
    }

    fn last_click_at(&self) -> Option<Timestamp> {
        let in_past = self.past.as_ref().and_then(|past| past.last_click_at);
        self.open_days().map(|day| day.last_click_at).chain([in_past]).max().flatten()
    }

    /// Clicks in the current hour and the `hours - 1` before it.
    fn clicks_in_last_hours(&self, now: Timestamp, hours: u64) -> u64 {
        let this_hour = now.day().at_hour(now.hour());
        let first_hour = this_hour.minus(Duration::from_secs((hours - 1) * 3_600));
        self.buckets().filter(|(hour, _)| (first_hour..=this_hour).contains(hour)).map(|(_, count)| count.clicks).sum()
    }

    /// Every hour with clicks, oldest first.
    fn buckets(&self) -> impl Iterator<Item = (Timestamp, ClickCount)> {
        self.days.iter().flat_map(|(day, stats)| {
            (0_u8..)
                .zip(stats.hours)
                .filter(|(_, count)| count.clicks > 0)
                .map(|(hour, count)| (day.at_hour(hour), count))
        })
    }
}

impl Breakdown {
    /// The values and, in the end, all others together.
    pub fn ranking(&self) -> Ranking {
        let mut ranking: Ranking = self.ranked().into_iter().map(|(value, count)| (value.to_owned(), count)).collect();
        if self.other > 0 {
            ranking.push(("(other)".to_owned(), self.other));
        }
        ranking
    }
}

/// The width of a timeline's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Interval {
    /// A UTC hour.
    Hour,
    /// A UTC day.
    Day,
}

impl Interval {
    /// Reads `hour` or `day`.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.parse().map_err(|_| Invalid::new("interval must be 'day' or 'hour'"))
    }
}

/// A point of a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Point {
    /// A day (`2026-03-02`) or the start of an hour (`2026-03-02T14:00:00Z`).
    pub period: String,
    /// The clicks in it; never zero.
    pub clicks: u64,
    /// Those of people.
    pub human_clicks: u64,
}

/// The periods with clicks on these days, oldest first. The days are those of a place where clocks show `local` of an hour, as
/// if it were in UTC; hours are always UTC's.
pub fn timeline(
    stats: &LinkStats,
    interval: Interval,
    days: &RangeInclusive<Day>,
    local: impl Fn(Timestamp) -> Timestamp,
) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (hour, ClickCount { clicks, human_clicks }) in stats.buckets() {
        let day = local(hour).day();
        if !days.contains(&day) {
            continue;
        }
        let period = match interval {
            Interval::Day => day.to_string(),
            Interval::Hour => format!("{}T{:02}:00:00Z", hour.day(), hour.hour()),
        };
        match points.last_mut().filter(|last| last.period == period) {
            Some(last) => {
                last.clicks += clicks;
                last.human_clicks += human_clicks;
            }
            None => points.push(Point { period, clicks, human_clicks }),
        }
    }
    points
}
