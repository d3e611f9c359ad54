//! Reports by mail: a workspace's numbers of a week or a month, or those of a tag, for whoever wants them.

use std::{fmt, ops::RangeInclusive};

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest as _, Sha256};
use strum::{Display, EnumString};

use crate::validated::from_text;
use crate::{
    ClickCount, Day, Invalid, Overview, OverviewPart, OverviewQuestion, ShortCode, Tag, Timestamp, UserId, WorkspaceId,
    WorkspaceName, folding::folded,
};

/// How often a report comes. Weeks begin on Monday, and days are UTC's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr, Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = no_interval)]
pub enum ReportEvery {
    /// On Mondays, about the week before.
    Week,
    /// On the first of a month, about the month before.
    Month,
}

fn no_interval(_: &str) -> Invalid {
    Invalid::new("every must be week or month")
}

impl ReportEvery {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Week, Self::Month];

    /// The period whose reports are mailed on a day; `None` if none are.
    pub fn due_on(self, day: Day) -> Option<ReportPeriod> {
        let period = self.last_before(day);
        (period.last == day.minus(1)).then_some(period)
    }

    /// The last week or month that was over when a day began.
    pub fn last_before(self, day: Day) -> ReportPeriod {
        let first = self.beginning(day);
        ReportPeriod { every: self, first: self.beginning(first.minus(1)), last: first.minus(1) }
    }

    /// The first day of the week or month in which a day is.
    fn beginning(self, day: Day) -> Day {
        match self {
            Self::Week => day.minus(u64::from(day.weekday())),
            Self::Month => day.start_of_month(),
        }
    }
}

/// A whole week or month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportPeriod {
    every: ReportEvery,
    /// The first day.
    pub first: Day,
    /// The last day.
    pub last: Day,
}

impl ReportPeriod {
    /// Whether it is a week or a month.
    pub fn every(self) -> ReportEvery {
        self.every
    }

    /// Its days.
    pub fn days(self) -> RangeInclusive<Day> {
        self.first..=self.last
    }

    /// The week or month before.
    #[must_use]
    pub fn before(self) -> Self {
        self.every.last_before(self.first)
    }
}

/// What tells the reports of a person apart. As text it is `week_<workspace>`, or with a tag `week_<workspace>_<hash of the tag>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct ReportId {
    /// How often it comes.
    pub every: ReportEvery,
    /// Of which workspace.
    pub workspace: WorkspaceId,
    /// A hash of the tag, if it is about one: the same in all spellings, and shorter than a tag may be.
    tag: Option<String>,
}

impl ReportId {
    const HASH: usize = 16;

    /// The report of a workspace, or of one of its tags.
    pub fn new(every: ReportEvery, workspace: WorkspaceId, tag: Option<&Tag>) -> Self {
        let hash = |tag: &Tag| hex::encode(Sha256::digest(folded(tag.as_str())))[..Self::HASH].to_owned();
        Self { every, workspace, tag: tag.map(hash) }
    }

    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("a report has another id");
        let mut parts = text.split('_');
        let (every, workspace) = (parts.next().unwrap_or_default(), parts.next().ok_or_else(refused)?);
        let (every, workspace) = (every.parse()?, WorkspaceId::parse(workspace)?);
        let id = Self { every, workspace, tag: parts.next().map(str::to_owned) };
        let is_hash =
            |tag: &String| tag.len() == Self::HASH && tag.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_one = id.tag.as_ref().is_none_or(is_hash) && id.to_string() == text;
        is_one.then_some(id).ok_or_else(refused)
    }

    /// The hash of the tag; empty if it is about none.
    pub fn tag_hash(&self) -> &str {
        self.tag.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for ReportId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}_{}", self.every, self.workspace)?;
        self.tag.as_ref().map_or(Ok(()), |tag| write!(formatter, "_{tag}"))
    }
}

from_text!(ReportId);

/// That a person wants a report.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportSubscription {
    /// How often.
    pub every: ReportEvery,
    /// Of which workspace.
    pub workspace_id: WorkspaceId,
    /// Who wants it.
    pub user_id: UserId,
    /// Only about links with this tag, spelled as the person has.
    pub tag: Option<Tag>,
    /// Since when.
    pub created_at: Timestamp,
    /// The first day of the latest period that is done with. At first it is the one that was over already.
    pub sent_for: Day,
}

impl ReportSubscription {
    /// How many a person has of a workspace at most.
    pub const MOST: usize = 20;

    /// A new one. Its first report is about the week or month that this time is in.
    pub fn new(id: &ReportId, user: UserId, tag: Option<Tag>, now: Timestamp) -> Self {
        let sent_for = id.every.last_before(now.day()).first;
        Self { every: id.every, workspace_id: id.workspace, user_id: user, tag, created_at: now, sent_for }
    }

    /// Its id.
    pub fn id(&self) -> ReportId {
        ReportId::new(self.every, self.workspace_id, self.tag.as_ref())
    }

    /// Whether the report of this period is still to come.
    pub fn awaits(&self, period: ReportPeriod) -> bool {
        self.sent_for < period.first
    }

    /// What it asks about a period.
    pub fn question(&self, period: ReportPeriod) -> OverviewQuestion {
        OverviewQuestion { tag: self.tag.clone(), days: Some(period.days()) }
    }
}

/// Why somebody gets none of the reports that they want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportNotMailed {
    /// No mail is configured.
    MailOff,
    /// They have not shown that their address is theirs.
    Unverified,
    /// Mail to their address comes back.
    Undeliverable,
}

