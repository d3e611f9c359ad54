//! Settings from environment variables, read once at start-up.

use std::{env, str::FromStr, time::Duration};

use linklet_domain::OwnAddress;

/// A missing or invalid environment variable; the error names it.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The variable is not set or empty.
    #[error("the environment variable {0} is not set")]
    Missing(&'static str),
    /// The variable's value is invalid.
    #[error("the environment variable {name} is invalid: {reason}")]
    Invalid {
        /// The variable's name.
        name: &'static str,
        /// Why the value is invalid.
        reason: String,
    },
}

/// The value of a required variable.
///
/// # Errors
/// When it is missing or empty.
pub fn required(name: &'static str) -> Result<String, ConfigError> {
    optional(name).ok_or(ConfigError::Missing(name))
}

/// The value of an optional variable; `None` if it is missing or empty.
pub fn optional(name: &'static str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The parsed value of a required variable.
///
/// # Errors
/// When it is missing, empty or invalid.
pub fn parsed<T: FromStr>(name: &'static str) -> Result<T, ConfigError>
where
    T::Err: ToString,
{
    read(name, &required(name)?)
}

/// The parsed value of an optional variable; the default if it is missing or empty.
///
/// # Errors
/// When it is invalid.
pub fn parsed_or_default<T: FromStr + Default>(name: &'static str) -> Result<T, ConfigError>
where
    T::Err: ToString,
{
    optional(name).map_or_else(|| Ok(T::default()), |value| read(name, &value))
}

fn read<T: FromStr>(name: &'static str, value: &str) -> Result<T, ConfigError>
where
    T::Err: ToString,
{
    value.parse().map_err(|error: T::Err| ConfigError::Invalid { name, reason: error.to_string() })
}

/// Reads for how long a new raw click is kept, from `RAW_CLICK_DAYS`.
///
/// # Errors
/// When the variable is absent or not a number of days.
pub fn raw_clicks_lifetime() -> Result<Duration, ConfigError> {
    parsed::<u32>("RAW_CLICK_DAYS").map(|days| Duration::from_secs(86_400) * days)
}

/// Reads for how long an expired link is kept, from `EXPIRED_LINK_HOURS`.
///
/// # Errors
/// When the variable is absent or not a number of hours.
pub fn expired_links_lifetime() -> Result<Duration, ConfigError> {
    parsed::<u32>("EXPIRED_LINK_HOURS").map(|hours| Duration::from_secs(3_600) * hours)
}

/// The environment variables with addresses of the shortener: the base of short URLs, and the API's endpoint.
const OWN_ADDRESSES: [&str; 2] = ["PUBLIC_BASE_URL", "API_ENDPOINT"];

/// Reads the addresses of the shortener itself from the environment.
///
/// # Errors
/// When one of the variables is not a valid URL.
pub fn own_addresses() -> Result<Vec<OwnAddress>, ConfigError> {
    let given = OWN_ADDRESSES.into_iter().filter_map(|name| optional(name).map(|address| (name, address)));
    given.map(|(name, address)| own_address(name, &address)).collect()
}

fn own_address(name: &'static str, address: &str) -> Result<OwnAddress, ConfigError> {
    OwnAddress::parse(address).ok_or_else(|| ConfigError::Invalid { name, reason: "must be a URL".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_address_is_a_url() {
        let address = |text| own_address("PUBLIC_BASE_URL", text);

        assert_eq!(address("https://Go.Example.com/s").ok(), OwnAddress::parse("https://go.example.com/s"));
        let error = address("go.example.com").unwrap_err().to_string();
        assert_eq!(error, "the environment variable PUBLIC_BASE_URL is invalid: must be a URL");
    }

    #[test]
    fn an_error_names_the_variable() {
        let expected = "the environment variable LINKLET_NO_SUCH_SETTING is not set";
        assert_eq!(required("LINKLET_NO_SUCH_SETTING").unwrap_err().to_string(), expected);
        let not_a_number = parsed::<u32>("PATH").unwrap_err().to_string();
        assert!(not_a_number.starts_with("the environment variable PATH is invalid: "), "{not_a_number}");
        assert_eq!(parsed_or_default::<u32>("PATH").unwrap_err().to_string(), not_a_number);
        assert_eq!(parsed_or_default::<u32>("LINKLET_NO_SUCH_SETTING").unwrap(), 0);
    }
}
