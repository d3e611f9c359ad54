//! `GET /api/links/{code}/rules` and `POST /api/links/{code}/rules/test`: where a link leads whom.

use linklet_domain::{
    BrowserFamily, CountryCode, DestinationName, IpHash, Link, Platform, Routing, Salt, TargetUrl, Timestamp, Traits,
    optional,
};
use linklet_lambda::following::platforms_of;
use linklet_lambda::http::{Request, Response, Result, StatusCode, json, tagged};
use linklet_lambda::identity::Caller;
use linklet_lambda::rules::{GivenRules, RulesView};
use linklet_visitors::browser_family;
use serde::{Deserialize, Serialize};

use crate::List;

impl List {
    pub(crate) async fn rules(&self, caller: &Caller, code: &str) -> Result<Response> {
        let link = self.link(caller, code).await?;
        let view = RulesView::new(link.routing.as_ref(), self.edge);
        Ok(tagged(json(StatusCode::OK, &view), &link.id().generation, link.revision))
    }

    /// Tells where a link, or one with other rules and variants, would lead a visitor. Nothing is counted.
    pub(crate) async fn try_rules(&self, request: &Request, caller: &Caller, code: &str) -> Result<Response> {
        let body = request.large_json_object()?;
        let (given, Body { visitor }) = (body.read::<GivenRules>()?, body.read()?);
        let visitor = visitor.unwrap_or_default();
        let link = self.link(caller, code).await?;
        let routing = match given.is_given() {
            true => given.into_routing()?,
            false => link.routing.clone(),
        };
        Ok(json(StatusCode::OK, &visitor.led_by(&link, routing.as_ref(), request.received_at)?))
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "optional")]
    visitor: Option<TriedVisitor>,
}

/// Somebody of whom it is asked where they would be led.
#[serde_with::apply(Option => #[serde(deserialize_with = "optional")])]
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TriedVisitor {
    at: Option<Timestamp>,
    user_agent: Option<String>,
    device: Option<Platform>,
    browser: Option<BrowserFamily>,
    language: Option<String>,
    country: Option<CountryCode>,
    query: Option<String>,
    address: Option<String>,
}

impl TriedVisitor {
    fn led_by<'a>(&'a self, link: &'a Link, routing: Option<&'a Routing>, now: Timestamp) -> Result<Verdict<'a>> {
        let user_agent = self.user_agent.as_deref().unwrap_or_default();
        // Only a text that is the same has to be the same visitor, so a salt that everybody knows will do.
        let salt = Salt::parse("a visitor who is tried, not a person")?;
        let address = IpHash::of_network(self.address.as_deref().unwrap_or_default(), &salt);
        let mut platforms = if user_agent.is_empty() { Vec::new() } else { platforms_of(user_agent) };
        platforms.extend(self.device.into_iter().flat_map(Platform::with_its_kind));
        let visitor = Traits {
            at: self.at.unwrap_or(now),
            address: &address,
            platforms,
            browser: self.browser.or_else(|| browser_family(user_agent)),
            accept_language: self.language.as_deref().unwrap_or_default(),
            country: self.country.clone(),
            query: self.query.as_deref().unwrap_or_default().trim_start_matches('?'),
        };
        let chosen = routing.and_then(|routing| routing.destination(link.id(), &visitor));
        Ok(match chosen {
            Some(chosen) => Verdict {
                url: chosen.url,
                name: chosen.name,
                rule: chosen.rule.map(|position| position + 1),
                variant: chosen.variant.map(|position| position + 1),
            },
            None => Verdict { url: &link.target, name: DestinationName::of_target(), rule: None, variant: None },
        })
    }
}

#[derive(Serialize)]
struct Verdict<'a> {
    url: &'a TargetUrl,
    name: DestinationName,
    rule: Option<usize>,
    variant: Option<usize>,
}
