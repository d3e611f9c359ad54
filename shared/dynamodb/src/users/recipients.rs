//! Where people get mail, and whether they are to hear of a workspace.

use aws_sdk_dynamodb::Client;
use linklet_domain::{EmailAddress, Membership, Timestamp, UserId, WorkspaceId};

use super::item::{AddressItem, MemberItem, address_key, member_key};
use crate::{
    RepositoryError,
    item::{Key, Table, from_item},
};

/// The repository for telling people: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct Recipients(Table);

/// Whether somebody is told what happens in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// No: the person is no member, or not any more, or their membership is paused.
    NoMember,
    /// Yes, and by mail at this address if they have shown that it is theirs.
    Member(Option<EmailAddress>),
}

/// The address of a person, to whom something is to be mailed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailAddress {
    /// The address.
    pub email: EmailAddress,
    /// Whether they have shown that it is theirs.
    pub is_verified: bool,
    /// Whether their account has no password yet.
    pub awaits_password: bool,
    /// The address that they want instead, as long as they can show that it is theirs.
    pub pending: Option<EmailAddress>,
}

impl Recipients {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// Whether a person is told what happens in a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find(&self, user: &UserId, workspace: &WorkspaceId) -> Result<Recipient, RepositoryError> {
        // A read that costs half may lack what was written a moment ago: who has just joined is told, too.
        match self.read(user, workspace, false).await? {
            Recipient::NoMember => self.read(user, workspace, true).await,
            member @ Recipient::Member(_) => Ok(member),
        }
    }

    async fn read(
        &self,
        user: &UserId,
        workspace: &WorkspaceId,
        consistent: bool,
    ) -> Result<Recipient, RepositoryError> {
        const OPERATION: &str = "look up a recipient";
        let (membership, address) = (member_key(user, workspace), address_key(user));
        let keys = vec![membership.clone(), address.clone()];
        let (mut is_member, mut verified) = (false, None);
        for item in self.0.batch_get(OPERATION, keys, consistent, None).await? {
            let key: Key = from_item(OPERATION, item.clone())?;
            if key == address {
                verified = from_item::<AddressItem>(OPERATION, item)?.verified();
            } else {
                is_member = Membership::from(from_item::<MemberItem>(OPERATION, item)?).is_active();
            }
        }
        Ok(if is_member { Recipient::Member(verified) } else { Recipient::NoMember })
    }

    /// What is known about the address of a person; `None` if there is no such account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn address(&self, user: &UserId, now: Timestamp) -> Result<Option<MailAddress>, RepositoryError> {
        const OPERATION: &str = "look up an address";
        let found = self.0.batch_get(OPERATION, vec![address_key(user)], true, None).await?.pop();
        let address = found.map(|item| from_item::<AddressItem>(OPERATION, item)).transpose()?;
        Ok(address.map(|item| MailAddress {
            pending: item.pending(now).cloned(),
            is_verified: item.verified_at.is_some(),
            awaits_password: item.awaits_password,
            email: item.email,
        }))
    }
}
