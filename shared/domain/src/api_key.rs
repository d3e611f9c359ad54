//! API keys: what programs use instead of a token.

use std::{collections::BTreeSet, fmt, time::Duration};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    EmailAddress, Invalid, Role, Timestamp, UserId, WorkspaceId, base62, lifetimes, validated::string_newtype,
};

const MARK: &str = "sk_live_";

/// Whether a text is the mark of a key and so many base62 characters.
fn has_form(text: &str, characters: usize) -> bool {
    text.strip_prefix(MARK)
        .is_some_and(|rest| rest.len() == characters && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// An API key as its owner has it: `sk_live_` and 32 base62 characters, 190 random bits. It is shown once, when it is made,
/// and never printed or stored.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeySecret(String);

impl ApiKeySecret {
    const RANDOM_CHARACTERS: usize = 32;

    /// Accepts what could be a key.
    ///
    /// # Errors
    /// When the text has another form. The error doesn't repeat it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if has_form(text, Self::RANDOM_CHARACTERS) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("an API key is sk_live_ and 32 characters of 0-9, A-Z and a-z"))
        }
    }

    /// A new key, from the operating system's generator.
    ///
    /// # Errors
    /// When the operating system has no randomness to give.
    pub fn generate() -> Result<Self, getrandom::Error> {
        Ok(Self(format!("{MARK}{}", base62::random(Self::RANDOM_CHARACTERS)?)))
    }

    /// What is stored of it. One round of SHA-256 is enough: nobody can try 2¹⁹⁰ keys.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash(hex::encode(Sha256::digest(&self.0)))
    }

    /// What it is recognised by.
    #[must_use]
    pub fn prefix(&self) -> KeyPrefix {
        KeyPrefix(self.0[..KeyPrefix::LENGTH].to_owned())
    }

    /// The key itself, for the one answer that shows it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKeySecret(…)")
    }
}

/// The SHA-256 of a key, as 64 hexadecimal digits: a key is found by it and can't be made from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyHash(String);

impl KeyHash {
    /// Accepts 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else, such as a key that nobody hashed.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("the hash of an API key must be 64 hexadecimal digits"))
        }
    }
}

string_newtype!(KeyHash);

/// The first 16 characters of a key, `sk_live_` and 8 more: its name in lists and paths, unique in its workspace. The 24
/// that it leaves out can't be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyPrefix(String);

impl KeyPrefix {
    const SHOWN_CHARACTERS: usize = 8;
    const LENGTH: usize = MARK.len() + Self::SHOWN_CHARACTERS;

    /// Accepts `sk_live_` and 8 base62 characters.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if has_form(text, Self::SHOWN_CHARACTERS) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("the prefix of an API key is sk_live_ and 8 characters of 0-9, A-Z and a-z"))
        }
    }
}

string_newtype!(KeyPrefix);

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Listing links.
    LinksRead,
    /// Creating, changing and deleting links.
    LinksWrite,
    /// Statistics that aren't public.
    AnalyticsRead,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::LinksRead, Self::LinksWrite, Self::AnalyticsRead];

    /// Reads a scope's name.
    ///
    /// # Errors
    /// When there is no such scope.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| Invalid::new("scopes must be links:read, links:write or analytics:read"))
    }

    /// The scope's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinksRead => "links:read",
            Self::LinksWrite => "links:write",
            Self::AnalyticsRead => "analytics:read",
        }
    }

    /// The least role of a person that allows the same.
    #[must_use]
    pub fn least_role(self) -> Role {
        match self {
            Self::LinksRead | Self::AnalyticsRead => Role::Viewer,
            Self::LinksWrite => Role::Member,
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.as_str().to_owned()
    }
}

/// The scopes of a key: at least one, each once, always in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<Scope>", into = "BTreeSet<Scope>")]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Reads scopes by their names.
    ///
    /// # Errors
    /// When there are none, or one isn't known.
    pub fn parse(names: &[&str]) -> Result<Self, Invalid> {
        names.iter().map(|name| Scope::parse(name)).collect::<Result<BTreeSet<_>, _>>()?.try_into()
    }

    /// Whether this is one of them.
    #[must_use]
    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }
}

impl TryFrom<BTreeSet<Scope>> for Scopes {
    type Error = Invalid;

    fn try_from(scopes: BTreeSet<Scope>) -> Result<Self, Invalid> {
        if scopes.is_empty() {
            return Err(Invalid::new("scopes must have at least one of links:read, links:write and analytics:read"));
        }
        Ok(Self(scopes))
    }
}

impl From<Scopes> for BTreeSet<Scope> {
    fn from(scopes: Scopes) -> Self {
        scopes.0
    }
}

/// What people call a key: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyName(String);

impl KeyName {
    /// Trims and checks a name.
    ///
    /// # Errors
    /// When it is empty, longer than 100 characters or has control characters.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let name = text.trim();
        if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Invalid::new("name must have 1–100 characters"))
        }
    }
}

string_newtype!(KeyName);

