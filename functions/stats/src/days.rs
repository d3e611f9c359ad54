//! Clicks over time: `GET /api/stats/{code}/timeline` and `/daily`.

use std::{ops::RangeInclusive, time::Duration};

use linklet_domain::{
    Day, DayStats, Device, Dimension, Interval, Invalid, LinkId, Point, ShortCode, Timestamp, lifetimes, timeline,
};
use linklet_lambda::http::{ApiError, Request, Response, StatusCode, json};
use serde::Serialize;

use crate::{
    Stats,
    summary::{ValueCount, counts},
    zone::Zone,
};

/// Maximum number of days in a response: as many as can still be compared with raw clicks.
const MOST_DAYS: u64 = lifetimes::in_days(lifetimes::RAW_CLICKS);

impl Stats {
    pub(crate) async fn timeline(&self, request: &Request, link: &LinkId) -> Result<Response, ApiError> {
        let interval = request.parsed("interval", Interval::parse)?.unwrap_or(Interval::Day);
        let zone = request.parsed("tz", Zone::parse)?.unwrap_or_else(Zone::utc);
        let days = range(request, &zone)?;
        let stats = self.stats.days(link, &zone.utc_days(&days)).await?;
        let points = timeline(&stats, interval, &days, |hour| zone.local(hour));
        Ok(json(StatusCode::OK, &TimelineView { short_code: &link.code, interval: interval.as_str(), points }))
    }

    pub(crate) async fn daily(&self, request: &Request, link: &LinkId) -> Result<Response, ApiError> {
        let stats = self.stats.days(link, &range(request, &Zone::utc())?).await?;
        let days = stats.days.iter().map(|(day, stats)| DayView::new(*day, stats)).collect();
        Ok(json(StatusCode::OK, &DailyView { short_code: &link.code, days }))
    }
}

/// The days between the query parameters `from` and `to`, both inclusive. By default `to` is today, and the range has
/// [`MOST_DAYS`] days.
fn range(request: &Request, zone: &Zone) -> Result<RangeInclusive<Day>, Invalid> {
    let span = Duration::from_secs((MOST_DAYS - 1) * 86_400);
    let (from, to) = request.time_between(("from", "to"))?;
    let to = to.unwrap_or_else(|| zone.local(request.received_at())).day();
    let first = to.start().minus(span).day();
    let from = from.map_or(first, Timestamp::day);
    if from > to {
        return Err(Invalid::new("from must not be later than to").in_field("from"));
    }
    if from < first {
        return Err(Invalid::new(format!("from and to must include at most {MOST_DAYS} days")).in_field("from"));
    }
    zone.require_whole_hours(&(from..=to))?;
    Ok(from..=to)
}

#[derive(Serialize)]
struct TimelineView<'a> {
    short_code: &'a ShortCode,
    interval: &'static str,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct DailyView<'a> {
    short_code: &'a ShortCode,
    days: Vec<DayView>,
}

#[derive(Serialize)]
struct DayView {
    date: Day,
    total_clicks: u64,
    human_clicks: u64,
    unique_visitors: u64,
    desktop: u64,
    mobile: u64,
    tablet: u64,
    bot: u64,
    unknown: u64,
    countries: Vec<ValueCount>,
}

impl DayView {
    fn new(date: Day, stats: &DayStats) -> Self {
        let profile = &stats.profile;
        let devices = &profile.by(Dimension::Device).counts;
        let clicks_of = |device: Device| devices.get(device.as_str()).copied().unwrap_or_default();
        Self {
            date,
            total_clicks: profile.clicks,
            human_clicks: profile.human_clicks,
            unique_visitors: profile.visitors.estimate(),
            desktop: clicks_of(Device::Desktop),
            mobile: clicks_of(Device::Mobile),
            tablet: clicks_of(Device::Tablet),
            bot: clicks_of(Device::Bot),
            unknown: clicks_of(Device::Unknown),
            countries: counts(profile, Dimension::Country),
        }
    }
}
