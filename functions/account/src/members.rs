//! The members of a workspace and their roles.

use linklet_domain::{AccountChange, Invalid, KeysLeft, Member, Role, SortOrder, Timestamp, UserId, optional};
use linklet_dynamodb::{MemberChange, MemberOutcome, Removal};
use linklet_lambda::http::{
    ApiError, Immutable, Problem, Request, Response, Result, StatusCode, json, list_response, no_content,
};
use linklet_lambda::identity::Caller;
use linklet_lambda::telemetry::warn_of;
use linklet_lambda::workspace_view::MemberView;
use serde::Deserialize;

use crate::{Account, NOT_ALLOWED, keys::resumes};

/// The error for a user who isn't a member. It is the same for former members, who aren't stored.
const NO_MEMBER: ApiError = ApiError::Problem(Problem::MemberNotFound);

impl Account {
    pub(crate) async fn list_members(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let members = self.users.members(&caller.workspace).await?;
        let key = |member: &Member| format!("{}#{}", member.joined_at, member.user);
        let (members, next) = request.page_of(members, SortOrder::Ascending, key)?;
        Ok(list_response("members", members.iter().map(MemberView::from).collect(), next))
    }

    pub(crate) async fn change_member(&self, request: &Request, caller: &Caller, user: &str) -> Result<Response> {
        let change = request.json_object()?.read_patch::<Body>(&[IMMUTABLE])?.change()?;
        let (user, workspace) = (UserId::parse(user).map_err(|_| NO_MEMBER)?, &caller.workspace);
        let origin = self.origin(request, caller);
        let outcome = self.users.change_member(workspace, caller.acting()?, &user, change, &origin).await?;
        let is_unchanged = matches!(outcome, MemberOutcome::Unchanged(_));
        let is_resumed = matches!(outcome, MemberOutcome::Resumed(_));
        let changed = done(outcome)?;
        // Who is no admin any more could have invited themselves again as one.
        if changed.role < Role::Admin {
            self.users.withdraw_invitations_by(workspace, &user, Timestamp::now(), &origin).await?;
        }
        // A key acts as a member. If this fails, the change can be sent again.
        if changed.role < Role::Member {
            self.users.revoke_keys(workspace, &user, Timestamp::now(), None, &origin).await?;
        }
        if !is_unchanged {
            let role = changed.role;
            let told = |workspace_name| match is_resumed {
                true => AccountChange::MembershipResumed { workspace_name, role },
                false => AccountChange::RoleChanged { workspace_name, role },
            };
            self.tell(request, &user, workspace, told).await;
        }
        Ok(json(StatusCode::OK, &MemberView::from(&changed)))
    }

    /// Removes a member. Admins may remove any member, others only themselves. Their API keys are revoked, unless an admin wants to
    /// keep them; what else they leave is handed over soon after, by the handover that the removal opens.
    pub(crate) async fn remove_member(&self, request: &Request, caller: &Caller, user: &str) -> Result<Response> {
        let user = UserId::parse(user);
        let keeps_keys = request.flag("keep_keys")?.unwrap_or_default();
        let keys = if keeps_keys { KeysLeft::Kept } else { KeysLeft::Revoked };
        let is_admin = caller.role == Role::Admin;
        if !is_admin && (user.as_ref() != Ok(&caller.user) || keys == KeysLeft::Kept) {
            return Err(NOT_ALLOWED);
        }
        let Ok(user) = user else { return Ok(no_content()) };
        let removal = Removal {
            workspace: &caller.workspace,
            caller: &caller.user,
            user: &user,
            keys,
            at: request.received_at,
            origin: self.origin(request, caller),
        };
        match self.users.remove_member(&removal).await? {
            // A request before this one may have removed them, and got no further.
            MemberOutcome::NoMember => return Ok(no_content()),
            outcome => done(outcome)?,
        };
        self.revoke_what_was_made(&removal).await;
        let removed = |workspace_name| AccountChange::Removed { workspace_name };
        self.tell(request, &user, &caller.workspace, removed).await;
        Ok(no_content())
    }

    /// Revokes what somebody has made who has just been removed. If that fails, the handover does it some seconds later.
    async fn revoke_what_was_made(&self, removal: &Removal<'_>) {
        let Removal { workspace, user, keys, origin, .. } = removal;
        // Until now, since what was on its way may have come after the request and before the removal.
        let made_until = Timestamp::now();
        if *keys == KeysLeft::Revoked {
            let revoked = self.users.revoke_keys(workspace, user, made_until, None, origin).await;
            warn_of(revoked, "the API keys of a removed member could not be revoked at once");
        }
        let withdrawn = self.users.withdraw_invitations_by(workspace, user, made_until, origin).await;
        warn_of(withdrawn, "the invitations of a removed member could not be withdrawn at once");
    }
}

/// What nobody can change of a member.
const IMMUTABLE: Immutable = Immutable {
    members: &[
        "id",
        "user_id",
        "workspace_id",
        "email",
        "full_name",
        "joined_at",
        "created_at",
        "updated_at",
        "paused_at",
    ],
    sentence: None,
};

/// The body of a request to change a member.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Deserialize)]
struct Body {
    role: Option<Role>,
    paused: Option<bool>,
}

impl Body {
    fn change(self) -> Result<MemberChange, Invalid> {
        let change = MemberChange { role: self.role, resumes: resumes(self.paused)? };
        let is_nothing = change.role.is_none() && !change.resumes;
        if is_nothing { Err(Invalid::new("role is required").in_field("role")) } else { Ok(change) }
    }
}

fn done(outcome: MemberOutcome) -> Result<Member> {
    match outcome {
        MemberOutcome::Done(member) | MemberOutcome::Resumed(member) | MemberOutcome::Unchanged(member) => Ok(member),
        MemberOutcome::NoMember => Err(NO_MEMBER),
        MemberOutcome::LastAdmin => Err(ApiError::Problem(Problem::LastAdmin)),
        MemberOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
    }
}
