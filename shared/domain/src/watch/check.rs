use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{TargetId, TargetStatus};
use crate::Timestamp;

/// What tells a target's results from others: 8 bytes of a digest of its id and its time of creation. A target that is registered
/// again has the same id, but none of the results of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetMark([u8; 8]);

impl TargetMark {
    /// The mark of a target.
    pub fn of(id: &TargetId, created_at: Timestamp) -> Self {
        let digest = Sha256::new().chain_update(id.as_str()).chain_update("\n").chain_update(created_at.to_string());
        Self(digest.finalize().first_chunk().copied().unwrap_or_default())
    }

    /// The mark's bytes, as results are stored with.
    pub fn bytes(self) -> [u8; 8] {
        self.0
    }
}

impl From<[u8; 8]> for TargetMark {
    fn from(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

/// The result of checking a target in one tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// When the tick's first request was sent.
    pub checked_at: Timestamp,
    /// The outcome of the last attempt, after retries.
    pub outcome: CheckOutcome,
    /// Duration of the last attempt in milliseconds.
    pub latency_ms: u64,
}

impl CheckResult {
    /// Whether the check failed: see [`CheckOutcome::is_failure`].
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
    /// 401, 403, 405, 429 and 999 don't count: the server is up and refuses only this client. Some sites answer 999 to programs.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Answered(401 | 403 | 405 | 429 | 999) => false,
            Self::Answered(status_code) => status_code >= 400,
        }
    }

    /// The HTTP status, if the target answered.
    pub fn status_code(self) -> Option<u16> {
        match self {
            Self::Answered(status_code) => Some(status_code),
            Self::Failed(_) => None,
        }
    }

    /// The error, if the target didn't answer.
    pub fn error(self) -> Option<CheckError> {
        match self {
            Self::Answered(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}

/// Why a check got no HTTP status. Stored results have its number, so numbers stay what they are, and below those of statuses.
#[repr(u16)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::FromRepr, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CheckError {
    /// The host name could not be resolved.
    Dns = 1,
    /// No TCP connection could be opened.
    Connect = 2,
    /// The TLS handshake failed for a reason that has no class of its own.
    Tls = 3,
    /// The certificate doesn't lead to a trusted authority, mostly since the server doesn't send the certificates between.
    TlsChain = 9,
    /// The certificate isn't valid any more, or not yet.
    TlsExpired = 10,
    /// The certificate is for other names.
    TlsName = 11,
    /// The certificate is invalid in another way, such as revoked.
    TlsCertificate = 12,
    /// The server speaks no TLS, or no version or cipher of it that is still safe.
    TlsProtocol = 13,
    /// The attempt timed out.
    Timeout = 4,
    /// An address of the host is not public, so no request was sent.
    NotPublic = 5,
    /// The URL's port may not be fetched, so no request was sent.
    PortNotAllowed = 6,
    /// The target redirects more often than is followed.
    TooManyRedirects = 7,
    /// A redirect's location is not an http or https URL, or is the shortener itself.
    InvalidRedirect = 8,
    /// Any other error, such as a response that is not HTTP.
    Other = 0,
}

impl CheckError {
    /// Describes the error in words, as the last clause of a sentence about the target.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Dns => "its DNS lookup failed",
            Self::Connect => "the connection failed",
            Self::Tls => "the TLS connection failed",
            Self::TlsChain => "its certificate chain is incomplete or not trusted",
            Self::TlsExpired => "its certificate has expired or is not valid yet",
            Self::TlsName => "its certificate is for another host name",
            Self::TlsCertificate => "its certificate is not valid",
            Self::TlsProtocol => "it has no TLS or an outdated version",
            Self::Timeout => "it timed out",
            Self::NotPublic => "its address is not public",
            Self::PortNotAllowed => "its port is not allowed",
            Self::TooManyRedirects => "it has too many redirects",
            Self::InvalidRedirect => "it has an invalid redirect",
            Self::Other => "its response is invalid",
        }
    }
}

/// How a target stands: its status, and whether its latest tick has failed and may be the first of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct TargetHealth {
    /// The status.
    pub status: TargetStatus,
    /// The tick that failed while the target wasn't down. Success clears it, but for a success that could not be noted.
    pub failed_slot: Option<Timestamp>,
}

impl TargetHealth {
    /// How the target stands after a tick that succeeded.
    #[must_use]
    pub fn after_success(self) -> Self {
        Self { status: TargetStatus::Up, failed_slot: None }
    }

    /// How the target stands after the tick of a slot that failed: down with the second of two in a row. `has_succeeded` says
    /// whether the latest tick since the first has succeeded, so that this one is the first.
    #[must_use]
    pub fn after_failure(self, slot: Timestamp, has_succeeded: bool) -> Self {
        match (self.status, self.failed_slot) {
            (TargetStatus::Down, _) => self,
            (_, Some(failed)) if failed >= slot => self,
            (_, Some(_)) if !has_succeeded => Self { status: TargetStatus::Down, failed_slot: None },
            (status, _) => Self { status, failed_slot: Some(slot) },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn statuses_from_400_are_failures_unless_only_this_client_is_refused() {
        for good in [200, 204, 301, 304, 401, 403, 405, 429, 999] {
            assert!(!CheckOutcome::Answered(good).is_failure(), "{good}");
        }
        for failed in [400, 402, 404, 408, 410, 451, 499, 500, 503, 599, 998] {
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
            CheckError::TlsChain,
            CheckError::TlsExpired,
            CheckError::TlsName,
            CheckError::TlsCertificate,
            CheckError::TlsProtocol,
            CheckError::Timeout,
            CheckError::NotPublic,
            CheckError::PortNotAllowed,
            CheckError::TooManyRedirects,
            CheckError::InvalidRedirect,
            CheckError::Other,
        ] {
            assert_eq!(serde_json::to_value(error).unwrap(), <&str>::from(error));
        }
    }

    proptest! {
        /// The status by its definition, from the whole history, also if some successes could not be noted.
        #[test]
        fn the_status_follows_from_the_last_ticks(ticks in prop::collection::vec((any::<bool>(), any::<bool>()), 0..20)) {
            let slot = |number: usize| Timestamp::from_unix_seconds(i64::try_from(number).unwrap() * 15).unwrap();
            let mut health = TargetHealth { status: TargetStatus::Pending, failed_slot: None };
            let mut last_good = None;
            for (number, (failed, is_lost)) in ticks.iter().enumerate() {
                if *failed {
                    let has_succeeded = health.failed_slot.is_some_and(|failed| last_good > Some(failed));
                    health = health.after_failure(slot(number), has_succeeded);
                } else {
                    last_good = Some(slot(number));
                    // Losing what else a success says would be a change of status, which is made by the next one.
                    let is_noted = !is_lost || health.status != TargetStatus::Up;
                    health = if is_noted { health.after_success() } else { health };
                }
            }

            let last_good = ticks.iter().rposition(|(failed, _)| !failed);
            let last_two_failed = ticks.windows(2).rposition(|pair| pair[0].0 && pair[1].0).map(|start| start + 1);
            let expected = match (last_good, last_two_failed) {
                (None, None) => TargetStatus::Pending,
                (good, down) if good > down => TargetStatus::Up,
                _ => TargetStatus::Down,
            };
            prop_assert_eq!(health.status, expected);
        }
    }
}
