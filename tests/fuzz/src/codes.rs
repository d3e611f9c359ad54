use std::fmt::{Debug, Display};

use linklet_domain::{
    CorrelationId, CountryCode, Day, EmailAddress, EventId, IdempotencyKey, Invalid, IpHash, PageNumber, ReservedCodes,
    ShortCode, SortBy, Timestamp, UserId, WorkspaceId, WorkspaceSlug,
};

use crate::text;

/// Short codes, and all else that is read from a text and becomes part of a key or a header.
pub fn codes_and_ids(input: &[u8]) {
    let text = text(input);
    if let Ok(code) = ShortCode::parse(&text) {
        assert_eq!(code.to_string(), text, "a code is shown as it was given");
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        assert!(text.len() <= ShortCode::MAX_LENGTH && text.bytes().all(is_part), "{text}");
    }
    if let Ok(code) = ShortCode::custom(&text, &ReservedCodes::default()) {
        assert!(ShortCode::CUSTOM_LENGTH.contains(&text.len()), "{text}");
        assert_eq!(ShortCode::parse(&text), Ok(code), "a code that can be chosen can be followed");
    }
    stays(&text, ShortCode::parse);
    stays(&text, CorrelationId::parse);
    stays(&text, CountryCode::parse);
    stays(&text, Day::parse);
    stays(&text, EmailAddress::parse);
    stays(&text, EventId::parse);
    stays(&text, IdempotencyKey::parse);
    stays(&text, IpHash::parse);
    stays(&text, Timestamp::parse);
    stays(&text, UserId::parse);
    stays(&text, WorkspaceId::parse);
    stays(&text, WorkspaceSlug::parse);
    let (_, _) = (SortBy::parse(&text), PageNumber::new(input.len(), usize::from(input.first().copied().unwrap_or(0))));
}

/// What is accepted is the same when its own text is read, and can stand in a line.
fn stays<T: PartialEq + Debug + Display>(text: &str, parse: impl Fn(&str) -> Result<T, Invalid>) {
    let Ok(value) = parse(text) else { return };
    let shown = value.to_string();
    assert!(!shown.chars().any(char::is_control), "{shown:?}");
    assert_eq!(parse(&shown), Ok(value));
}
