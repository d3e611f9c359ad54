use linklet_domain::{EmailAddress, Role, SessionId, Timestamp, UserId, WorkspaceId};
use linklet_dynamodb::{ActiveSession, Session};

use super::{Actor, Caller, Credential};
use crate::http::{ApiError, Problem, Result};

/// Somebody with a token, who may have no workspace: they can do what concerns their account, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Who it is.
    pub user: UserId,
    /// What a token of the same session repeats. It may be another address than the account has now.
    pub(super) claimed_email: EmailAddress,
    pub(super) session: SessionId,
    /// When the token expires.
    pub(super) expires_at: Timestamp,
    pub(super) membership: Option<(WorkspaceId, Role)>,
}

impl Person {
    /// The person in their session.
    pub fn acting(&self) -> ActiveSession<'_> {
        ActiveSession { user: &self.user, session: &self.session }
    }

    /// The person as the audit log names them.
    pub fn actor(&self) -> linklet_domain::Actor {
        linklet_domain::Actor::Person(self.user)
    }

    /// The workspace that the token is for, if it is for one, and the role there.
    pub fn membership(&self) -> Option<(&WorkspaceId, Role)> {
        self.membership.as_ref().map(|(workspace, role)| (workspace, *role))
    }

    /// The session of the token.
    pub fn session(&self) -> Session {
        let workspace = self.membership.as_ref().map(|(workspace, _)| *workspace);
        Session { id: self.session, user: self.user, workspace }
    }

    /// The person as log lines name them.
    pub(super) fn sender(&self) -> Actor {
        let workspace = self.membership.as_ref().map(|(workspace, _)| *workspace);
        Actor { user: self.user, workspace, key: None }
    }

    /// The person as a member of the workspace that the token is for.
    ///
    /// # Errors
    /// 403 if it is for none.
    pub(super) fn into_caller(self) -> Result<Caller> {
        let Self { user, session, membership, .. } = self;
        let (workspace, role) = membership.ok_or(ApiError::Problem(Problem::NoWorkspace))?;
        Ok(Caller { user, workspace, role, credential: Credential::Session(session), is_current: false })
    }
}

impl Caller {
    /// The caller as somebody who acts in the session of their token.
    ///
    /// # Errors
    /// 401 if the caller used an API key.
    pub fn acting(&self) -> Result<ActiveSession<'_>> {
        match &self.credential {
            Credential::Session(session) => Ok(ActiveSession { user: &self.user, session }),
            Credential::ApiKey(_) => Err(ApiError::Problem(Problem::Unauthorized)),
        }
    }
}
