//! Shares, with which somebody without an account reads the statistics of a link or of a tag.

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};

use crate::validated::{Hidden, digest_in_hex, string_newtype};
use crate::{Invalid, LinkId, Tag, Timestamp, UserId, WorkspaceId, base62};

/// The id of a share: `sh_` and 16 base62 characters. It is part of the token, and opens nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct ShareId(String);

impl ShareId {
    const PREFIX: &str = "sh_";
    const RANDOM_CHARACTERS: usize = 16;

    /// Parses an id.
    ///
    /// # Errors
    /// When the text has another form.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_id = text.strip_prefix(Self::PREFIX).is_some_and(|rest| is_base62(rest, Self::RANDOM_CHARACTERS));
        Invalid::unless(is_id, "the id of a share is sh_ and 16 characters of 0-9, A-Z and a-z")?;
        Ok(Self(text.to_owned()))
    }
}

string_newtype!(ShareId);

fn is_base62(text: &str, characters: usize) -> bool {
    text.len() == characters && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The token of a share in plain text: `lk_share_`, the workspace in 32 hexadecimal digits, the random part of the share's id, and a
/// secret of 22 base62 characters, which are 130 random bits. With workspace and id, one read finds the share.
///
/// It is shown once, when the share is created, and never logged or stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareToken {
    /// The workspace of the share.
    pub workspace: WorkspaceId,
    /// The share.
    pub id: ShareId,
    secret: Hidden,
}

impl ShareToken {
    const PREFIX: &str = "lk_share_";
    const WORKSPACE_DIGITS: usize = 32;
    const SECRET_CHARACTERS: usize = 22;

    /// Parses text that has the form of a token. Whether there is such a share is not checked.
    ///
    /// # Errors
    /// When the text has another form. The error doesn't contain the text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("the token of a share is lk_share_ and 70 characters of 0-9, A-Z and a-z");
        let length = Self::WORKSPACE_DIGITS + ShareId::RANDOM_CHARACTERS + Self::SECRET_CHARACTERS;
        let rest = text.strip_prefix(Self::PREFIX).filter(|rest| is_base62(rest, length)).ok_or_else(refused)?;
        let (workspace, rest) = rest.split_at(Self::WORKSPACE_DIGITS);
        let (id, secret) = rest.split_at(ShareId::RANDOM_CHARACTERS);
        let bytes = hex::decode(workspace).map_err(|_| refused())?;
        let id = ShareId(format!("{}{id}", ShareId::PREFIX));
        Ok(Self { workspace: WorkspaceId::from_bytes(&bytes)?, id, secret: Hidden(secret.to_owned()) })
    }

    /// Generates the token of a new share with the operating system's random number generator.
    ///
    /// # Errors
    /// When the random number generator fails.
    pub fn generate(workspace: WorkspaceId) -> Result<Self, getrandom::Error> {
        let id = ShareId(format!("{}{}", ShareId::PREFIX, base62::random(ShareId::RANDOM_CHARACTERS)?));
        Ok(Self { workspace, id, secret: Hidden(base62::random(Self::SECRET_CHARACTERS)?) })
    }

    /// The token in plain text, for the response that creates the share.
    pub fn reveal(&self) -> String {
        let id = self.id.0.strip_prefix(ShareId::PREFIX).unwrap_or_default();
        format!("{}{}{id}{}", Self::PREFIX, hex::encode(self.workspace.to_bytes()), self.secret.0)
    }

    /// The token's hash, which is stored instead of the token. A single SHA-256 is enough, since a token has 130 random bits.
    pub fn hash(&self) -> ShareHash {
        ShareHash(hex::encode(Sha256::digest(self.reveal())))
    }
}

/// The SHA-256 of a share's token as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, SerializeDisplay, DeserializeFromStr)]
pub struct ShareHash(String);

impl ShareHash {
    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else, such as a token in plain text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        digest_in_hex(text).map(Self).ok_or_else(|| Invalid::new("the hash of a token must be 64 hexadecimal digits"))
    }
}

