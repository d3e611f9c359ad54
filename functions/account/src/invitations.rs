//! Invitations into a workspace. Nobody is added: who is invited accepts.

use linklet_domain::{
    AccountChange, EmailAddress, GuessKind, Invitation, InvitationId, NotMailed, OneTimeToken, RequestedEmail, Role,
    SortOrder, Timestamp, TokenPurpose, UserId, Workspace, WorkspaceId, WorkspaceName, WorkspaceSlug, optional,
};
use linklet_dynamodb::{AcceptOutcome, InviteOutcome, OpenInvitation, WithdrawOutcome};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{
    ApiError, Once, Problem, Request, Response, Result, StatusCode, created, json, list_response, no_content,
    with_secret,
};
use linklet_lambda::identity::{Caller, Person};
use linklet_lambda::telemetry::warn_of;
use serde::{Deserialize, Serialize};

use crate::{Account, NOT_ALLOWED};

/// The error of every token that doesn't work, whatever the reason is.
const INVALID: ApiError = ApiError::Problem(Problem::InvitationInvalid);
const ALREADY: ApiError = ApiError::Problem(Problem::AlreadyMember);

impl Account {
    /// 201 with an invitation and its token, which no other answer shows.
    pub(crate) async fn invite(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let body = request.json_object()?;
        let once = Once::in_workspace(request, &caller.workspace, &body)?;
        let wanted = body.read();
        if let Some(first) = self.first_answer(request, &caller.user, &once).await? {
            return Ok(first);
        }
        let NewInvitation { email, role } = wanted?;
        let token = OneTimeToken::generate(TokenPurpose::Invitation).map_err(ApiError::internal)?;
        let (workspace, role) = (&caller.workspace, role.unwrap_or(Role::Member));
        let mut invitation = Invitation::new(workspace, email, role, &caller.user, token.hash(), request.received_at);
        invitation.not_mailed = (!self.mails.are_placed()).then_some(NotMailed::MailOff);
        let origin = self.origin(request, caller);
        // The list has it: an invitation has no address of its own to read.
        let location = "invitations";
        let mut shown = CreatedInvitation::of(&invitation);
        let answer = once.answer(StatusCode::CREATED, &shown, location).map_err(ApiError::internal)?;
        match self.users.invite(&invitation, caller.acting()?.session, once.with_key(&answer), &origin).await? {
            InviteOutcome::Invited => {
                self.announce(request, &invitation).await;
                shown.token = Some(token.reveal());
                Ok(with_secret(created(location, &shown)))
            }
            InviteOutcome::IdempotencyKeyTaken => {
                self.first_answer_or(request, &caller.user, &once, Problem::TryAgain).await
            }
            InviteOutcome::AlreadyMember => Err(ALREADY),
            InviteOutcome::TooMany => {
                self.first_answer_or(request, &caller.user, &once, Problem::InvitationLimit).await
            }
            InviteOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }

    /// Has a token of its own mailed to whoever is invited. The invitation stands without: its admin can pass the shown one on.
    async fn announce(&self, request: &Request, invitation: &Invitation) {
        warn_of(self.order_mail(request, invitation).await, "the mail about an invitation could not be ordered");
    }

    async fn order_mail(&self, request: &Request, invitation: &Invitation) -> Result<()> {
        if !self.mails.are_placed() {
            return Ok(());
        }
        let Some(workspace) = self.users.workspace(&invitation.workspace).await? else { return Ok(()) };
        let mail = RequestedEmail::Invitation {
            workspace_id: workspace.id,
            workspace_name: workspace.name,
            invitation_id: invitation.id,
        };
        self.mails.place(request, mail).await
    }

    pub(crate) async fn list_invitations(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let open = self.users.invitations(&caller.workspace, request.received_at).await?;
        let key = |invitation: &Invitation| format!("{}#{}", invitation.created_at, invitation.id);
        let (open, next) = request.page_of(open, SortOrder::Descending, key)?;
        Ok(list_response("invitations", open.iter().map(InvitationView::from).collect(), next))
    }

    pub(crate) async fn withdraw_invitation(&self, request: &Request, caller: &Caller, id: &str) -> Result<Response> {
        let Ok(id) = InvitationId::parse(id) else { return Ok(no_content()) };
        let origin = self.origin(request, caller);
        match self.users.withdraw_invitation(&caller.workspace, &caller.user, &id, &origin).await? {
            WithdrawOutcome::Withdrawn | WithdrawOutcome::NoInvitation => Ok(no_content()),
            WithdrawOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
        }
    }

    /// 200 with what an invitation is for, for whoever has its token.
    pub(crate) async fn look_at_invitation(&self, request: &Request) -> Result<Response> {
        let Acceptance { token } = request.json()?;
        self.guesses
            .limit(request, Attempt { kind: GuessKind::Token, account: None }, async |_| {
                self.look(request, &token).await
            })
            .await
    }

    async fn look(&self, request: &Request, token: &str) -> Result<Response> {
        let token = OneTimeToken::parse(TokenPurpose::Invitation, token).map_err(|_| INVALID)?.hash();
        let open = self.users.invitation_of(&token, request.received_at).await?.ok_or(INVALID)?;
        let mut shown = ShownInvitation::to_register(&open);
        if let Some(invitation) = &open.into_workspace {
            let workspace = self.users.workspace(&invitation.workspace).await?.ok_or(INVALID)?;
            shown.workspace = Some(workspace.name);
            shown.role = Some(invitation.role);
            shown.invited_by = self.users.called(&invitation.invited_by).await?;
        }
        Ok(json(StatusCode::OK, &shown))
    }

    /// 200 with the workspace of which the caller is a member now. A token for it comes from `POST /api/auth/switch`.
    pub(crate) async fn accept_invitation(&self, request: &Request, person: &Person) -> Result<Response> {
        let Acceptance { token } = request.json()?;
        let account = person.user.to_string();
        let attempt = Attempt { kind: GuessKind::Token, account: Some(&account) };
        self.guesses.limit(request, attempt, async |_| self.accept(request, person, &token).await).await
    }

    async fn accept(&self, request: &Request, person: &Person, token: &str) -> Result<Response> {
        let token = OneTimeToken::parse(TokenPurpose::Invitation, token).map_err(|_| INVALID)?.hash();
        let account = self.users.account(&person.user).await?.ok_or(ApiError::Problem(Problem::Unauthorized))?;
        let origin = self.guesses.origin(request, person.actor());
        match self.users.accept_invitation(&token, &account, &person.session().id, &origin).await? {
            AcceptOutcome::Accepted(workspace, role) => {
                let joined = AccountChange::Joined { workspace_name: workspace.name.clone(), role };
                self.mails.tell(request, &person.user, joined).await;
                let Workspace { id: workspace_id, name, slug, .. } = &*workspace;
                Ok(json(StatusCode::OK, &Joined { workspace_id, name, slug, role }))
            }
            AcceptOutcome::AlreadyMember => Err(ALREADY),
            AcceptOutcome::Invalid => Err(INVALID),
            AcceptOutcome::TooMany => Err(Problem::WorkspaceLimit.into()),
            AcceptOutcome::AccountChanged => Err(self.joins_nothing(person).await?),
        }
    }
}

/// The body of a request to invite somebody.
#[derive(Deserialize)]
struct NewInvitation {
    email: EmailAddress,
    #[serde(default, deserialize_with = "optional")]
    role: Option<Role>,
}

/// The body of a request to accept an invitation, or to look at it.
#[derive(Deserialize)]
struct Acceptance {
    /// A `String`, since what has another form than a token is a wrong one rather than an invalid request.
    token: String,
}

/// What an invitation is for. One that lets an address register, and leads into no workspace, has neither workspace nor role, and
/// is of no member.
#[derive(Serialize)]
struct ShownInvitation<'a> {
    workspace: Option<WorkspaceName>,
    invited_by: Option<String>,
    role: Option<Role>,
    email: &'a EmailAddress,
    expires_at: Timestamp,
}

