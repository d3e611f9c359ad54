//! `GET /api/stats/{code}` of a time: all numbers of the clicks that fit.
//!
//! Whole days come from what was counted of them, as long as that tells the clicks apart that are asked about. Hours at the edges
//! come from the raw clicks, and so does everything that only single clicks tell.

use std::{ops::Range, time::Duration};

use linklet_domain::{AudienceGroup, Click, Day, Findings, LinkId, Timestamp};
use linklet_dynamodb::{ByteBudget, ReadBudget, RepositoryError};
use linklet_lambda::http::{Format, Request, Response, Result, StatusCode, json};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;
use tokio::time::Instant;

use crate::answer::{Answer, Asked, Covers, Period};
use crate::plan::{Days, Plan, clicks_in};
use crate::question::{DAY, Question};
use crate::user_agent_cache::UserAgentCache;
use crate::view::PeriodView;
use crate::{Stats, csv};

/// How many clicks are read for hours at the edges. With more of them, whole days are used.
pub const MOST_AT_EDGES: u64 = 20_000;

impl Stats {
    pub(crate) async fn period(&self, request: &Request, link: &LinkId) -> Result<Response> {
        let question = Question::parse(request)?;
        let table = csv::table(request)?;
        let asked = self.asked(request, link, &question);
        let answer = self.answer(asked).await?;
        match Format::of(request)? {
            Format::Csv => csv::of_table(request, &answer.period, table),
            Format::Json => Ok(json(StatusCode::OK, &PeriodView::new(asked, &answer))),
        }
    }

    pub(crate) fn asked<'a>(&self, request: &Request, link: &'a LinkId, question: &'a Question) -> Asked<'a> {
        Asked { question, link, now: request.received_at, until: Instant::now() + StatsQueryLimiter::READ_FOR }
    }

    pub(crate) async fn answer(&self, asked: Asked<'_>) -> Result<Answer> {
        match asked.question.filter.group() {
            Some(group) => self.by_days(asked, group).await,
            None => Ok(self.by_clicks(asked).await?),
        }
    }

    async fn by_days(&self, asked: Asked<'_>, group: AudienceGroup) -> Result<Answer> {
        let Asked { question, now, .. } = asked;
        let (time, before) = (question.time.clone(), question.before());
        let is_compared = before.start.until(time.end) <= DAY * MOST_COMPARED;
        let (days, read_from) = self.days_for(asked, is_compared.then_some(before.start)).await?;
        let exact = Exact { days: &days, kept_from: self.clicks_kept_from(now), now };
        let (zone, plan) = exact.plan(question, time.start.max(read_from.start())..time.end);
        let before = exact.plan_before(&plan, &zone, before);
        let before = before.filter(|before| is_compared && before.time.start >= read_from.start());
        let mut counter = Counter { question, group, zone: &zone, days: &days, user_agents: None };
        let mut left = StatsQueryLimiter::READ_BYTES;
        let Some(clicks) = self.edges(asked, &plan, &mut left).await? else {
            let period = counter.period(&Plan::of_whole_days(&plan.time), &[])?;
            return Ok(Answer { period, before: None, covers: None, zone });
        };
        let period = counter.period(&plan, &clicks)?;
        let before = match before {
            Some(before) => {
                let clicks = self.edges(asked, &before, &mut left).await?;
                clicks.map(|clicks| counter.period(&before, &clicks)).transpose()?
            }
            None => None,
        };
        Ok(Answer { period, before, covers: None, zone })
    }

    /// The days of a time, and of the time before if that is compared, and the first day that was read.
    async fn days_for(
        &self,
        Asked { question, link, .. }: Asked<'_>,
        before: Option<Timestamp>,
    ) -> Result<(Days, Day), RepositoryError> {
        let Range { start, end } = question.time;
        // If the time becomes longer by what its days have more, the one before begins earlier.
        let first = before.map_or(start, |before| before.minus(DAY * 2)).day();
        let last = end.minus(Duration::from_millis(1)).day();
        self.stats.days_back(link, &(first..=last), &ByteBudget::of(StatsQueryLimiter::READ_BYTES)).await
    }

    /// The clicks at the edges of a time; `None` if they are too many.
    async fn edges(
        &self,
        Asked { link, until, .. }: Asked<'_>,
        plan: &Plan,
        left: &mut usize,
    ) -> Result<Option<Vec<Click>>, RepositoryError> {
        let mut clicks = Vec::new();
        for edge in &plan.edges {
            let read = self.clicks.read_back(link, edge, ReadBudget { bytes: *left, until }).await?;
            if read.since > edge.start {
                return Ok(None);
            }
            *left = left.saturating_sub(read.bytes);
            clicks.extend(read.clicks);
        }
        Ok(Some(clicks))
    }

