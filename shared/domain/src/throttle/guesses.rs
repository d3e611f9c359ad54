//! Limits on guessing passwords and tokens: after a few failures, whoever guesses waits, each time twice as long.
//!
//! Only failures count. One of them is forgotten after a while, then the next, so that somebody who mistypes now and then never
//! waits, and somebody who goes on guessing can do so as often as failures are forgotten.

use std::{str::FromStr, time::Duration};

use super::{ThrottleSubject, Tier};
use serde::{Deserialize, Serialize};

use crate::{EmailAddress, Invalid, IpHash, Salt, Timestamp};

/// What is guessed. Each kind is counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GuessKind {
    /// The password of an account.
    Password,
    /// A one-time token.
    Token,
    /// The password of a link, or whether there is one.
    Link,
    /// Which addresses have an account, by registering them. One that had none counts as well, so that nobody registers as many as
    /// they like. So does who wants an address for their own account, but at no account: they prove nothing about that address.
    Registration,
    /// Nothing: it has a mail sent, and every one counts, since no answer tells whether it was in vain.
    Mail,
}

impl GuessKind {
    /// The kind's name, as table keys contain it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Password => "passwords",
            Self::Token => "tokens",
            Self::Link => "links",
            Self::Registration => "registrations",
            Self::Mail => "mails",
        }
    }

    /// Whether it makes a difference that somebody has signed in to the account from the same address before.
    pub fn may_be_familiar(self) -> bool {
        self == Self::Password
    }

    /// Whether failures count for the account, too. Otherwise others could keep somebody from registering.
    fn is_at_an_account(self) -> bool {
        matches!(self, Self::Password | Self::Token)
    }
}

/// SHA-256 of an account's address and the salt, in hex. There may be no such account: guesses at it are counted all the same, so
/// that nobody learns from a limit who has one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountHash(String);

impl AccountHash {
    /// Hashes what somebody wrote as an account's address, which may be none.
    pub fn of(address: &str, salt: &Salt) -> Self {
        Self(match EmailAddress::parse(address) {
            Ok(address) => salt.hash(address.as_str()),
            Err(_) => salt.hash(address),
        })
    }

    /// The hash's hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An account, and a network from which somebody has signed in to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamiliarNetwork {
    /// The account.
    pub account: AccountHash,
    /// The network.
    pub network: IpHash,
}

/// Somebody who guesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// What is guessed.
    pub kind: GuessKind,
    /// The networks that it comes from, the smallest first.
    pub senders: Vec<ThrottleSubject>,
    /// The account that is guessed at, unless the guess names none.
    pub account: Option<AccountHash>,
}

impl Guess {
    /// The account and the address that it is guessed from, which may be familiar with each other.
    pub fn pair(&self) -> Option<(&AccountHash, &IpHash)> {
        let address = self.senders.iter().find_map(|sender| match sender {
            ThrottleSubject::Address(Tier::Client, hash) => Some(hash),
            _ => None,
        });
        self.account.as_ref().zip(address)
    }

    /// For whom a failure counts, and who may have to wait. Somebody who has signed in to the account from the same address
    /// before has a count of their own, so that nobody else's guesses are in their way.
    pub fn guessers(&self, is_familiar: bool) -> Vec<Guesser> {
        if let Some((account, address)) = self.pair().filter(|_| is_familiar && self.kind.may_be_familiar()) {
            return vec![Guesser::Familiar(account.clone(), address.clone())];
        }
        let account = self.account.clone().filter(|_| self.kind.is_at_an_account());
        let senders = self.senders.iter().cloned().map(Guesser::Sender);
        // Nobody is known to a link who may go on while strangers have to wait, so failures count by address only.
        if let Some((link, address)) = self.pair().filter(|_| self.kind == GuessKind::Link) {
            return senders.chain([Guesser::AtLink(link.clone(), address.clone())]).collect();
        }
        senders.chain(account.map(Guesser::Strangers)).collect()
    }
}

