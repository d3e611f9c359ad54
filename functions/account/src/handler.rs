//! Manages a workspace, its members, invitations and API keys, and a person's notifications and mails.
//!
//! What changes who may do what looks at the caller's role of this moment.

mod audit_log;
mod invitations;
mod keys;
mod members;
mod notifications;
mod reports;
mod shares;
mod wanted_mail;
mod workspace;

use linklet_domain::{
    AccountChange, ApiKeySecret, AuditContext, CreationPolicy, Role, UserId, Visibility, WorkspaceId, WorkspaceName,
};
use linklet_dynamodb::{NotificationsTable, UsersTable};
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::guesses::Guesses;
use linklet_lambda::http::{ApiError, Handler, Method, Once, Problem, Request, Response, Result, ShortUrls};
use linklet_lambda::identity::{Caller, Person, TokenVerifier};
use linklet_lambda::telemetry::warn_of;
use linklet_lambda::workspace_view::WorkspaceViews;

pub use self::shares::Sharing;

/// `/api/workspace`, `/api/workspace/logo`, `/api/workspace/members`, `/api/workspace/invitations`, `/api/workspace/reports`,
/// `/api/invitations/accept`, `/api/invitations/look`, `/api/keys`, `/api/workspaces`, `/api/me/workspaces`, `/api/notifications`,
/// `/api/me/notifications`, `/api/unsubscribe`, `/api/workspace/audit`, `/api/export/audit`, `/api/me/audit`, `/api/shares`, and what ends with `/share` of links
/// and tags.
pub struct Account {
    /// Verifies tokens.
    pub tokens: TokenVerifier,
    /// The repository of accounts and workspaces.
    pub users: UsersTable,
    /// The repository of notifications.
    pub notifications: NotificationsTable,
    /// Limits guesses at tokens.
    pub guesses: Guesses,
    /// Orders mails.
    pub mails: EmailRequests,
    /// Who may create workspaces.
    pub creation: CreationPolicy,
    /// How workspaces are shown.
    pub views: WorkspaceViews,
    /// Generates API keys.
    pub generate_key: KeyGenerator,
    /// Shares statistics.
    pub sharing: Sharing,
}

/// A function that generates API keys.
pub type KeyGenerator = fn() -> Result<ApiKeySecret, getrandom::Error>;

impl Account {
    /// A handler that generates API keys with the operating system's random number generator, where no mail is configured, everybody
    /// may create workspaces, and statistics are public.
    pub fn new(
        tokens: TokenVerifier,
        users: UsersTable,
        notifications: NotificationsTable,
        guesses: Guesses,
        sharing: Sharing,
    ) -> Self {
        let (mails, creation) = Default::default();
        let views = WorkspaceViews { default_statistics: Visibility::Public, short_urls: ShortUrls::new(None) };
        let generate_key = ApiKeySecret::generate;
        Self { tokens, users, notifications, guesses, mails, creation, views, generate_key, sharing }
    }

    /// Why somebody can't join or create a workspace whose account has changed meanwhile.
    async fn joins_nothing(&self, person: &Person) -> Result<ApiError> {
        let is_leaving = self.users.is_leaving(&person.user).await?;
        Ok(if is_leaving { Problem::AccountClosing.into() } else { Problem::TryAgain.into() })
    }

    /// The answer that a request of the person with the same idempotency key got.
    async fn first_answer(&self, request: &Request, user: &UserId, once: &Once) -> Result<Option<Response>> {
        let Some(key) = once.key() else { return Ok(None) };
        once.replay(self.users.creation_answer(user, key, request.received_at).await?)
    }

