//! The JSON representation of a workspace and its members in the API.

use linklet_domain::{
    Color, Contact, Destinations, EmailAddress, FullName, Member, Role, Timestamp, UserId, Visibility, Workspace,
    WorkspaceId, WorkspaceName, WorkspaceSettings, WorkspaceSlug,
};
use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

use crate::config::ConfigError;
use crate::http::{Request, Response, ShortUrls, StatusCode, json, tagged};
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
    color: Option<Color>,
    contact: Option<&'a Contact>,
    logo_url: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// A member of a workspace as the API shows them.
#[derive(Debug, Serialize)]
pub struct MemberView<'a> {
    user_id: UserId,
    email: &'a EmailAddress,
    full_name: Option<&'a FullName>,
    role: Role,
    joined_at: Timestamp,
    paused_at: Option<Timestamp>,
}

impl<'a> From<&'a Member> for MemberView<'a> {
    fn from(member: &'a Member) -> Self {
        let Member { user: user_id, ref email, ref full_name, role, joined_at, paused_at } = *member;
        Self { user_id, email, full_name: full_name.as_ref(), role, joined_at, paused_at }
    }
}

/// Writes settings as the object that they are, and not as a text.
fn as_json<S: Serializer>(settings: &WorkspaceSettings, serializer: S) -> Result<S::Ok, S::Error> {
    let json: &RawValue = serde_json::from_str(settings.as_str()).map_err(ser::Error::custom)?;
    json.serialize(serializer)
}

/// How workspaces are shown.
#[derive(Debug, Clone)]
pub struct WorkspaceViews {
    /// Who may see statistics where neither a link nor its workspace says so.
    pub default_statistics: Visibility,
    /// Builds the addresses of logos.
    pub short_urls: ShortUrls,
}

impl WorkspaceViews {
    /// As the environment says.
    ///
    /// # Errors
    /// When a variable is missing or invalid.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self { default_statistics: default_statistics()?, short_urls: ShortUrls::from_env() })
    }

    /// A workspace as the API shows it.
    pub fn of<'a>(&self, request: &Request, workspace: &'a Workspace) -> WorkspaceView<'a> {
        let Workspace { id: workspace_id, name, slug, settings, .. } = workspace;
        let Workspace { destinations, statistics, color, created_at, updated_at, .. } = *workspace;
        WorkspaceView {
            workspace_id,
            name,
            slug,
            settings,
            destinations,
            statistics,
            default_statistics: self.default_statistics,
            color,
            contact: workspace.contact.as_ref(),
            logo_url: workspace.logo.as_ref().map(|id| self.short_urls.of_logo(request, id)),
            created_at,
            updated_at,
        }
    }

    /// 200 with a workspace, and its entity tag.
    pub fn answer(&self, request: &Request, workspace: &Workspace) -> Response {
        tagged(json(StatusCode::OK, &self.of(request, workspace)), &workspace.id, workspace.revision)
    }
}
