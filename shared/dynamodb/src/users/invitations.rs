//! Invitations into workspaces, and into Linklet itself.
//!
//! An invitation is in the partition of its workspace's invitations, under an id that is derived from the address, so an address
//! has one there. A token is an item under its hash. It names the invitation by the id and by the hash of the token that was shown
//! first, so the tokens of an invitation that was replaced lead nowhere. Accepting deletes the invitation, on the condition that it
//! is still that one; so it happens once, whichever token is used. Tokens that lead nowhere go by their TTL.
//!
//! A token without an invitation is the right to register where only invited people may.
//!
//! [`Invitations`] has only what mailing an invitation takes; [`UsersTable`] has all else.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    Account, AuditAction, AuditContext, AuditEntry, AuditSubject, EmailAddress, Invitation, InvitationId, Member,
    Membership, NotMailed, Role, SessionId, Timestamp, TokenHash, UserId, Workspace, WorkspaceId,
};

use super::item::{
    InvitationItem, InvitationTokenItem, InvitedTo, MemberItem, WorkspaceMemberItem, invitation_key,
    invitation_token_key, invitations_partition, workspace_key,
};
use super::members::{HAS_ADMINS, IS_OPEN};
use super::room::{INVITATIONS_MADE, most_made};
use super::{ActiveSession, RegisterOutcome, TokenDelivery, UsersTable};
use crate::item::{Key, SortKeys, Table, number, text};
use crate::transaction::{Transaction, TransactionOutcome, retry_on_conflict};
use crate::write::ACTION;
use crate::{KeptAnswer, Result};

/// The repository for mails about invitations: the items of UsersTable under workspaces' invitations and under tokens.
#[derive(Debug, Clone)]
pub struct Invitations(pub Table);

/// The outcome of inviting somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InviteOutcome {
    /// The invitation is stored.
    Invited,
    /// A member of the workspace has the address.
    AlreadyMember,
    /// The workspace has [`Invitation::MAX_PER_WORKSPACE`] open invitations.
    TooMany,
    /// The caller is no longer an admin of the workspace.
    CallerNotAdmin,
    /// Another request with the same idempotency key was faster; its answer is the answer.
    IdempotencyKeyTaken,
}

/// The outcome of withdrawing an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithdrawOutcome {
    /// The invitation is withdrawn.
    Withdrawn,
    /// The workspace has no such open invitation.
    NoInvitation,
    /// The caller is no longer an admin of the workspace.
    CallerNotAdmin,
}

/// The outcome of accepting an invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// The person is a member of this workspace now, in this role.
    Accepted(Box<Workspace>, Role),
    /// The person is a member already. The invitation stays.
    AlreadyMember,
    /// There is no such invitation for this person's address, or none any more.
    Invalid,
    /// The person is a member of as many workspaces as one may be.
    TooMany,
    /// The person has another name or address by now; a retry may succeed.
    AccountChanged,
}

/// A token that works, with what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenInvitation {
    /// The token.
    pub token: TokenHash,
    /// The invitation into a workspace. Without one, the token is the right to register with a workspace of one's own.
    pub into_workspace: Option<Invitation>,
    /// The only address with which it works.
    pub email: EmailAddress,
    /// Until when it works.
    pub expires_at: Timestamp,
    /// How the token got to the person.
    pub delivery: TokenDelivery,
}

impl OpenInvitation {
    /// When using the token shows that the address is the person's; `None` if it doesn't show that.
    pub fn verified_at(&self, now: Timestamp) -> Option<Timestamp> {
        (self.delivery == TokenDelivery::Mailed).then_some(now)
    }
}

const FIND: &str = "find an invitation";
const ACCEPT: &str = "accept an invitation";

