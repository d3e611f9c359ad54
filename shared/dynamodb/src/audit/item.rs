//! Keys and attributes of AuditTable.

use linklet_domain::{AuditEntry, AuditLog, lifetimes};

use crate::Cursor;
use crate::item::{Key, Stored, workspace_partition};

pub(super) fn partition(audit_log: &AuditLog) -> String {
    match audit_log {
        AuditLog::Workspace(workspace) => workspace_partition(workspace),
        AuditLog::Person(user) => format!("USER#{user}"),
    }
}

/// `WS#<workspace>` or `USER#<id>` / `<time>#<id>`: an entry of an audit log. The key has the entry's id, so an event has one entry.
pub(super) type AuditItem = Stored<AuditEntry>;

impl From<&AuditEntry> for AuditItem {
    fn from(entry: &AuditEntry) -> Self {
        let cursor = Cursor { at: entry.at, id: entry.id.clone() };
        Self {
            key: Key::new(partition(&entry.audit_log), cursor.sort_key()),
            value: entry.clone(),
            ttl: Some(entry.at.plus(lifetimes::AUDIT).unix_seconds()),
        }
    }
}
