//! The name, slug and settings of a workspace.

use linklet_domain::{
    Invalid, Timestamp, Workspace, WorkspaceId, WorkspaceName, WorkspacePatch, WorkspaceSettings, WorkspaceSlug,
};
use linklet_dynamodb::WorkspaceOutcome;
use linklet_lambda::{
    http::{ApiError, JsonObject, Request, Response, StatusCode, json},
    identity::Caller,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Account, BODY_LIMIT, NOT_ALLOWED};

const UNKNOWN: ApiError = ApiError::NotFound("this workspace does not exist");

impl Account {
    pub(crate) async fn show_workspace(&self, caller: &Caller) -> Result<Response, ApiError> {
        let workspace = self.users.workspace(caller.workspace()).await?.ok_or(UNKNOWN)?;
        Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace)))
    }

    pub(crate) async fn change_workspace(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let patch = parse_patch(&request.json(BODY_LIMIT)?)?;
        match self.users.change_workspace(caller.workspace(), caller.user(), &patch).await? {
            WorkspaceOutcome::Changed(workspace) => Ok(json(StatusCode::OK, &WorkspaceView::from(&workspace))),
            WorkspaceOutcome::SlugTaken => Err(ApiError::Conflict("slug is already taken")),
            WorkspaceOutcome::NoWorkspace => Err(UNKNOWN),
            WorkspaceOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }
}

fn parse_patch(body: &JsonObject) -> Result<WorkspacePatch, Invalid> {
    let name = |text| WorkspaceName::parse(text).map_err(|_| Invalid::new("name must have 1–100 characters"));
    // A workspace always has a name and a slug; settings can be taken away.
    let settings = body.object("settings")?.cloned().unwrap_or_default();
    Ok(WorkspacePatch {
        name: body.string("name")?.map(name).transpose()?,
        slug: body.string("slug")?.map(WorkspaceSlug::parse).transpose()?,
        settings: body.mentions("settings").then(|| WorkspaceSettings::new(settings)).transpose()?,
    })
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