/// Whose failures are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guesser {
    /// Everybody at an address or in a network.
    Sender(ThrottleSubject),
    /// Everybody who guesses at an account from addresses from which nobody has signed in to it.
    Strangers(AccountHash),
    /// Whoever guesses at an account from an address from which somebody has signed in to it.
    Familiar(AccountHash, IpHash),
    /// Whoever guesses at a link from an address.
    AtLink(AccountHash, IpHash),
}

impl Guesser {
    /// How much is put up with.
    pub const fn patience(&self, kind: GuessKind) -> Patience {
        const MINUTE: u64 = 60_000;
        let (free, forgets_one_after, allowances) = match (self, kind) {
            // Everybody in an office may register on the same day.
            (Self::Sender(subject), GuessKind::Registration) => (50, MINUTE, subject.allowances()),
            // An address may be that of an office, and a network that of a town. But a flood from one must leave hashes of the
            // second's budget to others.
            (Self::Sender(subject), _) => (10, 5 * MINUTE, subject.allowances()),
            (Self::Strangers(_) | Self::Familiar(..) | Self::AtLink(..), _) => (5, 15 * MINUTE, 1),
        };
        let forgets_one_after = Duration::from_millis(forgets_one_after / allowances as u64);
        Patience { free: free * allowances, forgets_one_after }
    }
}

/// How many failures are free, and how long it takes until one is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The number of failures after which the next guess has to wait.
    pub free: u32,
    /// A failure is forgotten after this time, then the one before it, and so on.
    pub forgets_one_after: Duration,
}

impl Patience {
    /// The longest wait.
    pub const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

    /// How long the next guess has to wait after so many failures: a second, then twice as long with each one more.
    pub fn wait_after(self, failures: u32) -> Duration {
        match failures.checked_sub(self.free) {
            None => Duration::ZERO,
            Some(doublings) => {
                let seconds = 1_u64.checked_shl(doublings).unwrap_or(u64::MAX);
                Duration::from_secs(seconds).min(Self::LONGEST_WAIT)
            }
        }
    }
}

/// The failures of a guesser that aren't forgotten yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    /// When the last one will be forgotten. How many there are follows from it.
    pub forgotten_at: Timestamp,
    /// When the next guess is allowed, if one had to wait.
    pub not_before: Option<Timestamp>,
}

impl Failures {
    /// No failures.
    pub fn none(now: Timestamp) -> Self {
        Self { forgotten_at: now, not_before: None }
    }

    /// How many there are.
    pub fn count(self, patience: Patience, now: Timestamp) -> u32 {
        let remembered_for = now.until(self.forgotten_at).as_millis();
        u32::try_from(remembered_for.div_ceil(patience.forgets_one_after.as_millis())).unwrap_or(u32::MAX)
    }

    /// How long the next guess has to wait, if it has to.
    pub fn wait(self, now: Timestamp) -> Option<Duration> {
        self.not_before.map(|allowed| now.until(allowed)).filter(|wait| !wait.is_zero())
    }

    /// What there is after one more. A wait begins with it if it isn't free.
    #[must_use]
    pub fn and_one_more(self, patience: Patience, now: Timestamp) -> Self {
        let forgotten_at = self.forgotten_at.max(now).plus(patience.forgets_one_after);
        let wait = patience.wait_after(self.count(patience, now).saturating_add(1));
        Self { forgotten_at, not_before: (!wait.is_zero()).then(|| now.plus(wait)) }
    }
}

/// How many passwords are hashed in a second, over all execution environments. Hashing needs much computing time, so a flood of
/// guesses would otherwise take as many environments as the account may have, and leave none for redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashBudget(u32);

impl HashBudget {
    /// The number of hashes a second.
    pub const fn per_second(self) -> u32 {
        self.0
    }

    /// How many of them one account or link may have, whose passwords may all be right.
    pub fn per_account(self) -> u32 {
        (self.0 / 4).max(1)
    }

