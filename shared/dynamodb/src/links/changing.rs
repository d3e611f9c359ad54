//! Changing links. What only people read is one write; what decides where or whether a link leads is a transaction with all that
//! depends on it: its history, its reuse entry, its limit, its password and its external id. So they agree whenever a function dies.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    Changer, CorrelationId, Destinations, EventId, LeadingChanges, Link, LinkId, LinkPatch, Precondition, Record,
    Timestamp, UserId,
};

use super::{
    IS_KEPT, LinksTable, UpdateOutcome, is_kept,
    item::{AVAILABILITY, LinkItem, link_key},
};
use crate::{
    RepositoryError,
    item::{Item, Table, from_item, text, to_attributes},
    revision::{Guard, NEXT_REVISION, one_more},
    transaction::{Transaction, TransactionOutcome, retry_on_conflict},
    write::{Outcome, Write},
};

/// A change of a link.
#[derive(Debug, Clone, Copy)]
pub struct LinkUpdate<'a> {
    /// Which link it is.
    pub link: &'a LinkId,
    /// What is changed.
    pub patch: &'a LinkPatch,
    /// Which revisions the change is meant for.
    pub precondition: &'a Precondition,
    /// Whether the link's workspace lets people lead links elsewhere.
    pub destinations: Destinations,
    /// Who changes it.
    pub by: &'a UserId,
    /// Who is named to others that hear of it: not the owner, unless it is one of many links at once, and nobody for a job.
    pub named: Option<&'a Changer>,
    /// When.
    pub at: Timestamp,
    /// The correlation id of the request.
    pub correlation_id: &'a CorrelationId,
}

