//! What a visitor's `Accept-Language` asks for (RFC 9110, 12.5.4).

/// The languages that a visitor prefers: those of a weight of at least 0.9. Any language, `*`, is no preference.
pub(super) fn preferred(accept_language: &str) -> impl Iterator<Item = &str> {
    accept_language.split(',').filter_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let language = parts.next().filter(|language| !language.is_empty() && *language != "*")?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight: f32 = weight.map_or(Some(1.0), |weight| weight.trim().parse().ok())?;
        (weight >= 0.9).then_some(language)
    })
}

/// Whether one of a visitor's languages is the wanted one: `fr` is also wanted by who asks for `fr-CA`, but not the other way
/// round (RFC 4647, basic filtering).
pub(super) fn asks_for(accept_language: &str, wanted: &str) -> bool {
    preferred(accept_language).any(|language| {
        let (same, rest) = match language.split_at_checked(wanted.len()) {
            Some((beginning, rest)) => (beginning.eq_ignore_ascii_case(wanted), rest),
            None => (false, ""),
        };
        same && (rest.is_empty() || rest.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_asked_for_if_its_weight_is_at_least_nine_tenths() {
        for (accepted, wanted, expected) in [
            ("fr", "fr", true),
            ("fr-CA", "fr", true),
            ("FR-ca", "fr-CA", true),
            ("fr", "fr-CA", false),
            ("fra", "fr", false),
            ("de, fr;q=0.9", "fr", true),
            ("de, fr;q=0.89", "fr", false),
            ("de, fr ; q=1.0", "fr", true),
            ("de, fr;q=much", "fr", false),
            ("*", "fr", false),
            ("", "fr", false),
            (";q=1", "fr", false),
            ("日本語", "fr", false),
        ] {
            assert_eq!(asks_for(accepted, wanted), expected, "{accepted:?} {wanted}");
        }
    }
}
