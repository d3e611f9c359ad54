//! Limits on guessing passwords and on hashing them.

use std::time::{Duration, Instant};

use crate::aws::Tables;
use crate::guesses::{Attempt, Guesses, must_wait};
use crate::http::{ApiError, Problem, Request, Result};
use crate::limiter::answer_of_table;
use crate::metrics::{self, Metric};
use crate::passwords::Passwords;
use crate::throttle::Throttle;
use crate::{StartError, config};
use linklet_domain::{
    GuessKind, HashBudget, HashFor, LinkId, LinkPassword, ShareId, ShortCode, Timestamp, TypedPassword, UserId,
};
use tokio::{sync::Mutex, time::sleep};

/// For so long a [budget](HashBudget) is.
const A_SECOND: Duration = Duration::from_secs(1);

/// Hashes the passwords of links within their budget.
pub struct LinkHashing {
    limits: Limits,
    passwords: Passwords,
    turn: Mutex<()>,
}

impl LinkHashing {
    /// Within these limits.
    pub fn within(limits: Limits) -> Self {
        Self { limits, passwords: Passwords::default(), turn: Mutex::default() }
    }

    /// Within a budget that is kept in the same table as calls are counted in.
    pub fn beside(Throttle { table, edge, salt, .. }: &Throttle, hashes: HashBudget) -> Self {
        let guesses = Guesses { table: table.clone(), edge: *edge, salt: salt.clone() };
        Self::within(Limits { guesses, hashes })
    }

    /// The hash of a new password, which this person gives to a link. If it is one of several passwords of a request, they are hashed
    /// one after another, each as soon as there is room for it.
    ///
    /// # Errors
    /// 429 if as many passwords are hashed in this second as may be, or for one of several, if there is no room until that time.
    pub async fn hash(
        &self,
        request: &Request,
        by: &UserId,
        password: &LinkPassword,
        among_many_until: Option<Instant>,
    ) -> Result<String> {
        let Some(until) = among_many_until else {
            return self.hash_at(request, by, password, request.received_at).await;
        };
        let _turn = self.turn.lock().await;
        loop {
            match self.hash_at(request, by, password, Timestamp::now()).await {
                Err(ApiError::TooManyAttempts { .. }) if Instant::now() + A_SECOND < until => sleep(A_SECOND).await,
                hashed => return hashed,
            }
        }
    }

    async fn hash_at(&self, request: &Request, by: &UserId, password: &LinkPassword, now: Timestamp) -> Result<String> {
        self.admit(request, &by.to_string(), now).await?;
        self.passwords.hash(password.typed()).map_err(ApiError::internal)
    }

    /// Does what may turn out to be a guess at the password of the link with this code, or at a code. Wrong ones make their sender
    /// wait longer and longer, at this link and at all, and nobody else. All spellings of a code count as one.
    ///
    /// # Errors
    /// 429 for those who have to wait, and those of `work`.
    pub async fn guess<T>(
        &self,
        request: &Request,
        code: &ShortCode,
        work: impl AsyncFnOnce() -> Result<T>,
    ) -> Result<T> {
        let folded = code.folded();
        let attempt = Attempt { kind: GuessKind::Link, account: Some(&folded) };
        self.limits.guesses.limit(request, attempt, async |_| work().await).await
    }

    /// Whether a password is the one that is stored for a link.
    ///
    /// # Errors
    /// 403 if it is another one, 429 if as many passwords are hashed in this second as may be.
    pub async fn verify(
        &self,
        request: &Request,
        link: &LinkId,
        password: &TypedPassword,
        stored: Option<&str>,
    ) -> Result<()> {
        self.admit(request, &link.to_string(), request.received_at).await?;
        let is_right = self.passwords.verify(password, stored);
        if is_right { Ok(()) } else { Err(Problem::LinkPasswordWrong.into()) }
    }

    /// Refuses a password that isn't the one that is stored for a share. A wrong one counts as one of a link's does.
    ///
    /// # Errors
    /// 403 if it is another one, 429 for those who have to wait, or if as many passwords are hashed in this second as may be.
    pub async fn guess_of_share(
        &self,
        request: &Request,
        share: &ShareId,
        password: &TypedPassword,
        stored: &str,
    ) -> Result<()> {
        let attempt = Attempt { kind: GuessKind::Link, account: Some(share.as_str()) };
        let verify = async |_| {
            self.admit(request, share.as_str(), request.received_at).await?;
            let is_right = self.passwords.verify(password, Some(stored));
            if is_right { Ok(()) } else { Err(Problem::SharePasswordWrong.into()) }
        };
        self.limits.guesses.limit(request, attempt, verify).await
    }

    /// Counts a hash for a link or for the person who gives it a password.
    async fn admit(&self, request: &Request, whose: &str, now: Timestamp) -> Result<()> {
        self.limits.admit_hashes(request, Some(HashFor::Links), whose, 1, now).await
    }
}

/// What keeps people from guessing, and guesses from being in the way of everybody else.
pub struct Limits {
    /// Lets those wait who guess, and has the table for hashes as well.
    pub guesses: Guesses,
    /// How many passwords are hashed in a second: so many for strangers, and as many for those who are known.
    pub hashes: HashBudget,
}

impl Limits {
    /// The limits with the budget, the table, the salt and the edge that the environment names.
    ///
    /// # Errors
    /// When a variable is missing or wrong, or the salt can't be read.
    pub async fn from_env(tables: &Tables, secrets: &aws_sdk_secretsmanager::Client) -> Result<Self, StartError> {
        let hashes = config::parsed("HASHES_PER_SECOND")?;
        Ok(Self { guesses: Guesses::from_env(tables, secrets).await?, hashes })
    }

    /// Counts hashes at an account before they are computed, unless there is no room for them in this second, so that hashing doesn't
    /// take all execution environments that there are, and nobody takes all hashes. If the table doesn't answer in time, or didn't
    /// before (`whose` is `None` then), they are allowed and a warning is logged, as with other limits.
    ///
    /// # Errors
    /// 429 if there is no room. Whoever is refused is told to wait for one to three seconds, so that not all come back at once.
    pub async fn admit_hashes(
        &self,
        request: &Request,
        whose: Option<HashFor>,
        account: &str,
        hashes: u32,
        now: Timestamp,
    ) -> Result<()> {
        let Some(class) = whose else { return Ok(()) };
        let hasher = self.guesses.hasher(request, class, account);
        let spent = self.guesses.table.spend_hashes(&hasher, hashes, self.hashes, now).await;
        match answer_of_table(spent, "a password is hashed without being counted") {
            Some(false) => {
                metrics::add(Metric::HashesRefused, 1);
                Err(must_wait(Duration::from_secs(fastrand::u64(1..=3))))
            }
            Some(true) | None => Ok(()),
        }
    }
}
