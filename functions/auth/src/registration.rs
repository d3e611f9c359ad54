//! Registration: with a workspace of one's own, or by an invitation into another one.

use linklet_domain::{
    Account, Actor, EmailAddress, FullName, GuessKind, HashFor, Invalid, OneTimeToken, Password, PasswordLogin,
    Timestamp, TokenPurpose, UserId, WorkspaceId, WorkspaceName, WorkspaceSlug, optional,
};
use linklet_dynamodb::{NewWorkspace, OpenInvitation, RegisterOutcome, Registration, back_off};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, JsonObject, Problem, Request, Response, Result, StatusCode, created, json};
use linklet_oidc::Settings;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Auth, Oidc};

const TAKEN: ApiError = ApiError::Problem(Problem::EmailTaken);
/// The error of every invitation that doesn't work, whatever the reason is.
const INVALID: ApiError = ApiError::Problem(Problem::InvitationInvalid);

impl Auth {
    pub(crate) async fn register(&self, request: &Request) -> Result<Response> {
        let body = request.json_object()?;
        let wanted = body.read::<NewAccount>()?;
        Problem::PasswordLoginOff.when(self.password_login == PasswordLogin::Off)?;
        Problem::RegistrationClosed.when(wanted.invitation.is_none() && !self.registration.admits(&wanted.email))?;
        let credential = self.credential(&body, &wanted)?;
        let attempt = Attempt { kind: GuessKind::Registration, account: Some(wanted.email.as_str()) };
        let create = async |whose| self.create(request, &wanted, &credential, whose).await;
        self.limits.guesses.limit(request, attempt, create).await
    }

    /// What the sign-up page has to know: who may register, and when a password is chosen.
    pub(crate) fn show_registration(&self) -> Response {
        let view = json!({
            "registration": self.registration.as_ref(),
            "domains": self.registration.domains(),
            "takes_password": !self.registration.needs_verified_addresses() && self.password_login == PasswordLogin::On,
            "password_login": self.password_login == PasswordLogin::On,
            "sends_mail": self.mails.are_placed(),
            "oidc": self.oidc.iter().flat_map(Oidc::settings).map(ProviderView::of).collect::<Vec<_>>(),
        });
        json(StatusCode::OK, &view)
    }

    /// The password of a new account. Where addresses have to be verified, who comes without an invitation chooses it with the token
    /// that is mailed: otherwise anybody could choose one for somebody else's account, which that person then confirms.
    fn credential(&self, body: &JsonObject, wanted: &NewAccount) -> Result<Credential, Invalid> {
        if wanted.invitation.is_none() && self.registration.needs_verified_addresses() {
            return Ok(Credential::ChosenLater);
        }
        let PasswordBody { password } = body.read()?;
        password.refuse_guessable(&wanted.email).map_err(|refused| refused.in_field("password"))?;
        Ok(Credential::Password(password))
    }

