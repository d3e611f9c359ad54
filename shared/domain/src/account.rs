//! User accounts, workspaces, memberships and roles.

use std::fmt;

use email_address::Options;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Host;

use crate::{
    Invalid, Timestamp, UserId, WorkspaceId,
    validated::{bounded_text, named_enum, string_newtype},
};

/// An email address in the form of RFC 5321: trimmed, in lower case, at most 254 bytes long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Maximum length in bytes: an SMTP path (RFC 5321, 4.5.3.1.3) without the angle brackets.
    pub const MAX_LENGTH: usize = 254;

    /// Trims, lower-cases and validates an address.
    ///
    /// # Errors
    /// When the text is empty, too long, or not of the form `local@domain`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("email is not a valid address");
        let given = text.trim().to_lowercase();
        if given.is_empty() {
            return Err(Invalid::new("email is required"));
        }
        check_mailbox(&given)?;
        let (local, domain) = given.rsplit_once('@').ok_or_else(refused)?;
        // SMTP without extensions allows only ASCII. A domain has an ASCII form (Punycode), a local part has none.
        let Host::Domain(domain) = Host::parse(domain).map_err(|_| refused())? else { return Err(refused()) };
        if !local.is_ascii() {
            return Err(refused());
        }
        // Checked again, since the ASCII form may be longer and percent-decoding may yield any character; a stored address
        // must pass this function when it is read.
        let address = format!("{local}@{domain}");
        check_mailbox(&address)?;
        Ok(Self(address))
    }

    /// The part before the last `@`.
    #[must_use]
    pub fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(&self.0, |(local, _)| local)
    }
}

string_newtype!(EmailAddress);

fn check_mailbox(address: &str) -> Result<(), Invalid> {
    if address.len() > EmailAddress::MAX_LENGTH {
        return Err(Invalid::new("email must have at most 254 bytes"));
    }
    let shape = Options::default().without_display_text().without_domain_literal().with_required_tld();
    match email_address::EmailAddress::parse_with_options(address, shape) {
        // RFC 5321 allows a tab in a quoted local part.
        Ok(_) if !address.contains(char::is_control) => Ok(()),
        _ => Err(Invalid::new("email is not a valid address")),
    }
}

/// A password in plain text. Its `Debug` output doesn't contain it.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Password(String);

impl Password {
    /// Parses a password of 8–1,024 bytes.
    ///
    /// # Errors
    /// When the text is shorter or longer.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.len() {
            0..8 => Err(Invalid::new("password must be at least 8 characters")),
            8..=1_024 => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("password must have at most 1,024 bytes")),
        }
    }

    /// The password's bytes, for the hash function.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl TryFrom<String> for Password {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password(…)")
    }
}

/// The role of a member in a workspace. Each role has all permissions of the roles before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// May read.
    Viewer,
    /// May also create links, and change and delete their own.
    Member,
    /// May do everything, including changing the workspace, its members and keys.
    Admin,
}

impl Role {
    /// Parses a role's name: `viewer`, `member` or `admin`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::Viewer, Self::Member, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| Invalid::new("role must be viewer, member or admin"))
    }

    /// The role's name in the API.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Admin => "admin",
        }
    }

    /// Whether `user`, with this role, may change or delete what `owner` has created in the workspace.
    #[must_use]
    pub fn may_change(self, owner: &UserId, user: &UserId) -> bool {
        match self {
            Self::Viewer => false,
            Self::Member => owner == user,
            Self::Admin => true,
        }
    }
}

named_enum!(Role);

bounded_text! {
    /// The name of a person: at most 255 characters.
    FullName, "full_name", 255
}

/// The display name of a workspace: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// Trims and validates a name.
    ///
    /// # Errors
    /// When the name is empty, longer than 100 characters or has control characters.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let name = text.trim();
        if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Invalid::new("must have 1–100 characters"))
        }
    }

    /// The default name of the workspace that is created with an account.
    #[must_use]
    pub fn personal(email: &EmailAddress) -> Self {
        Self(format!("{}'s workspace", email.local_part()))
    }
}

string_newtype!(WorkspaceName);

