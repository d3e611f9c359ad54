//! The JSON representation of a workspace in the API.

use linklet_domain::{
    Destinations, Timestamp, Workspace, WorkspaceId, WorkspaceName, WorkspaceSettings, WorkspaceSlug,
};
use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

use crate::http::{Response, StatusCode, json, tagged};

/// A workspace as the API shows it.
#[derive(Debug, Serialize)]
pub struct WorkspaceView<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    #[serde(serialize_with = "as_json")]
    settings: &'a WorkspaceSettings,
    destinations: Destinations,
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
        let Workspace { id: workspace_id, name, slug, settings, .. } = workspace;
        let Workspace { destinations, created_at, updated_at, .. } = *workspace;
        Self { workspace_id, name, slug, settings, destinations, created_at, updated_at }
    }
}

/// 200 with a workspace, and its entity tag.
pub fn shown_workspace(workspace: &Workspace) -> Response {
    tagged(json(StatusCode::OK, &WorkspaceView::from(workspace)), &workspace.id, workspace.revision)
}
