//! What a request asks about the links of a workspace.

use std::{ops::RangeInclusive, time::Duration};

use linklet_domain::{Audience, AudienceGroup, ClickFilter, Day, Invalid, OverviewQuestion, Tag, Timestamp};
use linklet_lambda::http::{ApiError, Request, Result};
use linklet_lambda::throttle::StatsQueryLimiter;

const DAY: Duration = Duration::from_secs(86_400);

/// The question of an overview, which is about a time if the request says one.
///
/// # Errors
/// 400 when a parameter has another form, or the time is too long.
pub(crate) fn of_overview(request: &Request) -> Result<OverviewQuestion> {
    let is_about_time = ["from", "to"].into_iter().any(|name| request.query(name).is_some());
    let days = is_about_time.then(|| days(request)).transpose()?;
    Ok(OverviewQuestion { tag: request.parsed("tag", Tag::parse)?, days })
}

/// The question of breakdowns, and whose they are.
///
/// # Errors
/// 400 when a parameter has another form, or the time is too long.
pub(crate) fn of_breakdowns(request: &Request) -> Result<(OverviewQuestion, AudienceGroup)> {
    let group = group(request)?;
    Ok((OverviewQuestion { tag: request.parsed("tag", Tag::parse)?, days: Some(days(request)?) }, group))
}

fn days(request: &Request) -> Result<RangeInclusive<Day>> {
    let (from, to) = request.time_between(("from", "to"))?;
    let last = to.unwrap_or(request.received_at).day();
    let first =
        from.map_or_else(|| last.start().minus(DAY * (StatsQueryLimiter::DEFAULT_DAYS - 1)).day(), Timestamp::day);
    Invalid::field_when("from", first > last, "from must not be later than to")?;
    if first.start().until(last.start()) >= DAY * StatsQueryLimiter::MOST_DAYS as u32 {
        return Err(ApiError::RangeTooLong { most: StatsQueryLimiter::MOST_DAYS, members_get_more: false });
    }
    Ok(first..=last)
}

/// # Errors
/// When an audience is none, or days don't tell those apart that are given.
fn group(request: &Request) -> Result<AudienceGroup, Invalid> {
    let mut filter = ClickFilter::default();
    for audience in request.queries("audience") {
        filter.allow_audience(audience).map_err(|refused| refused.in_field("audience"))?;
    }
    let together = || {
        let [bot, prefetch]: [&str; 2] = [Audience::Bot, Audience::Prefetch].map(Into::into);
        Invalid::new(format!("days only tell {bot} and {prefetch} together from others")).in_field("audience")
    };
    filter.group().ok_or_else(together)
}
