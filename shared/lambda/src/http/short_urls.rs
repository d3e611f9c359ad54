use linklet_domain::{Invalid, LogoId, OwnAddress, Preview, ShortCode, TargetUrl};

use super::Request;
use crate::config;

/// Builds short URLs, and recognises the shortener's own addresses.
#[derive(Debug, Clone)]
pub struct ShortUrls {
    public_base: Option<String>,
    /// The addresses in the configuration: the base, and the API's default endpoint.
    own: Vec<OwnAddress>,
}

impl ShortUrls {
    /// Short URLs with the base in `PUBLIC_BASE_URL` and the API's own address in `API_ENDPOINT`. Both variables are optional.
    pub fn from_env() -> Self {
        Self::new(config::optional("PUBLIC_BASE_URL").as_deref())
            .with_api_endpoint(config::optional("API_ENDPOINT").as_deref())
    }

    /// Short URLs with this base, such as `https://go.example.com`. Without one, the base is the origin of the request and `/r`.
    pub fn new(public_base: Option<&str>) -> Self {
        Self {
            public_base: public_base.map(|base| base.trim_end_matches('/').to_owned()),
            own: public_base.and_then(OwnAddress::parse).into_iter().collect(),
        }
    }

    /// Adds the default endpoint of the API to the addresses that [`Self::refuse_own`] knows.
    #[must_use]
    pub fn with_api_endpoint(mut self, api_endpoint: Option<&str>) -> Self {
        self.own.extend(api_endpoint.and_then(OwnAddress::parse));
        self
    }

    /// The short URL for a code.
    pub fn of(&self, request: &Request, code: &ShortCode) -> String {
        self.at(|| request.origin(), code)
    }

    /// What addresses of the web application begin with.
    pub fn base(&self, request: &Request) -> String {
        self.public_base.clone().unwrap_or_else(|| request.origin().trim_end_matches('/').to_owned())
    }

    /// The address of a logo.
    pub fn of_logo(&self, request: &Request, id: &LogoId) -> String {
        format!("{}/api/logos/{id}", self.base(request))
    }

    /// The short URL for a code outside a request, for an API that is reached at this origin.
    pub fn at_origin(&self, origin: &str, code: &ShortCode) -> String {
        self.at(|| origin.trim_end_matches('/').to_owned(), code)
    }

    fn at(&self, origin: impl FnOnce() -> String, code: &ShortCode) -> String {
        match &self.public_base {
            Some(base) => format!("{base}/{code}"),
            None => format!("{}/r/{code}", origin()),
        }
    }

    /// Refuses a URL that leads to the shortener itself: below the configured base, to the API's default endpoint, or to where
    /// the client reached us.
    ///
    /// # Errors
    /// When it does. The error names this member of the request.
    pub fn refuse_own(&self, request: &Request, member: &str, url: &TargetUrl) -> Result<(), Invalid> {
        url.refuse_own(self.own.iter().chain(&self.reached(request))).map_err(|rule| {
            let sentence = if member == "url" {
                "you can't shorten a Linklet link".to_owned()
            } else {
                format!("{member} {rule}")
            };
            Invalid::new(sentence).in_field(member)
        })
    }

    /// Refuses a preview whose image is at the shortener itself.
    ///
    /// # Errors
    /// When it is.
    pub fn refuse_own_image(&self, request: &Request, preview: Option<&Preview>) -> Result<(), Invalid> {
        let Some(image) = preview.and_then(|preview| preview.image.as_ref()) else { return Ok(()) };
        self.refuse_own(request, "preview.image", image).map_err(|refused| refused.in_field("preview"))
    }

    /// The code of the link whose whole short URL a text is, at any of these addresses.
    pub fn code_in(&self, request: &Request, text: &str) -> Option<ShortCode> {
        self.own.iter().chain(&self.reached(request)).find_map(|address| address.code_in(text))
    }

