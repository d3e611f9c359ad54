//! How a person closes their own account.
//!
//! ```text
//! closing_at at ADDRESS: nothing is joined from now on
//!   ──→ each workspace is left, one after another; one of their own alone is closed for good
//!   ──→ the account goes, in one transaction with the job that deletes what else is stored about them
//! ```
//! Each step can be repeated. An operator's command does the same for whoever can't. [`close_account`](UsersTable::close_account) is another
//! thing: it bars an account and keeps its address taken.

use std::time::Duration;

use linklet_domain::{
    Account, AccountHash, AuditAction, AuditContext, AuditSubject, ClosedPerson, Closure, Job, Member, Task, TaskWork,
    Timestamp, UserId, Workspace, oldest_admin_but,
};

use super::UsersTable;
use super::item::{
    AddressItem, EndedSessionsItem, access_partition, address_key, email_key, ended_sessions_key, user_key,
    workspace_key,
};
use super::members::{is_as_read, membership_keys};
use super::sessions::ENDS_MORE;
use crate::item::{Key, number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::{JobMark, Result};

/// What keeps a person in a workspace, or doesn't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaveEffect {
    /// Others go on without them.
    None,
    /// Nobody else is there, or nobody who could bring it back now that it is closed: it is closed for good.
    Own,
    /// Others would have no admin.
    LastAdmin,
}

impl LeaveEffect {
    /// What ties a person to a workspace with these members.
    pub fn of(workspace: &Workspace, user: &UserId, members: &[Member]) -> Self {
        let has_others = members.iter().any(|member| member.user != *user);
        let has_heir = oldest_admin_but(user, members).is_some();
        match (has_others, has_heir) {
            (_, true) => Self::None,
            (true, false) if workspace.closure.is_none() => Self::LastAdmin,
            (_, false) => Self::Own,
        }
    }
}

const LEAVE: &str = "close one's own account";

/// How long after a request to close their account a person joins nothing. It is more than requests take, and few repeat one that failed
/// later than this, so that whoever stays after all can join again.
const LEAVES_WITHIN: Duration = Duration::from_secs(3_600);

/// Whoever began to close their account at this time or before it counts as somebody who stays.
pub(super) fn left_behind(now: Timestamp) -> Timestamp {
    now.minus(LEAVES_WITHIN)
}

