//! Somebody whom a provider has named: into their account, a new one, or to where they join the one that has their address.

use linklet_domain::{
    Account, AccountChange, Actor, EmailAddress, FullName, Identity, Membership, SessionId, Timestamp, TokenHash,
    UserId, WorkspaceRole,
};
use linklet_dynamodb::{AcceptOutcome, FirstMembership, FoundIdentity, OpenInvitation, RegisterOutcome, back_off};
use linklet_lambda::app::encoded;
use linklet_lambda::following::led_to;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, StatusCode};
use linklet_oidc::{Identity as OidcIdentity, Settings};

use super::join::PendingJoin;
use super::roles::IdentityRoles;
use super::{Reason, SIGNED_IN_PAGE, back, signed_in, to_application};
use crate::Auth;
use crate::renewal::{Begun, SessionLimit};

/// Whom a sign-in leads to.
enum Outcome {
    /// They are in, maybe with an account that an invitation has just made.
    SignedIn { found: Box<(Account, Identity)>, memberships: Vec<Membership>, is_invited: bool },
    /// An account has their address, and may be somebody else's.
    Joins(EmailAddress),
    /// They are sent back.
    Refused(Reason),
}

impl Auth {
    /// Lets somebody in whom a provider has named.
    pub(super) async fn sign_in(
        &self,
        request: &Request,
        provider: &Settings,
        named: OidcIdentity,
        invitation: Option<&TokenHash>,
    ) -> Result<Result<Response, Reason>> {
        let (email, roles) = (self.oidc()?.proven(&named), self.oidc()?.roles_of(&named));
        let identity = Identity::new(named.issuer, &named.subject, email, request.received_at);
        let name = named.name.and_then(|name| FullName::parse(&name).ok());
        match self.find(request, &identity, name, invitation).await? {
            Outcome::SignedIn { found, memberships, is_invited } => {
                let (account, identity) = *found;
                let known = IdentityRoles { identity: &identity, roles: roles.as_deref() };
                let begun = self.let_in(request, &account, memberships, &known, request.received_at).await?;
                let is_useless = match invitation.filter(|_| !is_invited) {
                    Some(token) => !self.accept(request, &account, &begun.session, token).await?,
                    None => false,
                };
                let response =
                    if is_useless { back(request, SIGNED_IN_PAGE, Reason::Invitation) } else { signed_in(request) };
                Ok(Ok(self.address.with_cookie_for_visitor(response?, request, &begun.refresh_token, begun.lasts)))
            }
            Outcome::Joins(email) => {
                let (name, address) = (encoded(&provider.name), encoded(email.as_str()));
                let page = to_application(request, &format!("#/join?provider={name}&email={address}"));
                let pending = PendingJoin::new(provider, identity, email, roles, request.received_at);
                let response = led_to(&page, StatusCode::FOUND)?;
                Ok(Ok(self.with_pending(response, request, &pending).await?))
            }
            Outcome::Refused(reason) => Ok(Err(reason)),
        }
    }

