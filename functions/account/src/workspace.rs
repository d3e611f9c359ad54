//! The name, slug and settings of a workspace.

use linklet_domain::{
    Invalid, Timestamp, Workspace, WorkspaceId, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug,
    optional, patched,
};
use linklet_dynamodb::WorkspaceOutcome;
use linklet_lambda::{
    http::{ApiError, Problem, Request, Response, StatusCode, json},
    identity::Caller,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Account, BODY_LIMIT, NOT_ALLOWED};

const UNKNOWN: ApiError = ApiError::Problem(Problem::WorkspaceNotFound);

impl Account {
    pub(crate) async fn show_workspace(&self, caller: &Caller) -> Result<Response, ApiError> {
        let workspace = self.users.workspace(caller.workspace()).await?.ok_or(UNKNOWN)?;
        Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace)))
    }

    pub(crate) async fn change_workspace(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let patch = request.json::<Body>(BODY_LIMIT)?.patch()?;
        match self.users.change_workspace(caller.workspace(), caller.user(), &patch).await? {
            WorkspaceOutcome::Changed(workspace) => Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace))),
            WorkspaceOutcome::SlugTaken => Err(ApiError::Problem(Problem::SlugTaken)),
            WorkspaceOutcome::NoWorkspace => Err(UNKNOWN),
            WorkspaceOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }
}

/// The body of a request to change a workspace. Only settings can be removed with `null`.
#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "optional")]
    name: Option<WorkspaceName>,
    #[serde(default, deserialize_with = "optional")]
    slug: Option<WorkspaceSlug>,
    #[serde(default, deserialize_with = "patched")]
    settings: Option<Option<Map<String, Value>>>,
}

impl Body {
    fn patch(self) -> Result<WorkspacePatch, Invalid> {
        let settings = self.settings.map(Option::unwrap_or_default).map(WorkspaceSettings::new).transpose();
        let settings = settings.map_err(|refused| refused.in_field("settings"))?;
        Ok(WorkspacePatch { name: self.name, slug: self.slug, settings })
    }
}

#[derive(Serialize)]
struct WorkspaceView<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    settings: &'a Map<String, Value>,
    created_at: Timestamp,
}

impl<'a> From<&'a Workspace> for WorkspaceView<'a> {
    fn from(workspace: &'a Workspace) -> Self {
        Self {
            workspace_id: &workspace.id,
            name: &workspace.name,
            slug: &workspace.slug,
            settings: workspace.settings.members(),
            created_at: workspace.created_at,
        }
    }
}
