use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};

use crate::validated::{Hidden, string_newtype};
use crate::{
    Campaign, ClickId, CorrelationId, DestinationName, Event, EventDetail, Invalid, LinkId, RedirectTarget, Source,
    Timestamp, UrlClicked, UserId, WorkspaceId,
};

/// One followed link, as it is stored and counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Click {
    /// Identifies the click through every redelivery, and says when it happened.
    #[serde(rename = "click_id")]
    pub id: ClickId,
    /// The link that was followed.
    #[serde(flatten)]
    pub link: LinkId,
    /// The workspace that the link belongs to.
    #[serde(rename = "workspace_id")]
    pub workspace: WorkspaceId,
    /// Who is told about the link's milestones.
    #[serde(rename = "user_id")]
    pub owner: UserId,
    /// Who followed it.
    #[serde(flatten)]
    pub visitor: Visitor,
    /// The correlation id of the request.
    pub correlation_id: CorrelationId,
}

impl Click {
    /// A click on this link.
    pub fn on(link: &RedirectTarget, at: Timestamp, visitor: Visitor, correlation_id: CorrelationId) -> Self {
        Self {
            id: ClickId::generate(at),
            link: link.identity.id.clone(),
            workspace: link.identity.workspace,
            owner: link.identity.owner,
            visitor,
            correlation_id,
        }
    }

    /// When the link was followed; statistics count by this, not by the time of counting.
    pub fn clicked_at(&self) -> Timestamp {
        self.id.at()
    }

    /// This click as it counts: at its arrival, if it says a time more than five minutes after that, since the clock that it was read
    /// from is wrong then.
    #[must_use]
    pub fn arrived(self, at: Timestamp) -> Self {
        const AHEAD: Duration = Duration::from_mins(5);
        if self.clicked_at() > at.plus(AHEAD) { Self { id: self.id.moved_to(at), ..self } } else { self }
    }

    /// The event `url.clicked` of this click. Its id is the click's, so a click always makes the same event.
    pub fn into_event(self) -> Event {
        Event {
            occurred_at: self.clicked_at(),
            event_id: self.id.into(),
            correlation_id: self.correlation_id,
            workspace_id: self.workspace,
            detail: EventDetail::UrlClicked(UrlClicked { link: self.link, user_id: self.owner, visitor: self.visitor }),
        }
    }

    /// The click of an event `url.clicked`.
    ///
    /// # Errors
    /// The event itself, if it has another type or its id isn't that of a click.
    pub fn from_event(event: Event) -> Result<Self, Box<Event>> {
        match (ClickId::parse(event.event_id.as_str()), event.detail) {
            (Ok(id), EventDetail::UrlClicked(clicked)) => Ok(Self {
                id,
                link: clicked.link,
                workspace: event.workspace_id,
                owner: clicked.user_id,
                visitor: clicked.visitor,
                correlation_id: event.correlation_id,
            }),
            (_, detail) => Err(Box::new(Event { detail, ..event })),
        }
    }
}

/// How the clicks of a link are spread over partitions of their table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// Over so many that reading the latest is cheap, as those of nearly all links.
    #[default]
    Narrow,
    /// Over four times as many, as those of a hot link.
    Wide,
}

impl Spread {
    fn is_narrow(&self) -> bool {
        *self == Self::Narrow
    }
}

/// A click that the table has refused, as a message has it until it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedClick {
    /// The click.
    #[serde(flatten)]
    pub click: Click,
    /// How it was to be stored. The table may have done so in spite of an error, and a click is stored in one place only.
    #[serde(default, skip_serializing_if = "Spread::is_narrow")]
    pub spread: Spread,
}

/// What a request tells about its sender. Items and events have these members beside their own.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visitor {
    /// The salted hash of the address.
    pub ip_hash: IpHash,
    /// The `User-Agent`, cut to 512 bytes; empty if there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user_agent: String,
    /// The `Referer`, cut to 1,024 bytes; `None` if there was none.
    pub referer: Option<String>,
    /// Whether a browser fetched the target ahead of a possible visit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prefetch: bool,
    /// The country, if a trusted edge said so.
    pub country: Option<CountryCode>,
    /// The city, if a trusted edge said so, cut to 64 bytes.
    pub city: Option<String>,
    /// Where they were led, if the link has several destinations.
    pub destination: Option<DestinationName>,
    /// Whether they have scanned the link's QR code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_scanned: bool,
    /// The campaign that they came with, or else the one that the destination names.
    pub campaign: Option<Campaign>,
    /// Whether another system led them, and the click was imported. Nobody is told of a milestone that it reaches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub imported: bool,
}

impl Visitor {
    /// The longest user agent that is kept, in bytes.
    pub const MAX_USER_AGENT: usize = 512;
    /// The longest referrer that is kept, in bytes.
    pub const MAX_REFERER: usize = 1_024;
    /// The longest name of a city that is kept, in bytes.
    pub const MAX_CITY: usize = 64;

