//! Sessions: whether the person of a token is still a member, in which role, and whether the session was ended.
//!
//! A session has no item while it lasts. Ending one writes an item, and ending all of a person writes one with a time. Both are
//! beside the person's memberships, so one query answers for a token. They are kept as long as a token is valid.
//!
//! [`SessionsTable`] has only what functions that authenticate requests may do; [`UsersTable`] ends sessions.

use aws_sdk_dynamodb::{
    Client,
    error::SdkError,
    operation::put_item::PutItemError,
    types::{TransactWriteItem, Update},
};
use linklet_domain::{Role, SessionId, Timestamp, UserId, WorkspaceId, lifetimes};

use super::{
    UsersTable,
    item::{
        AccessItem, EndedSessionItem, EndedSessionsItem, access_partition, ended_session_key, member_key, user_key,
    },
};
use crate::{
    Consistency, RepositoryError,
    item::{Table, from_item, text, to_item},
    transaction::{Sent, Transaction},
};

/// The repository for authentication by token: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct SessionsTable(Table);

/// The session of a token, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session.
    pub id: SessionId,
    /// Who has logged in.
    pub user: UserId,
    /// The workspace that the token is for.
    pub workspace: WorkspaceId,
}

/// What a session is worth now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The person is a member in this role.
    Member(Role),
    /// The person is no member of the workspace any more.
    NoMember,
    /// The session was ended.
    Ended,
}

/// A new password.
#[derive(Debug, Clone, Copy)]
pub struct PasswordChange<'a> {
    /// Whose it is.
    pub user: &'a UserId,
    /// The hash that the old password was verified with.
    pub old_hash: &'a str,
    /// The hash of the new one.
    pub new_hash: &'a str,
    /// Sessions that have begun by this time end.
    pub at: Timestamp,
    /// The session that goes on.
    pub but: Option<&'a SessionId>,
}

impl SessionsTable {
    /// A repository for the table with this name.
    #[must_use]
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        Self(Table { client, name: name.into() })
    }

    /// What a session is worth.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn standing(&self, session: &Session, consistency: Consistency) -> Result<Standing, RepositoryError> {
        const OPERATION: &str = "look up a session";
        let query = self
            .0
            .client
            .query()
            .consistent_read(consistency == Consistency::Strong)
            .key_condition_expression("pk = :person")
            .expression_attribute_values(":person", text(&access_partition(&session.user)));
        let member = member_key(&session.user, &session.workspace).sk;
        let ended = ended_session_key(&session.user, &session.id).sk;
        let mut standing = Standing::NoMember;
        for item in self.0.query_all(OPERATION, query, usize::MAX).await? {
            match from_item::<AccessItem>(OPERATION, item)? {
                AccessItem { sk, .. } if sk == ended => return Ok(Standing::Ended),
                AccessItem { ended_at: Some(at), but, .. }
                    if session.id.began_at() <= at && but.as_ref() != Some(&session.id) =>
                {
                    return Ok(Standing::Ended);
                }
                AccessItem { sk, role: Some(role), .. } if sk == member => standing = Standing::Member(role),
                _ => {}
            }
        }
        Ok(standing)
    }
}

impl UsersTable {
    /// Ends a session.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_session(&self, session: &Session) -> Result<(), RepositoryError> {
        const OPERATION: &str = "end a session";
        let item = EndedSessionItem {
            key: ended_session_key(&session.user, &session.id),
            ttl: session.id.began_at().plus(lifetimes::SESSIONS).unix_seconds(),
        };
        self.0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &item)?))
            .send()
            .await
            .map_err(RepositoryError::unavailable(OPERATION))?;
        Ok(())
    }

    /// Replaces a password hash, and ends all sessions but for one, in one transaction. Returns `false` if the hash has changed
    /// since it was read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_password(&self, change: &PasswordChange<'_>) -> Result<bool, RepositoryError> {
        const OPERATION: &str = "change a password";
        let update = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(user_key(change.user).into_item()))
            .update_expression("SET password_hash = :new")
            .condition_expression("password_hash = :old")
            .expression_attribute_values(":old", text(change.old_hash))
            .expression_attribute_values(":new", text(change.new_hash))
            .build()
            .map_err(RepositoryError::unavailable(OPERATION))?;
        let ended = EndedSessionsItem::new(change.user, change.at, change.but);
        let transaction = Transaction::new(OPERATION)
            .and(TransactWriteItem::builder().update(update).build(), ())
            .and(self.0.put(OPERATION, &ended)?, ());
        Ok(transaction.send(&self.0.client).await? == Sent::Committed)
    }

    /// Ends all sessions of a person that have begun by now, but for one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_sessions(
        &self,
        user: &UserId,
        now: Timestamp,
        but: Option<&SessionId>,
    ) -> Result<(), RepositoryError> {
        const OPERATION: &str = "end all sessions";
        let item = EndedSessionsItem::new(user, now, but);
        let put = self
            .0
            .client
            .put_item()
            .table_name(&self.0.name)
            .set_item(Some(to_item(OPERATION, &item)?))
            // A concurrent request that ends more is not undone.
            .condition_expression("attribute_not_exists(pk) OR ended_at < :now")
            .expression_attribute_values(":now", text(&now))
            .send()
            .await;
        match put.map_err(SdkError::into_service_error) {
            Ok(_) | Err(PutItemError::ConditionalCheckFailedException(_)) => Ok(()),
            Err(error) => Err(RepositoryError::unavailable(OPERATION)(error)),
        }
    }
}