    /// Where the client reached us, if the configuration doesn't know.
    fn reached(&self, request: &Request) -> Option<OwnAddress> {
        // Behind an emulator, the server has other paths than ours, and the configured base says which are.
        let is_unknown = |address: &OwnAddress| !self.own.iter().any(|known| known.is_same_server(address));
        OwnAddress::parse(&request.origin()).filter(is_unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::GatewayEvent;

    fn reached_at(host: &str, scheme: &str) -> Request {
        let mut event = GatewayEvent::default();
        event.headers.insert("host", host.parse().unwrap());
        event.headers.insert("x-forwarded-proto", scheme.parse().unwrap());
        event.into()
    }

    fn is_own(short_urls: &ShortUrls, request: &Request, url: &str) -> bool {
        short_urls.refuse_own(request, "url", &TargetUrl::parse(url).unwrap()).is_err()
    }

    #[test]
    fn base_endpoint_and_host_of_the_request_are_own_addresses() {
        let endpoint = "https://abc123.execute-api.eu-central-1.amazonaws.com";
        let short_urls = ShortUrls::new(Some("https://go.example.com")).with_api_endpoint(Some(endpoint));
        let request = reached_at("api.example.com", "https");

        for own in ["https://GO.example.com./a", endpoint, "https://api.example.com/launch", "http://api.example.com"] {
            assert!(is_own(&short_urls, &request, own), "{own}");
        }
        for other in ["https://example.com/", "https://go.example.com:8443/", "https://api.example.com:8443/"] {
            assert!(!is_own(&short_urls, &request, other), "{other}");
        }
    }

    #[test]
    fn a_short_url_is_recognised_wherever_the_link_may_be_reached() {
        let code = |base: Option<&str>, text: &str| {
            let found = ShortUrls::new(base).code_in(&reached_at("api.example.com", "https"), text);
            found.map(|code| code.to_string())
        };
        let base = Some("https://go.example.com/s");
        for text in [
            "https://go.example.com/s/launch",
            " http://GO.example.com/s/launch/?a=b#c ",
            "go.example.com/s/launch.",
            "https://api.example.com/r/launch",
            "api.example.com/launch",
            "\u{FEFF}https://go.example.com/s/r/launch\u{200B}",
        ] {
            assert_eq!(code(base, text).as_deref(), Some("launch"), "{text:?}");
        }
        for text in [
            "launch",
            "https://go.example.com/launch",
            "https://go.example.com/s/",
            "https://example.com/launch",
            "api.example.com:8443/launch",
            "api.example.com/launch/qr",
            "api.example.com/api",
        ] {
            assert_eq!(code(base, text), None, "{text:?}");
        }
        assert_eq!(code(None, "https://api.example.com/r/launch").as_deref(), Some("launch"));
    }

    #[test]
    fn behind_an_emulator_only_the_paths_of_the_api_are_own_addresses() {
        let base = "http://127.0.0.1:4566/_aws/execute-api/c0ffee00";
        let endpoint = "http://c0ffee00.execute-api.localhost:4566";
        let short_urls = ShortUrls::new(Some(base)).with_api_endpoint(Some(endpoint));

        for host in ["127.0.0.1:4566", "localhost:4566", "c0ffee00.execute-api.localhost:4566"] {
            let request = reached_at(host, "http");
            assert!(is_own(&short_urls, &request, &format!("{base}/launch")), "{host}");
            assert!(is_own(&short_urls, &request, "http://localhost:4566/_aws/execute-api/c0ffee00/launch"), "{host}");
            assert!(is_own(&short_urls, &request, &format!("{endpoint}/launch")), "{host}");
            assert!(!is_own(&short_urls, &request, "http://127.0.0.1:4566/other"), "{host}");
            assert!(!is_own(&short_urls, &request, "http://127.0.0.1:8000/_aws/execute-api/c0ffee00/launch"), "{host}");
        }
    }
}
