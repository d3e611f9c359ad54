//! `GET /api/stats/{code}/clicks`: single clicks, the latest first.

use std::ops::Range;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{Click, ClickFilter, ClickId, Invalid, LinkId, Timestamp};
use linklet_dynamodb::{PageOfClicks, ReadBudget, RepositoryError};
use linklet_lambda::http::{Format, Request, Response, Result, StatusCode, json};
use linklet_lambda::throttle::StatsQueryLimiter;
use linklet_lambda::zone::Zone;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::question::{Question, filter, time_ends};
use crate::user_agent_cache::UserAgentCache;
use crate::view::ClickView;
use crate::{Stats, csv};

/// How many clicks a page of CSV has at most; its bytes are limited as well.
const MOST_ROWS: usize = 20_000;

impl Stats {
    pub(crate) async fn list_clicks(&self, request: &Request, link: &LinkId) -> Result<Response> {
        let asked = AskedClicks::parse(request, link)?;
        let limit = match asked.format {
            Format::Json => request.page_size()?,
            Format::Csv => MOST_ROWS,
        };
        let mut user_agents = UserAgentCache::load()?;
        let PageOfClicks { clicks, next } = self.page(link, &asked, limit, &mut user_agents).await?;
        let clicks = clicks.into_iter().map(|click| ClickView::new(click, &mut user_agents));
        if asked.format == Format::Csv {
            return csv::of_clicks(request, clicks, next, |id| asked.cursor(id), &asked.zone);
        }
        let next_cursor = next.map(|id| asked.cursor(id));
        Ok(json(StatusCode::OK, &ClicksView { clicks: clicks.collect(), next_cursor }))
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
    /// Of the link and all that narrows its clicks.
    digest: [u8; Self::DIGEST],
}

impl AskedClicks {
    const DIGEST: usize = 8;

    /// # Errors
    /// 400 when a parameter has another form, or a cursor is that of other clicks.
    fn parse(request: &Request, link: &LinkId) -> Result<Self> {
        let zone = request.parsed("tz", Zone::parse)?.unwrap_or_else(Zone::utc);
        let (from, to) = time_ends(request, &zone)?;
        let digest = digest(request, link);
        let after = request.parsed("after", |text| decode(text, &digest))?;
        let format = Format::of(request)?;
        Ok(Self { from, to, after, zone, filter: filter(request)?, format, digest })
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

    /// Says where the next page begins. It is opaque to clients.
    fn cursor(&self, id: ClickId) -> String {
        URL_SAFE_NO_PAD.encode([id.to_bytes().as_slice(), &self.digest].concat())
    }
}

fn decode(text: &str, digest: &[u8; AskedClicks::DIGEST]) -> Result<ClickId, Invalid> {
    let refused = || Invalid::new("after is not a cursor of these clicks");
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
    let id = bytes.strip_suffix(digest).and_then(|id| <[u8; ClickId::BYTES]>::try_from(id).ok());
    id.map(ClickId::from_bytes).ok_or_else(refused)
}

/// A digest of a link and of the parameters that narrow its clicks.
fn digest(request: &Request, link: &LinkId) -> [u8; AskedClicks::DIGEST] {
    let mut hash = Sha256::new().chain_update(link.to_string());
    for name in Question::parameters() {
        for value in request.queries(name) {
            hash.update(format!("\n{name}={value}"));
        }
    }
    let hash: [u8; 32] = hash.finalize().into();
    std::array::from_fn(|place| hash[place])
}

#[derive(Serialize)]
struct ClicksView {
    clicks: Vec<ClickView>,
    next_cursor: Option<String>,
}
