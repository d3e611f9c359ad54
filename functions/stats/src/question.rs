//! What a request asks about a link's clicks: of which time, of whose, and how it is to be shown.

use std::{ops::Range, time::Duration};

use linklet_domain::{ClickFilter, Day, Dimension, Interval, Invalid, Moment, Timestamp};
use linklet_lambda::http::{ApiError, Request, Result};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;

/// The longest time whose clicks are shown by hour, unless somebody wants days.
const HOURLY: Duration = Duration::from_secs(3 * 86_400);

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The parameters that narrow a question, and the dimensions that they are about.
const FILTERS: [(&str, Dimension); 9] = [
    ("country", Dimension::Country),
    ("device", Dimension::Device),
    ("browser", Dimension::Browser),
    ("os", Dimension::OperatingSystem),
    ("referer", Dimension::Referer),
    ("referrer", Dimension::Referer),
    ("destination", Dimension::Destination),
    ("source", Dimension::Source),
    ("campaign", Dimension::Campaign),
];

/// A question about the clicks of a link.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// Its end is exclusive.
    pub time: Range<Timestamp>,
    pub zone: Zone,
    pub interval: Interval,
    pub filter: ClickFilter,
}

impl Question {
    /// Whether the request asks about a time, or narrows the clicks of the last 30 days. What generated clients send though nobody has
    /// asked for it, as the defaults of `format`, `table` and `top`, is no question.
    pub(crate) fn is_in(request: &Request) -> bool {
        let filters = FILTERS.into_iter().map(|(name, _)| name);
        let asks = ["from", "to", "tz", "interval", "audience"].into_iter().chain(filters);
        asks.into_iter().any(|name| request.query(name).is_some()) || request.query("format") == Some("csv")
    }

    /// # Errors
    /// 400 when a parameter has another form, or the time is too long.
    pub(crate) fn parse(request: &Request) -> Result<Self> {
        let zone = request.parsed("tz", Zone::parse)?.unwrap_or_else(Zone::utc);
        let time = time(request, &zone)?;
        let shown = if time.start.until(time.end) <= HOURLY { Interval::Hour } else { Interval::Day };
        let interval = request.parsed("interval", Interval::parse)?.unwrap_or(shown);
        Ok(Self { time, zone, interval, filter: filter(request)? })
    }

    /// The time before, which is as long: as many days, if the time has whole days of the zone.
    pub(crate) fn before(&self) -> Range<Timestamp> {
        let Range { start, end } = self.time;
        let [first, last] = [start, end].map(|at| self.zone.local(at).day());
        let has_whole_days = self.zone.start_of(first) == start && self.zone.start_of(last) == end;
        let length = if has_whole_days { first.start().until(last.start()) } else { start.until(end) };
        let before = match has_whole_days {
            true => self.zone.start_of(first.start().minus(length).day()),
            false => start.minus(length),
        };
        before..start
    }

    /// Where clocks of a zone put a click.
    pub(crate) fn moment(&self, zone: &Zone) -> impl Fn(Timestamp) -> Moment {
        let (zone, interval) = (zone.clone(), self.interval);
        move |at| {
            let local = zone.local(at);
            let period = match interval {
                Interval::Day => local.day().to_string(),
                Interval::Hour => start_of_hour(&zone, at),
            };
            Moment { period, weekday: local.day().weekday(), hour: local.hour() }
        }
    }
}

/// When the hour began that clocks of a zone show, as a UTC time without seconds that are always zero.
fn start_of_hour(zone: &Zone, at: Timestamp) -> String {
    let local = zone.local(at);
    let into = local.day().at_hour(local.hour()).until(local);
    let text = at.minus(into).to_string();
    format!("{}:00Z", &text[..16])
}

/// The filter that a request has.
///
/// # Errors
/// When a value is none.
pub(crate) fn filter(request: &Request) -> Result<ClickFilter, Invalid> {
    let mut filter = ClickFilter::default();
    for audience in request.queries("audience") {
        filter.allow_audience(audience).map_err(|refused| refused.in_field("audience"))?;
    }
    for (name, dimension) in FILTERS {
        for value in request.queries(name) {
            filter.allow(dimension, value).map_err(|refused| refused.in_field(name))?;
        }
    }
    Ok(filter)
}

/// The ends of a time that may have only one, or none: moments, or days of the zone, of which the last one is part of the time.
///
/// # Errors
/// 400 when one is neither, or the time ends before it begins.
pub(crate) fn time_ends(request: &Request, zone: &Zone) -> Result<(Option<Timestamp>, Option<Timestamp>), Invalid> {
    let end_of = |day: Day| zone.end_of(day).plus(Duration::from_millis(1));
    let ends = (request.moment("from", |day| zone.start_of(day))?, request.moment("to", end_of)?);
    match ends {
        (Some(from), Some(to)) if from >= to => Err(Invalid::new("from must be before to").in_field("from")),
        ends => Ok(ends),
    }
}

/// The time from `from` up to `to`: moments, or days of the zone, of which the last one is part of the time.
///
/// # Errors
/// 400 when there is no such time, or it is too long.
pub(crate) fn time(request: &Request, zone: &Zone) -> Result<Range<Timestamp>> {
    let (from, to) = time_ends(request, zone)?;
    let to = to.unwrap_or(request.received_at);
    let month_before = || {
        let last = zone.local(to.minus(Duration::from_millis(1))).day();
        zone.start_of(last.start().minus(DAY * (StatsQueryLimiter::DEFAULT_DAYS - 1)).day())
    };
    let from = from.unwrap_or_else(month_before);
    Invalid::field_when("from", from >= to, "from must be before to")?;
    // Where clocks are set back, a day is longer.
    if from.until(to) > DAY * StatsQueryLimiter::MOST_DAYS as u32 + Duration::from_secs(3_600) {
        return Err(ApiError::RangeTooLong { most: StatsQueryLimiter::MOST_DAYS, members_get_more: false });
    }
    Ok(from..to)
}
