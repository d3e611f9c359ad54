//! What people change of themselves: their name and their address.
//!
//! Both are in the account, beside what the person may do, and as copies in their memberships. One transaction changes all of these,
//! and reserves the new address in place of the old one. A membership that begins meanwhile has counted that
//! ([`joining`](UsersTable::joining)), so either it or the change is tried again.
//!
//! Another address waits until its mail was read, where mail is configured: with a token that [`OneTimeTokens`](super::OneTimeTokens)
//! issues.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use linklet_domain::{AuditAction, AuditContext, EmailAddress, FullName, Membership, Timestamp, TokenHash, UserId};

use super::UsersTable;
use super::item::{
    AddressItem, EmailItem, TokenItem, address_key, email_key, keep_key, user_key, workspace_member_key,
};
use crate::Result;
use crate::item::{Key, number, text};
use crate::transaction::{Transaction, retry_on_conflict};
use crate::write::Write;

/// What somebody changes of their account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonChange {
    /// Another name, or none; `None` leaves the name as it is.
    pub full_name: Option<Option<FullName>>,
    /// What becomes of the address.
    pub address: AddressStep,
}

/// What becomes of somebody's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressStep {
    /// Nothing.
    None,
    /// It stays, and no other one is wanted any more.
    Keep,
    /// Another one is wanted, and this is how long the person can show that it is theirs.
    Await(EmailAddress, Timestamp),
    /// It is replaced by another one, of which nothing shows whose it is.
    Replace(EmailAddress),
}

/// The outcome of changing a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonOutcome {
    /// It is as the change wants it.
    Changed,
    /// Another account has the address.
    EmailTaken,
    /// There is no such account, or not any more.
    NoAccount,
}

/// A person as they are stored, with the workspaces that have copies of it.
pub(super) struct StoredPerson {
    user: UserId,
    pub(super) address: AddressItem,
    memberships: Vec<Membership>,
}

/// What is different about a person after a change; what is `None` stays.
#[derive(Default)]
pub(super) struct Differences {
    full_name: Option<Option<FullName>>,
    email: Option<NewAddress>,
    /// The address that waits from now on, and for how long.
    pending: Option<Option<(EmailAddress, Timestamp)>>,
}

/// Another address than the one before.
struct NewAddress {
    email: EmailAddress,
    /// When the person showed that it is theirs, if they have.
    verified_at: Option<Timestamp>,
}

impl Differences {
    /// What a change makes of a person.
    fn of(change: &PersonChange, person: &AddressItem) -> Self {
        let full_name = change.full_name.clone().filter(|name| *name != person.full_name);
        let waits = person.pending_email.is_some();
        let (email, pending) = match &change.address {
            AddressStep::None => (None, None),
            AddressStep::Keep => (None, waits.then_some(None)),
            AddressStep::Await(email, until) => (None, Some(Some((email.clone(), *until)))),
            AddressStep::Replace(email) if *email == person.email => (None, waits.then_some(None)),
            AddressStep::Replace(email) => {
                (Some(NewAddress { email: email.clone(), verified_at: None }), waits.then_some(None))
            }
        };
        Self { full_name, email, pending }
    }

    /// That the address which waits is the person's.
    pub(super) fn shown(email: &EmailAddress, at: Timestamp) -> Self {
        let email = NewAddress { email: email.clone(), verified_at: Some(at) };
        Self { full_name: None, email: Some(email), pending: Some(None) }
    }

    fn are_none(&self) -> bool {
        self.full_name.is_none() && self.email.is_none() && self.pending.is_none()
    }

    /// What the audit log says of it: neither the name nor an address.
    fn actions(&self) -> impl Iterator<Item = AuditAction> {
        let renamed = self.full_name.as_ref().map(|_| AuditAction::AccountRenamed);
        let address = match (&self.email, &self.pending) {
            (Some(_), _) => Some(AuditAction::AccountAddressChanged),
            (None, Some(Some(_))) => Some(AuditAction::AccountAddressRequested),
            (None, Some(None)) => Some(AuditAction::AccountAddressKept),
            (None, None) => None,
        };
        renamed.into_iter().chain(address)
    }

    /// What others have copies of: the attributes and their values, of which `None` is removed.
    fn of_copies(&self) -> Vec<(&'static str, Option<AttributeValue>)> {
        let name = self.full_name.as_ref().map(|name| ("full_name", name.as_ref().map(text)));
        let email = self.email.as_ref().map(|new| ("email", Some(text(&new.email))));
        name.into_iter().chain(email).collect()
    }

    /// What changes of where the person gets mail.
    fn of_address(&self) -> Vec<(&'static str, Option<AttributeValue>)> {
        let mut values = self.of_copies();
        if let Some(new) = &self.email {
            let shown_at = new.verified_at.as_ref().map(text);
            // That mail has come back is about the old one.
            values.extend([("verified_at", shown_at.clone()), ("proved_at", shown_at), ("undeliverable_at", None)]);
        }
        if let Some(pending) = &self.pending {
            let (email, until) = (pending.as_ref().map(|one| text(&one.0)), pending.as_ref().map(|one| text(&one.1)));
            values.extend([("pending_email", email), ("pending_until", until)]);
        }
        values
    }
}

/// The outcome if an action is refused. `None` means that something has changed since it was read, so that a retry is needed.
type Refusal<T> = Option<T>;

const CHANGE: &str = "change a person";
const KEEP: &str = "keep an address";

