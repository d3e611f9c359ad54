//! What should be counted for a link, by its raw clicks.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use linklet_domain::{
    CountedClick, Day, DayStats, Event, EventDetail, LinkStats, Profile, Timestamp, Totals, UrlClicked,
};
use linklet_user_agents::Classifier;

/// A day of raw clicks, sorted by whether their events are counted.
#[derive(Debug, Default)]
pub struct DayOfClicks {
    /// As many numbers as the counted clicks make.
    pub counted: Option<DayStats>,
    /// The latest of the counted.
    pub last_click_at: Option<Timestamp>,
    /// Those that are not counted, or not yet.
    pub uncounted: Vec<Event>,
}

impl DayOfClicks {
    /// Counts a day's clicks.
    pub fn of(day: Day, clicks: Vec<Event>, is_counted: impl Fn(&Event) -> bool, classifier: &Classifier) -> Self {
        let mut stats = LinkStats::default();
        let mut uncounted = Vec::new();
        for event in clicks.into_iter().filter(|event| event.occurred_at.day() == day) {
            match clicked(&event) {
                Some(click) if is_counted(&event) => {
                    let client = classifier.classify(&click.visitor.user_agent);
                    let (clicked_at, visitor) = (event.occurred_at, &click.visitor);
                    stats.count(&CountedClick { clicked_at, visitor, client: &client });
                }
                _ => uncounted.push(event),
            }
        }
        Self { counted: stats.days.remove(&day), last_click_at: stats.totals.last_click_at, uncounted }
    }
}

/// The click of an event.
pub fn clicked(event: &Event) -> Option<&UrlClicked> {
    match &event.detail {
        EventDetail::UrlClicked(click) => Some(click),
        _ => None,
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
