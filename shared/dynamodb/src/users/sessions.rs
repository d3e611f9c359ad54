//! Sessions: whether the person of a token is still a member, in which role, and whether the session was ended.
//!
//! A session has an item, which says where it began. A person has one more item with a time by which all sessions had ended. With the membership, that makes three items to read for a token, however many workspaces or sessions a person has.
//!
//! [`Sessions`] has only what functions that authenticate requests may do; [`UsersTable`] ends and [renews](super::renewals) them.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    AuditAction, AuditContext, AuditSubject, Credential, LastingSession, Membership, Role, SessionId, Timestamp,
    UserId, WorkspaceId, lifetimes,
};

use super::UsersTable;
use super::item::{
    EndedSessionsItem, SESSION_PREFIX, SessionItem, SignIn, access_partition, ended_sessions_key, member_key,
    own_identity_key, session_key, user_key,
};
use crate::item::{SortKeys, Table, from_found, from_item, number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::write::{Outcome, Write};
use crate::{Consistency, RepositoryError, Result};

/// The repository for authentication by token: the items of UsersTable that say what a person may do.
#[derive(Debug, Clone)]
pub struct Sessions(pub Table);

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
pub enum SessionStatus {
    /// The person is a member in this role.
    Member(Role),
    /// The session lasts, and is for no workspace.
    WithoutWorkspace,
    /// The person is no member of the workspace any more.
    NoMember,
    /// The person's membership is paused.
    Paused,
    /// The workspace is closed.
    Closed,
    /// The session was ended.
    Ended,
}

impl SessionStatus {
    fn of(membership: &Membership) -> Self {
        match () {
            () if membership.closed_at.is_some() => Self::Closed,
            () if membership.paused_at.is_some() => Self::Paused,
            () => Self::Member(membership.role),
        }
    }
}

/// Somebody who acts in a session, whom the transaction of what they do asks for once more: for what gives somebody else access.
#[derive(Debug, Clone, Copy)]
pub struct ActiveSession<'a> {
    /// Who acts.
    pub user: &'a UserId,
    /// The session in which they do.
    pub session: &'a SessionId,
}

/// Sessions of a person that last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastingSessions {
    /// The latest of them.
    pub sessions: Vec<LastingSession>,
    /// Whether there may be others.
    pub has_more: bool,
}

/// A new password, the first one, or none any more.
#[derive(Debug, Clone, Copy)]
pub struct PasswordChange<'a> {
    /// Whose it is.
    pub user: &'a UserId,
    /// The hash of the old password, if the account has one.
    pub old_hash: Option<&'a str>,
    /// The hash of the new one, or the identity with which the person signs in instead.
    pub new: Credential<'a>,
    /// Sessions that have begun by this time end.
    pub at: Timestamp,
    /// The session that goes on.
    pub but: Option<&'a SessionId>,
    /// Where it comes from.
    pub origin: &'a AuditContext,
}

impl Sessions {
    /// What a session is worth.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn status(&self, session: &Session, consistency: Consistency) -> Result<SessionStatus> {
        const OPERATION: &str = "look up a session";
        let membership = session.workspace.as_ref().map(|workspace| member_key(&session.user, workspace));
        let none = if membership.is_some() { SessionStatus::NoMember } else { SessionStatus::WithoutWorkspace };
        let (ended, own) = (ended_sessions_key(&session.user), session_key(&session.user, &session.id));
        let [membership, ended, own] =
            self.0.get_each(OPERATION, [membership, Some(ended), Some(own)], consistency).await?;
        if from_found(OPERATION, ended)?.is_some_and(|item: EndedSessionsItem| item.has_ended(&session.id))
            || from_found(OPERATION, own)?.is_some_and(|item: SessionItem| item.ended_at.is_some())
        {
            return Ok(SessionStatus::Ended);
        }
        Ok(from_found(OPERATION, membership)?.as_ref().map_or(none, SessionStatus::of))
    }
}

impl Sessions {
    /// When the person of a session last showed in it who they are.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn proved_at(&self, acting: ActiveSession<'_>) -> Result<Option<Timestamp>> {
        let own = session_key(acting.user, acting.session);
        let [own] = self.0.get_each(PROVE, [Some(own)], Consistency::Strong).await?;
        Ok(from_found::<SessionItem>(PROVE, own)?.and_then(|item| item.proved_at))
    }
}

