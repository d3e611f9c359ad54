//! Clicks over time: `GET /api/stats/{code}/timeline` and `/daily`.

use std::{ops::RangeInclusive, time::Duration};

use linklet_domain::{
    AudienceGroup, Day, DayStats, Device, Dimension, Interval, Invalid, LinkId, Point, ShortCode, Timestamp, timeline,
};
use linklet_lambda::breakdown_view::{ValueCount, value_counts};
use linklet_lambda::http::{ApiError, Request, Response, Result, StatusCode, json};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;
use serde::Serialize;

use crate::Stats;

/// Maximum number of days for anybody else. Each day is an item of several kilobytes that has to be read, so it must not be a
/// stranger who decides about hundreds of them.
const MOST_PUBLIC_DAYS: u64 = 31;

impl Stats {
    /// Only a range that not everybody may have needs to know who the caller is.
    pub(crate) async fn timeline(
        &self,
        request: &Request,
        link: &LinkId,
        may_see_details: Result<bool>,
    ) -> Result<Response> {
        let interval = request.parsed("interval", Interval::parse)?.unwrap_or(Interval::Day);
        let zone = request.parsed("tz", Zone::parse)?.unwrap_or_else(Zone::utc);
        let asked = DayRange::parse(request, &zone)?;
        let is_short = asked.days().is_some_and(|days| days <= MOST_PUBLIC_DAYS);
        let is_public = is_short || !may_see_details?;
        let days = asked.within(if is_public { Longest::PUBLIC } else { Longest::OF_MEMBERS })?;
        let zone = zone.or_utc(&days);
        let stats = self.stats.days(link, &zone.utc_days(&days)).await?;
        let points = timeline(&stats, interval, &days, |hour| zone.local(hour));
        Ok(json(
            StatusCode::OK,
            &TimelineView { short_code: &link.code, interval: interval.into(), tz: zone.name(), points },
        ))
    }

    pub(crate) async fn daily(&self, request: &Request, link: &LinkId) -> Result<Response> {
        let days = DayRange::parse(request, &Zone::utc())?.within(Longest::OF_MEMBERS)?;
        let stats = self.stats.days(link, &days).await?;
        let days = stats.days.iter().map(|(day, stats)| DayView::new(*day, stats)).collect();
        Ok(json(StatusCode::OK, &DailyView { short_code: &link.code, days }))
    }
}

/// How many days a caller may ask for.
#[derive(Clone, Copy)]
pub(crate) struct Longest {
    days: u64,
    members_get_more: bool,
}

impl Longest {
    pub const OF_MEMBERS: Self = Self { days: StatsQueryLimiter::MOST_DAYS, members_get_more: false };
    const PUBLIC: Self = Self { days: MOST_PUBLIC_DAYS, members_get_more: true };
}

/// The days that the query parameters `from` and `to` ask for, both inclusive.
pub(crate) struct DayRange {
    from: Option<Day>,
    to: Day,
}

impl DayRange {
    /// By default `to` is today.
    pub fn parse(request: &Request, zone: &Zone) -> Result<Self, Invalid> {
        let (from, to) = request.time_between(("from", "to"))?;
        let to = to.unwrap_or_else(|| zone.local(request.received_at)).day();
        let from = from.map(Timestamp::day);
        Invalid::field_when("from", from.is_some_and(|from| from > to), "from must not be later than to")?;
        Ok(Self { from, to })
    }

    /// How many days there are, if the request says so.
    fn days(&self) -> Option<u64> {
        self.from.map(|from| from.start().until(self.to.start()).as_secs() / 86_400 + 1)
    }

    /// The range of days, which without a beginning is as long as it may be.
    pub fn within(&self, longest: Longest) -> Result<RangeInclusive<Day>> {
        let Longest { days: most, members_get_more } = longest;
        if self.days().is_some_and(|days| days > most) {
            return Err(ApiError::RangeTooLong { most, members_get_more });
        }
        let span = Duration::from_secs((most - 1) * 86_400);
        Ok(self.from.unwrap_or_else(|| self.to.start().minus(span).day())..=self.to)
    }
}

#[derive(Serialize)]
struct TimelineView<'a> {
    short_code: &'a ShortCode,
    interval: &'static str,
    tz: &'a str,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct DailyView<'a> {
    short_code: &'a ShortCode,
    days: Vec<DayView>,
}

#[derive(Serialize)]
pub(crate) struct DayView {
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
    sources: Vec<ValueCount>,
    campaigns: Vec<ValueCount>,
}

impl DayView {
    pub fn new(date: Day, stats: &DayStats) -> Self {
        let profile = &stats.profile;
        let devices = profile.by(Dimension::Device, AudienceGroup::All).counts;
        let counts_by = |dimension| value_counts(&profile.by(dimension, AudienceGroup::All), dimension);
        let clicks_of = |device: Device| devices.get(<&str>::from(device)).copied().unwrap_or_default();
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
            countries: counts_by(Dimension::Country),
            sources: counts_by(Dimension::Source),
            campaigns: counts_by(Dimension::Campaign),
        }
    }
}
