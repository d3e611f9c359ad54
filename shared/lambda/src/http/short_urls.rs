use linklet_domain::ShortCode;

use super::Request;

/// Builds the address under which people follow a link.
#[derive(Debug, Clone)]
pub struct ShortUrls {
    public_base: Option<String>,
}

impl ShortUrls {
    /// With the configured base, such as `https://go.example.com`; without one, the address under which the request reached
    /// us and `/r`.
    #[must_use]
    pub fn new(public_base: Option<&str>) -> Self {
        Self { public_base: public_base.map(|base| base.trim_end_matches('/').to_owned()) }
    }

    /// The short URL of a code.
    #[must_use]
    pub fn of(&self, request: &Request, code: &ShortCode) -> String {
        match &self.public_base {
            Some(base) => format!("{base}/{code}"),
            None => format!("{}/r/{code}", request.origin()),
        }
    }

    /// The hosts that lead to us.
    pub fn own_hosts<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = &'a str> {
        let configured = self.public_base.as_deref().map(|base| {
            let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
            authority.split_once('/').map_or(authority, |(host, _)| host)
        });
        configured.into_iter().chain([request.host()])
    }
}