/// An API key as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The workspace that it opens.
    pub workspace: WorkspaceId,
    /// What it is recognised by, unique in the workspace.
    pub prefix: KeyPrefix,
    /// What it is found by.
    pub hash: KeyHash,
    /// What people call it.
    pub name: KeyName,
    /// What it may be used for.
    pub scopes: Scopes,
    /// Who created it, and so owns the links that it creates.
    pub created_by: UserId,
    /// Their address at that time.
    pub created_by_email: EmailAddress,
    /// When it was created.
    pub created_at: Timestamp,
    /// From this moment on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute; `None` if it never was.
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// How many keys a workspace may have, expired ones included.
    pub const MAX_PER_WORKSPACE: usize = 100;

    /// How precisely the last use is noted: a minute, so that a busy key costs one write in it.
    pub const USE_NOTED_EVERY: Duration = Duration::from_secs(60);

    /// Whether it opens anything at this moment.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expiry| now < expiry)
    }

    /// When nothing is left of it, if it expires.
    #[must_use]
    pub fn forgotten_at(&self) -> Option<Timestamp> {
        self.expires_at.map(|expiry| expiry.plus(lifetimes::EXPIRED_API_KEYS))
    }

    /// What its bearer may do to single links: never more than a member, who changes only what is their own.
    #[must_use]
    pub fn role(&self) -> Role {
        if self.scopes.contains(Scope::LinksWrite) { Role::Member } else { Role::Viewer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk_live_0123456789ABCDEFGHIJabcdefghij01";

    fn key(scopes: &[&str], expires_at: Option<Timestamp>) -> ApiKey {
        let secret = ApiKeySecret::parse(KEY).unwrap();
        ApiKey {
            workspace: WorkspaceId::generate(),
            prefix: secret.prefix(),
            hash: secret.hash(),
            name: KeyName::parse("CI").unwrap(),
            scopes: Scopes::parse(scopes).unwrap(),
            created_by: UserId::generate(),
            created_by_email: EmailAddress::parse("ada@example.com").unwrap(),
            created_at: Timestamp::now(),
            expires_at,
            last_used_at: None,
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
    fn what_is_no_key_is_refused_and_not_repeated() {
        for refused in [
            "",
            "sk_live_",
            "sk_live_0123456789ABCDEFGHIJabcdefghij0",
            "sk_live_0123456789ABCDEFGHIJabcdefghij012",
            "sk_test_0123456789ABCDEFGHIJabcdefghij01",
            "SK_LIVE_0123456789ABCDEFGHIJabcdefghij01",
            "sk_live_0123456789ABCDEFGHIJabcdefghij0-",
            " sk_live_0123456789ABCDEFGHIJabcdefghij01",
            "sk_live_ä0123456789ABCDEFGHIJabcdefghij",
        ] {
            let error = ApiKeySecret::parse(refused).unwrap_err().to_string();
            assert!(refused.len() < 9 || !error.contains(refused), "{error}");
        }
    }

    #[test]
    fn a_key_shows_its_beginning_and_its_hash_and_nothing_more() {
        let secret = ApiKeySecret::parse(KEY).unwrap();

        assert_eq!(secret.prefix().as_str(), "sk_live_01234567");
        // printf sk_live_0123456789ABCDEFGHIJabcdefghij01 | sha256sum
        assert_eq!(secret.hash().as_str(), "9837074ce6cdae1d78971b8819dcea2c30f00da9117912c0ef452bda014e5020");
        assert_eq!(format!("{secret:?}"), "ApiKeySecret(…)");
        assert_eq!(KeyHash::parse(secret.hash().as_str()), Ok(secret.hash()));
        assert_eq!(KeyPrefix::parse("sk_live_01234567"), Ok(secret.prefix()));
    }

    #[test]
    fn neither_hash_nor_prefix_can_hold_a_key() {
        for refused in [KEY, "", "sk_live_0123456", "sk_live_0123456#"] {
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
    fn a_key_is_a_member_at_most_and_only_if_it_may_write() {
        assert_eq!(key(&["links:read", "analytics:read"], None).role(), Role::Viewer);
        assert_eq!(key(&["links:read", "links:write", "analytics:read"], None).role(), Role::Member);
        assert_eq!(Scope::ALL.map(Scope::least_role), [Role::Viewer, Role::Member, Role::Viewer]);
    }

    #[test]
    fn a_key_expires_in_the_very_moment_and_is_listed_for_thirty_days() {
        let expiry = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        let expiring = key(&["links:read"], Some(expiry));

        assert!(expiring.is_valid_at(expiry.minus(Duration::from_millis(1))));
        assert!(!expiring.is_valid_at(expiry));
        assert_eq!(expiring.forgotten_at(), Timestamp::parse("2026-04-01T12:00:00Z").ok());
        let lasting = key(&["links:read"], None);
        assert!(lasting.is_valid_at(expiry) && lasting.forgotten_at().is_none());
    }

    #[test]
    fn a_name_has_1_to_100_characters() {
        assert_eq!(KeyName::parse(" CI ").map(String::from), Ok("CI".to_owned()));
        assert!(KeyName::parse(&"ü".repeat(100)).is_ok());
        for refused in ["", "  ", "a\nb", &"x".repeat(101)] {
            assert!(KeyName::parse(refused).is_err(), "{refused:?}");
        }
    }
}
