//! Which workspaces people join by signing in at an identity provider, and in which role.
//!
//! Workspaces are named by their ids: whoever renames one, or takes a slug that was free, changes nothing.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{Invalid, Role, WorkspaceId};

/// A role in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceRole {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The role there.
    pub role: Role,
}

impl WorkspaceRole {
    /// Reads the id of a workspace and a role with a colon between them.
    ///
    /// # Errors
    /// When one of them is invalid.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        const FORM: &str = "a role in a workspace must be the id of the workspace, a colon and the role";
        let (workspace, role) = text.trim().split_once(':').ok_or_else(|| Invalid::new(FORM))?;
        Ok(Self { workspace: WorkspaceId::parse(workspace)?, role: role.parse()? })
    }

    /// As [`Self::parse`], for whoever is new. Admins are made by name only.
    ///
    /// # Errors
    /// When one is invalid, or the role is admin.
    pub fn of_newcomers(text: &str) -> Result<Self, Invalid> {
        let given = Self::parse(text)?;
        Invalid::when(given.role == Role::Admin, "whoever is new may join as viewer or member")?;
        Ok(given)
    }
}

/// The role that a group has in a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupRole {
    /// The id of the only provider whose group it is; `None` where there is one provider.
    provider: Option<String>,
    group: String,
    role: WorkspaceRole,
}

/// The roles in workspaces that people have by their groups at identity providers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupRoles(Vec<GroupRole>);

impl GroupRoles {
    /// Reads groups with the role in a workspace that each gives, such as `Engineering=<workspace id>:member`, separated by commas. Where
    /// there are several providers, each group has the id of its provider before it, such as `okta/Engineering`: another provider may have
    /// a group of the same name.
    ///
    /// # Errors
    /// When one is invalid, or names no provider.
    pub fn parse(list: &str, providers: &[&str]) -> Result<Self, Invalid> {
        let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let parsed = entries.map(|entry| {
            // The name of a group may have the character, too.
            let named = entry.rsplit_once('=').filter(|(group, _)| !group.trim().is_empty());
            let form = || Invalid::new("a group must have a role, such as engineering=<workspace id>:member");
            let (group, role) = named.ok_or_else(form)?;
            let role = WorkspaceRole::parse(role)?;
            if providers.len() < 2 {
                return Ok(GroupRole { provider: None, group: group.trim().to_owned(), role });
            }
            let of_provider = group.split_once('/').filter(|(provider, _)| providers.contains(&provider.trim()));
            let unclear =
                || Invalid::new("with several identity providers, each group must begin with the id of its own and /");
            let (provider, group) = of_provider.ok_or_else(unclear)?;
            Ok(GroupRole { provider: Some(provider.trim().to_owned()), group: group.trim().to_owned(), role })
        });
        parsed.collect::<Result<_, _>>().map(Self)
    }

    /// Whether no group gives any role.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The highest role in each workspace that somebody has who is in these groups at this provider.
    pub fn of(&self, provider: &str, groups: &[String]) -> Vec<WorkspaceRole> {
        let is_theirs =
            |one: &&GroupRole| one.provider.as_ref().is_none_or(|of| of == provider) && groups.contains(&one.group);
        let mut roles = HashMap::<WorkspaceId, Role>::new();
        for GroupRole { role: WorkspaceRole { workspace, role }, .. } in self.0.iter().filter(is_theirs) {
            let highest = roles.entry(*workspace).or_insert(*role);
            *highest = (*highest).max(*role);
        }
        roles.into_iter().map(|(workspace, role)| WorkspaceRole { workspace, role }).collect()
    }

    /// The groups that give a role in this workspace, as they are configured.
    pub fn in_workspace(&self, workspace: &WorkspaceId) -> impl Iterator<Item = (String, Role)> {
        let here = self.0.iter().filter(move |one| one.role.workspace == *workspace);
        here.map(|GroupRole { provider, group, role }| {
            let before = provider.iter().map(|provider| format!("{provider}/"));
            (before.chain([group.clone()]).collect(), role.role)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACME: &str = "0198c0de-0000-7000-8000-00000000000a";
    const LAB: &str = "0198c0de-0000-7000-8000-00000000000b";

    fn of(roles: &GroupRoles, provider: &str, groups: &[&str]) -> Vec<(String, Role)> {
        let groups: Vec<_> = groups.iter().map(|&group| group.to_owned()).collect();
        let roles = roles.of(provider, &groups).into_iter().map(|one| (one.workspace.to_string(), one.role));
        let mut roles: Vec<_> = roles.collect();
        roles.sort();
        roles
    }

    #[test]
    fn the_highest_role_of_all_groups_counts() {
        let list = format!(" Staff={ACME}:viewer,/a=b={ACME}:admin, Eng={LAB}:member,Eng={ACME}:member,");
        let roles = GroupRoles::parse(&list, &["okta"]).unwrap();

        let role = |workspace: &str, role| (workspace.to_owned(), role);
        assert_eq!(of(&roles, "okta", &["Staff", "Eng"]), [role(ACME, Role::Member), role(LAB, Role::Member)]);
        assert_eq!(of(&roles, "okta", &["/a=b", "Staff"]), [role(ACME, Role::Admin)]);
        assert_eq!(of(&roles, "okta", &["staff", ""]), []);
        let acme = WorkspaceId::parse(ACME).unwrap();
        let listed: Vec<_> = roles.in_workspace(&acme).collect();
        let named = |group: &str, role| (group.to_owned(), role);
        assert_eq!(listed, [named("Staff", Role::Viewer), named("/a=b", Role::Admin), named("Eng", Role::Member)]);
    }

    #[test]
    fn a_group_is_that_of_its_provider_where_there_are_several() {
        let (two, list) = (["okta", "partner"], format!("okta/Leads={ACME}:admin,partner//a/b={ACME}:viewer"));
        let roles = GroupRoles::parse(&list, &two).unwrap();

        assert_eq!(of(&roles, "okta", &["Leads"]), [(ACME.to_owned(), Role::Admin)]);
        assert_eq!(of(&roles, "partner", &["Leads", "/a/b"]), [(ACME.to_owned(), Role::Viewer)]);
        for unclear in [format!("Leads={ACME}:admin"), format!("other/Leads={ACME}:admin")] {
            assert!(GroupRoles::parse(&unclear, &two).is_err(), "{unclear}");
        }
    }

    #[test]
    fn what_gives_no_role_is_refused() {
        for list in
            ["Eng", &format!("={ACME}:member"), &format!("Eng={ACME}"), "Eng=acme:member", &format!("Eng={ACME}:owner")]
        {
            assert!(GroupRoles::parse(list, &["okta"]).is_err(), "{list}");
        }
        assert!(GroupRoles::parse("", &[]).unwrap().is_empty());
        assert!(WorkspaceRole::of_newcomers(&format!("{ACME}:admin")).is_err());
        assert!(WorkspaceRole::of_newcomers(&format!("{ACME}:member")).is_ok());
        assert!(WorkspaceRole::of_newcomers(ACME).is_err());
    }
}