    /// How many of them one network may have. It is one less, so that nobody alone uses up what others need at the same account or link.
    pub fn per_network(self) -> u32 {
        self.per_account().saturating_sub(1).max(1)
    }

    /// Whether there is room for so many hashes where so many of a budget or a share are spent. The first request of a second always
    /// has room.
    pub const fn has_room(of: u32, spent: u32, hashes: u32) -> bool {
        spent == 0 || spent <= of.saturating_sub(hashes)
    }

    /// Changing a password takes two hashes.
    const LEAST: u32 = 2;
}

impl Default for HashBudget {
    fn default() -> Self {
        Self(20)
    }
}

impl FromStr for HashBudget {
    type Err = Invalid;

    /// Reads a whole number of at least 2.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let hashes = text.parse().map_err(|_| Invalid::new("must be a whole number"))?;
        if hashes < Self::LEAST { Err(Invalid::new("must be at least 2 hashes a second")) } else { Ok(Self(hashes)) }
    }
}

/// Whose hashes are counted together. A flood of strangers uses up its own budget only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum HashFor {
    /// Whoever isn't known.
    Strangers,
    /// Who has signed in to the same account from the same address before.
    Known,
    /// Who follows links with passwords, or gives links theirs.
    Links,
}

/// Whose hashes are computed. Of the budget of their class, their [network](HashBudget::per_network) and their
/// [account](HashBudget::per_account) have a share each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hasher {
    /// With whom they share a budget.
    pub class: HashFor,
    /// The IPv4 /24 or the IPv6 /48 that they are at.
    pub network: IpHash,
    /// The account or the link whose password it is, or the person who gives a link one.
    pub account: AccountHash,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3_600);
    const PATIENCE: Patience = Patience { free: 5, forgets_one_after: Duration::from_secs(900) };

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn salt() -> Salt {
        Salt::parse(&"salt".repeat(8)).unwrap()
    }

    fn guess(address: &str) -> Guess {
        Guess {
            kind: GuessKind::Password,
            senders: ThrottleSubject::all_at(address, &salt()),
            account: Some(AccountHash::of("ada@example.com", &salt())),
        }
    }

    /// So many failures in a row at one moment.
    fn failed(times: u32, now: Timestamp) -> Failures {
        (0..times).fold(Failures::none(now), |failures, _| failures.and_one_more(PATIENCE, now))
    }

    #[test]
    fn the_wait_doubles_with_each_failure_up_to_fifteen_minutes() {
        let waits =
            |range: std::ops::RangeInclusive<u32>| range.map(|n| PATIENCE.wait_after(n).as_secs()).collect::<Vec<_>>();

        assert_eq!(waits(0..=9), [0, 0, 0, 0, 0, 1, 2, 4, 8, 16]);
        assert_eq!(waits(13..=17), [256, 512, 900, 900, 900]);
        assert_eq!(PATIENCE.wait_after(u32::MAX), Patience::LONGEST_WAIT);
    }

    #[test]
    fn the_first_failures_are_free() {
        for failures in 0..5 {
            assert_eq!(failed(failures, noon()).wait(noon()), None, "{failures}");
            assert_eq!(failed(failures, noon()).count(PATIENCE, noon()), failures);
        }
    }

    #[test]
    fn each_further_failure_makes_the_wait_longer() {
        let (mut failures, mut now) = (failed(5, noon()), noon());
        for seconds in [1, 2, 4, 8] {
            assert_eq!(failures.wait(now), Some(SECOND * seconds));
            now = now.plus(SECOND * seconds);
            assert_eq!(failures.wait(now), None, "it is over");
            failures = failures.and_one_more(PATIENCE, now);
        }
    }

    #[test]
    fn failures_are_forgotten_one_after_another() {
        let failures = failed(7, noon());

        let left = [0, 900, 899 + 900, 1_800, 6_300, 100_000]
            .map(|seconds| failures.count(PATIENCE, noon().plus(SECOND * seconds)));

        assert_eq!(left, [7, 6, 6, 5, 0, 0]);
        let later = noon().plus(SECOND * 4 * 900);
        assert_eq!(failures.and_one_more(PATIENCE, later).wait(later), None, "the fourth is free again");
    }

    #[test]
    fn who_never_stops_guessing_has_some_four_guesses_an_hour() {
        let (mut failures, mut now, mut guesses) = (Failures::none(noon()), noon(), 0);
        let (begin, end) = (noon().plus(HOUR * 24), noon().plus(HOUR * 48));
        while now < end {
            failures = failures.and_one_more(PATIENCE, now);
            guesses += u32::from(now >= begin);
            now = now.plus(failures.wait(now).unwrap_or_default().max(SECOND / 10));
        }

        assert!((90..=100).contains(&guesses), "{guesses} in a day");
    }

    #[test]
    fn a_guess_counts_for_networks_and_account_unless_it_is_familiar() {
        let ipv6 = guess("2001:db8::1");
        let account = || AccountHash::of(" Ada@Example.com ", &salt());

        let strangers = ipv6.guessers(false);
        assert_eq!(strangers.len(), 4);
        assert_eq!(strangers[3], Guesser::Strangers(account()));
        let free: Vec<_> = strangers.iter().map(|guesser| guesser.patience(GuessKind::Password).free).collect();
        assert_eq!(free, [10, 40, 160, 5]);

        let ThrottleSubject::Address(_, address) = ipv6.senders[0].clone() else { panic!("it is an address") };
        assert_eq!(ipv6.guessers(true), [Guesser::Familiar(account(), address)]);
        assert_eq!(guess("203.0.113.9").guessers(false).len(), 2);
    }

    #[test]
    fn without_an_account_only_the_address_counts() {
        let guess = Guess { kind: GuessKind::Token, account: None, ..guess("203.0.113.9") };

        assert_eq!(guess.guessers(false), guess.guessers(true));
        assert_eq!(guess.guessers(false).len(), 1);
    }

    #[test]
    fn others_are_in_nobodys_way_who_wants_to_register() {
        let guess = Guess { kind: GuessKind::Registration, ..guess("203.0.113.9") };

        assert_eq!(guess.guessers(true), [Guesser::Sender(guess.senders[0].clone())]);
        assert!(guess.pair().is_some(), "it is a sign-in");
    }

    #[test]
    fn what_is_no_address_is_an_account_of_its_own() {
        let hash = |text: &str| AccountHash::of(text, &salt());

        assert_eq!(hash("ADA@example.com"), hash("ada@example.com"));
        assert_ne!(hash("ada"), hash("bob"));
        assert_eq!(hash("ada"), hash("ada"));
    }

    /// Otherwise a sign-in to one of them would make an address familiar with the other.
    #[test]
    fn each_spelling_of_a_mailbox_is_an_account_of_its_own() {
        let hash = |text: &str| AccountHash::of(text, &salt());

        for other in ["ada+evil@example.com", "\"ada\"@example.com"] {
            assert_ne!(hash("ada@example.com"), hash(other), "{other}");
        }
    }

    #[test]
    fn a_budget_has_room_for_the_two_hashes_of_a_new_password() {
        let (usual, least): (HashBudget, HashBudget) = ("20".parse().unwrap(), "2".parse().unwrap());
        assert_eq!((usual.per_second(), usual.per_account(), usual.per_network()), (20, 5, 4));
        assert_eq!((least.per_second(), least.per_account(), least.per_network()), (2, 1, 1));
        assert!(HashBudget::has_room(least.per_account(), 0, 2) && !HashBudget::has_room(least.per_account(), 1, 1));
        for refused in ["", "0", "1", "-5", "many"] {
            assert!(refused.parse::<HashBudget>().is_err(), "{refused}");
        }
    }
}
