use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};

use super::{CanonicalUrl, HostShard, TargetMark};
use crate::{ALPHABET, Invalid, TargetUrl, Timestamp, UserId, WorkspaceId, validated::string_newtype};

/// The id of a target, a monitored URL: `t_` and 22 characters, the digit of its host shard and 21 of `[0-9A-Za-z]`.
///
/// The 21 are 120 bits of a SHA-256 of workspace and canonical URL. So a URL has one target per workspace, and its id can be
/// computed without a lookup.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct TargetId(String);

impl TargetId {
    const PREFIX: &str = "t_";
    /// Number of base62 digits of a 120-bit number: 62²¹ > 2¹²⁵.
    const DIGITS: usize = 21;
    /// How many bits the number of an id has. Whoever looks for a random place among ids takes a number of as many.
    pub const BITS: u32 = 120;

    /// The target id of a canonical URL in a workspace.
    pub fn of(workspace: &WorkspaceId, url: &CanonicalUrl) -> Self {
        let digest = Sha256::new().chain_update(workspace.to_string()).chain_update("\n").chain_update(url.as_str());
        let number = digest.finalize().into_iter().take(16).fold(0, |number, byte| number << 8 | u128::from(byte));
        Self::in_shard(HostShard::of(&url.host()), number >> (u128::BITS - Self::BITS))
    }

    /// The target id of a URL in a workspace.
    ///
    /// # Errors
    /// When the URL has no canonical form: see [`CanonicalUrl::of`].
    pub fn of_url(workspace: &WorkspaceId, url: &TargetUrl) -> Result<Self, Invalid> {
        Ok(Self::of(workspace, &CanonicalUrl::of(url)?))
    }

    /// Encodes a number of up to 125 bits as an id. The ids of a host shard sort like their numbers, so a random number of
    /// [`Self::BITS`] bits is a random position among those of URLs.
    pub fn in_shard(shard: HostShard, number: u128) -> Self {
        let mut digits = [ALPHABET[0]; Self::DIGITS];
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[usize::try_from(rest % 62).unwrap_or_default()];
            rest /= 62;
        }
        let text: String = digits.into_iter().map(char::from).collect();
        Self(format!("{}{shard}{text}", Self::PREFIX))
    }

    /// Parses an id.
    ///
    /// # Errors
    /// When the text is not `t_`, a digit of `[0-9a-f]` and 21 characters of `[0-9A-Za-z]`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut digits = text.strip_prefix(Self::PREFIX).unwrap_or_default().chars();
        let has_shard = digits.next().and_then(HostShard::parse).is_some();
        let rest = digits.as_str();
        let is_id = has_shard && rest.len() == Self::DIGITS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Invalid::unless(is_id, "a target's id is t_, a digit of 0-9 and a-f, and 21 characters of 0-9, A-Z and a-z")?;
        Ok(Self(text.to_owned()))
    }

    /// The digit of the host shard in which the target is stored and checked.
    pub fn shard_digit(&self) -> &str {
        self.0.get(Self::PREFIX.len()..=Self::PREFIX.len()).unwrap_or_default()
    }
}

string_newtype!(TargetId);

/// A target: a URL that a workspace monitors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The target's id, derived from workspace and canonical URL.
    #[serde(rename = "target_id")]
    pub id: TargetId,
    /// The workspace that owns the target.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The URL as it was first given; checks fetch this form.
    pub url: TargetUrl,
    /// The canonical form, by which registering the same URL again finds this target.
    pub canonical_url: CanonicalUrl,
    /// When the target was created.
    pub created_at: Timestamp,
    /// The user who is notified when the target goes down or up: the first who registered it, or until somebody has, the
    /// creator of the first link that watches it.
    #[serde(rename = "user_id")]
    pub owner: UserId,
    /// Whether the target was registered directly, and not only watched by links.
    pub registered: bool,
    /// Number of links that watch the target.
    pub watchers: u64,
    /// Who created the workspace, by whom targets are counted and take turns.
    #[serde(rename = "creator")]
    pub workspace_creator: UserId,
    /// The current status.
    pub status: TargetStatus,
    /// When the current status began.
    pub status_since: Timestamp,
}

