//! Which links of a workspace are meant, by the parameters of a list or the filter of a job, and the way through them.
//!
//! DynamoDB has no index for filters and substrings, so the way goes through the links of the dates one part after another. For all
//! but a search, these are summaries of links. How much is read for one request is bounded.

use linklet_domain::{
    ArchivedFilter, ExternalId, GivenFilter, Invalid, Link, LinkFilter, LinkSearch, LinkSummary, ShortCode, SortOrder,
    StatusFilter, TagTerm, Timestamp, UserId, Verdict, WorkspaceId,
};
use linklet_dynamodb::{Cursor, LinkRange, LinkReader, LinksTable, Result};

use crate::zone::Zone;

/// Which links are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkQuery {
    /// The first and the last time of creation, both inclusive.
    pub created: (Option<Timestamp>, Option<Timestamp>),
    /// A text to find.
    pub search: Option<LinkSearch>,
    /// What the one link that is meant is called elsewhere.
    pub external_id: Option<ExternalId>,
    /// What is asked of the link beside.
    pub filter: LinkFilter,
}

impl LinkQuery {
    /// Reads what was given.
    ///
    /// # Errors
    /// When a text means nothing; its name is that of the parameter.
    pub fn of(given: &GivenFilter) -> Result<Self, Invalid> {
        let zone = read("tz", given.tz.as_deref(), Zone::parse)?.unwrap_or_else(Zone::utc);
        let external_id = read("external_id", given.external_id.as_deref(), ExternalId::parse)?;
        let external_id = external_id.filter(|id| !id.as_str().is_empty());
        // Who asks for one link by its name asks for it wherever it is: its name is taken.
        let archived = if external_id.is_some() { ArchivedFilter::All } else { ArchivedFilter::default() };
        let (first, last) = (("created_after", &given.created_after), ("created_before", &given.created_before));
        let texts = given.tag.iter().filter(|text| !text.is_empty());
        Ok(Self {
            created: zone.between((first.0, first.1.as_deref()), (last.0, last.1.as_deref()))?,
            search: read("search", given.search.as_deref(), LinkSearch::parse)?.filter(|search| !search.is_empty()),
            external_id,
            filter: LinkFilter {
                tags: texts
                    .map(|text| TagTerm::parse(text))
                    .collect::<Result<_, _>>()
                    .map_err(|refused| refused.in_field("tag"))?,
                created_by: read("created_by", given.created_by.as_deref(), creator)?,
                status: read("status", given.status.as_deref(), StatusFilter::parse)?.unwrap_or_default(),
                archived: read("archived", given.archived.as_deref(), ArchivedFilter::parse)?.unwrap_or(archived),
            },
        })
    }

    /// This query, but for the link with this code if its search is the whole short URL of one.
    #[must_use]
    pub fn naming(self, code: Option<&ShortCode>) -> Self {
        Self { search: code.map(LinkSearch::for_code).or(self.search), ..self }
    }

    /// What is made of a link at `now`.
    pub fn verdict(&self, link: &Link, now: Timestamp) -> Verdict {
        let (from, to) = self.created;
        let is_wanted = from.is_none_or(|from| from <= link.created_at)
            && to.is_none_or(|to| link.created_at <= to)
            && self.search.as_ref().is_none_or(|search| search.finds(link))
            && self.external_id.as_ref().is_none_or(|id| link.metadata.external_id.as_ref() == Some(id));
        if is_wanted { self.filter.verdict(&link.clone().into(), now) } else { Verdict::Other }
    }

    /// Whether nearly each link is meant that was created within the time.
    pub fn means_nearly_all(&self) -> bool {
        self.search.is_none() && self.filter.matches_nearly_all()
    }
}

/// Reads a text, if there is one. An empty one is absent, since forms send what nobody filled in.
fn read<T>(
    name: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Result<Option<T>, Invalid> {
    let text = text.filter(|text| !text.is_empty());
    text.map(parse).transpose().map_err(|refused| refused.in_field(name))
}

fn creator(text: &str) -> Result<UserId, Invalid> {
    UserId::parse(text).map_err(|_| Invalid::new("created_by must be a UUID"))
}

/// From where and in which order the links of a workspace are gone through.
#[derive(Debug, Clone, Default)]
pub struct LinkOrder {
    /// Whether the newest or the oldest link comes first.
    pub order: SortOrder,
    /// Only the links that come after this one.
    pub after: Option<Cursor<ShortCode>>,
    /// How many links are needed, if it is known that there will be no use for more.
    pub needed: Option<usize>,
}

/// The links that match, in the order of their creation, part by part.
pub struct Matches<'a> {
    source: Source<'a>,
    filter: &'a LinkFilter,
    now: Timestamp,
    /// How many links have been read, whether they match or not.
    pub read: usize,
    /// How many of these would match if they weren't archived.
    pub left_out: usize,
}