    /// The answer that a request of the person with the same idempotency key got meanwhile, in place of this error.
    async fn first_answer_or(
        &self,
        request: &Request,
        user: &UserId,
        once: &Once,
        error: impl Into<ApiError>,
    ) -> Result<Response> {
        self.first_answer(request, user, once).await?.ok_or(error.into())
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

const NOT_ALLOWED: ApiError = ApiError::RoleTooLow(Role::Admin);

impl Handler for Account {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let member = async || self.tokens.authenticate(request).await;
        let member_now = async || self.tokens.require_now(request, Role::Viewer).await;
        // Whoever may have API keys: a key acts as a member.
        let keyholder = async || self.tokens.require(request, Role::Member).await;
        let keyholder_now = async || self.tokens.require_now(request, Role::Member).await;
        let admin = async || self.tokens.require(request, Role::Admin).await;
        let admin_now = async || self.tokens.require_now(request, Role::Admin).await;
        let person = async || self.tokens.person(request).await;
        let person_now = async || self.tokens.person_now(request).await;
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, ["api", "workspace"]) => self.show_workspace(request, &member().await?).await,
            (&Method::PATCH, ["api", "workspace"]) => self.change_workspace(request, &admin_now().await?).await,
            (&Method::PUT, ["api", "workspace", "logo"]) => self.put_logo(request, &admin_now().await?).await,
            (&Method::DELETE, ["api", "workspace", "logo"]) => self.remove_logo(request, &admin_now().await?).await,
            (&Method::GET, ["api", "workspace", "members"]) => self.list_members(request, &member().await?).await,
            (&Method::PATCH, ["api", "workspace", "members", user]) => {
                self.change_member(request, &admin_now().await?, user).await
            }
            (&Method::DELETE, ["api", "workspace", "members", user]) => {
                self.remove_member(request, &member_now().await?, user).await
            }
            (&Method::POST, ["api", "workspace", "invitations"]) => self.invite(request, &admin_now().await?).await,
            (&Method::GET, ["api", "workspace", "invitations"]) => {
                self.list_invitations(request, &admin().await?).await
            }
            (&Method::DELETE, ["api", "workspace", "invitations", id]) => {
                self.withdraw_invitation(request, &admin_now().await?, id).await
            }
            (&Method::GET, ["api", "workspace", "reports"]) => self.list_reports(request, &member().await?).await,
            (&Method::POST, ["api", "workspace", "reports"]) => self.want_report(request, &member_now().await?).await,
            (&Method::DELETE, ["api", "workspace", "reports", id]) => {
                self.end_report(request, &member_now().await?, id).await
            }
            (&Method::POST, ["api", "invitations", "look"]) => self.look_at_invitation(request).await,
            (&Method::POST, ["api", "invitations", "accept"]) => {
                self.accept_invitation(request, &person_now().await?).await
            }
            (&Method::GET, ["api", "me", "workspaces"]) => self.list_workspaces(request, &person().await?).await,
            (&Method::GET, ["api", "workspace", "audit"]) => {
                self.show_workspace_audit_log(request, &admin().await?).await
            }
            (&Method::GET, ["api", "export", "audit"]) => self.export_audit_log(request, &admin().await?).await,
            (&Method::GET, ["api", "me", "audit"]) => self.show_own_audit_log(request, &person().await?).await,
            (&Method::GET, ["api", "me", "notifications"]) => self.show_wanted_mail(&person().await?).await,
            (&Method::PATCH, ["api", "me", "notifications"]) => {
                self.change_wanted_mail(request, &person_now().await?).await
            }
            (&Method::GET, ["api", "notifications"]) => self.list_notifications(request, &member().await?).await,
            (&Method::POST, ["api", "notifications", "seen"]) => self.mark_seen(request, &member().await?).await,
            (&Method::GET, ["api", "unsubscribe"]) => self.show_unsubscribing(request),
            (&Method::POST, ["api", "unsubscribe"]) => self.unsubscribe(request).await,
            (&Method::POST, ["api", "workspaces"]) => self.create_workspace(request, &person_now().await?).await,
            (&Method::POST, ["api", "keys"]) => self.create_key(request, &keyholder_now().await?).await,
            (&Method::GET, ["api", "keys"]) => self.list_keys(request, &keyholder().await?).await,
            (&Method::PATCH, ["api", "keys", prefix]) => {
                self.change_key(request, &keyholder_now().await?, prefix).await
            }
            (&Method::DELETE, ["api", "keys", prefix]) => {
                self.revoke_key(request, &keyholder_now().await?, prefix).await
            }
            (&Method::POST, ["api", "keys", prefix, "rotate"]) => {
                self.rotate_key(request, &keyholder_now().await?, prefix).await
            }
            (&Method::GET, ["api", "shares"]) => self.list_all_shares(request, &admin().await?).await,
            (&Method::POST, ["api", "links", code, "share"]) => {
                self.share_link(request, &keyholder_now().await?, code).await
            }
            (&Method::GET, ["api", "links", code, "share"]) => {
                self.list_shares_of_link(request, &keyholder().await?, code).await
            }
            (&Method::DELETE, ["api", "links", code, "share", id]) => {
                self.end_share_of_link(request, &keyholder_now().await?, (code, id)).await
            }
            (&Method::POST, ["api", "tags", tag, "share"]) => {
                self.share_tag(request, &keyholder_now().await?, tag).await
            }
            (&Method::GET, ["api", "tags", tag, "share"]) => {
                self.list_shares_of_tag(request, &keyholder().await?, tag).await
            }
            (&Method::DELETE, ["api", "tags", tag, "share", id]) => {
                self.end_share_of_tag(request, &keyholder_now().await?, (tag, id)).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}
