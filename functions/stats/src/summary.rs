//! `GET /api/stats/{code}`: the summary of a link's statistics.

use std::{cmp::Reverse, collections::BTreeMap, time::Duration};

use linklet_domain::{AudienceGroup, Dimension, Invalid, LinkId, Profile, ShortCode, Summary, Timestamp, site_of};
use linklet_lambda::breakdown_view::{ValueCount, value_counts};
use linklet_lambda::http::{Request, Response, Result, StatusCode, json};
use serde::Serialize;

use crate::Stats;

/// The longest window of the summary.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl Stats {
    pub(crate) async fn summary(&self, request: &Request, link: &LinkId, referrers: Referrers) -> Result<Response> {
        let top = request.parsed("top", most_referrers)?.unwrap_or(TOP);
        let now = request.received_at;
        let stats = self.stats.since(link, now.minus(WEEK).day()).await?;
        Ok(json(StatusCode::OK, &SummaryView::new(&link.code, &stats.summary(now), (referrers, top))))
    }
}

/// How many referrers a summary shows unless somebody wants another number.
const TOP: usize = 5;

fn most_referrers(text: &str) -> Result<usize, Invalid> {
    let kept = Dimension::Referer.capacity(AudienceGroup::All);
    let wanted = text.parse().ok().filter(|wanted| (1..=kept).contains(wanted));
    wanted.ok_or_else(|| Invalid::new(format!("top must be a whole number from 1 to {kept}")))
}

/// How much of its referrers a summary shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Referrers {
    /// The addresses of pages, which may tell secrets, such as who works on what.
    Pages,
    /// The hosts of pages only, and apps.
    Hosts,
}

impl Referrers {
    /// Anybody sees the hosts of a link's referrers. Whoever may see single clicks sees the pages, too.
    pub(crate) fn seen_by(may_see_details: bool) -> Self {
        if may_see_details { Self::Pages } else { Self::Hosts }
    }

    /// The most frequent of a link's referrers.
    fn top(self, profile: &Profile, most: usize) -> Vec<ValueCount> {
        let pages = profile.by(Dimension::Referer, AudienceGroup::All);
        let ranked = match self {
            Self::Pages => pages.ranked(),
            Self::Hosts => ranked_sites(pages.ranked()),
        };
        ranked.into_iter().take(most).map(|(value, count)| ValueCount::new(Dimension::Referer, value, count)).collect()
    }
}

/// The sites of pages with their clicks, most frequent first, and equally frequent ones in alphabetical order.
fn ranked_sites(pages: Vec<(&str, u64)>) -> Vec<(&str, u64)> {
    let mut sites: BTreeMap<&str, u64> = BTreeMap::new();
    for (page, clicks) in pages {
        *sites.entry(site_of(page)).or_default() += clicks;
    }
    let mut ranked: Vec<_> = sites.into_iter().collect();
    ranked.sort_by_key(|(_, clicks)| Reverse(*clicks));
    ranked
}

#[derive(Serialize)]
struct SummaryView<'a> {
    short_code: &'a ShortCode,
    total_clicks: u64,
    human_clicks: u64,
    unique_visitors: u64,
    clicks_last_24h: u64,
    clicks_last_7d: u64,
    #[serde(flatten)]
    breakdowns: BTreeMap<&'static str, Vec<ValueCount>>,
    last_click_at: Option<Timestamp>,
}

impl<'a> SummaryView<'a> {
    fn new(short_code: &'a ShortCode, summary: &Summary, referrers: (Referrers, usize)) -> Self {
        let shown = |dimension| shown(&summary.profile, dimension, referrers);
        let is_member = referrers.0 == Referrers::Pages;
        // Where a link leads whom, and what its campaigns are called, is nobody's matter but its workspace's.
        let is_shown = |dimension: &Dimension| match dimension {
            // Most links lead to one place.
            Dimension::Destination => is_member && summary.profile.clicks_with(Dimension::Destination) > 0,
            Dimension::Campaign => is_member,
            _ => true,
        };
        Self {
            short_code,
            total_clicks: summary.total_clicks,
            human_clicks: summary.human_clicks,
            unique_visitors: summary.unique_visitors,
            clicks_last_24h: summary.clicks_last_24h,
            clicks_last_7d: summary.clicks_last_7d,
            breakdowns: Dimension::ALL.into_iter().filter(is_shown).map(shown).collect(),
            last_click_at: summary.last_click_at,
        }
    }
}

/// A breakdown with its member's name: of the referrers only so many of the most frequent, and of the others all.
fn shown(
    profile: &Profile,
    dimension: Dimension,
    (referrers, most): (Referrers, usize),
) -> (&'static str, Vec<ValueCount>) {
    match dimension {
        Dimension::Referer => ("top_referers", referrers.top(profile, most)),
        _ => (dimension.name(), value_counts(&profile.by(dimension, AudienceGroup::All), dimension)),
    }
}
