//! What has to come out, computed from the clicks and from nothing that counts.

use std::collections::{BTreeMap, BTreeSet};

use linklet_domain::{AudienceGroup, ClickCount, ClickId, Event, LinkClicks, LinkId, Timestamp, UserId, WorkspaceId};
pub use linklet_test_support::AGENTS;
use linklet_test_support::{Agent, ClickBuilder};

/// A link that is clicked on.
#[derive(Debug, Clone)]
pub struct Link {
    pub id: LinkId,
    pub workspace: WorkspaceId,
    pub owner: UserId,
}

/// Referrers as they are sent, and as they are counted.
pub const REFERERS: [(Option<&str>, Option<&str>); 6] = [
    (None, None),
    (Some("https://news.example/"), Some("https://news.example/")),
    (Some("https://news.example/?utm_source=mail"), Some("https://news.example/")),
    (Some("https://forum.example/t/42#comment-7"), Some("https://forum.example/t/42")),
    (Some("?x"), None),
    (Some("android-app://org.example.reader/"), Some("android-app://org.example.reader")),
];

/// Countries as they are sent.
pub const COUNTRIES: [Option<&str>; 4] = [None, Some("DE"), Some("FR"), Some("JP")];

/// The queries of short links with which people come, whether that is a scan, and the campaign that is counted.
pub const QUERIES: [(&str, bool, Option<&str>); 6] = [
    ("", false, None),
    ("", false, None),
    ("qr=1", true, None),
    ("qr=1&utm_source=poster", true, Some("poster / - / -")),
    ("ref=1&utm_source=news&utm_medium=mail&utm_campaign=spring%20sale", false, Some("news / mail / spring sale")),
    ("qr=0&utm_source=", false, None),
];

/// A click, as it was and not as it is counted.
#[derive(Debug, Clone)]
pub struct Click {
    /// The place of the link among all.
    pub link: usize,
    /// Milliseconds since 1970.
    pub at: u64,
    /// The number of the visitor.
    pub who: u64,
    pub agent: &'static Agent,
    pub referer: (Option<&'static str>, Option<&'static str>),
    pub country: Option<&'static str>,
    pub query: (&'static str, bool, Option<&'static str>),
    pub prefetch: bool,
    /// What tells it from others of the same moment.
    pub number: usize,
}

impl Click {
    /// Made of the time and a number, as that of a real click is: clicks of one moment have similar ids.
    pub fn id(&self) -> ClickId {
        let first = ClickId::first_at(self.at()).to_string();
        ClickId::parse(&format!("{}{:08}", &first[..7], self.number)).unwrap()
    }

    pub fn at(&self) -> Timestamp {
        let seconds = i64::try_from(self.at / 1_000).unwrap();
        Timestamp::from_unix_seconds(seconds).unwrap().plus(std::time::Duration::from_millis(self.at % 1_000))
    }

    pub fn event(&self, link: &Link) -> Event {
        let mut click = ClickBuilder::new(link.id.code.as_str())
            .in_workspace(&link.workspace)
            .owned_by(&link.owner)
            .at(self.at())
            .by(&format!("visitor {}", self.who))
            .with(self.agent.text)
            .coming_with(self.query.0);
        if let Some(referer) = self.referer.0 {
            click = click.from(referer);
        }
        if let Some(country) = self.country {
            click = click.in_country(country);
        }
        if self.prefetch {
            click = click.prefetching();
        }
        Event { event_id: self.id().into(), ..click.build() }
    }

    /// One of the four sources.
    fn source(&self) -> &'static str {
        match (self.query, self.referer) {
            ((_, true, _), _) => "qr",
            ((_, _, Some(_)), _) => "campaign",
            (_, (_, Some(_))) => "link",
            _ => "direct",
        }
    }

    fn is_by_a_person(&self) -> bool {
        self.agent.device != "bot" && !self.prefetch
    }
}

/// Who clicked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers {
    pub clicks: u64,
    pub human_clicks: u64,
    pub visitors: u64,
    /// Those of people, and those of machines.
    pub breakdowns: BTreeMap<(AudienceGroup, &'static str), BTreeMap<String, u64>>,
}

impl Numbers {
    fn of<'a>(clicks: impl IntoIterator<Item = &'a Click>) -> Self {
        let mut numbers = Self::default();
        let mut people = BTreeSet::new();
        for click in clicks {
            numbers.clicks += 1;
            if click.is_by_a_person() {
                numbers.human_clicks += 1;
                people.insert(click.who);
            }
            let group = if click.is_by_a_person() { AudienceGroup::Human } else { AudienceGroup::Automated };
            let Agent { device, browser, os, .. } = click.agent;
            for (name, value) in [
                ("devices", Some(*device)),
                ("browsers", Some(*browser)),
                ("operating_systems", Some(*os)),
                ("countries", Some(click.country.unwrap_or("unknown"))),
                ("referers", click.referer.1),
                ("sources", Some(click.source())),
                ("campaigns", click.query.2),
            ] {
                if let Some(value) = value {
                    let counts = numbers.breakdowns.entry((group, name)).or_default();
                    *counts.entry(value.to_owned()).or_default() += 1;
                }
            }
        }
        numbers.visitors = people.len() as u64;
        numbers
    }
}

/// All that is known about a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    pub life: Numbers,
    /// The clicks of each day, and of its hours.
    pub days: BTreeMap<String, (Numbers, [ClickCount; 24])>,
    pub last_click_at: Option<Timestamp>,
    pub milestones: Vec<u64>,
    /// The ids of all counted clicks.
    pub ids: BTreeSet<ClickId>,
}

impl Expected {
    /// Of these clicks, which are on one link and all different.
    pub fn of(clicks: &[&Click]) -> Self {
        let mut by_day: BTreeMap<String, Vec<&Click>> = BTreeMap::new();
        for click in clicks {
            by_day.entry(day(click)).or_default().push(click);
        }
        Self {
            life: Numbers::of(clicks.iter().copied()),
            days: by_day
                .into_iter()
                .map(|(day, clicks)| (day, (Numbers::of(clicks.clone()), hours(&clicks))))
                .collect(),
            last_click_at: clicks.iter().map(|click| click.at()).max(),
            milestones: [10, 100, 1_000, 10_000, 100_000]
                .into_iter()
                .filter(|round| *round <= clicks.len() as u64)
                .collect(),
            ids: clicks.iter().map(|click| click.id()).collect(),
        }
    }

    /// As lists have it.
    pub fn listed(&self) -> LinkClicks {
        LinkClicks { total: self.life.clicks, last: self.last_click_at }
    }

    /// The clicks before a day.
    pub fn before(clicks: &[&Click], until: &str) -> Numbers {
        Numbers::of(clicks.iter().copied().filter(|click| day(click).as_str() < until))
    }
}

/// `2026-03-02` of `2026-03-02T14:05:09.120Z`.
fn day(click: &Click) -> String {
    click.at().to_string()[..10].to_owned()
}

fn hours(clicks: &[&Click]) -> [ClickCount; 24] {
    std::array::from_fn(|hour| {
        let of_hour = clicks.iter().copied().filter(|click| click.at / 3_600_000 % 24 == hour as u64);
        let numbers = Numbers::of(of_hour);
        ClickCount { clicks: numbers.clicks, human_clicks: numbers.human_clicks }
    })
}
