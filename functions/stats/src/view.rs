//! The JSON representations of answers about a time.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{
    Audience, Click, ClickCount, ClickId, Client, CountryCode, Device, Dimension, Findings, Point, ShortCode, Source,
    Timestamp,
};
use linklet_lambda::breakdown_view::{ValueCount, site_counts, value_counts};
use linklet_lambda::http::{NextPage, Request};
use serde::Serialize;

use crate::answer::{Answer, Asked, Covers, Period};
use crate::user_agent_cache::UserAgentCache;

#[derive(Serialize)]
pub(crate) struct PeriodView<'a> {
    short_code: &'a ShortCode,
    from: Timestamp,
    to: Timestamp,
    tz: &'a str,
    interval: &'static str,
    as_of: Timestamp,
    total_clicks: u64,
    human_clicks: u64,
    unique_visitors: u64,
    #[serde(flatten)]
    breakdowns: BTreeMap<&'static str, Vec<ValueCount>>,
    week: [[u64; 24]; 7],
    points: Vec<Point>,
    before: Option<BeforeView>,
    covers: Option<Covers>,
}

#[derive(Serialize)]
struct BeforeView {
    from: Timestamp,
    to: Timestamp,
    total_clicks: u64,
    human_clicks: u64,
    unique_visitors: u64,
    points: Vec<Point>,
}

impl<'a> PeriodView<'a> {
    /// Without what is nobody's matter but the workspace's, as in the public summary: pages of referrers, where the link leads whom, and
    /// what its campaigns are called.
    pub(crate) fn for_strangers(asked: Asked<'a>, answer: &'a Answer) -> Self {
        let mut view = Self::new(asked, answer);
        let [destinations, campaigns] = [Dimension::Destination, Dimension::Campaign].map(Dimension::name);
        view.breakdowns.retain(|name, _| *name != destinations && *name != campaigns);
        let sites = site_counts(&answer.period.findings.by(Dimension::Referer));
        view.breakdowns.insert(Dimension::Referer.name(), sites);
        view
    }

    pub(crate) fn new(asked: Asked<'a>, answer: &'a Answer) -> Self {
        let Period { time, findings } = &answer.period;
        let ClickCount { clicks, human_clicks } = findings.count();
        let breakdown = |dimension: Dimension| (dimension.name(), value_counts(&findings.by(dimension), dimension));
        Self {
            short_code: &asked.link.code,
            from: time.start,
            to: time.end,
            tz: answer.zone.name(),
            interval: asked.question.interval.into(),
            as_of: minute_of(asked.now),
            total_clicks: clicks,
            human_clicks,
            unique_visitors: findings.visitors(),
            breakdowns: Dimension::ALL.into_iter().map(breakdown).collect(),
            week: findings.week,
            points: points(findings),
            before: answer.before.as_ref().map(BeforeView::from),
            covers: answer.covers,
        }
    }
}

/// The minute that a time is in: all clicks that were counted before it are in the answer, which so stays the same for a while.
fn minute_of(time: Timestamp) -> Timestamp {
    time.minus(Duration::from_millis(time.unix_millis() % 60_000))
}

impl From<&Period> for BeforeView {
    fn from(Period { time, findings }: &Period) -> Self {
        let ClickCount { clicks, human_clicks } = findings.count();
        Self {
            from: time.start,
            to: time.end,
            total_clicks: clicks,
            human_clicks,
            unique_visitors: findings.visitors(),
            points: points(findings),
        }
    }
}

fn points(findings: &Findings) -> Vec<Point> {
    let point = |(period, count): (&String, &ClickCount)| Point {
        period: period.clone(),
        clicks: count.clicks,
        human_clicks: count.human_clicks,
    };
    findings.points.iter().map(point).collect()
}

/// A click in the API. The hash of the address is left out, since it would show which clicks come from the same person.
#[derive(Serialize)]
pub(crate) struct ClickView {
    pub id: ClickId,
    pub clicked_at: Timestamp,
    pub audience: Audience,
    pub device: Device,
    pub browser: String,
    pub browser_version: String,
    pub os: String,
    pub country: Option<CountryCode>,
    pub city: Option<String>,
    pub referer: Option<String>,
    pub source: &'static str,
    pub campaign: Option<String>,
    pub user_agent: String,
}

impl ClickView {
    pub(crate) fn new(click: Click, user_agents: &mut UserAgentCache) -> Self {
        let visitor = click.visitor;
        let client = user_agents.client(&visitor).clone();
        let audience = Audience::of(&visitor, &client);
        let source = Source::of(&visitor).into();
        let Client { device, browser, version, os } = client;
        Self {
            clicked_at: click.id.at(),
            id: click.id,
            audience,
            device,
            browser,
            browser_version: version,
            os,
            country: visitor.country,
            city: visitor.city,
            referer: visitor.referer,
            source,
            campaign: visitor.campaign.map(|campaign| campaign.to_string()),
            user_agent: visitor.user_agent,
        }
    }
}

/// Where clicks go on: the next page begins behind this click.
pub(crate) fn next_page(request: &Request, last: Option<ClickId>) -> NextPage {
    request.next_page(last.map(|id| URL_SAFE_NO_PAD.encode(id.to_bytes())))
}
