//! Manages a workspace, its members, invitations and API keys, and a person's notifications and mails.
//!
//! What changes who may do what looks at the caller's role of this moment.

mod audit_log;
mod invitations;
mod keys;
mod members;
mod notifications;
mod wanted_mail;
mod workspace;

use linklet_domain::{
    AccountChange, ApiKeySecret, AuditContext, FoundingPolicy, Role, UserId, WorkspaceId, WorkspaceName,
};
use linklet_dynamodb::{NotificationsTable, UsersTable};
use linklet_lambda::{
    email_requests::EmailRequests,
    guesses::Guesses,
    http::{ApiError, Handler, Method, Problem, Request, Response},
    identity::{Caller, Person, TokenVerifier},
    telemetry::warn_of,
};

/// `/api/workspace`, `/api/workspace/members`, `/api/workspace/invitations`, `/api/invitations/accept`, `/api/invitations/look`, `/api/keys`,
/// `/api/workspaces`, `/api/me/workspaces`, `/api/notifications`, `/api/me/notifications`, `/api/unsubscribe`, `/api/workspace/audit` and `/api/me/audit`.
pub struct Account {
    tokens: TokenVerifier,
    users: UsersTable,
    notifications: NotificationsTable,
    guesses: Guesses,
    mails: EmailRequests,
    founding: FoundingPolicy,
    generate_key: KeyGenerator,
}

/// A function that generates API keys.
pub type KeyGenerator = fn() -> Result<ApiKeySecret, getrandom::Error>;

impl Account {
    /// A handler that generates API keys with the operating system's random number generator, where no mail is configured.
    #[must_use]
    pub fn new(tokens: TokenVerifier, users: UsersTable, notifications: NotificationsTable, guesses: Guesses) -> Self {
        let (mails, founding) = Default::default();
        Self { tokens, users, notifications, guesses, mails, founding, generate_key: ApiKeySecret::generate }
    }

    /// Orders mails here.
    #[must_use]
    pub fn with_mails(self, mails: EmailRequests) -> Self {
        Self { mails, ..self }
    }

    /// Lets only these people found workspaces, and not everybody.
    #[must_use]
    pub fn with_founding(self, founding: FoundingPolicy) -> Self {
        Self { founding, ..self }
    }

    /// Replaces the function that generates API keys, for tests.
    #[must_use]
    pub fn with_keys(self, generate_key: KeyGenerator) -> Self {
        Self { generate_key, ..self }
    }

    /// Why somebody can't join or found a workspace whose account has changed meanwhile.
    async fn joins_nothing(&self, person: &Person) -> Result<ApiError, ApiError> {
        let is_leaving = self.users.is_leaving(person.user()).await?;
        Ok(if is_leaving { Problem::AccountClosing.into() } else { Problem::TryAgain.into() })
    }

    /// Where what this caller changes by a request comes from.
    fn origin(&self, request: &Request, caller: &Caller) -> AuditContext {
        self.guesses.origin(request, caller.actor())
    }

    /// Has somebody told what was changed of what they have in a workspace, if mail is configured.
    async fn tell(
        &self,
        request: &Request,
        user: &UserId,
        workspace: &WorkspaceId,
        change: impl FnOnce(WorkspaceName) -> AccountChange,
    ) {
        if !self.mails.are_placed() {
            return;
        }
        let found = self.users.workspace(workspace).await;
        if let Some(workspace) = warn_of(found, "the mail about a changed account could not be ordered").flatten() {
            self.mails.tell(request, user, change(workspace.name)).await;
        }
    }
}

const NOT_ALLOWED: ApiError = ApiError::Problem(Problem::RoleTooLow);

impl Handler for Account {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "workspace"]) => {
                let caller = self.tokens.authenticate(request).await?;
                self.show_workspace(&caller).await
            }
            (&Method::PATCH, ["api", "workspace"]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.change_workspace(request, &caller).await
            }
            (&Method::GET, ["api", "workspace", "members"]) => {
                let caller = self.tokens.authenticate(request).await?;
                self.list_members(&caller).await
            }
            (&Method::PATCH, ["api", "workspace", "members", user]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.change_member(request, &caller, user).await
            }
            (&Method::DELETE, ["api", "workspace", "members", user]) => {
                let caller = self.tokens.require_now(request, Role::Viewer).await?;
                self.remove_member(request, &caller, user).await
            }
            (&Method::POST, ["api", "workspace", "invitations"]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.invite(request, &caller).await
            }
            (&Method::GET, ["api", "workspace", "invitations"]) => {
                let caller = self.tokens.require(request, Role::Admin).await?;
                self.list_invitations(request, &caller).await
            }
            (&Method::DELETE, ["api", "workspace", "invitations", id]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.withdraw_invitation(request, &caller, id).await
            }
            (&Method::POST, ["api", "invitations", "look"]) => self.look_at_invitation(request).await,
            (&Method::POST, ["api", "invitations", "accept"]) => {
                let person = self.tokens.person_now(request).await?;
                self.accept_invitation(request, &person).await
            }
            (&Method::GET, ["api", "me", "workspaces"]) => {
                let person = self.tokens.person(request).await?;
                self.list_workspaces(&person).await
            }
            (&Method::GET, ["api", "workspace", "audit"]) => {
                let caller = self.tokens.require(request, Role::Admin).await?;
                self.show_workspace_audit_log(request, &caller).await
            }
            (&Method::GET, ["api", "me", "audit"]) => {
                let person = self.tokens.person(request).await?;
                self.show_own_audit_log(request, &person).await
            }
            (&Method::GET, ["api", "me", "notifications"]) => {
                let person = self.tokens.person(request).await?;
                self.show_wanted_mail(&person).await
            }
            (&Method::PATCH, ["api", "me", "notifications"]) => {
                let person = self.tokens.person_now(request).await?;
                self.change_wanted_mail(request, &person).await
            }
            (&Method::GET, ["api", "notifications"]) => {
                let caller = self.tokens.authenticate(request).await?;
                self.list_notifications(request, &caller).await
            }
            (&Method::POST, ["api", "notifications", "seen"]) => {
                let caller = self.tokens.authenticate(request).await?;
                self.mark_seen(request, &caller).await
            }
            (&Method::GET, ["api", "unsubscribe"]) => self.show_unsubscribing(request),
            (&Method::POST, ["api", "unsubscribe"]) => self.unsubscribe(request).await,
            (&Method::POST, ["api", "workspaces"]) => {
                let person = self.tokens.person_now(request).await?;
                self.found_workspace(request, &person).await
            }
            (&Method::POST, ["api", "keys"]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.create_key(request, &caller).await
            }
            (&Method::GET, ["api", "keys"]) => {
                let caller = self.tokens.require(request, Role::Admin).await?;
                self.list_keys(request, &caller).await
            }
            (&Method::PATCH, ["api", "keys", prefix]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.change_key(request, &caller, prefix).await
            }
            (&Method::DELETE, ["api", "keys", prefix]) => {
                let caller = self.tokens.require_now(request, Role::Admin).await?;
                self.revoke_key(request, &caller, prefix).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}
