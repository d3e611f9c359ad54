//! What has come out, and whether it is right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::RangeInclusive;

use aws_lambda_events::dynamodb::Event as StreamEvent;
use linklet_domain::{
    AudienceGroup, Breakdown, ClickCount, ClickId, Day, Dimension, EventDetail, LinkId, LinkStats, Profile, Rollup,
    Timestamp, Totals,
};
use linklet_dynamodb::{Life, stream::change_of};
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
    let life = db.stats().life(&link.workspace, &link.id).await.unwrap();
    same("total", life.totals.total_clicks(), expected.life.clicks)?;
    let stats = read(db, &link.id, Timestamp::EPOCH.day()).await;
    let summary = stats.summary(Timestamp::now());
    same("shown total", summary.total_clicks, expected.life.clicks)?;
    same("human clicks", summary.human_clicks, expected.life.human_clicks)?;
    same("last click", summary.last_click_at, expected.last_click_at)?;
    same("last click of the total", life.totals.last_click, expected.last_click_at)?;
    check_days(&stats, &expected)?;
    check_totals(&life, &stats)?;
    check_past(&stats, clicks)?;
    check_whole_life("the whole life", &stats, &expected)?;
    if let Some(last) = summary.last_click_at {
        let shown = read(db, &link.id, last.day()).await;
        check_whole_life("the whole life, read from the last day on", &shown, &expected)?;
    }
    check_ids(db, link, &life, &expected.ids).await
}

async fn read(db: &TestDynamoDb, link: &LinkId, since: Day) -> LinkStats {
    db.stats().since(link, since).await.unwrap()
}

/// The counts in the total must be those of each day or part of one, and the past must end where the total says.
fn check_totals(life: &Life, stats: &LinkStats) -> Verdict {
    let totals = &life.totals;
    same("end of the past", totals.past_until, stats.past.as_ref().map(|past| past.until))?;
    same("clicks of the past", totals.past_clicks, stats.past.as_ref().map_or(0, |past| past.profile.clicks))?;
    let days = stats.days.iter().map(|(day, stats)| (*day, ClickCount::from(stats)));
    let history = totals.past_until.map(|until| Totals::history_until(until, days.clone()));
    same("history", totals.history.clone(), history.unwrap_or_default())?;
    let slices = life.slices.iter().map(|(slice, counted)| (*slice, ClickCount::from(&counted.stats)));
    let open = slices.filter(|(slice, count)| count.clicks > 0 && !totals.is_past(slice.day));
    same("open days", totals.open.clone(), open.collect())
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

/// What has gone into the past must be what happened before its end.
fn check_past(stats: &LinkStats, clicks: &[&Click]) -> Verdict {
    let Some(Rollup { until, profile, .. }) = &stats.past else { return Ok(()) };
    same_numbers(&format!("the past until {until}"), profile, &Expected::before(clicks, &until.to_string()))
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
        breakdowns: [AudienceGroup::Human, AudienceGroup::Automated]
            .into_iter()
            .flat_map(|group| Dimension::ALL.map(|by| ((group, by.name()), counts(&profile.by(by, group)))))
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

/// All days that an id can be of.
pub fn ever() -> RangeInclusive<Day> {
    Timestamp::EPOCH.day()..=Day::parse("2080-01-01").unwrap()
}

/// Each id must be in the item of its day or have left it, and no other id may be anywhere.
async fn check_ids(db: &TestDynamoDb, link: &Link, life: &Life, expected: &BTreeSet<ClickId>) -> Verdict {
    let moved = db.stats().counted_on(&link.id, life, &ever()).await.unwrap();
    same("ids of clicks that nobody has made", moved.difference(expected).collect(), Vec::new())?;
    let lost: Vec<&ClickId> = expected.iter().filter(|id| !moved.contains(id) && !life.has_counted(id)).collect();
    same("lost ids", lost, Vec::new())
}

/// The milestones that a stream publishes, by link, in its order.
pub fn milestones(stream: &StreamEvent) -> BTreeMap<String, Vec<u64>> {
    let mut milestones: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for record in &stream.records {
        for event in change_of(record).unwrap().into_events() {
            if let EventDetail::MilestoneReached(reached) = event.detail {
                milestones.entry(reached.link.code.to_string()).or_default().push(reached.milestone);
            }
        }
    }
    milestones
}