impl Invitations {
    /// Reads an invitation, if it is open.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open(&self, workspace: &WorkspaceId, id: &InvitationId, now: Timestamp) -> Result<Option<Invitation>> {
        self.0.open_invitation(workspace, id, now).await
    }

    /// Adds a token to an invitation, which is to be mailed and shown to nobody. Returns `false` if the invitation is no longer
    /// there.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn add_mailed_token(&self, invitation: &Invitation, token: &TokenHash) -> Result<bool> {
        const OPERATION: &str = "add a token to an invitation";
        retry_on_conflict(OPERATION, || async {
            let item = InvitationTokenItem::of(invitation, token, true);
            Transaction::new(OPERATION)
                .and(self.0.is_still(invitation)?, Some(false))
                .and(self.0.put_new(&item)?, Some(false))
                .commit(&self.0.client, true)
                .await
        })
        .await
    }
}

impl Invitations {
    /// Notes that a mail with a token was sent, unless the invitation was replaced or used meanwhile.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_mailed(&self, invitation: &Invitation, at: Timestamp) -> Result<()> {
        let update = self.0.update("note a mailed invitation", key_of(invitation), "SET mailed_at = :at");
        let update = update.only_if(IS_STILL).values([(":token", text(&invitation.token)), (":at", text(&at))]);
        update.unless_refused().await.map(|_| ())
    }

    /// Notes why no mail is sent, unless the invitation was replaced or used meanwhile.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn note_not_mailed(&self, invitation: &Invitation, why: NotMailed) -> Result<()> {
        let update = self.0.update("note why an invitation isn't mailed", key_of(invitation), "SET not_mailed = :why");
        let values = [(":token", text(&invitation.token)), (":why", text(&why))];
        update.only_if(IS_STILL).values(values).unless_refused().await.map(|_| ())
    }
}

impl UsersTable {
    /// Stores an invitation in place of an earlier one for the same address, if the caller is an admin and the workspace has
    /// room for it, and what the caller is answered if their request has an idempotency key.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. The invitation may be stored then, but nobody knows its token.
    pub async fn invite(
        &self,
        invitation: &Invitation,
        session: &SessionId,
        answer: KeptAnswer<'_>,
        origin: &AuditContext,
    ) -> Result<InviteOutcome> {
        const OPERATION: &str = "invite somebody";
        let inviter = ActiveSession { user: &invitation.invited_by, session };
        let token = InvitationTokenItem::of(invitation, &invitation.token, false);
        let (action, subject) = (AuditAction::InvitationCreated, AuditSubject::Invitation(invitation.id));
        let entry = origin.in_workspace(&invitation.workspace, action, subject).to(&invitation.role);
        let not_admin = Some(InviteOutcome::CallerNotAdmin);
        retry_on_conflict(OPERATION, async || {
            let Some(made) = self.made_in(&invitation.workspace).await? else { return Ok(not_admin) };
            let (members, open) = tokio::try_join!(
                self.members(&invitation.workspace),
                self.invitations(&invitation.workspace, invitation.created_at)
            )?;
            if members.iter().any(|member| member.email == invitation.email) {
                return Ok(Some(InviteOutcome::AlreadyMember));
            }
            let others = open.iter().filter(|other| other.id != invitation.id).count();
            let Some(most) = most_made(made.invitations_made, others, Invitation::MAX_PER_WORKSPACE) else {
                return Ok(Some(InviteOutcome::TooMany));
            };
            let kept = self.keep_answer(inviter.user, answer, invitation.created_at)?;
            Transaction::new(OPERATION)
                .and_each(kept, Some(InviteOutcome::IdempotencyKeyTaken))
                .and(self.caller_is_admin(&invitation.workspace, inviter.user)?, not_admin)
                .and_each(self.session_lasts(inviter)?, not_admin)
                .and(self.one_more_made(&invitation.workspace, INVITATIONS_MADE, most)?, None)
                .and(self.0.put(&InvitationItem::from(invitation))?, not_admin)
                .and(self.0.put(&token)?, not_admin)
                .and(self.entry(&entry)?, not_admin)
                .commit(&self.0.client, InviteOutcome::Invited)
                .await
        })
        .await
    }

