use linklet_domain::{CanonicalUrl, Host, TargetUrl};
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

/// Reads the hosts of the shortener itself from the environment.
///
/// # Errors
/// When one of the variables is not a valid URL.
pub fn own_hosts() -> Result<Vec<Host>, ConfigError> {
    let given = OWN_ADDRESSES.into_iter().filter_map(|name| config::optional(name).map(|address| (name, address)));
    given.map(|(name, address)| host_of(name, &address)).collect()
}

fn host_of(name: &'static str, address: &str) -> Result<Host, ConfigError> {
    let canonical = TargetUrl::parse(address).and_then(|url| CanonicalUrl::of(&url));
    canonical.map(|url| url.host()).map_err(|error| ConfigError::Invalid { name, reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorteners_own_hosts_are_those_of_its_addresses() {
        let host = |address| host_of("PUBLIC_BASE_URL", address);

        assert_eq!(host("https://Go.Example.com:8443/s").unwrap(), Host::parse("go.example.com").unwrap());
        let error = host("go.example.com").unwrap_err().to_string();
        assert_eq!(error, "the environment variable PUBLIC_BASE_URL is invalid: url must include scheme and host");
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
