//! Limits: how often links may be followed, exactly.
//!
//! ```text
//! visit ── used + 1, if used < max ──→ taken: it follows the link ── was it the last? ──→ full_for = max
//!                │                                                                          │ stream
//!              refused: nothing is left                                                   relay: the link is exhausted
//! ```
//! Both numbers are of one item, so a reader of an old link, or of one that is held in memory, lets nobody more through.

use std::collections::HashMap;

use aws_sdk_dynamodb::config::Builder;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{ClickLimit, CorrelationId, EventId, Invalid, LinkId, Timestamp, Uses};

use super::LinksTable;
use super::item::{UsesItem, link_key, uses_key};
use crate::item::{from_item, number, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::{ACTION, Outcome};
use crate::{RepositoryError, Result};

/// Whether a visitor may follow a link with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOutcome {
    /// They have taken a use.
    Taken(Uses),
    /// Nothing is left.
    Refused(Uses),
    /// The link has no limit, or not any more, or it is gone.
    Unlimited,
}

/// The end of a link's uses, as it was noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exhaustion {
    /// The link.
    pub link: LinkId,
    /// The limit that is used up.
    pub max: ClickLimit,
    /// When that was noted.
    pub at: Timestamp,
    /// The correlation id of the request that has noted it.
    pub correlation_id: CorrelationId,
}

impl UsesItem {
    /// The end of the link's uses, if it was noted.
    pub(crate) fn exhaustion(self) -> Result<Option<Exhaustion>, Invalid> {
        let link = self.link()?;
        let noted = self.full_for.zip(self.full_at).zip(self.correlation_id);
        Ok(noted.map(|((max, at), correlation_id)| Exhaustion { link, max, at, correlation_id }))
    }
}

impl LinksTable {
    /// Takes one of as many uses as a link may have. The call is sent once: a lost answer may cost a visitor's use, and never gives
    /// one more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn take_use(&self, link: &LinkId) -> Result<UseOutcome> {
        const OPERATION: &str = "use a link";
        let settings = Builder::new().retry_config(RetryConfig::disabled());
        let taken = self
            .0
            .update(OPERATION, uses_key(link), "ADD used :one")
            .only_if("used < #max")
            .value(":one", number(&1))
            .returning_new()
            .once(settings)
            .send()
            .await?;
        let uses = |item| from_item::<UsesItem>(OPERATION, item).map(Uses::from);
        Ok(match taken {
            Outcome::Done(item) => UseOutcome::Taken(uses(item)?),
            Outcome::Refused(Some(item)) => UseOutcome::Refused(uses(item)?),
            Outcome::Refused(None) => UseOutcome::Unlimited,
        })
    }

    /// Notes that a limit is used up, which publishes it. Nothing happens if it was noted before, or isn't the limit any more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_exhaustion(&self, end: &Exhaustion) -> Result<()> {
        const FULL: &str = "SET full_for = :max, full_at = :at, correlation_id = :correlation";
        self.0
            .update("note that a link is used up", uses_key(&end.link), FULL)
            .only_if("#max = :max AND used >= :max AND (attribute_not_exists(full_for) OR full_for <> :max)")
            .values([(":max", limit(end.max)), (":at", text(&end.at)), (":correlation", text(&end.correlation_id))])
            .unless_refused()
            .await
            .map(|_| ())
    }

    /// Writes to a link that it is used up, if what was noted still holds: a limit that was taken away and given again begins from
    /// zero. That publishes `url.exhausted`.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn exhaust(&self, end: &Exhaustion) -> Result<()> {
        const OPERATION: &str = "write that a link is used up";
        const EXHAUSTED: &str = "SET availability.exhausted_at = :at, is_news = :yes, change_id = :change, \
                                 correlation_id = :correlation";
        const IS_OPEN: &str = "generation = :generation AND max_clicks = :max \
                               AND attribute_not_exists(availability.exhausted_at) \
                               AND attribute_not_exists(availability.deleted_at)";
        let noted = [(":max", limit(end.max)), (":at", text(&end.at))];
        retry_on_conflict(OPERATION, || async {
            let exhausted = self.0.update(OPERATION, link_key(&end.link.code), EXHAUSTED).only_if(IS_OPEN);
            let exhausted = exhausted.values(noted.clone()).values([
                (":generation", text(&end.link.generation)),
                (":yes", AttributeValue::Bool(true)),
                (":change", text(&EventId::generate())),
                (":correlation", text(&end.correlation_id)),
            ]);
            let still = "full_for = :max AND full_at = :at";
            Transaction::new(OPERATION)
                .and(exhausted.action()?, Some(()))
                .and(self.0.check(uses_key(&end.link), still, noted.clone())?, Some(()))
                .commit(&self.0.client, ())
                .await
        })
        .await
    }

    /// How often links were used; those without a limit are missing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn uses(&self, links: &[&LinkId]) -> Result<HashMap<LinkId, Uses>> {
        const OPERATION: &str = "read how often links were used";
        let keys = links.iter().map(|link| uses_key(link)).collect();
        let items = self.0.batch_get(OPERATION, keys, true, None).await?.into_iter();
        let uses = items.map(|item| {
            let item = from_item::<UsesItem>(OPERATION, item)?;
            let link = item.link().map_err(RepositoryError::unexpected_item(OPERATION))?;
            Ok((link, Uses::from(item)))
        });
        uses.collect()
    }

    /// The action that gives a link a limit, or another one. What is used stays.
    pub(super) fn set_limit(&self, link: &LinkId, max: ClickLimit) -> Result<TransactWriteItem> {
        const SET: &str = "SET #max = :max, used = if_not_exists(used, :none) REMOVE full_for, full_at, correlation_id";
        let update = self.0.update(ACTION, uses_key(link), SET);
        update.values([(":max", limit(max)), (":none", number(&0))]).action()
    }

    /// The action that takes a link's limit away, if it has one.
    pub(super) fn end_limit(&self, link: &LinkId) -> Result<TransactWriteItem> {
        self.0.delete(ACTION, uses_key(link)).action()
    }
}

fn limit(max: ClickLimit) -> AttributeValue {
    number(&max.get())
}
