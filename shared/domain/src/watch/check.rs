use serde::{Deserialize, Serialize};

use super::TargetStatus;
use crate::Timestamp;

/// The result of checking a target in one round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// When the round's first request was sent.
    pub checked_at: Timestamp,
    /// The outcome of the last attempt, after retries.
    pub outcome: CheckOutcome,
    /// Duration of the last attempt in milliseconds.
    pub latency_ms: u64,
}

impl CheckResult {
    /// Whether the check failed: see [`CheckOutcome::is_failure`].
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcome.is_failure()
    }
}

/// The outcome of a check: an HTTP status or an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The target answered with this HTTP status, after redirects.
    Answered(u16),
    /// The check got no HTTP status.
    Failed(CheckError),
}

impl CheckOutcome {
    /// Whether the outcome counts as a failure of the target: an error, or a status of 400 or above.
    ///
    /// 401, 403, 405 and 429 don't count: the server is up and refuses only this client.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Answered(401 | 403 | 405 | 429) => false,
            Self::Answered(status_code) => status_code >= 400,
        }
    }

    /// The HTTP status, if the target answered.
    #[must_use]
    pub fn status_code(self) -> Option<u16> {
        match self {
            Self::Answered(status_code) => Some(status_code),
            Self::Failed(_) => None,
        }
    }

    /// The error, if the target didn't answer.
    #[must_use]
    pub fn error(self) -> Option<CheckError> {
        match self {
            Self::Answered(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}

/// Why a check got no HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckError {
    /// The host name could not be resolved.
    Dns,
    /// No TCP connection could be opened.
    Connect,
    /// The TLS handshake failed or the certificate is invalid.
    Tls,
    /// The attempt timed out.
    Timeout,
    /// An address of the host is not public, so no request was sent.
    NotPublic,
    /// The URL's port may not be fetched, so no request was sent.
    PortNotAllowed,
    /// The target redirects more often than is followed.
    TooManyRedirects,
    /// A redirect's location is not an http or https URL, or is the shortener itself.
    InvalidRedirect,
    /// Any other error, such as a response that is not HTTP.
    Other,
}

impl CheckError {
    /// The error's name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::NotPublic => "not_public",
            Self::PortNotAllowed => "port_not_allowed",
            Self::TooManyRedirects => "too_many_redirects",
            Self::InvalidRedirect => "invalid_redirect",
            Self::Other => "other",
        }
    }

    /// Describes the error in words, as the last clause of a sentence about the target.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Dns => "its host name could not be resolved",
            Self::Connect => "no connection could be made",
            Self::Tls => "no secure connection could be made",
            Self::Timeout => "it did not answer in time",
            Self::NotPublic => "its address is not public",
            Self::PortNotAllowed => "its port is not allowed",
            Self::TooManyRedirects => "it redirects too often",
            Self::InvalidRedirect => "it redirects to an address that can't be followed",
            Self::Other => "it gave no valid answer",
        }
    }
}

/// The target's status after a round: up after a success, down after two failures in a row, unchanged after a first failure.
#[must_use]
pub fn next_status(status: TargetStatus, previous_failed: bool, failed: bool) -> TargetStatus {
    match (failed, previous_failed) {
        (false, _) => TargetStatus::Up,
        (true, true) => TargetStatus::Down,
        (true, false) => status,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_status_of_400_or_above_is_a_failure_unless_only_this_client_is_refused() {
        for good in [200, 204, 301, 304, 401, 403, 405, 429] {
            assert!(!CheckOutcome::Answered(good).is_failure(), "{good}");
        }
        for failed in [400, 402, 404, 408, 410, 451, 499, 500, 503, 599, 999] {
            assert!(CheckOutcome::Answered(failed).is_failure(), "{failed}");
        }
        assert!(CheckOutcome::Failed(CheckError::Timeout).is_failure());
    }

    #[test]
    fn errors_are_stored_as_the_api_spells_them() {
        for error in [
            CheckError::Dns,
            CheckError::Connect,
            CheckError::Tls,
            CheckError::Timeout,
            CheckError::NotPublic,
            CheckError::PortNotAllowed,
            CheckError::TooManyRedirects,
            CheckError::InvalidRedirect,
            CheckError::Other,
        ] {
            assert_eq!(serde_json::to_value(error).unwrap(), error.as_str());
        }
    }

    proptest! {
        /// The status by its definition, from the whole history instead of the last two rounds.
        #[test]
        fn the_status_follows_from_the_last_rounds(rounds in prop::collection::vec(any::<bool>(), 0..20)) {
            let (mut status, mut previous) = (TargetStatus::Pending, false);
            for failed in &rounds {
                status = next_status(status, previous, *failed);
                previous = *failed;
            }

            let last_good = rounds.iter().rposition(|failed| !failed);
            let last_two_failed = rounds.windows(2).rposition(|pair| pair == [true, true]).map(|start| start + 1);
            let expected = match (last_good, last_two_failed) {
                (None, None) => TargetStatus::Pending,
                (good, down) if good > down => TargetStatus::Up,
                _ => TargetStatus::Down,
            };
            prop_assert_eq!(status, expected);
        }
    }
}
