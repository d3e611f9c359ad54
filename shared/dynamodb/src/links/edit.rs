//! The one way in which people and jobs change, delete, suspend and purge links.
//!
//! ```text
//! link as it was read ── decide ──→ what becomes of it ── difference ──→ one write, or one transaction with all that depends on it
//!        ↑                                                                          │ guarded by the id of the last write
//!        └──────────────────── refused: the link as it is now ←─────────────────────┘
//! ```
//! A change of what only people read is one write. What decides where or whether a link leads is written in a transaction with its
//! history, its reuse entry, its limit, its password and its external id, so they agree whenever a function dies. Only attributes
//! that differ are written, so those that this version doesn't know stay.

use std::{collections::BTreeSet, convert::Infallible};

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    Changer, CorrelationId, Link, LinkChanges, LinkEdit, LinkWrite, Precondition, Record, RemovalReason, ShortCode,
    Tombstone, UserId,
};

use super::external::IdClaim;
use super::item::{AVAILABILITY, LinkItem, TombstoneItem, cleanup_key, link_key};
use super::{LinksTable, record_of};
use crate::item::{Item, number, text, to_item};
use crate::transaction::{TRIES, Transaction, TransactionOutcome};
use crate::write::{ACTION, Outcome, Write};
use crate::{RepositoryError, Result, back_off};

const OPERATION: &str = "edit a link";

/// What an edit needs beside the link.
#[derive(Debug, Clone, Copy)]
pub struct EditContext<'a> {
    /// Which revisions it is meant for.
    pub precondition: &'a Precondition,
    /// Who edits the link.
    pub by: &'a UserId,
    /// Who is named to others that are notified: nobody for a job, and an owner only for a purge or one of many links at once.
    pub changer: Option<&'a Changer>,
    /// The hash of another password; `Some(None)` takes the password away.
    pub password_hash: Option<Option<&'a str>>,
    /// The correlation id of the request or job.
    pub correlation_id: &'a CorrelationId,
}

impl<'a> EditContext<'a> {
    /// An edit of whatever revision the link has, which names nobody.
    pub fn unconditional(by: &'a UserId, correlation_id: &'a CorrelationId) -> Self {
        Self { precondition: &Precondition::None, by, changer: None, password_hash: None, correlation_id }
    }
}

/// The outcome of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditOutcome<E> {
    /// The link is as it was, and this is it.
    Kept(Record<Link>),
    /// The link after the edit, or the tombstone that has replaced it.
    Written(Record<Link>),
    /// The link has another revision than the edit is meant for.
    Stale,
    /// There is no link under the code any more, or another one.
    Gone,
    /// Another link of the workspace has the external id.
    ExternalIdTaken(ShortCode),
    /// The caller has refused to edit the link as it is.
    Refused(E),
    /// Others have written the link before each try.
    Contended,
}

impl EditOutcome<Infallible> {
    /// Whether the link was edited, for a caller that is repeated after an error.
    ///
    /// # Errors
    /// When others have written the link before each try.
    pub fn is_written(&self) -> Result<bool> {
        match self {
            Self::Contended => Err(RepositoryError::contention(OPERATION)),
            outcome => Ok(matches!(outcome, Self::Written(_))),
        }
    }
}

/// The outcome of one attempt.
enum Attempt<E> {
    Over(EditOutcome<E>),
    /// The link was written meanwhile; this is what stands under its code.
    Changed(Option<Record<Link>>),
    /// Another item was written meanwhile, or is being written.
    InConflict,
}

