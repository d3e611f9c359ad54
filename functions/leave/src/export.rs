//! All that is stored about a person, for themselves: page by page, each with what a few reads find.
//!
//! A page is some of one kind of thing, and a few of the kinds after it if those are few. There are no hashes of passwords, tokens and keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{
    Actor, AuditEntry, AuditFilter, AuditLog, Invalid, Job, Link, Membership, Notification, PageToken, SessionId,
    Timestamp, UserId, Workspace, WorkspaceId,
};
use linklet_dynamodb::{Cursor, Feed, JobsTable, LastingSessions, LinksTable, NotificationsTable, Page, WatchTable};
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, list_response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Leave;

/// Where that is read which only an export reads.
pub struct Stored {
    /// The repository of jobs.
    pub jobs: JobsTable,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// The repository of notifications.
    pub notifications: NotificationsTable,
}

/// How many things of a kind are read at once.
const AT_ONCE: usize = 100;

/// How many kinds a page goes through whose things are few.
const KINDS_AT_ONCE: usize = 8;

/// What is read one after another: first what is the person's alone, then what is theirs in each workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Person,
    Sessions,
    Notifications,
    AuditLog,
    Access,
    Links,
    Targets,
    Jobs,
}

impl Kind {
    const OF_PERSON: [Self; 4] = [Self::Person, Self::Sessions, Self::Notifications, Self::AuditLog];
    const OF_WORKSPACE: [Self; 4] = [Self::Access, Self::Links, Self::Targets, Self::Jobs];
}

/// Where a page begins: a kind, of which workspace, and after which thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    kind: Kind,
    workspace: Option<WorkspaceId>,
    after: Option<String>,
}

impl Checkpoint {
    const FIRST: Self = Self { kind: Kind::Person, workspace: None, after: None };

    /// The place as JSON, in characters that need no escape in a query.
    fn encode(&self) -> Result<String> {
        Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).map_err(ApiError::internal)?))
    }

    pub(crate) fn decode(text: &str) -> Result<Self, Invalid> {
        let place = URL_SAFE_NO_PAD.decode(text).ok().and_then(|json| serde_json::from_slice::<Self>(&json).ok());
        let fits = |place: &Self| Kind::OF_WORKSPACE.contains(&place.kind) == place.workspace.is_some();
        place.filter(fits).ok_or_else(|| Invalid::new("after must be the next_cursor of a page"))
    }

    /// The place of the next kind: in the same workspace, or in that after it.
    fn next(&self, workspaces: &[(Membership, Workspace)]) -> Option<Self> {
        let of_person = Kind::OF_PERSON.iter().skip_while(|kind| **kind != self.kind).nth(1);
        if let Some(kind) = of_person {
            return Some(Self { kind: *kind, workspace: None, after: None });
        }
        let kind = Kind::OF_WORKSPACE.iter().skip_while(|kind| **kind != self.kind).nth(1);
        if let (Some(kind), Some(workspace)) = (kind, self.workspace) {
            return Some(Self { kind: *kind, workspace: Some(workspace), after: None });
        }
        // By their ids, so that the export goes on behind one that was left since.
        let ids = workspaces.iter().map(|(membership, _)| membership.workspace);
        let following = ids.filter(|id| self.workspace.is_none_or(|current| *id > current)).min();
        following.map(|workspace| Self { kind: Kind::Access, workspace: Some(workspace), after: None })
    }
}

/// A page of what is stored about a person.
#[derive(Debug, Serialize)]
pub struct Export {
    items: Vec<Value>,
    next_cursor: Option<String>,
}

/// Some things, and after which to read on.
type Found = (Vec<Value>, Option<String>);

impl Leave {
    /// The next page of what is stored about the caller.
    pub(crate) async fn export(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person(request).await?;
        let after = request.after(Checkpoint::decode)?;
        let Export { items, next_cursor } = self.page_of(&person.user, after, request.received_at).await?;
        Ok(list_response("items", items, request.next_page(next_cursor)))
    }

