use serde::{Deserialize, Serialize};

use crate::{
    Changer, CorrelationId, Event, EventDetail, EventId, Invalid, JobFailure, JobFinished, JobId, JobState, LinkEvent,
    LinkId, MilestoneReached, ShortCode, TargetDown, TargetId, TargetUp, TargetUrl, Timestamp, UrlCreated, UrlDeleted,
    UrlExhausted, UrlSuspended, UserId, WorkspaceId,
};

/// A message to a person about one of their links, monitored URLs or jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The event that it tells about; one event never makes two notifications.
    #[serde(rename = "event_id")]
    pub id: EventId,
    /// Who is told.
    #[serde(rename = "user_id")]
    pub user: UserId,
    /// The workspace of what it tells about.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The event's type, such as `url.created`.
    pub event_type: String,
    /// The sentence to show.
    pub message: String,
    /// What it tells about.
    #[serde(flatten)]
    pub about: NotificationSubject,
    /// How far its delivery has come.
    pub status: NotificationStatus,
    /// When the event happened.
    pub created_at: Timestamp,
    /// When the last of its deliveries succeeded.
    pub sent_at: Option<Timestamp>,
    /// The correlation id of the request that caused the event.
    pub correlation_id: CorrelationId,
}

/// What a notification tells about. In an object it is one member: `short_code`, `target_id` or `job_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotificationSubject {
    /// A link.
    #[serde(rename = "short_code")]
    Link(ShortCode),
    /// A monitored URL.
    #[serde(rename = "target_id")]
    Target(TargetId),
    /// A job.
    #[serde(rename = "job_id")]
    Job(JobId),
}

/// Which notifications somebody wants to see. Each event that people are told about is of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum NotificationKind {
    /// Something doesn't work any more, or works again.
    Problem,
    /// A link has reached a round number of clicks.
    Milestone,
    /// A link was deleted.
    Deletion,
    /// Somebody else has changed a link, or switched it on or off.
    Change,
    /// A link was created, which its creator knows.
    Creation,
    /// A job is over.
    Job,
}

impl NotificationKind {
    /// Reads a kind's name.
    ///
    /// # Errors
    /// When there is no such kind.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.parse().map_err(|_| Invalid::new("kind must be problem, milestone, deletion, change, creation or job"))
    }

    /// The types of the events that notifications of this kind tell about.
    pub const fn event_types(self) -> &'static [&'static str] {
        match self {
            Self::Problem => {
                &["target.down", "target.up", "url.expired", "url.exhausted", "url.suspended", "url.resumed"]
            }
            Self::Milestone => &["milestone.reached"],
            Self::Deletion => &["url.deleted", "url.purged"],
            Self::Change => &["url.updated", "url.activated", "url.deactivated"],
            Self::Creation => &["url.created"],
            Self::Job => &["job.finished"],
        }
    }
}

/// How far the delivery of a notification has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NotificationStatus {
    /// Stored, not yet delivered everywhere.
    Pending,
    /// Delivered to every configured channel.
    Sent,
    /// Given up; the message waits in the dead-letter queue.
    Failed,
}

impl Notification {
    /// The notification that an event makes, or `None` for an event that nobody is told about (a click).
    pub fn from_event(event: &Event) -> Option<Self> {
        let Wording { user, about, message, .. } = wording(&event.detail)?;
        Some(Self {
            id: event.event_id.clone(),
            user: *user,
            workspace: event.workspace_id,
            event_type: event.event_type().to_owned(),
            message,
            about,
            status: NotificationStatus::Pending,
            created_at: event.occurred_at,
            sent_at: None,
            correlation_id: event.correlation_id.clone(),
        })
    }
}

/// Who is told about an event, and in which words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording<'e> {
    /// The person, who is told as long as they are a member of the workspace.
    pub user: &'e UserId,
    /// What they are told about.
    pub about: NotificationSubject,
    /// The subject of the mail.
    pub subject: &'static str,
    /// The sentence to show, or the text of the mail.
    pub message: String,
}

