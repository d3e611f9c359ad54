//! UsersTable: accounts, workspaces, slugs, memberships, invitations and API keys.

mod addresses;
mod closed_workspaces;
mod closing;
mod closing_workspaces;
mod creation;
mod group_roles;
mod handovers;
mod identities;
mod invitations;
pub(crate) mod item;
mod keys;
mod leaving;
mod members;
mod names;
mod one_time;
mod people;
mod public;
mod recipients;
mod renewals;
mod reports;
mod room;
mod sessions;
mod shares;
mod workspace;
mod workspaces;

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    Account, AuditAction, AuditContext, AuditEntry, EmailAddress, Membership, Timestamp, TokenHash, UserId,
    WorkspaceId, WorkspaceSlug,
};

pub use self::addresses::{Mailbox, Profile};
pub use self::closing_workspaces::{CloseOutcome, RestoreOutcome};
pub use self::creation::{CreateWorkspaceOutcome, NewWorkspace};
pub use self::group_roles::GroupOutcome;
pub use self::handovers::Removal;
pub use self::identities::{ConnectOutcome, FirstMembership, FoundIdentity, JoinOutcome, RemoveOutcome, WaysToSignIn};
pub use self::invitations::{AcceptOutcome, Invitations, InviteOutcome, OpenInvitation, WithdrawOutcome};
use self::item::{AddressItem, EmailItem, SlugItem, UserItem, email_key, invitation_token_key, slug_key, user_key};
pub use self::item::{PendingAddress, SignIn};
pub use self::keys::{ApiKeys, ChangedKey, CreateKeyOutcome, KeyChange, KeyOutcome};
pub use self::leaving::LeaveEffect;
pub use self::members::{MemberChange, MemberOutcome};
pub use self::names::Names;
pub use self::one_time::{
    AddressVerification, NewToken, OneTimeTokens, PasswordReset, ResetOutcome, TokenDelivery, VerifyOutcome,
};
pub use self::people::{AddressStep, PersonChange, PersonOutcome};
pub use self::public::PublicWorkspaces;
pub use self::recipients::{MailAddress, Recipient, Recipients};
pub use self::reports::{ReportClaim, ReportReader, Reports, SubscribeOutcome, SubscriptionReader};
pub use self::sessions::{ActiveSession, LastingSessions, PasswordChange, Session, SessionStatus, Sessions};
pub use self::shares::{CreateShareOutcome, EndShareOutcome};
pub use self::workspace::WorkspaceOutcome;
pub use self::workspaces::Workspaces;
use crate::item::{Table, text};
use crate::transaction::Transaction;
use crate::{AuditTable, JobsTable, Result};

/// The repository of accounts, workspaces, memberships and API keys: UsersTable, with the audit log of what changes there, and the jobs
/// and tasks that changes begin.
#[derive(Debug, Clone)]
pub struct UsersTable(Table, AuditTable, JobsTable);

/// A new account with its own workspace.
#[derive(Debug)]
pub struct Registration {
    /// The account.
    pub account: Account,
    /// When the person showed that the address is theirs, if they have.
    pub verified_at: Option<Timestamp>,
    /// The account's new workspace.
    pub workspace: NewWorkspace,
}

/// The outcome of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterOutcome {
    /// Account and workspace are created.
    Registered,
    /// Another account has the email address.
    EmailTaken,
    /// Another workspace has the slug.
    SlugTaken,
    /// A concurrent request is registering the same address; retry with new ids.
    Conflict,
    /// The invitation was used, replaced or withdrawn meanwhile.
    InvitationInvalid,
}

impl UsersTable {
    /// A repository for this table, whose changes have entries in this audit log.
    pub fn new(table: Table, audit_log: AuditTable, jobs: JobsTable) -> Self {
        Self(table, audit_log, jobs)
    }

    /// The audit log, for what isn't changed here.
    pub fn audit_log(&self) -> &AuditTable {
        &self.1
    }

    /// The action of a transaction that puts the entry of what the transaction changes. Its key is new, so nothing refuses it but a
    /// collision of random ids, after which the caller tries again.
    pub(super) fn entry(&self, entry: &AuditEntry) -> Result<TransactWriteItem> {
        self.1.action(entry)
    }