impl<'a> ShownInvitation<'a> {
    fn to_register(open: &'a OpenInvitation) -> Self {
        Self { workspace: None, invited_by: None, role: None, email: &open.email, expires_at: open.expires_at }
    }
}

/// The response with a new invitation: the first one contains the token, and no repeated one.
#[derive(Serialize)]
struct CreatedInvitation<'a> {
    id: &'a InvitationId,
    email: &'a EmailAddress,
    role: Role,
    expires_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl<'a> CreatedInvitation<'a> {
    fn of(invitation: &'a Invitation) -> Self {
        let Invitation { id, email, role, .. } = invitation;
        Self { id, email, role: *role, expires_at: invitation.expires_at(), token: None }
    }
}

#[derive(Serialize)]
struct InvitationView<'a> {
    id: &'a InvitationId,
    email: &'a EmailAddress,
    role: Role,
    created_at: Timestamp,
    expires_at: Timestamp,
    invited_by: &'a UserId,
    mailed_at: Option<Timestamp>,
    not_mailed: Option<NotMailed>,
}

impl<'a> From<&'a Invitation> for InvitationView<'a> {
    fn from(invitation: &'a Invitation) -> Self {
        let Invitation { ref id, ref email, role, created_at, ref invited_by, mailed_at, not_mailed, .. } = *invitation;
        let expires_at = invitation.expires_at();
        Self { id, email, role, created_at, expires_at, invited_by, mailed_at, not_mailed }
    }
}

/// A workspace as somebody sees it who has just joined it.
#[derive(Serialize)]
struct Joined<'a> {
    workspace_id: &'a WorkspaceId,
    name: &'a WorkspaceName,
    slug: &'a WorkspaceSlug,
    role: Role,
}
