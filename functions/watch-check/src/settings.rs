use linklet_domain::{CanonicalUrl, Host, TargetUrl};
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

/// Where the shortener itself answers: the base of short links, and the API's own address.
const OWN_ADDRESSES: [&str; 2] = ["PUBLIC_BASE_URL", "API_ENDPOINT"];

/// The hosts of the shortener itself, as far as the environment knows them.
///
/// # Errors
/// When one of the variables is no URL.
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
                "the environment variable WATCH_ALLOW_LOOPBACK is invalid: only yes-for-tests has a meaning"
            );
        }
    }
}
