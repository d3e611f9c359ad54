//! People, their workspaces and what they may do in them.

use std::fmt;

use email_address::Options;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Host;

use crate::{Invalid, Timestamp, UserId, WorkspaceId, validated::string_newtype};

/// A mail address, lower-cased and trimmed, shaped as RFC 5321 wants it and at most 254 bytes long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(String);

impl EmailAddress {
    /// The longest address that fits an SMTP path (RFC 5321 4.5.3.1.3, less the angle brackets).
    pub const MAX_LENGTH: usize = 254;

    /// Trims, lower-cases and checks an address.
    ///
    /// # Errors
    /// When it is missing, too long, or not the bare address of a mailbox at a domain.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("email is not a valid address");
        let given = text.trim().to_lowercase();
        if given.is_empty() {
            return Err(Invalid::new("email is required"));
        }
        check_mailbox(&given)?;
        let (local, domain) = given.rsplit_once('@').ok_or_else(refused)?;
        // SMTP without extensions knows ASCII only; a domain has an ASCII form, a mailbox has none.
        let Host::Domain(domain) = Host::parse(domain).map_err(|_| refused())? else { return Err(refused()) };
        if !local.is_ascii() {
            return Err(refused());
        }
        // The ASCII form may be longer, and undoing percent encoding may bring anything. What is stored has to be readable.
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
        // Between quotes there may be a tab.
        Ok(_) if !address.contains(char::is_control) => Ok(()),
        _ => Err(Invalid::new("email is not a valid address")),
    }
}

/// A password as somebody typed it. It is never printed.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Password(String);

impl Password {
    /// Accepts 8–1,024 bytes.
    ///
    /// # Errors
    /// When it is shorter or longer.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text.len() {
            0..8 => Err(Invalid::new("password must be at least 8 characters")),
            8..=1_024 => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("password must have at most 1,024 bytes")),
        }
    }

    /// What goes into the hash function.
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

/// What a member may do in a workspace. Each role includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Creates links and changes its own.
    Member,
    /// Does everything.
    Admin,
}

impl Role {
    /// Reads a role's name.
    ///
    /// # Errors
    /// When there is no such role.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::Viewer, Self::Member, Self::Admin]
            .into_iter()
            .find(|role| role.as_str() == text)
            .ok_or_else(|| Invalid::new("role must be viewer, member or admin"))
    }

    /// The role's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Admin => "admin",
        }
    }

    /// Whether someone with this role may change or delete what this person has created in the workspace.
    #[must_use]
    pub fn may_change(self, owner: &UserId, user: &UserId) -> bool {
        match self {
            Self::Viewer => false,
            Self::Member => owner == user,
            Self::Admin => true,
        }
    }
}

impl TryFrom<String> for Role {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        role.as_str().to_owned()
    }
}

/// What a person is called: at most 255 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FullName(String);

impl FullName {
    /// Accepts at most 255 characters.
    ///
    /// # Errors
    /// When the text is longer.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.chars().count() <= 255 {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("full_name must have at most 255 characters"))
        }
    }
}

string_newtype!(FullName);

/// A workspace's name for people: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// Trims and checks a name.
    ///
    /// # Errors
    /// When it is empty or longer than 100 characters.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let name = text.trim();
        if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(Self(name.to_owned()))
        } else {
            Err(Invalid::new("must have 1–100 characters"))
        }
    }

    /// The name of the workspace that a person gets at registration if they name none.
    #[must_use]
    pub fn personal(email: &EmailAddress) -> Self {
        Self(format!("{}'s workspace", email.local_part()))
    }
}

string_newtype!(WorkspaceName);

/// A workspace's name in URLs and at login: 2–63 of `[a-z0-9-]`, not starting or ending with a hyphen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceSlug(String);

impl WorkspaceSlug {
    const MAX_LENGTH: usize = 63;

    /// Accepts `^[a-z0-9][a-z0-9-]*[a-z0-9]$`, at most 63 characters.
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

    /// A slug that resembles a name; the end of the workspace's id, which is random, makes it unique.
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

/// What a client keeps with a workspace: a JSON object of at most 2 KB, which Linklet stores and never interprets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceSettings(Map<String, Value>);

impl WorkspaceSettings {
    /// The most bytes that the object may have as JSON without white space.
    pub const MAX_BYTES: usize = 2_048;

    /// Accepts an object that fits.
    ///
    /// # Errors
    /// When it is too large.
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
        // Without the limit: a number that is read and written may get a digit longer, and stored settings must stay readable.
        serde_json::from_str(&text).map(Self).map_err(|_| Invalid::new("settings must be an object"))
    }
}

/// A workspace, the tenant that owns links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Identifies it for ever.
    pub id: WorkspaceId,
    /// Its name for people.
    pub name: WorkspaceName,
    /// Its name at login. No two workspaces have the same.
    pub slug: WorkspaceSlug,
    /// What its clients keep with it.
    pub settings: WorkspaceSettings,
    /// Since when there is such a workspace.
    pub created_at: Timestamp,
}

impl Workspace {
    /// The workspace as it is after a change.
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

/// A change of a workspace; what is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspacePatch {
    /// A new name.
    pub name: Option<WorkspaceName>,
    /// A new slug.
    pub slug: Option<WorkspaceSlug>,
    /// New settings, in place of all that were there.
    pub settings: Option<WorkspaceSettings>,
}

/// A person's account, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Identifies the person.
    pub id: UserId,
    /// The address that they log in with.
    pub email: EmailAddress,
    /// How they are called, if they said.
    pub full_name: Option<FullName>,
    /// The hash of their password in PHC or modular crypt form.
    pub password_hash: String,
    /// When they registered.
    pub created_at: Timestamp,
}

/// A person's place in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    /// Which workspace.
    pub workspace: WorkspaceId,
    /// What the person may do there.
    pub role: Role,
    /// Since when.
    pub joined_at: Timestamp,
}

/// A person as the other members of a workspace see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Who it is.
    pub user: UserId,
    /// Their address.
    pub email: EmailAddress,
    /// How they are called, if they said.
    pub full_name: Option<FullName>,
    /// What they may do.
    pub role: Role,
    /// Since when they belong to the workspace.
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
    fn what_is_no_bare_address_is_refused() {
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
