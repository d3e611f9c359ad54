//! The JSON representations of an overview.

use std::collections::{BTreeMap, HashMap};

use linklet_domain::{
    AudienceGroup, ClickCount, CoveredLinks, Day, Dimension, DownTarget, Link, LinkCounts, LinkId, Overview,
    OverviewBreakdowns, OverviewPart, OverviewTime, Period, ShortCode, Tag, TagCount, TargetUrl, Timestamp, Title,
};
use linklet_lambda::breakdown_view::{ValueCount, site_counts, value_counts};
use linklet_lambda::http::{ListPage, NextPage, Request, ShortUrls};
use serde::Serialize;

#[derive(Serialize)]
pub struct OverviewView<'o> {
    as_of: Timestamp,
    tag: Option<&'o Tag>,
    links: LinksView,
    clicks: ClicksView,
    period: Option<PeriodView>,
    days: Vec<DayView>,
    top_links: Vec<TopLinkView>,
    down: &'o [DownTarget],
    incomplete: Vec<OverviewPart>,
}

#[derive(Serialize)]
struct LinksView {
    total: u64,
    #[serde(flatten)]
    by_status: LinkCounts,
}

#[derive(Serialize)]
struct ClicksView {
    today: Period,
    last_7_days: Period,
    last_30_days: Period,
}

/// The time that somebody asked about.
#[derive(Serialize)]
struct PeriodView {
    from: Day,
    to: Day,
    total_clicks: u64,
    human_clicks: u64,
    total_clicks_before: Option<u64>,
    human_clicks_before: Option<u64>,
    covers: Option<CoveredLinks>,
}

impl From<&OverviewTime> for PeriodView {
    fn from(time: &OverviewTime) -> Self {
        let ClickCount { clicks, human_clicks } = time.count();
        Self {
            from: time.first,
            to: time.last,
            total_clicks: clicks,
            human_clicks,
            total_clicks_before: time.before.map(|before| before.clicks),
            human_clicks_before: time.before.map(|before| before.human_clicks),
            covers: time.covers,
        }
    }
}

#[derive(Serialize)]
struct DayView {
    date: Day,
    clicks: u64,
    human_clicks: u64,
}

#[derive(Serialize)]
struct TopLinkView {
    short_code: ShortCode,
    short_url: String,
    /// Absent for strangers, since a link may lead them there only if they know a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    original_url: Option<TargetUrl>,
    title: Option<Title>,
    total_clicks: u64,
    human_clicks: u64,
}

impl<'o> OverviewView<'o> {
    /// `top` are the most followed links as far as they are still there, in their order.
    pub fn new(request: &Request, short_urls: &ShortUrls, overview: &'o Overview, top: Vec<Link>) -> Self {
        let counts: HashMap<&LinkId, _> = overview.top.iter().map(|top| (&top.id, top.count)).collect();
        let top_link = |link: Link| {
            let count = counts.get(link.id()).copied().unwrap_or_default();
            TopLinkView {
                short_url: short_urls.of(request, link.code()),
                short_code: link.identity.id.code,
                original_url: Some(link.target),
                title: link.metadata.title,
                total_clicks: count.clicks,
                human_clicks: count.human_clicks,
            }
        };
        Self {
            as_of: overview.as_of,
            tag: overview.tag.as_ref(),
            period: overview.time.as_ref().map(PeriodView::from),
            links: LinksView { total: overview.links.total(), by_status: overview.links },
            clicks: ClicksView {
                today: overview.last_days(1),
                last_7_days: overview.last_days(7),
                last_30_days: overview.last_days(30),
            },
            days: overview
                .series()
                .map(|(date, count)| DayView { date, clicks: count.clicks, human_clicks: count.human_clicks })
                .collect(),
            top_links: top.into_iter().map(top_link).collect(),
            down: &overview.down,
            incomplete: overview.incomplete.clone(),
        }
    }

    /// Without destinations, and without what is monitored.
    pub fn for_strangers(request: &Request, short_urls: &ShortUrls, overview: &'o Overview, top: Vec<Link>) -> Self {
        let mut view = Self::new(request, short_urls, overview, top);
        view.top_links.iter_mut().for_each(|link| link.original_url = None);
        view.down = &[];
        view.incomplete.retain(|part| *part != OverviewPart::Down);
        view
    }
}

#[derive(Serialize)]
pub struct TagsView {
    as_of: Timestamp,
    /// Those that most links have come first.
    tags: Vec<TagView>,
    #[serde(flatten)]
    next: NextPage,
    /// How many tags there are.
    total: u64,
    incomplete: Vec<OverviewPart>,
}

/// A tag as the API shows it. What is kept of an overview has a form of its own.
#[derive(Serialize)]
pub struct TagView {
    tag: String,
    links: u64,
    total_clicks: u64,
}

impl From<TagCount> for TagView {
    fn from(TagCount { tag, links, clicks: total_clicks }: TagCount) -> Self {
        Self { tag, links, total_clicks }
    }
}

impl TagsView {
    pub fn new(overview: &Overview, (tags, next): ListPage<TagCount>) -> Self {
        Self {
            as_of: overview.as_of,
            tags: tags.into_iter().map(TagView::from).collect(),
            next,
            total: overview.tags_total,
            incomplete: lacking_of_tags(overview),
        }
    }
}

/// What could not be read of all that tags are about.
pub fn lacking_of_tags(overview: &Overview) -> Vec<OverviewPart> {
    let concerns_tags = |part: &&OverviewPart| matches!(part, OverviewPart::Links | OverviewPart::Clicks);
    overview.incomplete.iter().filter(concerns_tags).copied().collect()
}

#[derive(Serialize)]
pub struct BreakdownsView<'b> {
    as_of: Timestamp,
    tag: Option<&'b Tag>,
    from: Day,
    to: Day,
    total_clicks: u64,
    human_clicks: u64,
    #[serde(flatten)]
    breakdowns: BTreeMap<&'static str, Vec<ValueCount>>,
    covers: Option<CoveredLinks>,
    incomplete: &'b [OverviewPart],
}

impl<'b> BreakdownsView<'b> {
    /// Those of a group, without pages of referrers and names of campaigns.
    pub fn for_strangers(breakdowns: &'b OverviewBreakdowns, group: AudienceGroup) -> Self {
        let mut view = Self::new(breakdowns, group);
        view.breakdowns.insert(Dimension::Referer.name(), site_counts(&breakdowns.by(Dimension::Referer, group)));
        view.breakdowns.insert(Dimension::Campaign.name(), Vec::new());
        view
    }

    /// Those of a group.
    pub fn new(breakdowns: &'b OverviewBreakdowns, group: AudienceGroup) -> Self {
        let ClickCount { clicks, human_clicks } = breakdowns.count(group);
        let of = |dimension| value_counts(&breakdowns.by(dimension, group), dimension);
        Self {
            as_of: breakdowns.as_of,
            tag: breakdowns.tag.as_ref(),
            from: breakdowns.first,
            to: breakdowns.last,
            total_clicks: clicks,
            human_clicks,
            breakdowns: OverviewBreakdowns::DIMENSIONS.into_iter().map(|by| (by.name(), of(by))).collect(),
            covers: breakdowns.covers,
            incomplete: &breakdowns.incomplete,
        }
    }
}
