//! Keys and attributes of ThrottleTable.
//!
//! Calls, guesses, hashes and mails have partition keys that begin differently, since a function may touch those of its own kinds
//! only: IAM roles in `template.yaml` name the beginnings.

use linklet_domain::{
    AccountHash, Correspondent, Failures, GuessKind, Guesser, HashFor, IpHash, LimitedRoute, MailCount,
    ThrottleSubject, Timestamp, lifetimes,
};
use serde::Deserialize;

use crate::item::Key;

/// `IP#<hash>`, `PERSON#<user id>`, `WORKSPACE#<id>` or `SHARE#<id>` / `<route>`: the window of a subject on a route.
pub(super) fn window_key(route: LimitedRoute, subject: &ThrottleSubject) -> Key {
    Key::new(partition_of(subject), route.to_string())
}

fn partition_of(subject: &ThrottleSubject) -> String {
    match subject {
        ThrottleSubject::Address(_, hash) => format!("IP#{hash}"),
        ThrottleSubject::Person(user) => format!("PERSON#{user}"),
        ThrottleSubject::Workspace(workspace) => format!("WORKSPACE#{workspace}"),
        ThrottleSubject::Share(share) => format!("SHARE#{share}"),
    }
}

/// `GUESS#IP#<hash>` or `GUESS#ACCOUNT#<hash>` / `<kind>`: failed guesses, of strangers if they are at an account; with
/// `#FROM#<address>`, of those who are familiar with it.
pub(super) fn guesser_key(kind: GuessKind, guesser: &Guesser) -> Key {
    let kind = kind.as_str();
    match guesser {
        Guesser::Sender(subject) => Key::new(format!("GUESS#{}", partition_of(subject)), kind),
        Guesser::Strangers(account) => Key::new(account_partition(account), kind),
        Guesser::Familiar(account, address) | Guesser::AtLink(account, address) => {
            Key::new(account_partition(account), format!("{kind}#FROM#{address}"))
        }
    }
}

pub(super) const FAMILIAR_PREFIX: &str = "FROM#";

/// `GUESS#ACCOUNT#<hash>` / `FROM#<address>`: that somebody has signed in from there.
pub(super) fn familiar_key(account: &AccountHash, address: &IpHash) -> Key {
    Key::new(account_partition(account), format!("{FAMILIAR_PREFIX}{address}"))
}

pub(super) fn account_partition(account: &AccountHash) -> String {
    format!("GUESS#ACCOUNT#{}", account.as_str())
}

/// `HASHES#<class>` / `<second>`: the hashes of a second.
pub(super) fn hashes_key(class: HashFor, second: i64) -> Key {
    Key::new(format!("HASHES#{class}"), second.to_string())
}

/// `MAIL#<hash>` / the count's name: mails of a kind to a mailbox, or by a person.
pub(super) fn mails_key(whose: &Correspondent, count: MailCount) -> Key {
    Key::new(format!("MAIL#{}", whose.as_str()), count.to_string())
}

/// When an item can be deleted whose content means nothing from `over` on.
pub(super) fn ttl(over: Timestamp) -> i64 {
    over.plus(lifetimes::COUNTED_CALLS).unix_seconds()
}

/// The attributes of an item of failed guesses besides its key, in milliseconds, since the table computes with them.
#[derive(Debug, Deserialize)]
pub(super) struct FailuresItem {
    forgotten_at: u64,
    not_before: Option<u64>,
}

impl From<FailuresItem> for Failures {
    fn from(item: FailuresItem) -> Self {
        Self {
            forgotten_at: Timestamp::from_unix_millis(item.forgotten_at),
            not_before: item.not_before.map(Timestamp::from_unix_millis),
        }
    }
}

/// An item that says where somebody has signed in from.
#[derive(Debug, Deserialize)]
pub(super) struct FamiliarItem {
    #[serde(flatten)]
    pub key: Key,
    familiar_until: u64,
}

impl FamiliarItem {
    pub(super) fn familiar_until(&self) -> Timestamp {
        Timestamp::from_unix_millis(self.familiar_until)
    }

    pub(super) fn signed_in_at(&self) -> Timestamp {
        self.familiar_until().minus(lifetimes::FAMILIAR_ADDRESSES)
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::{EmailAddress, Salt, Tier, UserId};

    use super::*;

    #[test]
    fn calls_guesses_hashes_and_mails_begin_differently() {
        let salt = Salt::parse(&"salt".repeat(8)).unwrap();
        let address = ThrottleSubject::Address(Tier::Client, IpHash::of("203.0.113.9", &salt));
        let account = AccountHash::of("ada@example.com", &salt);
        let mailbox = EmailAddress::parse("ada@example.com").unwrap();
        let person = ThrottleSubject::Person(UserId::generate());
        let kind = GuessKind::Password;

        for (key, beginning) in [
            (window_key(LimitedRoute::Redirect, &address), "IP#"),
            (window_key(LimitedRoute::Shorten, &person), "PERSON#"),
            (guesser_key(kind, &Guesser::Sender(address.clone())), "GUESS#"),
            (guesser_key(kind, &Guesser::Strangers(account.clone())), "GUESS#"),
            (hashes_key(HashFor::Strangers, 1_772_452_800), "HASHES#"),
            (mails_key(&Correspondent::reader(&mailbox, &salt), MailCount::Resets), "MAIL#"),
        ] {
            assert!(key.pk.starts_with(beginning), "{key:?}");
        }
    }
}