/// The slug of a workspace, by which a login selects it: 2–63 characters of `[a-z0-9-]`, not starting or ending with a hyphen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceSlug(String);

impl WorkspaceSlug {
    const MAX_LENGTH: usize = 63;

    /// Parses a slug: `^[a-z0-9][a-z0-9-]*[a-z0-9]$`, at most 63 characters.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = (2..=Self::MAX_LENGTH).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if fits && plain && !text.starts_with('-') && !text.ends_with('-') {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("slug must have 2–63 characters of a-z, 0-9 and inner hyphens"))
        }
    }

    /// Derives a slug from a name and the last characters of the workspace's id, which are random and make it unique.
    #[must_use]
    pub fn derive(name: &str, workspace: &WorkspaceId) -> Self {
        let id = workspace.as_str();
        let suffix = &id[id.len().saturating_sub(6)..];
        let mut slug = String::new();
        for character in name.to_lowercase().chars().take(40) {
            if character.is_ascii_alphanumeric() {
                slug.push(character);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let stem = slug.trim_end_matches('-');
        Self(if stem.is_empty() { format!("ws-{suffix}") } else { format!("{stem}-{suffix}") })
    }
}

string_newtype!(WorkspaceSlug);

/// Settings that clients store with a workspace: a JSON object of at most 2 KB, which Linklet doesn't interpret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceSettings(Map<String, Value>);

impl WorkspaceSettings {
    /// Maximum length in bytes of the object as JSON without white space.
    pub const MAX_BYTES: usize = 2_048;

    /// Settings with these members.
    ///
    /// # Errors
    /// When the object is longer than [`Self::MAX_BYTES`] as JSON.
    pub fn new(members: Map<String, Value>) -> Result<Self, Invalid> {
        let settings = Self(members);
        if String::from(settings.clone()).len() <= Self::MAX_BYTES {
            Ok(settings)
        } else {
            Err(Invalid::new("settings must have at most 2,048 bytes"))
        }
    }

    /// The object's members.
    #[must_use]
    pub fn members(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl From<WorkspaceSettings> for String {
    fn from(settings: WorkspaceSettings) -> Self {
        Value::Object(settings.0).to_string()
    }
}

impl TryFrom<String> for WorkspaceSettings {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // The limit isn't checked here: a number that is parsed and serialized again may get longer, and stored settings must
        // stay readable.
        serde_json::from_str(&text).map(Self).map_err(|_| Invalid::new("settings must be an object"))
    }
}

/// A workspace, the tenant that owns links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The workspace's id, which never changes.
    pub id: WorkspaceId,
    /// The display name.
    pub name: WorkspaceName,
    /// The slug, unique among all workspaces.
    pub slug: WorkspaceSlug,
    /// Settings that clients store with the workspace.
    pub settings: WorkspaceSettings,
    /// When the workspace was created.
    pub created_at: Timestamp,
}

impl Workspace {
    /// The workspace with a patch applied.
    #[must_use]
    pub fn changed_by(&self, patch: &WorkspacePatch) -> Self {
        Self {
            name: patch.name.as_ref().unwrap_or(&self.name).clone(),
            slug: patch.slug.as_ref().unwrap_or(&self.slug).clone(),
            settings: patch.settings.as_ref().unwrap_or(&self.settings).clone(),
            ..self.clone()
        }
    }
}

/// Changes to a workspace. `None` leaves a property unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspacePatch {
    /// The new name.
    pub name: Option<WorkspaceName>,
    /// The new slug.
    pub slug: Option<WorkspaceSlug>,
    /// The new settings, which replace the old ones completely.
    pub settings: Option<WorkspaceSettings>,
}

/// A user account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The user's id.
    pub id: UserId,
    /// The email address with which the user logs in.
    pub email: EmailAddress,
    /// The user's name, if given.
    pub full_name: Option<FullName>,
    /// The password hash, as a PHC string or in modular crypt format (bcrypt).
    pub password_hash: String,
    /// When the user registered.
    pub created_at: Timestamp,
}

