//! How people sign in to their account: their identities, and showing again who they are.

use linklet_domain::{
    AccountChange, Identity, IdentityHash, Invalid, PasswordLogin, SortOrder, TypedPassword, optional,
};
use linklet_dynamodb::{RemoveOutcome, WaysToSignIn};
use linklet_lambda::http::{NextPage, Problem, Request, Response, Result, StatusCode, json, no_content};
use linklet_lambda::proofs::Purpose;
use linklet_oidc::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::oidc::Purpose as RoundTripFor;
use crate::password::Removal;
use crate::registration::ProviderView;
use crate::{Auth, Oidc};

/// The body of a proof.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Proof {
    password: Option<TypedPassword>,
    /// The id of an identity provider.
    provider: Option<String>,
}

/// The body of a request to connect an identity.
#[derive(Deserialize)]
struct Connection {
    /// The id of an identity provider.
    provider: String,
    #[serde(default, deserialize_with = "optional")]
    password: Option<TypedPassword>,
}

/// The answer: how a person signs in.
#[derive(Serialize)]
struct IdentitiesView {
    has_password: bool,
    identities: Vec<Value>,
    #[serde(flatten)]
    next: NextPage,
}

impl Auth {
    /// Has somebody show again who they are: by their password at once, or at an identity provider, where the browser goes.
    pub(crate) async fn prove(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let (user, session) = (person.user, person.session().id);
        match request.json()? {
            Proof { password: Some(password), provider: None } => {
                let account = self.users.account(&user).await?.ok_or(Problem::Unauthorized)?;
                let purpose = Purpose::refused_as("wrong password for a proof");
                self.proofs().require(request, &account, &password, purpose).await?;
                let is_noted = self.users.prove_session(&user, &session, request.received_at).await?;
                if is_noted { Ok(no_content()) } else { Err(Problem::Unauthorized.into()) }
            }
            Proof { password: None, provider: Some(provider) } => {
                let purpose = RoundTripFor::Prove { user, session };
                self.provider_address(request, &provider, purpose, Prompt::Always).await
            }
            _ => Err(Invalid::new("either password or provider is required").into()),
        }
    }

    pub(crate) async fn list_identities(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person(request).await?;
        let (account, identities) =
            tokio::try_join!(self.users.account(&person.user), self.users.identities(&person.user))?;
        let has_password = account.ok_or(Problem::Unauthorized)?.password_hash.is_some();
        let key = |identity: &Identity| format!("{}#{}", identity.connected_at, identity.hash);
        let (identities, next) = request.page_of(identities, SortOrder::Ascending, key)?;
        let identities = identities.iter().map(|identity| self.identity_view(identity)).collect();
        Ok(json(StatusCode::OK, &IdentitiesView { has_password, identities, next }))
    }

    fn identity_view(&self, Identity { hash, issuer, email, connected_at, .. }: &Identity) -> Value {
        let provider = self.oidc.as_ref().and_then(|oidc| oidc.of_issuer(issuer)).map(ProviderView::of);
        json!({"id": hash, "provider": provider, "issuer": issuer, "email": email, "connected_at": connected_at})
    }

    /// Has the browser go to a provider, whose identity the account gets.
    pub(crate) async fn connect(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let Connection { provider, password } = request.json()?;
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        let purpose = Purpose::refused_as("wrong password while connecting an identity");
        self.proofs().require_of(request, person.acting(), &account, password.as_ref(), purpose).await?;
        let purpose = RoundTripFor::Connect { user: person.user, session: person.session().id };
        self.provider_address(request, &provider, purpose, Prompt::IfNeeded).await
    }

    /// The issuers of the providers at which people sign in.
    pub(crate) fn issuers(&self) -> Vec<&str> {
        self.oidc.iter().flat_map(Oidc::issuers).collect()
    }

    /// Takes an identity away, and ends all sessions but the one that asks.
    pub(crate) async fn remove_identity(&self, request: &Request, id: &str) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let Removal { password } = if request.has_body() { request.json()? } else { Removal::default() };
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        let purpose = Purpose::refused_as("wrong password while removing an identity");
        self.proofs().require_of(request, person.acting(), &account, password.as_ref(), purpose).await?;
        // A repeated removal has done what it is for.
        let Ok(hash) = IdentityHash::parse(id) else { return Ok(no_content()) };
        let (passwords, issuers) = (self.password_login == PasswordLogin::On, self.issuers());
        let ways = WaysToSignIn { passwords, issuers: &issuers };
        self.end_group_roles(request, &account, &hash, ways).await?;
        let origin = self.limits.guesses.origin(request, person.actor());
        match self.users.remove_identity(person.acting(), &hash, ways, &origin).await? {
            RemoveOutcome::Removed(issuer) => {
                let name = self.oidc.as_ref().and_then(|oidc| oidc.of_issuer(&issuer)).map(|of| of.name.clone());
                let provider = name.unwrap_or(issuer);
                self.mails.tell(request, &person.user, AccountChange::IdentityRemoved { provider }).await;
                Ok(no_content())
            }
            RemoveOutcome::NoIdentity => Ok(no_content()),
            RemoveOutcome::LastSignIn => Err(Problem::LastSignIn.into()),
        }
    }
}
