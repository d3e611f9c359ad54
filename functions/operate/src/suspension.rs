//! Switching off what does harm: a link, all that lead to a host, or those of a workspace.
//!
//! A host and a workspace are blocked first, for links that are created or changed from then on, and unblocked last. Their links are looked
//! for page by page, with a call for each, so a command that was interrupted is repeated.

use std::convert::Infallible;

use futures_util::{StreamExt as _, stream};
use linklet_domain::{
    Block, Blocked, CorrelationId, Host, Link, LinkEdit, Record, ShortCode, SuspensionReason, Suspensions, Timestamp,
    WorkspaceId, WorkspaceSlug,
};
use linklet_dynamodb::{EditContext, EditOutcome, ScannedLinks};
use linklet_lambda::telemetry::chain;
use serde::Deserialize;

use super::{Answer, Operate, OperateError};

/// How many links are written at once.
const CONCURRENCY: usize = 16;

/// What is suspended.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    Code(ShortCode),
    Host(Host),
    /// A slug, or the id, which also a purged workspace has.
    Workspace(String),
}

/// The same, as the tables know it.
enum Subject {
    Link(Box<Link>),
    Blocked(Blocked),
}

impl Operate {
    /// Says whose a link is, and which other links lead to its hosts.
    pub(crate) async fn who(
        &self,
        code: &ShortCode,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<Answer, OperateError> {
        let link = self.link(code).await?;
        let hosts = link.destinations().filter_map(|url| Host::parse(&url.host()).ok()).map(Blocked::Host);
        let hosts: Vec<_> = hosts.collect();
        let is_other = |other: &Link| other.id() != link.id() && hosts.iter().any(|host| host.affects(other));
        let page = self.links.scan(after, is_other).await?;
        let mut lines = if after.is_none() { self.about(&link, now).await? } else { Vec::new() };
        lines.extend(page.links.iter().map(|other| {
            let (code, target, status) = (other.code(), &other.target, status(other, now));
            format!(
                "Same host: {}/{code} leads to {target}, {status}, of workspace {}",
                self.base, other.identity.workspace
            )
        }));
        Ok(answer(lines, page))
    }

    async fn about(&self, link: &Link, now: Timestamp) -> Result<Vec<String>, OperateError> {
        let (users, owner) = (&self.people.users, &link.identity.owner);
        let email =
            users.account(owner).await?.map_or_else(|| "a closed account".to_owned(), |it| it.email.to_string());
        let workspace = users.workspace(&link.identity.workspace).await?;
        let workspace =
            workspace.map_or_else(|| "purged".to_owned(), |it| format!("{}, WORKSPACE={}", it.name, it.slug));
        let mut lines: Vec<_> =
            link.destinations().map(|url| format!("{}/{} leads to {url}", self.base, link.code())).collect();
        lines.push(format!("Status: {}", status(link, now)));
        lines.push(format!("Created: {}", link.created_at));
        lines.push(format!("Owner: {email} ({owner})"));
        lines.push(format!("Workspace: {workspace} ({})", link.identity.workspace));
        Ok(lines)
    }

    /// Suspends a link; or blocks a host or workspace, and suspends the links on a page of the table that this affects.
    pub(crate) async fn suspend(
        &self,
        scope: Scope,
        reason: SuspensionReason,
        after: Option<&str>,
    ) -> Result<Answer, OperateError> {
        if reason == SuspensionReason::Closed {
            return Err(OperateError::NoReason);
        }
        let suspend = |link: &Link| LinkEdit::suspend(link, reason);
        let blocked = match self.find(scope).await? {
            Subject::Link(link) => return self.edit_one(*link, suspend).await,
            Subject::Blocked(blocked) => blocked,
        };
        if after.is_none() {
            self.block(Block { blocked: blocked.clone(), reason }).await?;
        }
        let page = self.links.scan(after, |link| blocked.affects(link)).await?;
        Ok(answer(self.edit_all(&page.links, suspend).await.0, page))
    }

    /// Of one host or workspace there is one block, so that its end lifts all that it has suspended.
    async fn block(&self, block: Block) -> Result<(), OperateError> {
        let blocks = self.links.blocks().await?;
        match blocks.iter().find(|other| other.blocked == block.blocked) {
            Some(other) if other.reason != block.reason => return Err(OperateError::OtherReason(other.reason)),
            Some(_) => return Ok(()),
            None => self.links.block(&block).await?,
        }
        tracing::info!(blocked = %block.blocked, reason = %block.reason, "blocked");
        Ok(())
    }

    /// Lifts what [`Self::suspend`] has done. What another block suspends for the same reason stays suspended.
    pub(crate) async fn unsuspend(&self, scope: Scope, after: Option<&str>) -> Result<Answer, OperateError> {
        let blocks = self.links.blocks().await?;
        let blocked = match self.find(scope).await? {
            Subject::Link(link) => {
                if let Some(block) = blocks.iter().find(|block| block.blocked.affects(&link)) {
                    return Err(OperateError::Blocked(block.blocked.clone()));
                }
                let lift = |link: &Link| LinkEdit::lift(link, link.availability.suspensions.by_operators());
                return self.edit_one(*link, lift).await;
            }
            Subject::Blocked(blocked) => blocked,
        };
        let Some(reason) = blocks.iter().find(|block| block.blocked == blocked).map(|block| block.reason) else {
            return Err(OperateError::NotBlocked(listed(&blocks)));
        };
        let is_other = |block: &Block| block.reason == reason && block.blocked != blocked;
        let others: Vec<_> = blocks.iter().filter(|block| is_other(block)).collect();
        let is_lifted = |link: &Link| blocked.affects(link) && !others.iter().any(|other| other.blocked.affects(link));
        let mut page = self.links.scan(after, is_lifted).await?;
        let (lines, has_failed) =
            self.edit_all(&page.links, |link| LinkEdit::lift(link, Suspensions::of(reason))).await;
        if has_failed {
            // Without the block, nobody could repeat it. Links that can't be read don't get better by that.
            page.next = None;
        } else if page.next.is_none() {
            self.links.unblock(&blocked).await?;
            tracing::info!(%blocked, %reason, "unblocked");
        }
        Ok(answer(lines, page))
    }

    async fn find(&self, scope: Scope) -> Result<Subject, OperateError> {
        Ok(match scope {
            Scope::Code(code) => Subject::Link(Box::new(self.link(&code).await?)),
            Scope::Host(host) if !host.as_str().contains(['.', ':']) => return Err(OperateError::TopLevelDomain),
            Scope::Host(host) => Subject::Blocked(Blocked::Host(host)),
            Scope::Workspace(name) => Subject::Blocked(Blocked::Workspace(self.workspace(&name).await?)),
        })
    }

    async fn workspace(&self, name: &str) -> Result<WorkspaceId, OperateError> {
        if let Ok(id) = WorkspaceId::parse(name) {
            return Ok(id);
        }
        let slug: WorkspaceSlug = name.parse().map_err(|_| OperateError::NoWorkspace)?;
        self.people.users.workspace_by_slug(&slug).await?.ok_or(OperateError::NoWorkspace)
    }

    /// The link with a code, in whichever case it was typed.
    async fn link(&self, code: &ShortCode) -> Result<Link, OperateError> {
        let found = self.links.redirect_target(code).await?.ok_or(OperateError::NoLink)?;
        match self.links.find(&found.identity().id.code).await? {
            Some(Record::Link(link)) => Ok(link),
            _ => Err(OperateError::NoLink),
        }
    }

    async fn edit_one(&self, link: Link, edit: impl Fn(&Link) -> LinkEdit) -> Result<Answer, OperateError> {
        let line = self.edit(link, &edit).await?.1;
        Ok(answer(vec![line], ScannedLinks::default()))
    }

    /// Edits links. Lists those that were changed and those that could not be, and says whether there are such.
    async fn edit_all(&self, links: &[Link], edit: impl Fn(&Link) -> LinkEdit) -> (Vec<String>, bool) {
        let edits: Vec<_> = links.iter().map(|link| self.edit(link.clone(), &edit)).collect();
        let edited: Vec<_> = stream::iter(edits).buffered(CONCURRENCY).collect().await;
        let has_failed = edited.iter().any(Result::is_err);
        let lines = links.iter().zip(edited).filter_map(|(link, edited)| match edited {
            Ok((is_changed, line)) => is_changed.then_some(line),
            Err(error) => Some(format!("{FAILED}{}, do it again: {}", link.code(), chain(&error))),
        });
        (lines.collect(), has_failed)
    }

    /// Whether a link was changed, and what it is now.
    async fn edit(&self, link: Link, edit: impl Fn(&Link) -> LinkEdit) -> Result<(bool, String), OperateError> {
        let (owner, correlation_id) = (link.identity.owner, CorrelationId::generate());
        let context = EditContext::unconditional(&owner, &correlation_id);
        let decide = |record: &Record<Link>| match record {
            Record::Link(link) => Ok::<_, Infallible>(edit(link)),
            Record::Tombstone(_) => Ok(LinkEdit::Keep),
        };
        let outcome = self.links.edit(Record::Link(link), &context, decide).await?;
        let is_changed = outcome.is_written()?;
        let (EditOutcome::Written(Record::Link(link)) | EditOutcome::Kept(Record::Link(link))) = outcome else {
            return Err(OperateError::NoLink);
        };
        if is_changed {
            let suspensions = link.availability.suspensions;
            tracing::info!(short_code = link.code().as_str(), %suspensions, "a link's suspensions are changed");
        }
        Ok((is_changed, format!("{}/{}: {}", self.base, link.code(), status(&link, Timestamp::now()))))
    }
}

fn answer(mut lines: Vec<String>, page: ScannedLinks) -> Answer {
    lines.extend(page.unreadable.iter().map(|code| format!("{FAILED}{code}: its item can't be read")));
    let is_incomplete = lines.iter().any(|line| line.starts_with(FAILED));
    Answer::Page { text: lines.join("\n"), next: page.next, is_incomplete }
}

/// The beginning of a line about a link that is left to be done.
const FAILED: &str = "FAILED ";

/// A link's status, and what suspends it.
fn status(link: &Link, now: Timestamp) -> String {
    let (status, suspensions): (&str, _) = (link.availability.status(now).into(), link.availability.suspensions);
    if suspensions.is_empty() { status.to_owned() } else { format!("{status} ({suspensions})") }
}

fn listed(blocks: &[Block]) -> String {
    let blocks: Vec<_> = blocks.iter().map(|block| format!("{} ({})", block.blocked, block.reason)).collect();
    if blocks.is_empty() { "nothing".to_owned() } else { blocks.join(", ") }
}
