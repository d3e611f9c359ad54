//! Questions about the clicks of a time: whose are meant, and what comes of those that fit.

use std::collections::{BTreeMap, BTreeSet};

use super::{AudienceGroup, Breakdown, ClickCount, DayStats, Dimension, Profile};
use crate::{Audience, Client, CountryCode, Day, Device, Invalid, Source, Timestamp, Visitor};

/// Which clicks are meant. Several values of one kind are alternatives, and each kind has to fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClickFilter {
    /// Those of all audiences, if there is none.
    audiences: BTreeSet<Audience>,
    values: BTreeMap<Dimension, BTreeSet<String>>,
}

impl ClickFilter {
    /// How many values of one kind there may be.
    pub const MOST_VALUES: usize = 20;
    /// The value of clicks that have none, such as those without a referrer.
    pub const NONE: &'static str = "(none)";

    /// Lets an audience fit.
    ///
    /// # Errors
    /// When the text is none.
    pub fn allow_audience(&mut self, text: &str) -> Result<(), Invalid> {
        let audience = text.parse().map_err(|_| Invalid::new("audience must be human, bot or prefetch"))?;
        self.audiences.insert(audience);
        Ok(())
    }

    /// Lets a value of a dimension fit.
    ///
    /// # Errors
    /// When no click can have it, or there are too many.
    pub fn allow(&mut self, dimension: Dimension, text: &str) -> Result<(), Invalid> {
        let value = match dimension {
            Dimension::Country if text != Dimension::UNKNOWN_COUNTRY => CountryCode::parse(text)?.to_string(),
            Dimension::Device if text.parse::<Device>().is_err() => {
                return Err(Invalid::new("device must be desktop, mobile, tablet, bot or unknown"));
            }
            Dimension::Source if text.parse::<Source>().is_err() => {
                return Err(Invalid::new("source must be qr, campaign, link or direct"));
            }
            _ if text == "(other)" => {
                return Err(Invalid::new("(other) stands for values of which only the sum is known"));
            }
            _ if text.len() > 200 => return Err(Invalid::new("a value has at most 200 bytes")),
            _ => text.to_owned(),
        };
        let values = self.values.entry(dimension).or_default();
        values.insert(value);
        if values.len() > Self::MOST_VALUES {
            return Err(Invalid::new(format!("at most {} values of a kind can be asked for", Self::MOST_VALUES)));
        }
        Ok(())
    }

    /// Whether all clicks are meant.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whose clicks these are, if counted days tell them apart from others; `None` if only single clicks do.
    pub fn group(&self) -> Option<AudienceGroup> {
        let has = |audience| self.audiences.contains(&audience);
        match (has(Audience::Human), has(Audience::Bot), has(Audience::Prefetch)) {
            _ if !self.values.is_empty() => None,
            (true, true, true) | (false, false, false) => Some(AudienceGroup::All),
            (true, false, false) => Some(AudienceGroup::Human),
            (false, true, true) => Some(AudienceGroup::Automated),
            _ => None,
        }
    }

    /// Whether a click fits.
    pub fn fits(&self, visitor: &Visitor, client: &Client) -> bool {
        let is_meant = |(dimension, values): (&Dimension, &BTreeSet<String>)| {
            let value = dimension.value(visitor, client);
            let value = value.as_deref().unwrap_or(Self::NONE);
            values.contains(value) || *dimension == Dimension::Referer && values.contains(site_of(value))
        };
        (self.audiences.is_empty() || self.audiences.contains(&Audience::of(visitor, client)))
            && self.values.iter().all(is_meant)
    }
}

/// The host of a referrer's page, or else the whole referrer, such as an app.
pub fn site_of(referer: &str) -> &str {
    match referer.split_once("://") {
        Some((scheme, page)) if !scheme.ends_with("-app") => page.split('/').next().unwrap_or_default(),
        _ => referer,
    }
}

/// Where clocks of a place put a click: its point in a series, and its hour of the week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The day or hour, as text that sorts by time.
    pub period: String,
    /// 0 is Monday.
    pub weekday: u8,
    /// The hour of the day, 0–23.
    pub hour: u8,
}

/// What is known of the clicks that a question is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    group: AudienceGroup,
    profile: Profile,
    /// The clicks of each day or hour that has some, oldest first.
    pub points: BTreeMap<String, ClickCount>,
    /// The clicks of each hour of each weekday, Monday first.
    pub week: [[u64; 24]; 7],
}

impl Findings {
    /// Nothing yet, of clicks that are all of a group, or of which only those of a group are counted.
    pub fn new(group: AudienceGroup) -> Self {
        Self { group, profile: Profile::default(), points: BTreeMap::new(), week: [[0; 24]; 7] }
    }

    /// Adds a whole day.
    pub fn add_day(&mut self, day: Day, stats: &DayStats, moment: impl Fn(Timestamp) -> Moment) {
        self.profile.merge(&stats.profile);
        for (hour, count) in (0_u8..).zip(stats.hours) {
            self.add_count(count, || moment(day.at_hour(hour)));
        }
    }

    /// Adds a click.
    pub fn add_click(
        &mut self,
        at: Timestamp,
        visitor: &Visitor,
        client: &Client,
        moment: impl Fn(Timestamp) -> Moment,
    ) {
        self.profile.count(visitor, client);
        let human_clicks = u64::from(Audience::of(visitor, client) == Audience::Human);
        self.add_count(ClickCount { clicks: 1, human_clicks }, || moment(at));
    }

    fn add_count(&mut self, count: ClickCount, moment: impl FnOnce() -> Moment) {
        let count = count.of(self.group);
        if count.clicks == 0 {
            return;
        }
        let Moment { period, weekday, hour } = moment();
        *self.points.entry(period).or_default() += count;
        self.week[usize::from(weekday % 7)][usize::from(hour % 24)] += count.clicks;
    }

