//! API keys, with which programs authenticate.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};
use strum::{Display, EnumString};

use crate::validated::{self, Hidden, digest_in_hex, string_newtype};
use crate::{Invalid, Role, Timestamp, UserId, WorkspaceId, base62, lifetimes};

const LIVE_PREFIX: &str = "lk_live_";

/// Whether `text` is [`LIVE_PREFIX`] followed by this many base62 characters.
fn is_live_key(text: &str, characters: usize) -> bool {
    text.strip_prefix(LIVE_PREFIX)
        .is_some_and(|rest| rest.len() == characters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// An API key in plain text: `lk_live_` and 32 base62 characters, 190 random bits.
///
/// It is shown once, when it is created, and never logged or stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKeySecret(Hidden);

impl ApiKeySecret {
    const RANDOM_CHARACTERS: usize = 32;

    /// Parses text that has the form of a key. Whether the key exists is not checked.
    ///
    /// # Errors
    /// When the text has another form. The error doesn't contain the text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = is_live_key(text, Self::RANDOM_CHARACTERS);
        Invalid::unless(is_valid, "an API key is lk_live_ and 32 characters of 0-9, A-Z and a-z")?;
        Ok(Self(Hidden(text.to_owned())))
    }

    /// Whether somebody seems to mean a key, good or bad, by a text.
    pub fn is_like(text: &str) -> bool {
        text.starts_with(LIVE_PREFIX)
    }

    /// Generates a key with the operating system's random number generator.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate() -> Result<Self, getrandom::Error> {
        Ok(Self(Hidden(format!("{LIVE_PREFIX}{}", base62::random(Self::RANDOM_CHARACTERS)?))))
    }

    /// The key's hash, which is stored instead of the key. A single SHA-256 is enough, since a key has 190 random bits.
    pub fn hash(&self) -> KeyHash {
        KeyHash(hex::encode(Sha256::digest(&self.0.0)))
    }

    /// The key's prefix, by which lists and paths name it.
    pub fn prefix(&self) -> KeyPrefix {
        KeyPrefix(self.0.0[..KeyPrefix::LENGTH].to_owned())
    }

    /// The key in plain text, for the response that creates it.
    pub fn reveal(&self) -> &str {
        &self.0.0
    }
}

/// The SHA-256 of an API key as 64 lower-case hexadecimal digits, by which the key is looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct KeyHash(String);

impl KeyHash {
    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else, such as a key in plain text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("the hash of an API key must be 64 hexadecimal digits");
        digest_in_hex(text).map(Self).ok_or_else(refused)
    }
}

string_newtype!(KeyHash);

/// The first 16 characters of an API key, `lk_live_` and 8 more: its identifier in lists and paths, unique in its workspace.
///
/// The 24 random characters that it leaves out keep the key secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct KeyPrefix(String);

impl KeyPrefix {
    const SHOWN_CHARACTERS: usize = 8;
    const LENGTH: usize = LIVE_PREFIX.len() + Self::SHOWN_CHARACTERS;

    /// Parses `lk_live_` and 8 base62 characters.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = is_live_key(text, Self::SHOWN_CHARACTERS);
        Invalid::unless(is_valid, "the prefix of an API key is lk_live_ and 8 characters of 0-9, A-Z and a-z")?;
        Ok(Self(text.to_owned()))
    }
}

string_newtype!(KeyPrefix);

/// A permission of an API key.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr, Display, EnumString,
)]
#[strum(parse_err_ty = Invalid, parse_err_fn = no_scope)]
pub enum Scope {
    /// Listing links.
    #[strum(serialize = "links:read")]
    LinksRead,
    /// Creating, changing and deleting links.
    #[strum(serialize = "links:write")]
    LinksWrite,
    /// Reading statistics that aren't public.
    #[strum(serialize = "analytics:read")]
    AnalyticsRead,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::LinksRead, Self::LinksWrite, Self::AnalyticsRead];

    /// The lowest role with which a person may do the same.
    pub fn minimum_role(self) -> Role {
        match self {
            Self::LinksRead | Self::AnalyticsRead => Role::Viewer,
            Self::LinksWrite => Role::Member,
        }
    }
}

fn no_scope(_: &str) -> Invalid {
    Invalid::new("scopes must be links:read, links:write or analytics:read")
}

