use std::time::Duration;

use crate::{EmailAddress, Invalid, ShortCode, TargetUrl, Timestamp, UserId, WorkspaceId};

/// A short link with everything that its owner sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The code, unique over all workspaces.
    pub code: ShortCode,
    /// Where it leads.
    pub target: TargetUrl,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceId,
    /// Who created it and is notified about it.
    pub owner: UserId,
    /// The owner's address when the link was created.
    pub owner_email: EmailAddress,
    /// When it was created.
    pub created_at: Timestamp,
    /// From this moment on it doesn't redirect.
    pub expires_at: Option<Timestamp>,
    /// A name for people.
    pub title: Option<String>,
    /// A note for people.
    pub description: Option<String>,
    /// Labels to filter by.
    pub tags: Vec<String>,
    /// Whether its owner wants it to work.
    pub state: LinkState,
}

/// What the owner has decided about a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// It redirects until it expires.
    Active,
    /// It was deactivated at this moment and doesn't redirect any more.
    Deleted(Timestamp),
}

/// What a visitor gets at a given moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkStatus {
    /// A redirect.
    Active,
    /// 410: the owner deleted it.
    Deleted,
    /// 410: its time is over.
    Expired,
}

impl LinkStatus {
    /// The status as the API spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deleted => "deleted",
            Self::Expired => "expired",
        }
    }

    fn at(now: Timestamp, state: LinkState, expires_at: Option<Timestamp>) -> Self {
        match state {
            LinkState::Deleted(_) => Self::Deleted,
            LinkState::Active if expires_at.is_some_and(|expiry| expiry <= now) => Self::Expired,
            LinkState::Active => Self::Active,
        }
    }
}

impl Link {
    /// How long DynamoDB keeps an expired link, so that clocks which differ can't make it vanish early.
    pub const EXPIRY_GRACE: Duration = Duration::from_secs(3_600);

    /// The longest title in characters.
    pub const MAX_TITLE: usize = 500;
    /// The longest description in characters.
    pub const MAX_DESCRIPTION: usize = 2_000;

    /// What a visitor gets at this moment.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        LinkStatus::at(now, self.state, self.expires_at)
    }

    /// Trims tags and drops repetitions: at most 20, each of 1–50 characters.
    ///
    /// # Errors
    /// When there are more, or one is empty or longer.
    pub fn parse_tags(given: &[&str]) -> Result<Vec<String>, Invalid> {
        let mut tags = Vec::with_capacity(given.len());
        for tag in given.iter().map(|tag| tag.trim()) {
            if !(1..=50).contains(&tag.chars().count()) {
                return Err(Invalid::new("each of the tags must have 1–50 characters"));
            }
            if !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        if tags.len() > 20 {
            return Err(Invalid::new("tags must be at most 20"));
        }
        Ok(tags)
    }
}

/// The part of a link that a redirect reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectTarget {
    /// The code.
    pub code: ShortCode,
    /// Where it leads.
    pub target: TargetUrl,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceId,
    /// Who is told about its milestones.
    pub owner: UserId,
    /// From this moment on it doesn't redirect.
    pub expires_at: Option<Timestamp>,
    /// Whether its owner wants it to work.
    pub state: LinkState,
}

impl RedirectTarget {
    /// What a visitor gets at this moment.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> LinkStatus {
        LinkStatus::at(now, self.state, self.expires_at)
    }

    /// How long a browser may remember the redirect: 90 s, or until the link expires if that is sooner.
    #[must_use]
    pub fn cacheable_for(&self, now: Timestamp) -> Duration {
        const LONGEST: Duration = Duration::from_secs(90);
        self.expires_at.map_or(LONGEST, |expiry| now.until(expiry).min(LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(expires_at: Option<Timestamp>, state: LinkState) -> RedirectTarget {
        RedirectTarget {
            code: ShortCode::parse("abcd").unwrap(),
            target: TargetUrl::parse("https://example.com").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            expires_at,
            state,
        }
    }

    #[test]
    fn a_link_expires_in_the_very_moment() {
        let expiry = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let link = target(Some(expiry), LinkState::Active);

        assert_eq!(link.status(expiry.minus(Duration::from_millis(1))), LinkStatus::Active);
        assert_eq!(link.status(expiry), LinkStatus::Expired);
    }

    #[test]
    fn a_deleted_link_stays_deleted_when_it_also_expires() {
        let now = Timestamp::now();

        assert_eq!(target(Some(now), LinkState::Deleted(now)).status(now), LinkStatus::Deleted);
    }

    #[test]
    fn tags_are_trimmed_and_counted_once() {
        assert_eq!(Link::parse_tags(&[" news ", "news", "2026"]), Ok(vec!["news".to_owned(), "2026".to_owned()]));
        assert!(Link::parse_tags(&[" "]).is_err());
        assert!(Link::parse_tags(&[&"x".repeat(51)]).is_err());
        let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
        assert!(Link::parse_tags(&many.iter().map(String::as_str).collect::<Vec<_>>()).is_err());
    }

    #[test]
    fn a_browser_never_keeps_a_redirect_past_expiry() {
        let now = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let in_seconds = |seconds| target(Some(now.plus(Duration::from_secs(seconds))), LinkState::Active);

        assert_eq!(target(None, LinkState::Active).cacheable_for(now).as_secs(), 90);
        assert_eq!(in_seconds(600).cacheable_for(now).as_secs(), 90);
        assert_eq!(in_seconds(7).cacheable_for(now).as_secs(), 7);
    }
}
