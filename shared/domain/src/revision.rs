use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

/// How often something was changed since it was made. Who changes it can say which revision is meant, and so never overwrites what
/// somebody else has changed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(u64);

impl Revision {
    /// What has never been changed.
    pub const FIRST: Self = Self(0);

    /// Whether nothing has changed.
    pub fn is_first(&self) -> bool {
        *self == Self::FIRST
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Reads the form that [`fmt::Display`] writes; `None` for any other.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self).filter(|revision| revision.to_string() == text)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Which revisions a change is meant for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Precondition {
    /// Whichever there is.
    #[default]
    None,
    /// One of these. If there are none, the change is meant for what isn't there any more.
    OneOf(BTreeSet<Revision>),
}

impl Precondition {
    /// Whether the change may be made to this revision.
    pub fn admits(&self, revision: Revision) -> bool {
        match self {
            Self::None => true,
            Self::OneOf(revisions) => revisions.contains(&revision),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_form_that_is_written_is_a_revision() {
        assert_eq!(Revision::parse("12"), Some(Revision(12)));
        for text in ["", "012", "+1", "-1", " 1", "1.0", "18446744073709551616"] {
            assert_eq!(Revision::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_change_for_no_revision_is_never_made() {
        assert!(Precondition::None.admits(Revision::FIRST));
        assert!(!Precondition::OneOf(BTreeSet::new()).admits(Revision::FIRST));
        assert!(Precondition::OneOf([Revision(1), Revision(3)].into()).admits(Revision(3)));
    }
}
