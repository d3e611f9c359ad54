//! Where people get mail, and whether they are to hear of a workspace.

use linklet_domain::{EmailAddress, MailChoice, Timestamp, UserId, WorkspaceId};

use super::UsersTable;
use super::item::{AddressItem, MemberItem, PendingAddress, address_key, member_key};
use crate::item::{Item, Table, from_found, from_item, text};
use crate::write::Outcome;
use crate::{Consistency, Result};

/// The repository for telling people: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct Recipients(pub Table);

/// Whether somebody is told what happens in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// No: the person is no member, or not any more, or their membership is paused.
    NoMember,
    /// Yes, and perhaps by mail at this address.
    Member(Option<MailAddress>),
}

/// The address of a person, to whom something is to be mailed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailAddress {
    /// The address.
    pub email: EmailAddress,
    /// Whether they have shown that it is theirs.
    pub is_verified: bool,
    /// Whether mail to it has come back since they have shown that.
    pub is_undeliverable: bool,
    /// Whether their account has no password yet.
    pub awaits_password: bool,
    /// Which notifications they want by mail.
    pub choice: MailChoice,
    /// The address that they want instead.
    pub pending: Option<PendingAddress>,
}

impl MailAddress {
    fn new(item: AddressItem, now: Timestamp) -> Self {
        Self {
            pending: item.pending(now),
            email: item.email,
            is_verified: item.verified_at.is_some(),
            is_undeliverable: item.undeliverable_at.is_some(),
            awaits_password: item.awaits_password,
            choice: item.mail,
        }
    }

    /// The address, if it is the person's.
    pub fn verified(&self) -> Option<&EmailAddress> {
        Some(&self.email).filter(|_| self.is_verified)
    }

    /// The address, if it is the person's and mails get there: nothing else is mailed than what somebody asks for.
    pub fn reachable(&self) -> Option<&EmailAddress> {
        self.verified().filter(|_| !self.is_undeliverable)
    }

    /// The address, if the person gets notifications of events of this type there.
    pub fn for_notification(&self, event_type: &str) -> Option<&EmailAddress> {
        self.reachable().filter(|_| self.choice.includes(event_type))
    }
}

impl UsersTable {
    /// Where people get mail.
    pub fn recipients(&self) -> Recipients {
        Recipients(self.0.clone())
    }
}

impl Recipients {
    /// Whether a person is told what happens in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, user: &UserId, workspace: &WorkspaceId, now: Timestamp) -> Result<Recipient> {
        // A read that costs half may lack what was written a moment ago: who has just joined is told, too.
        match self.read(user, workspace, Consistency::Eventual, now).await? {
            Recipient::NoMember => self.read(user, workspace, Consistency::Strong, now).await,
            member @ Recipient::Member(_) => Ok(member),
        }
    }

    async fn read(
        &self,
        user: &UserId,
        workspace: &WorkspaceId,
        consistency: Consistency,
        now: Timestamp,
    ) -> Result<Recipient> {
        const OPERATION: &str = "look up a recipient";
        let keys = [member_key(user, workspace), address_key(user)].map(Some);
        let [membership, address] = self.0.get_each(OPERATION, keys, consistency).await?;
        let is_member = from_found::<MemberItem>(OPERATION, membership)?.is_some_and(|item| item.value.is_active());
        let address = from_found(OPERATION, address)?.map(|item| MailAddress::new(item, now));
        Ok(if is_member { Recipient::Member(address) } else { Recipient::NoMember })
    }

    /// What is known about the address of a person; `None` if there is no such account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn address(&self, user: &UserId, now: Timestamp) -> Result<Option<MailAddress>> {
        const OPERATION: &str = "look up an address";
        let found = self.0.batch_get(OPERATION, vec![address_key(user)], true, None).await?.pop();
        found.map(|item| Ok(MailAddress::new(from_item(OPERATION, item)?, now))).transpose()
    }

    /// Marks the address of a person to which a mail came back, or from which somebody has complained. Nothing changes if they have
    /// another address by now, or have shown since then that it is theirs, or if it is marked already. Returns whether it is marked since
    /// this time, also when the event comes again.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn mark_undeliverable(&self, user: &UserId, email: &EmailAddress, at: Timestamp) -> Result<bool> {
        const CONDITION: &str = "email = :email AND attribute_not_exists(undeliverable_at) AND \
             (attribute_not_exists(proved_at) OR proved_at < :at)";
        let update = self
            .0
            .update("mark an address", address_key(user), "SET undeliverable_at = :at")
            .only_if(CONDITION)
            .values([(":email", text(email)), (":at", text(&at))]);
        Ok(match update.send().await? {
            Outcome::Done(_) => true,
            Outcome::Refused(found) => {
                let is = |item: &Item, attribute: &str, value| item.get(attribute) == Some(&value);
                found.is_some_and(|item| is(&item, "email", text(email)) && is(&item, "undeliverable_at", text(&at)))
            }
        })
    }
}
