//! The messages between the bounded contexts.
//!
//! An event carries all that its consumers need, so that none of them calls back. On the wire it is one flat JSON object.

use serde::{Deserialize, Serialize};

use crate::{
    Changer, CheckError, ClickLimit, CorrelationId, EventId, JobFailure, JobId, JobState, JobWork, LinkChanges, LinkId,
    Suspensions, TargetId, TargetUrl, Timestamp, UserId, Visitor, WorkspaceId,
};

/// Something that has happened, because the table write behind it has committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Identifies the event; the same at every redelivery.
    pub event_id: EventId,
    /// When it happened, not when it was published.
    pub occurred_at: Timestamp,
    /// The correlation id of the request that caused it.
    pub correlation_id: CorrelationId,
    /// The workspace of the link, target or job.
    pub workspace_id: WorkspaceId,
    /// What happened.
    #[serde(flatten)]
    pub detail: EventDetail,
}

impl Event {
    /// Who has changed what it is about, if others hear of that.
    pub fn changer_mut(&mut self) -> Option<&mut Changer> {
        match &mut self.detail {
            EventDetail::UrlUpdated(updated) => updated.by.as_mut(),
            EventDetail::UrlActivated(switched) | EventDetail::UrlDeactivated(switched) => switched.by.as_mut(),
            EventDetail::UrlDeleted(deleted) => deleted.by.as_mut(),
            EventDetail::UrlPurged(purged) => purged.by.as_mut(),
            EventDetail::JobFinished(finished) => Some(&mut finished.by),
            _ => None,
        }
    }
}

/// The kinds of events, each with its name on the wire.
macro_rules! event_details {
    ($($(#[$doc:meta])* $kind:ident($content:ty) = $name:literal;)+) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "event_type")]
        pub enum EventDetail {
            $($(#[$doc])* #[serde(rename = $name)] $kind($content),)+
        }

        impl Event {
            /// The name of its kind, such as `url.created`.
            pub fn event_type(&self) -> &'static str {
                match self.detail {
                    $(EventDetail::$kind(_) => $name,)+
                }
            }
        }
    };
}

event_details! {
    /// A link was created.
    UrlCreated(UrlCreated) = "url.created";
    /// A link was followed.
    UrlClicked(UrlClicked) = "url.clicked";
    /// Properties of a link were changed.
    UrlUpdated(Box<UrlUpdated>) = "url.updated";
    /// A link was switched on.
    UrlActivated(LinkEvent) = "url.activated";
    /// A link was switched off.
    UrlDeactivated(LinkEvent) = "url.deactivated";
    /// A link was deleted by a person. Its statistics stay.
    UrlDeleted(UrlDeleted) = "url.deleted";
    /// A link's time is over. It is kept for a while and can be extended.
    UrlExpired(LinkEvent) = "url.expired";
    /// A link was used as often as it may be.
    UrlExhausted(UrlExhausted) = "url.exhausted";
    /// An expired link was given more time, or a link begins to watch. The event says what the link is now, as that of a new one does.
    UrlExtended(UrlCreated) = "url.extended";
    /// A link leads nowhere until what suspends it is over.
    UrlSuspended(UrlSuspended) = "url.suspended";
    /// What has suspended a link is over. The event says what the link is now, as that of a new one does.
    UrlResumed(UrlResumed) = "url.resumed";
    /// A link watches no more where it leads.
    UrlUnwatched(LinkEvent) = "url.unwatched";
    /// A link that was deleted or had expired has given way to its tombstone: it can't be extended any more. Its statistics stay.
    UrlRemoved(LinkEvent) = "url.removed";
    /// A link was purged by a person: removed with its statistics.
    UrlPurged(LinkEvent) = "url.purged";
    /// A link has reached a round number of clicks.
    MilestoneReached(MilestoneReached) = "milestone.reached";
    /// A monitored URL doesn't answer any more.
    TargetDown(TargetDown) = "target.down";
    /// A monitored URL answers again.
    TargetUp(TargetUp) = "target.up";
    /// A job is over.
    JobFinished(Box<JobFinished>) = "job.finished";
}

/// A link was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlCreated {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Where it leads.
    pub original_url: TargetUrl,
    /// Who created it.
    pub user_id: UserId,
    /// When it stops redirecting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Whether it watches where it leads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    /// Whether nobody is notified of it, as of links that are created many at a time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
}

/// A link was followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlClicked {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Who is told about milestones.
    pub user_id: UserId,
    /// Who followed it.
    #[serde(flatten)]
    pub visitor: Visitor,
}

/// Properties of a link were changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlUpdated {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Whose link it is.
    pub user_id: UserId,
    /// The members that have changed.
    pub changes: LinkChanges,
    /// Who has changed it, if others hear of that: somebody else than its owner, or the owner if it was one of many at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Changer>,
    /// Whether the link watches where it leads from now on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
}

