//! The name, slug and settings of a workspace.

use linklet_domain::{
    Timestamp, Workspace, WorkspaceId, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug, optional,
};
use linklet_dynamodb::WorkspaceOutcome;
use linklet_lambda::{
    http::{ApiError, Immutable, Problem, Request, Response, StatusCode, json},
    identity::Caller,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use crate::{Account, BODY_LIMIT, NOT_ALLOWED};

const UNKNOWN: ApiError = ApiError::Problem(Problem::WorkspaceNotFound);

impl Account {
    pub(crate) async fn show_workspace(&self, caller: &Caller) -> Result<Response, ApiError> {
        let workspace = self.users.workspace(caller.workspace()).await?.ok_or(UNKNOWN)?;
        Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace)))
    }

    pub(crate) async fn change_workspace(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let body: Body = request.json_object(BODY_LIMIT)?.read_patch(&[IMMUTABLE])?;
        let patch = WorkspacePatch { name: body.name, slug: body.slug, settings: body.settings };
        match self.users.change_workspace(caller.workspace(), caller.user(), &patch, request.received_at()).await? {
            WorkspaceOutcome::Changed(workspace) => Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace))),
            WorkspaceOutcome::SlugTaken => Err(ApiError::Problem(Problem::SlugTaken)),
            WorkspaceOutcome::NoWorkspace => Err(UNKNOWN),
            WorkspaceOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }
}

/// What nobody can change of a workspace.
const IMMUTABLE: Immutable =
    Immutable { members: &["id", "workspace_id", "created_at", "updated_at", "created_by", "user_id"], sentence: None };

/// The body of a request to change a workspace. Only settings can be removed with `null`.
#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "optional")]
    name: Option<WorkspaceName>,
    #[serde(default, deserialize_with = "optional")]
    slug: Option<WorkspaceSlug>,
    #[serde(default, deserialize_with = "settings")]
    settings: Option<WorkspaceSettings>,
}

/// Reads settings with their numbers as they were written. `null` and an empty string stand for none.
fn settings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WorkspaceSettings>, D::Error> {
    let json = Box::<RawValue>::deserialize(deserializer)?;
    match json.get() {
        "null" | r#""""# => Ok(Some(WorkspaceSettings::default())),
        object => WorkspaceSettings::parse(object).map(Some).map_err(de::Error::custom),
    }
}

#[derive(Serialize)]
struct WorkspaceView<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    #[serde(serialize_with = "as_json")]
    settings: &'a WorkspaceSettings,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Writes settings as the object that they are, and not as a text.
fn as_json<S: Serializer>(settings: &WorkspaceSettings, serializer: S) -> Result<S::Ok, S::Error> {
    let json: &RawValue = serde_json::from_str(settings.as_str()).map_err(ser::Error::custom)?;
    json.serialize(serializer)
}

impl<'a> From<&'a Workspace> for WorkspaceView<'a> {
    fn from(workspace: &'a Workspace) -> Self {
        Self {
            workspace_id: &workspace.id,
            name: &workspace.name,
            slug: &workspace.slug,
            settings: &workspace.settings,
            created_at: workspace.created_at,
            updated_at: workspace.updated_at,
        }
    }
}