    async fn create(
        &self,
        request: &Request,
        wanted: &NewAccount,
        credential: &Credential,
        whose: Option<HashFor>,
    ) -> Result<Response> {
        const TRIES: u32 = 5;
        // Checked before hashing, which takes a hundred times as long, so that a request which can't succeed doesn't hash.
        let invitation = self.invitation_of(wanted, request).await?;
        if self.users.is_taken(&wanted.email).await? {
            return Err(TAKEN);
        }
        let password_hash = match credential {
            Credential::Password(password) => Some(self.first_hash(request, &wanted.email, password, whose).await?),
            Credential::ChosenLater => None,
        };
        for attempt in 0..TRIES {
            let account = wanted.account(password_hash.as_deref(), request);
            let verified_at = invitation.as_ref().and_then(|open| open.verified_at(account.created_at));
            let (outcome, workspace) = self.store(request, wanted, &account, verified_at, invitation.as_ref()).await?;
            match outcome {
                RegisterOutcome::Registered => {
                    if verified_at.is_none() {
                        self.welcome(request, &account.email).await;
                    }
                    request.note_account(&account.id);
                    let Account { id: user_id, email, .. } = account;
                    return Ok(created("../me", &RegisteredView { user_id, email, workspace_id: workspace }));
                }
                RegisterOutcome::EmailTaken => return Err(TAKEN),
                RegisterOutcome::InvitationInvalid => return Err(INVALID),
                RegisterOutcome::SlugTaken => {}
                RegisterOutcome::Conflict => back_off(attempt).await,
            }
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    /// The hash of the first password of the account with this address.
    pub(crate) async fn first_hash(
        &self,
        request: &Request,
        email: &EmailAddress,
        password: &Password,
        whose: Option<HashFor>,
    ) -> Result<String> {
        self.limits.admit_hashes(request, whose, email.as_str(), 1, request.received_at).await?;
        self.passwords.hash(password.typed()).map_err(ApiError::internal)
    }

    /// Refuses an account of no use, whose address isn't verified yet. It is asked after the password, so that strangers learn
    /// nothing about accounts.
    pub(crate) async fn require_usable(&self, account: &Account) -> Result<()> {
        let needs_proof = self.registration.needs_verified_addresses();
        Problem::AddressUnverified.when(needs_proof && self.users.verified_at(&account.id).await?.is_none())
    }

    /// The invitation that the registration names, if it names one.
    async fn invitation_of(&self, wanted: &NewAccount, request: &Request) -> Result<Option<OpenInvitation>> {
        let Some(token) = &wanted.invitation else { return Ok(None) };
        let token = OneTimeToken::parse(TokenPurpose::Invitation, token).map_err(|_| INVALID)?.hash();
        let found = self.users.open_invitation(&token, &wanted.email, request.received_at).await?;
        found.map(Some).ok_or(INVALID)
    }

    /// Stores an account with its membership, and says of which workspace that is.
    async fn store(
        &self,
        request: &Request,
        wanted: &NewAccount,
        account: &Account,
        verified_at: Option<Timestamp>,
        invitation: Option<&OpenInvitation>,
    ) -> Result<(RegisterOutcome, WorkspaceId)> {
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        if let Some(invitation) = invitation.and_then(|open| open.into_workspace.as_ref()) {
            let outcome = self.users.register_into(invitation, account, verified_at, &origin).await?;
            return Ok((outcome, invitation.workspace));
        }
        let registration = wanted.registration(account, verified_at);
        let outcome = self.users.register(&registration, invitation.map(|right| &right.token), &origin).await?;
        Ok((outcome, registration.workspace.id))
    }
}

/// What a new account is logged in to with.
enum Credential {
    Password(Password),
    /// A password that is chosen with a mailed token. One that comes in the body isn't read.
    ChosenLater,
}

/// The member of a registration's body that chooses the password.
#[derive(Deserialize)]
struct PasswordBody {
    password: Password,
}

/// An identity provider at which people sign in.
#[derive(Serialize)]
pub(crate) struct ProviderView<'a> {
    id: &'a str,
    name: &'a str,
}

impl<'a> ProviderView<'a> {
    pub(crate) fn of(settings: &'a Settings) -> Self {
        Self { id: settings.id.as_str(), name: &settings.name }
    }
}

/// The answer to a registration.
#[derive(Serialize)]
struct RegisteredView {
    user_id: UserId,
    email: EmailAddress,
    workspace_id: WorkspaceId,
}

/// The body of a registration, but for the password.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct NewAccount {
    email: EmailAddress,
    full_name: Option<FullName>,
    workspace_name: Option<WorkspaceName>,
    /// The token of an invitation. A `String`, since what has another form is a wrong one rather than an invalid request.
    invitation: Option<String>,
}

impl NewAccount {
    /// The account to store, with a new id.
    fn account(&self, password_hash: Option<&str>, request: &Request) -> Account {
        Account {
            id: UserId::generate(),
            email: self.email.clone(),
            full_name: self.full_name.clone(),
            password_hash: password_hash.map(str::to_owned),
            created_at: request.received_at,
            last_login_at: None,
            password_works_until: None,
        }
    }

    /// The account with a new workspace of its own.
    fn registration(&self, account: &Account, verified_at: Option<Timestamp>) -> Registration {
        let stem = self.workspace_name.as_ref().map_or(self.email.local_part(), WorkspaceName::as_str);
        let name = self.workspace_name.clone().unwrap_or_else(|| WorkspaceName::personal(&self.email));
        let workspace = NewWorkspace::of(account, WorkspaceId::generate(), name, account.created_at);
        let slug = WorkspaceSlug::derive(stem, &workspace.id);
        Registration { account: account.clone(), verified_at, workspace: NewWorkspace { slug, ..workspace } }
    }
}