    async fn by_clicks(&self, asked: Asked<'_>) -> Result<Answer> {
        let Asked { question, link, now, until } = asked;
        let (time, before) = (question.time.clone(), question.before());
        let budget = ReadBudget { bytes: StatsQueryLimiter::READ_BYTES, until };
        let read = self.clicks.read_back(link, &(before.start..time.end), budget).await?;
        let since = read.since.max(self.clicks_kept_from(now));
        let mut user_agents = UserAgentCache::load()?;
        let mut found = |time: Range<Timestamp>| {
            // Single clicks know their group, and only those that fit are added.
            let mut findings = Findings::new(AudienceGroup::All);
            for click in read.clicks.iter().filter(|click| time.contains(&click.clicked_at())) {
                let client = user_agents.client(&click.visitor);
                if question.filter.fits(&click.visitor, client) {
                    findings.add_click(click.clicked_at(), &click.visitor, client, question.moment(&question.zone));
                }
            }
            Period { time, findings }
        };
        let period = found(time.clone());
        let before = (since <= before.start).then(|| found(before));
        let covers = match since <= time.start {
            true => None,
            false => {
                let looked_at =
                    read.clicks.iter().filter(|click| (since..time.end).contains(&click.clicked_at())).count();
                Some(self.covered(link, time, since, looked_at as u64).await?)
            }
        };
        Ok(Answer { period, before, covers, zone: question.zone.clone() })
    }

    /// How much of a time was looked at.
    async fn covered(
        &self,
        link: &LinkId,
        time: Range<Timestamp>,
        since: Timestamp,
        looked_at: u64,
    ) -> Result<Covers, RepositoryError> {
        let last = time.end.minus(Duration::from_millis(1)).day();
        let (days, _) = self
            .stats
            .days_back(link, &(time.start.day()..=last), &ByteBudget::of(StatsQueryLimiter::READ_BYTES))
            .await?;
        Ok(Covers { clicks: looked_at, of: clicks_in(&days, &time).max(looked_at), since })
    }

    /// Raw clicks before this time may be gone.
    fn clicks_kept_from(&self, now: Timestamp) -> Timestamp {
        now.minus(self.clicks.kept_for)
    }
}

/// Counts what days and clicks tell of a time.
struct Counter<'c> {
    question: &'c Question,
    group: AudienceGroup,
    zone: &'c Zone,
    days: &'c Days,
    /// Loaded for the first click, since whole days need none.
    user_agents: Option<UserAgentCache>,
}

impl Counter<'_> {
    /// The numbers of the days of a plan, and of clicks at its edges.
    ///
    /// # Errors
    /// When user agents can't be classified.
    fn period(&mut self, plan: &Plan, clicks: &[Click]) -> Result<Period> {
        let (mut findings, moment) = (Findings::new(self.group), self.question.moment(self.zone));
        plan.days(self.days).for_each(|(day, stats)| findings.add_day(day, stats, &moment));
        for click in clicks {
            let user_agents = match &mut self.user_agents {
                Some(user_agents) => user_agents,
                none => none.insert(UserAgentCache::load()?),
            };
            findings.add_click(click.clicked_at(), &click.visitor, user_agents.client(&click.visitor), &moment);
        }
        Ok(Period { time: plan.time.clone(), findings })
    }
}

/// How many days are read at most, of a time and the one before.
const MOST_COMPARED: u32 = StatsQueryLimiter::MOST_DAYS as u32 + 1;

/// What can be told exactly.
struct Exact<'d> {
    days: &'d Days,
    kept_from: Timestamp,
    now: Timestamp,
}

impl Exact<'_> {
    /// The parts of a time, and the zone whose days and hours can be told.
    fn plan(&self, question: &Question, time: Range<Timestamp>) -> (Zone, Plan) {
        let has_whole_hours = has_whole_hours(&question.zone, &time);
        if !has_whole_hours {
            let plan = Plan::of_clicks(time.clone());
            if self.can_read(&plan) {
                return (question.zone.clone(), plan);
            }
        }
        let zone = if has_whole_hours { question.zone.clone() } else { Zone::utc() };
        let plan = Plan::of(time, self.now);
        if self.can_read(&plan) { (zone, plan) } else { (zone, Plan::of_whole_days(&plan.time)) }
    }

    /// The parts of the time before, if it can be told as exactly.
    fn plan_before(&self, plan: &Plan, zone: &Zone, before: Range<Timestamp>) -> Option<Plan> {
        let start = plan.time.start;
        if start == before.end {
            let before =
                if has_whole_hours(zone, &before) { Plan::of(before, self.now) } else { Plan::of_clicks(before) };
            let clicks = plan.clicks_at_edges(self.days) + before.clicks_at_edges(self.days);
            return (self.can_read(&before) && clicks <= MOST_AT_EDGES).then_some(before);
        }
        Some(Plan::of_whole_days(&(start.minus(start.until(plan.time.end))..start)))
    }

    fn can_read(&self, plan: &Plan) -> bool {
        plan.clicks_at_edges(self.days) <= MOST_AT_EDGES
            && plan.first_edge().is_none_or(|first| first >= self.kept_from)
    }
}

fn has_whole_hours(zone: &Zone, time: &Range<Timestamp>) -> bool {
    zone.has_whole_hours(&(time.start.day()..=time.end.day()))
}
