//! Registration: with a workspace of one's own, or by an invitation into another one.

use linklet_domain::{
    Account, EmailAddress, FullName, HashFor, Membership, OneTimeToken, Password, Role, Timestamp, TokenPurpose,
    UserId, WorkspaceId, WorkspaceName, WorkspaceSlug, optional,
};
use linklet_dynamodb::{OpenInvitation, RegisterOutcome, Registration, back_off};
use linklet_lambda::{
    guesses::Attempt,
    http::{ApiError, Problem, Request, Response, created},
};
use serde::Deserialize;
use serde_json::json;

use crate::{Auth, BODY_LIMIT};

const TAKEN: ApiError = ApiError::Problem(Problem::EmailTaken);
/// The error of every invitation that doesn't work, whatever the reason is.
const INVALID: ApiError = ApiError::Problem(Problem::InvitationInvalid);

impl Auth {
    pub(crate) async fn register(&self, request: &Request) -> Result<Response, ApiError> {
        let wanted = request.json::<NewAccount>(BODY_LIMIT)?;
        if wanted.invitation.is_none() && !self.registration.admits(&wanted.email) {
            return Err(Problem::RegistrationClosed.into());
        }
        wanted.password.refuse_guessable(&wanted.email).map_err(|refused| refused.in_field("password"))?;
        let attempt = Attempt::at_registering(wanted.email.as_str());
        self.limits.guesses.limit(request, attempt, async |whose| self.create(request, &wanted, whose).await).await
    }

    async fn create(
        &self,
        request: &Request,
        wanted: &NewAccount,
        whose: Option<HashFor>,
    ) -> Result<Response, ApiError> {
        const TRIES: u32 = 5;
        // Checked before hashing, which takes a hundred times as long, so that a request which can't succeed doesn't hash.
        let invitation = self.invitation_of(wanted, request).await?;
        if self.users.is_taken(&wanted.email).await? {
            return Err(TAKEN);
        }
        self.limits.admit_hashes(request, whose, 1).await?;
        let password_hash =
            self.passwords.hash(wanted.password.as_bytes()).map_err(|error| ApiError::Internal(Box::new(error)))?;
        for attempt in 0..TRIES {
            let account = wanted.account(&password_hash, request);
            let verified_at = invitation.as_ref().and_then(|open| open.verified_at(account.created_at));
            let (outcome, workspace) = self.store(wanted, &account, verified_at, invitation.as_ref()).await?;
            match outcome {
                RegisterOutcome::Registered => {
                    if verified_at.is_none() {
                        self.welcome(request, &account.email).await;
                    }
                    let view = json!({"user_id": account.id, "email": account.email, "workspace_id": workspace});
                    return Ok(created("../me", &view));
                }
                RegisterOutcome::EmailTaken => return Err(TAKEN),
                RegisterOutcome::InvitationInvalid => return Err(INVALID),
                RegisterOutcome::SlugTaken => {}
                RegisterOutcome::Conflict => back_off(attempt).await,
            }
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    /// Refuses an account of no use, whose address isn't verified yet. It is asked after the password, so that strangers learn
    /// nothing about accounts.
    pub(crate) async fn require_usable(&self, account: &Account) -> Result<(), ApiError> {
        if self.registration.needs_verified_addresses() && self.users.verified_at(&account.id).await?.is_none() {
            return Err(Problem::AddressUnverified.into());
        }
        Ok(())
    }

    /// The invitation that the registration names, if it names one.
    async fn invitation_of(&self, wanted: &NewAccount, request: &Request) -> Result<Option<OpenInvitation>, ApiError> {
        let Some(token) = &wanted.invitation else { return Ok(None) };
        let token = OneTimeToken::parse(TokenPurpose::Invitation, token).map_err(|_| INVALID)?.hash();
        let found = self.users.open_invitation(&token, &wanted.email, request.received_at()).await?;
        found.map(Some).ok_or(INVALID)
    }

    /// Stores an account with its membership, and says of which workspace that is.
    async fn store(
        &self,
        wanted: &NewAccount,
        account: &Account,
        verified_at: Option<Timestamp>,
        invitation: Option<&OpenInvitation>,
    ) -> Result<(RegisterOutcome, WorkspaceId), ApiError> {
        if let Some(invitation) = invitation.and_then(|open| open.into_workspace.as_ref()) {
            let outcome = self.users.register_into(invitation, account, verified_at).await?;
            return Ok((outcome, invitation.workspace.clone()));
        }
        let registration = wanted.registration(account, verified_at);
        let outcome = match invitation {
            Some(right) => self.users.register_by(&right.token, &registration).await?,
            None => self.users.register(&registration).await?,
        };
        Ok((outcome, registration.membership.workspace))
    }
}

/// The body of a registration.
#[derive(Deserialize)]
struct NewAccount {
    email: EmailAddress,
    password: Password,
    #[serde(default, deserialize_with = "optional")]
    full_name: Option<FullName>,
    #[serde(default, deserialize_with = "optional")]
    workspace_name: Option<WorkspaceName>,
    /// The token of an invitation. A `String`, since what has another form is a wrong one rather than an invalid request.
    #[serde(default, deserialize_with = "optional")]
    invitation: Option<String>,
}

impl NewAccount {
    /// The account to store, with a new id.
    fn account(&self, password_hash: &str, request: &Request) -> Account {
        Account {
            id: UserId::generate(),
            email: self.email.clone(),
            full_name: self.full_name.clone(),
            password_hash: password_hash.to_owned(),
            created_at: request.received_at(),
        }
    }

    /// The account with a new workspace of its own.
    fn registration(&self, account: &Account, verified_at: Option<Timestamp>) -> Registration {
        let workspace = WorkspaceId::generate();
        let stem = self.workspace_name.as_ref().map_or(self.email.local_part(), WorkspaceName::as_str);
        let workspace_slug = WorkspaceSlug::derive(stem, &workspace);
        Registration {
            account: account.clone(),
            verified_at,
            membership: Membership { workspace, role: Role::Admin, joined_at: account.created_at },
            workspace_name: self.workspace_name.clone().unwrap_or_else(|| WorkspaceName::personal(&self.email)),
            workspace_slug,
        }
    }
}