/// Something that has become of a link.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEvent {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Whose link it is or was.
    pub user_id: UserId,
    /// Who has done it, if others are notified of that: somebody else than its owner, or the owner if it is a purge or was one of many
    /// at once. Nobody, if a job has.
    pub by: Option<Changer>,
    /// The target that it watched until then, if it watches none from then on.
    pub watched_target: Option<TargetId>,
}

/// A link was suspended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlSuspended {
    /// The link, with what it watched until then: nothing if something else has suspended it before.
    #[serde(flatten)]
    pub link: LinkEvent,
    /// Why an operator has suspended it; empty if its workspace was closed.
    #[serde(default, skip_serializing_if = "Suspensions::is_empty")]
    pub reasons: Suspensions,
}

/// What has suspended a link is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlResumed {
    /// The link as it is now.
    #[serde(flatten)]
    pub link: UrlCreated,
    /// Why an operator had suspended it; empty if its workspace was closed.
    #[serde(default, skip_serializing_if = "Suspensions::is_empty")]
    pub reasons: Suspensions,
    /// Whether something else still suspends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub still_suspended: bool,
}

/// A link was deleted.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlDeleted {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Where it led.
    pub original_url: TargetUrl,
    /// Who created it and is told.
    pub user_id: UserId,
    /// Who deleted it.
    pub deleted_by: UserId,
    /// Who has changed it, if others hear of that: somebody else than its owner, or the owner if it was one of many at once.
    pub by: Option<Changer>,
    /// The target that it watched until then.
    pub watched_target: Option<TargetId>,
}

/// A link was used as often as it may be. It redirects again if somebody allows more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlExhausted {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Who created it and is told.
    pub user_id: UserId,
    /// How often it may be used.
    pub max_clicks: ClickLimit,
}

/// A link has reached a round number of clicks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MilestoneReached {
    /// The link.
    #[serde(flatten)]
    pub link: LinkId,
    /// Who is told.
    pub user_id: UserId,
    /// 10, 100, 1,000, …
    pub milestone: u64,
    /// The link's clicks when it was seen to have reached the milestone: more, if several clicks were counted at once.
    pub total_clicks: u64,
}

/// A monitored URL has failed twice in a row.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetDown {
    /// The target.
    pub target_id: TargetId,
    /// What is monitored.
    pub url: TargetUrl,
    /// Who registered it and is told.
    pub user_id: UserId,
    /// The status of the last answer, if there was one.
    pub status_code: Option<u16>,
    /// Why there was none.
    pub error: Option<CheckError>,
}

/// A monitored URL that was down has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetUp {
    /// The target.
    pub target_id: TargetId,
    /// What is monitored.
    pub url: TargetUrl,
    /// Who registered it and is told.
    pub user_id: UserId,
    /// When it was found down.
    pub down_since: Timestamp,
}