    /// The page of what is stored about a person that comes after another one.
    pub(crate) async fn page_of(&self, user: &UserId, after: Option<Checkpoint>, now: Timestamp) -> Result<Export> {
        let workspaces = self.users.workspaces_of(user).await?;
        let mut place = after.or(Some(Checkpoint::FIRST));
        let mut items = Vec::new();
        for _ in 0..KINDS_AT_ONCE {
            let Some(current) = place.take_if(|_| items.len() < AT_ONCE) else { break };
            let (found, rest) = self.read(user, &workspaces, &current, now).await?;
            items.extend(found);
            place = match rest {
                Some(after) => Some(Checkpoint { after: Some(after), ..current }),
                None => current.next(&workspaces),
            };
        }
        let next_cursor = place.map(|place| place.encode()).transpose()?;
        Ok(Export { items, next_cursor })
    }

    async fn read(
        &self,
        user: &UserId,
        workspaces: &[(Membership, Workspace)],
        place: &Checkpoint,
        now: Timestamp,
    ) -> Result<Found> {
        let after = place.after.as_deref();
        let Some(id) = place.workspace else {
            return match place.kind {
                Kind::Notifications => self.notifications_of(user, after).await,
                Kind::AuditLog => self.audit_log_of(user, after).await,
                Kind::Sessions => self.sessions_of(user, after, now).await,
                _ => self.person(user, workspaces, now).await,
            };
        };
        // Whoever has left meanwhile sees nothing more of it.
        if !workspaces.iter().any(|(membership, _)| membership.workspace == id) {
            return Ok((Vec::new(), None));
        }
        match place.kind {
            Kind::Links => self.links_of(user, &id, after, now).await,
            Kind::Targets => self.targets_of(user, &id, after, now).await,
            Kind::Jobs => self.jobs_of(user, &id, after).await,
            _ => self.access_of(user, &id, now).await,
        }
    }

    /// The account, with identities and memberships, of which there are few.
    async fn person(&self, user: &UserId, workspaces: &[(Membership, Workspace)], now: Timestamp) -> Result<Found> {
        let (profile, account, identities) =
            tokio::try_join!(self.users.profile(user, now), self.users.account(user), self.users.identities(user))?;
        let (profile, account) = profile.zip(account).ok_or(ApiError::Problem(Problem::Unauthorized))?;
        let (pending_email, pending_until) = profile.pending.map(|pending| (pending.email, pending.until)).unzip();
        let mut items = vec![json!({
            "kind": "account", "user_id": user, "email": profile.email, "full_name": profile.full_name,
            "pending_email": pending_email, "pending_until": pending_until, "mail": profile.mail,
            "verified_at": profile.verified_at, "undeliverable_at": profile.undeliverable_at,
            "created_at": account.created_at, "updated_at": profile.updated_at, "last_login_at": profile.last_login_at,
        })];
        items.extend(identities.iter().map(|identity| {
            json!({
                "kind": "identity", "id": identity.hash, "issuer": identity.issuer, "email": identity.email,
                "connected_at": identity.connected_at,
            })
        }));
        items.extend(workspaces.iter().map(|(membership, workspace)| {
            json!({
                "kind": "membership", "workspace_id": workspace.id, "name": workspace.name, "slug": workspace.slug,
                "role": membership.role, "joined_at": membership.joined_at, "paused_at": membership.paused_at,
                "closed_at": workspace.closure.map(|closure| closure.closed_at),
            })
        }));
        Ok((items, None))
    }

