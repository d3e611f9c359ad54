//! Groups the messages of a batch by link, and splits a link's clicks into transactions.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use linklet_domain::{Click, Client, EventDetail, EventId, ShortCode, Timestamp};
use linklet_dynamodb::Room;
use linklet_lambda::batch::{Received, Unreadable};

use crate::clients::Clients;

/// A click to count, with the ids of the messages that carried it: SQS may deliver a message twice in a batch.
#[derive(Debug, Clone)]
pub(crate) struct QueuedClick {
    pub click: Click,
    /// The client that the visitor's user agent names.
    pub client: Client,
    pub message_ids: Vec<String>,
}

/// A link's clicks by time, so that a milestone is reached by the right click.
pub(crate) type ByTime = BTreeMap<Timestamp, Vec<QueuedClick>>;

/// The messages of a batch, sorted by what has to be done.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Clicks to count, by link, each click once.
    pub links: BTreeMap<ShortCode, ByTime>,
    /// Events of purged links, whose statistics have to be deleted.
    pub purges: Vec<Received>,
    /// Events of types that this queue isn't for.
    pub set_aside: Vec<Unreadable>,
}

/// Sorts the messages of a batch.
pub(crate) fn sort(received: Vec<Received>, clients: &Clients) -> Work {
    let mut work = Work::default();
    let mut clicks: HashMap<EventId, QueuedClick> = HashMap::with_capacity(received.len());
    for Received { message_id, event, receive_count } in received {
        let click = match Click::from_event(event) {
            Ok(click) => click,
            Err(event) if matches!(event.detail, EventDetail::UrlPurged(_)) => {
                work.purges.push(Received { message_id, event: *event, receive_count });
                continue;
            }
            Err(event) => {
                let body = serde_json::to_string(&event).unwrap_or_default();
                work.set_aside.push(Unreadable { message_id, reason: "not a click or purge".to_owned(), body });
                continue;
            }
        };
        match clicks.entry(click.id.clone()) {
            Entry::Occupied(mut known) => known.get_mut().message_ids.push(message_id),
            Entry::Vacant(vacant) => {
                let client = clients.of(&click.visitor.user_agent);
                vacant.insert(QueuedClick { click, client, message_ids: vec![message_id] });
            }
        }
    }
    for queued in clicks.into_values() {
        let link = work.links.entry(queued.click.code.clone()).or_default();
        link.entry(queued.click.clicked_at).or_default().push(queued);
    }
    work
}

/// How many clicks from the start of the slice fit one transaction; at least one.
pub(crate) fn next_transaction(clicks: &[QueuedClick]) -> usize {
    let mut room = Room::default();
    clicks.iter().take_while(|queued| room.take(&queued.click.id, queued.click.clicked_at.day())).count().max(1)
}
