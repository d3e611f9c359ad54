//! The links that a request for a page asks for, as they are read.

use linklet_domain::{Link, LinkFilter, LinkSearch, LinkSummary, ShortCode, Timestamp, Verdict, WorkspaceId};
use linklet_dynamodb::{Cursor, LinkRange, LinkReader, LinksTable, RepositoryError};

use crate::management::ListQuery;

/// The links that match, in the order of their creation, part by part.
pub(crate) struct Matches<'a> {
    source: Source<'a>,
    filter: &'a LinkFilter,
    now: Timestamp,
    read: usize,
    left_out: usize,
}

/// What is read. Only a search needs whole links.
enum Source<'a> {
    Summaries(LinkReader<LinkSummary>),
    Links(LinkReader<Link>, &'a LinkSearch),
}

impl<'a> Matches<'a> {
    pub(crate) fn of(wanted: &'a ListQuery, links: &LinksTable, workspace: &WorkspaceId, now: Timestamp) -> Self {
        let range = LinkRange {
            workspace,
            created: wanted.created,
            order: wanted.order,
            after: wanted.after.clone(),
            wanted: wanted.needed(),
        };
        let source = match &wanted.search {
            Some(search) => Source::Links(links.whole(&range), search),
            None => Source::Summaries(links.summaries(&range)),
        };
        Self { source, filter: &wanted.filter, now, read: 0, left_out: 0 }
    }

    /// The matches among the next links; `None` at the end, or when as much has been read as one request may read.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<LinkSummary>>, RepositoryError> {
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

    /// How many links have been read, whether they match or not.
    pub(crate) fn read(&self) -> usize {
        self.read
    }

    /// How many of these would match if they weren't archived.
    pub(crate) fn left_out(&self) -> usize {
        self.left_out
    }

    /// The last link that was read, if there are more behind it.
    pub(crate) fn rest(&self) -> Option<&Cursor<ShortCode>> {
        match &self.source {
            Source::Summaries(reader) => reader.rest(),
            Source::Links(reader, _) => reader.rest(),
        }
    }
}