/// The scopes of an API key: at least one, without duplicates, in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<Scope>")]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Parses the names of scopes.
    ///
    /// # Errors
    /// When `names` is empty or has an unknown name.
    pub fn parse(names: &[&str]) -> Result<Self, Invalid> {
        names.iter().map(|name| name.parse::<Scope>()).collect::<Result<BTreeSet<_>, _>>()?.try_into()
    }

    /// Whether `scope` is granted.
    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(Scope::to_string).collect();
        formatter.write_str(&names.join(" "))
    }
}

impl TryFrom<BTreeSet<Scope>> for Scopes {
    type Error = Invalid;

    fn try_from(scopes: BTreeSet<Scope>) -> Result<Self, Invalid> {
        Invalid::when(
            scopes.is_empty(),
            "scopes must have at least one of links:read, links:write and analytics:read",
        )?;
        Ok(Self(scopes))
    }
}

/// The display name of an API key: 1–255 characters.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct KeyName(String);

impl KeyName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = validated::LONGEST_NAME;

    /// Reads a name, which is kept as all texts of people's.
    ///
    /// # Errors
    /// When the name is empty, invisible or longer than 255 characters, or has characters that disguise others.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        validated::name(text).map(Self).map_err(|rule| Invalid::new(format!("name {rule}")))
    }
}

string_newtype!(KeyName);

/// An API key as it is stored: hashed, with its metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// The workspace to which the key gives access.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The key's identifier in lists and paths, unique in the workspace.
    pub prefix: KeyPrefix,
    /// The hash by which the key is looked up.
    #[serde(rename = "key_hash")]
    pub hash: KeyHash,
    /// The display name.
    pub name: KeyName,
    /// The key's permissions.
    pub scopes: Scopes,
    /// The user who created the key and owns the links that it creates.
    pub created_by: UserId,
    /// When the key was created.
    pub created_at: Timestamp,
    /// When the key expires; `None` if never. It is invalid from this moment on.
    pub expires_at: Option<Timestamp>,
    /// When the key was last used, with a precision of [`Self::LAST_USED_PRECISION`]; `None` if never.
    pub last_used_at: Option<Timestamp>,
    /// Since when the key is paused; `None` if it isn't. A paused key opens nothing.
    pub paused_at: Option<Timestamp>,
    /// Since when the workspace is closed; `None` if it isn't. A key of a closed workspace opens nothing.
    pub closed_at: Option<Timestamp>,
    /// The key that is to be used instead, until whose time this one works on; `None` if it wasn't rotated.
    pub rotated_to: Option<KeyPrefix>,
    /// The first of the keys of which this one was made by rotation; `None` if it was made anew.
    pub first_prefix: Option<KeyPrefix>,
}

impl ApiKey {
    /// Maximum number of keys per workspace, expired ones included. Keys that were rotated count with the one that is used instead.
    pub const MAX_PER_WORKSPACE: usize = 100;

    /// Maximum number of keys that come from one by rotation and aren't over, itself included. Revoking one of them ends all.
    pub const MOST_BY_ROTATION: usize = 5;

    /// How long a key works on that was rotated, unless its person says otherwise: programs are given the other one meanwhile.
    pub const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

    /// Precision of [`Self::last_used_at`]: one minute, so that a busy key costs at most one write per minute.
    pub const LAST_USED_PRECISION: Duration = Duration::from_secs(60);