/// A user's membership in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The user's role in the workspace.
    pub role: Role,
    /// When the user joined the workspace.
    pub joined_at: Timestamp,
}

/// A member of a workspace, as its member list shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The user's id.
    pub user: UserId,
    /// The user's email address.
    pub email: EmailAddress,
    /// The user's name, if given.
    pub full_name: Option<FullName>,
    /// The user's role in the workspace.
    pub role: Role,
    /// When the user joined the workspace.
    pub joined_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_trimmed_and_lower_cased() {
        assert_eq!(EmailAddress::parse("  Alice@Example.COM ").unwrap().as_str(), "alice@example.com");
        assert_eq!(EmailAddress::parse("alice@münchen.de").unwrap().as_str(), "alice@xn--mnchen-3ya.de");
    }

    #[test]
    fn an_address_that_was_accepted_can_be_read_again() {
        assert!(EmailAddress::parse("ada@e%2e%2example.com").is_err());
        assert!(EmailAddress::parse("\"a\tb\"@example.com").is_err());
        // 247 bytes, and 427 in the ASCII form.
        assert!(EmailAddress::parse(&format!("ada@{}.com", ["bücher"; 30].join("."))).is_err());
        assert!(EmailAddress::parse(&format!("ada@{}.com", ["bücher"; 15].join("."))).is_ok());
    }

    #[test]
    fn anything_but_a_bare_address_is_refused() {
        let too_long = format!("{}@example.com", "a".repeat(250));
        for refused in [
            "",
            "alice",
            "alice@",
            "@example.com",
            "a b@example.com",
            "Alice <alice@example.com>",
            "a@[127.0.0.1]",
            "a@b@c.de",
            "a@localhost",
            "ünï@example.com",
            &too_long,
        ] {
            assert!(EmailAddress::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_password_has_8_to_1024_bytes_and_is_never_printed() {
        assert!(Password::parse("1234567").is_err());
        assert!(Password::parse("12345678").is_ok());
        assert!(Password::parse(&"x".repeat(1_024)).is_ok());
        assert!(Password::parse(&"x".repeat(1_025)).is_err());
        assert_eq!(format!("{:?}", Password::parse("hunter2hunter2").unwrap()), "Password(…)");
    }

    #[test]
    fn a_slug_has_letters_digits_and_inner_hyphens() {
        assert!(WorkspaceSlug::parse("acme-corp").is_ok());
        for refused in ["", "a", "-acme", "acme-", "Acme", "ac_me", &"a".repeat(64)] {
            assert!(WorkspaceSlug::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_role_has_one_name_everywhere() {
        for role in [Role::Viewer, Role::Member, Role::Admin] {
            assert_eq!(Role::parse(role.as_str()), Ok(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
        }
        assert_eq!(Role::parse("owner"), Err(Invalid::new("role must be viewer, member or admin")));
    }

    #[test]
    fn settings_are_an_object_of_two_kilobytes_and_come_back_as_they_were() {
        let of_length = |bytes: usize| format!(r#"{{"k":"{}"}}"#, "x".repeat(bytes - r#"{"k":""}"#.len()));
        let stored = |text: String| WorkspaceSettings::try_from(text);
        let given = |text: String| WorkspaceSettings::new(serde_json::from_str(&text).unwrap());
        let mixed = r#"{"a":[1,2.5,null,true],"b":{"ü":"\"\u0000"}}"#.to_owned();

        assert_eq!(stored(mixed.clone()).map(String::from), Ok(mixed));
        assert_eq!(String::from(WorkspaceSettings::default()), "{}");
        assert!(given(of_length(2_048)).is_ok());
        assert!(given(of_length(2_049)).is_err());
        assert!(stored(of_length(2_049)).is_ok(), "what is stored stays readable");
        for refused in ["[]", "", "null"] {
            assert!(stored(refused.to_owned()).is_err(), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn a_derived_slug_is_always_a_slug(name in any::<String>()) {
            let slug = WorkspaceSlug::derive(&name, &WorkspaceId::generate());

            prop_assert_eq!(WorkspaceSlug::parse(slug.as_str()), Ok(slug));
        }
    }
}
