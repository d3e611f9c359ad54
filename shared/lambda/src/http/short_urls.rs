use linklet_domain::ShortCode;

use super::Request;
use crate::config;

/// Builds short URLs.
#[derive(Debug, Clone)]
pub struct ShortUrls {
    public_base: Option<String>,
    api_endpoint: Option<String>,
}

impl ShortUrls {
    /// Short URLs with the base in `PUBLIC_BASE_URL` and the API's own address in `API_ENDPOINT`. Both variables are optional.
    #[must_use]
    pub fn from_env() -> Self {
        Self::new(config::optional("PUBLIC_BASE_URL").as_deref()).with_api_endpoint(config::optional("API_ENDPOINT"))
    }

    /// Short URLs with this base, such as `https://go.example.com`. Without one, the base is the origin of the request and `/r`.
    #[must_use]
    pub fn new(public_base: Option<&str>) -> Self {
        Self { public_base: public_base.map(|base| base.trim_end_matches('/').to_owned()), api_endpoint: None }
    }

    /// Adds the default endpoint of the API to [`Self::own_hosts`].
    #[must_use]
    pub fn with_api_endpoint(self, api_endpoint: Option<String>) -> Self {
        Self { api_endpoint, ..self }
    }

    /// The short URL for a code.
    #[must_use]
    pub fn of(&self, request: &Request, code: &ShortCode) -> String {
        match &self.public_base {
            Some(base) => format!("{base}/{code}"),
            None => format!("{}/r/{code}", request.origin()),
        }
    }

    /// The hosts of the shortener itself: those of the configured base, the API's default endpoint and the request.
    pub fn own_hosts<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = &'a str> {
        [self.public_base.as_deref(), self.api_endpoint.as_deref()]
            .into_iter()
            .flatten()
            .map(authority)
            .chain([request.host()])
    }
}

/// The authority of a URL: host and port.
fn authority(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(authority, _)| authority)
}
