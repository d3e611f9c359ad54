//! `GET /api/export/clicks` and `/api/export/daily`: the clicks of a link, of those with a tag, or of all of a workspace, one by one or by
//! day. Links come in the order of their creation, and what is of a link newest first.

use std::cmp::Ordering;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use linklet_domain::{
    ClickId, Day, GivenFilter, Invalid, LinkClicks, LinkId, LinkSummary, ShortCode, SortOrder, Timestamp,
};
use linklet_dynamodb::{ByteBudget, Cursor, ReadBudget};
use linklet_lambda::http::{ExportPage, Request, Response, Result};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_filter::{LinkOrder, LinkQuery, Matches};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;
use serde::Serialize;

use crate::Stats;
use crate::days::{DayRange, DayView, Longest};
use crate::question::time_ends;
use crate::user_agent_cache::UserAgentCache;
use crate::view::ClickView;

/// Of how many links it is read at a time whether they have clicks.
const AT_ONCE: usize = 100;

/// What is taken along of links.
pub(crate) trait Taken: Sized {
    /// What it is called.
    const NAME: &str;
    /// The columns of its table.
    const COLUMNS: &'static str;
    /// Where it goes on within a link: behind this.
    type Position: Copy + Display + FromStr;

    /// # Errors
    /// 400 when a parameter has another form.
    fn parse(request: &Request) -> Result<Self>;

    /// Whether a link with these clicks may have something.
    fn may_be_in(&self, clicks: &LinkClicks) -> bool;

    /// Adds what a link has as long as it fits into a page, which isn't full, and returns where the next page goes on within this link.
    async fn add(
        &mut self,
        stats: &Stats,
        page: &mut ExportPage,
        link: &LinkId,
        behind: Option<Self::Position>,
    ) -> Result<Option<Self::Position>>;
}

/// Something with the code of its link.
#[derive(Serialize)]
struct OfLink<'a, T> {
    short_code: &'a ShortCode,
    #[serde(flatten)]
    what: T,
}

/// Where a page ends: behind a link, or behind something of it.
struct Place<P> {
    link: Cursor<ShortCode>,
    within: Option<P>,
}

impl<P: Copy + Display + FromStr> Place<P> {
    fn behind(link: &LinkSummary, within: Option<P>) -> Self {
        Self { link: Cursor { at: link.created_at, id: link.id.code.clone() }, within }
    }

    /// In the characters of cursors.
    fn encode(&self) -> String {
        format!("{}.{}", self.link.encode(), self.within.map(|within| within.to_string()).unwrap_or_default())
    }

    fn decode(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("no place in an export");
        let (link, within) = text.split_once('.').ok_or_else(refused)?;
        let within = (!within.is_empty()).then(|| within.parse().map_err(|_| refused())).transpose()?;
        Ok(Self { link: Cursor::decode(link)?, within })
    }

    /// Where a link goes on after this place; `None` if all of it comes before.
    fn rest_of(&self, link: &LinkSummary) -> Option<Option<P>> {
        let order = (link.created_at, link.id.code.as_str()).cmp(&(self.link.at, self.link.id.as_str()));
        match order {
            Ordering::Less => None,
            Ordering::Equal => self.within.map(Some),
            Ordering::Greater => Some(None),
        }
    }
}

impl Stats {
    pub(crate) async fn export<T: Taken>(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let mut taken = T::parse(request)?;
        let after = request.after(Place::<T::Position>::decode)?;
        let mut page = ExportPage::of(request, T::NAME, T::COLUMNS)?;
        let Some(code) = request.query("code") else {
            let place = self.walk(request, caller, &mut taken, &mut page, after).await?;
            return page.answer(request, place.map(|place| place.encode()));
        };
        Invalid::field_when("tag", request.query("tag").is_some(), "code and tag exclude each other")?;
        let link = self.link_of(caller, code).await?;
        let rest = taken.add(self, &mut page, &link, after.and_then(|after| after.within)).await?;
        let of_link =
            |within| Place { link: Cursor { at: Timestamp::EPOCH, id: link.code.clone() }, within: Some(within) };
        page.answer(request, rest.map(|within| of_link(within).encode()))
    }

