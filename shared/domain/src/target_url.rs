use std::borrow::Cow;

use serde_with::{DeserializeFromStr, SerializeDisplay};
use url::{Host, Position, Url};

use crate::uri::encode_tail;
use crate::validated::{is_bidi_control, refuse, string_newtype};
use crate::{Invalid, OwnAddress};

/// The destination of a short link, or a URL to monitor: an http or https URL, kept exactly as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct TargetUrl(String);

impl TargetUrl {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 2_048;

    /// Maximum length of its location in bytes, in which other characters than those of a URI are encoded. Clients and API Gateway limit
    /// headers.
    pub const MAX_LOCATION: usize = 8_000;

    /// Parses an absolute http or https URL with a host, without credentials, of at most 2,048 characters. White space and
    /// invisible characters around it, which come along when somebody copies a URL, are trimmed.
    ///
    /// # Errors
    /// When the text is anything else; the error names the rule.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::parse_as("url", text)
    }

    /// Parses a URL that requests have under another name than `url`, which errors then name.
    pub(crate) fn parse_as(member: &str, text: &str) -> Result<Self, Invalid> {
        Self::accept(text).map_err(|rule| Invalid::new(format!("{member} {rule}")))
    }

    /// The URL, or the rest of a sentence that begins with the name of its member.
    fn accept(text: &str) -> Result<Self, Cow<'static, str>> {
        let text = pasted(text);
        if let Some(scheme) = other_scheme_of(text) {
            return Err(format!("must begin with http:// or https://, not {scheme}:").into());
        }
        Ok(Self::accept_of_web(text)?)
    }

    fn accept_of_web(text: &str) -> Result<Self, &'static str> {
        refuse(text.is_empty(), "is required")?;
        refuse(text.chars().count() > Self::MAX_LENGTH, "must have at most 2,048 characters")?;
        let has_control = text.chars().any(|character| character.is_control() || is_noncharacter(character));
        refuse(has_control, "must not contain control characters")?;
        refuse(text.contains(is_bidi_control), "must not contain characters that change the direction of text")?;
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("must include scheme and host");
        };
        // The URL parser would accept `https:///example.com` and correct it, but the URL is passed on as it was given.
        refuse(authority_in(rest).is_empty(), "must include scheme and host")?;
        refuse(!is_of_web(scheme), "must begin with http:// or https://")?;
        let authority = authority_in(rest);
        // The URL parser reads `http://http://example.com` as a path on the host `http`.
        let has_another = ["http:", "https:"].iter().any(|scheme| authority.eq_ignore_ascii_case(scheme));
        refuse(has_another, "must include its scheme only once")?;
        // Each redirect calls this function, so the costly parser only sees hosts that may be invalid.
        if !is_plain_domain(authority) {
            let url = Url::parse(text).map_err(|_| "is not a valid URL")?;
            check_host(authority, &url)?;
        }
        // Checked in the text, since the parsed URL doesn't contain empty credentials.
        refuse(authority.contains('@'), "must not contain credentials")?;
        let url = Self(text.to_owned());
        // Encoding makes three bytes of one, so a redirect needn't encode a short URL to know.
        let is_too_long = text.len() > Self::MAX_LOCATION / 4 && url.location().len() > Self::MAX_LOCATION;
        refuse(is_too_long, "must have at most 8,000 bytes when it is percent-encoded")?;
        Ok(url)
    }

    /// Refuses a URL that points to the shortener itself, which could cause a redirect loop.
    ///
    /// # Errors
    /// When the URL leads to one of these addresses: the rest of a sentence that begins with the name of its member.
    pub fn refuse_own<'a>(&self, own: impl IntoIterator<Item = &'a OwnAddress>) -> Result<(), &'static str> {
        let url = self.url();
        let leads_to = |address: &OwnAddress| url.as_ref().is_some_and(|url| address.is_address_of(url));
        refuse(own.into_iter().any(leads_to), "must not be a Linklet link")
    }

    /// The URL for a `Location` header, which is a URI ([RFC 9110, 10.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.2)). A
    /// valid one stays as it was given, byte for byte.
    ///
    /// Browsers read a backslash before the query as a slash, and other clients don't, so that `https://example.com\@evil.example`
    /// would lead to different hosts.
    pub fn location(&self) -> String {
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let authority = authority_in(rest);
        let tail = encode_tail(&rest[authority.len()..]);
        if authority.is_ascii() {
            return format!("{scheme}://{authority}{tail}");
        }
        let url = self.url();
        let in_ascii = url.as_ref().map_or(authority, |url| &url[Position::BeforeHost..Position::AfterPort]);
        format!("{scheme}://{in_ascii}{tail}")
    }

    /// The host, for people who needn't see the rest.
    pub fn host(&self) -> String {
        let parsed = self.url().and_then(|url| url.host_str().map(str::to_owned));
        // A plain domain was accepted without the parser.
        let accepted = || self.0.split_once("://").map(|(_, rest)| authority_in(rest).to_owned());
        parsed.or_else(accepted).unwrap_or_default()
    }

    fn url(&self) -> Option<Url> {
        Url::parse(&self.0).ok()
    }
}

