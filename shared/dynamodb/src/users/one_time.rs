//! One-time tokens: for a new password, and with which people show that an address is theirs.
//!
//! A token's item is under the hash of the token, so nobody who reads the table can use one. It goes in the transaction that does
//! what the token is for, so a token works once, also if it is sent twice at the same time.
//!
//! [`OneTimeTokens`] makes tokens, and has only what that takes: it can neither read what an account has nor use a token.
//! [`UsersTable`] uses them.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    AuditAction, AuditContext, AuditSubject, Credential, EmailAddress, FamiliarNetwork, Identity, Task, TaskWork,
    Timestamp, TokenHash, UserId, WorkspaceId, lifetimes, reclaim::Reclaim,
};

use super::UsersTable;
use super::addresses::AddressProof;
use super::item::{
    AddressItem, EmailItem, EndedSessionsItem, TokenItem, address_key, email_key, keep_key, reset_key, user_key,
    verification_key,
};
use super::people::Differences;
use super::sessions::{ENDS_MORE, REMOVE_PASSWORD, SET_PASSWORD};
use crate::Result;
use crate::item::{IS_NEW, Key, Table, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::ACTION;

/// The repository for making one-time tokens.
#[derive(Debug, Clone)]
pub struct OneTimeTokens(pub Table);

/// Whose a one-time token is, and when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken<'a> {
    /// The hash of the token.
    pub hash: &'a TokenHash,
    /// The account.
    pub user: &'a UserId,
    /// The address that it is about.
    pub email: &'a EmailAddress,
    /// When the token was made.
    pub issued_at: Timestamp,
}

/// How a token gets to the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenDelivery {
    /// By mail only, so that who has it reads the address's mail.
    Mailed,
    /// Shown to somebody, who passes it on.
    Shown,
}

impl OneTimeTokens {
    /// The account with this address, unless it was closed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn account_of(&self, email: &EmailAddress) -> Result<Option<UserId>> {
        let found = self.0.get::<EmailItem>("find an account", email_key(email)).await?;
        Ok(found.filter(|item| item.closed_at.is_none()).map(|item| item.user_id))
    }

    /// Stores a token for a new password.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn issue_reset(&self, token: &NewToken<'_>, delivery: TokenDelivery) -> Result<()> {
        self.issue("store a token for a new password", &reset_item(token, delivery)).await
    }

    /// Stores a mailed token with which somebody keeps their address, although another one is wanted.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn issue_keep(&self, token: &NewToken<'_>) -> Result<()> {
        self.issue("store a token to keep an address", &address_item(keep_key(token.hash), token)).await
    }

    /// Stores a mailed token for an address.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn issue_verification(&self, token: &NewToken<'_>) -> Result<()> {
        self.issue("store a token for an address", &address_item(verification_key(token.hash), token)).await
    }

    async fn issue(&self, operation: &'static str, item: &TokenItem) -> Result<()> {
        self.0.put_item(operation, item)?.only_if(IS_NEW).or_fail().await
    }
}

fn reset_item(token: &NewToken<'_>, delivery: TokenDelivery) -> TokenItem {
    TokenItem::new(reset_key(token.hash), token, lifetimes::PASSWORD_RESETS, delivery)
}

fn address_item(key: Key, token: &NewToken<'_>) -> TokenItem {
    TokenItem::new(key, token, lifetimes::ADDRESS_VERIFICATIONS, TokenDelivery::Mailed)
}

/// A token for a new password that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordReset {
    hash: TokenHash,
    /// The account.
    pub user: UserId,
    /// The address of the account.
    pub email: EmailAddress,
    issued_at: Timestamp,
    /// How the token got to the person.
    pub delivery: TokenDelivery,
    /// Whether an operator has made it.
    pub by_operator: bool,
}

/// The outcome of setting a new password with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetOutcome {
    /// The account has the new password.
    Done {
        /// Whether that was the first proof that the address is the person's. Then what others may have made in the account's name
        /// is [paused](linklet_domain::reclaim::Reclaim).
        is_first_proof: bool,
    },
    /// The token was used, or another password was set since it was made.
    TokenInvalid,
    /// Somebody has ended all sessions at the same time; a retry may succeed.
    Conflict,
}