impl LinksTable {
    /// Changes a link of a revision that the change is meant for. One that can be reused after the change becomes the link of its
    /// URL, if the URL has no other.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn update(&self, update: &LinkUpdate<'_>) -> Result<UpdateOutcome, RepositoryError> {
        const OPERATION: &str = "change a link";
        if !update.patch.concerns_other_items()
            && let Some(outcome) = self.change_alone(OPERATION, update).await?
        {
            return Ok(outcome);
        }
        retry_on_conflict(OPERATION, || self.try_to_change(OPERATION, update)).await
    }

    /// Changes a link by a single write, which costs half of a transaction; `None` if another change was made later by the clock of
    /// another host, so that this one needs a time after it.
    async fn change_alone(
        &self,
        operation: &'static str,
        update: &LinkUpdate<'_>,
    ) -> Result<Option<UpdateOutcome>, RepositoryError> {
        let changes = Changes::of(operation, update, update.at)?;
        let mut write = changes.made_to(&self.0, operation, update.link, update.precondition);
        if !changes.set.is_empty() {
            write = write.and_if("(attribute_not_exists(updated_at) OR updated_at < :updated_at)");
        }
        let changed = |item| from_item::<LinkItem>(operation, item).map(LinkItem::into_link);
        let found = match write.returning_new().send().await? {
            Outcome::Done(item) => return Ok(Some(UpdateOutcome::Changed(changed(item)?.into()))),
            Outcome::Refused(found) => found,
        };
        let Some(kept) = found.filter(|item| is_kept(item, &update.link.generation)) else {
            return Ok(Some(UpdateOutcome::Gone));
        };
        // The SDK retries a write whose response was lost. The change is then the one that the first attempt has made.
        let is_made = kept.get("change_id") == Some(&text(&changes.id));
        let link = changed(kept)?;
        Ok(match is_made {
            true => Some(UpdateOutcome::Changed(link.into())),
            false if update.precondition.admits(link.revision) => None,
            false => Some(UpdateOutcome::Stale),
        })
    }

    /// Changes a link of the revision that is read, together with what depends on it; `None` if others were faster.
    async fn try_to_change(
        &self,
        operation: &'static str,
        update: &LinkUpdate<'_>,
    ) -> Result<Option<UpdateOutcome>, RepositoryError> {
        let before = match self.find(&update.link.code).await? {
            Some(Record::Link(link)) if link.id() == update.link && !link.availability.is_deleted() => link,
            _ => return Ok(Some(UpdateOutcome::Gone)),
        };
        if !update.precondition.admits(before.revision) {
            return Ok(Some(UpdateOutcome::Stale));
        }
        let after = before.changed_by(update.patch, update.at);
        if update.destinations == Destinations::Fixed && !after.leads_only_where(&before) {
            return Ok(Some(UpdateOutcome::DestinationFixed));
        }
        if let Err(invalid) = after.availability.check_window() {
            return Ok(Some(UpdateOutcome::Invalid(invalid)));
        }
        let mut changes = Changes::of(operation, update, after.updated_at)?;
        if before.terms.max_clicks != after.terms.max_clicks {
            // Also if it wasn't there when the link was read: the relay writes it without another revision.
            changes.remove.push("exhausted_at".to_owned());
        }
        let (revision, has_new_password) =
            (Precondition::only(before.revision), matches!(update.patch.password, Some(Some(_))));
        let mut transaction =
            Transaction::new(operation).and(changes.made_to(&self.0, operation, update.link, &revision).action()?, ());
        let Some(claim) = self.change_of_external_id(operation, &before, &after).await? else {
            return Ok(Some(UpdateOutcome::ExternalIdTaken));
        };
        let mut others = claim;
        others.extend(self.changes_of_terms(operation, update, &before, &after)?);
        if let Some(leading) = LeadingChanges::between(&before, &after, has_new_password) {
            let (id, author) = ((update.link, &changes.id), (after.updated_at, *update.by));
            others.push(self.add_to_history(operation, id, author, leading)?);
        }
        others.extend(self.change_of_reuse_entry(operation, &before, &after).await?);
        transaction = transaction.and_each(others, ());
        match transaction.send(&self.0.client).await? {
            TransactionOutcome::Refused(()) | TransactionOutcome::InConflict => Ok(None),
            TransactionOutcome::Committed => Ok(Some(match self.find(&update.link.code).await? {
                Some(Record::Link(changed)) if changed.id() == update.link => UpdateOutcome::Changed(Box::new(changed)),
                _ => UpdateOutcome::Gone,
            })),
        }
    }

    /// The actions that give a link another external id; `None` if another link has it.
    async fn change_of_external_id(
        &self,
        operation: &'static str,
        before: &Link,
        after: &Link,
    ) -> Result<Option<Vec<TransactWriteItem>>, RepositoryError> {
        let (old, new) = (&before.metadata.external_id, &after.metadata.external_id);
        let mut actions = Vec::new();
        if old == new {
            return Ok(Some(actions));
        }
        if let Some(new) = new {
            let link = (&before.identity.workspace, before.id());
            let Some(claim) = self.claim_external_id(operation, link, new).await? else { return Ok(None) };
            actions.push(claim);
        }
        if let Some(old) = old {
            actions.push(self.release_external_id(operation, before, old)?);
        }
        Ok(Some(actions))
    }

    /// The actions that keep a link's limit and password.
    fn changes_of_terms(
        &self,
        operation: &'static str,
        update: &LinkUpdate<'_>,
        before: &Link,
        after: &Link,
    ) -> Result<Vec<TransactWriteItem>, RepositoryError> {
        let mut actions = Vec::new();
        if before.terms.max_clicks != after.terms.max_clicks {
            actions.push(match after.terms.max_clicks {
                Some(max) => self.set_limit(operation, update.link, max)?,
                None => self.end_limit(operation, update.link)?,
            });
        }
        if let Some(password) = &update.patch.password {
            actions.push(self.set_lock(operation, update.link, password.as_deref())?);
        }
        Ok(actions)
    }
}

/// The attributes that a change sets or removes.
struct Changes {
    /// What the ids of the change's events are made of.
    id: EventId,
    set: Vec<(String, AttributeValue)>,
    remove: Vec<String>,
}