    /// Creates account, email address, workspace, slug and membership in one transaction, with the end of the token that is the right
    /// to, if one is.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. The SDK retries the transaction with the same client request token, so it is applied at
    /// most once.
    pub async fn register(
        &self,
        registration: &Registration,
        right: Option<&TokenHash>,
        origin: &AuditContext,
    ) -> Result<RegisterOutcome> {
        const OPERATION: &str = "register an account";
        let Registration { account, verified_at, workspace } = registration;
        let used = right.map(|token| self.used_up(invitation_token_key(token))).transpose()?;
        let transaction = self.and_account(Transaction::new(OPERATION), account, *verified_at, origin)?;
        let transaction = transaction.and_each(used, RegisterOutcome::InvitationInvalid);
        let (taken, conflict) = (RegisterOutcome::SlugTaken, RegisterOutcome::Conflict);
        let transaction = self.and_workspace(transaction, workspace, taken, conflict, origin)?;
        Ok(transaction.send(&self.0.client).await?.or(RegisterOutcome::Registered, conflict))
    }

    /// Adds the items of a new account to a transaction.
    fn and_account(
        &self,
        transaction: Transaction<RegisterOutcome>,
        account: &Account,
        verified_at: Option<Timestamp>,
        origin: &AuditContext,
    ) -> Result<Transaction<RegisterOutcome>> {
        let email = EmailItem::new(&account.id, &account.email);
        let address = AddressItem::new(account, verified_at);
        // The ids are new, so items with them can't exist; if they do, the caller retries with other ids.
        Ok(transaction
            .and(self.0.put_new(&email)?, RegisterOutcome::EmailTaken)
            .and(self.0.put_new(&UserItem::from(account))?, RegisterOutcome::Conflict)
            .and(self.0.put_new(&address)?, RegisterOutcome::Conflict)
            .and(
                self.entry(&origin.of_person(&account.id, AuditAction::AccountRegistered))?,
                RegisterOutcome::Conflict,
            ))
    }

    /// Whether an account has this email address.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn is_taken(&self, email: &EmailAddress) -> Result<bool> {
        Ok(self.0.get::<EmailItem>("look up an address", email_key(email)).await?.is_some())
    }

    /// Reads the account with this email address, and its memberships in the order in which the user joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn find_by_email(&self, email: &EmailAddress) -> Result<Option<(Account, Vec<Membership>)>> {
        const OPERATION: &str = "find an account";
        let owner = self.0.get::<EmailItem>(OPERATION, email_key(email)).await?;
        // An unknown address causes the same reads, so that the response time doesn't reveal which addresses are registered.
        let user = owner.map_or_else(UserId::generate, |item| item.user_id);
        let (account, memberships) =
            tokio::join!(self.0.get::<UserItem>(OPERATION, user_key(&user)), self.memberships(&user));
        let memberships = memberships?;
        Ok(account?.map(|item| (item.account, memberships)))
    }

    /// Reads a person's memberships, in the order in which they joined.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn memberships(&self, user: &UserId) -> Result<Vec<Membership>> {
        self.0.memberships(user).await
    }

    /// Reads an account.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn account(&self, user: &UserId) -> Result<Option<Account>> {
        Ok(self.0.get::<UserItem>("read an account", user_key(user)).await?.map(|item| item.account))
    }

    /// Looks up the workspace with this slug.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn workspace_by_slug(&self, slug: &WorkspaceSlug) -> Result<Option<WorkspaceId>> {
        Ok(self.0.get::<SlugItem>("find a workspace", slug_key(slug)).await?.map(|item| item.workspace_id))
    }

    /// Sets the time of an account's latest login, unless a later one is there.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_login(&self, user: &UserId, at: Timestamp) -> Result<()> {
        let update = self
            .0
            .update("note a login", user_key(user), "SET last_login_at = :at")
            .only_if("attribute_exists(pk) AND (attribute_not_exists(last_login_at) OR last_login_at < :at)");
        update.value(":at", text(&at)).unless_refused().await.map(|_| ())
    }

    /// Replaces a password hash, if it is still the old one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached or the hash has changed.
    pub async fn replace_password_hash(&self, user: &UserId, old: &str, new: &str) -> Result<()> {
        let update = self.0.update("replace a password hash", user_key(user), "SET password_hash = :new");
        update.only_if("password_hash = :old").values([(":old", text(old)), (":new", text(new))]).or_fail().await
    }
}
