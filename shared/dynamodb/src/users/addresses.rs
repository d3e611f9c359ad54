//! People's mail addresses, and whether they have shown that these are their own.
//!
//! The item is with what a person may do and not in the account, so that functions which send mail can read it without password
//! hashes.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{AuditAction, AuditContext, EmailAddress, FullName, MailChoice, Member, Timestamp, UserId};

use super::UsersTable;
use super::item::{AddressItem, PendingAddress, UserItem, address_key, user_key};
use super::leaving::left_behind;
use crate::item::{from_found, number, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::{Consistency, Result};

/// What an account says about its person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The person's address.
    pub email: EmailAddress,
    /// The address that the person wants instead.
    pub pending: Option<PendingAddress>,
    /// The person's name, if given.
    pub full_name: Option<FullName>,
    /// When the person showed that the address is theirs.
    pub verified_at: Option<Timestamp>,
    /// Since when mail to the address comes back.
    pub undeliverable_at: Option<Timestamp>,
    /// Which notifications the person gets by mail.
    pub mail: MailChoice,
    /// The time of the latest login.
    pub last_login_at: Option<Timestamp>,
    /// When the person last changed something about the account.
    pub updated_at: Timestamp,
}

/// Where a person gets mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// Their address.
    pub email: EmailAddress,
    /// The one that they want instead.
    pub pending: Option<PendingAddress>,
}

/// The condition that a person isn't closing their account, where `:stayed` is what [`left_behind`] gives.
const STAYS: &str = "(attribute_not_exists(closing_at) OR closing_at <= :stayed)";

/// What another proof that an address is its person's changes. The first one's time stays.
const PROVED_AGAIN: &str =
    "SET verified_at = if_not_exists(verified_at, :at), proved_at = :at REMOVE awaits_password, undeliverable_at";

/// What the first proof changes for an account that somebody else may have used before.
const RECLAIMED: &str =
    "SET verified_at = :at, proved_at = :at, reclaimed_at = :at REMOVE awaits_password, undeliverable_at";

/// What something shows about whose an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressProof {
    /// Nothing.
    None,
    /// That it is the person's, which nothing has shown before.
    First,
    /// That it is the person's, whatever has shown that before.
    Another,
}