/// The wording of an event where only its person sees it, or `None` if nobody is told about it.
pub fn wording(detail: &EventDetail) -> Option<Wording<'_>> {
    worded(detail, ShortCode::to_string, TargetUrl::to_string, |by| by.called().to_owned())
}

/// The wording of an event in a mail, which shows short URLs, and of where they lead only the host: somebody else may have written
/// the rest. What others call themselves is as they like as well, so it is shown as `called` makes it.
pub fn mail_wording(
    detail: &EventDetail,
    short_url: impl Fn(&ShortCode) -> String,
    called: impl Fn(&Changer) -> String,
) -> Option<Wording<'_>> {
    worded(detail, short_url, TargetUrl::host, called)
}

/// The wording of an event with links, URLs and people as these functions show them.
fn worded(
    detail: &EventDetail,
    link: impl Fn(&ShortCode) -> String,
    url: impl Fn(&TargetUrl) -> String,
    called: impl Fn(&Changer) -> String,
) -> Option<Wording<'_>> {
    let of_link = |link: &LinkId| NotificationSubject::Link(link.code.clone());
    let of_target = |target: &TargetId| NotificationSubject::Target(target.clone());
    let (user, about, subject, message) = match detail {
        EventDetail::UrlUpdated(updated) => {
            let by = other_than(&updated.user_id, updated.by.as_ref())?;
            let message = format!("Your short link {} was changed by {}.", link(&updated.link.code), called(by));
            (&updated.user_id, of_link(&updated.link), "Your short link was changed", message)
        }
        EventDetail::UrlActivated(switched) | EventDetail::UrlDeactivated(switched) => {
            let (done, subject) = match detail {
                EventDetail::UrlActivated(_) => ("enabled", "Your short link was enabled"),
                _ => ("disabled", "Your short link was disabled"),
            };
            let by = called(other_than(&switched.user_id, switched.by.as_ref())?);
            let message = format!("Your short link {} was {done} by {by}.", link(&switched.link.code));
            (&switched.user_id, of_link(&switched.link), subject, message)
        }
        EventDetail::UrlClicked(_)
        | EventDetail::UrlExtended(_)
        | EventDetail::UrlUnwatched(_)
        | EventDetail::UrlRemoved(_) => return None,
        EventDetail::UrlSuspended(UrlSuspended { link: LinkEvent { link: id, user_id, .. }, reasons }) => {
            let why = reasons.iter().next()?.in_words();
            let message = format!("Your short link {} was suspended: {why}.", link(&id.code));
            (user_id, of_link(id), "Your short link was suspended", message)
        }
        EventDetail::UrlResumed(resumed) => {
            // Of a link that something else still suspends, there is no good news.
            let UrlCreated { link: id, user_id, .. } =
                Some(&resumed.link).filter(|_| !resumed.reasons.is_empty() && !resumed.still_suspended)?;
            let message = format!("The suspension of your short link {} was lifted.", link(&id.code));
            (user_id, of_link(id), "Your short link is no longer suspended", message)
        }
        EventDetail::UrlCreated(UrlCreated { link: id, user_id, original_url, .. }) => {
            let message = format!("Your short link {} to {} was created.", link(&id.code), url(original_url));
            (user_id, of_link(id), "Your short link is ready", message)
        }
        EventDetail::UrlDeleted(UrlDeleted { link: id, user_id, original_url, by, .. }) => {
            let (code, by) = (link(&id.code), by_other(user_id, by.as_ref(), called));
            let message = format!("Your short link {code} to {} was deleted{by}.", url(original_url));
            (user_id, of_link(id), "Your short link was deleted", message)
        }
        EventDetail::UrlExpired(LinkEvent { link: id, user_id, .. }) => {
            let message = format!("Your short link {} has expired.", link(&id.code));
            (user_id, of_link(id), "Your short link has expired", message)
        }
        EventDetail::UrlExhausted(UrlExhausted { link: id, user_id, max_clicks }) => {
            let (code, limit) = (link(&id.code), in_clicks(max_clicks.get()));
            let message = format!("Your short link {code} has reached its limit of {limit}.");
            (user_id, of_link(id), "Your short link has reached its click limit", message)
        }
        EventDetail::UrlPurged(LinkEvent { link: id, user_id, by, .. }) => {
            let (code, by) = (link(&id.code), by_other(user_id, by.as_ref(), called));
            let message = format!("Your short link {code} was purged with its statistics{by}.");
            (user_id, of_link(id), "Your short link was purged with its statistics", message)
        }
        EventDetail::MilestoneReached(reached) => {
            let message = format!("Your short link {} has reached {}.", link(&reached.link.code), clicks(reached));
            (&reached.user_id, of_link(&reached.link), "Your short link reached a milestone", message)
        }
        EventDetail::TargetDown(down) => {
            let message = format!("{} is down: {}.", url(&down.url), reason(down));
            (&down.user_id, of_target(&down.target_id), "A monitored URL is down", message)
        }
        EventDetail::TargetUp(TargetUp { target_id, url: target, user_id, down_since }) => {
            let message = format!("{} is back up. It was down since {down_since}.", url(target));
            (user_id, of_target(target_id), "A monitored URL is back up", message)
        }
        EventDetail::JobFinished(finished) => {
            let message = format!("Your job to {} {}.", finished.work.in_words(), ending(finished, called));
            (&finished.user_id, NotificationSubject::Job(finished.job_id), "Your job has finished", message)
        }
    };
    Some(Wording { user, about, subject, message })
}

