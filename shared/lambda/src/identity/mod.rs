//! Authentication.
//!
//! Only verifiers create a [`Caller`], so code that takes one can't be reached without a valid token or API key:
//!
//! - [`TokenVerifier`] accepts tokens, for routes that API keys can't use. It also knows a [`Person`], who may have no workspace.
//! - [`Authenticator`] accepts tokens and API keys, for routes that have a [scope](linklet_domain::Scope).

mod api_key;
mod authenticator;
mod person;
mod refresh;
mod sessions;
mod token;

use linklet_domain::{Changer, KeyPrefix, Link, LinkIdentity, Record, Role, SessionId, UserId, WorkspaceId};

use linklet_dynamodb::Session;

use crate::actor::Actor;
use crate::http::{ApiError, Belonging, Result};

pub use self::api_key::KeyVerifier;
pub use self::authenticator::Authenticator;
pub use self::person::Person;
pub use self::token::{TokenIssuer, TokenSecret, TokenSecretError, TokenVerifier};

/// An authenticated caller: a user with a token, or a program with a user's API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The user; for an API key, its creator.
    pub user: UserId,
    /// The workspace to which the token or key gives access.
    pub workspace: WorkspaceId,
    /// The caller's role in the workspace.
    pub role: Role,
    credential: Credential,
    /// Whether this is what the tables say at the moment of the request.
    is_current: bool,
}

/// What a caller has proved their identity with.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Credential {
    Session(SessionId),
    ApiKey(KeyPrefix),
}

impl Caller {
    /// The caller as the audit log names them.
    pub fn actor(&self) -> linklet_domain::Actor {
        self.changer().actor()
    }

    /// The caller as others hear of them of whom they change something.
    pub fn changer(&self) -> Changer {
        let key = match &self.credential {
            Credential::Session(_) => None,
            Credential::ApiKey(prefix) => Some(prefix.clone()),
        };
        Changer { user: self.user, key, name: None }
    }

    /// Who is named to others that hear of a change of something that this person owns: nobody if it is the owner who changes it, unless
    /// it is one of many things at once.
    pub fn named_to(&self, owner: &UserId, is_one_of_many: bool) -> Option<Changer> {
        (self.user != *owner || is_one_of_many).then(|| self.changer())
    }

    /// The session, if the caller used a token.
    pub fn session(&self) -> Option<Session> {
        match &self.credential {
            Credential::Session(id) => {
                let (user, workspace) = (self.user, Some(self.workspace));
                Some(Session { id: *id, user, workspace })
            }
            Credential::ApiKey(_) => None,
        }
    }

    /// The caller, if their role is at least this one.
    fn with_role(self, role: Role) -> Result<Self> {
        if self.role >= role { Ok(self) } else { Err(ApiError::RoleTooLow(role)) }
    }

    /// Refuses a link that the caller may not change or delete.
    ///
    /// # Errors
    /// 403.
    pub fn require_link(&self, record: &Record<Link>) -> Result<()> {
        let LinkIdentity { workspace, owner, .. } = record.identity();
        self.require_workspace(workspace)?;
        self.require_owner(owner)
    }

    /// Refuses what belongs to another workspace than the caller's.
    ///
    /// # Errors
    /// 403.
    pub fn require_workspace(&self, workspace: &WorkspaceId) -> Result<()> {
        if *workspace == self.workspace { Ok(()) } else { Err(ApiError::Forbidden(Belonging::Workspace)) }
    }

    /// Refuses what belongs to somebody else in the workspace, unless the caller's role is enough for it.
    ///
    /// # Errors
    /// 403.
    pub fn require_owner(&self, owner: &UserId) -> Result<()> {
        if self.role.may_change(owner, &self.user) {
            return Ok(());
        }
        Err(ApiError::Forbidden(match self.credential {
            Credential::Session(_) => Belonging::Member,
            Credential::ApiKey(_) => Belonging::MemberForKey,
        }))
    }
}