    /// How many there are, and how many of them are people's.
    pub fn count(&self) -> ClickCount {
        ClickCount { clicks: self.profile.clicks, human_clicks: self.profile.human_clicks }.of(self.group)
    }

    /// How many different people clicked.
    pub fn visitors(&self) -> u64 {
        if self.group == AudienceGroup::Automated { 0 } else { self.profile.visitors.estimate() }
    }

    /// The clicks by one dimension.
    pub fn by(&self, dimension: Dimension) -> Breakdown {
        self.profile.by(dimension, self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::tests::client;
    use crate::{IpHash, Salt};

    fn visitor() -> Visitor {
        Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()))
    }

    fn filter(values: &[(Dimension, &str)]) -> ClickFilter {
        let mut filter = ClickFilter::default();
        values.iter().for_each(|(dimension, value)| filter.allow(*dimension, value).unwrap());
        filter
    }

    #[test]
    fn values_of_one_kind_are_alternatives_and_each_kind_has_to_fit() {
        let wanted = filter(&[
            (Dimension::Browser, "Firefox"),
            (Dimension::Browser, "Chrome"),
            (Dimension::Country, "de"),
            (Dimension::Country, "unknown"),
        ]);
        let german = visitor().at_place(CountryCode::parse("DE").ok(), None);
        let french = visitor().at_place(CountryCode::parse("FR").ok(), None);

        assert!(wanted.fits(&german, &client(Device::Desktop, "Firefox")));
        assert!(wanted.fits(&visitor(), &client(Device::Desktop, "Chrome")));
        assert!(!wanted.fits(&german, &client(Device::Desktop, "Safari")));
        assert!(!wanted.fits(&french, &client(Device::Desktop, "Firefox")));
    }

    #[test]
    fn a_referrer_is_named_by_page_or_site_and_may_be_missing() {
        let come_from = |page: Option<&str>| visitor().with_headers(None, page);
        let client = client(Device::Desktop, "Firefox");
        let fits = |wanted: &str, page| filter(&[(Dimension::Referer, wanted)]).fits(&come_from(page), &client);

        assert!(fits("https://news.example/a", Some("https://news.example/a?id=1")));
        assert!(fits("news.example", Some("https://news.example/b")));
        assert!(!fits("https://news.example/a", Some("https://news.example/b")));
        assert!(!fits("news.example", Some("https://other.example/news.example")));
        assert!(fits("android-app://com.example", Some("android-app://com.example/https/news.example/a")));
        assert!(!fits("com.example", Some("android-app://com.example/")), "this is a host");
        assert!(fits(ClickFilter::NONE, None) && !fits(ClickFilter::NONE, Some("https://news.example/")));
    }

    #[test]
    fn days_answer_what_is_asked_of_everybody_people_or_machines() {
        let of = |audiences: &[&str]| {
            let mut filter = ClickFilter::default();
            audiences.iter().for_each(|audience| filter.allow_audience(audience).unwrap());
            filter.group()
        };

        assert_eq!(of(&[]), Some(AudienceGroup::All));
        assert_eq!(of(&["human"]), Some(AudienceGroup::Human));
        assert_eq!(of(&["bot", "prefetch"]), Some(AudienceGroup::Automated));
        assert_eq!(of(&["human", "bot", "prefetch"]), Some(AudienceGroup::All));
        assert_eq!(of(&["bot"]), None);
        assert_eq!(of(&["human", "prefetch"]), None);
        assert_eq!(filter(&[(Dimension::Source, "qr")]).group(), None);
    }

    #[test]
    fn what_no_click_can_have_is_refused() {
        let refused = |dimension, value: &str| ClickFilter::default().allow(dimension, value).is_err();

        assert!(refused(Dimension::Country, "DEU") && refused(Dimension::Device, "phone"));
        assert!(refused(Dimension::Source, "Qr") && refused(Dimension::Browser, "(other)"));
        assert!(refused(Dimension::Campaign, &"x".repeat(201)));
        assert!(ClickFilter::default().allow_audience("people").is_err());
        let mut many = ClickFilter::default();
        let mut allow = |number: usize| many.allow(Dimension::Browser, &number.to_string()).is_ok();
        assert!((0..ClickFilter::MOST_VALUES).all(&mut allow) && allow(0) && !allow(20));
    }

    #[test]
    fn findings_of_a_group_leave_out_the_others() {
        let (mut day, at) = (DayStats::default(), Timestamp::parse("2026-03-02T14:30:00Z").unwrap());
        day.count(at, &visitor(), &client(Device::Desktop, "Firefox"));
        day.count(at, &visitor(), &client(Device::Bot, "curl"));
        let moment = |at: Timestamp| Moment { period: at.day().to_string(), weekday: 0, hour: at.hour() };
        let of = |group| {
            let mut findings = Findings::new(group);
            findings.add_day(at.day(), &day, moment);
            findings.add_click(at, &visitor(), &client(Device::Bot, "wget"), moment);
            let browsers: Vec<_> =
                findings.by(Dimension::Browser).ranking().into_iter().map(|(name, _)| name).collect();
            (findings.count(), findings.visitors(), browsers.join(","), findings.week[0][14])
        };

        let expected = (ClickCount { clicks: 3, human_clicks: 1 }, 1, "Firefox,curl,wget".to_owned(), 3);
        assert_eq!(of(AudienceGroup::All), expected);
        assert_eq!(of(AudienceGroup::Human), (ClickCount { clicks: 1, human_clicks: 1 }, 1, "Firefox".into(), 1));
        assert_eq!(of(AudienceGroup::Automated), (ClickCount { clicks: 2, human_clicks: 0 }, 0, "curl,wget".into(), 2));
    }
}
