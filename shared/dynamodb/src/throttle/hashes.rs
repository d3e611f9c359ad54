//! How many passwords are hashed in a second: by all, by each network and by each account.
//!
//! A second has one item for each class, so that a hash costs one write. The item counts all hashes, and those of networks and of
//! accounts in a count-min sketch, so that it stays below a kilobyte: each network and each account has two of 64 counters, and the
//! smaller of them is at least what they have spent. So nobody gets more than their share. If one other has used up theirs, somebody is
//! refused by mistake with a chance of one in a thousand, and if five have, which are the most with a budget of 20, of one in forty. In
//! the next second the counters are others.

use std::collections::HashMap;

use linklet_domain::{HashBudget, HashFor, Hasher, Timestamp};
use parking_lot::Mutex;

use super::item::{hashes_key, ttl};
use super::{ThrottleTable, once};
use crate::Result;
use crate::item::{Item, number};
use crate::write::{Outcome, Write};

/// What this environment has seen last of a second, by class. Counters only rise, so what has no room there has none in the table. During
/// a flood, this spares DynamoDB a write for each refusal.
#[derive(Debug, Default)]
pub(super) struct SeenSeconds(Mutex<HashMap<HashFor, (i64, Item)>>);

impl SeenSeconds {
    fn have_room(&self, wanted: &Wanted) -> bool {
        let seconds = self.0.lock();
        let seen = seconds.get(&wanted.class).filter(|(second, _)| *second == wanted.second);
        seen.is_none_or(|(_, item)| wanted.fit(item))
    }

    fn remember(&self, wanted: &Wanted, item: Item) {
        self.0.lock().insert(wanted.class, (wanted.second, item));
    }
}

impl ThrottleTable {
    /// Takes hashes out of the budget of this second, and out of the shares of the network and the account, unless too little is left.
    /// It is exact, also with concurrent calls.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the hashes may or may not be counted then.
    pub async fn spend_hashes(&self, hasher: &Hasher, hashes: u32, budget: HashBudget, now: Timestamp) -> Result<bool> {
        let wanted = Wanted::by(hasher, hashes, budget, now);
        if !self.seen.have_room(&wanted) {
            return Ok(false);
        }
        let (is_spent, item) = match once(self.spending(&wanted, now), Self::TIMEOUT_OF_GUESSES).await? {
            Outcome::Done(item) => (true, item),
            Outcome::Refused(item) => (false, item.unwrap_or_default()),
        };
        self.seen.remember(&wanted, item);
        Ok(is_spent)
    }

    fn spending(&self, wanted: &Wanted, now: Timestamp) -> Write<'_> {
        const CHANGE: &str = "SET #ttl = :ttl \
            ADD hashes :hashes, #network :hashes, #network2 :hashes, #account :hashes, #account2 :hashes";
        const HAS_ROOM: &str = "(attribute_not_exists(hashes) OR hashes <= :room) \
            AND (attribute_not_exists(#network) OR attribute_not_exists(#network2) \
                OR #network <= :room_of_network OR #network2 <= :room_of_network) \
            AND (attribute_not_exists(#account) OR attribute_not_exists(#account2) \
                OR #account <= :room_of_account OR #account2 <= :room_of_account)";
        let [[network, network2], [account, account2]] = &wanted.counters;
        let (budget, room) = (wanted.budget, |of: u32| number(&of.saturating_sub(wanted.hashes)));
        self.table
            .update("spend hashes", hashes_key(wanted.class, wanted.second), CHANGE)
            .only_if(HAS_ROOM)
            .placeholder("network", network)
            .placeholder("network2", network2)
            .placeholder("account", account)
            .placeholder("account2", account2)
            .values([(":hashes", number(&wanted.hashes)), (":ttl", number(&ttl(now)))])
            .value(":room", room(budget.per_second()))
            .value(":room_of_network", room(budget.per_network()))
            .value(":room_of_account", room(budget.per_account()))
    }
}

/// Hashes that somebody wants to have computed.
struct Wanted {
    class: HashFor,
    second: i64,
    /// The counters of the network, and those of the account.
    counters: [[String; 2]; 2],
    hashes: u32,
    budget: HashBudget,
}

impl Wanted {
    fn by(hasher: &Hasher, hashes: u32, budget: HashBudget, now: Timestamp) -> Self {
        let (class, second) = (hasher.class, now.unix_seconds());
        let network = counters(["n", "m"], hasher.network.as_str(), second);
        let account = counters(["a", "b"], hasher.account.as_str(), second);
        Self { class, second, counters: [network, account], hashes, budget }
    }

    /// Whether an item has room for them, as the condition of the write says it.
    fn fit(&self, item: &Item) -> bool {
        let spent = |counter: &str| {
            let counted = item.get(counter).and_then(|counted| counted.as_n().ok());
            counted.and_then(|counted| counted.parse().ok()).unwrap_or_default()
        };
        let has_room = |counter: &str, of: u32| HashBudget::has_room(of, spent(counter), self.hashes);
        let [network, account] = &self.counters;
        let budget = self.budget;
        has_room("hashes", budget.per_second())
            && network.iter().any(|counter| has_room(counter, budget.per_network()))
            && account.iter().any(|counter| has_room(counter, budget.per_account()))
    }
}

/// The counters of a hash of 64 digits in a second: one in each of two rows. Other digits say which in each of sixteen seconds.
fn counters(rows: [&str; 2], hash: &str, second: i64) -> [String; 2] {
    const COUNTERS: u16 = 32;
    const DIGITS: usize = 4;
    let begin = DIGITS * usize::try_from(second.rem_euclid(16)).unwrap_or_default();
    let digits = hash.get(begin..begin + DIGITS).unwrap_or_default();
    let drawn = u16::from_str_radix(digits, 16).unwrap_or_default();
    let [row, other] = rows;
    [format!("{row}{}", drawn % COUNTERS), format!("{other}{}", (drawn >> 8) % COUNTERS)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_shares_counters_in_a_second_does_not_in_the_next() {
        let (one, other) = (format!("1234abcd{}", "0".repeat(56)), format!("1234dcba{}", "0".repeat(56)));
        let are_shared = |second| counters(["n", "m"], &one, second) == counters(["n", "m"], &other, second);

        assert!(are_shared(16) && !are_shared(17));
    }

    #[test]
    fn two_rows_have_sixty_four_counters() {
        let all = (0..=u16::MAX).flat_map(|digits| counters(["n", "m"], &format!("{digits:04x}"), 0));

        assert_eq!(all.collect::<std::collections::HashSet<_>>().len(), 64);
    }
}
