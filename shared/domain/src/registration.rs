//! Who may register without being invited.

use std::collections::BTreeSet;

use crate::{Account, EmailAddress, Invalid, Timestamp};

/// Who may register without an invitation. Whoever is invited may in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq, strum::AsRefStr)]
#[strum(serialize_all = "lowercase")]
pub enum RegistrationPolicy {
    /// Anybody.
    #[default]
    Open,
    /// Whoever has an address at one of these domains, and shows that it is theirs.
    Domains(BTreeSet<String>),
    /// Nobody.
    Invited,
}

impl RegistrationPolicy {
    /// Reads the settings: `open`, `domains` or `invited`, and domains separated by commas.
    ///
    /// # Errors
    /// When the policy is unknown, a domain is none, or there are domains without the policy that needs them, or the other way
    /// round.
    pub fn parse(policy: &str, domains: &str) -> Result<Self, Invalid> {
        let domains = Self::domains_in(domains)?;
        match (policy, domains.is_empty()) {
            ("open", true) => Ok(Self::Open),
            ("invited", true) => Ok(Self::Invited),
            ("domains", false) => Ok(Self::Domains(domains)),
            ("domains", true) => Err(Invalid::new("registration for domains needs domains")),
            ("open" | "invited", false) => Err(Invalid::new("only registration for domains has domains")),
            _ => Err(Invalid::new("registration must be open, domains or invited")),
        }
    }

    /// Reads domains separated by commas.
    ///
    /// # Errors
    /// When one is none.
    pub fn domains_in(list: &str) -> Result<BTreeSet<String>, Invalid> {
        list.split(',').map(str::trim).filter(|domain| !domain.is_empty()).map(domain).collect()
    }

    /// The domains at which addresses may register, if that depends on them.
    pub fn domains(&self) -> Option<&BTreeSet<String>> {
        match self {
            Self::Domains(domains) => Some(domains),
            Self::Open | Self::Invited => None,
        }
    }

    /// Whether somebody with this address may register without an invitation.
    pub fn admits(&self, email: &EmailAddress) -> bool {
        match self {
            Self::Open => true,
            Self::Domains(domains) => domains.contains(email.domain()),
            Self::Invited => false,
        }
    }

    /// Whether somebody who has an account may have this address instead of theirs.
    pub fn admits_instead(&self, email: &EmailAddress) -> bool {
        self.domains().is_none_or(|domains| domains.contains(email.domain()))
    }

    /// Whether an account is of no use before its address is verified. Otherwise anybody could register an address at a domain.
    pub fn needs_verified_addresses(&self) -> bool {
        matches!(self, Self::Domains(_))
    }
}

/// Whether passwords open accounts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = neither_on_nor_off)]
pub enum PasswordLogin {
    /// They do.
    #[default]
    On,
    /// Identities do, and for a day the passwords that operators have let people set.
    Off,
}

fn neither_on_nor_off(_: &str) -> Invalid {
    Invalid::new("must be on or off")
}

impl PasswordLogin {
    /// Whether the password of this account opens it.
    pub fn admits(self, account: &Account, now: Timestamp) -> bool {
        self == Self::On || account.password_works_until.is_some_and(|until| now < until)
    }
}

/// A domain in the form in which addresses have it.
fn domain(text: &str) -> Result<String, Invalid> {
    let address = EmailAddress::parse(&format!("somebody@{text}"));
    let is_domain = !text.contains('@');
    let refused = || Invalid::new("domains must be such as example.com");
    address.ok().filter(|_| is_domain).map(|address| address.domain().to_owned()).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(text: &str) -> EmailAddress {
        EmailAddress::parse(text).unwrap()
    }

    #[test]
    fn a_domain_admits_its_own_addresses_in_every_spelling_and_no_others() {
        let policy = RegistrationPolicy::parse("domains", " Example.COM ,münchen.de,").unwrap();

        for admitted in ["ada@example.com", "ADA@EXAMPLE.COM", "ada@münchen.de", "ada@xn--mnchen-3ya.de"] {
            assert!(policy.admits(&email(admitted)), "{admitted}");
        }
        for refused in
            ["ada@mail.example.com", "ada@example.com.evil.org", "ada@notexample.com", "\"a@example.com\"@b.de"]
        {
            assert!(!policy.admits(&email(refused)), "{refused}");
        }
        assert!(policy.needs_verified_addresses());
        assert!(policy.admits_instead(&email("ada@münchen.de")) && !policy.admits_instead(&email("ada@example.org")));
    }

    #[test]
    fn open_admits_everybody_and_invited_nobody() {
        for (name, admits) in [("open", true), ("invited", false)] {
            let policy = RegistrationPolicy::parse(name, "").unwrap();
            assert_eq!((policy.admits(&email("ada@example.com")), policy.needs_verified_addresses()), (admits, false));
            assert!(policy.admits_instead(&email("ada@example.com")), "whoever is in may have another address");
        }
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        for (policy, domains) in [
            ("", ""),
            ("Open", ""),
            ("domains", ""),
            ("domains", " , "),
            ("open", "example.com"),
            ("invited", "example.com"),
            ("domains", "example"),
            ("domains", "ada@example.com"),
            ("domains", "example.com;example.org"),
            ("domains", "*.example.com"),
        ] {
            assert!(RegistrationPolicy::parse(policy, domains).is_err(), "{policy} {domains}");
        }
    }
}
