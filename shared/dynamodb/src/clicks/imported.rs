//! Storing clicks that another system has counted, each once, while the link's imported total gets less by them.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{Click, ClickId, CorrelationId, EventId, Generation, LinkId, Spread};
use serde::Deserialize;

use super::ClicksTable;
use super::item::click_key;
use crate::item::{IS_NEW, Key, from_item, number, text};
use crate::links::item::link_key;
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::ACTION;
use crate::{LinksTable, RepositoryError, Result};

const OPERATION: &str = "import clicks";

/// How many clicks a transaction stores. DynamoDB allows 100 actions, of which one is the link's.
const AT_ONCE: usize = 99;

impl ClicksTable {
    /// Which of these clicks of a link are stored.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn stored(&self, link: &LinkId, clicks: &[ClickId]) -> Result<BTreeSet<ClickId>> {
        let keys = clicks.iter().map(|id| click_key(link, id, Spread::Narrow)).collect();
        let found = self.table.batch_get(OPERATION, keys, true, Some("pk, sk")).await?.into_iter();
        let id = |item| {
            let key: Key = from_item(OPERATION, item)?;
            ClickId::parse(&key.sk).map_err(RepositoryError::unexpected_item(OPERATION))
        };
        found.map(id).collect()
    }

    /// Stores those of these clicks of a link that aren't, and returns which ones; `None` if the link wasn't imported, or is gone.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or others import clicks of the link all the time. Then some clicks may be stored.
    pub async fn import(
        &self,
        links: &LinksTable,
        link: &LinkId,
        clicks: &[Click],
    ) -> Result<Option<BTreeSet<ClickId>>> {
        let mut stored = BTreeSet::new();
        for some in clicks.chunks(AT_ONCE) {
            let Some(new) = retry_on_conflict(OPERATION, || self.try_import(links, link, some)).await? else {
                return Ok(None);
            };
            stored.extend(new);
        }
        Ok(Some(stored))
    }

    async fn try_import(
        &self,
        links: &LinksTable,
        link: &LinkId,
        clicks: &[Click],
    ) -> Result<Option<Option<BTreeSet<ClickId>>>> {
        let ids: Vec<_> = clicks.iter().map(|click| click.id).collect();
        let stored = self.stored(link, &ids).await?;
        let fresh: Vec<_> = clicks.iter().filter(|click| !stored.contains(&click.id)).collect();
        let found = links.0.get::<ImportedTotal>(OPERATION, link_key(&link.code)).await?;
        let of_link = found.filter(|found| found.generation == link.generation);
        let Some(total) = of_link.and_then(|found| found.imported_clicks) else { return Ok(Some(None)) };
        let Some(first) = fresh.first() else { return Ok(Some(Some(BTreeSet::new()))) };
        let left = total.saturating_sub(u64::try_from(fresh.len()).unwrap_or(u64::MAX));
        let transaction =
            Transaction::new(OPERATION).and(lessen(links, link, (total, left), &first.correlation_id)?, None);
        let puts = fresh.iter().map(|click| self.put_new(click)).collect::<Result<Vec<_>>>()?;
        let done = Some(fresh.iter().map(|click| click.id).collect());
        transaction.and_each(puts, None).commit(&self.table.client, done).await
    }

    fn put_new(&self, click: &Click) -> Result<TransactWriteItem> {
        self.table.put_attributes(ACTION, self.item_of(click, Spread::Narrow)?).only_if(IS_NEW).action()
    }
}

/// What an item of a link says of its clicks elsewhere. A tombstone says nothing.
#[derive(Deserialize)]
struct ImportedTotal {
    generation: Generation,
    imported_clicks: Option<u64>,
}

/// The action that changes what is left of a link's total. It is no change of which others hear.
fn lessen(
    links: &LinksTable,
    link: &LinkId,
    (before, left): (u64, u64),
    correlation_id: &CorrelationId,
) -> Result<TransactWriteItem> {
    const LESS: &str = "SET imported_clicks = :left, is_news = :no, change_id = :change, correlation_id = :correlation \
                        REMOVE changed_by";
    let update = links.0.update(ACTION, link_key(&link.code), LESS);
    let update = update.only_if("generation = :generation AND imported_clicks = :before").values([
        (":left", number(&left)),
        (":before", number(&before)),
        (":generation", text(&link.generation)),
        (":no", AttributeValue::Bool(false)),
        (":change", text(&EventId::generate())),
        (":correlation", text(correlation_id)),
    ]);
    update.action()
}
