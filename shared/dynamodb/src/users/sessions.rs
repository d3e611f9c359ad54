//! Sessions: whether the person of a token is still a member, in which role, and whether the session was ended.
//!
//! A session has no item while it lasts. A person has one item about sessions that were ended: a list, and a time by which all had
//! ended. With the membership, that makes two items to read for a token, however many workspaces or sessions a person has.
//!
//! [`Sessions`] has only what functions that authenticate requests may do; [`UsersTable`] ends sessions.

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeValue, TransactWriteItem},
};
use linklet_domain::{Role, SessionId, Timestamp, UserId, WorkspaceId, lifetimes};

use super::{
    UsersTable,
    item::{EndedSessionsItem, MemberItem, ended_sessions_key, member_key, user_key},
};
use crate::{
    Consistency, RepositoryError,
    item::{Key, Table, from_item, number, text},
    transaction::{Transaction, TransactionOutcome},
    write::Outcome,
};

/// The repository for authentication by token: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct Sessions(Table);

/// The session of a token, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session.
    pub id: SessionId,
    /// Who has logged in.
    pub user: UserId,
    /// The workspace that the token is for; `None` for somebody who has none.
    pub workspace: Option<WorkspaceId>,
}

/// What a session is worth now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The person is a member in this role.
    Member(Role),
    /// The session lasts, and is for no workspace.
    WithoutWorkspace,
    /// The person is no member of the workspace any more.
    NoMember,
    /// The person's membership is paused.
    Paused,
    /// The session was ended.
    Ended,
}

impl Standing {
    fn of(membership: &MemberItem) -> Self {
        if membership.paused_at.is_some() { Self::Paused } else { Self::Member(membership.role) }
    }
}

/// Somebody who acts in a session, whom the transaction of what they do asks for once more: for what gives somebody else access.
#[derive(Debug, Clone, Copy)]
pub struct Acting<'a> {
    /// Who acts.
    pub user: &'a UserId,
    /// The session in which they do.
    pub session: &'a SessionId,
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

impl Sessions {
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
        let ended = ended_sessions_key(&session.user);
        let membership = session.workspace.as_ref().map(|workspace| member_key(&session.user, workspace));
        let mut standing = if membership.is_some() { Standing::NoMember } else { Standing::WithoutWorkspace };
        let keys = membership.into_iter().chain([ended.clone()]).collect();
        for item in self.0.batch_get(OPERATION, keys, consistency == Consistency::Strong, None).await? {
            let Key { sk, .. } = from_item(OPERATION, item.clone())?;
            if sk != ended.sk {
                standing = Standing::of(&from_item(OPERATION, item)?);
            } else if from_item::<EndedSessionsItem>(OPERATION, item)?.has_ended(&session.id) {
                return Ok(Standing::Ended);
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
    pub async fn end_session(&self, session: &Session, now: Timestamp) -> Result<(), RepositoryError> {
        const OPERATION: &str = "end a session";
        let updated = self
            .0
            .update(OPERATION, ended_sessions_key(&session.user), "ADD ended :session SET #ttl = :ttl")
            .value(":session", AttributeValue::Ss(vec![session.id.to_string()]))
            .value(":ttl", number(&now.plus(lifetimes::SESSIONS).unix_seconds()))
            .returning_new()
            .send()
            .await?;
        match updated {
            Outcome::Done(ended) => self.shorten_list(&session.user, from_item(OPERATION, ended)?).await,
            Outcome::Refused(_) => Ok(()),
        }
    }

    /// Drops the oldest sessions from a list that has become too long. A time takes their place, so a session that is as old, and
    /// wasn't ended, ends with them: that takes fifty logouts a day.
    async fn shorten_list(&self, user: &UserId, item: EndedSessionsItem) -> Result<(), RepositoryError> {
        let Some((dropped, ended_at)) = item.too_many() else { return Ok(()) };
        let update = self
            .0
            .update("drop ended sessions", ended_sessions_key(user), "SET ended_at = :at DELETE ended :dropped")
            .only_if(ENDS_MORE)
            .values([(":at", text(&ended_at)), (":dropped", AttributeValue::Ss(dropped))]);
        update.unless_refused().await.map(|_| ())
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
        // A concurrent request that ends more is not undone.
        let put = self.0.put_item(OPERATION, &EndedSessionsItem::new(user, now, but))?.only_if(ENDS_MORE);
        put.value(":at", text(&now)).unless_refused().await.map(|_| ())
    }

    /// A condition check that a session has not ended, as [`EndedSessionsItem::has_ended`] has it.
    pub(super) fn session_lasts(&self, acting: Acting<'_>) -> Result<TransactWriteItem, RepositoryError> {
        const LASTS: &str = "(attribute_not_exists(ended_at) OR ended_at < :began OR but = :session) \
                             AND NOT contains(ended, :session)";
        let values = [(":began", text(&acting.session.began_at())), (":session", text(acting.session))];
        self.0.check("check a session", ended_sessions_key(acting.user), LASTS, values)
    }

    /// Replaces a password hash, and ends all sessions but for one, in one transaction. Returns `false` if the hash has changed
    /// since it was read, or all sessions were ended.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_password(&self, change: &PasswordChange<'_>) -> Result<bool, RepositoryError> {
        const OPERATION: &str = "change a password";
        let update = self
            .0
            .update(OPERATION, user_key(change.user), SET_PASSWORD)
            .only_if("password_hash = :old")
            .values([(":old", text(change.old_hash)), (":new", text(change.new_hash)), (":at", text(&change.at))]);
        let ended = EndedSessionsItem::new(change.user, change.at, change.but);
        let transaction = Transaction::new(OPERATION)
            .and(update.action()?, ())
            // If all sessions were ended since the request came, its own session was, too.
            .and(self.0.put_if(OPERATION, &ended, ENDS_MORE, [(":at", text(&change.at))])?, ());
        Ok(transaction.send(&self.0.client).await? == TransactionOutcome::Committed)
    }
}

/// The condition that more sessions have ended after a write than before it.
pub(super) const ENDS_MORE: &str = "attribute_not_exists(ended_at) OR ended_at < :at";

/// The update expression that sets a password.
pub(super) const SET_PASSWORD: &str = "SET password_hash = :new, password_changed_at = :at";
