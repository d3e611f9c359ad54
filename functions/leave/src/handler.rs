//! Closes workspaces and accounts, brings workspaces back, and gives people what is stored about them.
//!
//! It is a function of its own, since it may end what no other function may: accounts and workspaces. So it also carries out what operators
//! ask for on behalf of people. Purging what they have is left to jobs.

mod account;
mod command;
mod export;
mod workspace;

use linklet_domain::{Account, PasswordLogin, TypedPassword};
use linklet_dynamodb::{ActiveSession, UsersTable};
use linklet_lambda::email_requests::EmailRequests;
use linklet_lambda::hashing::Limits;
use linklet_lambda::http::{ApiError, Handler, Method, Problem, Request, Response, Result};
use linklet_lambda::identity::TokenVerifier;
use linklet_lambda::passwords::Passwords;
use linklet_lambda::proofs::{Proofs, Purpose};
use linklet_lambda::workspace_view::WorkspaceViews;

pub use self::command::Answer;
pub use self::export::{Export, Stored};

/// `DELETE /api/workspace`, `POST /api/workspaces/{id}/restore`, `DELETE /api/me` and `GET /api/me/export`; `make export` and `make forget`.
pub struct Leave {
    /// Verifies tokens.
    pub tokens: TokenVerifier,
    /// The repository of accounts and workspaces, with the jobs that do the rest.
    pub users: UsersTable,
    /// What keeps people from guessing passwords.
    pub limits: Limits,
    /// Verifies passwords.
    pub passwords: Passwords,
    /// Whether passwords open accounts.
    pub password_login: PasswordLogin,
    /// Where it is ordered that people are told.
    pub mails: EmailRequests,
    /// What else is stored about people.
    pub stored: Stored,
    /// How workspaces are shown.
    pub views: WorkspaceViews,
}

impl Handler for Leave {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::DELETE, ["api", "workspace"]) => self.close_workspace(request).await,
            (&Method::POST, ["api", "workspaces", id, "restore"]) => self.restore_workspace(request, id).await,
            (&Method::DELETE, ["api", "me"]) => Box::pin(self.close_account(request)).await,
            (&Method::GET, ["api", "me", "export"]) => Box::pin(self.export(request)).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Leave {
    /// Whether somebody who has signed in shows once more that the account is theirs.
    async fn require_proof(
        &self,
        request: &Request,
        acting: ActiveSession<'_>,
        account: &Account,
        password: Option<&TypedPassword>,
    ) -> Result<()> {
        let (password_login, audit_log) = (self.password_login, self.users.audit_log());
        let (limits, passwords, tokens) = (&self.limits, &self.passwords, &self.tokens);
        let proofs = Proofs { limits, passwords, password_login, tokens, audit_log };
        proofs.require_of(request, acting, account, password, Purpose::refused_as("wrong password for closing")).await
    }

    /// The account of somebody who has signed in.
    async fn account_of(&self, user: &linklet_domain::UserId) -> Result<Account> {
        self.users.account(user).await?.ok_or(ApiError::Problem(Problem::Unauthorized))
    }
}
