//! A workspace's name, slug and settings.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{
    AuditAction, AuditContext, AuditEntry, AuditSubject, Logo, Precondition, Timestamp, UserId, Workspace, WorkspaceId,
    WorkspacePatch, WorkspaceSlug,
};

use super::UsersTable;
use super::item::{LogoItem, PublicItem, SlugItem, logo_key, slug_key, workspace_key};
use crate::item::{number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::{Result, revision};

/// The outcome of changing a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a request has one, which lives for a moment")]
pub enum WorkspaceOutcome {
    /// The workspace after the change.
    Changed(Workspace),
    /// The workspace has another revision than the change is meant for.
    Stale,
    /// Another workspace has the slug.
    SlugTaken,
    /// There is no such workspace.
    NoWorkspace,
    /// The caller is no longer an admin of the workspace.
    CallerNotAdmin,
}

const CHANGE: &str = "change a workspace";

impl UsersTable {
    /// Reads a workspace with a strongly consistent read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspace(&self, id: &WorkspaceId) -> Result<Option<Workspace>> {
        self.0.workspace(id).await
    }

    /// Applies a patch to a workspace, if the caller is an admin, and if it is of a revision that the change is meant for. Reserving a new slug, freeing the old one and changing the
    /// workspace are one transaction.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_workspace(
        &self,
        id: &WorkspaceId,
        caller: &UserId,
        patch: &WorkspacePatch,
        precondition: &Precondition,
        origin: &AuditContext,
    ) -> Result<WorkspaceOutcome> {
        self.change_with_logo(id, caller, (patch, None), precondition, origin).await
    }

    /// Gives a workspace another logo, or takes away the one that it has, as [`Self::change_workspace`] changes anything else. The file
    /// before is deleted in the same transaction.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_logo(
        &self,
        id: &WorkspaceId,
        caller: &UserId,
        logo: Option<&Logo>,
        precondition: &Precondition,
        origin: &AuditContext,
    ) -> Result<WorkspaceOutcome> {
        let patch = WorkspacePatch { logo: Some(logo.map(|logo| logo.id_in(id))), ..WorkspacePatch::default() };
        self.change_with_logo(id, caller, (&patch, logo), precondition, origin).await
    }

    async fn change_with_logo(
        &self,
        id: &WorkspaceId,
        caller: &UserId,
        (patch, logo): (&WorkspacePatch, Option<&Logo>),
        precondition: &Precondition,
        origin: &AuditContext,
    ) -> Result<WorkspaceOutcome> {
        retry_on_conflict(CHANGE, async || {
            let Some(current) = self.workspace(id).await? else { return Ok(Some(WorkspaceOutcome::NoWorkspace)) };
            // The condition of the write names the same revision. A patch that changes nothing has no write.
            if !precondition.admits(current.revision) {
                return Ok(Some(WorkspaceOutcome::Stale));
            }
            let changed = current.changed_by(patch);
            if changed == current {
                return Ok(Some(WorkspaceOutcome::Changed(current)));
            }
            let mut transaction = Transaction::new(CHANGE)
                .and(self.caller_is_admin(id, caller)?, Some(WorkspaceOutcome::CallerNotAdmin))
                .and(self.workspace_change(&current, patch, origin.at)?, None);
            if let Some(slug) = patch.slug.as_ref().filter(|slug| **slug != current.slug) {
                transaction = transaction
                    .and(self.slug_claim(&current, slug)?, Some(WorkspaceOutcome::SlugTaken))
                    .and(self.slug_release(&current)?, None);
            }
            let transaction = transaction.and_each(self.logo_change(&current, &changed, logo)?, None);
            let transaction = transaction.and(self.0.put(&PublicItem::of(&changed))?, None);
            let transaction = transaction.and(self.entry(&entry_of_change(origin, &current, &changed))?, None);
            Ok(match transaction.send(&self.0.client).await? {
                TransactionOutcome::Committed => self.workspace(id).await?.map(WorkspaceOutcome::Changed),
                TransactionOutcome::Refused(refusal) => refusal,
                TransactionOutcome::InConflict => None,
            })
        })
        .await
    }

    /// The actions that store another logo and delete the one before.
    fn logo_change(
        &self,
        before: &Workspace,
        after: &Workspace,
        logo: Option<&Logo>,
    ) -> Result<Vec<TransactWriteItem>> {
        if before.logo == after.logo {
            return Ok(Vec::new());
        }
        let added = after.logo.as_ref().zip(logo).map(|(id, logo)| self.0.put(&LogoItem::new(id, logo)));
        let removed = before.logo.as_ref().map(|id| self.0.delete(CHANGE, logo_key(id)).action());
        added.into_iter().chain(removed).collect()
    }

    fn slug_claim(&self, current: &Workspace, slug: &WorkspaceSlug) -> Result<TransactWriteItem> {
        let claim = SlugItem { key: slug_key(slug), workspace_id: current.id };
        // A concurrent request may have reserved the same slug for this workspace; the update of the workspace fails then.
        let is_free = "attribute_not_exists(pk) OR workspace_id = :workspace";
        self.0.put_if(&claim, is_free, [(":workspace", text(&current.id))])
    }

    fn slug_release(&self, current: &Workspace) -> Result<TransactWriteItem> {
        let delete = self.0.delete(CHANGE, slug_key(&current.slug)).only_if("workspace_id = :workspace");
        delete.value(":workspace", text(&current.id)).action()
    }

    /// The action that sets the properties that the patch has. It is refused if the workspace has changed since it was read, so that the
    /// audit log says what it was before.
    fn workspace_change(
        &self,
        current: &Workspace,
        patch: &WorkspacePatch,
        now: Timestamp,
    ) -> Result<TransactWriteItem> {
        let WorkspacePatch { name, slug, settings, destinations, .. } = patch;
        let given = removable(patch);
        let set: Vec<(&str, AttributeValue)> = [
            name.as_ref().map(|name| ("name", text(name))),
            slug.as_ref().map(|slug| ("slug", text(slug))),
            settings.as_ref().map(|settings| ("settings", text(settings))),
            destinations.map(|destinations| ("destinations", text(&destinations))),
            Some(("updated_at", text(&now))),
            Some(("revision", number(&current.revision.next()))),
        ]
        .into_iter()
        .flatten()
        .chain(given.iter().filter_map(|(name, value)| Some((*name, value.clone()?))))
        .collect();
        let removed = given.iter().filter(|(_, value)| value.is_none());
        let removed: Vec<_> = removed.map(|(name, _)| format!("#{name}")).collect();
        let mut expression = if removed.is_empty() { String::new() } else { format!("REMOVE {} ", removed.join(", ")) };
        let assignments: Vec<_> = set.iter().map(|(name, _)| format!("#{name} = :{name}")).collect();
        expression.push_str(&format!("SET {}", assignments.join(", ")));
        let (is_as_read, known) = revision::is_of(current.revision);
        self.0
            .update(CHANGE, workspace_key(&current.id), expression)
            .only_if(format!("slug = :current AND {is_as_read}"))
            .values(set.into_iter().map(|(name, value)| (format!(":{name}"), value)))
            .values(known)
            .value(":current", text(&current.slug))
            .action()
    }
}

