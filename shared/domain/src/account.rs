//! User accounts, memberships and roles.

use email_address::Options;
use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use strum::{Display, EnumString};
use url::Host;

use crate::validated::{bounded_text, string_newtype};
use crate::{Invalid, Timestamp, UserId, WorkspaceId};

/// An email address in the form of RFC 5321: trimmed, in lower case, at most 254 bytes long.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Maximum length in bytes: an SMTP path (RFC 5321, 4.5.3.1.3) without the angle brackets.
    pub const MAX_LENGTH: usize = 254;

    /// Trims, lower-cases and validates an address.
    ///
    /// # Errors
    /// When the text is empty, too long, or not of the form `local@domain`.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = || Invalid::new("email format is invalid");
        let given = text.trim().to_lowercase();
        Invalid::when(given.is_empty(), "email is required")?;
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

    /// The part behind the last `@`, in lower case and ASCII.
    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// The part before the last `@`.
    pub fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(&self.0, |(local, _)| local)
    }

    /// Who reads mails to this address, for counting them: without quotes and without a `+tag`, since `ada+1@example.com` and
    /// `"ada"@example.com` are read by `ada@example.com`. It is no address to send to or to compare accounts by: each spelling may
    /// have an account of its own. Dots count, as do other separators than `+`, since what they mean is the rule of one provider.
    pub fn mailbox(&self) -> String {
        let local = self.local_part();
        let quoted = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let local = quoted.map_or_else(|| local.to_owned(), unquoted);
        let name = match local.split_once('+') {
            Some((name, _)) if !name.is_empty() => name,
            _ => &local,
        };
        format!("{name}@{}", self.domain())
    }
}

/// What a quoted local part stands for (RFC 5321, 4.1.2): a backslash only quotes the character behind it.
fn unquoted(content: &str) -> String {
    let mut characters = content.chars();
    let next = || match characters.next() {
        Some('\\') => characters.next(),
        other => other,
    };
    std::iter::from_fn(next).collect()
}

string_newtype!(EmailAddress);

fn check_mailbox(address: &str) -> Result<(), Invalid> {
    Invalid::when(address.len() > EmailAddress::MAX_LENGTH, "email must have at most 254 bytes")?;
    let shape = Options::default().without_display_text().without_domain_literal().with_required_tld();
    match email_address::EmailAddress::parse_with_options(address, shape) {
        // RFC 5321 allows a tab in a quoted local part.
        Ok(_) if !address.contains(char::is_control) => Ok(()),
        _ => Err(Invalid::new("email format is invalid")),
    }
}

/// The role of a member in a workspace. Each role has all permissions of the roles before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr, Display, EnumString,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = no_role)]
pub enum Role {
    /// May read.
    Viewer,
    /// May also create links, and change and delete their own.
    Member,
    /// May do everything, including changing the workspace, its members and keys.
    Admin,
}

impl Role {
    /// Whether `user`, with this role, may change or delete what `owner` has created in the workspace.
    pub fn may_change(self, owner: &UserId, user: &UserId) -> bool {
        match self {
            Self::Viewer => false,
            Self::Member => owner == user,
            Self::Admin => true,
        }
    }
}

fn no_role(_: &str) -> Invalid {
    Invalid::new("role must be viewer, member or admin")
}

bounded_text! {
    /// The name of a person: at most 255 characters.
    FullName, "full_name", 255, Line
}

/// A user account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// The user's id.
    #[serde(rename = "user_id")]
    pub id: UserId,
    /// The email address with which the user logs in.
    pub email: EmailAddress,
    /// The user's name, if given.
    pub full_name: Option<FullName>,
    /// The password hash, as a PHC string or in modular crypt format (bcrypt); `None` until one is chosen with a mailed token, and
    /// after the account was closed.
    pub password_hash: Option<String>,
    /// When the user registered.
    pub created_at: Timestamp,
    /// When the user logged in last; `None` before the first time.
    pub last_login_at: Option<Timestamp>,
    /// Until when the password opens the account although passwords are off: an operator has let the user set it.
    pub password_works_until: Option<Timestamp>,
}

/// A user's membership in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// The workspace.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// The user's role in the workspace.
    pub role: Role,
    /// When the user joined the workspace.
    pub joined_at: Timestamp,
    /// Since when the membership is paused; `None` if it isn't. A paused one opens nothing.
    pub paused_at: Option<Timestamp>,
    /// Since when the workspace is closed; `None` if it isn't. What is closed opens nothing.
    pub closed_at: Option<Timestamp>,
}

impl Membership {
    /// How many a person may have and still join or create another workspace. Quotas are those of a workspace, so without a limit they
    /// would be none; and one transaction changes the copies that memberships have of a person's name and address.
    pub const MOST: usize = 20;

    /// A membership that begins now.
    pub fn new(workspace: WorkspaceId, role: Role, joined_at: Timestamp) -> Self {
        Self { workspace, role, joined_at, paused_at: None, closed_at: None }
    }

    /// Whether it opens the workspace.
    pub fn is_active(&self) -> bool {
        self.paused_at.is_none() && self.closed_at.is_none()
    }
}

/// A member of a workspace, as its member list shows them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The user's id.
    #[serde(rename = "user_id")]
    pub user: UserId,
    /// The user's email address.
    pub email: EmailAddress,
    /// The user's name, if given.
    pub full_name: Option<FullName>,
    /// The user's role in the workspace.
    pub role: Role,
    /// When the user joined the workspace.
    pub joined_at: Timestamp,
    /// Since when the membership is paused; `None` if it isn't. A paused one opens nothing.
    pub paused_at: Option<Timestamp>,
}

impl Member {
    /// The account as a member of a workspace.
    pub fn of(account: &Account, role: Role, joined_at: Timestamp) -> Self {
        let (user, email, full_name) = (account.id, account.email.clone(), account.full_name.clone());
        Self { user, email, full_name, role, joined_at, paused_at: None }
    }

    /// The role in which the member may act; `None` while the membership is paused.
    pub fn active_role(&self) -> Option<Role> {
        self.paused_at.is_none().then_some(self.role)
    }
}

#[cfg(test)]
mod tests {
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
    fn all_spellings_of_a_mailbox_are_one() {
        for (address, mailbox) in [
            ("victim@example.com", "victim@example.com"),
            ("Victim+1@Example.com", "victim@example.com"),
            ("victim+a+b@example.com", "victim@example.com"),
            ("victim+@example.com", "victim@example.com"),
            (r#""victim"@example.com"#, "victim@example.com"),
            (r#""vic\tim"@example.com"#, "victim@example.com"),
            (r#""victim+1"@example.com"#, "victim@example.com"),
            (r#""victim\+1"@example.com"#, "victim@example.com"),
            // Others, as far as anybody but their provider knows.
            ("vic.tim@example.com", "vic.tim@example.com"),
            ("victim-1@example.com", "victim-1@example.com"),
            ("victim+1@mail.example.com", "victim@mail.example.com"),
            (r#""a\\b@c"@example.com"#, r"a\b@c@example.com"),
            // A tag of nobody is no tag.
            ("+x@example.com", "+x@example.com"),
            (r#""+x"@example.com"#, "+x@example.com"),
        ] {
            assert_eq!(EmailAddress::parse(address).unwrap().mailbox(), mailbox, "{address}");
        }
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
    fn a_role_has_one_name_everywhere() {
        for role in [Role::Viewer, Role::Member, Role::Admin] {
            assert_eq!(role.to_string().parse(), Ok(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.to_string());
        }
        assert_eq!("owner".parse::<Role>(), Err(Invalid::new("role must be viewer, member or admin")));
    }
}
