//! How the members of a workspace sign in, for its admins.

use futures_util::future::try_join_all;
use linklet_domain::{Identity, Member, PasswordLogin, Role, SortOrder, WorkspaceId};
use linklet_lambda::http::{NextPage, Problem, Request, Response, Result, StatusCode, json};
use linklet_oidc::Settings;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Auth, Oidc};

/// The answer: how people get in, and how each member does.
#[derive(Serialize)]
struct SecurityView {
    #[serde(flatten)]
    policy: Value,
    members: Vec<Value>,
    #[serde(flatten)]
    next: NextPage,
}

impl Auth {
    pub(crate) async fn show_security(&self, request: &Request) -> Result<Response> {
        let caller = self.tokens.require_now(request, Role::Admin).await?;
        let workspace = self.users.workspace(&caller.workspace).await?.ok_or(Problem::WorkspaceNotFound)?;
        let members = self.users.members(&workspace.id).await?;
        let key = |member: &Member| format!("{}#{}", member.joined_at, member.user);
        let (members, next) = request.page_of(members, SortOrder::Ascending, key)?;
        let members =
            try_join_all(members.iter().map(|member| self.ways_to_sign_in(member, &caller.workspace))).await?;
        let policy = self.policy_view(&workspace.id);
        Ok(json(StatusCode::OK, &SecurityView { policy, members, next }))
    }

    /// How people get in, as operators have configured it. Of other workspaces it says nothing.
    fn policy_view(&self, workspace: &WorkspaceId) -> Value {
        let oidc = self.oidc.as_ref();
        let provider = |one: &Settings| json!({"id": one.id.as_str(), "name": one.name, "issuer": one.issuer});
        let join =
            oidc.and_then(|oidc| oidc.join.as_ref()).filter(|join| join.workspace == *workspace).map(|join| join.role);
        let groups = oidc.iter().flat_map(|oidc| oidc.groups().in_workspace(workspace));
        json!({
            "password_login": self.password_login == PasswordLogin::On,
            "registration": self.registration.as_ref(),
            "domains": self.registration.domains(),
            "session_hours": oidc.map(|oidc| oidc.session.as_secs() / 3_600),
            "providers": oidc.iter().flat_map(|oidc| Oidc::settings(oidc)).map(provider).collect::<Vec<_>>(),
            "trusted_domains": oidc.map(|oidc| &oidc.trusted),
            "join": join,
            "groups_claim": oidc.and_then(|oidc| oidc.settings().first()?.groups_claim.as_ref()),
            "groups": groups.map(|(group, role)| json!({"group": group, "role": role})).collect::<Vec<_>>(),
        })
    }

    async fn ways_to_sign_in(&self, member: &Member, workspace: &WorkspaceId) -> Result<Value> {
        let (account, identities) =
            tokio::try_join!(self.users.account(&member.user), self.users.identities(&member.user))?;
        let name = |identity: &Identity| {
            let provider = self.oidc.as_ref().and_then(|oidc| oidc.of_issuer(&identity.issuer));
            provider.map_or_else(|| identity.issuer.clone(), |provider| provider.name.clone())
        };
        let by_groups = identities.iter().find(|identity| identity.workspaces.contains(workspace)).map(name);
        Ok(json!({
            "user_id": member.user,
            "email": member.email,
            "full_name": member.full_name,
            "role": member.role,
            "has_password": account.is_some_and(|account| account.password_hash.is_some()),
            "providers": identities.iter().map(name).collect::<Vec<_>>(),
            "by_groups_of": by_groups,
        }))
    }
}
