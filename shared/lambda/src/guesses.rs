//! Limits on guessing passwords and tokens, counted in ThrottleTable by address and by account.

use std::time::Duration;

use linklet_domain::{
    AccountHash, Actor, AuditContext, FamiliarNetwork, Guess, GuessKind, HashFor, Hasher, IpHash, Salt, ThrottleSubject,
};
use linklet_dynamodb::{AdmittedGuess, GuessOutcome, RepositoryError, ThrottleTable};

use crate::aws::Tables;
use crate::http::{ApiError, Edge, Problem, Request, Result};
use crate::metrics::{self, Metric};
use crate::telemetry::chain;
use crate::{StartError, config};

/// Lets those wait who have guessed wrong too often.
pub struct Guesses {
    /// The table that has the failures.
    pub table: ThrottleTable,
    /// The trusted edge, which determines the client's address.
    pub edge: Edge,
    /// The salt for the hashes of addresses and accounts.
    pub salt: Salt,
}

/// What a request may guess.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// Of which kind the guess is.
    pub kind: GuessKind,
    /// Where it counts, too: the address or the id of an account, or the [folded](linklet_domain::ShortCode::folded) code of a link.
    pub account: Option<&'a str>,
}

impl Attempt<'_> {
    /// Whether the guess stays counted: because the answer tells that it was wrong, or because each one counts.
    fn stays_counted<T>(self, answer: &Result<T>) -> bool {
        match answer {
            Ok(_) => matches!(self.kind, GuessKind::Mail | GuessKind::Registration),
            Err(error) if self.kind == GuessKind::Link => {
                matches!(error.problem(), Problem::LinkPasswordWrong | Problem::SharePasswordWrong | Problem::NotFound)
            }
            Err(error) => matches!(
                error.problem(),
                Problem::InvalidCredentials | Problem::EmailTaken | Problem::InvitationInvalid | Problem::TokenInvalid
            ),
        }
    }

    /// Whether being right about it is a sign-in.
    fn is_sign_in(self) -> bool {
        matches!(self.kind, GuessKind::Password | GuessKind::Registration)
    }
}

impl Guesses {
    /// The limits with the table, the salt and the edge that the environment names.
    ///
    /// # Errors
    /// When a variable is missing or wrong, or the salt can't be read.
    pub async fn from_env(tables: &Tables, secrets: &aws_sdk_secretsmanager::Client) -> Result<Self, StartError> {
        let (table, edge) = (tables.at("THROTTLE_TABLE", ThrottleTable::new)?, config::parsed("TRUSTED_EDGE")?);
        let salt = crate::secrets::current(secrets, &config::required("CLICK_SALT_ID")?).await?;
        Ok(Self { table, edge, salt: Salt::parse(&salt)? })
    }

    /// Does what may turn out to be a wrong guess, unless too many were wrong before. `work` is told whose hashes it computes,
    /// or nothing if the table can't count them.
    ///
    /// The guess counts as a failure from before `work` begins, so that guesses at the same moment don't all count as the
    /// first one, until its answer says otherwise. If the table doesn't answer in time, the guess is admitted and a warning is
    /// logged, as with other limits.
    ///
    /// # Errors
    /// 429 if the guess has to wait, and those of `work`.
    pub async fn limit<T>(
        &self,
        request: &Request,
        attempt: Attempt<'_>,
        work: impl AsyncFnOnce(Option<HashFor>) -> Result<T>,
    ) -> Result<T> {
        let guess = self.guess(request, attempt);
        let Some(admitted) = self.admit(request, &guess).await? else { return work(None).await };
        if attempt.kind == GuessKind::Password && admitted.begins_wait() {
            request.note_last_guess();
        }
        let whose = if admitted.is_familiar() { HashFor::Known } else { HashFor::Strangers };
        let answer = work(Some(whose)).await;
        if let Err(error) = &answer
            && matches!(error.problem(), Problem::TokenInvalid | Problem::InvitationInvalid)
        {
            let (code, address_hash) = (error.problem().code(), self.address_hash(request));
            tracing::warn!(code, address_hash = address_hash.as_str(), "a one-time token was refused");
        }
        let give_back = async {
            if !attempt.stays_counted(&answer) {
                warn_about(self.table.give_back(&admitted).await, "a guess that wasn't wrong stays counted");
            }
        };
        let remember = async {
            if attempt.is_sign_in() && answer.is_ok() {
                let remembered = self.table.remember_sign_in(&guess, Some(&admitted), request.received_at).await;
                warn_about(remembered, "a sign-in was not remembered");
            }
        };
        tokio::join!(give_back, remember);
        answer
    }

