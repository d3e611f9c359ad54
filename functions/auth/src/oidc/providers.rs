//! Which identity providers there are, and what is secret about them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_sdk_secretsmanager::Client;
use linklet_domain::{
    EmailAddress, GroupRoles, Invalid, Reach, RegistrationPolicy, Timestamp, WorkspaceRole, lifetimes,
};
use linklet_fetch::Fetcher;
use linklet_lambda::http::{ApiError, Problem, Result};
use linklet_lambda::telemetry::warn_of;
use linklet_lambda::{StartError, config, secrets, watching};
use linklet_oidc::{Identity, Provider, Settings};
use parking_lot::Mutex;
use serde::Deserialize;

use super::Seal;

/// How long a provider is waited for.
const TIMEOUT: Duration = Duration::from_secs(4);

/// For how long the secret is held.
const MAX_AGE: Duration = Duration::from_secs(300);

/// The identity providers at which people sign in.
pub struct Oidc {
    settings: Vec<Settings>,
    /// The domains whose addresses count as proven whatever a provider says, and get an account.
    pub trusted: BTreeSet<String>,
    /// The workspace that people join for whom a sign-in makes an account.
    pub join: Option<WorkspaceRole>,
    /// The roles in workspaces that people have by their groups.
    groups: GroupRoles,
    reach: Reach,
    secret: OidcSecret,
    /// How long a session lasts that begins by the word of a provider.
    pub session: Duration,
    providers: OnceLock<Vec<Provider>>,
}

/// The secret with the key for cookies and the secret of each client.
pub struct OidcSecret {
    /// Reads it.
    client: Client,
    /// Its id.
    id: String,
    /// What was read.
    held: Mutex<Option<(Arc<Secret>, Timestamp)>>,
}

/// What the secret has: the key, and under the id of each provider the secret of the client there.
#[derive(Deserialize)]
struct Secret {
    cookie_key: String,
    #[serde(flatten)]
    clients: HashMap<String, String>,
}

impl OidcSecret {
    /// A secret that wasn't read yet.
    pub fn new(client: Client, id: impl Into<String>) -> Self {
        Self { client, id: id.into(), held: Mutex::default() }
    }

    /// The secret, which is read again after five minutes. A failure then is only logged.
    async fn read(&self, now: Timestamp) -> Result<Arc<Secret>> {
        let held = self.held.lock().clone();
        if let Some((secret, at)) = &held
            && at.until(now) < MAX_AGE
        {
            return Ok(secret.clone());
        }
        let text = match (secrets::current(&self.client, &self.id).await, held) {
            (Ok(text), _) => text,
            (Err(error), Some((secret, _))) => {
                warn_of(Err::<(), _>(error), "the secret of the identity providers could not be read again");
                return Ok(secret);
            }
            (Err(error), None) => return Err(ApiError::internal(error)),
        };
        let secret = Arc::new(serde_json::from_str::<Secret>(&text).map_err(ApiError::internal)?);
        *self.held.lock() = Some((secret.clone(), now));
        Ok(secret)
    }
}

impl Oidc {
    /// The providers that the environment names; `None` if it names none.
    ///
    /// # Errors
    /// When a variable is invalid.
    pub fn from_env(secrets: &Client) -> Result<Option<Self>, StartError> {
        let given = |name| config::optional(name).unwrap_or_default();
        let issuers = given("OIDC_ISSUERS");
        if issuers.is_empty() {
            return Ok(None);
        }
        let reach = watching::reach_from_env()?;
        let scopes = config::required("OIDC_SCOPES")?;
        let settings = Settings::parse_all(&issuers, &given("OIDC_CLIENT_IDS"), &given("OIDC_NAMES"), &scopes, reach)?;
        let secret = OidcSecret::new(secrets.clone(), config::required("OIDC_SECRET_ID")?);
        let session = Duration::from_secs(3_600) * config::parsed::<u32>("SESSION_HOURS")?;
        let join = config::optional("OIDC_JOIN").map(|join| WorkspaceRole::of_newcomers(&join)).transpose()?;
        let oidc = Self { join, session, ..Self::new(settings, &given("OIDC_TRUST_DOMAINS"), secret, reach)? };
        let groups = oidc.parse_groups(&given("OIDC_GROUPS"))?;
        Ok(Some(oidc.with_groups(groups, &config::required("OIDC_GROUPS_CLAIM")?)))
    }

