//! Identities: who people are at identity providers, by which they sign in.
//!
//! An identity belongs to one account. Its item says which, and an item beside what the person may do says what the provider has vouched
//! for. Both are written in the transaction that proves that the account is the person's.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{
    Account, AuditAction, AuditContext, AuditSubject, EmailAddress, Identity, IdentityHash, Invitation, Membership,
    Role, Timestamp, TokenHash, UserId, WorkspaceId,
};

use super::addresses::AddressProof;
use super::item::{
    AddressItem, EndedSessionsItem, IDENTITY_PREFIX, IdentityItem, OwnIdentityItem, UserItem, access_partition,
    address_key, identity_key, invitation_token_key, own_identity_key, user_key,
};
use super::people::Differences;
use super::sessions::ENDS_MORE;
use super::{ActiveSession, RegisterOutcome, UsersTable};
use crate::Result;
use crate::item::{Key, from_item, text};
use crate::transaction::{Transaction, retry_on_conflict};

const FIND: &str = "find the account of an identity";
const JOIN: &str = "connect an identity";
const REMOVE: &str = "remove an identity";
const IS_OPEN: &str = "attribute_exists(pk) AND attribute_not_exists(closed_at)";
const FOLLOW: &str = "follow an address of an identity";

/// What is known of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundIdentity {
    /// It belongs to this account, whose person has these memberships.
    Account(Box<(Account, Identity)>, Vec<Membership>),
    /// It belongs to none.
    Unknown,
    /// An operator has closed its account.
    Closed,
}

/// The membership that somebody gets with a new account.
#[derive(Debug, Clone, Copy)]
pub enum FirstMembership<'a> {
    /// None yet.
    None,
    /// None yet, by the right to register, which this token uses up.
    RightToRegister(&'a TokenHash),
    /// The workspace of an invitation.
    Invitation(&'a Invitation),
    /// This workspace, in this role.
    Role(&'a WorkspaceId, &'a Role),
}

/// The outcome of connecting an identity with an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinOutcome {
    /// The account has it.
    Joined,
    /// The account or the identity has changed meanwhile.
    Changed,
}

/// The outcome of connecting an identity in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectOutcome {
    /// The account has it.
    Connected,
    /// Another account has it.
    Taken,
    /// The session has ended.
    SessionEnded,
}

/// What an account may be signed in to with.
#[derive(Debug, Clone, Copy)]
pub struct WaysToSignIn<'a> {
    /// Whether passwords are on.
    pub passwords: bool,
    /// The issuers of the providers that there are.
    pub issuers: &'a [&'a str],
}

/// The outcome of taking an identity away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoveOutcome {
    /// The account hasn't it any more. It was one of this issuer.
    Removed(String),
    /// The account has no such identity.
    NoIdentity,
    /// Nobody could sign in to the account any more.
    LastSignIn,
}