/// A mailed token for an address that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressVerification {
    hash: TokenHash,
    /// The account.
    pub user: UserId,
    /// The address, which is the account's or the one that is wanted instead.
    pub email: EmailAddress,
}

/// The outcome of using a token for an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyOutcome {
    /// The address is verified, and the account has the password if one was chosen.
    Verified,
    /// The address is verified, and the account's from now on.
    Replaced {
        /// The address that the account had before, if the person had shown that it was theirs, and mails got there.
        verified: Option<EmailAddress>,
    },
    /// Another account has the address by now.
    EmailTaken,
    /// The token was used, or the account was closed.
    TokenInvalid,
    /// The account has a password already.
    PasswordChosen,
}

/// As [`SET_PASSWORD`], by an operator's token.
const SET_PASSWORD_FOR_NOW: &str = "SET password_hash = :new, password_changed_at = :at, password_works_until = :until";

const VERIFY: &str = "verify an address";

impl UsersTable {
    /// Stores a token for a new password that an operator has made, of which the audit logs of these workspaces tell as well. One that the
    /// operator vouches for counts as mailed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn show_reset(
        &self,
        token: &NewToken<'_>,
        delivery: TokenDelivery,
        workspaces: &[WorkspaceId],
        origin: &AuditContext,
    ) -> Result<()> {
        const OPERATION: &str = "store a token for a new password";
        let issued = AuditAction::AccountResetIssued;
        let in_workspaces = workspaces
            .iter()
            .map(|workspace| origin.in_workspace(workspace, issued, AuditSubject::Member(*token.user)));
        let entries = [origin.of_person(token.user, issued)].into_iter().chain(in_workspaces);
        let entries = entries.map(|entry| self.entry(&entry)).collect::<Result<Vec<_>>>()?;
        Transaction::new(OPERATION)
            .and(self.0.put_new(&TokenItem { by_operator: true, ..reset_item(token, delivery) })?, ())
            .and_each(entries, ())
            .or_fail(&self.0.client)
            .await
    }

    /// Looks up a token for a new password. One that has expired is as unknown as one that never was.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reset(&self, token: &TokenHash, now: Timestamp) -> Result<Option<PasswordReset>> {
        let found = self.0.get::<TokenItem>("look up a token for a new password", reset_key(token)).await?;
        Ok(found.filter(|item| now < item.expires_at).map(|item| PasswordReset {
            hash: token.clone(),
            user: item.user_id,
            email: item.email,
            issued_at: item.issued_at,
            delivery: if item.mailed { TokenDelivery::Mailed } else { TokenDelivery::Shown },
            by_operator: item.by_operator,
        }))
    }

    /// Sets a new password, ends all sessions and uses up the token, in one transaction. A mailed token shows, too, that the address
    /// is the person's. If nothing had shown that before, the same transaction has what others may have made in the account's name
    /// [paused](linklet_domain::reclaim::Reclaim), and all networks forgotten from which somebody has signed in, but for this one.
    ///
    /// Each try asks the clock anew, so that sessions which began during an earlier try end, too.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reset_password(
        &self,
        reset: &PasswordReset,
        new_hash: &str,
        network: &FamiliarNetwork,
        clock: impl Fn() -> Timestamp,
        origin: &AuditContext,
    ) -> Result<ResetOutcome> {
        self.reset_credential(reset, Credential::Password(new_hash), network, clock, origin).await
    }

    /// As [`Self::reset_password`], with whatever credential. An identity takes the place of the password, and of other identities at the
    /// same provider: whoever has had the address before may have them. The first proof of whose the address is takes all identities away,
    /// which may be somebody else's.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn reset_credential(
        &self,
        reset: &PasswordReset,
        credential: Credential<'_>,
        network: &FamiliarNetwork,
        clock: impl Fn() -> Timestamp,
        origin: &AuditContext,
    ) -> Result<ResetOutcome> {
        const OPERATION: &str = "set a new password";
        const INVALID: Option<ResetOutcome> = Some(ResetOutcome::TokenInvalid);
        retry_on_conflict(OPERATION, async || {
            let Some(proof) = self.proof_of(reset, credential).await? else { return Ok(INVALID) };
            let had_password = match credential {
                Credential::Identity(_) => {
                    self.account(&reset.user).await?.is_some_and(|one| one.password_hash.is_some())
                }
                Credential::Password(_) => false,
            };
            let at = clock();
            let ended = EndedSessionsItem::new(&reset.user, at, None);
            let mut transaction = Transaction::new(OPERATION)
                .and(self.used_up(reset_key(&reset.hash))?, INVALID)
                .and(self.new_credential(reset, credential, proof, at)?, INVALID)
                .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&at))])?, Some(ResetOutcome::Conflict))
                // It may have been proved a moment ago.
                .and(self.address_change(&reset.user, &reset.email, proof, at)?, None);
            transaction = match credential {
                Credential::Password(_) => {
                    let entry = origin.of_person(&reset.user, AuditAction::AccountPasswordReset);
                    transaction.and(self.entry(&entry)?, None)
                }
                // An identity that another account has got meanwhile.
                Credential::Identity(identity) => {
                    transaction.and_each(self.connecting(&reset.user, identity, origin).await?, INVALID)
                }
            };
            for identity in self.superseded(reset, credential, proof).await? {
                let removed = origin.of_person(&reset.user, AuditAction::AccountIdentityRemoved).from(&identity.issuer);
                let away = self.disconnecting(&reset.user, &identity.hash)?;
                transaction = transaction.and_each(away, None).and(self.entry(&removed)?, None);
            }
            if had_password {
                let removed = origin.of_person(&reset.user, AuditAction::AccountPasswordRemoved);
                transaction = transaction.and(self.entry(&removed)?, None);
            }
            if proof == AddressProof::First {
                let reclaim = Reclaim { user: reset.user, reclaimed_at: at, reclaimed_from: network.clone() };
                let task = Task::new(TaskWork::Reclaim(reclaim), at, &origin.correlation_id);
                let verified = origin.of_person(&reset.user, AuditAction::AccountAddressVerified);
                transaction = transaction.and_each(self.2.begin(&task)?, None).and(self.entry(&verified)?, None);
            }
            transaction
                .commit(&self.0.client, ResetOutcome::Done { is_first_proof: proof == AddressProof::First })
                .await
        })
        .await
    }

    /// The identities that a token for a new password takes away.
    async fn superseded(
        &self,
        reset: &PasswordReset,
        credential: Credential<'_>,
        proof: AddressProof,
    ) -> Result<Vec<Identity>> {
        let goes = |identity: &Identity| match credential {
            Credential::Identity(new) if new.hash == identity.hash => false,
            _ if proof == AddressProof::First => true,
            Credential::Identity(new) => new.issuer == identity.issuer,
            Credential::Password(_) => false,
        };
        Ok(self.identities(&reset.user).await?.into_iter().filter(goes).collect())
    }

    /// What a token for a new password shows about the address; `None` if the account has another one by now.
    async fn proof_of(&self, reset: &PasswordReset, credential: Credential<'_>) -> Result<Option<AddressProof>> {
        let address = self.0.get::<AddressItem>("look up an address", address_key(&reset.user)).await?;
        let current = address.filter(|address| address.email == reset.email);
        Ok(current.map(|address| match (reset.delivery, credential) {
            (TokenDelivery::Shown, Credential::Password(_)) => AddressProof::None,
            // Nobody has used an account that has had no password yet, so nothing in it is to be paused.
            _ if address.verified_at.is_some() || address.awaits_password => AddressProof::Another,
            _ => AddressProof::First,
        }))
    }

    /// The action that sets a new password, or takes it away for an identity, unless one was set since the token was made. The first proof of whose the address is sets
    /// it all the same: otherwise a squatter who changes the password every minute would keep the account.
    fn new_credential(
        &self,
        reset: &PasswordReset,
        credential: Credential<'_>,
        proof: AddressProof,
        at: Timestamp,
    ) -> Result<TransactWriteItem> {
        const IS_OPEN: &str = "attribute_exists(pk) AND attribute_not_exists(closed_at)";
        const IS_OLDER: &str = "(attribute_not_exists(password_changed_at) OR password_changed_at < :issued)";
        let (change, new_hash) = match credential {
            Credential::Password(hash) if reset.by_operator => (SET_PASSWORD_FOR_NOW, Some(hash)),
            Credential::Password(hash) => (SET_PASSWORD, Some(hash)),
            Credential::Identity(_) => (REMOVE_PASSWORD, None),
        };
        let update = self
            .0
            .update(ACTION, user_key(&reset.user), change)
            .only_if(IS_OPEN)
            .value(":at", text(&at))
            .values(new_hash.map(|hash| (":new", text(hash))))
            .values((change == SET_PASSWORD_FOR_NOW).then(|| (":until", text(&at.plus(lifetimes::SESSIONS)))));
        match proof {
            AddressProof::First => update,
            AddressProof::None | AddressProof::Another => {
                update.and_if(IS_OLDER).value(":issued", text(&reset.issued_at))
            }
        }
        .action()
    }

    /// Looks up a token for an address. One that has expired is as unknown as one that never was.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn verification(&self, token: &TokenHash, now: Timestamp) -> Result<Option<AddressVerification>> {
        let found = self.0.get::<TokenItem>(VERIFY, verification_key(token)).await?;
        let usable = found.filter(|item| now < item.expires_at);
        let hash = token.clone();
        Ok(usable.map(|TokenItem { user_id: user, email, .. }| AddressVerification { hash, user, email }))
    }

    /// Records that an address is its account's person's, and uses up the token that shows it, in one transaction. It sets the first
    /// password of an account that has none, if one is chosen.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn verify_with(
        &self,
        verification: &AddressVerification,
        first_password: Option<&str>,
        now: Timestamp,
        origin: &AuditContext,
    ) -> Result<VerifyOutcome> {
        const INVALID: Option<VerifyOutcome> = Some(VerifyOutcome::TokenInvalid);
        let AddressVerification { hash, user, email } = verification;
        retry_on_conflict(VERIFY, async || {
            let Some(person) = self.stored_person(user).await? else { return Ok(INVALID) };
            let mut transaction = Transaction::new(VERIFY).and(self.used_up(verification_key(hash))?, INVALID);
            let mut verified = VerifyOutcome::Verified;
            if person.address.email == *email {
                let entry = origin.of_person(user, AuditAction::AccountAddressVerified);
                transaction = transaction
                    .and(self.address_change(user, email, AddressProof::Another, now)?, INVALID)
                    .and(self.entry(&entry)?, None);
            } else if person.address.pending(now).is_some_and(|pending| pending.email == *email) {
                let differences = Differences::shown(email, now);
                transaction = self.and_person(transaction, &person, &differences, VerifyOutcome::EmailTaken, origin)?;
                verified = VerifyOutcome::Replaced { verified: person.address.reachable() };
            } else {
                return Ok(INVALID);
            }
            if let Some(hash) = first_password {
                let chosen = Some(VerifyOutcome::PasswordChosen);
                transaction = transaction.and(self.first_password(user, hash, now)?, chosen);
                let entry = origin.of_person(user, AuditAction::AccountPasswordChanged);
                transaction = transaction.and(self.entry(&entry)?, None);
            }
            transaction.commit(&self.0.client, verified).await
        })
        .await
    }

    /// The action that sets the password of an account that has none.
    fn first_password(&self, user: &UserId, hash: &str, at: Timestamp) -> Result<TransactWriteItem> {
        self.0
            .update(VERIFY, user_key(user), SET_PASSWORD)
            .only_if("attribute_exists(pk) AND attribute_not_exists(password_hash)")
            .values([(":new", text(hash)), (":at", text(&at))])
            .action()
    }

    /// The action that uses up a token: it is refused the second time.
    pub(super) fn used_up(&self, key: Key) -> Result<TransactWriteItem> {
        self.0.delete(ACTION, key).only_if("attribute_exists(pk)").action()
    }
}
