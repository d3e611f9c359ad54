use serde::{Deserialize, Serialize};

use crate::{Invalid, NotificationKind, validated::as_text};

/// Which notifications somebody also gets by mail. What was changed of their account is mailed whatever they have chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(try_from = "String", into = "String")]
#[strum(serialize_all = "lowercase")]
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
    /// Parses a choice's name.
    ///
    /// # Errors
    /// When there is no such choice.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        [Self::None, Self::Important, Self::All]
            .into_iter()
            .find(|choice| choice.as_str() == text)
            .ok_or_else(|| Invalid::new("mail must be none, important or all"))
    }

    /// The choice's name in the API.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

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

as_text!(MailChoice, value => value.as_str().to_owned());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_by_its_name_only() {
        for choice in [MailChoice::None, MailChoice::Important, MailChoice::All] {
            assert_eq!(MailChoice::parse(choice.as_str()), Ok(choice));
        }
        for refused in ["", "All", "some", "null"] {
            assert!(MailChoice::parse(refused).is_err(), "{refused}");
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
