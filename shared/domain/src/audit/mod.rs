//! The audit log: who has done what, to whom or what, and from where.
//!
//! An entry names people by their ids only. It has no address, neither of mail nor of a client, no password, no token, and nothing of
//! a URL.

mod action;
mod actor;
mod filter;
mod subject;

use serde::{Deserialize, Serialize};

use crate::{
    CorrelationId, CountryCode, Event, EventDetail, EventId, IpHash, LinkEvent, LinkId, Timestamp, UrlDeleted,
    UrlResumed, UrlSuspended, UserId, WorkspaceId, validated::from_text,
};

pub use self::action::AuditAction;
pub use self::actor::{Actor, Changer};
pub use self::filter::{ActionFilter, AuditFilter};
pub use self::subject::AuditSubject;

/// Whose audit log it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AuditLog {
    /// That of a workspace, which its admins read.
    #[serde(rename = "workspace_id")]
    Workspace(WorkspaceId),
    /// That of a person, which they read themselves.
    #[serde(rename = "user_id")]
    Person(UserId),
}

/// Where a change comes from. Whatever changes who may do what takes one, since the change has an entry in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditContext {
    /// Who acts.
    pub actor: Actor,
    /// When the request came, or the consequence was drawn.
    pub at: Timestamp,
    /// The salted hash of the client's address, if there is a client.
    pub address: Option<IpHash>,
    /// The correlation id of the request, also of what follows from it later.
    pub correlation_id: CorrelationId,
}

impl AuditContext {
    /// What Linklet does itself, since somebody has done what has this correlation id.
    pub fn consequence(correlation_id: &CorrelationId, at: Timestamp) -> Self {
        Self { actor: Actor::Linklet, at, address: None, correlation_id: correlation_id.clone() }
    }

    /// What an operator's command does.
    pub fn command(at: Timestamp) -> Self {
        Self { actor: Actor::Operator, at, address: None, correlation_id: CorrelationId::generate() }
    }

    /// An entry of what is done, with a random id.
    pub fn entry(&self, audit_log: AuditLog, action: AuditAction) -> AuditEntry {
        AuditEntry {
            id: EventId::generate(),
            audit_log,
            at: self.at,
            actor: self.actor.clone(),
            action,
            subject: None,
            from: None,
            to: None,
            device: None,
            country: None,
            address: self.address.clone(),
            correlation_id: self.correlation_id.clone(),
        }
    }

    /// An entry of a workspace's audit log.
    pub fn in_workspace(&self, workspace: &WorkspaceId, action: AuditAction, subject: AuditSubject) -> AuditEntry {
        AuditEntry { subject: Some(subject), ..self.entry(AuditLog::Workspace(*workspace), action) }
    }

    /// An entry of a person's own audit log.
    pub fn of_person(&self, user: &UserId, action: AuditAction) -> AuditEntry {
        AuditEntry { subject: Some(AuditSubject::Account(*user)), ..self.entry(AuditLog::Person(*user), action) }
    }

    /// The entry of a person's audit log that somebody has guessed their password wrong until they had to wait. A quarter of an hour has one,
    /// which has the time of its beginning.
    pub fn guessed(&self, user: &UserId) -> AuditEntry {
        const QUARTER: u64 = 15 * 60 * 1_000;
        let at = Timestamp::from_unix_millis(self.at.unix_millis() / QUARTER * QUARTER);
        AuditEntry { id: EventId::guessed(at), at, ..self.of_person(user, AuditAction::SessionGuessed) }
    }

    /// The entry of a person's audit log that mail to their address came back. However often that is told, it has the same key.
    pub fn undeliverable(&self, user: &UserId) -> AuditEntry {
        AuditEntry { id: EventId::undeliverable(), ..self.of_person(user, AuditAction::AccountUndeliverable) }
    }
}

/// An entry of an audit log, which nobody changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// A random id, or that of the event that the entry was made of. With the time it is the entry's key.
    pub id: EventId,
    /// Whose audit log it is in.
    #[serde(flatten)]
    pub audit_log: AuditLog,
    /// When it was done.
    pub at: Timestamp,
    /// Who has done it.
    pub actor: Actor,
    /// What was done.
    pub action: AuditAction,
    /// To whom or what.
    pub subject: Option<AuditSubject>,
    /// What it was before.
    pub from: Option<String>,
    /// What it is since.
    pub to: Option<String>,
    /// The browser and system of a sign-in, in words.
    pub device: Option<String>,
    /// The country of a sign-in.
    pub country: Option<CountryCode>,
    /// The salted hash of the client's address.
    #[serde(rename = "address_hash")]
    pub address: Option<IpHash>,
    /// The correlation id of the request.
    pub correlation_id: CorrelationId,
}

