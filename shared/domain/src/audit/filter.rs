//! Which part of an audit log somebody reads.

use super::{Actor, AuditAction};
use crate::{Invalid, Timestamp};

/// Which actions somebody wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionFilter {
    /// This one.
    One(AuditAction),
    /// All about the same: the part before the dot.
    Group(&'static str),
}

impl ActionFilter {
    /// Reads the name of an action, or the part before the dot for all that begin with it.
    ///
    /// # Errors
    /// When no action is called so.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let group = || AuditAction::ALL.iter().map(|action| action.group()).find(|group| *group == text);
        let filter = text.parse().ok().map(Self::One).or_else(|| group().map(Self::Group));
        filter.ok_or_else(|| {
            Invalid::new("action must be an action, such as member.removed, or what comes before its dot")
        })
    }
}

/// Which entries of an audit log somebody wants to see: those of which all is true that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// None before this time.
    pub from: Option<Timestamp>,
    /// None after this time.
    pub to: Option<Timestamp>,
    /// Those of this actor.
    pub actor: Option<Actor>,
    /// Of these actions.
    pub action: Option<ActionFilter>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_an_action_or_what_comes_before_its_dot() {
        assert_eq!(ActionFilter::parse("member.left"), Ok(ActionFilter::One(AuditAction::MemberLeft)));
        assert_eq!(ActionFilter::parse("member"), Ok(ActionFilter::Group("member")));
        for refused in ["", "member.", "mem", "MEMBER", "member.left.now"] {
            assert!(ActionFilter::parse(refused).is_err(), "{refused}");
        }
    }
}
