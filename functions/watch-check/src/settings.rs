use linklet_domain::OwnAddress;
use linklet_lambda::config::{self, ConfigError};

use crate::Reach;

/// The environment variable that allows connections to loopback addresses. The template doesn't set it.
const ALLOW_LOOPBACK: &str = "WATCH_ALLOW_LOOPBACK";

/// The only value of [`ALLOW_LOOPBACK`] that has an effect. It is long, so that nobody sets it by mistake.
const YES: &str = "yes-for-tests";

impl Reach {
    /// Reads the reach from the environment: [`Reach::Public`], or with `WATCH_ALLOW_LOOPBACK=yes-for-tests`
    /// [`Reach::PublicAndLoopback`], which is logged as a warning.
    ///
    /// # Errors
    /// When the variable has another value.
    pub fn from_env() -> Result<Self, ConfigError> {
        let reach = Self::of(config::optional(ALLOW_LOOPBACK).as_deref())?;
        if reach != Self::Public {
            tracing::warn!(
                variable = ALLOW_LOOPBACK,
                "checks may connect to loopback addresses; never set this outside of tests"
            );
        }
        Ok(reach)
    }

    fn of(value: Option<&str>) -> Result<Self, ConfigError> {
        match value {
            None => Ok(Self::Public),
            Some(YES) => Ok(Self::PublicAndLoopback),
            Some(_) => Err(ConfigError::Invalid { name: ALLOW_LOOPBACK, reason: format!("must be {YES} or empty") }),
        }
    }
}

/// The environment variables with addresses of the shortener: the base of short URLs, and the API's endpoint.
const OWN_ADDRESSES: [&str; 2] = ["PUBLIC_BASE_URL", "API_ENDPOINT"];

/// Reads the addresses of the shortener itself from the environment.
///
/// # Errors
/// When one of the variables is not a valid URL.
pub fn own_addresses() -> Result<Vec<OwnAddress>, ConfigError> {
    let given = OWN_ADDRESSES.into_iter().filter_map(|name| config::optional(name).map(|address| (name, address)));
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
    fn only_the_exact_words_allow_loopback() {
        assert_eq!(Reach::of(None).unwrap(), Reach::Public);
        assert_eq!(Reach::of(Some("yes-for-tests")).unwrap(), Reach::PublicAndLoopback);
        for other in ["yes", "true", "1", "no", "YES-FOR-TESTS"] {
            let error = Reach::of(Some(other)).unwrap_err().to_string();
            assert_eq!(
                error,
                "the environment variable WATCH_ALLOW_LOOPBACK is invalid: must be yes-for-tests or empty"
            );
        }
    }
}
