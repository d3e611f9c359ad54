use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CanonicalUrl, Shard};
use crate::{ALPHABET, EmailAddress, Invalid, TargetUrl, Timestamp, UserId, WorkspaceId, validated::string_newtype};

/// Identifies a monitored URL: `t_` and 22 characters of `[0-9A-Za-z]`.
///
/// It is derived from the workspace and the canonical URL, so a URL has one target per workspace and no row is needed to find
/// it. Of the 256 bits of the digest it keeps 128: nobody finds two URLs with one id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetId(String);

impl TargetId {
    const PREFIX: &str = "t_";
    /// 62²² > 2¹²⁸.
    const DIGITS: usize = 22;

    /// The id of a URL in a workspace.
    #[must_use]
    pub fn of(workspace: &WorkspaceId, url: &CanonicalUrl) -> Self {
        let digest = Sha256::new().chain_update(workspace.as_str()).chain_update("\n").chain_update(url.as_str());
        let kept = digest.finalize().into_iter().take(16).fold(0, |number, byte| number << 8 | u128::from(byte));
        Self::numbered(kept)
    }

    /// The id of the target that a link to this URL watches.
    ///
    /// # Errors
    /// When the URL's canonical form is too long for a target.
    pub fn of_url(workspace: &WorkspaceId, url: &TargetUrl) -> Result<Self, Invalid> {
        Ok(Self::of(workspace, &CanonicalUrl::of(url)?))
    }

    /// The id with this number: a place among the ids, from which a walk through them can start.
    #[must_use]
    pub fn numbered(number: u128) -> Self {
        let mut digits = [ALPHABET[0]; Self::DIGITS];
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[usize::try_from(rest % 62).unwrap_or_default()];
            rest /= 62;
        }
        let text = digits.into_iter().map(char::from);
        Self(Self::PREFIX.chars().chain(text).collect())
    }

    /// Reads an id.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let digits = text.strip_prefix(Self::PREFIX).unwrap_or_default();
        if digits.len() == Self::DIGITS && digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("a target's id is t_ and 22 characters of 0-9, A-Z and a-z"))
        }
    }

    /// The partition that it is stored in.
    #[must_use]
    pub fn shard(&self) -> Shard {
        Shard::of(self)
    }
}

string_newtype!(TargetId);

/// A monitored URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Derived from the workspace and the canonical URL.
    pub id: TargetId,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceId,
    /// The URL as it was first given: this one is fetched.
    pub url: TargetUrl,
    /// The form by which it is recognised.
    pub canonical_url: CanonicalUrl,
    /// When it was registered.
    pub created_at: Timestamp,
    /// Who is told when it goes down: who registered it first, or who created the first of its links as long as nobody has.
    pub owner: UserId,
    /// The owner's address at that time.
    pub owner_email: EmailAddress,
    /// Whether somebody asked for it by itself, and not only for a link that leads to it.
    pub registered: bool,
    /// How many links watch it.
    pub watchers: u64,
    /// How it is.
    pub status: TargetStatus,
    /// Since when it is so.
    pub status_since: Timestamp,
}

impl Target {
    /// A target that nobody has checked yet, and that nobody watches.
    ///
    /// # Errors
    /// When the URL's canonical form is too long.
    pub fn new(
        url: TargetUrl,
        workspace: WorkspaceId,
        owner: UserId,
        owner_email: EmailAddress,
        now: Timestamp,
    ) -> Result<Self, Invalid> {
        let canonical_url = CanonicalUrl::of(&url)?;
        Ok(Self {
            id: TargetId::of(&workspace, &canonical_url),
            workspace,
            url,
            canonical_url,
            created_at: now,
            owner,
            owner_email,
            registered: false,
            watchers: 0,
            status: TargetStatus::Pending,
            status_since: now,
        })
    }
}

/// How a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetStatus {
    /// Not known yet.
    Pending,
    /// It answers.
    Up,
    /// It has failed twice in a row, and not answered since.
    Down,
}

impl TargetStatus {
    /// The status as the API spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Up => "up",
            Self::Down => "down",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn id_of(workspace: &WorkspaceId, url: &str) -> TargetId {
        TargetId::of(workspace, &CanonicalUrl::of(&TargetUrl::parse(url).unwrap()).unwrap())
    }

    #[test]
    fn one_url_has_one_id_in_a_workspace_and_another_elsewhere() {
        let workspace = WorkspaceId::generate();
        let id = id_of(&workspace, "https://example.com/a");

        assert_eq!(id_of(&workspace, "HTTPS://EXAMPLE.com:443/a/#b"), id);
        assert_ne!(id_of(&workspace, "https://example.com/b"), id);
        assert_ne!(id_of(&WorkspaceId::generate(), "https://example.com/a"), id);
    }

    /// Stored rows are found by it, so it must never change.
    #[test]
    fn the_id_of_a_url_and_its_shard_are_the_same_for_ever() {
        let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();

        let id = id_of(&workspace, "https://example.com/");

        assert_eq!((id.as_str(), id.shard().to_string()), ("t_5o8Sx7mcfvUpCdZv7GABrx", "09".to_owned()));
    }

    #[test]
    fn only_an_id_is_an_id() {
        let id = TargetId::numbered(u128::MAX);

        assert_eq!(TargetId::parse(id.as_str()), Ok(id));
        for refused in
            ["", "t_", "t_123", "0000000000000000000000", "t_000000000000000000000/", "t_00000000000000000000é"]
        {
            assert!(TargetId::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn ten_thousand_urls_have_ten_thousand_ids() {
        let workspace = WorkspaceId::generate();

        let ids: HashSet<_> =
            (0..10_000).map(|page| id_of(&workspace, &format!("https://example.com/{page}"))).collect();

        assert_eq!(ids.len(), 10_000);
    }

    proptest! {
        #[test]
        fn ids_sort_like_their_numbers(left: u128, right: u128) {
            let (one, other) = (TargetId::numbered(left), TargetId::numbered(right));

            prop_assert_eq!(one.cmp(&other), left.cmp(&right));
            prop_assert_eq!(TargetId::parse(one.as_str()), Ok(one));
        }
    }
}
