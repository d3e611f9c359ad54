use linklet_domain::OwnAddress;
use linklet_lambda::config::{self, ConfigError};

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
}
