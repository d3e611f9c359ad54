//! Who acts.

use std::fmt;

use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::{FullName, Invalid, KeyPrefix, UserId};

/// Who acts. As text it is the id of a person, the prefix of an API key, `operator` or `linklet`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Actor {
    /// A person, in a session or by what they have had mailed.
    Person(UserId),
    /// A program with an API key.
    Key(KeyPrefix),
    /// Whoever runs the system, by a command.
    Operator,
    /// Linklet itself, as a consequence of what somebody has done: the correlation id says of what.
    Linklet,
}

impl Actor {
    const OPERATOR: &'static str = "operator";
    const LINKLET: &'static str = "linklet";

    /// Reads a person's id or a key's prefix, or one of the two that have none.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            Self::OPERATOR => Ok(Self::Operator),
            Self::LINKLET => Ok(Self::Linklet),
            text => {
                let person = UserId::parse(text).map(Self::Person);
                let refused = || Invalid::new("actor must be a user_id, the prefix of an API key, operator or linklet");
                person.or_else(|_| KeyPrefix::parse(text).map(Self::Key)).map_err(|_| refused())
            }
        }
    }

    /// The person, if it is one.
    pub fn person(&self) -> Option<&UserId> {
        match self {
            Self::Person(user) => Some(user),
            Self::Key(_) | Self::Operator | Self::Linklet => None,
        }
    }

    /// What kind of actor it is, by its name in the API.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(user) => user.fmt(formatter),
            Self::Key(prefix) => formatter.write_str(prefix.as_str()),
            Self::Operator | Self::Linklet => formatter.write_str(self.kind()),
        }
    }
}

/// Who has changed something of which others are to hear. As text it is the id of the person, and behind it the prefix of the API key that
/// they have used, if it was one.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Changer {
    /// The person; of an API key, its creator.
    pub user: UserId,
    /// The API key.
    pub key: Option<KeyPrefix>,
    /// What the person is called, as soon as somebody has looked it up. It isn't part of the text.
    pub name: Option<FullName>,
}

impl Changer {
    /// Reads a person's id, and a key's prefix if there is one behind it.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (user, key) = text.split_once(' ').map_or((text, None), |(user, key)| (user, Some(key)));
        Ok(Self { user: UserId::parse(user)?, key: key.map(KeyPrefix::parse).transpose()?, name: None })
    }

    /// A person without an API key.
    pub fn in_person(user: &UserId) -> Self {
        Self { user: *user, key: None, name: None }
    }

    /// As the audit log names them.
    pub fn actor(&self) -> Actor {
        self.key.clone().map_or(Actor::Person(self.user), Actor::Key)
    }

    /// What others call them.
    pub fn called(&self) -> &str {
        self.name.as_ref().map_or("someone else", FullName::as_str)
    }
}

impl fmt::Display for Changer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(formatter, "{} {key}", self.user),
            None => self.user.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_survives_the_text() {
        let user = UserId::generate();
        for actor in [
            Actor::Person(user),
            Actor::Key(KeyPrefix::parse("lk_live_a1B2c3D4").unwrap()),
            Actor::Operator,
            Actor::Linklet,
        ] {
            assert_eq!(Actor::parse(&actor.to_string()), Ok(actor));
        }
        for refused in ["", "ada@example.com", "Operator", "lk_live_"] {
            assert!(Actor::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_changer_written_as_text_is_read_back_without_its_name() {
        let (user, name) = (UserId::generate(), FullName::parse("Ada").ok());
        for key in [None, KeyPrefix::parse("lk_live_a1B2c3D4").ok()] {
            let changer = Changer { user, key, name: name.clone() };

            assert_eq!(Changer::parse(&changer.to_string()), Ok(Changer { name: None, ..changer }));
        }
        assert!(Changer::parse(&format!("{user} Ada")).is_err());
    }
}
