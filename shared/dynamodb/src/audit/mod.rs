//! AuditTable: who has done what. Entries are only ever put, and on the condition that there is none with their key.
//!
//! [`UsersTable`](crate::UsersTable) puts the entry of a change into the change's own transaction. What comes of an event has the event's
//! id, so however often the event is delivered, there is one entry.

mod item;

use aws_sdk_dynamodb::{operation::query::builders::QueryFluentBuilder, types::TransactWriteItem};
use linklet_domain::{ActionFilter, AuditEntry, AuditFilter, AuditLog, EventId};

use self::item::{AuditItem, partition};
use crate::item::{IS_NEW, SortKeys, Table, from_item, text};
use crate::{Cursor, Page, Result};

/// The repository of audit logs: AuditTable.
#[derive(Debug, Clone)]
pub struct AuditTable(pub Table);

const PUT: &str = "write an entry of the audit log";

impl AuditTable {
    /// Puts an entry. One with its key that is there already stays, as when an event is delivered again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn put(&self, entry: &AuditEntry) -> Result<()> {
        self.0.put_item(PUT, &AuditItem::from(entry))?.only_if(IS_NEW).unless_refused().await.map(|_| ())
    }

    /// The action of a transaction that puts an entry. It is refused if there is one with its key.
    pub(crate) fn action(&self, entry: &AuditEntry) -> Result<TransactWriteItem> {
        self.0.put_new(&AuditItem::from(entry))
    }

    /// Lists the entries of an audit log of which this is true, newest first: at most `limit`, starting after the cursor. There may be fewer,
    /// also none, although others come behind them, since a page reads only so much.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn list(
        &self,
        audit_log: &AuditLog,
        filter: &AuditFilter,
        limit: usize,
        after: Option<&Cursor<EventId>>,
    ) -> Result<Page<AuditEntry, EventId>> {
        const OPERATION: &str = "list entries of the audit log";
        let after = after.map(Cursor::sort_key);
        let Some(range) = Range::of(filter, after.as_deref()) else {
            return Ok(Page { items: Vec::new(), next: None });
        };
        let keys = SortKeys::Between(&range.first, &range.last);
        let query = filtered(self.0.query(&partition(audit_log), keys), filter);
        let query = query.scan_index_forward(false).set_limit(i32::try_from(rows_at_once(filter, limit)).ok());
        let mut answers = self.0.query_within_budget(OPERATION, query);
        let mut entries = Vec::new();
        while entries.len() <= limit
            && let Some(items) = answers.next().await?
        {
            for item in items {
                let item = from_item::<AuditItem>(OPERATION, item)?;
                // The last key of a range is in it, and the cursor has been shown already.
                if Some(&item.key.sk) != after.as_ref() {
                    entries.push(item.value);
                }
            }
        }
        let mut page = Page::of(entries, limit, |entry| Cursor { at: entry.at, id: entry.id.clone() });
        let read_to = || answers.last_read()?.get("sk")?.as_s().ok().and_then(|key| Cursor::from_sort_key(key));
        page.next = page.next.or_else(read_to);
        Ok(page)
    }
}

/// The sort keys that may be in a page, both inclusive.
struct Range {
    first: String,
    last: String,
}

impl Range {
    /// `None` if nothing can be in it, which DynamoDB refuses to be asked.
    fn of(filter: &AuditFilter, after: Option<&str>) -> Option<Self> {
        let first = filter.from.map_or_else(|| "0".to_owned(), |from| from.to_string());
        // Behind all ids of that time, which are separated from it by a character before this one.
        let last = filter.to.map_or_else(|| ":".to_owned(), |to| format!("{to}$"));
        let last = after.map_or(last.clone(), |after| last.min(after.to_owned()));
        (first <= last).then_some(Self { first, last })
    }
}

/// How many entries are looked at together: those of a page, one that shows that there is a next one, and the one of the cursor; more of
/// those of which few may be meant.
fn rows_at_once(filter: &AuditFilter, limit: usize) -> usize {
    const AT_A_TIME: usize = 250;
    let most = limit + 2;
    if filter.actor.is_none() && filter.action.is_none() { most } else { most.max(AT_A_TIME) }
}

/// Has a query give the entries of an actor and of some actions only.
fn filtered(query: QueryFluentBuilder, filter: &AuditFilter) -> QueryFluentBuilder {
    let actor = filter.actor.as_ref().map(|actor| ("#actor", "actor", "#actor = :actor", (":actor", text(actor))));
    let action = filter.action.map(|action| match action {
        ActionFilter::One(action) => ("#action", "action", "#action = :action", (":action", text(&action))),
        ActionFilter::Group(group) => {
            ("#action", "action", "begins_with(#action, :action)", (":action", text(&format!("{group}."))))
        }
    });
    let conditions: Vec<_> = actor.into_iter().chain(action).collect();
    if conditions.is_empty() {
        return query;
    }
    let expression = conditions.iter().map(|(_, _, condition, _)| *condition).collect::<Vec<_>>().join(" AND ");
    conditions.into_iter().fold(
        query.filter_expression(expression),
        |query, (placeholder, name, _, (value_name, value))| {
            query.expression_attribute_names(placeholder, name).expression_attribute_values(value_name, value)
        },
    )
}
