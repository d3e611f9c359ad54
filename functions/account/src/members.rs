//! The members of a workspace and their roles.

use linklet_domain::{
    AccountChange, EmailAddress, FullName, Invalid, KeysLeft, Member, Role, Timestamp, UserId, optional,
};
use linklet_dynamodb::{MemberChange, MemberOutcome, Removal};
use linklet_lambda::{
    http::{ApiError, Immutable, Problem, Request, Response, StatusCode, json, no_content},
    identity::Caller,
    telemetry::chain,
};
use serde::{Deserialize, Serialize};

use crate::{Account, NOT_ALLOWED, keys::resumes};

/// The error for a user who isn't a member. It is the same for former members, who aren't stored.
const NO_MEMBER: ApiError = ApiError::Problem(Problem::MemberNotFound);

impl Account {
    pub(crate) async fn list_members(&self, caller: &Caller) -> Result<Response, ApiError> {
        let members = self.users.members(caller.workspace()).await?;
        Ok(json(StatusCode::OK, &Members { members: members.iter().map(MemberView::from).collect() }))
    }

    pub(crate) async fn change_member(
        &self,
        request: &Request,
        caller: &Caller,
        user: &str,
    ) -> Result<Response, ApiError> {
        let change = request.json_object()?.read_patch::<Body>(&[IMMUTABLE])?.change()?;
        let (user, workspace) = (UserId::parse(user).map_err(|_| NO_MEMBER)?, caller.workspace());
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
    pub(crate) async fn remove_member(
        &self,
        request: &Request,
        caller: &Caller,
        user: &str,
    ) -> Result<Response, ApiError> {
        let user = UserId::parse(user);
        let keys = keys_left(request)?;
        let is_admin = caller.role() == Role::Admin;
        if !is_admin && (user.as_ref() != Ok(caller.user()) || keys == KeysLeft::Kept) {
            return Err(NOT_ALLOWED);
        }
        let user = user.map_err(|_| NO_MEMBER)?;
        let removal = Removal {
            workspace: caller.workspace(),
            caller: caller.user(),
            user: &user,
            keys,
            at: request.received_at(),
            origin: self.origin(request, caller),
        };
        done(self.users.remove_member(&removal).await?)?;
        if keys == KeysLeft::Revoked {
            self.revoke_keys(&removal).await;
        }
        self.withdraw_invitations(&removal).await;
        let removed = |workspace_name| AccountChange::Removed { workspace_name };
        self.tell(request, &user, caller.workspace(), removed).await;
        Ok(no_content())
    }

    /// Revokes the keys of somebody who has just been removed. If that fails, the handover does it some seconds later.
    async fn revoke_keys(&self, removal: &Removal<'_>) {
        // Until now, as for invitations.
        let made_until = Timestamp::now();
        let Removal { workspace, user, origin, .. } = removal;
        if let Err(error) = self.users.revoke_keys(workspace, user, made_until, None, origin).await {
            tracing::warn!(error = chain(&error), "the API keys of a removed member could not be revoked at once");
        }
    }

    /// Withdraws the invitations of somebody who has just been removed. If that fails, the handover does it some seconds later.
    async fn withdraw_invitations(&self, removal: &Removal<'_>) {
        // Until now, since one that was on its way may have come after the request and before the removal.
        let made_until = Timestamp::now();
        let Removal { workspace, user, origin, .. } = removal;
        if let Err(error) = self.users.withdraw_invitations_by(workspace, user, made_until, origin).await {
            tracing::warn!(error = chain(&error), "the invitations of a removed member could not be withdrawn at once");
        }
    }
}

/// What becomes of a member's keys: the query parameter `keep_keys`.
fn keys_left(request: &Request) -> Result<KeysLeft, Invalid> {
    let kept = request.parsed("keep_keys", |text| match text {
        "true" => Ok(KeysLeft::Kept),
        "false" => Ok(KeysLeft::Revoked),
        _ => Err(Invalid::new("keep_keys must be true or false")),
    })?;
    Ok(kept.unwrap_or(KeysLeft::Revoked))
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
#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "optional")]
    role: Option<Role>,
    #[serde(default, deserialize_with = "optional")]
    paused: Option<bool>,
}

impl Body {
    fn change(self) -> Result<MemberChange, Invalid> {
        let change = MemberChange { role: self.role, resumes: resumes(self.paused)? };
        let is_nothing = change.role.is_none() && !change.resumes;
        if is_nothing { Err(Invalid::new("role is required").in_field("role")) } else { Ok(change) }
    }
}

fn done(outcome: MemberOutcome) -> Result<Member, ApiError> {
    match outcome {
        MemberOutcome::Done(member) | MemberOutcome::Resumed(member) | MemberOutcome::Unchanged(member) => Ok(member),
        MemberOutcome::NoMember => Err(NO_MEMBER),
        MemberOutcome::LastAdmin => Err(ApiError::Problem(Problem::LastAdmin)),
        MemberOutcome::CallerNotAdmin => Err(NOT_ALLOWED),
    }
}

#[derive(Serialize)]
struct Members<'a> {
    members: Vec<MemberView<'a>>,
}

#[derive(Serialize)]
struct MemberView<'a> {
    user_id: &'a UserId,
    email: &'a EmailAddress,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_name: Option<&'a FullName>,
    role: Role,
    joined_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<Timestamp>,
}

impl<'a> From<&'a Member> for MemberView<'a> {
    fn from(member: &'a Member) -> Self {
        Self {
            user_id: &member.user,
            email: &member.email,
            full_name: member.full_name.as_ref(),
            role: member.role,
            joined_at: member.joined_at,
            paused_at: member.paused_at,
        }
    }
}