/// The numbers of a report, which are the same for all who get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNumbers {
    /// The clicks of the period.
    pub count: ClickCount,
    /// The clicks of the period before.
    pub before: ClickCount,
    /// The links that were followed most, with their clicks.
    pub top: Vec<(ShortCode, u64)>,
    /// Whether all links and clicks were counted.
    pub is_complete: bool,
}

impl ReportNumbers {
    /// How many links are named.
    pub const TOP: usize = 5;

    /// The numbers of an overview [of a period](ReportSubscription::question); `None` if there is nothing to tell, since nobody clicked
    /// in it nor in the one before.
    pub fn of(overview: &Overview) -> Option<Self> {
        let time = overview.time.as_ref()?;
        let (count, before) = (time.count(), time.before.unwrap_or_default());
        let top = overview.top.iter().take(Self::TOP).map(|top| (top.id.code.clone(), top.count.clicks)).collect();
        let lacks = |part: &OverviewPart| matches!(part, OverviewPart::Links | OverviewPart::Clicks);
        let numbers = Self { count, before, top, is_complete: !overview.incomplete.iter().any(lacks) };
        (count.clicks > 0 || before.clicks > 0).then_some(numbers)
    }
}

/// A report to be mailed.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Which one.
    pub report_id: ReportId,
    /// Who gets it.
    pub user_id: UserId,
    /// What the workspace is called.
    pub workspace_name: WorkspaceName,
    /// The tag that it is about, if it is about one.
    pub tag: Option<Tag>,
    /// The week or month that it is about.
    #[serde(flatten)]
    pub period: ReportPeriod,
    /// What it tells.
    #[serde(flatten)]
    pub numbers: ReportNumbers,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn due(every: ReportEvery, on: &str) -> Option<[String; 4]> {
        every.due_on(day(on)).map(|period| {
            let before = period.before();
            [period.first, period.last, before.first, before.last].map(|day| day.to_string())
        })
    }

    #[test]
    fn weeks_are_due_on_mondays_and_months_on_the_first() {
        for (every, on, expected) in [
            (ReportEvery::Week, "2026-11-30", Some(["2026-11-23", "2026-11-29", "2026-11-16", "2026-11-22"])),
            (ReportEvery::Week, "2026-12-01", None),
            (ReportEvery::Week, "2026-11-29", None),
            (ReportEvery::Month, "2026-12-01", Some(["2026-11-01", "2026-11-30", "2026-10-01", "2026-10-31"])),
            (ReportEvery::Month, "2026-11-30", None),
            (ReportEvery::Month, "2026-12-02", None),
            // A Monday that is a first of a month, across a year's end.
            (ReportEvery::Week, "2029-01-01", Some(["2028-12-25", "2028-12-31", "2028-12-18", "2028-12-24"])),
            (ReportEvery::Month, "2029-01-01", Some(["2028-12-01", "2028-12-31", "2028-11-01", "2028-11-30"])),
            (ReportEvery::Week, "2027-01-04", Some(["2026-12-28", "2027-01-03", "2026-12-21", "2026-12-27"])),
            // A leap year and another one.
            (ReportEvery::Month, "2028-03-01", Some(["2028-02-01", "2028-02-29", "2028-01-01", "2028-01-31"])),
            (ReportEvery::Month, "2027-03-01", Some(["2027-02-01", "2027-02-28", "2027-01-01", "2027-01-31"])),
            (ReportEvery::Week, "2028-03-06", Some(["2028-02-28", "2028-03-05", "2028-02-21", "2028-02-27"])),
        ] {
            assert_eq!(due(every, on), expected.map(|days| days.map(str::to_owned)), "{every} on {on}");
        }
    }

    #[test]
    fn the_first_report_is_about_the_period_in_which_it_was_wanted() {
        let id = |every| ReportId::new(every, WorkspaceId::generate(), None);
        for (every, at, not_for, first) in [
            (ReportEvery::Week, "2026-11-30T00:00:00Z", "2026-11-30", "2026-12-07"),
            (ReportEvery::Week, "2026-11-29T23:59:59Z", "2026-11-23", "2026-11-30"),
            (ReportEvery::Month, "2026-12-01T05:00:00Z", "2026-12-01", "2027-01-01"),
            (ReportEvery::Month, "2026-12-31T05:00:00Z", "2026-12-01", "2027-01-01"),
        ] {
            let now = Timestamp::parse(at).unwrap();
            let wanted = ReportSubscription::new(&id(every), UserId::generate(), None, now);
            let awaits = |on| every.due_on(day(on)).is_some_and(|period| wanted.awaits(period));
            assert_eq!((awaits(not_for), awaits(first)), (false, true), "{at}");
        }
    }

    #[test]
    fn an_id_is_the_same_in_all_spellings_of_a_tag_and_read_by_its_text_only() {
        let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000001").unwrap();
        let id = |every, tag: Option<&str>| {
            ReportId::new(every, workspace, tag.map(|tag| Tag::parse(tag).unwrap()).as_ref())
        };

        let ids = [
            id(ReportEvery::Week, None),
            id(ReportEvery::Month, None),
            id(ReportEvery::Week, Some("launch")),
            id(ReportEvery::Week, Some("mail")),
        ];

        assert_eq!(id(ReportEvery::Week, Some("Launch")), ids[2]);
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
        for id in &ids {
            assert_eq!(ReportId::parse(&id.to_string()).as_ref(), Ok(id));
        }
        let of = |text: &str| format!("week_{workspace}{text}");
        for refused in
            ["", "week", "day_x", &of("_"), &of("_launch"), &of("_0123456789ABCDEF"), &of("_0123456789abcdef_")]
        {
            assert!(ReportId::parse(refused).is_err(), "{refused}");
        }
        assert!(ReportId::parse(&format!("week_{}", workspace.to_string().to_uppercase())).is_err());
    }
}
