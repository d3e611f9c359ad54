use std::borrow::Cow;

use linklet_domain::{Asker, DestinationName, IpHash, Platform, RedirectTarget, Salt, TargetUrl, Traits, Visitor};
use linklet_visitors::{Bot, BotKind, browser_family, device_of_person, platforms};

use crate::http::{Edge, Request, header};

/// Somebody who asks for a link: the request, and what is needed to know from where it comes.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'a> {
    /// The request.
    pub request: &'a Request,
    /// The salt of hashed addresses.
    pub salt: &'a Salt,
    /// The edge whose headers about visitors are trusted.
    pub edge: Edge,
}

/// Where a visitor is led.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The value of `Location`.
    pub location: String,
    /// What statistics call the destination, if the link has several.
    pub name: Option<DestinationName>,
}

impl Visit<'_> {
    /// Who asks: a machine that opens links of its own accord, or somebody who wants to go there. A browser that fetches ahead is a
    /// machine, since nobody has asked it yet.
    pub fn asker(&self) -> Asker {
        let is_crawler = || Bot::find(&self.user_agent()).is_some_and(|bot| bot.kind == BotKind::Crawler);
        if self.request.is_prefetch() || is_crawler() { Asker::Machine } else { Asker::Person }
    }

    /// What is kept of the visitor with a click that has led them there, or nowhere.
    pub fn visitor(&self, lead: Option<&Lead>) -> Visitor {
        let destination = lead.map(|lead| lead.location.as_str()).unwrap_or_default();
        Visitor::new(self.address())
            .with_headers(
                self.request.header_lossy(header::USER_AGENT).as_deref(),
                self.request.header_lossy(header::REFERER).as_deref(),
            )
            .at_place(self.edge.country(self.request), self.edge.city(self.request).as_deref())
            .prefetching(self.request.is_prefetch())
            .coming_with(self.request.raw_query(), destination)
            .led_to(lead.and_then(|lead| lead.name.clone()))
    }

    /// Where the visitor is led by a link that leads them anywhere.
    pub fn lead(&self, link: &RedirectTarget) -> Lead {
        let Some(routing) = link.routing() else { return self.to(link, &link.target, None) };
        let (user_agent, address) = (self.user_agent(), self.address());
        let visitor = Traits {
            at: self.request.received_at,
            address: &address,
            platforms: platforms_of(&user_agent),
            browser: browser_family(&user_agent),
            accept_language: self.request.header(header::ACCEPT_LANGUAGE).unwrap_or_default(),
            country: self.edge.country(self.request),
            query: self.request.raw_query(),
        };
        match routing.destination(&link.identity.id, &visitor) {
            Some(destination) => self.to(link, destination.url, Some(destination.name)),
            None => self.to(link, &link.target, Some(DestinationName::of_target())),
        }
    }

    fn to(&self, link: &RedirectTarget, url: &TargetUrl, name: Option<DestinationName>) -> Lead {
        let location = match link.forwards_query() && !self.request.raw_query().is_empty() {
            true => url.location_with(self.request.raw_query()),
            false => url.location(),
        };
        Lead { location, name }
    }

    /// The hash of the address, or of the IPv6 network of which one device takes many addresses in turn.
    fn address(&self) -> IpHash {
        IpHash::of_network(&self.edge.address(self.request), self.salt)
    }

    fn user_agent(&self) -> Cow<'_, str> {
        self.request.header_lossy(header::USER_AGENT).unwrap_or_default()
    }
}

/// What the device of a user agent is. A bot has none, whatever it claims.
pub fn platforms_of(user_agent: &str) -> Vec<Platform> {
    match Bot::find(user_agent) {
        Some(_) => Vec::new(),
        None => platforms(user_agent, device_of_person(user_agent)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::GatewayEvent;

    fn visitor_at(address: &str) -> Visitor {
        let mut event = GatewayEvent::default();
        event.headers.insert("cloudfront-viewer-address", format!("{address}:443").parse().unwrap());
        let salt = Salt::parse(&"s".repeat(32)).unwrap();
        Visit { request: &Request::from(event), salt: &salt, edge: Edge::CloudFront }.visitor(None)
    }

    #[test]
    fn addresses_of_an_ipv6_64_are_one_visitor() {
        assert_eq!(visitor_at("2001:db8::1"), visitor_at("2001:db8::ffff:1"));
        assert_ne!(visitor_at("2001:db8::1"), visitor_at("2001:db8:0:1::1"));
        assert_ne!(visitor_at("203.0.113.1"), visitor_at("203.0.113.2"));
        assert_eq!(visitor_at("203.0.113.1"), visitor_at("::ffff:203.0.113.1"));
    }

    #[test]
    fn a_bot_has_no_device_and_a_person_may_have_several() {
        let iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                      Version/18.0 Mobile/15E148 Safari/604.1";

        assert_eq!(platforms_of(iphone), [Platform::Ios, Platform::Mobile]);
        assert_eq!(platforms_of("Googlebot/2.1 (+http://www.google.com/bot.html; Android)"), []);
    }
}
