//! Reading a workspace's links in the order of their creation, as far as one request may read.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use linklet_domain::{Invalid, Link, LinkId, LinkSummary, Record, ShortCode, SortOrder, Timestamp, WorkspaceId};

use super::item::{LeanItem, LinkItem, link_key, workspace_partition};
use super::{LinksTable, record_of};
use crate::item::{Answers, Item, from_item, text};
use crate::{Cursor, RepositoryError, Result};

const OPERATION: &str = "list a workspace's links";

/// Which of a workspace's links to read, in the order of their creation.
#[derive(Debug, Clone)]
pub struct LinkRange<'a> {
    /// The workspace.
    pub workspace: &'a WorkspaceId,
    /// The first and the last time of creation, both inclusive.
    pub created: (Option<Timestamp>, Option<Timestamp>),
    /// Whether the newest or the oldest link comes first.
    pub order: SortOrder,
    /// Only the links that come after this one in this order. It need not exist any more.
    pub after: Option<Cursor<ShortCode>>,
    /// How many links are wanted, if it is known that there will be no use for more.
    pub wanted: Option<usize>,
}

/// Reads links part by part: at most 8 MB, and 1 MB at a time.
#[derive(Debug)]
pub struct LinkReader<R> {
    /// `None` if no link can be in the range.
    answers: Option<Answers>,
    /// The sort key of the link after which to begin.
    after: Option<String>,
    rest: Option<Cursor<ShortCode>>,
    row_of: fn(Item) -> Result<R>,
}

impl LinksTable {
    pub(super) const LEAN: &str = "by-workspace-lean";

    /// Reads what filters and orders need of links, which costs a fraction of reading the links.
    pub fn summaries(&self, range: &LinkRange<'_>) -> LinkReader<LinkSummary> {
        self.reader(Self::LEAN, range, |item| {
            let lean: LeanItem = from_item(OPERATION, item)?;
            lean.into_summary().map_err(RepositoryError::unexpected_item(OPERATION))
        })
    }

    /// Reads whole links.
    pub fn whole(&self, range: &LinkRange<'_>) -> LinkReader<Link> {
        let link_of = |item| from_item::<LinkItem>(OPERATION, item).map(LinkItem::into_link);
        self.reader(Self::BY_WORKSPACE, range, link_of)
    }

    /// Reads these links, and keeps their order. One that has gone since it was found is left out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn with_ids(&self, ids: &[LinkId]) -> Result<Vec<Link>> {
        let keys = ids.iter().map(|id| link_key(&id.code)).collect();
        let mut links = HashMap::with_capacity(ids.len());
        for item in self.0.batch_get(OPERATION, keys, false, None).await? {
            if let Record::Link(link) = record_of(OPERATION, item)? {
                links.insert(link.id().clone(), link);
            }
        }
        Ok(ids.iter().filter_map(|id| links.remove(id)).collect())
    }

    fn reader<R>(&self, index: &str, range: &LinkRange<'_>, row_of: fn(Item) -> Result<R>) -> LinkReader<R> {
        let after = range.after.as_ref().map(Cursor::sort_key);
        let query = between(range, after.as_deref()).map(|(first, last)| self.query(index, range, &first, &last));
        let answers = query.map(|query| self.0.query_within_budget(OPERATION, query));
        LinkReader { answers, after, rest: None, row_of }
    }

    fn query(&self, index: &str, range: &LinkRange<'_>, first: &str, last: &str) -> QueryFluentBuilder {
        // One more, since the link of the cursor may be among them.
        let limit = range.wanted.and_then(|wanted| i32::try_from(wanted + 1).ok());
        self.0
            .client
            .query()
            .index_name(index)
            .key_condition_expression("by_workspace_pk = :workspace AND by_workspace_sk BETWEEN :first AND :last")
            .expression_attribute_values(":workspace", text(&workspace_partition(range.workspace)))
            .expression_attribute_values(":first", text(first))
            .expression_attribute_values(":last", text(last))
            .scan_index_forward(range.order == SortOrder::Ascending)
            .set_limit(limit)
    }
}

/// The ends of a range as sort keys, both inclusive; `None` if nothing lies between them. That of the cursor, from which the
/// range is read on, is one of them, since a key condition has no form for two ends of which one is left out.
fn between(range: &LinkRange<'_>, after: Option<&str>) -> Option<(String, String)> {
    // The sort key is `<created_at>#<code>`. `~` sorts after every code, so the range includes the last time.
    let (from, to) = range.created;
    let mut first = from.map_or_else(|| "0".to_owned(), |at| at.to_string());
    let mut last = to.map_or_else(|| "~".to_owned(), |at| format!("{at}#~"));
    match (after, range.order) {
        (Some(after), SortOrder::Ascending) => first = first.max(after.to_owned()),
        (Some(after), SortOrder::Descending) => last = last.min(after.to_owned()),
        (None, _) => {}
    }
    (first <= last).then_some((first, last))
}

impl<R> LinkReader<R> {
    /// The next links; `None` at the end of the range, or when as much has been read as one request may read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn next(&mut self) -> Result<Option<Vec<R>>> {
        let Some(answers) = &mut self.answers else { return Ok(None) };
        let Some(items) = answers.next().await? else { return Ok(None) };
        // Where most links aren't to be shown, such as archived ones, few answers get through them.
        answers.enlarge();
        self.rest = answers.last_read().map(place_of).transpose()?;
        let is_after = |item: &Item| self.after.is_none() || sort_key_of(item) != self.after.as_deref();
        let row = |item: Item| {
            let key = sort_key_of(&item).unwrap_or_default().to_owned();
            (self.row_of)(item).map_err(|error| error.of_item(key))
        };
        items.into_iter().filter(is_after).map(row).collect::<Result<_, _>>().map(Some)
    }

    /// The last link that was read, if there are more behind it.
    pub fn rest(&self) -> Option<&Cursor<ShortCode>> {
        self.rest.as_ref()
    }
}

fn sort_key_of(item: &Item) -> Option<&str> {
    item.get("by_workspace_sk").and_then(|key| key.as_s().ok()).map(String::as_str)
}

pub(super) fn place_of(key: &Item) -> Result<Cursor<ShortCode>> {
    let refused = || RepositoryError::unexpected_item(OPERATION)(Invalid::new("a key has no place in the list"));
    sort_key_of(key).and_then(Cursor::from_sort_key).ok_or_else(refused)
}