/// A job is over: done, failed or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFinished {
    /// The job.
    pub job_id: JobId,
    /// Who has asked for it and is told.
    pub user_id: UserId,
    /// Who has cancelled it, or else who has asked for it.
    pub by: Changer,
    /// What was to be done.
    pub work: JobWork,
    /// How it ended.
    pub state: JobState,
    /// How many things it has changed.
    pub changed: u64,
    /// How many refused.
    pub failed: u64,
    /// Why it has failed as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<JobFailure>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_one_flat_object() {
        let event = Event {
            event_id: EventId::parse("0198c0de-0000-7000-8000-000000000001").unwrap(),
            occurred_at: Timestamp::parse("2026-03-02T14:05:09Z").unwrap(),
            correlation_id: CorrelationId::parse("req-1").unwrap(),
            workspace_id: WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap(),
            detail: EventDetail::MilestoneReached(MilestoneReached {
                link: LinkId::parse("abc1234.x7Kf2a").unwrap(),
                user_id: UserId::parse("0198c0de-0000-7000-8000-000000000003").unwrap(),
                milestone: 100,
                total_clicks: 104,
            }),
        };

        let on_the_wire = serde_json::to_value(&event).unwrap();

        let expected = json!({
            "event_id": "0198c0de-0000-7000-8000-000000000001",
            "occurred_at": "2026-03-02T14:05:09.000Z",
            "correlation_id": "req-1",
            "event_type": "milestone.reached",
            "short_code": "abc1234",
            "generation": "x7Kf2a",
            "workspace_id": "0198c0de-0000-7000-8000-000000000002",
            "user_id": "0198c0de-0000-7000-8000-000000000003",
            "milestone": 100,
            "total_clicks": 104,
        });
        assert_eq!(on_the_wire, expected);
        assert_eq!(on_the_wire["event_type"], event.event_type());
        assert_eq!(serde_json::from_value::<Event>(on_the_wire).unwrap(), event);
    }

    #[test]
    fn a_targets_event_says_what_is_wrong_and_nothing_that_is_not() {
        let event = |status_code, error| Event {
            event_id: EventId::generate(),
            occurred_at: Timestamp::now(),
            correlation_id: CorrelationId::generate(),
            workspace_id: WorkspaceId::generate(),
            detail: EventDetail::TargetDown(TargetDown {
                target_id: TargetId::parse("t_0000000000000000000007").unwrap(),
                url: TargetUrl::parse("https://example.com/a").unwrap(),
                user_id: UserId::generate(),
                status_code,
                error,
            }),
        };
        let timeout = event(None, Some(CheckError::Timeout));

        let on_the_wire = serde_json::to_value(&timeout).unwrap();

        assert_eq!(on_the_wire["event_type"], timeout.event_type());
        assert_eq!(on_the_wire["error"], "timeout");
        assert_eq!(on_the_wire.get("status_code"), None);
        assert_eq!(serde_json::from_value::<Event>(on_the_wire).unwrap(), timeout);
        let broken = serde_json::to_value(event(Some(503), None)).unwrap();
        assert_eq!((&broken["status_code"], broken.get("error")), (&json!(503), None));
    }

    #[test]
    fn a_link_event_names_its_watched_target_and_is_read_without_one() {
        let purged = |watched_target| Event {
            event_id: EventId::generate(),
            occurred_at: Timestamp::now(),
            correlation_id: CorrelationId::generate(),
            workspace_id: WorkspaceId::generate(),
            detail: EventDetail::UrlPurged(LinkEvent {
                by: None,
                link: LinkId::parse("abc1234.x7Kf2a").unwrap(),
                user_id: UserId::generate(),
                watched_target,
            }),
        };
        let (watching, plain) = (purged(Some(TargetId::parse("t_0000000000000000000007").unwrap())), purged(None));

        let on_the_wire = serde_json::to_value(&watching).unwrap();
        let as_ever = serde_json::to_value(&plain).unwrap();

        assert_eq!(on_the_wire["watched_target"], TargetId::parse("t_0000000000000000000007").unwrap().as_str());
        assert_eq!(serde_json::from_value::<Event>(on_the_wire).unwrap(), watching);
        assert_eq!(as_ever.get("watched_target"), None);
        assert_eq!(serde_json::from_value::<Event>(as_ever).unwrap(), plain);
    }

    #[test]
    fn a_value_that_breaks_a_rule_is_no_event() {
        let mut clicked = json!({
            "event_id": "1", "occurred_at": "2026-03-02T14:05:09Z", "correlation_id": "req-1", "event_type": "url.clicked",
            "short_code": "abc1234", "generation": "x7Kf2a", "workspace_id": WorkspaceId::generate(),
            "user_id": UserId::generate(), "ip_hash": "0".repeat(64),
        });
        assert!(serde_json::from_value::<Event>(clicked.clone()).is_ok());

        clicked["short_code"] = json!("../../etc");

        assert!(serde_json::from_value::<Event>(clicked).is_err());
    }
}