    /// Stores the right of this address to register with a workspace of its own.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn invite_to_register(&self, email: &EmailAddress, token: &TokenHash, now: Timestamp) -> Result<()> {
        const OPERATION: &str = "invite somebody to register";
        let item = InvitationTokenItem::to_register(email, token, now);
        Transaction::new(OPERATION).and(self.0.put_new(&item)?, ()).or_fail(&self.0.client).await
    }

    /// Lists the open invitations of a workspace, newest first.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn invitations(&self, workspace: &WorkspaceId, now: Timestamp) -> Result<Vec<Invitation>> {
        let partition = invitations_partition(workspace);
        let items = self.0.list::<InvitationItem>("list invitations", &partition, SortKeys::All).await?;
        let mut invitations: Vec<_> = items.into_iter().map(|item| item.value).collect();
        invitations.retain(|invitation| invitation.is_open(now));
        invitations.sort_by(|one, other| (other.created_at, &one.id).cmp(&(one.created_at, &other.id)));
        Ok(invitations)
    }

    /// Withdraws an invitation, if the caller is an admin.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn withdraw_invitation(
        &self,
        workspace: &WorkspaceId,
        caller: &UserId,
        id: &InvitationId,
        origin: &AuditContext,
    ) -> Result<WithdrawOutcome> {
        const OPERATION: &str = "withdraw an invitation";
        retry_on_conflict(OPERATION, || async {
            let Some(invitation) = self.0.open_invitation(workspace, id, origin.at).await? else {
                return Ok(Some(WithdrawOutcome::NoInvitation));
            };
            Transaction::new(OPERATION)
                .and(self.caller_is_admin(workspace, caller)?, Some(WithdrawOutcome::CallerNotAdmin))
                .and(self.deletion(&invitation)?, None)
                .and(self.entry(&entry_of_withdrawal(origin, &invitation))?, None)
                .commit(&self.0.client, WithdrawOutcome::Withdrawn)
                .await
        })
        .await
    }

    /// Withdraws all open invitations into a workspace that this person has made by this time. Invitations that others have made
    /// instead meanwhile stay.
    ///
    /// # Errors
    /// When DynamoDB can't be reached. Some may be withdrawn then; doing it again withdraws the rest.
    pub async fn withdraw_invitations_by(
        &self,
        workspace: &WorkspaceId,
        inviter: &UserId,
        made_until: Timestamp,
        origin: &AuditContext,
    ) -> Result<()> {
        let by_them =
            |invitation: &Invitation| invitation.invited_by == *inviter && invitation.created_at <= made_until;
        self.withdraw_all(workspace, made_until, by_them, origin).await?;
        Ok(())
    }

    /// Withdraws the open invitations into a workspace of which this is true, and returns how many these are.
    ///
    /// # Errors
    /// As [`Self::withdraw_invitations_by`].
    pub async fn withdraw_all(
        &self,
        workspace: &WorkspaceId,
        now: Timestamp,
        is_meant: impl Fn(&Invitation) -> bool,
        origin: &AuditContext,
    ) -> Result<usize> {
        const OPERATION: &str = "withdraw invitations";
        let mut open = self.invitations(workspace, now).await?;
        open.retain(is_meant);
        for invitation in &open {
            retry_on_conflict(OPERATION, async || {
                // What refuses it is that it was accepted, replaced or withdrawn meanwhile.
                Transaction::new(OPERATION)
                    .and(self.deletion(invitation)?, Some(()))
                    .and(self.entry(&entry_of_withdrawal(origin, invitation))?, Some(()))
                    .commit(&self.0.client, ())
                    .await
            })
            .await?;
        }
        Ok(open.len())
    }

    /// What a token is for, if it works for this address now.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn open_invitation(
        &self,
        token: &TokenHash,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<Option<OpenInvitation>> {
        Ok(self.invitation_of(token, now).await?.filter(|open| open.email == *email))
    }

    /// What a token is for, if it works now.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn invitation_of(&self, token: &TokenHash, now: Timestamp) -> Result<Option<OpenInvitation>> {
        let Some(item) = self.0.get::<InvitationTokenItem>(FIND, invitation_token_key(token)).await? else {
            return Ok(None);
        };
        let delivery = if item.mailed { TokenDelivery::Mailed } else { TokenDelivery::Shown };
        let token = token.clone();
        match item.to {
            InvitedTo::Register { email } => {
                let expires_at = Timestamp::from_unix_seconds(item.ttl).ok().filter(|expires_at| now < *expires_at);
                let into_workspace = None;
                Ok(expires_at.map(|expires_at| OpenInvitation { token, into_workspace, email, expires_at, delivery }))
            }
            InvitedTo::Workspace { workspace_id, invitation_id, shown_token } => {
                let found = self.0.open_invitation(&workspace_id, &invitation_id, now).await?;
                Ok(found.filter(|invitation| invitation.token == shown_token).map(|invitation| {
                    let (email, expires_at) = (invitation.email.clone(), invitation.expires_at());
                    OpenInvitation { token, into_workspace: Some(invitation), email, expires_at, delivery }
                }))
            }
        }
    }

    /// Makes the account a member of the workspace that a token invites its address into, if the session lasts, and the person has
    /// room for one more.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn accept_invitation(
        &self,
        token: &TokenHash,
        account: &Account,
        session: &SessionId,
        origin: &AuditContext,
    ) -> Result<AcceptOutcome> {
        const INVALID: Option<AcceptOutcome> = Some(AcceptOutcome::Invalid);
        let now = origin.at;
        retry_on_conflict(ACCEPT, async || {
            let Some(open) = self.open_invitation(token, &account.email, now).await? else { return Ok(INVALID) };
            let Some(invitation) = &open.into_workspace else { return Ok(INVALID) };
            let Some(workspace) = self.workspace(&invitation.workspace).await? else { return Ok(INVALID) };
            let joinings = self.joinings(&account.id).await?;
            let memberships = self.memberships(&account.id).await?;
            // Of what the transaction is refused for, the first counts: a member stays one, and the invitation stays, too.
            let already = Some(AcceptOutcome::AlreadyMember);
            if memberships.iter().any(|membership| membership.workspace == workspace.id) {
                return Ok(already);
            }
            let Some(most_joinings) = most_made(joinings, memberships.len(), Membership::MOST) else {
                return Ok(Some(AcceptOutcome::TooMany));
            };
            let transaction = self.and_membership(
                Transaction::new(ACCEPT),
                &invitation.workspace,
                invitation.role,
                account,
                now,
                &already,
            )?;
            let transaction = transaction.and(self.admission(&invitation.workspace, invitation.role)?, INVALID);
            let member = Member::of(account, invitation.role, now);
            let joining = self.joining(&member, open.verified_at(now), most_joinings)?;
            let transaction = transaction.and(joining, Some(AcceptOutcome::AccountChanged));
            // Otherwise somebody whose account is being closed would be a member again.
            let transaction =
                transaction.and_each(self.session_lasts(ActiveSession { user: &account.id, session })?, INVALID);
            let mut transaction = transaction
                .and(self.deletion(invitation)?, None)
                .and(self.entry(&entry_of_joining(origin, invitation, account))?, None);
            if open.verified_at(now).is_some() && self.verified_at(&account.id).await?.is_none() {
                let verified = origin.of_person(&account.id, AuditAction::AccountAddressVerified);
                transaction = transaction.and(self.entry(&verified)?, None);
            }
            Ok(match transaction.send(&self.0.client).await? {
                TransactionOutcome::Committed => Some(AcceptOutcome::Accepted(Box::new(workspace), invitation.role)),
                TransactionOutcome::Refused(Some(AcceptOutcome::AccountChanged))
                    if self.joinings(&account.id).await? != joinings =>
                {
                    None
                }
                TransactionOutcome::Refused(refusal) => refusal,
                TransactionOutcome::InConflict => None,
            })
        })
        .await
    }

    /// Creates account and address, and the membership that the invitation is for, in one transaction with its end.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn register_into(
        &self,
        invitation: &Invitation,
        account: &Account,
        verified_at: Option<Timestamp>,
        origin: &AuditContext,
    ) -> Result<RegisterOutcome> {
        const OPERATION: &str = "register an invited account";
        const INVALID: RegisterOutcome = RegisterOutcome::InvitationInvalid;
        let transaction = self.and_account(Transaction::new(OPERATION), account, verified_at, origin)?;
        let transaction = transaction.and(self.deletion(invitation)?, INVALID);
        let transaction = transaction.and(self.admission(&invitation.workspace, invitation.role)?, INVALID);
        let conflict = RegisterOutcome::Conflict;
        let now = account.created_at;
        let transaction =
            self.and_membership(transaction, &invitation.workspace, invitation.role, account, now, &conflict)?;
        let transaction = transaction.and(self.entry(&entry_of_joining(origin, invitation, account))?, conflict);
        Ok(transaction.send(&self.0.client).await?.or(RegisterOutcome::Registered, conflict))
    }

    /// Adds the rows of a new membership to a transaction.
    pub(super) fn and_membership<T: Clone>(
        &self,
        transaction: Transaction<T>,
        workspace: &WorkspaceId,
        role: Role,
        account: &Account,
        joined_at: Timestamp,
        already: &T,
    ) -> Result<Transaction<T>> {
        let membership = Membership::new(*workspace, role, joined_at);
        let listed = WorkspaceMemberItem::new(workspace, &Member::of(account, role, joined_at));
        Ok(transaction
            .and(self.0.put_new(&MemberItem::new(&account.id, &membership))?, already.clone())
            .and(self.0.put_new(&listed)?, already.clone()))
    }

    /// The action that counts a new admin. For other roles it only makes sure that the workspace has one, so that nobody joins a
    /// workspace that was left. Nobody joins one that is closed, either.
    pub(super) fn admission(&self, workspace: &WorkspaceId, role: Role) -> Result<TransactWriteItem> {
        let (is_entered, least) = (format!("{HAS_ADMINS} AND {IS_OPEN}"), (":least", number(&1)));
        if role != Role::Admin {
            return self.0.check(workspace_key(workspace), &is_entered, [least]);
        }
        let update = self.0.update(ACTION, workspace_key(workspace), "ADD admins :one").only_if(is_entered);
        update.values([least, (":one", number(&1))]).action()
    }

    /// Deletes an invitation, if it is still this one.
    pub(super) fn deletion(&self, invitation: &Invitation) -> Result<TransactWriteItem> {
        self.0.delete(ACTION, key_of(invitation)).only_if(IS_STILL).value(":token", text(&invitation.token)).action()
    }
}

