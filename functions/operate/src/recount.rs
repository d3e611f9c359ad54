//! What should be counted for a link, by its raw clicks.

use std::{ops::Range, time::Duration};

use linklet_domain::{Click, Day, DayStats, Timestamp};
use linklet_user_agents::Classifier;

/// A day of raw clicks, sorted by whether they are counted.
#[derive(Debug, Default)]
pub struct DayOfClicks {
    /// As many numbers as the counted clicks make.
    pub counted: Option<DayStats>,
    /// Those that are not counted, or not yet.
    pub uncounted: Vec<Click>,
}

impl DayOfClicks {
    /// Counts a day's clicks.
    pub fn of(clicks: Vec<Click>, is_counted: impl Fn(&Click) -> bool, classifier: &Classifier) -> Self {
        let (counted, uncounted): (Vec<_>, Vec<_>) = clicks.into_iter().partition(is_counted);
        let mut stats = DayStats::default();
        for click in &counted {
            stats.count(click.clicked_at(), &click.visitor, &classifier.classify(&click.visitor.user_agent));
        }
        Self { counted: (!counted.is_empty()).then_some(stats), uncounted }
    }
}

/// The time of a day.
pub fn of_day(day: Day) -> Range<Timestamp> {
    day.start()..day.start().plus(Duration::from_secs(86_400))
}
