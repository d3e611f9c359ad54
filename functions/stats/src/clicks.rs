//! `GET /api/stats/{code}/clicks`: the latest clicks.

use std::sync::LazyLock;

use linklet_domain::{Audience, Click, ClickId, Client, CountryCode, Device, LinkId, Source, Timestamp};
use linklet_lambda::http::{ApiError, Request, Response, StatusCode, json};
use linklet_user_agents::{Classifier, LoadError};
use serde::Serialize;

use crate::Stats;

/// The classifier, which is loaded by the first request that needs it, since loading delays the start.
static CLASSIFIER: LazyLock<Result<Classifier, LoadError>> = LazyLock::new(Classifier::load);

/// # Errors
/// When it can't be loaded.
pub(crate) fn classifier() -> Result<&'static Classifier, ApiError> {
    CLASSIFIER.as_ref().map_err(|error| ApiError::Internal(Box::new(error)))
}

impl Stats {
    pub(crate) async fn latest_clicks(&self, request: &Request, link: &LinkId) -> Result<Response, ApiError> {
        let limit = request.page_size()?;
        let classifier = classifier()?;
        let clicks = self.clicks.latest(link, limit).await?;
        let clicks = clicks.into_iter().map(|click| ClickView::new(click, classifier)).collect();
        Ok(json(StatusCode::OK, &ClicksView { clicks }))
    }
}

#[derive(Serialize)]
struct ClicksView {
    clicks: Vec<ClickView>,
}

/// A click in the API. The hash of the address is left out, since it would show which clicks come from the same person.
#[derive(Serialize)]
struct ClickView {
    id: ClickId,
    clicked_at: Timestamp,
    audience: Audience,
    device: Device,
    browser: String,
    browser_version: String,
    os: String,
    country: Option<CountryCode>,
    city: Option<String>,
    referer: Option<String>,
    source: &'static str,
    campaign: Option<String>,
    user_agent: String,
}

impl ClickView {
    fn new(click: Click, classifier: &Classifier) -> Self {
        let visitor = click.visitor;
        let client = classifier.classify(&visitor.user_agent);
        let audience = Audience::of(&visitor, &client);
        let source = Source::of(&visitor).as_str();
        let Client { device, browser, version, os } = client;
        Self {
            clicked_at: click.id.at(),
            id: click.id,
            audience,
            device,
            browser,
            browser_version: version,
            os,
            country: visitor.country,
            city: visitor.city,
            referer: visitor.referer,
            source,
            campaign: visitor.campaign.map(|campaign| campaign.to_string()),
            user_agent: visitor.user_agent,
        }
    }
}
