//! Limits on mails that somebody can have sent to an address by asking for them.

use std::time::Duration;

use crate::Timestamp;

/// How many mails one address gets because somebody asked for them.
#[derive(Debug, Clone, Copy)]
pub struct MailLimit;

impl MailLimit {
    /// The number of mails in a window.
    pub const MAILS: u32 = 5;
    /// Length of a window, which begins with a mail.
    pub const WINDOW: Duration = Duration::from_secs(60 * 60);
    /// The shortest time between two mails.
    pub const PAUSE: Duration = Duration::from_secs(60);

    /// When the window of a mail ends that is sent now, if it begins with it.
    #[must_use]
    pub fn window_ends(now: Timestamp) -> Timestamp {
        now.plus(Self::WINDOW)
    }

    /// When the next mail may be sent after one now.
    #[must_use]
    pub fn next(now: Timestamp) -> Timestamp {
        now.plus(Self::PAUSE)
    }
}