/// The host of a URL, with what else is before its path, in what follows its scheme.
fn authority_in(rest: &str) -> &str {
    rest.split(['/', '\\', '?', '#']).next().unwrap_or_default()
}

/// A text without what comes along when somebody copies it from a page or a document.
pub(crate) fn pasted(text: &str) -> &str {
    text.trim_matches(|character| is_space(character) || is_invisible(character))
}

/// White space that a URL may have around it. A control character that Unicode calls white space isn't meant.
fn is_space(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r') || character.is_whitespace() && !character.is_control()
}

/// Whether a character shows nothing around others. One that changes the look of the character before it isn't meant: a variation
/// selector or a tag at the end of an emoji belongs to the URL.
///
/// They are listed here, since redirect calls this function, and Unicode's table would make it larger.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}'
            | '\u{61C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFF8}'
    )
}

fn is_of_web(scheme: &str) -> bool {
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// The scheme of a URL that isn't one of the web, if it certainly has one. What is before a colon may also be a host, and what
/// follows its port.
fn other_scheme_of(text: &str) -> Option<String> {
    const LONGEST: usize = 20;
    const OF_NUMBERS: [&str; 2] = ["tel", "sms"];
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.len() <= LONGEST
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-'));
    if !is_scheme || is_of_web(scheme) {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let is_port = authority_in(rest).bytes().all(|byte| byte.is_ascii_digit()) && !rest.starts_with("//");
    (!is_port || OF_NUMBERS.contains(&scheme.as_str())).then_some(scheme)
}

/// Checks what the URL standard leaves to the resolver: a name that DNS can't have (RFC 1035, 2.3.4) leads nowhere, and a host
/// in percent-encoding hides where it leads.
fn check_host(authority: &str, url: &Url) -> Result<(), &'static str> {
    refuse(authority.contains('%'), "must not have a percent-encoded host")?;
    let Some(Host::Domain(domain)) = url.host() else { return Ok(()) };
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    refuse(domain.len() > MAX_DOMAIN, "must have a host of at most 253 characters")?;
    let fits = |label: &str| (1..=MAX_LABEL).contains(&label.len());
    refuse(!domain.split('.').all(fits), "must have a host whose labels have 1–63 characters")?;
    // An underscore is no host's in theory (RFC 952), but in practice. The URL standard allows `*` and others.
    let is_label = |label: &str| label.bytes().all(in_label) && !label.starts_with('-');
    refuse(!domain.split('.').all(is_label), "must have a host of letters, digits and inner hyphens")
}

/// Whether labels of a domain name have such characters, in ASCII.
fn in_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Maximum length of a domain name in characters, without a dot at its end.
const MAX_DOMAIN: usize = 253;

/// Maximum length of a label of a domain name in characters.
const MAX_LABEL: usize = 63;

/// Whether an authority is a domain without port that the [URL standard](https://url.spec.whatwg.org/#host-parsing) certainly
/// accepts: lower-case labels that start with a letter, no Punycode. An http URL with a valid host is always valid.
fn is_plain_domain(authority: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    authority.len() <= MAX_DOMAIN
        && authority.split('.').all(|label| {
            label.starts_with(|first: char| first.is_ascii_lowercase())
                && label.len() <= MAX_LABEL
                && !label.starts_with("xn--")
                && label.bytes().all(is_plain)
        })
}

/// Whether a character is a Unicode noncharacter. XML and SQS reject some of these.
fn is_noncharacter(character: char) -> bool {
    let code = u32::from(character);
    code & 0xFFFE == 0xFFFE || (0xFDD0..=0xFDEF).contains(&code)
}

string_newtype!(TargetUrl);

#[cfg(test)]
mod tests {
    use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
    use proptest::prelude::*;

    use super::*;

    fn sentence(text: &str) -> String {
        TargetUrl::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_url_is_kept_as_given() {
        for accepted in
            ["https://Example.COM", "http://localhost:8080/a?b=c#d", "https://münchen.de/straße?q=ü", "HTTP://[::1]/"]
        {
            assert_eq!(TargetUrl::parse(accepted).unwrap().as_str(), accepted);
        }
    }

    #[test]
    fn each_refusal_names_its_rule() {
        assert_eq!(sentence(""), "url is required");
        assert_eq!(sentence("example.com"), "url must include scheme and host");
        assert_eq!(sentence("https:example.com"), "url must include scheme and host");
        assert_eq!(sentence("https:///example.com"), "url must include scheme and host");
        assert_eq!(sentence("https://\\example.com"), "url must include scheme and host");
        for host in ["localhost:8080", "localhost:8080/a", "localhost:", "example.com:tel", "http:80", ":a", "1:a"] {
            assert_eq!(sentence(host), "url must include scheme and host", "{host}");
        }
        assert_eq!(sentence("h_t_t_p://example.com"), "url must begin with http:// or https://");
        for no_host in ["https://", "http://", "http:///", "https://?q", "https://#top"] {
            assert_eq!(sentence(no_host), "url must include scheme and host", "{no_host}");
        }
        assert_eq!(sentence("https://exa mple.com/"), "url is not a valid URL");
        assert_eq!(sentence("https://user:secret@example.com"), "url must not contain credentials");
        assert_eq!(sentence("https://user@example.com"), "url must not contain credentials");
        assert_eq!(sentence("https://@example.com"), "url must not contain credentials");
        assert_eq!(sentence("https://example.com/\r\nSet-Cookie: a=b"), "url must not contain control characters");
        assert_eq!(sentence("https://example.com/\u{85}"), "url must not contain control characters");
        assert_eq!(sentence(" \t\r\n"), "url is required");
        for twice in ["http://http://example.com", "https://HTTP://example.com", "http://https:/example.com"] {
            assert_eq!(sentence(twice), "url must include its scheme only once", "{twice}");
        }
        for encoded in ["https://%65xample.com/", "https://example%2ecom"] {
            assert_eq!(sentence(encoded), "url must not have a percent-encoded host", "{encoded}");
        }
        let (long_label, long_domain) = ("x".repeat(64), ["x".repeat(63).as_str(); 4].join("."));
        let longer = "international.".repeat(18) + "münchen.de";
        for host in [long_domain.as_str(), longer.as_str()] {
            let expected = "url must have a host of at most 253 characters";
            assert_eq!(sentence(&format!("https://{host}/")), expected, "{host}");
        }
        for host in ["*.example", "a.*", "-a.example", "a.-b.example", "exa$mple.com", "-", "-:80", "*:80"] {
            let sentence = sentence(&format!("https://{host}/"));
            assert_eq!(sentence, "url must have a host of letters, digits and inner hyphens", "{host}");
        }
        for host in ["a..b", ".example.com", "example.com..", &long_label, "ü..de"] {
            let sentence = sentence(&format!("https://{host}/"));
            assert_eq!(sentence, "url must have a host whose labels have 1–63 characters", "{host}");
        }
        for noncharacter in
            ["https://example.com/\u{ffff}", "https://example.com/\u{fdd0}", "https://example.com/\u{1fffe}"]
        {
            assert!(TargetUrl::parse(noncharacter).is_err());
        }
        let long = format!("https://example.com/{}", "ü".repeat(2_029));
        assert_eq!(sentence(&long), "url must have at most 2,048 characters");
    }

    #[test]
    fn another_scheme_is_refused_by_its_name() {
        for (other, scheme) in [
            ("ftp://example.com", "ftp"),
            ("mailto:someone@example.com", "mailto"),
            ("tel:+49301234", "tel"),
            ("TEL:112", "tel"),
            ("javascript:alert(1)", "javascript"),
            ("javascript://%0aalert(1)", "javascript"),
            ("data:text/html,<p>", "data"),
            ("file:///etc/passwd", "file"),
            ("ms-settings:network", "ms-settings"),
        ] {
            assert_eq!(sentence(other), format!("url must begin with http:// or https://, not {scheme}:"), "{other}");
        }
    }

    #[test]
    fn what_shows_nothing_is_trimmed_around_a_url_and_encoded_inside() {
        let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
        let belongs_to_another = |character: &char| {
            let marks = ['\u{34F}', '\u{17B4}', '\u{17B5}', '\u{180B}', '\u{180C}', '\u{180D}', '\u{180F}'];
            marks.contains(character) || ('\u{FE00}'..='\u{FE0F}').contains(character)
        };
        let ignorable = ('\0'..='\u{FFFF}').filter(|character| ignorable.contains(*character));
        for character in ignorable.filter(|character| !belongs_to_another(character)) {
            let around =
                TargetUrl::parse(&format!("{character} https://example.com/a{character}\n{character}")).unwrap();
            assert_eq!(around.as_str(), "https://example.com/a", "{character:?}");
            let inside = TargetUrl::parse(&format!("https://example.com/a{character}b"));
            if is_bidi_control(character) {
                let sentence = inside.unwrap_err().to_string();
                assert_eq!(sentence, "url must not contain characters that change the direction of text");
            } else {
                let encoded = percent_encoding::utf8_percent_encode(&character.to_string(), percent_encoding::CONTROLS)
                    .to_string();
                assert_eq!(inside.unwrap().location(), format!("https://example.com/a{encoded}b"), "{character:?}");
            }
        }
        let expected = "https://example.com/❤\u{FE0F}";
        assert_eq!(TargetUrl::parse("https://example.com/❤\u{FE0F}").unwrap().as_str(), expected);
        assert_eq!(sentence("\u{FEFF}\u{200B}"), "url is required");
    }

    #[test]
    fn white_space_around_a_url_is_trimmed() {
        for copied in [" https://example.com/a", "https://example.com/a\n", "\t\u{a0}https://example.com/a\u{3000}\r\n"]
        {
            assert_eq!(TargetUrl::parse(copied).unwrap().as_str(), "https://example.com/a", "{copied:?}");
        }
        let longest = format!(" https://example.com/{} ", "x".repeat(2_028));
        assert!(TargetUrl::parse(&longest).is_ok());
    }

    #[test]
    fn a_host_that_dns_can_have_is_accepted() {
        let longest = format!("https://{0}.{0}.{0}.{1}/", "x".repeat(63), "y".repeat(61));
        for accepted in
            [longest.as_str(), "https://example.com./", "https://127.0.0.1/", "https://[::1]:8080/", "https://a_b.c-.d"]
        {
            assert!(TargetUrl::parse(accepted).is_ok(), "{accepted}");
        }
    }

    #[test]
    fn the_limit_counts_characters() {
        let longest = format!("https://example.com/{}{}", "ü".repeat(1_000), "x".repeat(1_028));

        assert!(TargetUrl::parse(&longest).is_ok());
    }

    #[test]
    fn a_url_of_the_shortener_itself_is_refused() {
        let own = ["https://go.example.com", "https://api.example.com"].map(|own| OwnAddress::parse(own).unwrap());
        let refused = |url| TargetUrl::parse(url).unwrap().refuse_own(&own);

        for looping in ["https://go.example.com/abcd", "http://GO.example.com.:80/", "https://api.example.com"] {
            assert_eq!(refused(looping).unwrap_err().to_string(), "must not be a Linklet link");
        }
        assert_eq!(refused("https://example.com/"), Ok(()));
    }

    #[test]
    fn a_valid_uri_is_its_own_location() {
        for valid in [
            "https://example.com",
            "HTTP://Example.COM:80/a/../b/./c//?a=b&c[]=/?#d?/",
            "http://[::1]:8080/%7e%C3%bc;a=b,c@d:e!$&'()*+",
            "https://example.com/?#",
        ] {
            assert_eq!(TargetUrl::parse(valid).unwrap().location(), valid);
        }
    }

    #[test]
    fn a_location_has_only_what_a_uri_may_have() {
        for (given, location) in [
            ("https://münchen.de:8443/a b", "https://xn--mnchen-3ya.de:8443/a%20b"),
            ("https://example.com/a|b?q={x}", "https://example.com/a%7Cb?q=%7Bx%7D"),
            ("https://example.com/ü\"{|}^`<>", "https://example.com/%C3%BC%22%7B%7C%7D%5E%60%3C%3E"),
            ("https://example.com/%zz%4?100%#%", "https://example.com/%25zz%254?100%25#%25"),
            ("https://example.com/a[0]?b[0]#c[0]#d", "https://example.com/a%5B0%5D?b[0]#c%5B0%5D%23d"),
            ("https://example.com\\a?b\\c#d\\e", "https://example.com/a?b%5Cc#d%5Ce"),
        ] {
            assert_eq!(TargetUrl::parse(given).unwrap().location(), location);
        }
    }

    #[test]
    fn the_limit_of_the_location_counts_encoded_bytes() {
        let with = |characters: usize| TargetUrl::parse(&format!("https://example.com/{}", "漢".repeat(characters)));

        assert_eq!(with(886).unwrap().location().len(), 7_994);
        assert_eq!(with(887).unwrap_err().to_string(), "url must have at most 8,000 bytes when it is percent-encoded");
    }

    #[test]
    fn a_location_has_the_same_host_for_everybody() {
        let ambiguous = TargetUrl::parse("https://example.com\\@evil.example/").unwrap();

        assert_eq!(ambiguous.location(), "https://example.com/@evil.example/");
    }

    /// Whether Java's and Go's clients take it, which go by RFC 3986 but for brackets in the query.
    fn is_uri(location: &str) -> bool {
        let (before, fragment) = location.split_once('#').unwrap_or((location, ""));
        let (path, query) = before.split_once('?').unwrap_or((before, ""));
        let is_encoded = |part: &str| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        let has_only = |part: &str, more: &str| {
            part.chars()
                .all(|each| each.is_ascii_alphanumeric() || "%-._~!$&'()*+,;=:@/".contains(each) || more.contains(each))
        };
        has_only(path, "")
            && has_only(query, "?[]")
            && has_only(fragment, "?")
            && location.split('%').skip(1).all(is_encoded)
    }

    proptest! {
        #[test]
        fn what_is_plainly_a_domain_would_be_parsed(
            domain in "[a-z][a-z0-9-]{0,12}([.][a-z][a-z0-9-]{0,12}){0,5}",
            rest in "|[/?#\\\\]\\PC*",
        ) {
            prop_assume!(is_plain_domain(&domain));
            let url = format!("https://{domain}{rest}");

            let parsed = Url::parse(&url);

            prop_assert_eq!(parsed.map(|parsed| parsed.host_str().map(str::to_owned)), Ok(Some(domain)));
        }

        #[test]
        fn a_location_leads_to_the_host_that_was_judged(authority in "[a-z]{1,5}|ü[.]de|[a-z]:80", tail in "([/?#\\\\]\\PC{0,40})?") {
            let given = format!("https://{authority}{tail}");
            prop_assume!(TargetUrl::parse(&given).is_ok());

            let location = TargetUrl::parse(&given).unwrap().location();

            let parsed = [Url::parse(&given).unwrap(), Url::parse(&location).unwrap()];
            prop_assert_eq!(parsed[0].host(), parsed[1].host());
            prop_assert!(is_uri(&location), "{}", location);
            prop_assert_eq!(TargetUrl::parse(&location).map(|again| again.location()), Ok(location));
        }

        #[test]
        fn a_url_is_accepted_if_and_only_if_it_can_be_parsed(authority in "([a-zA-Z0-9.:ü\\[\\]%-]|xn--|0x|1[.]){1,8}") {
            let url = format!("https://{authority}/");
            let parsed = Url::parse(&url);

            let is_accepted = parsed.as_ref().is_ok_and(|url| check_host(&authority, url).is_ok());
            prop_assert_eq!(TargetUrl::parse(&url).is_ok(), is_accepted);
        }
    }

    #[test]
    fn numbers_punycode_ports_and_capitals_are_not_plain() {
        for authority in
            ["", "1.2.3.4", "example.1", "0x7f", "xn--mnchen-3ya.de", "a:80", "A.de", "a..b", "a.", "user@a"]
        {
            assert!(!is_plain_domain(authority), "{authority}");
        }
        assert!(is_plain_domain("go.example.com") && is_plain_domain("localhost") && is_plain_domain("a--b.c3-.d"));
    }
}
