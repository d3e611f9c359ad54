//! Creating links with one code per URL and one response per idempotency key.
//!
//! ```text
//! request ── key used before? ────── yes ──→ the stored response, or an error if the request differs
//!              │ no
//!            URL has an active link? yes ──→ that link (its response is stored under the key)
//!              │ no
//!            one transaction: link + reuse entry + external id + response under the key, each only if it doesn't exist
//!              │                          │
//!           committed                  cancelled ──→ read again: a concurrent request has created one of them
//! ```
//! A request with `watch` reuses only a link that watches the URL. If there is only a link without `watch`, it creates a new
//! link, which replaces the old one in the reuse entry; the old one keeps redirecting. A link without `watch` never replaces
//! one with `watch`. So a URL has one reuse entry, and all requests with `watch` get the same link.
//!
//! Nothing is visible before the transaction commits, so a crash before leaves nothing, and a crash after it leaves the
//! response for the client's retry.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{AnswerKey, Link, NormalizedUrl, Record, ShortCode, TargetUrl, Timestamp, WorkspaceId, lifetimes};

use super::case_aliases::CaseAlias;
use super::item::{FirstAnswer, IdempotencyItem, LinkItem, ReuseItem, idempotency_key, reuse_key};
use super::{CODE_IS_FREE, CreateOutcome, LinksTable, code_is_free_for};
use crate::item::{number, text};
use crate::transaction::Transaction;
use crate::write::ACTION;
use crate::{Consistency, Result};

/// The reuse entry of a URL, as [`LinksTable::reusable`] finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reusable {
    /// The URL has a link that can be reused.
    Link(Box<Link>),
    /// The entry names a link that can't be reused: it is not active, doesn't watch although it has to, or has another URL. A
    /// new link replaces it in the entry.
    Stale(ShortCode),
    /// The URL has no reuse entry.
    None,
}

/// A link to create, with the items that are written in the same transaction.
#[derive(Debug)]
pub struct Creation<'a> {
    /// The link.
    pub link: &'a Link,
    /// The current reuse entry of the URL, which will name this link; `None` to leave the reuse entry alone.
    pub reusable: Option<&'a Reusable>,
    /// Whether the link's code is found in any case.
    pub any_case: AnyCase,
    /// The hash of the password that visitors have to know.
    pub password_hash: Option<&'a str>,
    /// The idempotency key of the request, and the response to store under it.
    pub answer: Option<(&'a AnswerKey, &'a FirstAnswer)>,
    /// Whether nobody is notified of the link, as of those that are created many at a time.
    pub is_quiet: bool,
}

/// Whether a code is found in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnyCase {
    /// It isn't, as a generated one.
    #[default]
    Never,
    /// It is, or it is refused, as one that somebody chooses.
    Always,
    /// It is, unless another code of its workspace is that differs by case alone, as an imported one.
    IfFree,
}

impl<'a> Creation<'a> {
    /// Stores a link and nothing beside it, of which others are notified.
    pub fn of(link: &'a Link) -> Self {
        Self { link, reusable: None, any_case: AnyCase::Never, password_hash: None, answer: None, is_quiet: false }
    }
}

