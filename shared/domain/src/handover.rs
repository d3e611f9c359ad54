//! What a member leaves behind in a workspace, and who gets it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Member, Role, Timestamp, UserId, WorkspaceId};

/// What becomes of the API keys of a member who leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeysLeft {
    /// They are revoked.
    Revoked,
    /// They go on working, and become the heir's.
    Kept,
}

/// The handover of what a member leaves behind: links, monitored URLs, and API keys if they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Who has left it.
    pub leaver: UserId,
    /// Who gets what they leave, unless this person leaves, too, before all is handed over.
    pub heir: UserId,
    /// What becomes of the leaver's API keys.
    pub keys: KeysLeft,
    /// When the membership ended.
    pub left_at: Timestamp,
}

impl Handover {
    /// How long after the end of a membership something may still be created in the leaver's name: environments hold sessions and
    /// API keys for a minute, and the rest is for requests that take long and for clocks that differ.
    const CACHES_EXPIRE_WITHIN: Duration = Duration::from_secs(180);

    /// When nothing can be created in the leaver's name any more.
    pub fn caches_expire_at(&self) -> Timestamp {
        self.left_at.plus(Self::CACHES_EXPIRE_WITHIN)
    }

    /// The last time of creation of what is handed over. What somebody creates who has come back is theirs.
    pub fn created_until(&self, members: &[Member]) -> Timestamp {
        let returned = members.iter().find(|member| member.user == self.leaver);
        returned.map_or(self.caches_expire_at(), |member| member.joined_at.min(self.caches_expire_at()))
    }

    /// Who of these members gets what is left: the heir, or the oldest admin if the heir has left as well.
    pub fn heir_among<'m>(&self, members: &'m [Member]) -> Option<&'m Member> {
        let may_inherit = |member: &&Member| member.user == self.heir && member.user != self.leaver;
        let named = members.iter().filter(|member| member.active_role().is_some()).find(may_inherit);
        named.or_else(|| oldest_admin_but(&self.leaver, members))
    }
}

/// The admin who joined first, other than this person.
pub fn oldest_admin_but<'m>(user: &UserId, members: &'m [Member]) -> Option<&'m Member> {
    let others = members.iter().filter(|member| member.active_role() == Some(Role::Admin) && member.user != *user);
    others.min_by_key(|member| (member.joined_at, &member.user))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EmailAddress;

    fn member(role: Role, joined_at: i64) -> Member {
        Member {
            user: UserId::generate(),
            email: EmailAddress::parse("ada@example.com").unwrap(),
            full_name: None,
            role,
            joined_at: Timestamp::from_unix_seconds(joined_at).unwrap(),
            paused_at: None,
        }
    }

    fn handover(leaver: &Member, heir: &Member) -> Handover {
        Handover {
            workspace: WorkspaceId::generate(),
            leaver: leaver.user,
            heir: heir.user,
            keys: KeysLeft::Revoked,
            left_at: Timestamp::from_unix_seconds(1_000).unwrap(),
        }
    }

    #[test]
    fn the_oldest_other_admin_inherits_from_who_has_no_heir_any_more() {
        let (leaver, heir) = (member(Role::Admin, 1), member(Role::Member, 4));
        let (viewer, oldest, younger) = (member(Role::Viewer, 1), member(Role::Admin, 2), member(Role::Admin, 3));
        let all = [younger, viewer, oldest.clone(), leaver.clone(), heir.clone()];
        let handover = handover(&leaver, &heir);

        assert_eq!(handover.heir_among(&all), Some(&heir));
        assert_eq!(handover.heir_among(&all[..4]), Some(&oldest));
        assert_eq!(handover.heir_among(std::slice::from_ref(&leaver)), None);
    }

    #[test]
    fn nobody_inherits_whose_membership_is_paused() {
        let paused = |joined_at| Member { paused_at: Some(Timestamp::now()), ..member(Role::Admin, joined_at) };
        let (leaver, heir, oldest, admin) = (member(Role::Admin, 1), paused(2), paused(3), member(Role::Admin, 4));
        let handover = handover(&leaver, &heir);

        assert_eq!(handover.heir_among(&[leaver, heir, oldest, admin.clone()]), Some(&admin));
    }

    #[test]
    fn what_somebody_creates_who_has_come_back_is_theirs() {
        let (leaver, heir) = (member(Role::Admin, 1), member(Role::Admin, 1));
        let handover = handover(&leaver, &heir);
        let returned = |joined_at| {
            let back = Member { joined_at: Timestamp::from_unix_seconds(joined_at).unwrap(), ..leaver.clone() };
            handover.created_until(&[heir.clone(), back])
        };

        assert_eq!(handover.created_until(std::slice::from_ref(&heir)), handover.caches_expire_at());
        assert_eq!(returned(1_010).unix_seconds(), 1_010);
        assert_eq!(returned(9_000), handover.caches_expire_at());
    }
}