impl UsersTable {
    /// Changes a person's name, their address, or both.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_person(
        &self,
        user: &UserId,
        change: &PersonChange,
        origin: &AuditContext,
    ) -> Result<PersonOutcome> {
        retry_on_conflict(CHANGE, async || {
            let Some(person) = self.stored_person(user).await? else { return Ok(Some(PersonOutcome::NoAccount)) };
            let differences = Differences::of(change, &person.address);
            if differences.are_none() {
                return Ok(Some(PersonOutcome::Changed));
            }
            let taken = PersonOutcome::EmailTaken;
            let transaction = self.and_person(Transaction::new(CHANGE), &person, &differences, taken, origin)?;
            transaction.commit(&self.0.client, PersonOutcome::Changed).await
        })
        .await
    }

    /// Has no other address wait for somebody any more, by a token that was mailed to the one they have. Returns whose that is; `None`
    /// if the token doesn't work any more. Where it comes from is known as soon as it is known whose it is.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keep_address(
        &self,
        token: &TokenHash,
        now: Timestamp,
        origin_of: impl Fn(&UserId) -> AuditContext,
    ) -> Result<Option<UserId>> {
        retry_on_conflict(KEEP, async || {
            let found = self.0.get::<TokenItem>(KEEP, keep_key(token)).await?.filter(|item| now < item.expires_at);
            let Some(TokenItem { user_id, email, .. }) = found else { return Ok(Some(None)) };
            let change = "REMOVE pending_email, pending_until";
            let kept = self.0.update(KEEP, address_key(&user_id), change).only_if("pending_email = :email");
            Transaction::new(KEEP)
                .and(self.used_up(keep_key(token))?, Some(None))
                .and(kept.value(":email", text(&email)).action()?, Some(None))
                .and(self.entry(&origin_of(&user_id).of_person(&user_id, AuditAction::AccountAddressKept))?, Some(None))
                .commit(&self.0.client, Some(user_id))
                .await
        })
        .await
    }

    /// Reads a person; `None` if there is no account, or it was closed.
    pub(super) async fn stored_person(&self, user: &UserId) -> Result<Option<StoredPerson>> {
        let found = self.0.get::<AddressItem>("look up an address", address_key(user)).await?;
        let Some(address) = found.filter(|address| address.closed_at.is_none()) else { return Ok(None) };
        // Read after what counts them, so that none is missed.
        let memberships = self.memberships(user).await?;
        Ok(Some(StoredPerson { user: *user, address, memberships }))
    }

    /// Adds to a transaction what is different about a person. If another account has the new address, `taken` is the refusal.
    pub(super) fn and_person<T>(
        &self,
        mut transaction: Transaction<Refusal<T>>,
        person: &StoredPerson,
        differences: &Differences,
        taken: T,
        origin: &AuditContext,
    ) -> Result<Transaction<Refusal<T>>> {
        let StoredPerson { user, address, memberships } = person;
        if let Some(NewAddress { email, .. }) = &differences.email {
            // Somebody who asks twice at once has it already.
            let is_free = "attribute_not_exists(pk) OR user_id = :user";
            let claim = self.0.put_if(&EmailItem::new(user, email), is_free, [(":user", text(user))])?;
            let release = self.0.delete(CHANGE, email_key(&address.email)).only_if("user_id = :user");
            transaction = transaction.and(claim, Some(taken)).and(release.value(":user", text(user)).action()?, None);
        }
        let copies = differences.of_copies();
        if !copies.is_empty() {
            let account = copies.iter().cloned().chain([("updated_at", Some(text(&origin.at)))]).collect();
            let account = self.changed(user_key(user), account).only_if("email = :old");
            transaction = transaction.and(account.value(":old", text(&address.email)).action()?, None);
            for membership in memberships {
                let copy = self.changed(workspace_member_key(&membership.workspace, user), copies.clone());
                transaction = transaction.and(copy.only_if("attribute_exists(pk)").action()?, None);
            }
        }
        transaction = transaction.and(self.changed_address(user, address, differences)?, None);
        for action in differences.actions() {
            transaction = transaction.and(self.entry(&origin.of_person(user, action))?, None);
        }
        Ok(transaction)
    }

    /// The action that changes where a person gets mail, unless that has changed since it was read, or they have joined a workspace.
    fn changed_address(
        &self,
        user: &UserId,
        read: &AddressItem,
        differences: &Differences,
    ) -> Result<TransactWriteItem> {
        let mut is_as_read = "email = :old AND attribute_not_exists(closed_at)".to_owned();
        let mut values = vec![(":old", text(&read.email))];
        let mut unchanged = |attribute, placeholder, value: Option<AttributeValue>| match value {
            Some(value) => {
                is_as_read.push_str(&format!(" AND {attribute} = {placeholder}"));
                values.push((placeholder, value));
            }
            None => is_as_read.push_str(&format!(" AND attribute_not_exists({attribute})")),
        };
        unchanged("joinings", ":joinings", (read.joinings > 0).then(|| number(&read.joinings)));
        unchanged("pending_email", ":waits", read.pending_email.as_ref().map(text));
        let changed = self.changed(address_key(user), differences.of_address());
        changed.only_if(is_as_read).values(values).action()
    }

    /// The write that sets attributes to values, and removes those without one.
    fn changed(&self, key: Key, attributes: Vec<(&'static str, Option<AttributeValue>)>) -> Write<'_> {
        let (set, removed): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|(_, value)| value.is_some());
        let assignments: Vec<_> = set.iter().map(|(name, _)| format!("{name} = :{name}")).collect();
        let names: Vec<_> = removed.iter().map(|(name, _)| *name).collect();
        let clauses = [("SET ", assignments.join(", ")), ("REMOVE ", names.join(", "))];
        let clauses = clauses.into_iter().filter(|(_, list)| !list.is_empty());
        let expression: Vec<_> = clauses.map(|(clause, list)| format!("{clause}{list}")).collect();
        let values = set.into_iter().filter_map(|(name, value)| Some((format!(":{name}"), value?)));
        self.0.update(CHANGE, key, expression.join(" ")).values(values)
    }
}
