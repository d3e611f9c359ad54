//! Suspending links, and lifting that.
//!
//! What suspends a link is beside its state, so lifting it makes the link what it was. It is no change of the link's people: its
//! revision and `updated_at` stay, its history has nothing of it, and nobody is notified. Only what watches links hears of it.

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{CorrelationId, EventId, Link, Record, Suspension, Suspensions};

use super::{IS_KEPT, LinksTable, item::link_key};
use crate::{RepositoryError, item::text, transaction::retry_on_conflict, write::Write};

const SUSPEND: &str = "suspend a link";

/// Whether a reason to suspend a link holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuspensionChange {
    /// It does from now on.
    Suspend(Suspension),
    /// It doesn't any more.
    Lift(Suspension),
}

impl SuspensionChange {
    fn made_to(self, before: Suspensions) -> Suspensions {
        match self {
            Self::Suspend(reason) => before.with(reason),
            Self::Lift(reason) => before.without(reason),
        }
    }
}

impl LinksTable {
    /// Changes what suspends a link, and says whether there was anything to change. A deleted link stays as it is, since it is never
    /// anything else again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_suspension(
        &self,
        link: &Link,
        change: SuspensionChange,
        correlation_id: &CorrelationId,
    ) -> Result<bool, RepositoryError> {
        if let Some(settled) = self.try_to_change_suspension(link, change, correlation_id).await? {
            return Ok(settled);
        }
        retry_on_conflict(SUSPEND, || async {
            match self.find(link.code()).await? {
                Some(Record::Link(current)) if current.id() == link.id() => {
                    self.try_to_change_suspension(&current, change, correlation_id).await
                }
                _ => Ok(Some(false)),
            }
        })
        .await
    }

    /// Returns `None` if the link has changed since it was read.
    async fn try_to_change_suspension(
        &self,
        link: &Link,
        change: SuspensionChange,
        correlation_id: &CorrelationId,
    ) -> Result<Option<bool>, RepositoryError> {
        let after = change.made_to(link.availability.suspensions);
        if after == link.availability.suspensions || link.availability.is_deleted() {
            return Ok(Some(false));
        }
        let is_done = self.suspension(link, after, correlation_id).unless_refused().await?;
        Ok(is_done.then_some(true))
    }

    /// The write that has this suspend a link and nothing else, unless something else suspends it than when it was read.
    fn suspension(&self, link: &Link, after: Suspensions, correlation_id: &CorrelationId) -> Write<'_> {
        const SUSPENDED_BY: &str = "availability.suspended_by";
        let (known, set, remove) =
            (words(link.availability.suspensions), words(after), format!("REMOVE {SUSPENDED_BY}"));
        let change = set.as_ref().map_or(remove, |_| format!(", {SUSPENDED_BY} = :after"));
        let is_as_read = match known {
            Some(_) => format!("{SUSPENDED_BY} = :before"),
            None => format!("attribute_not_exists({SUSPENDED_BY})"),
        };
        self.0
            .update(
                SUSPEND,
                link_key(link.code()),
                format!("SET is_news = :news, change_id = :change, correlation_id = :correlation {change}"),
            )
            .only_if(format!("{IS_KEPT} AND {is_as_read}"))
            .values(known.map(|known| (":before", known)))
            .values(set.map(|set| (":after", set)))
            .values([
                (":generation", text(&link.id().generation)),
                (":news", AttributeValue::Bool(link.watched_target().is_some())),
                (":change", text(&EventId::generate())),
                (":correlation", text(correlation_id)),
            ])
    }
}

/// What suspends a link as a set; `None` if nothing does.
fn words(suspensions: Suspensions) -> Option<AttributeValue> {
    let words: Vec<_> = suspensions.words().map(str::to_owned).collect();
    (!words.is_empty()).then_some(AttributeValue::Ss(words))
}