impl Table {
    async fn open_invitation(
        &self,
        workspace: &WorkspaceId,
        id: &InvitationId,
        now: Timestamp,
    ) -> Result<Option<Invitation>> {
        let found = self.get::<InvitationItem>(FIND, invitation_key(workspace, id)).await?.map(|item| item.value);
        Ok(found.filter(|invitation| invitation.is_open(now)))
    }

    /// A condition check that an invitation was neither replaced nor accepted nor withdrawn.
    fn is_still(&self, invitation: &Invitation) -> Result<TransactWriteItem> {
        self.check(key_of(invitation), IS_STILL, [(":token", text(&invitation.token))])
    }
}

/// What the audit log says of an invitation that is withdrawn.
fn entry_of_withdrawal(origin: &AuditContext, invitation: &Invitation) -> AuditEntry {
    let subject = AuditSubject::Invitation(invitation.id);
    origin.in_workspace(&invitation.workspace, AuditAction::InvitationWithdrawn, subject)
}

/// What the audit log says of an invitation that is accepted.
fn entry_of_joining(origin: &AuditContext, invitation: &Invitation, account: &Account) -> AuditEntry {
    let subject = AuditSubject::Member(account.id);
    let joined = origin.in_workspace(&invitation.workspace, AuditAction::MemberJoined, subject);
    joined.to(&invitation.role)
}

/// The condition that an invitation is the one that was read, and no later one for the same address.
const IS_STILL: &str = "token_hash = :token";

fn key_of(invitation: &Invitation) -> Key {
    invitation_key(&invitation.workspace, &invitation.id)
}
