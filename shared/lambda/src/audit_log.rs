//! Entries of the audit log that have no change beside them.

use linklet_domain::AuditEntry;
use linklet_dynamodb::AuditTable;

use crate::telemetry::chain;

/// Writes an entry of what changes nothing about who may do what. A failure is only logged.
pub async fn note(audit_log: &AuditTable, entry: &AuditEntry) {
    if let Err(error) = audit_log.put(entry).await {
        let (error, action) = (chain(&error), entry.action.to_string());
        tracing::warn!(error, action, "an entry of the audit log could not be written");
    }
}