impl UsersTable {
    /// Stores that a session has begun.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn begin_session(&self, user: &UserId, session: &SessionId, sign_in: SignIn) -> Result<()> {
        self.0.put_item("begin a session", &SessionItem::new(user, session, sign_in))?.or_fail().await
    }

    /// The latest 100 sessions of a person that last, newest first: all of them, or those that began before this one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn sessions(&self, user: &UserId, before: Option<&SessionId>, now: Timestamp) -> Result<LastingSessions> {
        let end = before.map(|session| session_key(user, session).sk);
        let sort_keys =
            end.as_deref().map_or(SortKeys::Beginning(SESSION_PREFIX), |end| SortKeys::Between(SESSION_PREFIX, end));
        let query = self.0.query(&access_partition(user), sort_keys);
        // The ids of sessions sort by the time at which they began.
        let query = query.consistent_read(true).scan_index_forward(false);
        let ended = self.0.get::<EndedSessionsItem>(LIST, ended_sessions_key(user)).await?;
        let lasts = |session: &LastingSession| {
            before != Some(&session.id) && !ended.as_ref().is_some_and(|ended| ended.has_ended(&session.id))
        };
        // A program that logs in again and again leaves many that are over, behind which others last.
        let (mut answers, mut sessions) = (self.0.query_within_budget(LIST, query), Vec::new());
        while sessions.len() <= MOST_LISTED
            && let Some(items) = answers.next().await?
        {
            for item in items {
                sessions.extend(lasting(from_item(LIST, item)?, now)?.filter(lasts));
            }
        }
        let has_more = sessions.len() > MOST_LISTED || !answers.is_at_end;
        sessions.truncate(MOST_LISTED);
        Ok(LastingSessions { sessions, has_more })
    }

    /// A session of a person, unless its time is over.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn session(&self, user: &UserId, session: &SessionId, now: Timestamp) -> Result<Option<LastingSession>> {
        let found = self.0.get::<SessionItem>(LIST, session_key(user, session)).await?;
        found.map_or(Ok(None), |item| lasting(item, now))
    }

    /// Ends a session that lasts. Returns `false` if it doesn't, or is unknown.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_lasting_session(&self, user: &UserId, session: &SessionId, origin: &AuditContext) -> Result<bool> {
        const LASTS: &str = "attribute_exists(pk) AND attribute_not_exists(ended_at) AND #ttl > :seconds";
        let ended = self.0.get::<EndedSessionsItem>(END, ended_sessions_key(user)).await?;
        if ended.is_some_and(|ended| ended.has_ended(session)) {
            return Ok(false);
        }
        let seconds = number(&origin.at.unix_seconds());
        self.end_if(user, session, origin, |end| end.only_if(LASTS).value(":seconds", seconds.clone())).await
    }

    /// Ends a session, unless that was done. It is kept for as long as a token of the session may be valid; a session without an item
    /// isn't renewed in any case.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_session(&self, user: &UserId, session: &SessionId, origin: &AuditContext) -> Result<()> {
        self.end_if(user, session, origin, |end| end.only_if("attribute_not_exists(ended_at)")).await.map(|_| ())
    }

    /// Ends a session on a condition. Returns `false` if that doesn't hold.
    async fn end_if<'t>(
        &'t self,
        user: &UserId,
        session: &SessionId,
        origin: &AuditContext,
        condition: impl Fn(Write<'t>) -> Write<'t>,
    ) -> Result<bool> {
        const ENDED: &str = "SET ended_at = :now, #ttl = :ttl";
        let entry = origin.of_person(user, AuditAction::SessionEnded).on(AuditSubject::Session(*session));
        retry_on_conflict(END, async || {
            let end = self
                .0
                .update(END, session_key(user, session), ENDED)
                .value(":now", text(&origin.at))
                .value(":ttl", number(&origin.at.plus(lifetimes::SESSIONS).unix_seconds()));
            let transaction =
                Transaction::new(END).and(condition(end).action()?, Some(false)).and(self.entry(&entry)?, None);
            transaction.commit(&self.0.client, true).await
        })
        .await
    }

    /// Ends all sessions of a person that have begun by now, but for one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_sessions(&self, user: &UserId, but: Option<&SessionId>, origin: &AuditContext) -> Result<()> {
        const OPERATION: &str = "end all sessions";
        let at = origin.at;
        let ended = EndedSessionsItem::new(user, at, but);
        let entry = origin.of_person(user, AuditAction::SessionAllEnded);
        retry_on_conflict(OPERATION, async || {
            Transaction::new(OPERATION)
                // A concurrent request that ends more is not undone.
                .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&at))])?, Some(()))
                .and(self.entry(&entry)?, Some(()))
                .commit(&self.0.client, ())
                .await
        })
        .await
    }

    /// Condition checks that a session has not ended, as [`Sessions::status`] has it.
    pub(super) fn session_lasts(&self, acting: ActiveSession<'_>) -> Result<[TransactWriteItem; 2]> {
        const LASTS: &str = "attribute_not_exists(ended_at) OR ended_at < :began OR but = :session";
        let ActiveSession { user, session } = acting;
        let values = [(":began", text(&session.began_at())), (":session", text(session))];
        Ok([
            self.0.check(ended_sessions_key(user), LASTS, values)?,
            self.0.check(session_key(user, session), "attribute_not_exists(ended_at)", [])?,
        ])
    }

    /// Sets, replaces or removes a password, and ends all sessions but for one, in one transaction. Returns `false` if the password was
    /// changed since it was read, all sessions were ended, or the identity was removed that takes the place of the password.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn change_password(&self, change: &PasswordChange<'_>) -> Result<bool> {
        const OPERATION: &str = "change a password";
        const HAS_NONE: &str =
            "attribute_exists(pk) AND attribute_not_exists(password_hash) AND attribute_not_exists(closed_at)";
        let (set, new_hash, action, instead) = match change.new {
            Credential::Password(hash) => (SET_PASSWORD, Some(hash), AuditAction::AccountPasswordChanged, None),
            Credential::Identity(identity) => {
                let key = own_identity_key(change.user, &identity.hash);
                (REMOVE_PASSWORD, None, AuditAction::AccountPasswordRemoved, Some(self.0.check(key, EXISTS, [])?))
            }
        };
        let update = self
            .0
            .update(OPERATION, user_key(change.user), set)
            .only_if(change.old_hash.map_or(HAS_NONE, |_| "password_hash = :old"))
            .value(":at", text(&change.at))
            .values(change.old_hash.map(|hash| (":old", text(hash))))
            .values(new_hash.map(|hash| (":new", text(hash))));
        let ended = EndedSessionsItem::new(change.user, change.at, change.but);
        let transaction = Transaction::new(OPERATION)
            .and(update.action()?, ())
            .and_each(instead, ())
            // If all sessions were ended since the request came, its own session was, too.
            .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&change.at))])?, ())
            .and(self.entry(&change.origin.of_person(change.user, action))?, ());
        Ok(transaction.send(&self.0.client).await? == TransactionOutcome::Committed)
    }

    /// Notes that the person of a session has shown who they are, unless it has ended. Returns whether that is noted.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn prove_session(&self, user: &UserId, session: &SessionId, at: Timestamp) -> Result<bool> {
        const LASTS: &str = "attribute_exists(pk) AND attribute_not_exists(ended_at)";
        let update = self.0.update(PROVE, session_key(user, session), "SET proved_at = :at").only_if(LASTS);
        Ok(matches!(update.value(":at", text(&at)).send().await?, Outcome::Done(_)))
    }
}

fn lasting(item: SessionItem, now: Timestamp) -> Result<Option<LastingSession>> {
    item.lasting(now).map_err(RepositoryError::unexpected_item(LIST))
}

const END: &str = "end a session";

const PROVE: &str = "note a proof in a session";

const EXISTS: &str = "attribute_exists(pk)";

const LIST: &str = "list sessions";

/// How many sessions are listed.
const MOST_LISTED: usize = 100;

/// The condition that more sessions have ended after a write than before it.
pub(super) const ENDS_MORE: &str = "attribute_not_exists(ended_at) OR ended_at < :at";

/// The update expression that sets a password.
pub(super) const SET_PASSWORD: &str = "SET password_hash = :new, password_changed_at = :at";

/// The update expression that takes a password away.
pub(super) const REMOVE_PASSWORD: &str = "SET password_changed_at = :at REMOVE password_hash";
