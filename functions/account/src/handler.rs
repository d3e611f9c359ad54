//! What belongs to a workspace apart from its links: its own data and its members, each in a module of its own.

mod members;
mod workspace;

use linklet_domain::Role;
use linklet_dynamodb::UsersTable;
use linklet_lambda::{
    http::{ApiError, Handler, Method, Request, Response},
    identity::Authenticator,
};

/// `/api/workspace` and `/api/workspace/members`.
pub struct Account {
    /// Verifies tokens.
    pub authenticator: Authenticator,
    /// Workspaces and who belongs to them.
    pub users: UsersTable,
}

const BODY_LIMIT: usize = 4_096;
const NOT_ALLOWED: ApiError = ApiError::Forbidden("your role does not allow this");

impl Handler for Account {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "workspace"]) => {
                let caller = self.authenticator.authenticate(request).await?;
                self.show_workspace(&caller).await
            }
            (&Method::PATCH, ["api", "workspace"]) => {
                let caller = self.authenticator.require(request, Role::Admin).await?;
                self.change_workspace(request, &caller).await
            }
            (&Method::GET, ["api", "workspace", "members"]) => {
                let caller = self.authenticator.authenticate(request).await?;
                self.list_members(&caller).await
            }
            (&Method::POST, ["api", "workspace", "members"]) => {
                let caller = self.authenticator.require(request, Role::Admin).await?;
                self.add_member(request, &caller).await
            }
            (&Method::PATCH, ["api", "workspace", "members", user]) => {
                let caller = self.authenticator.require(request, Role::Admin).await?;
                self.change_role(request, &caller, user).await
            }
            (&Method::DELETE, ["api", "workspace", "members", user]) => {
                let caller = self.authenticator.authenticate(request).await?;
                self.remove_member(&caller, user).await
            }
            _ => Err(ApiError::NotFound("no such route")),
        }
    }
}