string_newtype!(ShareHash);

/// In the same time, wherever the hashes differ.
impl PartialEq for ShareHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.bytes().zip(other.0.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

impl Eq for ShareHash {}

/// Whose statistics a share shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// Those of a link, and not of a later one with its code.
    Link(LinkId),
    /// Those of the links with a tag.
    Tag(Tag),
}

impl Shared {
    /// Whether it is the same link, or the same tag in whichever spelling.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Link(one), Self::Link(other)) => one == other,
            (Self::Tag(one), Self::Tag(other)) => one.is_same(other),
            _ => false,
        }
    }

    /// In a word or two, for the audit log.
    pub fn in_words(&self) -> String {
        match self {
            Self::Link(link) => format!("link: {}", link.code),
            Self::Tag(tag) => format!("tag: {}", tag.as_str()),
        }
    }
}

/// A share as it is stored: with the hash of its token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Its id.
    pub id: ShareId,
    /// The workspace whose statistics it shows.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// Which of them.
    pub shared: Shared,
    /// The hash of its token.
    pub token_hash: ShareHash,
    /// The Argon2id hash of the password that visitors need, if they need one.
    pub password_hash: Option<String>,
    /// Who created it.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` if never. It shows nothing from this moment on.
    pub expires_at: Option<Timestamp>,
}

impl Share {
    /// How many shares a workspace has at most.
    pub const MAX_PER_WORKSPACE: usize = 100;

    /// Whether it shows anything at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether a token is its own.
    pub fn is_opened_by(&self, token: &ShareToken) -> bool {
        self.token_hash == token.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> ShareToken {
        ShareToken::generate(WorkspaceId::generate()).unwrap()
    }

    #[test]
    fn a_token_says_its_workspace_and_share() {
        let token = token();

        assert_eq!(ShareToken::parse(&token.reveal()), Ok(token.clone()));
        assert_eq!(ShareId::parse(token.id.as_str()), Ok(token.id));
    }

    #[test]
    fn anything_else_is_no_token() {
        let good = token().reveal();
        let rest = good.strip_prefix("lk_share_").unwrap();
        let refused = [
            "".to_owned(),
            rest.to_owned(),
            format!("lk_live_{rest}"),
            format!("{good}a"),
            good[..good.len() - 1].to_owned(),
            good.replacen(&rest[..1], "g", 1),
            format!("lk_share_{}", "é".repeat(35)),
            format!("lk_share_{}{}", "z".repeat(32), &rest[32..]),
        ];
        for text in refused {
            assert!(ShareToken::parse(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn another_secret_has_another_hash() {
        let (one, other) = (token(), token());

        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.hash(), ShareToken::parse(&one.reveal()).unwrap().hash());
        assert_eq!(ShareHash::parse(one.hash().as_str()).unwrap(), one.hash());
        assert!(ShareHash::parse(&one.reveal()).is_err());
    }

    #[test]
    fn neither_a_log_line_nor_an_error_contains_the_secret() {
        let token = token();
        let secret = token.reveal()[57..].to_owned();

        assert!(!format!("{token:?}").contains(&secret));
        let refused = ShareToken::parse(&format!("{}!", token.reveal())).unwrap_err().to_string();
        assert!(!refused.contains(&secret), "{refused}");
    }

    #[test]
    fn a_tag_is_the_same_in_any_spelling() {
        let tag = |text: &str| Shared::Tag(Tag::parse(text).unwrap());
        let link = |text: &str| Shared::Link(LinkId::parse(text).unwrap());

        assert!(tag("Straße").is(&tag("STRASSE")));
        assert!(!tag("launch").is(&tag("lunch")) && !tag("launch").is(&link("launch.x7Kf2a")));
        assert!(link("launch.x7Kf2a").is(&link("launch.x7Kf2a")));
        assert!(!link("launch.x7Kf2a").is(&link("launch.x7Kf2b")), "a later link with the code");
    }
}
