//! Switching off what does harm: a link, all that leads to a host, or a workspace.
//!
//! A host and a workspace are blocked first, for links that are created or changed from then on, and unblocked last. Their links are looked
//! for page by page, with a call for each, so a command that was interrupted is repeated.

use std::{convert::Infallible, fmt::Write as _};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    Block, Blocked, CorrelationId, Host, Link, LinkEdit, Record, ShortCode, SuspensionReason, Suspensions, Timestamp,
    WorkspaceSlug,
};
use linklet_dynamodb::{EditContext, EditOutcome};
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
    Workspace(WorkspaceSlug),
}

/// What a command suspends, as the tables know it.
enum Suspended {
    Link(Link),
    Block(Blocked),
}

impl Operate {
    /// Says whose a link is, and which other links lead to its host.
    pub(crate) async fn who(
        &self,
        code: &ShortCode,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<Answer, OperateError> {
        let link = self.link(code).await?;
        let host = Blocked::Host(Host::parse(&link.target.host()).map_err(|_| OperateError::NoLink)?);
        let mut text = if after.is_none() { self.about(&link, now).await? } else { String::new() };
        let page = self.links.affected_by(&host, after).await?;
        for other in page.links.iter().filter(|other| other.id() != link.id()) {
            let (code, workspace, status) = (other.code(), other.identity.workspace, status(other, now));
            let _ = write!(text, "\n{}/{code} leads to {host}, too: {status}, {workspace}", self.base);
        }
        Ok(Answer::Page { text, next: page.next })
    }

    async fn about(&self, link: &Link, now: Timestamp) -> Result<String, OperateError> {
        let users = &self.people.users;
        let (owner, workspace) =
            (users.account(&link.identity.owner).await?, users.workspace(&link.identity.workspace).await?);
        let owner = owner.map_or_else(|| "a closed account".to_owned(), |account| account.email.to_string());
        let workspace = workspace.map_or_else(
            || "a purged workspace".to_owned(),
            |workspace| format!("{} (WORKSPACE={})", workspace.name, workspace.slug),
        );
        Ok(format!(
            "{base}/{code} leads to {target}\nStatus: {status}\nCreated: {created}\nOwner: {owner} ({id})\nWorkspace: {workspace}",
            base = self.base,
            code = link.code(),
            target = link.target,
            status = status(link, now),
            created = link.created_at,
            id = link.identity.owner,
        ))
    }

    /// Suspends a link; or blocks a host or workspace, and suspends the links of a page of the table that this affects.
    pub(crate) async fn suspend(
        &self,
        scope: Scope,
        reason: SuspensionReason,
        after: Option<&str>,
    ) -> Result<Answer, OperateError> {
        if reason == SuspensionReason::Closed {
            return Err(OperateError::NoReason);
        }
        let blocked = match self.find(scope).await? {
            Suspended::Link(link) => return self.edit_one(link, |link| LinkEdit::suspend(link, reason)).await,
            Suspended::Block(blocked) => blocked,
        };
        if after.is_none() {
            self.links.block(&Block { blocked: blocked.clone(), reason }).await?;
            tracing::info!(%blocked, %reason, "blocked");
        }
        let page = self.links.affected_by(&blocked, after).await?;
        let text = self.edit_all(page.links, |link| LinkEdit::suspend(link, reason)).await?;
        Ok(Answer::Page { text, next: page.next })
    }

    /// Lifts what [`Self::suspend`] has done. What another block suspends for the same reason stays suspended.
    pub(crate) async fn unsuspend(&self, scope: Scope, after: Option<&str>) -> Result<Answer, OperateError> {
        let mut blocks = self.links.blocks().await?;
        let blocked = match self.find(scope).await? {
            Suspended::Link(link) => {
                if let Some(block) = blocks.iter().find(|block| block.blocked.affects(&link)) {
                    return Err(OperateError::Blocked(block.blocked.clone()));
                }
                return self
                    .edit_one(link, |link| LinkEdit::lift(link, link.availability.suspensions.by_operators()))
                    .await;
            }
            Suspended::Block(blocked) => blocked,
        };
        let found = blocks.iter().position(|block| block.blocked == blocked).ok_or(OperateError::NotBlocked)?;
        let reason = blocks.swap_remove(found).reason;
        blocks.retain(|other| other.reason == reason);
        let mut page = self.links.affected_by(&blocked, after).await?;
        page.links.retain(|link| !blocks.iter().any(|other| other.blocked.affects(link)));
        let text = self.edit_all(page.links, |link| LinkEdit::lift(link, Suspensions::of(reason))).await?;
        if page.next.is_none() {
            self.links.unblock(&blocked).await?;
            tracing::info!(%blocked, %reason, "unblocked");
        }
        Ok(Answer::Page { text, next: page.next })
    }

    async fn find(&self, scope: Scope) -> Result<Suspended, OperateError> {
        Ok(match scope {
            Scope::Code(code) => Suspended::Link(self.link(&code).await?),
            Scope::Host(host) => Suspended::Block(Blocked::Host(host)),
            Scope::Workspace(slug) => {
                let workspace = self.people.users.workspace_by_slug(&slug).await?;
                Suspended::Block(Blocked::Workspace(workspace.ok_or(OperateError::NoWorkspace)?))
            }
        })
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
        let text = self.edit(link, &edit).await?.unwrap_or_else(|| "It is so already.".to_owned());
        Ok(Answer::Page { text, next: None })
    }

    /// Edits links, and lists what they are now, unless it is what they were.
    async fn edit_all(&self, links: Vec<Link>, edit: impl Fn(&Link) -> LinkEdit) -> Result<String, OperateError> {
        let edits: Vec<_> = links.into_iter().map(|link| self.edit(link, &edit)).collect();
        let edited: Vec<_> = stream::iter(edits).buffered(CONCURRENCY).try_collect().await?;
        Ok(edited.into_iter().flatten().collect::<Vec<_>>().join("\n"))
    }

    async fn edit(&self, link: Link, edit: impl Fn(&Link) -> LinkEdit) -> Result<Option<String>, OperateError> {
        let (owner, correlation_id) = (link.identity.owner, CorrelationId::generate());
        let context = EditContext::unconditional(&owner, &correlation_id);
        let decide = |record: &Record<Link>| match record {
            Record::Link(link) => Ok::<_, Infallible>(edit(link)),
            Record::Tombstone(_) => Ok(LinkEdit::Keep),
        };
        let outcome = self.links.edit(Record::Link(link), &context, decide).await?;
        outcome.is_written()?;
        let EditOutcome::Written(Record::Link(link)) = outcome else { return Ok(None) };
        tracing::info!(
            short_code = link.code().as_str(),
            suspensions = names(&link),
            "a link's suspensions are changed"
        );
        Ok(Some(format!("{}/{}: {}", self.base, link.code(), status(&link, Timestamp::now()))))
    }
}

/// A link's status, and what suspends it.
fn status(link: &Link, now: Timestamp) -> String {
    let status: &str = link.availability.status(now).into();
    if link.availability.suspensions.is_empty() { status.to_owned() } else { format!("{status} ({})", names(link)) }
}

fn names(link: &Link) -> String {
    link.availability.suspensions.iter().map(<&str>::from).collect::<Vec<_>>().join(", ")
}
