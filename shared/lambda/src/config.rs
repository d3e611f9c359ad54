//! Settings from environment variables, read once at start-up.

use std::{env, str::FromStr};

/// A setting that is missing or makes no sense. It names the variable, so the log tells what to fix.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// The variable's value can't be read.
    #[error("the environment variable {name} is invalid: {reason}")]
    Invalid {
        /// Which variable.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// The value of a variable that must be there.
///
/// # Errors
/// When it is missing or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    optional(name).ok_or(ConfigError::Missing(name))
}

/// The value of a variable that may be missing or empty.
#[must_use]
pub fn optional(name: &'static str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The value of a variable that must be there and have the right form.
///
/// # Errors
/// When it is missing or has another form.
pub fn parsed<T: FromStr>(name: &'static str) -> Result<T, ConfigError>
where
    T::Err: ToString,
{
    required(name)?.parse().map_err(|error: T::Err| ConfigError::Invalid { name, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_variable() {
        assert_eq!(
            required("LINKLET_NO_SUCH_SETTING").unwrap_err().to_string(),
            "the environment variable LINKLET_NO_SUCH_SETTING is not set"
        );
        let not_a_number = parsed::<u32>("PATH").unwrap_err().to_string();
        assert!(not_a_number.starts_with("the environment variable PATH is invalid: "), "{not_a_number}");
    }
}
