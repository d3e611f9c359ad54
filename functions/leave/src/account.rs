//! Ending an account: by its person, or by an operator for whoever asks for it otherwise.

use std::time::Duration;

use linklet_domain::{
    Account, AccountChange, Actor, AuditContext, KeysLeft, Member, Timestamp, TypedPassword, UserId, Workspace,
    WorkspaceJob, optional,
};
use linklet_dynamodb::{LeaveEffect, MemberOutcome, Removal, RepositoryError};
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, no_content};
use linklet_lambda::telemetry::warn_of;
use serde::Deserialize;

use crate::Leave;
use crate::workspace::workspace_job;

/// How long after the end of an account a session of it may seem to begin, by other clocks and after slow requests. It is more than of an
/// account that `operate` has barred a moment ago, since a later end replaces an earlier one only.
const LATEST_SESSION: Duration = Duration::from_secs(360);

/// What came of leaving a workspace.
enum Left {
    /// Others go on without the person.
    Yes,
    /// It is closed for good.
    Closed,
    /// Something has changed meanwhile.
    Again,
    /// Others would have no admin.
    LastAdmin,
}

/// What the end of an account has done.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// The workspaces that go on without the person.
    pub(crate) left: Vec<Workspace>,
    /// Those that are closed for good.
    pub(crate) closed: Vec<Workspace>,
}

impl Leave {
    /// Ends the account of whoever has signed in, and shows once more that it is theirs.
    pub(crate) async fn close_account(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_apart(request).await?;
        let Closing { password } = if request.has_body() { request.json()? } else { Closing::default() };
        let account = self.account_of(&person.user).await?;
        self.require_proof(request, person.acting(), &account, password.as_ref()).await?;
        let origin = self.limits.guesses.origin(request, person.actor());
        let ended = self.end(&account, &origin).await;
        self.tokens.forget(&person.session().id);
        ended.map(|_| no_content())
    }

    /// Leaves each workspace, one after another, and ends the account. Repeating it goes on where it was.
    pub(crate) async fn end(&self, account: &Account, origin: &AuditContext) -> Result<Ended> {
        let user = &account.id;
        let refused = self.require_other_admins(user).await;
        if let Err(ApiError::LastAdminOf(..)) = refused {
            // A request before this one may have begun to leave, and got no further.
            self.users.stop_leaving(user).await?;
        }
        refused?;
        let has_begun = match origin.actor {
            Actor::Operator => self.users.begin_forgetting(user, origin.at).await?,
            _ => self.users.begin_leaving(user, origin.at).await?,
        };
        Problem::Unauthorized.unless(has_begun)?;
        let ended = self.leave_all(user, origin).await?;
        let ends = Timestamp::now().plus(LATEST_SESSION);
        let guessed = self.limits.guesses.account_hash(account.email.as_str());
        let is_ended = self.users.end_account(account, &guessed, ends, origin).await?;
        if is_ended { Ok(ended) } else { Err(self.unless_ended(account).await?) }
    }

    /// Another request may have ended the account meanwhile.
    async fn unless_ended(&self, account: &Account) -> Result<ApiError, RepositoryError> {
        let is_there = self.users.account(&account.id).await?.is_some();
        Ok(if is_there { Problem::TryAgain } else { Problem::Unauthorized }.into())
    }

    /// Looks whether anything keeps the person before anything is done.
    async fn require_other_admins(&self, user: &UserId) -> Result<()> {
        for (_, workspace) in self.users.workspaces_of(user).await? {
            let members = self.users.members(&workspace.id).await?;
            if LeaveEffect::of(&workspace, user, &members) == LeaveEffect::LastAdmin {
                return Err(ApiError::LastAdminOf(workspace.id, workspace.name));
            }
        }
        Ok(())
    }

