//! Renewing a session without the password, by a refresh token that is good for one use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{CountryCode, IpHash, SessionId, Timestamp, UserId, lifetimes};

/// For how long the refresh token before the latest one still leads to the latest one: two tabs may ask at the same moment, and
/// an answer may be lost.
const REPEATS: Duration = Duration::from_secs(30);

/// What a refresh token says: which session it renews, and how often that was renewed before the token was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshToken {
    /// Whose session it is.
    pub user: UserId,
    /// The session.
    pub session: SessionId,
    /// The number of the token. The first one of a session has 1.
    pub generation: u64,
}

impl RefreshToken {
    /// The first refresh token of a session.
    pub fn first_of(user: UserId, session: SessionId) -> Self {
        Self { user, session, generation: 1 }
    }

    /// The refresh token that takes the place of this one.
    #[must_use]
    pub fn successor(self) -> Self {
        Self { generation: self.generation.saturating_add(1), ..self }
    }
}

/// Where somebody has signed in, in words by which they recognise it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInPlace {
    /// The browser and its system, such as `Firefox on Linux`; `None` for a program.
    pub device: Option<String>,
    /// The country, if a trusted edge has said it.
    pub country: Option<CountryCode>,
}

/// A session that lasts, as its person sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastingSession {
    /// The session.
    pub id: SessionId,
    /// Where it began.
    pub place: SignInPlace,
    /// When it was renewed last; `None` if it can't be renewed.
    pub renewed_at: Option<Timestamp>,
    /// When it ends, unless it is renewed.
    pub ends_at: Timestamp,
}

/// How far the refresh tokens of a session have come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenewableSession {
    /// The number of the latest refresh token.
    pub generation: u64,
    /// When that was made.
    pub renewed_at: Timestamp,
    /// The hash of the network it was given to.
    pub address: IpHash,
    /// When the session ends however often it is renewed; `None` if it may go on.
    pub until: Option<Timestamp>,
}

/// What follows from a refresh token that somebody has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// It is the latest one: its successor is made.
    Next,
    /// Its successor was made a moment ago, and is given once more.
    Again,
    /// Its successor was made long ago. Somebody has a copy of it, so the session ends.
    Reused,
    /// The session was not renewed for too long, or has no such token.
    Over,
}

impl RenewableSession {
    /// What follows from the refresh token with this number at this time.
    pub fn renewal(&self, offered: u64, now: Timestamp) -> Renewal {
        if offered > self.generation || now >= self.ends_at() {
            Renewal::Over
        } else if offered == self.generation {
            Renewal::Next
        } else if offered + 1 == self.generation && now < self.renewed_at.plus(REPEATS) {
            Renewal::Again
        } else {
            Renewal::Reused
        }
    }

    /// Until when the session can be renewed.
    pub fn ends_at(&self) -> Timestamp {
        ends_at(self.renewed_at.plus(lifetimes::RENEWABLE_SESSIONS), self.until)
    }
}

/// When something of a session ends that would end then, if the session ends sooner.
pub fn ends_at(then: Timestamp, until: Option<Timestamp>) -> Timestamp {
    until.map_or(then, |until| then.min(until))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Salt;

    fn session(generation: u64) -> (RenewableSession, Timestamp) {
        let (renewed_at, salt) = (Timestamp::now(), Salt::parse(&"salt".repeat(8)).unwrap());
        (
            RenewableSession { generation, renewed_at, address: IpHash::of("203.0.113.9", &salt), until: None },
            renewed_at,
        )
    }

    #[test]
    fn the_latest_token_renews_for_thirty_days_and_not_longer() {
        let (session, made) = session(3);
        let after = |seconds: u64| session.renewal(3, made.plus(Duration::from_secs(seconds)));

        assert_eq!((after(0), after(30 * 86_400 - 1)), (Renewal::Next, Renewal::Next));
        assert_eq!(after(30 * 86_400), Renewal::Over);
        assert_eq!(session.renewal(3, made.minus(Duration::from_secs(5))), Renewal::Next, "by a clock that is behind");
    }

    #[test]
    fn a_session_with_an_end_is_renewed_no_longer() {
        let (session, made) = session(3);
        let session = RenewableSession { until: Some(made.plus(Duration::from_secs(3_600))), ..session };
        let after = |seconds: u64| session.renewal(3, made.plus(Duration::from_secs(seconds)));

        assert_eq!((after(3_599), after(3_600)), (Renewal::Next, Renewal::Over));
    }

    #[test]
    fn the_previous_token_renews_for_half_a_minute_then_ends_the_session() {
        let (session, made) = session(3);
        let after = |millis: u64| session.renewal(2, made.plus(Duration::from_millis(millis)));

        assert_eq!((after(0), after(29_999)), (Renewal::Again, Renewal::Again));
        assert_eq!(after(30_000), Renewal::Reused);
    }

    #[test]
    fn older_tokens_end_the_session_at_once_and_later_ones_say_nothing() {
        let (session, made) = session(3);

        assert_eq!([0, 1].map(|older| session.renewal(older, made)), [Renewal::Reused; 2]);
        assert_eq!([4, u64::MAX].map(|later| session.renewal(later, made)), [Renewal::Over; 2]);
    }
}
