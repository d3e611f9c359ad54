use std::time::Duration;

use aws_lambda_events::dynamodb::EventRecord;
use aws_lambda_events::sqs::{SqsEvent, SqsMessage};
use linklet_domain::{Event, EventDetail, LinkId, wording};
use linklet_dynamodb::stream::{Change, StreamError, change_of, marker_after};
use linklet_lambda::batch;

use crate::text;

/// The text in the corpus that stands for what must not be in a reason, since reasons are logged.
const SECRET: &str = "hunter2";

/// How long expired links are kept.
const KEPT: Duration = Duration::from_secs(720 * 3_600);

/// Messages of the queues.
pub fn queue_messages(input: &[u8]) {
    let body = text(input).into_owned();
    let mut message = SqsMessage::default();
    message.body = Some(body.clone());
    let mut batch = SqsEvent::default();
    batch.records = vec![message];

    let (readable, unreadable) = batch::read(batch);

    assert_eq!(readable.len() + unreadable.len(), 1, "a message has vanished");
    for received in readable {
        survives(&received.event);
    }
    for message in unreadable {
        assert_eq!(message.body, body, "what is parked is what came");
        assert!(!message.reason.contains(SECRET), "{}", message.reason);
    }
}

/// Records of the tables' streams.
pub fn stream_records(input: &[u8]) {
    let Ok(record) = serde_json::from_slice::<EventRecord>(input) else { return };
    assert!(serde_json::to_string(&record).is_ok(), "what can't be read can be parked");
    match change_of(&record) {
        Ok(Change::Events(events)) => {
            let again = change_of(&record).map(Change::into_events).ok();
            assert_eq!(again.as_ref(), Some(&events), "a record that is read again is another event");
            events.iter().for_each(survives);
        }
        Ok(Change::ExpiryDue(link, _)) => assert_eq!(LinkId::parse(&link.to_string()), Ok(link)),
        Ok(Change::Exhausted(end)) => assert_eq!(LinkId::parse(&end.link.to_string()), Ok(end.link)),
        Err(error) => hides_the_secret(&error),
    }
    match marker_after(&record, KEPT) {
        Ok(Some(marker)) => assert_eq!(LinkId::parse(&marker.link.to_string()), Ok(marker.link)),
        Ok(None) => {}
        Err(error) => hides_the_secret(&error),
    }
}

/// Whether a record of a table's stream is read, whatever it means.
pub fn is_readable(input: &[u8]) -> bool {
    let Ok(record) = serde_json::from_slice::<EventRecord>(input) else { return false };
    change_of(&record).is_ok() && marker_after(&record, KEPT).is_ok()
}

fn hides_the_secret(error: &StreamError) {
    let reason = linklet_lambda::telemetry::chain(error);
    assert!(!reason.contains(SECRET), "{reason}");
}

fn survives(event: &Event) {
    let body = serde_json::to_string(event).expect("an event can be sent");
    let back: Event = serde_json::from_str(&body).expect("an event that was sent can be read");
    assert_eq!(&back, event);
    assert_eq!(back.event_type(), event.event_type());
    if let EventDetail::UrlClicked(_) = event.detail {
        assert!(wording(&event.detail).is_none(), "nobody is told about a click");
    }
}