    async fn find(
        &self,
        request: &Request,
        identity: &Identity,
        name: Option<FullName>,
        invitation: Option<&TokenHash>,
    ) -> Result<Outcome> {
        const TRIES: u32 = 5;
        let mut joins_nothing = false;
        for attempt in 0..TRIES {
            match self.users.account_of_identity(&identity.hash).await? {
                FoundIdentity::Account(found, memberships) => {
                    let (account, known) = *found;
                    let account = self.follow(request, account, &known, identity.email.as_ref()).await?;
                    let found = Box::new((account, known));
                    return Ok(Outcome::SignedIn { found, memberships, is_invited: false });
                }
                FoundIdentity::Closed => return Ok(Outcome::Refused(Reason::Refused)),
                FoundIdentity::Unknown => {}
            }
            let Some(email) = &identity.email else { return Ok(Outcome::Refused(Reason::Unproven)) };
            if self.users.is_taken(email).await? {
                // Another tab may have made the account a moment ago.
                match self.users.account_of_identity(&identity.hash).await? {
                    FoundIdentity::Unknown => return Ok(Outcome::Joins(email.clone())),
                    _ => continue,
                }
            }
            let invited = match invitation {
                Some(token) => self.users.open_invitation(token, email, request.received_at).await?,
                None => None,
            };
            if invitation.is_some() && invited.is_none() {
                return Ok(Outcome::Refused(Reason::Invitation));
            }
            if invited.is_none() && !self.registration.admits(email) && !self.oidc()?.admits(email) {
                return Ok(Outcome::Refused(Reason::Closed));
            }
            let account = newcomer(email, name.clone(), request.received_at);
            let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
            // An open registration lets anybody in, and not into the company's workspace.
            let oidc = self.oidc()?;
            let first = oidc.join.as_ref().filter(|_| !joins_nothing && oidc.admits(email));
            let joined = match &invited {
                Some(OpenInvitation { into_workspace: Some(invitation), .. }) => {
                    FirstMembership::Invitation(invitation)
                }
                Some(right) => FirstMembership::RightToRegister(&right.token),
                None => first.map_or(FirstMembership::None, |WorkspaceRole { workspace, role }| {
                    FirstMembership::Role(workspace, role)
                }),
            };
            match self.users.register_identity(&account, identity, joined, &origin).await? {
                RegisterOutcome::Registered => {
                    let memberships = self.users.memberships(&account.id).await?;
                    let (found, is_invited) = (Box::new((account, identity.clone())), invited.is_some());
                    return Ok(Outcome::SignedIn { found, memberships, is_invited });
                }
                RegisterOutcome::InvitationInvalid if invited.is_none() => {
                    tracing::error!("the workspace of OidcJoin does not exist, or admits nobody");
                    joins_nothing = true;
                }
                // Another tab was faster, maybe by the same identity.
                _ => back_off(attempt).await,
            }
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    /// Makes a person a member of the workspace of an invitation. Returns whether they are one then.
    async fn accept(
        &self,
        request: &Request,
        account: &Account,
        session: &SessionId,
        token: &TokenHash,
    ) -> Result<bool> {
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        Ok(match self.users.accept_invitation(token, account, session, &origin).await? {
            AcceptOutcome::Accepted(workspace, role) => {
                let workspace_name = workspace.name.clone();
                self.mails.tell(request, &account.id, AccountChange::Joined { workspace_name, role }).await;
                true
            }
            AcceptOutcome::AlreadyMember => true,
            AcceptOutcome::Invalid | AcceptOutcome::TooMany | AcceptOutcome::AccountChanged => false,
        })
    }

    /// Gives the account the address that the provider vouches for now, by the rules of [`follow_identity`], unless another provider
    /// vouches for the present one. The old one is told.
    ///
    /// [`follow_identity`]: linklet_dynamodb::UsersTable::follow_identity
    async fn follow(
        &self,
        request: &Request,
        account: Account,
        known: &Identity,
        verified: Option<&EmailAddress>,
    ) -> Result<Account> {
        let Some(email) = verified.filter(|email| known.email.as_ref() != Some(email)) else { return Ok(account) };
        let others = self.users.identities(&account.id).await?;
        let vouches = |other: &Identity| other.hash != known.hash && other.email.as_ref() == Some(&account.email);
        let may_move = self.registration.admits_instead(email) && !others.iter().any(vouches);
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        if !self.users.follow_identity(&account.id, known, email, may_move, &origin).await? {
            return Ok(account);
        }
        self.tell_at_old_address(request, &account.id, account.email).await;
        Ok(Account { email: email.clone(), ..account })
    }

    /// Begins a session as a login does, which can be renewed.
    pub(super) async fn let_in(
        &self,
        request: &Request,
        account: &Account,
        mut memberships: Vec<Membership>,
        known: &IdentityRoles<'_>,
        at: Timestamp,
    ) -> Result<Begun> {
        let issuer = &known.identity.issuer;
        self.require_usable(account).await?;
        if known.roles.is_some() {
            self.apply_roles(request, account, known).await?;
            memberships = self.users.memberships(&account.id).await?;
        }
        memberships.retain(Membership::is_active);
        let membership = self.oldest(account, memberships, request).await?;
        let limit = SessionLimit { issuer: Some(issuer), until: at.plus(self.oidc()?.session) };
        let begun = self.begin_renewable(request, account, membership.as_ref(), Some(limit), at).await?;
        self.limits.guesses.remember_proof(request, account.email.as_str()).await;
        self.note_login(&account.id, at).await;
        let address_hash = self.limits.guesses.address_hash(request);
        tracing::info!(user_id = %account.id, address_hash = address_hash.as_str(), issuer, "signed in");
        request.note_account(&account.id);
        Ok(begun)
    }

    /// Tells somebody that an identity opens their account from now on.
    pub(super) async fn tell_connected(&self, request: &Request, user: &UserId, provider: &str, pauses: bool) {
        let change = AccountChange::IdentityConnected { provider: provider.to_owned(), pauses };
        self.mails.tell(request, user, change).await;
    }
}

/// The account of somebody new, without a password.
fn newcomer(email: &EmailAddress, full_name: Option<FullName>, at: Timestamp) -> Account {
    let (id, email) = (UserId::generate(), email.clone());
    Account {
        id,
        email,
        full_name,
        password_hash: None,
        created_at: at,
        last_login_at: None,
        password_works_until: None,
    }
}