impl AuditEntry {
    /// About this.
    #[must_use]
    pub fn on(self, subject: AuditSubject) -> Self {
        Self { subject: Some(subject), ..self }
    }

    /// With what it was before.
    #[must_use]
    pub fn from(self, before: &(impl ToString + ?Sized)) -> Self {
        Self { from: Some(before.to_string()), ..self }
    }

    /// With what it is since.
    #[must_use]
    pub fn to(self, after: &(impl ToString + ?Sized)) -> Self {
        Self { to: Some(after.to_string()), ..self }
    }

    /// With the browser and the country of a sign-in, as far as they are known.
    #[must_use]
    pub fn at_place(self, device: Option<String>, country: Option<CountryCode>) -> Self {
        Self { device, country, ..self }
    }
}

impl AuditEntry {
    /// The entry that an event makes, under its id; `None` for one of which the audit log says nothing.
    pub fn from_event(event: &Event) -> Option<Self> {
        let link = |link: &LinkId| AuditSubject::Link(link.code.clone());
        let (actor, action, subject, (from, to)) = match &event.detail {
            EventDetail::UrlUpdated(updated) => {
                let names = updated.changes.names().collect::<Vec<_>>().join(", ");
                let actor = updated.by.as_ref()?.actor();
                (actor, AuditAction::LinkChanged, link(&updated.link), (Some(names.clone()), Some(names)))
            }
            EventDetail::UrlActivated(LinkEvent { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkChanged, link(id), (Some("inactive".into()), Some("active".into())))
            }
            EventDetail::UrlDeactivated(LinkEvent { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkChanged, link(id), (Some("active".into()), Some("inactive".into())))
            }
            EventDetail::UrlSuspended(UrlSuspended { link: suspended, reasons }) if !reasons.is_empty() => {
                (Actor::Operator, AuditAction::LinkSuspended, link(&suspended.link), (None, Some(reasons.to_string())))
            }
            EventDetail::UrlResumed(UrlResumed { link: resumed, reasons, .. }) if !reasons.is_empty() => {
                (Actor::Operator, AuditAction::LinkResumed, link(&resumed.link), (Some(reasons.to_string()), None))
            }
            EventDetail::UrlDeleted(UrlDeleted { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkDeleted, link(id), (None, None))
            }
            EventDetail::UrlPurged(LinkEvent { link: id, by: Some(by), .. }) => {
                (by.actor(), AuditAction::LinkPurged, link(id), (None, None))
            }
            EventDetail::JobFinished(finished) => {
                let (actor, subject) = (finished.by.actor(), AuditSubject::Job(finished.job_id));
                let ending = format!("{}: {}", finished.state, finished.in_words());
                (actor, AuditAction::JobFinished, subject, (Some(finished.work.in_words()), Some(ending)))
            }
            _ => return None,
        };
        let origin =
            AuditContext { actor, at: event.occurred_at, address: None, correlation_id: event.correlation_id.clone() };
        let entry = origin.in_workspace(&event.workspace_id, action, subject);
        Some(Self { id: event.event_id.clone(), from, to, ..entry })
    }
}

from_text!(Actor);
from_text!(Changer);
from_text!(AuditSubject);

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(at: &str) -> AuditContext {
        let correlation_id = CorrelationId::parse("req-1").unwrap();
        AuditContext { actor: Actor::Operator, at: Timestamp::parse(at).unwrap(), address: None, correlation_id }
    }

    #[test]
    fn wrong_passwords_share_an_entry_only_within_a_quarter_of_an_hour() {
        let user = UserId::generate();
        let key = |at| {
            let entry = origin(at).guessed(&user);
            (entry.at.to_string(), entry.id)
        };

        assert_eq!(key("2026-03-02T14:15:00.000Z"), key("2026-03-02T14:29:59.999Z"));
        assert_eq!(key("2026-03-02T14:22:00.000Z").0, "2026-03-02T14:15:00.000Z");
        assert_ne!(key("2026-03-02T14:29:59.999Z"), key("2026-03-02T14:30:00.000Z"));
    }

    #[test]
    fn two_entries_of_one_origin_have_ids_of_their_own() {
        let origin = origin("2026-03-02T14:22:00.000Z");
        let entry = || origin.of_person(&UserId::generate(), AuditAction::SessionEnded);

        assert_ne!(entry().id, entry().id);
    }
}