impl LinksTable {
    /// Stores a new link with its reuse entry, its external id and its idempotency key, all or nothing.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn create(&self, creation: &Creation<'_>) -> Result<CreateOutcome> {
        const OPERATION: &str = "create a link";
        let Creation { link, reusable, any_case, password_hash, answer, is_quiet } = creation;
        let item = LinkItem { quiet: *is_quiet, ..LinkItem::new(link) };
        let external_id = &link.metadata.external_id;
        let is_alone = reusable.is_none() && answer.is_none() && external_id.is_none() && *any_case == AnyCase::Never;
        if is_alone && link.options.max_clicks.is_none() && password_hash.is_none() {
            return self.put_link(&item).await;
        }
        let workspace = &link.identity.workspace;
        // A concurrent request for the same URL, key or id has to be noticed first: its link may be the answer.
        let mut others = Transaction::new(OPERATION);
        if let Some(reusable) = reusable {
            others = others.and(self.put_reuse_entry(link, reusable)?, CreateOutcome::Conflict);
        }
        if let Some(id) = external_id {
            match self.claim_external_id(link, id).await? {
                Ok(claim) => others = others.and(claim, CreateOutcome::Conflict),
                Err(by) => return Ok(CreateOutcome::ExternalIdTaken(by)),
            }
        }
        if let Some((key, answer)) = answer {
            let item = idempotency_item(workspace, key, answer, link.created_at);
            let now = (":now", number(&link.created_at.unix_seconds()));
            others = others.and(self.0.put_if(&item, KEY_IS_FREE, [now])?, CreateOutcome::Conflict);
        }
        if *any_case != AnyCase::Never {
            match (self.claim_case_alias(link).await?, any_case) {
                (CaseAlias::Free(claim), AnyCase::IfFree) => others = others.and_each(claim, CreateOutcome::Conflict),
                (CaseAlias::Free(claim), _) => others = others.and_each(claim, CreateOutcome::CodeTaken),
                (CaseAlias::Own, AnyCase::IfFree) => {}
                (CaseAlias::Own | CaseAlias::OfOthers, _) => return Ok(CreateOutcome::CodeTaken),
            }
        }
        if let Some(max) = link.options.max_clicks {
            others = others.and(self.set_limit(link.id(), max)?, CreateOutcome::Conflict);
        }
        if password_hash.is_some() {
            others = others.and(self.set_link_password(link.id(), *password_hash)?, CreateOutcome::Conflict);
        }
        let put = self.0.put_if(&item, CODE_IS_FREE, code_is_free_for(workspace))?;
        let sent = others.and(put, CreateOutcome::CodeTaken).send(&self.0.client).await?;
        Ok(sent.or(CreateOutcome::Created, CreateOutcome::Conflict))
    }

    /// Finds the link that can be reused for a URL in a workspace. With `must_watch`, only a link with `watch` can be reused.
    /// The reuse entry is read with this consistency. An old one does no harm: [`Self::create`] then answers with a conflict.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reusable(
        &self,
        workspace: &WorkspaceId,
        target: &TargetUrl,
        must_watch: bool,
        consistency: Consistency,
    ) -> Result<Reusable> {
        let wanted = NormalizedUrl::of(target);
        let key = reuse_key(workspace, &wanted.digest());
        let Some(entry) = self.0.get_with::<ReuseItem>("look up a URL", key, consistency).await? else {
            return Ok(Reusable::None);
        };
        match self.find(&entry.short_code).await? {
            // The entry may have been written by a version with other normalisation rules, so the link's URL is compared again.
            Some(Record::Link(link))
                if link.is_reusable() && (link.watch || !must_watch) && NormalizedUrl::of(&link.target) == wanted =>
            {
                Ok(Reusable::Link(Box::new(link)))
            }
            _ => Ok(Reusable::Stale(entry.short_code)),
        }
    }

    /// The stored response to a request with this key within the last 24 hours.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn first_answer(
        &self,
        workspace: &WorkspaceId,
        key: &AnswerKey,
        now: Timestamp,
    ) -> Result<Option<FirstAnswer>> {
        let found = self.0.get::<IdempotencyItem>("look up a first answer", idempotency_key(workspace, key)).await?;
        Ok(found.and_then(|item| item.current(now)))
    }

    /// Stores the response of a request that created no link. Returns whether the key was unused.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn remember_answer(
        &self,
        workspace: &WorkspaceId,
        key: &AnswerKey,
        answer: &FirstAnswer,
        now: Timestamp,
    ) -> Result<bool> {
        const OPERATION: &str = "remember an answer";
        let item = idempotency_item(workspace, key, answer, now);
        let put = self.0.put_item(OPERATION, &item)?.only_if(KEY_IS_FREE);
        put.value(":now", number(&now.unix_seconds())).unless_refused().await
    }

    /// The action that makes a link the one of its URL, if the URL is still reusable so.
    fn put_reuse_entry(&self, link: &Link, reusable: &Reusable) -> Result<TransactWriteItem> {
        let entry = ReuseItem::new(link);
        match reusable {
            Reusable::Stale(code) => self.0.put_if(&entry, "short_code = :stale", Some((":stale", text(code)))),
            Reusable::Link(_) | Reusable::None => self.0.put_new(&entry),
        }
    }

    /// The actions after which the entries of a link's URLs are as the change of the link demands: what can't be reused any more
    /// has none, and what can be takes that of its URL, unless the URL has another link that can be reused.
    pub(super) async fn change_of_reuse_entry(&self, before: &Link, after: &Link) -> Result<Vec<TransactWriteItem>> {
        let is_of_the_same_url = ReuseItem::key_of(before) == ReuseItem::key_of(after);
        let mut actions = Vec::new();
        if before.is_plain() && !(is_of_the_same_url && after.is_plain()) {
            actions.extend(self.release_reuse_entry(before).await?);
        }
        if after.is_plain() && !(is_of_the_same_url && before.is_plain()) {
            let (workspace, target) = (&after.identity.workspace, &after.target);
            match self.reusable(workspace, target, after.watch, Consistency::Strong).await? {
                Reusable::Link(_) => {}
                reusable => actions.push(self.put_reuse_entry(after, &reusable)?),
            }
        }
        Ok(actions)
    }

    /// The action that deletes the entry of a link's URL; `None` if there is none, or it names another link.
    pub(super) async fn release_reuse_entry(&self, link: &Link) -> Result<Option<TransactWriteItem>> {
        let entry = self.0.get::<ReuseItem>("look up a URL", ReuseItem::key_of(link)).await?;
        if entry.is_none_or(|entry| entry.short_code != *link.code()) {
            return Ok(None);
        }
        let delete = self.0.delete(ACTION, ReuseItem::key_of(link)).only_if("short_code = :code");
        delete.value(":code", text(link.code())).action().map(Some)
    }
}

/// The condition that an idempotency key was not used in the last 24 hours.
const KEY_IS_FREE: &str = "attribute_not_exists(pk) OR #ttl <= :now";

fn idempotency_item(workspace: &WorkspaceId, key: &AnswerKey, answer: &FirstAnswer, now: Timestamp) -> IdempotencyItem {
    let ttl = Some(now.plus(lifetimes::IDEMPOTENCY_KEYS).unix_seconds());
    IdempotencyItem { key: idempotency_key(workspace, key), value: answer.clone(), ttl }
}