impl LinksTable {
    /// Edits a link, or the tombstone that has replaced it: `decide` says what becomes of it. If it isn't as it was read, `decide` is
    /// asked again about what it is, so of two people who change different members at once, both succeed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn edit<E>(
        &self,
        found: Record<Link>,
        context: &EditContext<'_>,
        mut decide: impl FnMut(&Record<Link>) -> Result<LinkEdit, E>,
    ) -> Result<EditOutcome<E>> {
        let id = found.identity().id.clone();
        let mut before = found;
        for tried in 0..TRIES {
            match self.try_to_edit(&before, context, &mut decide).await? {
                Attempt::Over(outcome) => return Ok(outcome),
                Attempt::Changed(Some(now)) if now.identity().id == id => before = now,
                Attempt::Changed(_) => return Ok(EditOutcome::Gone),
                Attempt::InConflict => {}
            }
            back_off(tried).await;
        }
        Ok(EditOutcome::Contended)
    }

    async fn try_to_edit<E>(
        &self,
        before: &Record<Link>,
        context: &EditContext<'_>,
        decide: &mut impl FnMut(&Record<Link>) -> Result<LinkEdit, E>,
    ) -> Result<Attempt<E>> {
        let is_meant = match before {
            Record::Link(link) => context.precondition.admits(link.revision),
            // A tombstone has no revision.
            Record::Tombstone(_) => *context.precondition == Precondition::None,
        };
        let is_there = matches!(before, Record::Link(link) if !link.availability.is_deleted());
        let edit = match decide(before) {
            Ok(LinkEdit::Keep) => return Ok(Attempt::Over(EditOutcome::Kept(before.clone()))),
            // That a link is gone is said first.
            Err(refusal) if is_meant || !is_there => return Ok(Attempt::Over(EditOutcome::Refused(refusal))),
            Ok(edit) if is_meant => edit,
            Ok(_) | Err(_) => return Ok(Attempt::Over(EditOutcome::Stale)),
        };
        let write = LinkWrite::of(context.correlation_id);
        let (main, others, after) = match (edit, before) {
            (LinkEdit::Change(after), Record::Link(before)) => {
                let after = Link { last_write: write, ..*after };
                let others = match self.changes_of_other_items(before, &after, context).await? {
                    Ok(others) => others,
                    Err(by) => return Ok(Attempt::Over(EditOutcome::ExternalIdTaken(by))),
                };
                (self.change(before, &after, context)?, others, Record::Link(after))
            }
            (LinkEdit::Replace(tombstone), _) => {
                let tombstone = Tombstone { last_write: write, ..tombstone };
                let others = self.ends_of_other_items(before, &tombstone).await?;
                (self.replacement(before, &tombstone, context)?, others, Record::Tombstone(tombstone))
            }
            // What was removed is never a link again.
            (LinkEdit::Change(_) | LinkEdit::Keep, _) => return Ok(Attempt::Over(EditOutcome::Gone)),
        };
        self.send_edit(main, others, after).await
    }

    async fn send_edit<E>(
        &self,
        main: Write<'_>,
        others: Vec<TransactWriteItem>,
        after: Record<Link>,
    ) -> Result<Attempt<E>> {
        let refused = if others.is_empty() {
            match main.send().await? {
                Outcome::Done(_) => return Ok(Attempt::Over(EditOutcome::Written(after))),
                Outcome::Refused(found) => found,
            }
        } else {
            let transaction = Transaction::new(OPERATION).and(main.returning_refused().action()?, true);
            match transaction.and_each(others, false).send_returning(&self.0.client).await? {
                (TransactionOutcome::Committed, _) => return Ok(Attempt::Over(EditOutcome::Written(after))),
                (TransactionOutcome::Refused(true), found) => found,
                (TransactionOutcome::Refused(false) | TransactionOutcome::InConflict, _) => {
                    return Ok(Attempt::InConflict);
                }
            }
        };
        let found = refused.map(|item| record_of(OPERATION, item)).transpose()?;
        // The SDK repeats a write whose answer was lost. It is then the first one that has written the link.
        let is_written = found.as_ref().is_some_and(|found| found.last_write().id == after.last_write().id);
        Ok(if is_written { Attempt::Over(EditOutcome::Written(after)) } else { Attempt::Changed(found) })
    }

    /// The write that makes a link another, if its last write still is the one that was read.
    fn change(&self, before: &Link, after: &Link, context: &EditContext<'_>) -> Result<Write<'_>> {
        let is_deletion = after.availability.is_deleted() && !before.availability.is_deleted();
        let mut difference = Difference::between(
            to_item(OPERATION, &LinkItem::new(before))?,
            to_item(OPERATION, &LinkItem::new(after))?,
        );
        difference.set("is_news", AttributeValue::Bool(is_deletion || is_news(before, after, context)));
        match context.changer {
            Some(changer) => difference.set("changed_by", text(changer)),
            None => difference.remove("changed_by"),
        }
        if is_deletion {
            difference.set("deleted_by", text(context.by));
        }
        let update = self.0.update(OPERATION, link_key(before.code()), difference.expression());
        Ok(update.only_if(IS_AS_READ).values(difference.values).value(":known", text(&before.last_write.id)))
    }

    /// The write that puts a tombstone in the place of a link or of an earlier tombstone.
    fn replacement(
        &self,
        before: &Record<Link>,
        tombstone: &Tombstone,
        context: &EditContext<'_>,
    ) -> Result<Write<'_>> {
        let item = TombstoneItem { purged_by: context.changer.cloned(), ..TombstoneItem::new(tombstone) };
        let put = self.0.put_item(OPERATION, &item)?.only_if(IS_AS_READ);
        Ok(put.value(":known", text(&before.last_write().id)))
    }

    /// What a change of a link changes beside it; `None` if another link has its external id.
    async fn changes_of_other_items(
        &self,
        before: &Link,
        after: &Link,
        context: &EditContext<'_>,
    ) -> Result<IdClaim<Vec<TransactWriteItem>>> {
        let id = after.id();
        let mut actions = match self.change_of_external_id(before, after).await? {
            Ok(actions) => actions,
            Err(by) => return Ok(Err(by)),
        };
        if before.options.max_clicks != after.options.max_clicks {
            actions.push(match after.options.max_clicks {
                Some(max) => self.set_limit(id, max)?,
                None => self.end_limit(id)?,
            });
        }
        if let Some(hash) = context.password_hash {
            actions.push(self.set_link_password(id, hash)?);
        }
        if let Some(changes) = LinkChanges::for_history(before, after, context.password_hash.flatten().is_some()) {
            let (change, author) = ((id, &after.last_write.id), (after.updated_at, *context.by));
            actions.push(self.add_to_history(change, author, changes)?);
        }
        actions.extend(self.change_of_reuse_entry(before, after).await?);
        Ok(Ok(actions))
    }

    /// What ends with a link that its tombstone replaces. Nothing is left of what was replaced before.
    async fn ends_of_other_items(
        &self,
        before: &Record<Link>,
        tombstone: &Tombstone,
    ) -> Result<Vec<TransactWriteItem>> {
        let Record::Link(link) = before else { return Ok(Vec::new()) };
        let mut actions = Vec::new();
        if link.is_plain() {
            actions.extend(self.release_reuse_entry(link).await?);
        }
        if let Some(id) = &link.metadata.external_id {
            actions.push(self.release_external_id(link, id)?);
        }
        if link.options.max_clicks.is_some() {
            actions.push(self.end_limit(link.id())?);
        }
        if link.availability.is_protected {
            actions.push(self.set_link_password(link.id(), None)?);
        }
        if tombstone.reason != RemovalReason::Purged {
            // In the same transaction, so that a marker that is processed again doesn't count again.
            let count = self.0.update(ACTION, cleanup_key(&link.identity.workspace), "ADD total_cleaned :one");
            actions.push(count.value(":one", number(&1)).action()?);
        }
        Ok(actions)
    }
}