    /// Goes through the links of a workspace as far as a page reaches, and returns where it ends unless that is the end.
    async fn walk<T: Taken>(
        &self,
        request: &Request,
        caller: &Caller,
        taken: &mut T,
        page: &mut ExportPage,
        after: Option<Place<T::Position>>,
    ) -> Result<Option<Place<T::Position>>> {
        let tag = request.queries("tag").map(str::to_owned).collect();
        let all = |text: &str| Some(text.to_owned());
        let mut query =
            LinkQuery::of(&GivenFilter { tag, status: all("all"), archived: all("all"), ..Default::default() })?;
        query.created.0 = after.as_ref().map(|after| after.link.at);
        let order = LinkOrder { order: SortOrder::Ascending, ..Default::default() };
        let mut matches = Matches::of(&query, order, &self.links, &caller.workspace, request.received_at);
        let mut place = None;
        while !page.is_late()
            && let Some(found) = matches.next().await?
        {
            for links in found.chunks(AT_ONCE) {
                let ids: Vec<_> = links.iter().map(|link| link.id.clone()).collect();
                let clicks = self.stats.totals(&caller.workspace, &ids).await?;
                for link in links {
                    let Some(behind) = after.as_ref().map_or(Some(None), |after| after.rest_of(link)) else { continue };
                    if page.is_full() || place.is_some() && page.is_late() {
                        return Ok(place);
                    }
                    let has_any = clicks.get(&link.id).is_some_and(|clicks| taken.may_be_in(clicks));
                    let rest = if has_any { taken.add(self, page, &link.id, behind).await? } else { None };
                    let is_left = rest.is_some();
                    place = Some(Place::behind(link, rest));
                    if is_left {
                        return Ok(place);
                    }
                }
            }
        }
        Ok(matches.rest().map(|link| Place { link: link.clone(), within: None }))
    }
}

/// Single clicks of a time.
pub(crate) struct SingleClicks {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    user_agents: UserAgentCache,
}

impl Taken for SingleClicks {
    const NAME: &str = "clicks";
    const COLUMNS: &'static str = "short_code,id,clicked_at,audience,device,browser,browser_version,os,country,city,referer,source,campaign,\
        user_agent";
    type Position = ClickId;

    fn parse(request: &Request) -> Result<Self> {
        let (from, to) = time_ends(request, &Zone::utc())?;
        Ok(Self { from, to, user_agents: UserAgentCache::load()? })
    }

    fn may_be_in(&self, clicks: &LinkClicks) -> bool {
        self.from.is_none_or(|from| clicks.last.is_none_or(|last| last >= from))
    }

    async fn add(
        &mut self,
        stats: &Stats,
        page: &mut ExportPage,
        link: &LinkId,
        behind: Option<ClickId>,
    ) -> Result<Option<ClickId>> {
        let first = ClickId::first_at(self.from.unwrap_or(Timestamp::EPOCH));
        let end = ClickId::first_at(self.to.unwrap_or_else(Timestamp::latest));
        let ids = first..behind.map_or(end, |behind| behind.min(end)).max(first);
        let budget = ReadBudget { bytes: StatsQueryLimiter::READ_BYTES, until: page.until };
        let read = stats.clicks.page_back(link, ids, page.room, budget, |_| true).await?;
        let mut last = None;
        for click in read.clicks {
            if page.is_full() {
                return Ok(last);
            }
            last = Some(click.id);
            page.add(&OfLink { short_code: &link.code, what: ClickView::new(click, &mut self.user_agents) })?;
        }
        Ok(read.next)
    }
}

/// The clicks of days.
pub(crate) struct ClicksByDay {
    first: Day,
    last: Day,
}

impl Taken for ClicksByDay {
    const NAME: &str = "days";
    const COLUMNS: &'static str = "short_code,date,total_clicks,human_clicks,unique_visitors,desktop,mobile,tablet,bot,unknown,countries,sources,\
        campaigns";
    type Position = Day;

    fn parse(request: &Request) -> Result<Self> {
        let (first, last) = DayRange::parse(request, &Zone::utc())?.within(Longest::OF_MEMBERS)?.into_inner();
        Ok(Self { first, last })
    }

    fn may_be_in(&self, clicks: &LinkClicks) -> bool {
        clicks.last.is_none_or(|last| last.day() >= self.first)
    }

    async fn add(
        &mut self,
        stats: &Stats,
        page: &mut ExportPage,
        link: &LinkId,
        behind: Option<Day>,
    ) -> Result<Option<Day>> {
        let before = |day: Day| day.start().minus(Duration::from_millis(1)).day();
        let last = behind.map_or(self.last, |behind| self.last.min(before(behind)));
        if last < self.first {
            return Ok(None);
        }
        let budget = ByteBudget::of(StatsQueryLimiter::READ_BYTES);
        let (days, read_from) = stats.stats.days_back(link, &(self.first..=last), &budget).await?;
        let mut behind = None;
        for (day, counted) in days.into_iter().rev().filter(|(_, counted)| counted.profile.clicks > 0) {
            if page.is_full() {
                return Ok(behind);
            }
            behind = Some(day);
            page.add(&OfLink { short_code: &link.code, what: DayView::new(day, &counted) })?;
        }
        Ok((read_from > self.first).then_some(read_from))
    }
}
