//! Who is named in log lines.

use linklet_domain::{ApiKey, KeyPrefix, UserId, WorkspaceId};

/// Who has sent a request, as log lines name them: never by a mail address, token or whole API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Actor {
    /// The user; for an API key, its creator.
    pub user: UserId,
    /// The workspace to which the token or key gives access, if it does to one.
    pub workspace: Option<WorkspaceId>,
    /// The prefix of the API key, if it was one.
    pub key: Option<KeyPrefix>,
}

impl Actor {
    pub(crate) fn with_key(key: &ApiKey) -> Self {
        let (user, workspace) = (key.created_by, Some(key.workspace));
        Self { user, workspace, key: Some(key.prefix.clone()) }
    }

    /// Somebody who has just proved who they are by something else than a token.
    pub(crate) fn with_account(user: &UserId) -> Self {
        Self { user: *user, workspace: None, key: None }
    }

    /// The id of the workspace, if there is one.
    pub(crate) fn workspace_id(&self) -> Option<String> {
        self.workspace.map(|id| id.to_string())
    }

    /// The prefix of the API key, if it was one.
    pub(crate) fn key_prefix(&self) -> Option<&str> {
        self.key.as_ref().map(KeyPrefix::as_str)
    }
}