impl Changes {
    /// Each member of the patch is the attribute of its name, or [at another place](path_of). Another expiry is not published yet,
    /// and what is `false` or `null` is not there.
    fn of(operation: &'static str, update: &LinkUpdate<'_>, at: Timestamp) -> Result<Self, RepositoryError> {
        let (patch, id) = (update.patch, EventId::generate());
        let mut attributes: Item = to_attributes(operation, patch)?;
        if let Some(routing) = &patch.routing {
            let json = routing.as_ref().map(serde_json::to_string).transpose();
            let json = json.map_err(RepositoryError::unexpected_item(operation))?;
            attributes.insert("routing".to_owned(), json.map_or(AttributeValue::Null(true), AttributeValue::S));
        }
        if let Some(password) = &patch.password {
            let is_protected = password.as_ref().map_or(AttributeValue::Null(true), |_| AttributeValue::Bool(true));
            attributes.insert("is_protected".to_owned(), is_protected);
        }
        if attributes.is_empty() {
            return Ok(Self { id, set: Vec::new(), remove: Vec::new() });
        }
        if patch.expires_at.is_some() {
            attributes.insert("expiry_is_published".to_owned(), AttributeValue::Null(true));
        }
        if patch.archived == Some(false) {
            attributes.insert("archived".to_owned(), AttributeValue::Null(true));
        }
        // Of the other changes nobody hears.
        let is_news = patch.expires_at.is_some()
            || patch.watch.is_some()
            || patch.url.is_some()
            || patch.fallback_url.is_some()
            || update.named.is_some();
        let written = [
            ("updated_at", text(&at)),
            ("is_news", AttributeValue::Bool(is_news)),
            ("change_id", text(&id)),
            ("correlation_id", text(update.correlation_id)),
            ("changed_by", update.named.map_or(AttributeValue::Null(true), text)),
        ];
        attributes.extend(written.map(|(name, value)| (name.to_owned(), value)));
        let (remove, set): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|(_, value)| value.is_null());
        Ok(Self { id, set, remove: remove.into_iter().map(|(name, _)| name).collect() })
    }

    /// The write that makes the changes to a link that is kept and of a revision that they are meant for. It may be none that changes
    /// anything, which tells whether the link is so.
    fn made_to<'a>(
        &self,
        table: &'a Table,
        operation: &'static str,
        link: &LinkId,
        precondition: &Precondition,
    ) -> Write<'a> {
        let Guard { condition, values } = Guard::of(precondition);
        let set = self.set.iter().map(|(name, value)| (format!(":{name}"), value.clone()));
        table
            .update(operation, link_key(&link.code), self.expression().unwrap_or_default())
            .only_if(format!("{IS_KEPT}{condition}"))
            .values(values)
            .values(set.chain(self.expression().map(|_| one_more())))
            .value(":generation", text(&link.generation))
    }

    /// The update expression, or `None` if nothing changes.
    fn expression(&self) -> Option<String> {
        let set: Vec<_> = self.set.iter().map(|(name, _)| format!("{} = :{name}", path_of(name))).collect();
        let remove: Vec<_> = self.remove.iter().map(|name| path_of(name)).collect();
        let clauses: Vec<_> = [("SET", set), ("REMOVE", remove)]
            .into_iter()
            .filter(|(_, paths)| !paths.is_empty())
            .map(|(clause, paths)| format!("{clause} {}", paths.join(", ")))
            .collect();
        (!clauses.is_empty()).then(|| format!("{} {NEXT_REVISION}", clauses.join(" ")))
    }
}

/// Where the member of a patch is in the item.
fn path_of(member: &str) -> String {
    match member {
        "expires_at" | "is_active" | "valid_from" | "exhausted_at" | "is_protected" => {
            format!("{AVAILABILITY}.#{member}")
        }
        "url" => "#original_url".to_owned(),
        _ => format!("#{member}"),
    }
}
