//! Groups the messages of a batch by link and day.

use std::collections::{BTreeMap, btree_map::Entry};

use linklet_domain::{Click, ClickId, CorrelationId, Day, Event, EventDetail, LinkId, UrlPurged, WorkspaceId};
use linklet_dynamodb::{ClassifiedClick, DayWork};
use linklet_lambda::batch::{Content, ReceivedMessage, UnreadableMessage};
use serde::{Deserialize, Serialize};

use crate::{clients::Clients, parked::ParkedClick};

/// A message of the analytics queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Message {
    /// A link was followed or purged.
    Event(Box<Event>),
    /// A click that redirect could not store.
    ParkedClick(Box<Click>),
}

impl Content for Message {
    fn correlation_id(&self) -> &CorrelationId {
        match self {
            Self::Event(event) => &event.correlation_id,
            Self::ParkedClick(click) => &click.correlation_id,
        }
    }
}

/// A click to count, with the ids of the messages that carried it: SQS may deliver a message twice in a batch.
#[derive(Debug, Clone)]
pub(crate) struct QueuedClick {
    pub classified: ClassifiedClick,
    pub message_ids: Vec<String>,
}

/// The clicks of one link on one day by their ids, and so by their time: a milestone is reached by the right click.
#[derive(Debug)]
pub(crate) struct DayOfClicks {
    pub link: LinkId,
    pub workspace: WorkspaceId,
    pub day: Day,
    pub clicks: BTreeMap<ClickId, QueuedClick>,
}

impl DayOfClicks {
    /// The clicks in their order, for [`Self::work`].
    pub(crate) fn in_order(&self) -> Vec<&ClassifiedClick> {
        self.clicks.values().map(|queued| &queued.classified).collect()
    }

    /// What the table has to count.
    pub(crate) fn work<'a>(&'a self, clicks: &'a [&'a ClassifiedClick]) -> DayWork<'a> {
        DayWork { link: &self.link, workspace: &self.workspace, slice: self.day.into(), clicks }
    }

    /// The messages that carried some of the clicks.
    pub(crate) fn messages_of<'a>(&self, clicks: impl IntoIterator<Item = &'a ClickId>) -> impl Iterator<Item = String> {
        let queued = clicks.into_iter().filter_map(|id| self.clicks.get(id));
        queued.flat_map(|queued| queued.message_ids.iter().cloned())
    }
}

/// A link that was purged, with the message that says so.
#[derive(Debug)]
pub(crate) struct Purge {
    pub purged: UrlPurged,
    pub event: Event,
    pub message_id: String,
}

/// The messages of a batch, sorted by what has to be done.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Clicks to count, by link and day, each click once.
    pub links: BTreeMap<LinkId, BTreeMap<Day, DayOfClicks>>,
    /// Clicks that redirect could not store.
    pub parked: Vec<ParkedClick>,
    /// Purged links, whose statistics have to be deleted.
    pub purges: Vec<Purge>,
    /// Events of types that this queue isn't for.
    pub set_aside: Vec<UnreadableMessage>,
}

/// Sorts the messages of a batch.
pub(crate) fn sort(received: Vec<ReceivedMessage<Message>>, clients: &Clients) -> Work {
    let mut work = Work::default();
    for ReceivedMessage { message_id, event, receive_count } in received {
        match event {
            Message::ParkedClick(click) => work.parked.push(ParkedClick { click: *click, message_id }),
            Message::Event(event) => match event.detail.clone() {
                EventDetail::UrlPurged(purged) => work.purges.push(Purge { purged, event: *event, message_id }),
                _ => match Click::from_event(*event) {
                    Ok(click) => work.add(click, message_id, clients),
                    Err(event) => {
                        let other = ReceivedMessage { message_id, event: *event, receive_count };
                        work.set_aside.push(other.refused("not a click or purge"));
                    }
                },
            },
        }
    }
    work
}

impl Work {
    fn add(&mut self, click: Click, message_id: String, clients: &Clients) {
        let (id, day) = (click.id, click.id.at().day());
        let days = self.links.entry(click.link.clone()).or_default();
        let of_day = days.entry(day).or_insert_with(|| DayOfClicks {
            link: click.link.clone(),
            workspace: click.workspace,
            day,
            clicks: BTreeMap::new(),
        });
        match of_day.clicks.entry(id) {
            Entry::Occupied(mut known) => known.get_mut().message_ids.push(message_id),
            Entry::Vacant(vacant) => {
                let client = clients.of(&click.visitor.user_agent);
                let classified = ClassifiedClick { click, client };
                vacant.insert(QueuedClick { classified, message_ids: vec![message_id] });
            }
        }
    }
}
