//! Closing a workspace, and bringing it back.

use linklet_domain::{
    AccountChange, AuditContext, Changer, Closure, Invalid, Job, JobWork, Role, TypedPassword, UserId, Workspace,
    WorkspaceId, WorkspaceJob, optional,
};
use linklet_dynamodb::{ActiveSession, CloseOutcome, RestoreOutcome};
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, StatusCode, json};
use linklet_lambda::identity::Person;
use serde::Deserialize;
use serde_json::json;

use crate::Leave;

const UNKNOWN: ApiError = ApiError::Problem(Problem::WorkspaceNotFound);

impl Leave {
    /// Closes the workspace of the token, whatever jobs run or wait there, for an admin who knows its slug, and shows once more who they are.
    pub(crate) async fn close_workspace(&self, request: &Request) -> Result<Response> {
        let caller = self.tokens.require_now(request, Role::Admin).await?;
        let Closing { slug, password } = request.json()?;
        let workspace = self.users.workspace(&caller.workspace).await?.ok_or(UNKNOWN)?;
        // Before the password is judged, which takes a while.
        if slug != workspace.slug.as_str() {
            return Err(other_slug());
        }
        let account = self.account_of(&caller.user).await?;
        self.require_proof(request, caller.acting()?, &account, password.as_ref()).await?;
        let (acting, origin) = (caller.acting()?, self.limits.guesses.origin(request, caller.actor()));
        let job = workspace_job(&origin, &workspace.id, &caller.user, WorkspaceJob::CloseWorkspace);
        match self.users.close_workspace(&job, &workspace.slug, acting, &origin).await? {
            CloseOutcome::Closed(closure) => {
                if closure.job == job.id {
                    self.tell_of_closing(request, &caller.user, &workspace, &closure).await;
                }
                Ok(json(
                    StatusCode::ACCEPTED,
                    &json!({"closed_at": closure.closed_at, "restorable_until": closure.restorable_until}),
                ))
            }
            CloseOutcome::OtherSlug => Err(other_slug()),
            CloseOutcome::NoWorkspace => Err(UNKNOWN),
            CloseOutcome::CallerNotAdmin => Err(ApiError::RoleTooLow(Role::Admin)),
        }
    }

    /// Brings a closed workspace back, for one who was its admin, with a token of whichever workspace or of none.
    pub(crate) async fn restore_workspace(&self, request: &Request, id: &str) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let id = WorkspaceId::parse(id).map_err(|_| UNKNOWN)?;
        let session = person.session().id;
        let acting = ActiveSession { user: &person.user, session: &session };
        let origin = self.limits.guesses.origin(request, person.actor());
        let job = workspace_job(&origin, &id, &person.user, WorkspaceJob::ReopenWorkspace);
        match self.users.restore_workspace(&job, acting, &origin).await? {
            RestoreOutcome::Restored(workspace) => {
                self.tell_of_return(request, &person, &workspace).await;
                Ok(self.views.answer(request, &workspace))
            }
            RestoreOutcome::Open => Err(Problem::WorkspaceOpen.into()),
            RestoreOutcome::Gone => Err(Problem::WorkspaceGone.into()),
            RestoreOutcome::NoWorkspace => Err(UNKNOWN),
        }
    }

    /// The job tells the others, whose memberships it finds without a mark.
    async fn tell_of_closing(&self, request: &Request, user: &UserId, workspace: &Workspace, closure: &Closure) {
        let (workspace_name, restorable_until) = (workspace.name.clone(), Some(closure.restorable_until));
        self.mails.tell(request, user, AccountChange::WorkspaceClosed { workspace_name, restorable_until }).await;
    }

    /// The job tells the others, whose memberships it finds closed.
    async fn tell_of_return(&self, request: &Request, person: &Person, workspace: &Workspace) {
        let change = AccountChange::WorkspaceRestored { workspace_name: workspace.name.clone() };
        self.mails.tell(request, &person.user, change).await;
    }
}

pub(crate) fn workspace_job(origin: &AuditContext, workspace: &WorkspaceId, user: &UserId, work: WorkspaceJob) -> Job {
    let asked = (origin.at, origin.correlation_id.clone());
    Job::new(*workspace, JobWork::Workspace(work), (Changer::in_person(user), Role::Admin), asked, None)
}

fn other_slug() -> ApiError {
    Invalid::new("slug must be that of the workspace").in_field("slug").into()
}

/// The body of a request to close a workspace.
#[derive(Deserialize)]
struct Closing {
    slug: String,
    /// As it was typed, since a wrong one is a wrong guess rather than an invalid request.
    #[serde(default, deserialize_with = "optional")]
    password: Option<TypedPassword>,
}