impl Target {
    /// A new target: pending, not registered, without watchers. Its owner is the creator of its workspace as well, unless that is
    /// changed.
    ///
    /// # Errors
    /// When the URL has no canonical form: see [`CanonicalUrl::of`].
    pub fn new(url: TargetUrl, workspace: WorkspaceId, owner: UserId, now: Timestamp) -> Result<Self, Invalid> {
        let canonical_url = CanonicalUrl::of(&url)?;
        Ok(Self {
            id: TargetId::of(&workspace, &canonical_url),
            workspace,
            url,
            canonical_url,
            created_at: now,
            owner,
            registered: false,
            watchers: 0,
            workspace_creator: owner,
            status: TargetStatus::Pending,
            status_since: now,
        })
    }

    /// What tells the target's results from others.
    pub fn mark(&self) -> TargetMark {
        TargetMark::of(&self.id, self.created_at)
    }
}

/// Whether a target is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TargetStatus {
    /// Not known yet: no check has succeeded, and no two in a row have failed.
    Pending,
    /// A check has succeeded, and no two in a row have failed since.
    Up,
    /// Checks have failed in two ticks in a row, and in all ticks since.
    Down,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::Host;

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

    /// Stored items are found by their id, so the derivation must never change.
    #[test]
    fn the_id_of_a_url_never_changes_and_names_its_host_shard() {
        let workspace = WorkspaceId::parse("0198c0de-0000-7000-8000-000000000002").unwrap();

        let id = id_of(&workspace, "https://example.com/");

        assert_eq!(id.as_str(), "t_31PDft0Qn5JFhOrB7XF3R5");
        let shard = HostShard::of(&Host::parse("example.com").unwrap()).to_string();
        for url in ["https://example.com/b", "http://EXAMPLE.com.:8080/a?b"] {
            assert_eq!(id_of(&workspace, url).shard_digit(), shard);
        }
    }

    #[test]
    fn an_id_in_another_form_is_refused() {
        let id = TargetId::in_shard(HostShard::all().last().unwrap(), (1 << 125) - 1);

        assert_eq!(TargetId::parse(id.as_str()), Ok(id));
        for refused in [
            "",
            "t_",
            "t_123",
            "0000000000000000000000",
            "t_000000000000000000000/",
            "t_00000000000000000000é",
            "t_g000000000000000000000",
            "t_A000000000000000000000",
            "t_00000000000000000000000",
        ] {
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

    #[test]
    fn the_ids_of_urls_are_spread_evenly_over_their_host_shard() {
        let workspace = WorkspaceId::generate();
        let ids: Vec<_> = (0..1_000).map(|page| id_of(&workspace, &format!("https://example.com/{page}"))).collect();
        let shard =
            HostShard::of(&CanonicalUrl::of(&TargetUrl::parse("https://example.com/").unwrap()).unwrap().host());
        let before = |number: u128| ids.iter().filter(|id| **id < TargetId::in_shard(shard, number)).count();

        assert_eq!((before(0), before(1 << TargetId::BITS)), (0, ids.len()));
        assert!((400..600).contains(&before(1 << (TargetId::BITS - 1))), "{}", before(1 << (TargetId::BITS - 1)));
    }

    proptest! {
        #[test]
        fn ids_of_a_shard_sort_like_their_numbers(left in 0_u128..1 << 125, right in 0_u128..1 << 125, shard in 0_usize..16) {
            let shard = HostShard::all().nth(shard).unwrap();
            let (one, other) = (TargetId::in_shard(shard, left), TargetId::in_shard(shard, right));

            prop_assert_eq!(one.cmp(&other), left.cmp(&right));
            prop_assert_eq!(one.shard_digit(), shard.to_string());
            prop_assert_eq!(TargetId::parse(one.as_str()), Ok(one));
        }
    }
}