/// What a patch sets or takes away of that which a workspace may have none of.
fn removable(patch: &WorkspacePatch) -> Vec<(&'static str, Option<AttributeValue>)> {
    let WorkspacePatch { statistics, color, contact, logo, .. } = patch;
    [
        statistics.map(|statistics| ("statistics", statistics.map(|value| text(&value)))),
        color.map(|color| ("color", color.map(|value| text(&value)))),
        contact.as_ref().map(|contact| ("contact", contact.as_ref().map(text))),
        logo.as_ref().map(|logo| ("logo", logo.as_ref().map(text))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the audit log says of a change of a workspace: the members that were changed, each with its value. Of settings, which are
/// whatever clients store, of a contact, which may be an address, and of a logo it says only that they were.
fn entry_of_change(origin: &AuditContext, before: &Workspace, after: &Workspace) -> AuditEntry {
    let said = |workspace: &Workspace| {
        let name = (before.name != after.name).then(|| format!("name: {}", workspace.name));
        let slug = (before.slug != after.slug).then(|| format!("slug: {}", workspace.slug));
        let settings = (before.settings != after.settings).then(|| "settings".to_owned());
        let destinations = before.destinations != after.destinations;
        let destinations = destinations.then(|| format!("destinations: {}", workspace.destinations));
        let given =
            |name: &str, value: Option<String>| format!("{name}: {}", value.unwrap_or_else(|| "default".to_owned()));
        let statistics = workspace.statistics.map(|statistics| statistics.to_string());
        let statistics = (before.statistics != after.statistics).then(|| given("statistics", statistics));
        let color = workspace.color.map(|color| color.to_string());
        let color = (before.color != after.color).then(|| given("color", color));
        let contact = (before.contact != after.contact).then(|| "contact".to_owned());
        let logo = (before.logo != after.logo).then(|| "logo".to_owned());
        [name, slug, destinations, statistics, color, contact, logo, settings]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let subject = AuditSubject::Workspace(before.id);
    origin.in_workspace(&before.id, AuditAction::WorkspaceChanged, subject).from(&said(before)).to(&said(after))
}