    /// These providers, of which the addresses at these domains are trusted.
    ///
    /// # Errors
    /// When a domain is none.
    pub fn new(settings: Vec<Settings>, trusted: &str, secret: OidcSecret, reach: Reach) -> Result<Self, Invalid> {
        let trusted = RegistrationPolicy::domains_in(trusted)?;
        let session = lifetimes::SESSIONS;
        let (join, groups, providers) = (None, GroupRoles::default(), OnceLock::new());
        Ok(Self { settings, trusted, join, groups, reach, secret, session, providers })
    }

    /// Reads the roles of groups at these providers.
    ///
    /// # Errors
    /// When one is invalid.
    pub fn parse_groups(&self, list: &str) -> Result<GroupRoles, Invalid> {
        let ids: Vec<_> = self.settings.iter().map(|settings| settings.id.as_str()).collect();
        GroupRoles::parse(list, &ids)
    }

    /// The same providers, which say in this claim in which groups people are that have these roles.
    #[must_use]
    pub fn with_groups(mut self, groups: GroupRoles, claim: &str) -> Self {
        for settings in &mut self.settings {
            settings.groups_claim = (!groups.is_empty()).then(|| claim.to_owned());
        }
        Self { groups, ..self }
    }

    /// How the providers are configured.
    pub fn settings(&self) -> &[Settings] {
        &self.settings
    }

    /// The provider with this id. The root certificates are loaded when the first one is asked for.
    pub(super) fn provider(&self, id: &str) -> Result<&Provider> {
        let position = self.settings.iter().position(|settings| settings.id.as_str() == id);
        let position = position.ok_or(ApiError::Problem(Problem::NotFound))?;
        let providers = match self.providers.get() {
            Some(providers) => providers,
            None => {
                let fetcher = Fetcher::new("sign-in", self.reach, TIMEOUT).map_err(ApiError::internal)?;
                let fetcher = Arc::new(fetcher);
                let provider = |settings: &Settings| Provider::new(settings.clone(), fetcher.clone(), self.reach);
                self.providers.get_or_init(|| self.settings.iter().map(provider).collect())
            }
        };
        providers.get(position).ok_or(ApiError::Problem(Problem::NotFound))
    }

    /// The key for cookies.
    pub(super) async fn seal(&self, now: Timestamp) -> Result<Seal> {
        Seal::of(&self.secret.read(now).await?.cookie_key)
    }

    /// The secret of the client of this provider.
    pub(super) async fn client_secret(&self, id: &str, now: Timestamp) -> Result<String> {
        let secret = self.secret.read(now).await?.clients.get(id).cloned();
        secret.ok_or_else(|| ApiError::internal(Invalid::new("an identity provider has no secret yet: run make oidc")))
    }

    /// The address that is certainly the person's: one that the provider has verified, or at a trusted domain. Okta calls the addresses of
    /// people from a directory unverified.
    pub(super) fn proven(&self, identity: &Identity) -> Option<EmailAddress> {
        let email = identity.email.clone()?;
        (identity.email_verified == Some(true) || self.admits(&email)).then_some(email)
    }

    /// The roles that groups have in workspaces.
    pub fn groups(&self) -> &GroupRoles {
        &self.groups
    }

    /// The roles in workspaces that somebody's groups have; `None` if they aren't known.
    pub(super) fn roles_of(&self, identity: &Identity) -> Option<Vec<WorkspaceRole>> {
        if identity.groups.is_none() {
            tracing::error!(
                issuer = identity.issuer,
                "the groups of somebody are too many or can't be read: memberships stay"
            );
        }
        let provider = self.of_issuer(&identity.issuer)?.id.as_str();
        identity.groups.as_deref().map(|groups| self.groups.of(provider, groups))
    }

    /// The issuers of the providers.
    pub(crate) fn issuers(&self) -> Vec<&str> {
        self.settings.iter().map(|settings| settings.issuer.as_str()).collect()
    }

    /// What the provider with this issuer is called here, and its id in paths.
    pub(crate) fn of_issuer(&self, issuer: &str) -> Option<&Settings> {
        self.settings.iter().find(|settings| settings.issuer == issuer)
    }

    /// Whether who has this address gets an account, whoever else may register.
    pub(super) fn admits(&self, email: &EmailAddress) -> bool {
        self.trusted.contains(email.domain())
    }
}
