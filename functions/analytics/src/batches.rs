//! From a batch of messages to transactions.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use linklet_domain::{Client, CorrelationId, CountedClick, EventDetail, EventId, ShortCode, Timestamp, UrlClicked};
use linklet_dynamodb::Room;
use linklet_lambda::batch::{Received, Unreadable};

use crate::clients::Clients;

/// A click to count, with the messages that brought it: SQS may deliver one twice in a batch.
#[derive(Debug, Clone)]
pub(crate) struct Clicked {
    pub event_id: EventId,
    pub occurred_at: Timestamp,
    pub correlation_id: CorrelationId,
    pub detail: UrlClicked,
    pub client: Client,
    pub message_ids: Vec<String>,
}

impl Clicked {
    /// What is counted about it.
    pub fn counted(&self) -> CountedClick<'_> {
        CountedClick { clicked_at: self.occurred_at, visitor: &self.detail.visitor, client: &self.client }
    }
}

/// A link's clicks by time, so that milestones are reached by the click that came at that place.
pub(crate) type ByTime = BTreeMap<Timestamp, Vec<Clicked>>;

/// A batch by what is to be done.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Clicks to count, by link, each click once.
    pub links: BTreeMap<ShortCode, ByTime>,
    /// Links to forget.
    pub purges: Vec<Received>,
    /// Events that have no business in this queue.
    pub set_aside: Vec<Unreadable>,
}

/// Sorts a batch.
pub(crate) fn sort(received: Vec<Received>, clients: &Clients) -> Work {
    let mut work = Work::default();
    let mut clicks: HashMap<EventId, Clicked> = HashMap::with_capacity(received.len());
    for received in received {
        let Received { message_id, event, receive_count } = received;
        let detail = match event.detail {
            EventDetail::UrlClicked(detail) => detail,
            EventDetail::UrlPurged(_) => {
                work.purges.push(Received { message_id, event, receive_count });
                continue;
            }
            _ => {
                let body = serde_json::to_string(&event).unwrap_or_default();
                work.set_aside.push(Unreadable { message_id, reason: "nothing to count".to_owned(), body });
                continue;
            }
        };
        match clicks.entry(event.event_id) {
            Entry::Occupied(mut known) => known.get_mut().message_ids.push(message_id),
            Entry::Vacant(vacant) => {
                let click = Clicked {
                    event_id: vacant.key().clone(),
                    occurred_at: event.occurred_at,
                    correlation_id: event.correlation_id,
                    client: clients.of(&detail.visitor.user_agent),
                    detail,
                    message_ids: vec![message_id],
                };
                vacant.insert(click);
            }
        }
    }
    for click in clicks.into_values() {
        let link = work.links.entry(click.detail.short_code.clone()).or_default();
        link.entry(click.occurred_at).or_default().push(click);
    }
    work
}

/// How many of the clicks, from the front, fit one transaction.
pub(crate) fn next_transaction(clicks: &[Clicked]) -> usize {
    let mut room = Room::default();
    clicks.iter().take_while(|click| room.take(&click.event_id, click.occurred_at.day())).count().max(1)
}