    /// A visitor of whom only the address is known.
    pub fn new(ip_hash: IpHash) -> Self {
        Self {
            ip_hash,
            user_agent: String::new(),
            referer: None,
            prefetch: false,
            country: None,
            city: None,
            destination: None,
            has_scanned: false,
            campaign: None,
            imported: false,
        }
    }

    /// Sets user agent and referrer, cut to their limits. A referrer that is neither the address of a page nor an app is left out.
    #[must_use]
    pub fn with_headers(mut self, user_agent: Option<&str>, referer: Option<&str>) -> Self {
        self.user_agent = truncated(user_agent.unwrap_or_default(), Self::MAX_USER_AGENT).to_owned();
        self.referer = referer.and_then(page_or_app).and_then(|page| non_empty(Some(&page), Self::MAX_REFERER));
        self
    }

    /// Sets country and city as a trusted edge reports them.
    #[must_use]
    pub fn at_place(mut self, country: Option<CountryCode>, city: Option<&str>) -> Self {
        self.country = country;
        self.city = non_empty(city, Self::MAX_CITY);
        self
    }

    /// Sets where the visitor was led.
    #[must_use]
    pub fn led_to(mut self, destination: Option<DestinationName>) -> Self {
        self.destination = destination;
        self
    }

    /// Sets what the query of the short link and the address of the destination tell.
    #[must_use]
    pub fn coming_with(mut self, query: &str, destination: &str) -> Self {
        self.has_scanned = Source::is_scan(query);
        self.campaign = Campaign::of_query(query).or_else(|| Campaign::of_url(destination));
        self
    }

    /// Sets whether the request is a prefetch.
    #[must_use]
    pub fn prefetching(mut self, prefetch: bool) -> Self {
        self.prefetch = prefetch;
        self
    }
}

/// The address of a page on the web, without user name and password, or the app that was left, such as
/// `android-app://com.example`. Whoever follows a link can send any text as its referrer, which others see in the statistics.
fn page_or_app(referer: &str) -> Option<Cow<'_, str>> {
    let (scheme, rest) = referer.split_once("://")?;
    let (authority, page) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if let Some(scheme) = ["android-app", "ios-app"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known)) {
        return is_app(authority).then(|| format!("{scheme}://{authority}").into());
    }
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    match authority.rsplit_once('@') {
        Some((_, "")) => None,
        Some((_, host)) => Some(format!("{scheme}://{host}{page}").into()),
        None => (!authority.is_empty()).then_some(referer.into()),
    }
}

/// Whether this is the name of a package of Android, or the number of an app for iPhones.
fn is_app(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn non_empty(text: Option<&str>, bytes: usize) -> Option<String> {
    text.map(|text| truncated(text, bytes)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A country by its two letters (ISO 3166-1 alpha-2).
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct CountryCode(String);

impl CountryCode {
    /// Accepts two letters of any case.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
        Invalid::unless(is_valid, "country must be two letters")?;
        Ok(Self(text.to_ascii_uppercase()))
    }
}

string_newtype!(CountryCode);

/// Cuts at a character boundary, at most `bytes` bytes.
fn truncated(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The secret that keeps hashed addresses from being guessed back.
#[derive(Debug, Clone)]
pub struct Salt(Hidden);

impl Salt {
    /// Accepts at least 32 bytes.
    ///
    /// # Errors
    /// When the text is shorter: all IPv4 addresses can be tried against a weak salt.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Invalid::unless(text.len() >= 32, "the click salt must have at least 32 bytes")?;
        Ok(Self(Hidden(text.to_owned())))
    }
}

impl Salt {
    /// SHA-256 of a text and the salt, in hex.
    pub(crate) fn hash(&self, text: &str) -> String {
        hex::encode(Sha256::new().chain_update(text).chain_update(&self.0.0).finalize())
    }

    /// A key for one purpose. It is the hash of no text: there, the salt comes last.
    pub(crate) fn key_for(&self, purpose: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(&self.0.0).chain_update(purpose).finalize().into()
    }
}

/// SHA-256 of a client address and the salt, in hex. The address itself is never stored or logged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct IpHash(String);

impl IpHash {
    /// Hashes an address.
    pub fn of(address: &str, salt: &Salt) -> Self {
        Self(salt.hash(address))
    }

    /// Accepts 64 hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else, such as an address that nobody hashed.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_valid = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        Invalid::unless(is_valid, "ip_hash must be 64 hexadecimal digits")?;
        Ok(Self(text.to_ascii_lowercase()))
    }
}

impl IpHash {
    /// The 32 bytes of the hash, which take half of the space of its text.
    pub fn to_bytes(&self) -> Vec<u8> {
        hex::decode(&self.0).unwrap_or_default()
    }

    /// The hash with these bytes.
    ///
    /// # Errors
    /// When there are more or fewer than 32.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Invalid> {
        Self::parse(&hex::encode(bytes))
    }
}

string_newtype!(IpHash);