impl UsersTable {
    /// Has nothing be joined or created by a person from now on, for [as long as](LEAVES_WITHIN) it may take to leave. Returns `false` if
    /// there is no account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn begin_leaving(&self, user: &UserId, at: Timestamp) -> Result<bool> {
        self.begin(user, at, "attribute_exists(pk) AND attribute_not_exists(closed_at)").await
    }

    /// The same for whom an operator forgets, also if the account is barred.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn begin_forgetting(&self, user: &UserId, at: Timestamp) -> Result<bool> {
        self.begin(user, at, "attribute_exists(pk)").await
    }

    async fn begin(&self, user: &UserId, at: Timestamp, condition: &str) -> Result<bool> {
        let update = self.0.update(LEAVE, address_key(user), "SET closing_at = :at").only_if(condition);
        update.value(":at", text(&at)).unless_refused().await
    }

    /// Lets a person join and create workspaces again, since they stay.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn stop_leaving(&self, user: &UserId) -> Result<()> {
        let update = self.0.update(LEAVE, address_key(user), "REMOVE closing_at").only_if("attribute_exists(pk)");
        update.unless_refused().await.map(|_| ())
    }

    /// Whether a person is closing their account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn is_leaving(&self, user: &UserId) -> Result<bool> {
        let found = self.0.get::<AddressItem>(LEAVE, address_key(user)).await?;
        Ok(found.and_then(|address| address.closing_at).is_some_and(|at| at > left_behind(Timestamp::now())))
    }

    /// Ends somebody's membership in a workspace, and closes it for good by a job. Returns `false` if it is otherwise than it was read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn abandon(
        &self,
        job: &Job,
        workspace: &Workspace,
        user: &UserId,
        origin: &AuditContext,
    ) -> Result<bool> {
        let Some(member) = self.member(&workspace.id, user).await? else { return Ok(true) };
        let mut transaction = Transaction::new(LEAVE);
        for key in membership_keys(&workspace.id, user) {
            let delete = self.0.delete(LEAVE, key).only_if(is_as_read(&member));
            transaction = transaction.and(delete.value(":role", text(&member.role)).action()?, ());
        }
        let transaction = match workspace.closure {
            None => {
                let closure = Closure::for_good(origin.at, job.id);
                self.and_closure(transaction, workspace, job, &closure, ()).await?
            }
            // Its own job goes on, as soon as its mark is gone.
            Some(Closure { closed_at, job, .. }) => {
                let over = self
                    .0
                    .update(LEAVE, workspace_key(&workspace.id), "SET restorable_until = :now")
                    .only_if("closed_at = :at")
                    .values([(":now", text(&origin.at)), (":at", text(&closed_at))]);
                let mark = self.2.unmark_action(&workspace.id, &job, JobMark::Closed)?;
                transaction.and(over.action()?, ()).and(mark, ())
            }
        };
        let left = origin.in_workspace(&workspace.id, AuditAction::MemberLeft, AuditSubject::Member(*user));
        let closed =
            origin.in_workspace(&workspace.id, AuditAction::WorkspaceClosed, AuditSubject::Workspace(workspace.id));
        // One that is closed has that entry since then.
        let closed = workspace.closure.is_none().then_some(closed);
        let entries =
            [left].into_iter().chain(closed).map(|entry| self.entry(&entry)).collect::<Result<Vec<_>, _>>()?;
        let transaction = transaction.and_each(entries, ());
        Ok(transaction.send(&self.0.client).await? == TransactionOutcome::Committed)
    }

    /// Deletes all that is stored about what a person may do, but for the mark by which their tokens are refused, which goes by its TTL.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_person(&self, user: &UserId) -> Result<()> {
        const OPERATION: &str = "forget a person";
        let mut keys = self.0.keys_of(OPERATION, &access_partition(user)).await?;
        keys.retain(|key| *key != ended_sessions_key(user));
        // First, since nothing finds them without these items.
        self.forget_identities(user, &keys).await?;
        self.0.delete_all(OPERATION, keys.into_iter().map(Key::into_item).collect()).await
    }

    /// Ends an account that is in no workspace any more, and frees its address. Sessions end that have begun by `ends`, which may be in
    /// the future: none begins after this. Returns `false` if its person has joined a workspace, or the account has changed, since the
    /// memberships were found to be none.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn end_account(
        &self,
        account: &Account,
        guessed: &AccountHash,
        ends: Timestamp,
        origin: &AuditContext,
    ) -> Result<bool> {
        let Account { id: user, email, .. } = account;
        retry_on_conflict(LEAVE, async || {
            let Some(address) = self.0.get::<AddressItem>(LEAVE, address_key(user)).await? else {
                return Ok(Some(false));
            };
            // Read after what counts them, so that none is missed.
            if address.closing_at.is_none() || !self.memberships(user).await?.is_empty() {
                return Ok(Some(false));
            }
            let joinings = (address.joinings > 0).then(|| (":joinings", number(&address.joinings)));
            let has_joined_nothing =
                if joinings.is_some() { "joinings = :joinings" } else { "attribute_not_exists(joinings)" };
            let address_goes = self
                .0
                .delete(LEAVE, address_key(user))
                .only_if(format!("email = :email AND attribute_exists(closing_at) AND {has_joined_nothing}"))
                .value(":email", text(email))
                .values(joinings);
            let account_goes = self.0.delete(LEAVE, user_key(user)).only_if("email = :email");
            let address_is_free = self.0.delete(LEAVE, email_key(email)).only_if("user_id = :user");
            let ended = EndedSessionsItem::new(user, ends, None);
            let person = ClosedPerson { user: *user, guessed: guessed.clone() };
            let forgetting = Task::new(TaskWork::Forget(person), origin.at, &origin.correlation_id);
            let closed = origin.of_person(user, AuditAction::AccountClosed);
            Transaction::new(LEAVE)
                .and(address_goes.action()?, None)
                .and(account_goes.value(":email", text(email)).action()?, None)
                .and(address_is_free.value(":user", text(user)).action()?, None)
                .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&ends))])?, None)
                .and_each(self.2.begin(&forgetting)?, None)
                .and(self.entry(&closed)?, None)
                .commit(&self.0.client, true)
                .await
        })
        .await
    }
}
