//! `GET /api/stats/{code}` of whole days, for those who have a share of the link.

use linklet_domain::{Day, Interval, Invalid, LinkId, LinkStatus, Record, Share, Shared, ShortCode};
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result};
use linklet_lambda::shares::require_only;

use crate::question::{DAY, Question};
use crate::view::PeriodView;
use crate::{Stats, not_purged};

/// The answer is kept, and has a point for each hour.
const MOST_DAYS_BY_HOUR: u32 = 31;

impl Stats {
    pub(crate) async fn shared(&self, request: &Request, code: &str, share: &Share) -> Result<Response> {
        let link = self.shared_link(request, code, share).await?;
        require_only(request, &["from", "to", "tz", "interval", "format"])?;
        let days = ["from", "to"].map(|name| request.parsed(name, Day::parse));
        let [Some(first), Some(last)] = days.map(|day| day.ok().flatten()) else {
            let sentence = "a share shows whole days: from and to must be dates such as 2026-03-02";
            return Err(Invalid::new(sentence).in_field("from").into());
        };
        Invalid::field_when(
            "format",
            request.query("format").is_some_and(|format| format != "json"),
            "format must be json",
        )?;
        let question = Question::parse(request)?;
        let is_long = first.start().until(last.end()) > DAY * MOST_DAYS_BY_HOUR;
        Invalid::field_when(
            "interval",
            question.interval == Interval::Hour && is_long,
            "a share shows hours of at most 31 days",
        )?;
        let (interval, zone): (&str, _) = (question.interval.into(), question.zone.name());
        let asked = format!("{first} {last} {interval} {zone}");
        self.shares.answer(request, share, asked, self.shared_period(request, &link, &question)).await
    }

    /// The link that a share is of, if it is the one that the path names, and anybody may see its numbers.
    async fn shared_link(&self, request: &Request, code: &str, share: &Share) -> Result<LinkId> {
        const OTHER: ApiError = ApiError::Problem(Problem::ShareNotFound);
        let Shared::Link(link) = &share.shared else { return Err(OTHER) };
        let is_asked_for = ShortCode::parse(code).is_ok_and(|code| code.folded() == link.code.folded());
        let record = if is_asked_for { self.record(link.code.as_str()).await? } else { return Err(OTHER) };
        // After a purge, the code may be that of another link.
        if record.identity().id != *link {
            return Err(OTHER);
        }
        match &record {
            Record::Link(link) if link.availability.status(request.received_at) == LinkStatus::Suspended => {
                Err(ApiError::gone(LinkStatus::Suspended))
            }
            _ => not_purged(&record),
        }
    }

    async fn shared_period(&self, request: &Request, link: &LinkId, question: &Question) -> Result<String> {
        let asked = self.asked(request, link, question);
        let answer = self.answer(asked).await?;
        serde_json::to_string(&PeriodView::for_strangers(asked, &answer)).map_err(ApiError::internal)
    }
}
