//! The name, slug and settings of a workspace.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use linklet_domain::{
    self as domain, Color, Contact, Creator, Destinations, Logo, Membership, Role, SortOrder, Timestamp, Visibility,
    Workspace, WorkspaceId, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug, optional, patched,
};
use linklet_dynamodb::{CreateWorkspaceOutcome, NewWorkspace, WorkspaceOutcome, back_off};
use linklet_lambda::http::{
    ApiError, Immutable, LOGO_BODY_BYTES, Once, Problem, Request, Response, Result, StatusCode, list_response,
    no_content, response_of,
};
use linklet_lambda::identity::{Caller, Person};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;

use crate::{Account, NOT_ALLOWED};

const UNKNOWN: ApiError = ApiError::Problem(Problem::WorkspaceNotFound);

impl Account {
    pub(crate) async fn show_workspace(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let workspace = self.users.workspace(&caller.workspace).await?.ok_or(UNKNOWN)?;
        Ok(self.views.answer(request, &workspace))
    }

    pub(crate) async fn change_workspace(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let Body { name, slug, settings, destinations, statistics, color, contact } =
            request.json_object()?.read_patch(&[IMMUTABLE])?;
        let patch = WorkspacePatch { name, slug, settings, destinations, statistics, color, contact, logo: None };
        let (id, origin) = (&caller.workspace, self.origin(request, caller));
        let precondition = request.precondition(id);
        let outcome = self.users.change_workspace(id, &caller.user, &patch, &precondition, &origin).await?;
        self.changed(request, outcome)
    }

    /// 200 with the workspace, which has this logo from now on.
    pub(crate) async fn put_logo(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let GivenLogo { png } = request.json_object_within(LOGO_BODY_BYTES)?.read()?;
        self.change_logo(request, caller, Some(&png)).await
    }

    /// 204: the workspace has no logo from now on.
    pub(crate) async fn remove_logo(&self, request: &Request, caller: &Caller) -> Result<Response> {
        self.change_logo(request, caller, None).await.map(|_| no_content())
    }

    async fn change_logo(&self, request: &Request, caller: &Caller, logo: Option<&Logo>) -> Result<Response> {
        let (id, origin) = (&caller.workspace, self.origin(request, caller));
        let precondition = request.precondition(id);
        let outcome = self.users.change_logo(id, &caller.user, logo, &precondition, &origin).await?;
        self.changed(request, outcome)
    }

    fn changed(&self, request: &Request, outcome: WorkspaceOutcome) -> Result<Response> {
        match outcome {
            WorkspaceOutcome::Changed(workspace) => Ok(self.views.answer(request, &workspace)),
            WorkspaceOutcome::Stale => Err(Problem::PreconditionFailed.into()),
            WorkspaceOutcome::SlugTaken => Err(ApiError::Problem(Problem::SlugTaken)),
            WorkspaceOutcome::NoWorkspace => Err(UNKNOWN),
            WorkspaceOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }
}

impl Account {
    /// Somebody's workspaces, whichever the token is for, if it is for one.
    pub(crate) async fn list_workspaces(&self, request: &Request, person: &Person) -> Result<Response> {
        let found = self.users.workspaces_of(&person.user).await?;
        let key = |(membership, _): &(Membership, _)| format!("{}#{}", membership.joined_at, membership.workspace);
        let (workspaces, next) = request.page_of(found, SortOrder::Ascending, key)?;
        Ok(list_response("workspaces", workspaces.iter().map(MyWorkspace::from).collect(), next))
    }

