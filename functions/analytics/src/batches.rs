//! Groups the messages of a batch by link and day.

use std::collections::{BTreeMap, btree_map::Entry};

use linklet_domain::{
    Click, ClickId, CorrelationId, Day, Event, EventDetail, LinkEvent, LinkId, ParkedClick, WorkspaceId,
};
use linklet_dynamodb::{ClassifiedClick, DayWork};
use linklet_lambda::batch::{Content, ReceivedMessage, UnreadableMessage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{clients::Clients, parked::ParkedMessage};

/// A message of the analytics queue.
#[derive(Debug)]
pub(crate) enum Message {
    /// Links were followed or purged: one event, or several that were packed.
    Events(Vec<Packed>),
    /// A click that redirect could not store.
    ParkedClick(Box<ParkedClick>),
}

/// What a message has of an event.
#[derive(Debug)]
pub(crate) enum Packed {
    Event(Box<Event>),
    Malformed { body: Box<str>, error: serde_json::Error },
}

impl Content for Message {
    fn parse(body: &str) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct Pack<'a> {
            #[serde(borrow)]
            events: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Single {
            Event(Box<Event>),
            ParkedClick(Box<ParkedClick>),
        }
        if let Ok(Pack { events }) = serde_json::from_str(body) {
            return Ok(Self::Events(events.into_iter().map(|event| Packed::parse(event.get())).collect()));
        }
        serde_json::from_str(body).map(|single| match single {
            Single::Event(event) => Self::Events(vec![Packed::Event(event)]),
            Single::ParkedClick(parked) => Self::ParkedClick(parked),
        })
    }

    fn correlation_ids(&self) -> Vec<&CorrelationId> {
        match self {
            Self::Events(events) => events.iter().filter_map(Packed::correlation_id).collect(),
            Self::ParkedClick(parked) => vec![&parked.click.correlation_id],
        }
    }
}

impl Packed {
    fn parse(body: &str) -> Self {
        serde_json::from_str(body).map_or_else(|error| Self::Malformed { body: body.into(), error }, Self::Event)
    }

    fn correlation_id(&self) -> Option<&CorrelationId> {
        match self {
            Self::Event(event) => Some(&event.correlation_id),
            Self::Malformed { .. } => None,
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
    pub(crate) fn messages_of<'a>(
        &self,
        clicks: impl IntoIterator<Item = &'a ClickId>,
    ) -> impl Iterator<Item = String> {
        let queued = clicks.into_iter().filter_map(|id| self.clicks.get(id));
        queued.flat_map(|queued| queued.message_ids.iter().cloned())
    }
}

/// A link that was purged, with the message that says so.
#[derive(Debug)]
pub(crate) struct Purge {
    pub purged: LinkEvent,
    pub event: Event,
    pub message_id: String,
}

/// The messages of a batch, sorted by what has to be done.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Clicks to count, by link and day, each click once.
    pub links: BTreeMap<LinkId, BTreeMap<Day, DayOfClicks>>,
    /// Clicks that redirect could not store.
    pub parked: Vec<ParkedMessage>,
    /// Purged links, whose statistics have to be deleted.
    pub purges: Vec<Purge>,
    /// Events that can't be read, and those of types that this queue isn't for, each with the message that carried it.
    pub set_aside: Vec<UnreadableMessage>,
}

/// Sorts the messages of a batch.
pub(crate) fn sort(received: Vec<ReceivedMessage<Message>>, clients: &Clients) -> Work {
    let mut work = Work::default();
    for ReceivedMessage { message_id, event, .. } in received {
        match event {
            Message::ParkedClick(parked) => work.parked.push(ParkedMessage { parked: *parked, message_id }),
            Message::Events(events) => events.into_iter().for_each(|event| work.sort(event, &message_id, clients)),
        }
    }
    work
}

impl Work {
    fn sort(&mut self, event: Packed, message_id: &str, clients: &Clients) {
        let event = match event {
            Packed::Event(event) => *event,
            Packed::Malformed { body, error } => {
                return self.set_aside.push(UnreadableMessage::malformed(&body, message_id, &error));
            }
        };
        if let EventDetail::UrlPurged(purged) = &event.detail {
            return self.purges.push(Purge { purged: purged.clone(), event, message_id: message_id.to_owned() });
        }
        match Click::from_event(event) {
            Ok(click) => self.add(click, message_id.to_owned(), clients),
            Err(event) => {
                let other = ReceivedMessage { message_id: message_id.to_owned(), receive_count: 1, event: *event };
                self.set_aside.push(other.refused("not a click or purge"));
            }
        }
    }

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