    async fn sessions_of(&self, user: &UserId, after: Option<&str>, now: Timestamp) -> Result<Found> {
        let after = after.map(SessionId::parse).transpose()?;
        let LastingSessions { sessions, has_more } = self.users.sessions(user, after.as_ref(), now).await?;
        let last = sessions.last().filter(|_| has_more).map(|session| session.id.to_string());
        let shown = sessions.into_iter().map(|session| {
            json!({
                "kind": "session", "id": session.id, "began_at": session.id.began_at(), "expires_at": session.ends_at,
                "renewed_at": session.renewed_at, "device": session.place.device, "country": session.place.country,
            })
        });
        Ok((shown.collect(), last))
    }

    async fn notifications_of(&self, user: &UserId, after: Option<&str>) -> Result<Found> {
        let after = after.map(Cursor::decode).transpose()?;
        let Feed { page, seen_at } = self.stored.notifications.list(user, &[], AT_ONCE, after.as_ref()).await?;
        let seen = seen_at.map(|seen_at| json!({"kind": "seen", "seen_at": seen_at}));
        let items = seen.into_iter().chain(page.items.iter().map(notification)).collect();
        Ok((items, page.next.map(|cursor| cursor.encode())))
    }

    async fn audit_log_of(&self, user: &UserId, after: Option<&str>) -> Result<Found> {
        let (filter, after) = (AuditFilter::default(), after.map(Cursor::decode).transpose()?);
        let Page { items, next } =
            self.users.audit_log().list(&AuditLog::Person(*user), &filter, AT_ONCE, after.as_ref()).await?;
        Ok((items.iter().map(entry).collect(), next.map(|cursor| cursor.encode())))
    }

    /// The person's API keys in a workspace, and the invitations that they have made.
    async fn access_of(&self, user: &UserId, workspace: &WorkspaceId, now: Timestamp) -> Result<Found> {
        let mut keys = self.users.keys(workspace, now).await?;
        keys.retain(|key| key.created_by == *user);
        let mut invitations = self.users.invitations(workspace, now).await?;
        invitations.retain(|invitation| invitation.invited_by == *user);
        let keys = keys.into_iter().map(|key| {
            json!({
                "kind": "key", "workspace_id": workspace, "prefix": key.prefix, "name": key.name, "scopes": key.scopes,
                "created_at": key.created_at, "expires_at": key.expires_at, "last_used_at": key.last_used_at,
                "paused_at": key.paused_at,
            })
        });
        let invitations = invitations.into_iter().map(|one| {
            json!({
                "kind": "invitation", "workspace_id": workspace, "id": one.id, "email": one.email, "role": one.role,
                "created_at": one.created_at, "expires_at": one.expires_at(),
            })
        });
        Ok((keys.chain(invitations).collect(), None))
    }

