//! What others than their owner have done to links, and jobs that are over, are written into the audit log. Whoever owns such a link is told by
//! whom.

use std::collections::BTreeSet;

use linklet_domain::{AuditEntry, Event, wording};
use linklet_lambda::batch::ReceivedMessage;
use linklet_lambda::telemetry::{chain, warn_of};

use crate::{Notify, message::Message};

impl Notify {
    /// Writes the entry that an event makes, if it makes one, and tells its person, if there is somebody to tell. An entry has the
    /// event's id, so it is written once however often the event is delivered.
    pub(crate) async fn audit_and_notify(&self, received: &ReceivedMessage<Message>, event: &Event) -> bool {
        let entry = AuditEntry::from_event(event);
        if let Some(entry) = &entry
            && let Err(error) = self.audit_log.put(entry).await
        {
            tracing::error!(
                event_id = event.event_id.as_str(),
                error = chain(&error),
                "an entry of the audit log could not be written"
            );
            return false;
        }
        if entry.is_some() && wording(&event.detail).is_none() {
            return true;
        }
        self.tell(received, &self.naming_changer(event).await).await
    }

    /// The event with the name of who has changed something. Without it, it was somebody else.
    async fn naming_changer(&self, event: &Event) -> Event {
        let mut named = event.clone();
        if let Some(by) = named.changer_mut() {
            let names = self.names.names(BTreeSet::from([&by.user])).await;
            let names = warn_of(names, "who has changed something could not be looked up");
            by.name = names.and_then(|names| names.get(&by.user).cloned());
        }
        named
    }
}
