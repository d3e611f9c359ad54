//! Failed guesses, and where people have signed in from.
//!
//! A guess is counted as a failure before anybody knows whether it is one, and given back if it wasn't. So guesses that come
//! at the same moment can't all be admitted because none of them has failed yet.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::KeysAndAttributes;
use futures_util::future::try_join_all;
use linklet_domain::{AccountHash, Failures, FamiliarNetwork, Guess, Guesser, Patience, Timestamp, lifetimes, reclaim};

use super::item::{FAMILIAR_PREFIX, FailuresItem, FamiliarItem, account_partition, familiar_key, guesser_key, ttl};
use super::{ThrottleTable, once};
use crate::item::{Item, Key, SortKeys, from_item, number};
use crate::write::Outcome;
use crate::{RepositoryError, Result};

/// The outcome of a guess that somebody wants to make.
#[derive(Debug)]
pub enum GuessOutcome {
    /// It may be made, and is counted as a failure.
    Admitted(AdmittedGuess),
    /// It has to wait.
    MustWait {
        /// For how long.
        wait: Duration,
        /// What it was counted as before that was known, which is to be given back.
        counted: AdmittedGuess,
    },
}

/// A guess that counts as a failure until it is given back.
#[derive(Debug)]
pub struct AdmittedGuess {
    /// When the account and the address stop being familiar with each other, if they are.
    familiar_until: Option<Timestamp>,
    counted: Vec<Counted>,
}

impl AdmittedGuess {
    /// Whether somebody has signed in to the account from the same address before.
    pub fn is_familiar(&self) -> bool {
        self.familiar_until.is_some()
    }

    /// Whether the next guess has to wait unless this one is given back.
    pub fn begins_wait(&self) -> bool {
        self.counted.iter().any(|counted| counted.wait_until.is_some())
    }
}

/// A failure that a guess was counted as.
#[derive(Debug)]
struct Counted {
    key: Key,
    patience: Patience,
    /// The end of the wait that began with it, if one did.
    wait_until: Option<Timestamp>,
}