impl UsersTable {
    /// Whose an identity is.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn account_of_identity(&self, hash: &IdentityHash) -> Result<FoundIdentity> {
        let Some(IdentityItem { user_id: user, .. }) = self.0.get::<IdentityItem>(FIND, identity_key(hash)).await?
        else {
            return Ok(FoundIdentity::Unknown);
        };
        let (account, address, identity, memberships) = tokio::join!(
            self.0.get::<UserItem>(FIND, user_key(&user)),
            self.0.get::<AddressItem>(FIND, address_key(&user)),
            self.0.get::<OwnIdentityItem>(FIND, own_identity_key(&user, hash)),
            self.memberships(&user),
        );
        let (Some(account), Some(address), Some(identity)) = (account?, address?, identity?) else {
            return Ok(FoundIdentity::Unknown);
        };
        if address.closed_at.is_some() {
            return Ok(FoundIdentity::Closed);
        }
        Ok(FoundIdentity::Account(Box::new((account.account, identity.value)), memberships?))
    }

    /// The identities with which a person signs in.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn identities(&self, user: &UserId) -> Result<Vec<Identity>> {
        const OPERATION: &str = "list identities";
        let query = self.0.query(&access_partition(user), crate::item::SortKeys::Beginning(IDENTITY_PREFIX));
        let mut answers = self.0.query_within_budget(OPERATION, query.consistent_read(true));
        let mut identities = Vec::new();
        while let Some(items) = answers.next().await? {
            for item in items {
                identities.push(from_item::<OwnIdentityItem>(OPERATION, item)?.value);
            }
        }
        Ok(identities)
    }

    /// Creates an account without a password, of somebody whose provider vouches for their address, with a first membership.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn register_identity(
        &self,
        account: &Account,
        identity: &Identity,
        first: FirstMembership<'_>,
        origin: &AuditContext,
    ) -> Result<RegisterOutcome> {
        const OPERATION: &str = "register an identity";
        const INVALID: RegisterOutcome = RegisterOutcome::InvitationInvalid;
        let (now, conflict) = (account.created_at, RegisterOutcome::Conflict);
        let mut transaction = self.and_account(Transaction::new(OPERATION), account, Some(now), origin)?;
        transaction = transaction.and_each(self.connecting(&account.id, identity, origin).await?, conflict);
        transaction = match first {
            FirstMembership::None => transaction,
            FirstMembership::RightToRegister(token) => {
                transaction.and(self.used_up(invitation_token_key(token))?, INVALID)
            }
            FirstMembership::Invitation(invitation) => transaction.and(self.deletion(invitation)?, INVALID),
            FirstMembership::Role(..) => transaction,
        };
        if let FirstMembership::Invitation(Invitation { workspace, role, .. })
        | FirstMembership::Role(workspace, role) = first
        {
            let joined = origin.in_workspace(workspace, AuditAction::MemberJoined, AuditSubject::Member(account.id));
            transaction = transaction.and(self.admission(workspace, *role)?, INVALID);
            transaction = self.and_membership(transaction, workspace, *role, account, now, &conflict)?;
            transaction = transaction.and(self.entry(&joined.to(role))?, conflict);
        }
        Ok(transaction.send(&self.0.client).await?.or(RegisterOutcome::Registered, conflict))
    }

    /// Connects an identity with an account, whose person has given its password beside the provider's word for its address. So the
    /// address is verified, too.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn join_identity(
        &self,
        account: &Account,
        identity: &Identity,
        origin: &AuditContext,
    ) -> Result<JoinOutcome> {
        const CHANGED: Option<JoinOutcome> = Some(JoinOutcome::Changed);
        let Some(hash) = &account.password_hash else { return Ok(JoinOutcome::Changed) };
        retry_on_conflict(JOIN, async || {
            let Some(person) = self.stored_person(&account.id).await? else { return Ok(CHANGED) };
            let has_password = self
                .0
                .update(JOIN, user_key(&account.id), "SET updated_at = :at")
                .only_if("password_hash = :hash AND attribute_not_exists(closed_at)")
                .values([(":hash", text(hash)), (":at", text(&origin.at))]);
            let verified = person.address.verified_at.is_none();
            let verified = verified.then(|| origin.of_person(&account.id, AuditAction::AccountAddressVerified));
            let verified = verified.map(|entry| self.entry(&entry)).transpose()?;
            let proved = self.address_change(&account.id, &account.email, AddressProof::Another, origin.at)?;
            Transaction::new(JOIN)
                .and(has_password.action()?, CHANGED)
                .and(proved, CHANGED)
                .and_each(self.connecting(&account.id, identity, origin).await?, CHANGED)
                .and_each(verified, None)
                .commit(&self.0.client, JoinOutcome::Joined)
                .await
        })
        .await
    }

    /// Connects an identity with the account of somebody who has signed in, as long as their session lasts.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn connect_identity(
        &self,
        acting: ActiveSession<'_>,
        identity: &Identity,
        origin: &AuditContext,
    ) -> Result<ConnectOutcome> {
        const ENDED: Option<ConnectOutcome> = Some(ConnectOutcome::SessionEnded);
        retry_on_conflict(JOIN, async || {
            Transaction::new(JOIN)
                .and_each(self.session_lasts(acting)?, ENDED)
                .and(self.0.check(user_key(acting.user), IS_OPEN, [])?, ENDED)
                .and_each(self.connecting(acting.user, identity, origin).await?, Some(ConnectOutcome::Taken))
                .commit(&self.0.client, ConnectOutcome::Connected)
                .await
        })
        .await
    }

    /// Takes an identity away from an account that has another way in, and ends all sessions but one.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn remove_identity(
        &self,
        acting: ActiveSession<'_>,
        hash: &IdentityHash,
        ways: WaysToSignIn<'_>,
        origin: &AuditContext,
    ) -> Result<RemoveOutcome> {
        const LAST: Option<RemoveOutcome> = Some(RemoveOutcome::LastSignIn);
        let ActiveSession { user, session } = acting;
        retry_on_conflict(REMOVE, async || {
            let identities = self.identities(user).await?;
            let Some(identity) = identities.iter().find(|identity| identity.hash == *hash) else {
                return Ok(Some(RemoveOutcome::NoIdentity));
            };
            let works = |other: &&Identity| other.hash != *hash && ways.issuers.contains(&other.issuer.as_str());
            let other_identity = identities.iter().find(works);
            let other_way = match other_identity {
                Some(other) => self.0.check(own_identity_key(user, &other.hash), "attribute_exists(pk)", [])?,
                None if ways.passwords => self.0.check(user_key(user), "attribute_exists(password_hash)", [])?,
                None => return Ok(LAST),
            };
            let entry = origin.of_person(user, AuditAction::AccountIdentityRemoved).from(&identity.issuer);
            // A password may have been hashed for a while, in which others may have signed in.
            let at = Timestamp::now();
            let ended = EndedSessionsItem::new(user, at, Some(session));
            Transaction::new(REMOVE)
                .and_each(self.disconnecting(user, hash)?, None)
                .and(other_way, if other_identity.is_some() { None } else { LAST })
                .and(self.0.put_if(&ended, ENDS_MORE, [(":at", text(&at))])?, None)
                .and(self.entry(&entry)?, None)
                .commit(&self.0.client, RemoveOutcome::Removed(identity.issuer.clone()))
                .await
        })
        .await
    }

    /// The actions of a transaction that give an identity to an account, unless it is another one's. It may have been that of one that is
    /// gone.
    pub(super) async fn connecting(
        &self,
        user: &UserId,
        identity: &Identity,
        origin: &AuditContext,
    ) -> Result<[TransactWriteItem; 3]> {
        const IS_FREE: &str = "attribute_not_exists(pk) OR user_id = :user OR user_id = :formerly";
        let owner = self.0.get::<IdentityItem>(JOIN, identity_key(&identity.hash)).await?.map(|item| item.user_id);
        let formerly = match owner {
            Some(owner) if self.account(&owner).await?.is_none() => owner,
            _ => *user,
        };
        let owner = IdentityItem { key: identity_key(&identity.hash), user_id: *user };
        let values = [(":user", text(user)), (":formerly", text(&formerly))];
        let own = OwnIdentityItem { key: own_identity_key(user, &identity.hash), value: identity.clone(), ttl: None };
        Ok([
            self.0.put_if(&owner, IS_FREE, values)?,
            self.0.put_new(&own)?,
            self.entry(&origin.of_person(user, AuditAction::AccountIdentityConnected).to(&identity.issuer))?,
        ])
    }

    /// The actions of a transaction that take an identity away from an account.
    pub(super) fn disconnecting(&self, user: &UserId, hash: &IdentityHash) -> Result<[TransactWriteItem; 2]> {
        let owner = self.0.delete(REMOVE, identity_key(hash)).only_if("user_id = :user").value(":user", text(user));
        let own = self.0.delete(REMOVE, own_identity_key(user, hash)).only_if("attribute_exists(pk)");
        Ok([own.action()?, owner.action()?])
    }

    /// Takes note of the address that a provider vouches for now, and gives it to the account if it `may_move`, had the one before it, and
    /// no other account has this one. Returns whether the account has another address since.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn follow_identity(
        &self,
        user: &UserId,
        identity: &Identity,
        email: &EmailAddress,
        may_move: bool,
        origin: &AuditContext,
    ) -> Result<bool> {
        let vouched = || {
            let key = own_identity_key(user, &identity.hash);
            let update = self.0.update(FOLLOW, key, "SET email = :email").only_if("attribute_exists(pk)");
            update.value(":email", text(email)).action()
        };
        let is_followed = retry_on_conflict(FOLLOW, async || {
            let Some(person) = self.stored_person(user).await? else { return Ok(Some(false)) };
            if !may_move || identity.email.as_ref() != Some(&person.address.email) {
                return Ok(Some(false));
            }
            let differences = Differences::shown(email, origin.at);
            let transaction = self.and_person(Transaction::new(FOLLOW), &person, &differences, false, origin)?;
            transaction.and(vouched()?, Some(false)).commit(&self.0.client, true).await
        })
        .await?;
        if !is_followed {
            Transaction::new(FOLLOW).and(vouched()?, ()).or_fail(&self.0.client).await?;
        }
        Ok(is_followed)
    }

    /// Deletes what leads from the identities among these items to their person, unless they lead to another account by now.
    pub(super) async fn forget_identities(&self, user: &UserId, keys: &[Key]) -> Result<()> {
        let hashes = keys.iter().filter_map(|key| key.sk.strip_prefix(IDENTITY_PREFIX));
        for hash in hashes.filter_map(|hash| IdentityHash::parse(hash).ok()) {
            let delete = self.0.delete("forget an identity", identity_key(&hash)).only_if("user_id = :user");
            delete.value(":user", text(user)).unless_refused().await?;
        }
        Ok(())
    }
}