    async fn links_of(
        &self,
        user: &UserId,
        workspace: &WorkspaceId,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<Found> {
        let after = after.map(Cursor::decode).transpose()?;
        let is_theirs = |link: &Link| link.identity.owner == *user;
        let page = self.stored.links.list(workspace, AT_ONCE, after, is_theirs).await?;
        let shown = |link: &Link| shown_link(link, now);
        let links = page.items.iter().map(shown).collect::<Result<_, _>>()?;
        Ok((links, page.next.map(|cursor| cursor.encode())))
    }

    async fn targets_of(
        &self,
        user: &UserId,
        workspace: &WorkspaceId,
        after: Option<&str>,
        now: Timestamp,
    ) -> Result<Found> {
        let after = after.map(PageToken::decode).transpose()?;
        let owned = self.stored.targets.owned(workspace, user, now, after.as_ref()).await?;
        let found = self.stored.targets.with_ids(&owned.ids).await?;
        let targets = found.into_iter().map(|target| {
            json!({
                "kind": "target", "workspace_id": workspace, "id": target.id, "url": target.url,
                "canonical_url": target.canonical_url, "created_at": target.created_at, "status": target.status,
                "status_since": target.status_since,
            })
        });
        Ok((targets.collect(), owned.rest.as_ref().map(PageToken::encode)))
    }

    async fn jobs_of(&self, user: &UserId, workspace: &WorkspaceId, after: Option<&str>) -> Result<Found> {
        let after = after.map(Cursor::decode).transpose()?;
        let page = self.stored.jobs.list(workspace, AT_ONCE, after.as_ref()).await?;
        let theirs = page.items.iter().filter(|job| job.created_by == *user);
        let jobs = theirs.map(|job| shown_job(workspace, job)).collect::<Result<_, _>>()?;
        Ok((jobs, page.next.map(|cursor| cursor.encode())))
    }
}

fn notification(notification: &Notification) -> Value {
    json!({
        "kind": "notification", "workspace_id": notification.workspace, "id": notification.id, "event_type": notification.event_type,
        "status": notification.status, "created_at": notification.created_at, "sent_at": notification.sent_at,
        "message": notification.message, "about": notification.about,
    })
}

fn entry(entry: &AuditEntry) -> Value {
    let actor = match &entry.actor {
        Actor::Person(_) | Actor::Key(_) => Some(entry.actor.to_string()),
        Actor::Operator | Actor::Linklet => None,
    };
    json!({
        "kind": "audit", "id": entry.id, "at": entry.at, "action": entry.action,
        "actor": {"kind": entry.actor.kind(), "id": actor},
        "subject": entry.subject.as_ref().map(|subject| json!({"kind": subject.kind(), "id": subject.id()})),
        "from": entry.from, "to": entry.to, "device": entry.device, "country": entry.country,
        "address_hash": entry.address, "correlation_id": entry.correlation_id,
    })
}

fn shown_link(link: &Link, now: Timestamp) -> Result<Value> {
    let mut shown = json!({
        "kind": "link", "workspace_id": link.identity.workspace, "short_code": link.code(), "original_url": link.target,
        "status": <&str>::from(link.availability.status(now)), "expires_at": link.availability.expires_at,
        "exhausted_at": link.availability.exhausted_at,
        "valid_from": link.availability.valid_from, "is_protected": link.availability.is_protected, "watch": link.watch,
        "archived": link.archived, "created_at": link.created_at, "updated_at": link.updated_at,
    });
    for members in [members_of(&link.metadata)?, members_of(&link.options)?] {
        merge(&mut shown, members);
    }
    if let Some(routing) = &link.routing {
        merge(&mut shown, members_of(routing)?);
    }
    Ok(shown)
}

fn shown_job(workspace: &WorkspaceId, job: &Job) -> Result<Value> {
    let mut shown = members_of(&job.progress)?;
    let is = json!({
        "kind": "job", "workspace_id": workspace, "id": job.id, "work": job.work, "state": job.state,
        "expected": job.expected, "created_at": job.created_at, "started_at": job.started_at, "ended_at": job.ended_at,
    });
    merge(&mut shown, is);
    Ok(shown)
}

fn members_of(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(ApiError::internal)
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_as_written_and_anything_else_is_refused() {
        let workspace = WorkspaceId::generate();
        for place in [
            Checkpoint::FIRST,
            Checkpoint { kind: Kind::AuditLog, workspace: None, after: Some("abc".to_owned()) },
            Checkpoint { kind: Kind::Links, workspace: Some(workspace), after: Some("x-_".to_owned()) },
            Checkpoint { kind: Kind::Jobs, workspace: Some(workspace), after: None },
        ] {
            assert_eq!(Checkpoint::decode(&place.encode().unwrap()), Ok(place));
        }
        for refused in [
            json!("person"),
            json!({"kind": "links", "workspace": null, "after": null}),
            json!({"kind": "person", "workspace": workspace, "after": null}),
            json!({"kind": "other", "workspace": null, "after": null}),
            json!({"kind": "jobs", "workspace": "x".repeat(36), "after": null}),
        ] {
            assert!(Checkpoint::decode(&URL_SAFE_NO_PAD.encode(refused.to_string())).is_err(), "{refused}");
        }
        assert!(["", "person"].iter().all(|text| Checkpoint::decode(text).is_err()));
    }
}