/// Who has changed something of this person's, unless they have done it themselves.
fn other_than<'e>(owner: &UserId, by: Option<&'e Changer>) -> Option<&'e Changer> {
    by.filter(|by| by.user != *owner)
}

/// The end of a sentence that says who has done it, unless its person has.
fn by_other(owner: &UserId, by: Option<&Changer>, called: impl Fn(&Changer) -> String) -> String {
    other_than(owner, by).map_or_else(String::new, |by| format!(" by {}", called(by)))
}

fn reason(down: &TargetDown) -> String {
    match (down.error, down.status_code) {
        (Some(error), _) => error.describe().to_owned(),
        (None, Some(status_code)) => format!("it responded with {status_code}"),
        (None, None) => "it failed twice in a row".to_owned(),
    }
}

/// The milestone, and how many clicks there are if several were counted at once.
fn clicks(MilestoneReached { milestone, total_clicks, .. }: &MilestoneReached) -> String {
    let reached = grouped(*milestone);
    if total_clicks > milestone {
        format!("{reached} clicks ({} now)", grouped(*total_clicks))
    } else {
        format!("{reached} clicks")
    }
}

impl JobFinished {
    /// What the job has done, as `5,000 links changed, 2 failed`.
    pub fn in_words(&self) -> String {
        let links = if self.changed == 1 { "1 link".to_owned() } else { format!("{} links", grouped(self.changed)) };
        let failed = if self.failed == 0 { String::new() } else { format!(", {} failed", grouped(self.failed)) };
        format!("{links} changed{failed}")
    }
}

/// How a job has ended, and what it has done until then.
fn ending(finished: &JobFinished, called: impl Fn(&Changer) -> String) -> String {
    let JobFinished { state, reason, user_id, by, .. } = finished;
    let done = finished.in_words();
    match state {
        JobState::Cancelled => format!("was canceled{}: {done}", by_other(user_id, Some(by), called)),
        JobState::Failed => {
            let reason = reason.unwrap_or(JobFailure::InternalError).sentence();
            format!("failed because {reason}: {done}")
        }
        JobState::Queued | JobState::Running | JobState::Cancelling | JobState::Done => format!("is done: {done}"),
    }
}

fn in_clicks(number: u32) -> String {
    if number == 1 { "1 click".to_owned() } else { format!("{} clicks", grouped(number.into())) }
}

