//! What should be counted for a link, by its raw clicks.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use linklet_domain::{Click, Day, DayStats, LinkStats, Profile, Timestamp, Totals};
use linklet_user_agents::Classifier;

/// A day of raw clicks, sorted by whether they are counted.
#[derive(Debug, Default)]
pub struct DayOfClicks {
    /// As many numbers as the counted clicks make.
    pub counted: Option<DayStats>,
    /// The latest of the counted.
    pub last_click_at: Option<Timestamp>,
    /// Those that are not counted, or not yet.
    pub uncounted: Vec<Click>,
}

impl DayOfClicks {
    /// Counts a day's clicks.
    pub fn of(day: Day, clicks: Vec<Click>, is_counted: impl Fn(&Click) -> bool, classifier: &Classifier) -> Self {
        let of_day = clicks.into_iter().filter(|click| click.clicked_at.day() == day);
        let (counted, uncounted): (Vec<_>, Vec<_>) = of_day.partition(is_counted);
        let mut stats = LinkStats::default();
        for click in counted {
            stats.count(click.clicked_at, &click.visitor, &classifier.classify(&click.visitor.user_agent));
        }
        Self { counted: stats.days.remove(&day), last_click_at: stats.totals.last_click_at, uncounted }
    }
}

/// The time in which the ids of a day's clicks were made. An id is made a moment after the request arrived, and clocks differ.
pub fn around(day: Day) -> RangeInclusive<Timestamp> {
    const MARGIN: Duration = Duration::from_secs(3_600);
    day.at_hour(0).minus(MARGIN)..=day.at_hour(23).plus(Duration::from_secs(3_600)).plus(MARGIN)
}

/// Totals and past as they follow from the days.
pub fn rebuilt(before: &LinkStats, days: BTreeMap<Day, DayStats>, last_click_at: Option<Timestamp>) -> LinkStats {
    let until = before.totals.past_until.or_else(|| days.keys().next().copied());
    let sum = |profiles: &mut dyn Iterator<Item = &DayStats>| {
        let mut sum = Profile::default();
        profiles.for_each(|stats| sum.merge(&stats.profile));
        sum
    };
    let past = sum(&mut days.iter().filter(|(day, _)| Some(**day) < until).map(|(_, stats)| stats));
    let (clicks, human_clicks) = days
        .values()
        .fold((0, 0), |(clicks, people), day| (clicks + day.profile.clicks, people + day.profile.human_clicks));
    LinkStats {
        totals: Totals {
            total_clicks: clicks,
            human_clicks,
            last_click_at: before.totals.last_click_at.max(last_click_at),
            past_until: until,
            recent_clicks: clicks - past.clicks,
            corrections: before.totals.corrections,
        },
        past: (before.past.is_some() || past.clicks > 0).then_some(past),
        days,
    }
}