/// The condition that nobody has written a link since it was read.
const IS_AS_READ: &str = "change_id = :known";

/// Whether a change has an event that somebody reads. Of all others there is no event.
fn is_news(before: &Link, after: &Link, context: &EditContext<'_>) -> bool {
    let (was, is) = (&before.availability, &after.availability);
    let is_watched = before.watched_target().is_some();
    context.changer.is_some()
        || was.expires_at != is.expires_at
        || before.target != after.target
        || before.options.fallback_url != after.options.fallback_url
        || before.watch != after.watch
        || was.suspensions.by_operators() != is.suspensions.by_operators()
        || was.suspensions != is.suspensions && is_watched
}

/// The attributes in which an item differs from another, at the top and in the map of its availability.
#[derive(Default)]
struct Difference {
    set: Vec<String>,
    remove: Vec<String>,
    values: Vec<(String, AttributeValue)>,
}

impl Difference {
    fn between(mut before: Item, mut after: Item) -> Self {
        let mut difference = Self::default();
        let mut availability = [&mut before, &mut after].map(|item| match item.remove(AVAILABILITY) {
            Some(AttributeValue::M(map)) => map,
            _ => Item::new(),
        });
        let [was, is] = &mut availability;
        difference.add(&format!("{AVAILABILITY}."), was, is);
        difference.add("", &before, &after);
        difference
    }

    fn add(&mut self, parent: &str, before: &Item, after: &Item) {
        let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
        for name in names.into_iter().filter(|&name| before.get(name) != after.get(name)) {
            let path = format!("{parent}#{name}");
            match after.get(name) {
                Some(value) => self.set_path(&path, value.clone()),
                None => self.remove.push(path),
            }
        }
    }

    fn set(&mut self, name: &str, value: AttributeValue) {
        self.set_path(&format!("#{name}"), value);
    }

    fn remove(&mut self, name: &str) {
        self.remove.push(format!("#{name}"));
    }

    fn set_path(&mut self, path: &str, value: AttributeValue) {
        let name = format!(":value{}", self.values.len());
        self.set.push(format!("{path} = {name}"));
        self.values.push((name, value));
    }

    fn expression(&self) -> String {
        let remove = if self.remove.is_empty() { String::new() } else { format!(" REMOVE {}", self.remove.join(", ")) };
        format!("SET {}{remove}", self.set.join(", "))
    }
}
