//! Who may create workspaces.

use crate::{EmailAddress, Invalid, RegistrationPolicy};

/// Who may create workspaces by the API. Whoever registers without an invitation, or by one of an operator's, gets a workspace in any
/// case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreationPolicy {
    who: Creators,
    registration: RegistrationPolicy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Creators {
    Operators,
    Admins,
    Everybody,
}

/// Somebody who wants to create a workspace.
#[derive(Debug, Clone, Copy)]
pub struct Creator<'a> {
    /// The account's address.
    pub email: &'a EmailAddress,
    /// Whether they have shown that the address is theirs.
    pub is_verified: bool,
    /// Whether they are an admin of some workspace.
    pub is_admin: bool,
}

impl CreationPolicy {
    /// Reads the setting: `operators`, `admins` or `everybody`. If it is empty, it follows from who may register: everybody who
    /// may register uninvited may create workspaces, too.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(who: &str, registration: RegistrationPolicy) -> Result<Self, Invalid> {
        let who = match who {
            "operators" => Creators::Operators,
            "admins" => Creators::Admins,
            "everybody" => Creators::Everybody,
            "" if registration == RegistrationPolicy::Invited => Creators::Operators,
            "" => Creators::Everybody,
            _ => return Err(Invalid::new("who creates workspaces must be operators, admins or everybody")),
        };
        Ok(Self { who, registration })
    }

    /// Whether this person may create a workspace. Where only addresses at some domains may register, everybody means whoever has
    /// shown that they have one.
    pub fn admits(&self, creator: Creator<'_>) -> bool {
        match (self.who, &self.registration) {
            (Creators::Operators, _) => false,
            (Creators::Admins, _) => creator.is_admin,
            (Creators::Everybody, RegistrationPolicy::Domains(_)) => {
                creator.is_verified && self.registration.admits(creator.email)
            }
            (Creators::Everybody, _) => true,
        }
    }
}

impl Default for CreationPolicy {
    fn default() -> Self {
        Self { who: Creators::Everybody, registration: RegistrationPolicy::Open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether somebody may who is nothing, verified, an admin, and verified with another domain's address.
    fn admitted(who: &str, registration: &str, domains: &str) -> [bool; 4] {
        let registration = RegistrationPolicy::parse(registration, domains).unwrap();
        let policy = CreationPolicy::parse(who, registration).unwrap();
        let (ours, others) = ("ada@example.com".parse().unwrap(), "ada@example.org".parse().unwrap());
        [(&ours, false, false), (&ours, true, false), (&ours, false, true), (&others, true, false)]
            .map(|(email, is_verified, is_admin)| policy.admits(Creator { email, is_verified, is_admin }))
    }

    #[test]
    fn who_may_found_is_who_the_setting_names() {
        for (registration, domains) in [("open", ""), ("domains", "example.com"), ("invited", "")] {
            assert_eq!(admitted("operators", registration, domains), [false; 4], "{registration}");
            assert_eq!(admitted("admins", registration, domains), [false, false, true, false], "{registration}");
        }
        for registration in ["open", "invited"] {
            assert_eq!(admitted("everybody", registration, ""), [true; 4], "{registration}");
        }
        assert_eq!(admitted("everybody", "domains", "example.com"), [false, true, false, false]);
    }

    #[test]
    fn without_a_setting_everybody_may_who_may_register_uninvited() {
        assert_eq!(admitted("", "open", ""), [true; 4]);
        assert_eq!(admitted("", "domains", "example.com"), [false, true, false, false]);
        assert_eq!(admitted("", "invited", ""), [false; 4]);
        assert!(CreationPolicy::parse("nobody", RegistrationPolicy::Open).is_err());
    }
}