/// 1000000 → `1,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CheckError;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(10), "10");
        assert_eq!(grouped(100), "100");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(10_000_000), "10,000,000");
    }

    #[test]
    fn a_mail_about_a_link_that_ended_says_so_in_its_subject() {
        let (link, user_id) = (LinkId::parse("launch.x7Kf2a").unwrap(), UserId::generate());
        let ended = LinkEvent { link, user_id, by: None, watched_target: None };
        let (expired, purged) = (EventDetail::UrlExpired(ended.clone()), EventDetail::UrlPurged(ended));

        assert_eq!(wording(&expired).unwrap().subject, "Your short link has expired");
        assert_eq!(wording(&purged).unwrap().subject, "Your short link was purged with its statistics");
    }

    #[test]
    fn a_target_that_is_down_says_why() {
        let sentence = |status_code, error| {
            let down = EventDetail::TargetDown(TargetDown {
                target_id: TargetId::parse("t_0000000000000000000007").unwrap(),
                url: TargetUrl::parse("https://example.com/a").unwrap(),
                user_id: UserId::generate(),
                status_code,
                error,
            });
            wording(&down).unwrap().message
        };

        assert_eq!(sentence(Some(503), None), "https://example.com/a is down: it responded with 503.");
        let expected = "https://example.com/a is down: it timed out.";
        assert_eq!(sentence(None, Some(CheckError::Timeout)), expected);
    }

    #[test]
    fn a_target_that_is_up_again_says_since_when_it_was_down() {
        let up = EventDetail::TargetUp(TargetUp {
            target_id: TargetId::parse("t_0000000000000000000007").unwrap(),
            url: TargetUrl::parse("https://example.com/a").unwrap(),
            user_id: UserId::generate(),
            down_since: Timestamp::parse("2026-03-02T14:05:09Z").unwrap(),
        });

        let expected = "https://example.com/a is back up. It was down since 2026-03-02T14:05:09.000Z.";
        assert_eq!(wording(&up).unwrap().message, expected);
    }

    #[test]
    fn a_finished_job_says_in_plain_words_what_came_of_it() {
        let sentence = |work: serde_json::Value, state, (changed, failed), reason| {
            let (job_id, user_id) = (JobId::generate(), UserId::generate());
            let work = serde_json::from_value(work).unwrap();
            let by = Changer::in_person(&user_id);
            let finished = JobFinished { job_id, user_id, by, work, state, changed, failed, reason };
            wording(&EventDetail::JobFinished(Box::new(finished))).unwrap().message
        };
        let rename = serde_json::json!({"kind": "rename_tag", "from": "a", "to": "b", "filter": {"all": true}});
        let archive = serde_json::json!({"kind": "archive", "filter": {"search": "old"}});

        let expected = "Your job to rename the tag a to b is done: 5,000 links changed, 2 failed.";
        assert_eq!(sentence(rename.clone(), JobState::Done, (5_000, 2), None), expected);
        let expected = "Your job to archive links is done: 1 link changed.";
        assert_eq!(sentence(archive.clone(), JobState::Done, (1, 0), None), expected);
        let expected = "Your job to archive links was canceled: 0 links changed.";
        assert_eq!(sentence(archive, JobState::Cancelled, (0, 0), None), expected);
        assert_eq!(
            sentence(rename, JobState::Failed, (7, 0), Some(JobFailure::NoProgress)),
            "Your job to rename the tag a to b failed because it made no progress for an hour: 7 links changed."
        );
    }

    #[test]
    fn a_mail_has_the_short_url_and_only_the_destinations_host() {
        let url = TargetUrl::parse("https://Example.com:8443/win?a=prize#now").unwrap();
        let created = EventDetail::UrlCreated(UrlCreated {
            link: LinkId::parse("launch.x7Kf2a").unwrap(),
            original_url: url.clone(),
            user_id: UserId::generate(),
            expires_at: None,
            watch: false,
            quiet: false,
        });

        let short_url = |code: &ShortCode| format!("https://go.example.com/{code}");
        let mail = mail_wording(&created, short_url, |_| "somebody".into()).unwrap();

        assert_eq!(mail.message, "Your short link https://go.example.com/launch to example.com was created.");
        let shown = wording(&created).unwrap().message;
        assert_eq!(shown, format!("Your short link launch to {url} was created."));
    }
}
