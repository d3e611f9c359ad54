use linklet_domain::{NotificationSubject, OneTimeToken, Report, ReportId, ShortCode, UnsubscribeToken, WorkspaceId};
use linklet_lambda::app;
use linklet_lambda::config::{self, ConfigError};
use linklet_lambda::http::ShortUrls;

/// The addresses that mails contain.
pub struct Addresses {
    short_urls: ShortUrls,
    /// Where people reach the API and the web application.
    base: String,
}

/// The address of a page of the web application, in whose fragment all of it is that is about somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageAddress(String);

impl PageAddress {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A page of the web application that does something with a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Reset,
    Verify,
    FirstPassword,
    Invitation,
    KeepAddress,
}

impl Addresses {
    /// Addresses below `PUBLIC_BASE_URL`, which is optional, or else below `API_ENDPOINT`.
    ///
    /// # Errors
    /// When the endpoint isn't set.
    pub fn from_env() -> Result<Self, ConfigError> {
        let endpoint = config::required("API_ENDPOINT")?;
        Ok(Self::new(config::optional("PUBLIC_BASE_URL").as_deref(), &endpoint))
    }

    /// Addresses below this base, or else below the endpoint of the API.
    pub fn new(public_base: Option<&str>, api_endpoint: &str) -> Self {
        let base = public_base.unwrap_or(api_endpoint).trim_end_matches('/').to_owned();
        Self { short_urls: ShortUrls::new(public_base), base }
    }

    /// A short link as it is shown: its host and its code.
    pub(crate) fn short_link(&self, code: &ShortCode) -> String {
        let short_url = self.short_urls.at_origin(&self.base, code);
        short_url.split_once("://").map_or(short_url.clone(), |(_, shown)| shown.to_owned())
    }

    /// The page of what a notification is about. Whoever follows it may be in another workspace at the moment.
    pub(crate) fn about(&self, workspace: &WorkspaceId, subject: &NotificationSubject) -> PageAddress {
        let page = match subject {
            NotificationSubject::Link(code) => format!("links/{code}"),
            NotificationSubject::Target(id) => format!("monitoring/{id}"),
            NotificationSubject::Job(id) => format!("settings?job={id}"),
        };
        PageAddress(format!("{}/app#/w/{workspace}/{page}", self.base))
    }

    /// The page with the numbers of a report: the overview, or that of its tag.
    pub(crate) fn of_report(&self, report: &Report) -> PageAddress {
        let page = match &report.tag {
            Some(tag) => format!("tags/{}", app::encoded(tag.as_str())),
            None => "overview".to_owned(),
        };
        let Report { report_id, period, .. } = report;
        let days = format!("range=own&from={}&to={}", period.first, period.last);
        PageAddress(format!("{}/app#/w/{}/{page}?{days}", self.base, report_id.workspace))
    }

    /// The page on which somebody gets rid of notifications by mail, or of this report.
    pub(crate) fn unsubscribe(&self, token: &UnsubscribeToken, report: Option<&ReportId>) -> PageAddress {
        let report = report.map(ToString::to_string);
        PageAddress(app::unsubscribe_page(&self.base, token.reveal(), report.as_deref()))
    }

    /// What a mail program calls that has a button for the same (RFC 8058). It is the only address with a token in its query.
    pub(crate) fn one_click(&self, token: &UnsubscribeToken, report: Option<&ReportId>) -> String {
        let report = report.map(|report| format!("&report={report}")).unwrap_or_default();
        format!("{}/api/unsubscribe?token={}{report}", self.base, token.reveal())
    }

    /// The page on which somebody has a token for a new password mailed.
    pub(crate) fn forgot(&self) -> PageAddress {
        PageAddress(format!("{}/app#/forgot", self.base))
    }

    pub(crate) fn page(&self, page: Page, token: &OneTimeToken) -> PageAddress {
        let name = match page {
            Page::Reset => "reset",
            Page::Verify => "verify",
            Page::FirstPassword => "first-password",
            Page::Invitation => "invitation",
            Page::KeepAddress => "keep-address",
        };
        PageAddress(app::page_with_token(&self.base, name, token))
    }
}