    /// 201 with a new workspace, of which the caller is the admin. A token for it comes from `POST /api/auth/switch`.
    pub(crate) async fn create_workspace(&self, request: &Request, person: &Person) -> Result<Response> {
        const TRIES: u32 = 5;
        let body = request.json_object()?;
        let once = Once::of_body(request, &body)?;
        // Read before an earlier answer is found, so that both name the same members that do nothing.
        let wanted = body.read();
        // Before the body is judged: what was accepted at the first request may be refused since.
        if let Some(first) = self.first_answer(request, &person.user, &once).await? {
            return Ok(first);
        }
        let Creation { name } = wanted?;
        let account = self.users.account(&person.user).await?.ok_or(ApiError::Problem(Problem::Unauthorized))?;
        let memberships = self.users.memberships(&person.user).await?;
        self.require_creator(&account, &memberships).await?;
        let origin = self.guesses.origin(request, person.actor());
        for attempt in 0..TRIES {
            let workspace = NewWorkspace::of(&account, WorkspaceId::generate(), name.clone(), request.received_at);
            let stored = workspace.workspace();
            let answer = once.answer(StatusCode::CREATED, &self.views.of(request, &stored), "me/workspaces");
            let answer = answer.map_err(ApiError::internal)?;
            match self.users.create_workspace(&workspace, once.with_key(&answer), &origin).await? {
                CreateWorkspaceOutcome::Created => return Ok(response_of(answer)),
                CreateWorkspaceOutcome::IdempotencyKeyTaken => {
                    return self.first_answer_or(request, &person.user, &once, Problem::TryAgain).await;
                }
                CreateWorkspaceOutcome::TooMany => {
                    return self.first_answer_or(request, &person.user, &once, Problem::WorkspaceLimit).await;
                }
                CreateWorkspaceOutcome::AccountChanged => return Err(self.joins_nothing(person).await?),
                CreateWorkspaceOutcome::Taken => back_off(attempt).await,
            }
        }
        Err(ApiError::Problem(Problem::TryAgain))
    }

    async fn require_creator(&self, account: &domain::Account, memberships: &[Membership]) -> Result<()> {
        let is_verified = self.users.verified_at(&account.id).await?.is_some();
        let is_admin = memberships.iter().any(|its| its.is_active() && its.role == Role::Admin);
        let creator = Creator { email: &account.email, is_verified, is_admin };
        if self.creation.admits(creator) { Ok(()) } else { Err(Problem::CreationClosed.into()) }
    }
}

/// The body of a request for a new workspace.
#[derive(Deserialize)]
struct Creation {
    name: WorkspaceName,
}

/// A workspace as one of its members sees it.
#[derive(Serialize)]
struct MyWorkspace<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    role: Role,
    joined_at: Timestamp,
    paused_at: Option<Timestamp>,
    /// Both only of a closed one.
    closed_at: Option<Timestamp>,
    restorable_until: Option<Timestamp>,
}

impl<'a> From<&'a (Membership, Workspace)> for MyWorkspace<'a> {
    fn from((membership, workspace): &'a (Membership, Workspace)) -> Self {
        let Membership { role, joined_at, paused_at, .. } = *membership;
        let (closed_at, restorable_until) =
            workspace.closure.map(|closure| (closure.closed_at, closure.restorable_until)).unzip();
        let Workspace { id: workspace_id, name, slug, .. } = workspace;
        Self { workspace_id, name, slug, role, joined_at, paused_at, closed_at, restorable_until }
    }
}

/// What nobody can change of a workspace.
const IMMUTABLE: Immutable =
    Immutable { members: &["id", "workspace_id", "created_at", "updated_at", "created_by", "user_id"], sentence: None };

/// The body of a request to change a workspace. Settings and what has a default can be removed with `null`.
#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "optional")]
    name: Option<WorkspaceName>,
    #[serde(default, deserialize_with = "optional")]
    slug: Option<WorkspaceSlug>,
    #[serde(default, deserialize_with = "settings")]
    settings: Option<WorkspaceSettings>,
    #[serde(default, deserialize_with = "optional")]
    destinations: Option<Destinations>,
    #[serde(default, deserialize_with = "patched")]
    statistics: Option<Option<Visibility>>,
    #[serde(default, deserialize_with = "patched")]
    color: Option<Option<Color>>,
    #[serde(default, deserialize_with = "patched")]
    contact: Option<Option<Contact>>,
}

/// The body of a request for another logo.
#[derive(Deserialize)]
struct GivenLogo {
    #[serde(deserialize_with = "png")]
    png: Logo,
}

/// Reads a file that is written in base64.
fn png<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Logo, D::Error> {
    let text = String::deserialize(deserializer)?;
    let file = STANDARD.decode(text).map_err(|_| de::Error::custom("png must be base64 (RFC 4648) with padding"))?;
    Logo::parse(file).map_err(de::Error::custom)
}

/// Reads settings with their numbers as they were written. `null` and an empty string stand for none.
fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WorkspaceSettings>, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    match json.get() {
        "null" | r#""""# => Ok(Some(WorkspaceSettings::default())),
        object => WorkspaceSettings::parse(object).map(Some).map_err(de::Error::custom),
    }
}
