use linklet_lambda::config::{self, ConfigError};

use crate::Reach;

/// Lets checks reach servers on the same machine. The template never sets it.
const ALLOW_LOOPBACK: &str = "WATCH_ALLOW_LOOPBACK";

/// Its one value: longer than a slip of the hand.
const YES: &str = "yes-for-tests";

impl Reach {
    /// How far the environment lets checks reach: [`Reach::Public`], unless `WATCH_ALLOW_LOOPBACK` is `yes-for-tests`. That is
    /// logged as a warning.
    ///
    /// # Errors
    /// When the variable has another value.
    pub fn from_env() -> Result<Self, ConfigError> {
        let reach = Self::of(config::optional(ALLOW_LOOPBACK).as_deref())?;
        if reach != Self::Public {
            tracing::warn!(variable = ALLOW_LOOPBACK, "checks may reach this machine; never set this outside of tests");
        }
        Ok(reach)
    }

    fn of(value: Option<&str>) -> Result<Self, ConfigError> {
        match value {
            None => Ok(Self::Public),
            Some(YES) => Ok(Self::PublicAndLoopback),
            Some(_) => Err(ConfigError::Invalid { name: ALLOW_LOOPBACK, reason: format!("only {YES} has a meaning") }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_words_allow_loopback() {
        assert_eq!(Reach::of(None).unwrap(), Reach::Public);
        assert_eq!(Reach::of(Some("yes-for-tests")).unwrap(), Reach::PublicAndLoopback);
        for other in ["yes", "true", "1", "no", "YES-FOR-TESTS"] {
            let error = Reach::of(Some(other)).unwrap_err().to_string();
            assert_eq!(
                error,
                "the environment variable WATCH_ALLOW_LOOPBACK is invalid: only yes-for-tests has a meaning"
            );
        }
    }
}
