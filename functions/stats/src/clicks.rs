//! `GET /api/stats/{code}/clicks`: single clicks, the latest first.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{Click, ClickFilter, ClickId, Invalid, LinkId, Timestamp};
use linklet_dynamodb::{PageOfClicks, ReadBudget, RepositoryError};
use linklet_lambda::http::{Format, NextPage, Request, Response, Result, StatusCode, json};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;
use serde::Serialize;
use tokio::time::Instant;

use crate::question::{filter, time_ends};
use crate::user_agent_cache::UserAgentCache;
use crate::view::{ClickView, next_page};
use crate::{Stats, csv};

/// How many clicks a page of CSV has at most; its bytes are limited as well.
const MOST_ROWS: usize = 20_000;

impl Stats {
    pub(crate) async fn list_clicks(&self, request: &Request, link: &LinkId) -> Result<Response> {
        let asked = AskedClicks::parse(request)?;
        let limit = match asked.format {
            Format::Json => request.page_size()?,
            Format::Csv => request.number_of_rows(MOST_ROWS)?,
        };
        let mut user_agents = UserAgentCache::load()?;
        let PageOfClicks { clicks, next } = self.page(link, &asked, limit, &mut user_agents).await?;
        let clicks = clicks.into_iter().map(|click| ClickView::new(click, &mut user_agents));
        if asked.format == Format::Csv {
            return csv::of_clicks(request, clicks, next, &asked.zone);
        }
        Ok(json(StatusCode::OK, &ClicksView { clicks: clicks.collect(), next: next_page(request, next) }))
    }

    async fn page(
        &self,
        link: &LinkId,
        asked: &AskedClicks,
        limit: usize,
        user_agents: &mut UserAgentCache,
    ) -> Result<PageOfClicks, RepositoryError> {
        if asked.is_about_the_latest() && limit <= MOST_LATEST {
            let clicks = self.clicks.latest(link, limit).await?;
            let next = clicks.get(limit - 1).map(|last| last.id);
            return Ok(PageOfClicks { clicks, next });
        }
        let budget =
            ReadBudget { bytes: StatsQueryLimiter::READ_BYTES, until: Instant::now() + StatsQueryLimiter::READ_FOR };
        let fits = |click: &Click| {
            asked.filter.is_empty() || asked.filter.fits(&click.visitor, user_agents.client(&click.visitor))
        };
        self.clicks.page_back(link, asked.ids(), limit, budget, fits).await
    }
}

/// As many as are read by a few rows of each partition.
const MOST_LATEST: usize = 100;

/// Which clicks somebody wants to see one by one.
struct AskedClicks {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    /// The last click of the page before.
    after: Option<ClickId>,
    zone: Zone,
    filter: ClickFilter,
    format: Format,
}

impl AskedClicks {
    /// # Errors
    /// 400 when a parameter has another form, or a cursor is that of other clicks.
    fn parse(request: &Request) -> Result<Self> {
        let zone = request.parsed("tz", Zone::parse)?.unwrap_or_else(Zone::utc);
        let (from, to) = time_ends(request, &zone)?;
        let after = request.after(decode)?;
        let format = Format::of(request)?;
        Ok(Self { from, to, after, zone, filter: filter(request)?, format })
    }

    fn is_about_the_latest(&self) -> bool {
        self.from.is_none() && self.to.is_none() && self.after.is_none() && self.filter.is_empty()
    }

    /// Those that the clicks may have; the end is exclusive.
    fn ids(&self) -> Range<ClickId> {
        let first = ClickId::first_at(self.from.unwrap_or(Timestamp::EPOCH));
        let end = ClickId::first_at(self.to.unwrap_or_else(Timestamp::latest));
        first..self.after.map_or(end, |after| after.min(end)).max(first)
    }
}

fn decode(text: &str) -> Result<ClickId, Invalid> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| <[u8; ClickId::BYTES]>::try_from(bytes).ok());
    bytes.map(ClickId::from_bytes).ok_or_else(|| Invalid::new("no id of a click"))
}

#[derive(Serialize)]
struct ClicksView {
    clicks: Vec<ClickView>,
    #[serde(flatten)]
    next: NextPage,
}
