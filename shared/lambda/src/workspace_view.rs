//! The JSON representation of a workspace in the API.

use linklet_domain::{
    Destinations, Timestamp, Visibility, Workspace, WorkspaceId, WorkspaceName, WorkspaceSettings, WorkspaceSlug,
};
use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

use crate::config::ConfigError;
use crate::http::{Response, StatusCode, json, tagged};
use crate::public_workspaces::default_statistics;

/// A workspace as the API shows it.
#[derive(Debug, Serialize)]
pub struct WorkspaceView<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    #[serde(serialize_with = "as_json")]
    settings: &'a WorkspaceSettings,
    destinations: Destinations,
    statistics: Option<Visibility>,
    default_statistics: Visibility,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Writes settings as the object that they are, and not as a text.
fn as_json<S: Serializer>(settings: &WorkspaceSettings, serializer: S) -> Result<S::Ok, S::Error> {
    let json: &RawValue = serde_json::from_str(settings.as_str()).map_err(ser::Error::custom)?;
    json.serialize(serializer)
}

/// How workspaces are shown.
#[derive(Debug, Clone, Copy)]
pub struct WorkspaceViews {
    /// Who may see statistics where neither a link nor its workspace says so.
    pub default_statistics: Visibility,
}

impl WorkspaceViews {
    /// As the environment says.
    ///
    /// # Errors
    /// When a variable is missing or invalid.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self { default_statistics: default_statistics()? })
    }

    /// A workspace as the API shows it.
    pub fn of<'a>(&self, workspace: &'a Workspace) -> WorkspaceView<'a> {
        let Workspace { id: workspace_id, name, slug, settings, .. } = workspace;
        let Workspace { destinations, statistics, created_at, updated_at, .. } = *workspace;
        let Self { default_statistics } = *self;
        WorkspaceView {
            workspace_id,
            name,
            slug,
            settings,
            destinations,
            statistics,
            default_statistics,
            created_at,
            updated_at,
        }
    }

    /// 200 with a workspace, and its entity tag.
    pub fn answer(&self, workspace: &Workspace) -> Response {
        tagged(json(StatusCode::OK, &self.of(workspace)), &workspace.id, workspace.revision)
    }
}
