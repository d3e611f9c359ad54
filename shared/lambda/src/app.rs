//! Addresses of pages of the web application, which people get by mail or from an operator.

use linklet_domain::{EmailAddress, OneTimeToken, ShareToken, Shared};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// What is encoded in a fragment: all that a mail program or a chat may take for the end of an address, or the application for
/// something else than a part of the value.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// A page that does something with a token, below the base under which people reach the API. It has the token in its fragment, which
/// browsers send to no server, so that it is in no log.
pub fn page_with_token(base: &str, page: &str, token: &OneTimeToken) -> String {
    format!("{}/app#/{page}?token={}", base.trim_end_matches('/'), token.reveal())
}

/// A text as one part or value of a fragment.
pub fn encoded(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ENCODED)
}

/// The page on which somebody gets rid of notifications by mail, or of a report, with what may be their token and the report's id.
pub fn unsubscribe_page(base: &str, token: &str, report: Option<&str>) -> String {
    let report = report.map(|report| format!("&report={}", encoded(report))).unwrap_or_default();
    format!("{}/app#/unsubscribe?token={}{report}", base.trim_end_matches('/'), encoded(token))
}

/// The page that shows shared statistics. Its token is in the fragment, too.
pub fn shared_page(base: &str, shared: &Shared, token: &ShareToken) -> String {
    let of = match shared {
        Shared::Link(link) => format!("links/{}", link.code),
        Shared::Tag(tag) => format!("tags/{}", encoded(tag.as_str())),
    };
    format!("{}/app#/shared/{of}?token={}", base.trim_end_matches('/'), token.reveal())
}

/// The page on which somebody registers with this address, by a token that is the right to and leads into no workspace.
pub fn registration_page(base: &str, email: &EmailAddress, token: &OneTimeToken) -> String {
    let email = encoded(email.as_str());
    format!("{}&email={email}", page_with_token(base, "invitation", token))
}

#[cfg(test)]
mod tests {
    use linklet_domain::TokenPurpose;

    use super::*;

    #[test]
    fn an_address_is_one_value_of_the_fragment_whatever_it_is() {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).unwrap();
        for (email, encoded) in [
            ("ada.lovelace@example.com", "ada.lovelace%40example.com"),
            ("o'brien+links@example.com", "o%27brien%2Blinks%40example.com"),
            (r#""a&token=x #%"@example.com"#, "%22a%26token%3Dx%20%23%25%22%40example.com"),
        ] {
            let page = registration_page("https://go.example.com/", &EmailAddress::parse(email).unwrap(), &token);
            let expected = format!("https://go.example.com/app#/invitation?token={}&email={encoded}", token.reveal());
            assert_eq!(page, expected);
        }
    }
}
