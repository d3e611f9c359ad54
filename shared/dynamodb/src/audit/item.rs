//! Keys and attributes of AuditTable.

use linklet_domain::{
    Actor, AuditAction, AuditEntry, AuditLog, AuditSubject, CorrelationId, CountryCode, EventId, Invalid, IpHash,
    lifetimes,
};
use serde::{Deserialize, Serialize};

use crate::Cursor;
use crate::item::{Key, workspace_partition};

pub(super) fn partition(audit_log: &AuditLog) -> String {
    match audit_log {
        AuditLog::Workspace(workspace) => workspace_partition(workspace),
        AuditLog::Person(user) => format!("USER#{user}"),
    }
}

/// `WS#<workspace>` or `USER#<id>` / `<time>#<id>`: an entry of an audit log. The key has the entry's id, so an event has one entry.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AuditItem {
    #[serde(flatten)]
    pub key: Key,
    pub actor: Actor,
    pub action: AuditAction,
    pub subject: Option<AuditSubject>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub device: Option<String>,
    pub country: Option<CountryCode>,
    pub address_hash: Option<IpHash>,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

impl From<&AuditEntry> for AuditItem {
    fn from(entry: &AuditEntry) -> Self {
        let cursor = Cursor { at: entry.at, id: entry.id.clone() };
        Self {
            key: Key::new(partition(&entry.audit_log), cursor.sort_key()),
            actor: entry.actor.clone(),
            action: entry.action,
            subject: entry.subject.clone(),
            from: entry.from.clone(),
            to: entry.to.clone(),
            device: entry.device.clone(),
            country: entry.country.clone(),
            address_hash: entry.address.clone(),
            correlation_id: entry.correlation_id.clone(),
            ttl: entry.at.plus(lifetimes::AUDIT).unix_seconds(),
        }
    }
}

impl AuditItem {
    /// The entry that this is in an audit log.
    ///
    /// # Errors
    /// When the sort key is none of an entry's.
    pub(super) fn into_entry(self, audit_log: AuditLog) -> Result<AuditEntry, Invalid> {
        let not_ours = || Invalid::new("the sort key of an entry is a time and an id");
        let Cursor { at, id } = Cursor::<EventId>::from_sort_key(&self.key.sk).ok_or_else(not_ours)?;
        Ok(AuditEntry {
            id,
            audit_log,
            at,
            actor: self.actor,
            action: self.action,
            subject: self.subject,
            from: self.from,
            to: self.to,
            device: self.device,
            country: self.country,
            address: self.address_hash,
            correlation_id: self.correlation_id,
        })
    }
}