    /// Whether the key has not expired at `now`, and neither is it paused nor its workspace closed.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.paused_at.is_none() && self.closed_at.is_none() && self.expires_at.is_none_or(|expiry| now < expiry)
    }

    /// When the key may be removed from storage; `None` if it never expires. One that was rotated leaves the list with its end, since
    /// the list has the one that is used instead.
    pub fn kept_until(&self) -> Option<Timestamp> {
        match self.rotated_to {
            Some(_) => self.expires_at,
            None => self.expires_at.map(|expiry| expiry.plus(lifetimes::EXPIRED_API_KEYS)),
        }
    }

    /// The name of all keys that come from one by rotation: the prefix of the first.
    pub fn rotation(&self) -> &KeyPrefix {
        self.first_prefix.as_ref().unwrap_or(&self.prefix)
    }

    /// The key that is used instead of this one from now on.
    #[must_use]
    pub fn successor(&self, secret: &ApiKeySecret, now: Timestamp) -> Self {
        let first_prefix = Some(self.rotation().clone());
        let (prefix, hash) = (secret.prefix(), secret.hash());
        Self { prefix, hash, created_at: now, last_used_at: None, first_prefix, ..self.clone() }
    }

    /// When this key ends if it is rotated now: when it is wanted, or after [`Self::OVERLAP`], and not after its own expiry.
    ///
    /// # Errors
    /// When the wanted time is after the expiry.
    pub fn end_of_rotated(&self, wanted: Option<Timestamp>, now: Timestamp) -> Result<Timestamp, Invalid> {
        let is_later = |end: Timestamp| self.expires_at.is_some_and(|expiry| expiry < end);
        let refused = || Invalid::new("expires_at must not be after the key's own expiry").in_field("expires_at");
        match wanted {
            Some(end) if is_later(end) => Err(refused()),
            Some(end) => Ok(end),
            None => Ok(self.expires_at.map_or(now.plus(Self::OVERLAP), |expiry| expiry.min(now.plus(Self::OVERLAP)))),
        }
    }

    /// The role with which the key acts: at most member, which may change only the links of its creator.
    pub fn role(&self) -> Role {
        if self.scopes.contains(Scope::LinksWrite) { Role::Member } else { Role::Viewer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "lk_live_0123456789ABCDEFGHIJabcdefghij01";

    fn key(scopes: &[&str], expires_at: Option<Timestamp>) -> ApiKey {
        let secret = ApiKeySecret::parse(KEY).unwrap();
        ApiKey {
            workspace: WorkspaceId::generate(),
            prefix: secret.prefix(),
            hash: secret.hash(),
            name: KeyName::parse("CI").unwrap(),
            scopes: Scopes::parse(scopes).unwrap(),
            created_by: UserId::generate(),
            created_at: Timestamp::now(),
            expires_at,
            last_used_at: None,
            paused_at: None,
            closed_at: None,
            rotated_to: None,
            first_prefix: None,
        }
    }

    #[test]
    fn a_generated_key_has_the_form_and_no_two_are_alike() {
        let (one, other) = (ApiKeySecret::generate().unwrap(), ApiKeySecret::generate().unwrap());

        assert_eq!(ApiKeySecret::parse(one.reveal()), Ok(one.clone()));
        assert_ne!(one, other);
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn an_invalid_key_is_refused_and_not_part_of_the_error() {
        for refused in [
            "",
            "lk_live_",
            "lk_live_0123456789ABCDEFGHIJabcdefghij0",
            "lk_live_0123456789ABCDEFGHIJabcdefghij012",
            "sk_test_0123456789ABCDEFGHIJabcdefghij01",
            "SK_LIVE_0123456789ABCDEFGHIJabcdefghij01",
            "lk_live_0123456789ABCDEFGHIJabcdefghij0-",
            " lk_live_0123456789ABCDEFGHIJabcdefghij01",
            "lk_live_ä0123456789ABCDEFGHIJabcdefghij",
        ] {
            let error = ApiKeySecret::parse(refused).unwrap_err().to_string();
            assert!(refused.len() < 9 || !error.contains(refused), "{error}");
        }
    }

    #[test]
    fn a_key_shows_its_beginning_and_its_hash_and_nothing_more() {
        let secret = ApiKeySecret::parse(KEY).unwrap();

        assert_eq!(secret.prefix().as_str(), "lk_live_01234567");
        // printf lk_live_0123456789ABCDEFGHIJabcdefghij01 | sha256sum
        assert_eq!(secret.hash().as_str(), "d8570775fdf2093f465057f98bc234286a7d5b9efc4a041a7316369ea60810c3");
        assert_eq!(format!("{secret:?}"), "ApiKeySecret(…)");
        assert_eq!(KeyHash::parse(secret.hash().as_str()), Ok(secret.hash()));
        assert_eq!(KeyPrefix::parse("lk_live_01234567"), Ok(secret.prefix()));
    }

    #[test]
    fn neither_hash_nor_prefix_can_hold_a_key() {
        for refused in [KEY, "", "lk_live_0123456", "lk_live_0123456#"] {
            assert!(KeyHash::parse(refused).is_err(), "{refused}");
            assert!(KeyPrefix::parse(refused).is_err(), "{refused}");
        }
        assert!(KeyHash::parse(&"A".repeat(64)).is_err());
    }

    #[test]
    fn scopes_are_a_set_in_a_fixed_order_and_never_empty() {
        let scopes = Scopes::parse(&["analytics:read", "links:read", "analytics:read"]).unwrap();

        assert_eq!(serde_json::to_value(&scopes).unwrap(), serde_json::json!(["links:read", "analytics:read"]));
        assert!(scopes.contains(Scope::LinksRead) && !scopes.contains(Scope::LinksWrite));
        assert!(Scopes::parse(&[]).is_err());
        assert!(serde_json::from_str::<Scopes>("[]").is_err());
        for name in ["links:delete", "Links:read", "", "*"] {
            let reason = "scopes must be links:read, links:write or analytics:read";
            assert_eq!(Scopes::parse(&["links:read", name]), Err(Invalid::new(reason)));
        }
    }

    #[test]
    fn a_key_that_may_write_is_a_member_and_others_are_viewers() {
        assert_eq!(key(&["links:read", "analytics:read"], None).role(), Role::Viewer);
        assert_eq!(key(&["links:read", "links:write", "analytics:read"], None).role(), Role::Member);
        assert_eq!(Scope::ALL.map(Scope::minimum_role), [Role::Viewer, Role::Member, Role::Viewer]);
    }

    #[test]
    fn a_key_expires_at_its_expiry_and_stays_listed_for_thirty_days() {
        let expiry = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let expiring = key(&["links:read"], Some(expiry));

        assert!(expiring.is_valid_at(expiry.minus(Duration::from_millis(1))));
        assert!(!expiring.is_valid_at(expiry));
        assert_eq!(expiring.kept_until(), Timestamp::parse("2026-04-01T12:00:00Z").ok());
        let lasting = key(&["links:read"], None);
        assert!(lasting.is_valid_at(expiry) && lasting.kept_until().is_none());
        assert!(!ApiKey { paused_at: Some(expiry), ..lasting.clone() }.is_valid_at(expiry));
        assert!(!ApiKey { closed_at: Some(expiry), ..lasting }.is_valid_at(expiry));
    }

    #[test]
    fn a_rotated_key_ends_a_day_later_and_never_after_its_expiry() {
        let (now, hour) = (Timestamp::now(), Duration::from_secs(3_600));
        let (lasting, soon) = (key(&["links:read"], None), key(&["links:read"], Some(now.plus(hour))));

        assert_eq!(lasting.end_of_rotated(None, now), Ok(now.plus(ApiKey::OVERLAP)));
        assert_eq!(soon.end_of_rotated(None, now), Ok(now.plus(hour)));
        let wanted = Some(now.plus(hour * 2));
        assert_eq!(lasting.end_of_rotated(wanted, now), Ok(now.plus(hour * 2)));
        let sentence = Invalid::new("expires_at must not be after the key's own expiry").in_field("expires_at");
        assert_eq!(soon.end_of_rotated(wanted, now), Err(sentence));
    }

    #[test]
    fn keys_that_come_from_one_by_rotation_share_its_name() {
        let (first, now) = (key(&["links:read"], Some(Timestamp::now())), Timestamp::now());
        let [second, third] = [(); 2].map(|()| ApiKeySecret::generate().unwrap());

        let next = first.successor(&second, now);
        assert_eq!((next.prefix.clone(), next.hash.clone()), (second.prefix(), second.hash()));
        assert_eq!((next.expires_at, next.created_at), (first.expires_at, now));
        assert_eq!([next.rotation(), next.successor(&third, now).rotation()], [&first.prefix; 2]);
        let rotated = ApiKey { rotated_to: Some(next.prefix), ..first };
        assert_eq!(rotated.kept_until(), rotated.expires_at);
    }

    #[test]
    fn a_name_has_1_to_255_characters() {
        assert_eq!(KeyName::parse(" CI ").unwrap().as_str(), "CI");
        assert!(KeyName::parse(&"ü".repeat(255)).is_ok());
        for refused in ["", "  ", "a\nb", &"x".repeat(256)] {
            assert!(KeyName::parse(refused).is_err(), "{refused:?}");
        }
    }
}