impl UsersTable {
    /// What the account of a person says about them; `None` if there is none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn profile(&self, user: &UserId, now: Timestamp) -> Result<Option<Profile>> {
        const OPERATION: &str = "read a profile";
        let keys = [user_key(user), address_key(user)].map(Some);
        let [account, mailbox] = self.0.get_each(OPERATION, keys, Consistency::Strong).await?;
        let account = from_found::<UserItem>(OPERATION, account)?;
        let mailbox = from_found::<AddressItem>(OPERATION, mailbox)?;
        let verified_at = mailbox.as_ref().and_then(|mailbox| mailbox.verified_at);
        Ok(account.map(|account| Profile {
            email: account.account.email,
            pending: mailbox.as_ref().and_then(|mailbox| mailbox.pending(now)),
            // Each change has a time of its own, so the latest needs no attribute that every write would have to move.
            updated_at: [account.password_changed_at, account.updated_at, verified_at]
                .into_iter()
                .flatten()
                .fold(account.account.created_at, Timestamp::max),
            full_name: account.account.full_name,
            verified_at,
            undeliverable_at: mailbox.as_ref().and_then(|mailbox| mailbox.undeliverable_at),
            mail: mailbox.map(|mailbox| mailbox.mail).unwrap_or_default(),
            last_login_at: account.account.last_login_at,
        }))
    }

    /// Where a person gets mail, and the address that they want instead, if they do; `None` if there is no account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mailbox(&self, user: &UserId, now: Timestamp) -> Result<Option<Mailbox>> {
        let found = self.0.get::<AddressItem>("look up an address", address_key(user)).await?;
        Ok(found.map(|item| Mailbox { pending: item.pending(now), email: item.email }))
    }

    /// What a person is called: their name, or else their address; `None` if there is no account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn called(&self, user: &UserId) -> Result<Option<String>> {
        let found = self.0.get::<AddressItem>("look up a name", address_key(user)).await?;
        let called = |item: AddressItem| item.full_name.map_or_else(|| item.email.to_string(), |name| name.to_string());
        Ok(found.map(called))
    }

    /// When a person showed that their address is theirs; `None` if they haven't yet.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn verified_at(&self, user: &UserId) -> Result<Option<Timestamp>> {
        let found = self.0.get::<AddressItem>("look up an address", address_key(user)).await?;
        Ok(found.and_then(|address| address.verified_at))
    }

    /// Which notifications a person gets by mail; `None` if there is no account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mail_choice(&self, user: &UserId) -> Result<Option<MailChoice>> {
        let found = self.0.get::<AddressItem>("look up a choice of mail", address_key(user)).await?;
        Ok(found.map(|address| address.mail))
    }

    /// Sets which notifications a person gets by mail. Returns whether there is such an account, and it isn't closed.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn choose_mail(&self, user: &UserId, choice: MailChoice, origin: &AuditContext) -> Result<bool> {
        const OPERATION: &str = "choose mail";
        let entry = origin.of_person(user, AuditAction::AccountMailChanged).to(&choice);
        retry_on_conflict(OPERATION, async || {
            let found = self.0.get::<AddressItem>(OPERATION, address_key(user)).await?;
            let Some(item) = found.filter(|item| item.closed_at.is_none()) else { return Ok(Some(false)) };
            if item.mail == choice {
                return Ok(Some(true));
            }
            // The default isn't stored.
            let is_as_read =
                if item.mail.is_default() { "mail = :was OR attribute_not_exists(mail)" } else { "mail = :was" };
            let update = self
                .0
                .update(OPERATION, address_key(user), "SET mail = :mail")
                .only_if(format!("attribute_exists(pk) AND attribute_not_exists(closed_at) AND ({is_as_read})"))
                .values([(":mail", text(&choice)), (":was", text(&item.mail))]);
            let entry = entry.clone().from(&item.mail);
            let transaction = Transaction::new(OPERATION).and(update.action()?, None).and(self.entry(&entry)?, None);
            transaction.commit(&self.0.client, true).await
        })
        .await
    }

    /// Records that a person has shown that this address is theirs. The first time stays.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn verify_address(&self, user: &UserId, email: &EmailAddress, origin: &AuditContext) -> Result<()> {
        const OPERATION: &str = "verify an address";
        retry_on_conflict(OPERATION, async || {
            // What is refused is about another address than the account's, and there is nothing to verify.
            Transaction::new(OPERATION)
                .and(self.address_change(user, email, AddressProof::Another, origin.at)?, Some(()))
                .and(self.entry(&origin.of_person(user, AuditAction::AccountAddressVerified))?, Some(()))
                .commit(&self.0.client, ())
                .await
        })
        .await
    }

    /// The action of a transaction by which a person joins a workspace: it counts that, and is refused if the account has another name
    /// or address by now, of which the membership would have a wrong copy, or is closed or being closed, or if the person has joined more
    /// than `most` workspaces, [which leaves no room](super::room). If something has shown that the address is the person's, it records
    /// when.
    pub(super) fn joining(
        &self,
        member: &Member,
        verified_at: Option<Timestamp>,
        most: u64,
    ) -> Result<TransactWriteItem> {
        let change = match verified_at {
            Some(_) => format!("{PROVED_AGAIN} ADD joinings :one"),
            None => "ADD joinings :one".to_owned(),
        };
        let named = if member.full_name.is_some() { "full_name = :name" } else { "attribute_not_exists(full_name)" };
        self.0
            .update("join a workspace", address_key(&member.user), change)
            .only_if(format!("email = :email AND {named} AND attribute_not_exists(closed_at) AND {STAYS}"))
            .and_if("(attribute_not_exists(joinings) OR joinings <= :most)")
            .values([(":email", text(&member.email)), (":one", number(&1)), (":most", number(&most))])
            .value(":stayed", text(&left_behind(Timestamp::now())))
            .values(member.full_name.as_ref().map(|name| (":name", text(name))))
            .values(verified_at.map(|at| (":at", text(&at))))
            .action()
    }

    /// The action of a transaction that records what shows whose an address is, and that its account has a password now. Who reads
    /// mail to the address shows as well that it gets there.
    pub(super) fn address_change(
        &self,
        user: &UserId,
        email: &EmailAddress,
        proof: AddressProof,
        at: Timestamp,
    ) -> Result<TransactWriteItem> {
        let change = match proof {
            AddressProof::None => "REMOVE awaits_password",
            AddressProof::First => RECLAIMED,
            AddressProof::Another => PROVED_AGAIN,
        };
        let update = self
            .0
            .update("verify an address", address_key(user), change)
            .only_if("email = :email AND attribute_not_exists(closed_at)")
            .value(":email", text(email));
        match proof {
            AddressProof::None => update,
            AddressProof::First => update.and_if("attribute_not_exists(verified_at)").value(":at", text(&at)),
            AddressProof::Another => update.value(":at", text(&at)),
        }
        .action()
    }
}