impl ThrottleTable {
    /// Deletes all guesses at an account, and where its person has signed in from.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_account(&self, account: &AccountHash) -> Result<()> {
        self.table.delete_partition("forget guesses at an account", &account_partition(account)).await
    }

    /// Forgets from where somebody may have signed in to an account before it was reclaimed from this network, which stays. It says
    /// whether that is all: it isn't if the time is over, since an account may be familiar with any number of networks.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_sign_ins(
        &self,
        reclaimed_from: &FamiliarNetwork,
        reclaimed_at: Timestamp,
        until: Instant,
    ) -> Result<bool> {
        const OPERATION: &str = "forget sign-ins";
        const AT_ONCE: usize = 100;
        let FamiliarNetwork { account, network } = reclaimed_from;
        let own = familiar_key(account, network);
        let query = self.table.query(&account_partition(account), SortKeys::Beginning(FAMILIAR_PREFIX));
        let mut answers = self.table.query_answers(OPERATION, query.consistent_read(true));
        while let Some(items) = answers.next().await? {
            let items = items.into_iter().map(|item| from_item::<FamiliarItem>(OPERATION, item));
            let mut known = items.collect::<Result<Vec<_>, _>>()?;
            known.retain(|item| item.key != own && reclaim::may_predate(item.signed_in_at(), reclaimed_at));
            let keys: Vec<_> = known.into_iter().map(|item| item.key.into_item()).collect();
            for some in keys.chunks(AT_ONCE) {
                if Instant::now() >= until {
                    return Ok(false);
                }
                self.table.delete_all(OPERATION, some.to_vec()).await?;
            }
        }
        Ok(true)
    }

    /// Counts a guess as a failure, unless somebody it counts for has to wait. It is exact, also with concurrent guesses.
    ///
    /// A guess that has to wait costs reads only.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the guess may or may not be counted then.
    pub async fn admit_guess(&self, guess: &Guess, now: Timestamp) -> Result<GuessOutcome> {
        let known = self.known_of(guess).await?;
        let familiar_until = known.familiar_until.filter(|until| now < *until);
        let guessers = guess.guessers(familiar_until.is_some());
        let seen = |guesser: &Guesser| known.failures_of(&guesser_key(guess.kind, guesser), now);
        let mut admitted = AdmittedGuess { familiar_until, counted: Vec::with_capacity(guessers.len()) };
        if let Some(wait) = guessers.iter().filter_map(|guesser| seen(guesser).wait(now)).max() {
            return Ok(GuessOutcome::MustWait { wait, counted: admitted });
        }
        for guesser in &guessers {
            let key = guesser_key(guess.kind, guesser);
            match self.count_failure(&key, guesser.patience(guess.kind), seen(guesser), now).await? {
                Ok(counted) => admitted.counted.push(counted),
                Err(wait) => return Ok(GuessOutcome::MustWait { wait, counted: admitted }),
            }
        }
        Ok(GuessOutcome::Admitted(admitted))
    }

    /// Takes back that a guess counts as a failure.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds; the guess may stay counted then.
    pub async fn give_back(&self, guess: &AdmittedGuess) -> Result<()> {
        try_join_all(guess.counted.iter().map(|counted| self.uncount_failure(counted))).await?;
        Ok(())
    }

    /// Remembers that somebody has signed in to the account from the address. Nothing is written if that is known for
    /// longer than all but a day of its lifetime.
    ///
    /// # Errors
    /// When DynamoDB doesn't answer within two seconds.
    pub async fn remember_sign_in(
        &self,
        guess: &Guess,
        admitted: Option<&AdmittedGuess>,
        now: Timestamp,
    ) -> Result<()> {
        const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let Some((account, address)) = guess.pair() else { return Ok(()) };
        let until = now.plus(lifetimes::FAMILIAR_ADDRESSES);
        let known_until = admitted.and_then(|admitted| admitted.familiar_until);
        if known_until.is_some_and(|known| known.until(until) < A_DAY) {
            return Ok(());
        }
        let update = self
            .table
            .update("remember a sign-in", familiar_key(account, address), "SET familiar_until = :until, #ttl = :ttl")
            .values([(":until", number(&until.unix_millis())), (":ttl", number(&until.unix_seconds()))]);
        once(update, Self::TIMEOUT_OF_GUESSES).await?;
        Ok(())
    }

    /// Whether the pair of a guess is familiar, and the failures of all for whom it may count.
    async fn known_of(&self, guess: &Guess) -> Result<GuessRecord> {
        const OPERATION: &str = "read failed guesses";
        let familiar = guess
            .pair()
            .filter(|_| guess.kind.may_be_familiar())
            .map(|(account, address)| familiar_key(account, address));
        let guessers = [true, false].into_iter().flat_map(|is_familiar| guess.guessers(is_familiar));
        let mut keys: Vec<Key> = familiar.iter().cloned().collect();
        for key in guessers.map(|guesser| guesser_key(guess.kind, &guesser)) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let items = self.read(OPERATION, keys).await?;
        let mut known = GuessRecord { familiar_until: None, failures: Vec::with_capacity(items.len()) };
        for item in items {
            let key: Key = from_item(OPERATION, item.clone())?;
            if Some(&key) == familiar.as_ref() {
                known.familiar_until = Some(from_item::<FamiliarItem>(OPERATION, item)?.familiar_until());
            } else {
                known.failures.push((key, from_item::<FailuresItem>(OPERATION, item)?.into()));
            }
        }
        Ok(known)
    }

    async fn read(&self, operation: &'static str, keys: Vec<Key>) -> Result<Vec<Item>> {
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys.into_iter().map(Key::into_item).collect()))
            .build()
            .map_err(RepositoryError::unavailable(operation))?;
        let read = self.table.client.batch_get_item().request_items(&self.table.name, request);
        let read = read.customize().config_override(Self::once_within(Self::TIMEOUT_OF_GUESSES)).send().await;
        let answer = read.map_err(RepositoryError::unavailable(operation))?;
        if answer.unprocessed_keys.is_some_and(|unprocessed| !unprocessed.is_empty()) {
            return Err(RepositoryError::incomplete(operation));
        }
        let mut tables: HashMap<String, Vec<Item>> = answer.responses.unwrap_or_default();
        Ok(tables.remove(&self.table.name).unwrap_or_default())
    }

    /// Adds a failure to those that were seen, or to those that there are meanwhile. If there is a wait, its length is the error.
    async fn count_failure(
        &self,
        key: &Key,
        patience: Patience,
        mut seen: Failures,
        now: Timestamp,
    ) -> Result<Result<Counted, Duration>> {
        /// A wait for those who are overtaken each time: there is a flood then, in which a wait is about to begin.
        const OVERTAKEN: Duration = Duration::from_secs(1);
        for _ in 0..Self::TRIES {
            if let Some(wait) = seen.wait(now) {
                return Ok(Err(wait));
            }
            let next = seen.and_one_more(patience, now);
            match self.write_failure(key, patience, (seen, next), now).await? {
                Outcome::Done(_) => {
                    return Ok(Ok(Counted { key: key.clone(), patience, wait_until: next.not_before }));
                }
                Outcome::Refused(found) => {
                    seen = match found {
                        Some(item) => from_item::<FailuresItem>("count a guess", item)?.into(),
                        None => Failures::none(now),
                    };
                }
            }
        }
        Ok(Err(OVERTAKEN))
    }

    /// Writes a failure. While it is free, others may add theirs at the same time; the first one, and each that begins a wait,
    /// needs to be the only one.
    async fn write_failure(
        &self,
        key: &Key,
        patience: Patience,
        (seen, next): (Failures, Failures),
        now: Timestamp,
    ) -> Result<Outcome> {
        const NOBODY_WAITS: &str = "(attribute_not_exists(not_before) OR not_before <= :now)";
        let one = patience.forgets_one_after;
        let mut values = vec![(":now", number(&now.unix_millis()))];
        let (change, condition, forgotten_by) = if seen.forgotten_at <= now {
            values.push((":next", number(&next.forgotten_at.unix_millis())));
            ("forgotten_at = :next", "(attribute_not_exists(forgotten_at) OR forgotten_at <= :now)", next.forgotten_at)
        } else if next.not_before.is_none() {
            // After this one there must be another one that is free.
            let room = now.plus(one * patience.free.saturating_sub(2));
            values.extend([(":one", number(&one.as_millis())), (":room", number(&room.unix_millis()))]);
            ("forgotten_at = forgotten_at + :one", "forgotten_at > :now AND forgotten_at <= :room", room.plus(one))
        } else {
            values.push((":next", number(&next.forgotten_at.unix_millis())));
            values.push((":seen", number(&seen.forgotten_at.unix_millis())));
            ("forgotten_at = :next", "forgotten_at = :seen", next.forgotten_at)
        };
        let mut changes = format!("SET {change}, #ttl = :ttl");
        if let Some(until) = next.not_before {
            changes.push_str(", not_before = :until");
            values.push((":until", number(&until.unix_millis())));
        }
        let update = self
            .table
            .update("count a guess", key.clone(), changes)
            .only_if(format!("{condition} AND {NOBODY_WAITS}"))
            .values(values)
            .value(":ttl", number(&ttl(forgotten_by)));
        once(update, Self::TIMEOUT_OF_GUESSES).await
    }

    /// Takes a failure back, and the wait that began with it unless another one has begun since.
    async fn uncount_failure(&self, counted: &Counted) -> Result<()> {
        const OPERATION: &str = "give a guess back";
        let one = number(&counted.patience.forgets_one_after.as_millis());
        let update =
            |change: &str| self.table.update(OPERATION, counted.key.clone(), change).value(":one", one.clone());
        if let Some(until) = counted.wait_until {
            let update = update("SET forgotten_at = forgotten_at - :one REMOVE not_before")
                .only_if("not_before = :until")
                .value(":until", number(&until.unix_millis()));
            if let Outcome::Done(_) = once(update, Self::TIMEOUT_OF_GUESSES).await? {
                return Ok(());
            }
        }
        let update = update("SET forgotten_at = forgotten_at - :one").only_if("attribute_exists(forgotten_at)");
        once(update, Self::TIMEOUT_OF_GUESSES).await?;
        Ok(())
    }
}

/// What the table says about a guess.
struct GuessRecord {
    familiar_until: Option<Timestamp>,
    failures: Vec<(Key, Failures)>,
}

impl GuessRecord {
    fn failures_of(&self, key: &Key, now: Timestamp) -> Failures {
        let found = self.failures.iter().find(|(of, _)| of == key);
        found.map_or_else(|| Failures::none(now), |(_, failures)| *failures)
    }
}