    /// Makes the request's address familiar with an account whose person has proved that they read its mail. Somebody else's guesses
    /// at the password are not in their way then.
    pub async fn remember_proof(&self, request: &Request, account: &str) {
        let guess = self.guess(request, Attempt { kind: GuessKind::Password, account: Some(account) });
        let remembered = self.table.remember_sign_in(&guess, None, request.received_at).await;
        warn_about(remembered, "a proof was not remembered");
    }

    /// The hash under which guesses at an account's password are counted.
    pub fn account_hash(&self, email: &str) -> AccountHash {
        AccountHash::of(email, &self.salt)
    }

    /// The hash of the address that a request comes from, for log lines.
    pub fn address_hash(&self, request: &Request) -> IpHash {
        IpHash::of(&self.edge.address(request), &self.salt)
    }

    /// Where what somebody changes by this request comes from, for its entry in the audit log.
    pub fn origin(&self, request: &Request, actor: Actor) -> AuditContext {
        let (at, correlation_id) = (request.received_at, request.correlation_id.clone());
        AuditContext { actor, at, address: Some(self.address_hash(request)), correlation_id }
    }

    /// The hash of the smallest network that the request comes from, for which it is remembered who has signed in from there.
    pub fn network_hash(&self, request: &Request) -> IpHash {
        IpHash::of_network(&self.edge.address(request), &self.salt)
    }

    /// Whose hashes a request has computed.
    pub(crate) fn hasher(&self, request: &Request, class: HashFor, account: &str) -> Hasher {
        let network = IpHash::of_site(&self.edge.address(request), &self.salt);
        Hasher { class, network, account: AccountHash::of(account, &self.salt) }
    }

    /// An account, and the network from which this request makes it known.
    pub fn familiar_network(&self, request: &Request, account: &str) -> FamiliarNetwork {
        FamiliarNetwork { account: self.account_hash(account), network: self.network_hash(request) }
    }

    fn guess(&self, request: &Request, Attempt { kind, account }: Attempt<'_>) -> Guess {
        let senders = ThrottleSubject::all_at(&self.edge.address(request), &self.salt);
        Guess { kind, senders, account: account.map(|account| AccountHash::of(account, &self.salt)) }
    }

    async fn admit(&self, request: &Request, guess: &Guess) -> Result<Option<AdmittedGuess>> {
        match self.table.admit_guess(guess, request.received_at).await {
            Ok(GuessOutcome::Admitted(admitted)) => Ok(Some(admitted)),
            Ok(GuessOutcome::MustWait { wait, counted }) => {
                let (kind, address_hash) = (guess.kind.as_str(), self.address_hash(request));
                tracing::warn!(kind, address_hash = address_hash.as_str(), "a guess has to wait");
                warn_about(self.table.give_back(&counted).await, "a refused guess stays counted");
                Err(must_wait(wait))
            }
            Err(error) => {
                warn_about(Err(error), "a guess was admitted without being counted");
                Ok(None)
            }
        }
    }
}

/// The refusal of somebody who has to wait.
pub fn must_wait(wait: Duration) -> ApiError {
    let seconds = wait.as_millis().div_ceil(1_000);
    ApiError::TooManyAttempts { retry_after: u64::try_from(seconds).unwrap_or(u64::MAX).max(1) }
}

fn warn_about(outcome: Result<(), RepositoryError>, what: &'static str) {
    if let Err(error) = outcome {
        metrics::add(Metric::ThrottleUnavailable, 1);
        tracing::warn!(error = chain(&error), what, "a limit on guesses did not work");
    }
}