    /// Leaves all workspaces. Nothing is joined meanwhile, so it comes to an end.
    async fn leave_all(&self, user: &UserId, origin: &AuditContext) -> Result<Ended> {
        const TRIES: u32 = 8;
        let mut ended = Ended::default();
        for _ in 0..TRIES {
            let workspaces = self.users.workspaces_of(user).await?;
            if workspaces.is_empty() {
                return Ok(ended);
            }
            for (_, workspace) in workspaces {
                match self.leave(user, &workspace, origin).await? {
                    Left::Yes => ended.left.push(workspace),
                    Left::Closed => ended.closed.push(workspace),
                    Left::Again => {}
                    Left::LastAdmin => {
                        // The other one has left at the same moment. The account stays as it is.
                        self.users.stop_leaving(user).await?;
                        return Err(ApiError::LastAdminOf(workspace.id, workspace.name));
                    }
                }
            }
        }
        Err(Problem::TryAgain.into())
    }

    async fn leave(&self, user: &UserId, workspace: &Workspace, origin: &AuditContext) -> Result<Left> {
        let members = self.users.members(&workspace.id).await?;
        match LeaveEffect::of(workspace, user, &members) {
            LeaveEffect::LastAdmin => Ok(Left::LastAdmin),
            LeaveEffect::Own => {
                // Nobody joins who is invited any more, and so nobody is there whose workspace it would be as well.
                self.users.withdraw_all(&workspace.id, Timestamp::now(), |_| true, origin).await?;
                let members = self.users.members(&workspace.id).await?;
                if LeaveEffect::of(workspace, user, &members) != LeaveEffect::Own {
                    return Ok(Left::Again);
                }
                let job = workspace_job(origin, &workspace.id, user, WorkspaceJob::CloseWorkspace);
                if !self.users.abandon(&job, workspace, user, origin).await? {
                    return Ok(Left::Again);
                }
                self.tell_of_abandoned(origin, workspace, user, &members).await;
                Ok(Left::Closed)
            }
            LeaveEffect::None => {
                let removal = Removal {
                    workspace: &workspace.id,
                    caller: user,
                    user,
                    keys: KeysLeft::Revoked,
                    at: origin.at,
                    origin: origin.clone(),
                };
                self.remove(&removal).await
            }
        }
    }

    /// Tells the other members of a closed workspace that nobody can bring it back any more. The job has told them otherwise.
    async fn tell_of_abandoned(&self, origin: &AuditContext, workspace: &Workspace, user: &UserId, members: &[Member]) {
        if workspace.closure.is_none() {
            return;
        }
        let others: Vec<UserId> = members.iter().map(|member| member.user).filter(|member| member != user).collect();
        let workspace_name = workspace.name.clone();
        let change = AccountChange::WorkspaceClosed { workspace_name, restorable_until: None };
        self.mails.tell_all(&origin.correlation_id, &others, &change).await;
    }

    /// Ends a membership as `DELETE /api/workspace/members/{user_id}` does.
    async fn remove(&self, removal: &Removal<'_>) -> Result<Left> {
        const FAILED: &str = "keys or invitations of a former member could not be revoked at once";
        match self.users.remove_member(removal).await? {
            MemberOutcome::LastAdmin => return Ok(Left::LastAdmin),
            MemberOutcome::CallerNotAdmin => return Ok(Left::Again),
            MemberOutcome::Done(_)
            | MemberOutcome::Resumed(_)
            | MemberOutcome::Unchanged(_)
            | MemberOutcome::NoMember => {}
        }
        // Until now, since what was on its way may have come after the request. If that fails, the handover does it some seconds later.
        let (Removal { workspace, user, origin, .. }, until) = (removal, Timestamp::now());
        let keys = self.users.revoke_keys(workspace, user, until, None, origin).await;
        let invitations = self.users.withdraw_invitations_by(workspace, user, until, origin).await;
        warn_of(keys, FAILED);
        warn_of(invitations, FAILED);
        Ok(Left::Yes)
    }
}

/// The body of a request to close one's account.
#[derive(Default, Deserialize)]
struct Closing {
    /// As it was typed, since a wrong one is a wrong guess rather than an invalid request.
    #[serde(default, deserialize_with = "optional")]
    password: Option<TypedPassword>,
}