#[cfg(test)]
mod tests {
    use super::*;

    fn salt(letter: char) -> Salt {
        Salt::parse(&letter.to_string().repeat(32)).unwrap()
    }

    #[test]
    fn only_the_address_of_a_page_or_an_app_is_a_referrer() {
        for (sent, kept) in [
            ("https://news.example/a?b#c", Some("https://news.example/a?b#c")),
            ("HTTP://news.example", Some("HTTP://news.example")),
            ("https://user:secret@news.example/a@b", Some("https://news.example/a@b")),
            ("https://user@news.example?x@y", Some("https://news.example?x@y")),
            ("javascript:alert(1)", None),
            ("data:text/html,x", None),
            ("android-app://com.example/", Some("android-app://com.example")),
            ("Android-App://com.example_2.App/https/news.example/a?b", Some("android-app://com.example_2.App")),
            ("ios-app://544007664/vnd.youtube/a", Some("ios-app://544007664")),
            ("android-app:///a", None),
            ("android-app://user@com.example", None),
            ("android-app://com.example:80", None),
            ("other-app://com.example/", None),
            ("https:///a", None),
            ("https://user@/a", None),
            ("news.example/a", None),
            ("", None),
        ] {
            assert_eq!(page_or_app(sent).as_deref(), kept, "{sent}");
        }
    }

    fn click() -> Click {
        Click {
            id: ClickId::generate(Timestamp::parse("2026-03-02T14:05:09.120Z").unwrap()),
            link: LinkId::parse("launch.x7Kf2a").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            visitor: Visitor::new(IpHash::of("203.0.113.9", &salt('a')))
                .with_headers(Some("Mozilla/5.0 (é)"), Some("https://news.example/"))
                .at_place(CountryCode::parse("de").ok(), Some("Köln"))
                .prefetching(true),
            correlation_id: CorrelationId::parse("req-42").unwrap(),
        }
    }

    #[test]
    fn a_click_from_the_future_counts_at_its_arrival() {
        let (click, at) = (click(), |time: &str| Timestamp::parse(time).unwrap());

        for (arrival, counted) in [
            ("2026-03-02T14:00:09.120Z", "2026-03-02T14:05:09.120Z"),
            ("2026-03-02T14:00:09.119Z", "2026-03-02T14:00:09.119Z"),
            ("2026-03-09T00:00:00Z", "2026-03-02T14:05:09.120Z"),
        ] {
            let arrived = click.clone().arrived(at(arrival));
            assert_eq!(arrived.clicked_at(), at(counted), "{arrival}");
            assert_eq!(arrived.id, click.id.moved_to(at(counted)), "the random part tells it from others");
        }
    }

    #[test]
    fn only_a_parked_click_that_is_to_be_stored_wide_says_how() {
        for (spread, told) in [(Spread::Narrow, None), (Spread::Wide, Some("wide"))] {
            let parked = ParkedClick { click: click(), spread };

            let message = serde_json::to_value(&parked).unwrap();

            assert_eq!(message.get("spread").and_then(|spread| spread.as_str()), told);
            assert_eq!(serde_json::from_value::<ParkedClick>(message).unwrap(), parked);
        }
    }

    #[test]
    fn a_click_survives_being_told_as_an_event() {
        let click = click();

        let told = serde_json::to_string(&click.clone().into_event()).unwrap();
        let heard: Event = serde_json::from_str(&told).unwrap();

        assert_eq!(Click::from_event(heard), Ok(click));
    }

    #[test]
    fn the_hash_depends_on_address_and_salt_and_shows_neither() {
        let hash = IpHash::of("203.0.113.9", &salt('a'));

        assert_eq!(hash, IpHash::of("203.0.113.9", &salt('a')));
        assert_ne!(hash, IpHash::of("203.0.113.9", &salt('b')));
        assert_ne!(hash, IpHash::of("203.0.113.8", &salt('a')));
        assert_eq!(IpHash::parse(hash.as_str()), Ok(hash.clone()));
        assert_eq!(IpHash::from_bytes(&hash.to_bytes()), Ok(hash));
        assert!(IpHash::parse("203.0.113.9").is_err());
    }

    #[test]
    fn a_short_salt_is_refused_and_none_is_printed() {
        assert!(Salt::parse("too short").is_err());
        assert_eq!(format!("{:?}", salt('a')), "Salt(…)");
    }

    #[test]
    fn headers_are_cut_at_a_character_boundary() {
        assert_eq!(truncated("aü", 2), "a");
        assert_eq!(truncated("aü", 3), "aü");
        assert_eq!(truncated(&"x".repeat(600), Visitor::MAX_USER_AGENT).len(), 512);
    }

    #[test]
    fn a_country_is_two_letters() {
        assert_eq!(CountryCode::parse("de").unwrap().as_str(), "DE");
        for refused in ["", "D", "DEU", "D1", "ü"] {
            assert!(CountryCode::parse(refused).is_err(), "{refused}");
        }
    }
}
