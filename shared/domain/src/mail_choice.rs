use serde_with::{DeserializeFromStr, SerializeDisplay};
use strum::{Display, EnumString};

use crate::{Invalid, NotificationKind};

/// Which notifications somebody also gets by mail. What was changed of their account is mailed whatever they have chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, SerializeDisplay, DeserializeFromStr, Display, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = Invalid, parse_err_fn = no_choice)]
pub enum MailChoice {
    /// None.
    None,
    /// Those about what doesn't happen every day, and that nobody sees who doesn't look.
    #[default]
    Important,
    /// Each one.
    All,
}

impl MailChoice {
    /// Whether somebody gets notifications of events of this type by mail.
    pub fn includes(self, event_type: &str) -> bool {
        const IMPORTANT: [NotificationKind; 3] =
            [NotificationKind::Problem, NotificationKind::Milestone, NotificationKind::Job];
        match self {
            Self::None => false,
            Self::Important => IMPORTANT.iter().any(|kind| kind.event_types().contains(&event_type)),
            Self::All => true,
        }
    }

    /// Whether it is what applies to whoever hasn't chosen.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn no_choice(_: &str) -> Invalid {
    Invalid::new("mail must be none, important or all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_by_its_name_only() {
        for choice in [MailChoice::None, MailChoice::Important, MailChoice::All] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        for refused in ["", "All", "some", "null"] {
            assert!(refused.parse::<MailChoice>().is_err(), "{refused}");
        }
    }

    #[test]
    fn important_is_what_happens_without_the_person() {
        for (event_type, is_important) in [
            ("milestone.reached", true),
            ("target.down", true),
            ("target.up", true),
            ("url.expired", true),
            ("url.exhausted", true),
            ("job.finished", true),
            ("url.created", false),
            ("url.deleted", false),
            ("url.purged", false),
            ("of.tomorrow", false),
        ] {
            let included =
                [MailChoice::None, MailChoice::Important, MailChoice::All].map(|choice| choice.includes(event_type));
            assert_eq!(included, [false, is_important, true], "{event_type}");
        }
    }
}
