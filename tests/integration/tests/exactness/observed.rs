//! What has come out, and whether it is right.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use aws_lambda_events::dynamodb::Event as StreamEvent;
use linklet_domain::{Breakdown, Day, Dimension, EventDetail, LinkStats, Profile, ShortCode, Timestamp};
use linklet_dynamodb::stream::{Change, change_of};
use linklet_test_support::TestDynamoDb;

use super::model::{Click, Expected, Link, Numbers};

/// What is wrong, in words.
pub type Verdict = Result<(), String>;

/// Up to so many visitors are told apart, but for a rare collision; more are estimated.
const TOLD_APART: u64 = 300;
/// Five standard errors: there are many estimates, and none may be wrong by chance.
const ESTIMATED_WITHIN: f64 = 0.08;

/// Compares all that is stored and shown about a link with what has to be.
pub async fn check(db: &TestDynamoDb, link: &Link, clicks: &[&Click]) -> Verdict {
    let expected = Expected::of(clicks);
    let stats = read(db, &link.code, Timestamp::from_unix_seconds(0).unwrap().day()).await;
    same("total", stats.totals.total_clicks, expected.life.clicks)?;
    same("human clicks", stats.totals.human_clicks, expected.life.human_clicks)?;
    same("last click", stats.totals.last_click_at.map(|at| at.to_string()), expected.last_click_at.clone())?;
    check_days(&stats, &expected)?;
    check_past(&stats, clicks)?;
    check_whole_life("the whole life", &stats, &expected)?;
    if let Some(last) = stats.totals.last_click_at {
        let shown = read(db, &link.code, last.day()).await;
        check_whole_life("the whole life, read from the last day on", &shown, &expected)?;
    }
    same("ids of counted events", ids(db, &link.code).await?, expected.ids)
}

async fn read(db: &TestDynamoDb, code: &ShortCode, since: Day) -> LinkStats {
    db.stats().since(code, since).await.unwrap().unwrap_or_default()
}

fn check_days(stats: &LinkStats, expected: &Expected) -> Verdict {
    let days: Vec<String> = stats.days.keys().map(Day::to_string).collect();
    same("days", days, expected.days.keys().cloned().collect())?;
    for (stats, (day, (numbers, hours))) in stats.days.values().zip(&expected.days) {
        same(&format!("hours of {day}"), stats.hours, *hours)?;
        same_numbers(day, &stats.profile, numbers)?;
    }
    Ok(())
}

/// What has gone into the past must be what happened before its end, and what hasn't the rest.
fn check_past(stats: &LinkStats, clicks: &[&Click]) -> Verdict {
    let Some(until) = stats.totals.past_until else { return same("clicks without a past", clicks.len(), 0) };
    let past = Expected::before(clicks, &until.to_string());
    same("clicks after the past", stats.totals.recent_clicks, clicks.len() as u64 - past.clicks)?;
    same_numbers(&format!("the past until {until}"), &stats.past.clone().unwrap_or_default(), &past)
}

fn check_whole_life(name: &str, stats: &LinkStats, expected: &Expected) -> Verdict {
    same_numbers(name, &stats.whole_life(), &expected.life)
}

fn same_numbers(name: &str, profile: &Profile, expected: &Numbers) -> Verdict {
    let (visitors, estimate) = (expected.visitors, profile.visitors.estimate());
    let tolerance = if visitors <= TOLD_APART { 0.02 } else { ESTIMATED_WITHIN } * visitors as f64;
    if estimate.abs_diff(visitors) as f64 > tolerance {
        return Err(format!("visitors of {name}: {estimate} instead of {visitors}"));
    }
    let observed = Numbers {
        clicks: profile.clicks,
        human_clicks: profile.human_clicks,
        visitors,
        breakdowns: Dimension::ALL
            .map(|dimension| (dimension.name(), counts(profile.by(dimension))))
            .into_iter()
            .filter(|(_, counts)| !counts.is_empty())
            .collect(),
    };
    same(name, &observed, expected)
}

fn counts(breakdown: &Breakdown) -> BTreeMap<String, u64> {
    breakdown.ranking().into_iter().collect()
}

#[expect(clippy::needless_pass_by_value, reason = "most of what is compared was made for it")]
pub fn same<T: PartialEq + Debug>(name: &str, observed: T, expected: T) -> Verdict {
    if observed == expected { Ok(()) } else { Err(format!("{name}: {observed:?} instead of {expected:?}")) }
}

/// The ids of the events that are known to be counted.
async fn ids(db: &TestDynamoDb, code: &ShortCode) -> Result<BTreeSet<String>, String> {
    let ever = Timestamp::from_unix_seconds(0).unwrap()..=Timestamp::parse("2100-01-01T00:00:00Z").unwrap();
    let ids = db.stats().counted_between(code, &ever).await.unwrap();
    Ok(ids.into_iter().map(String::from).collect())
}

/// The milestones that a stream publishes, by link, in its order.
pub fn milestones(stream: &StreamEvent) -> BTreeMap<String, Vec<u64>> {
    let mut milestones: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for record in &stream.records {
        if let Change::Event(event) = change_of(record).unwrap()
            && let EventDetail::MilestoneReached(reached) = event.detail
        {
            milestones.entry(reached.short_code.to_string()).or_default().push(reached.milestone);
        }
    }
    milestones
}