/// What is read. Only a search needs whole links.
enum Source<'a> {
    Summaries(LinkReader<LinkSummary>),
    Links(LinkReader<Link>, &'a LinkSearch),
}

impl<'a> Matches<'a> {
    /// The links of a workspace that a query finds, but for its external id.
    pub fn of(
        query: &'a LinkQuery,
        order: LinkOrder,
        links: &LinksTable,
        workspace: &WorkspaceId,
        now: Timestamp,
    ) -> Self {
        let LinkOrder { order, after, needed: wanted } = order;
        let range = LinkRange { workspace, created: query.created, order, after, wanted };
        let source = match &query.search {
            Some(search) => Source::Links(links.whole(&range), search),
            None => Source::Summaries(links.summaries(&range)),
        };
        Self { source, filter: &query.filter, now, read: 0, left_out: 0 }
    }

    /// The matches among the next links; `None` at the end, or when as much has been read as one request may read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn next(&mut self) -> Result<Option<Vec<LinkSummary>>> {
        let (read, mut found) = match &mut self.source {
            Source::Summaries(reader) => {
                let Some(summaries) = reader.next().await? else { return Ok(None) };
                (summaries.len(), summaries)
            }
            Source::Links(reader, search) => {
                let Some(links) = reader.next().await? else { return Ok(None) };
                let found = |link: &Link| search.finds(link);
                (links.len(), links.into_iter().filter(found).map(LinkSummary::from).collect())
            }
        };
        self.read += read;
        found.retain(|link| {
            let verdict = self.filter.verdict(link, self.now);
            self.left_out += usize::from(verdict == Verdict::LeftOut);
            verdict == Verdict::Shown
        });
        Ok(Some(found))
    }

    /// The last link that was read, if there are more behind it.
    pub fn rest(&self) -> Option<&Cursor<ShortCode>> {
        match &self.source {
            Source::Summaries(reader) => reader.rest(),
            Source::Links(reader, _) => reader.rest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn query(given: Value) -> Result<LinkQuery, Invalid> {
        LinkQuery::of(&serde_json::from_value(given).unwrap())
    }

    #[test]
    fn what_means_nothing_is_refused_by_its_name() {
        for (given, name) in [
            (json!({"tz": "Mars/Base"}), "tz"),
            (json!({"tag": ["a", "-"]}), "tag"),
            (json!({"created_by": "ada"}), "created_by"),
            (json!({"status": "purged"}), "status"),
            (json!({"archived": "yes"}), "archived"),
            (json!({"search": "x".repeat(201)}), "search"),
            (json!({"created_after": "now"}), "created_after"),
            (json!({"created_after": "2026-03-03", "created_before": "2026-03-02"}), "created_after"),
        ] {
            assert_eq!(query(given.clone()).unwrap_err().field(), Some(name), "{given}");
        }
    }

    #[test]
    fn a_search_for_nothing_is_none() {
        for nothing in ["", " ", "\u{3000}\u{FEFF}"] {
            assert_eq!(query(json!({"search": nothing})).unwrap().search, None, "{nothing:?}");
        }
        assert!(query(json!({"search": "\u{301}"})).unwrap().search.is_some(), "what finds nothing isn't nothing");
    }

    #[test]
    fn dates_are_days_of_the_time_zone() {
        let at = |text: &str| Some(Timestamp::parse(text).unwrap());
        let day = json!({"created_after": "2026-03-02", "created_before": "2026-03-02", "tz": "Europe/Berlin"});

        let created = query(day).unwrap().created;

        assert_eq!(created, (at("2026-03-01T23:00:00Z"), at("2026-03-02T22:59:59.999Z")));
    }

    #[test]
    fn what_has_no_condition_finds_what_a_list_shows_without_parameters() {
        assert_eq!(query(json!({"all": true})).unwrap().filter, LinkFilter::default());
        assert_eq!(query(json!({"external_id": "x"})).unwrap().filter.archived, ArchivedFilter::All);
    }
}
