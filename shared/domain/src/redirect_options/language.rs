//! What a visitor's `Accept-Language` asks for (RFC 9110, 12.5.4).

/// The weight of a visitor's language, in thousandths.
pub(super) type Weight = u16;

/// How much a visitor wants a language; `None` if they don't prefer it: they don't name it, or its weight is below nine tenths of the
/// highest that they name. A browser names languages that a person hardly reads, too, and the link's own destination may suit them better.
pub(super) fn weight_of(accept_language: &str, wanted: &str) -> Option<Weight> {
    let highest = weighted(accept_language).map(|(_, weight)| weight).max()?;
    let weight = weighted(accept_language).filter(|(tag, _)| is_within(tag, wanted)).map(|(_, weight)| weight).max()?;
    (weight * 10 >= highest * 9).then_some(weight)
}

/// The languages that a visitor names and doesn't refuse. Any language, `*`, is no preference.
fn weighted(accept_language: &str) -> impl Iterator<Item = (&str, Weight)> {
    accept_language.split(',').filter_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let language = parts.next().filter(|language| !language.is_empty() && *language != "*")?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let weight = weight.map_or(Some(1_000), thousandths)?;
        (weight > 0).then_some((language, weight))
    })
}

/// A weight from 0 to 1 (RFC 9110, 12.4.2). What comes after three digits is less than anybody compares.
fn thousandths(text: &str) -> Option<Weight> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().map(|digit| digit - b'0').chain(std::iter::repeat(0)).take(3);
    match whole {
        "0" => Some(digits.fold(0, |weight, digit| weight * 10 + Weight::from(digit))),
        "1" => Some(1_000),
        _ => None,
    }
}

/// Whether a language is within a range, as `zh-Hant-TW` is within `zh-TW` and within `zh` (RFC 4647, 3.3.2).
fn is_within(tag: &str, range: &str) -> bool {
    let (mut subtags, mut wanted) = (tag.split('-'), range.split('-'));
    let is_same = |(one, other): (&str, &str)| one.eq_ignore_ascii_case(other);
    subtags.next().zip(wanted.next()).is_some_and(is_same)
        && wanted.all(|wanted| {
            // A single letter begins an extension, in which nothing is a script or a region.
            subtags.by_ref().take_while(|subtag| subtag.len() > 1).any(|subtag| is_same((subtag, wanted)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_counts_with_its_weight_unless_another_is_preferred() {
        for (accepted, wanted, expected) in [
            ("fr", "fr", Some(1_000)),
            ("de, fr;q=0.9", "fr", Some(900)),
            ("de, fr;q=0.89", "fr", None),
            ("de;q=0.8", "de", Some(800)),
            ("de;q=0.8, fr;q=0.75", "fr", Some(750)),
            ("de;q=0.8, fr;q=0.7", "fr", None),
            ("de, fr ; q=1.0", "fr", Some(1_000)),
            ("fr;q=0.9999", "fr", Some(999)),
            ("fr;q=0.5, fr-CA", "fr", Some(1_000)),
            ("fr;q=0", "fr", None),
            ("fr;q=0.000", "fr", None),
            ("de, fr;q=much", "fr", None),
            ("fr;q=2", "fr", None),
            ("fr;q=inf", "fr", None),
            ("fr;q=0.+5", "fr", None),
            ("*", "fr", None),
            ("", "fr", None),
            (";q=1", "fr", None),
        ] {
            assert_eq!(weight_of(accepted, wanted), expected, "{accepted:?} {wanted}");
        }
    }

    #[test]
    fn a_language_is_within_a_range_of_fewer_subtags() {
        for (tag, range, expected) in [
            ("fr-CA", "fr", true),
            ("FR-ca", "fr-CA", true),
            ("fr", "fr-CA", false),
            ("fra", "fr", false),
            ("zh-Hant-TW", "zh-TW", true),
            ("zh-Hant-TW", "zh-Hant", true),
            ("zh-Hant-TW", "zh", true),
            ("zh-Hant-TW", "zh-CN", false),
            ("zh-TW", "zh-Hant-TW", false),
            ("zh-TW-Hant", "zh-Hant-TW", false),
            ("de-x-at", "de-AT", false),
            ("日本語", "fr", false),
        ] {
            assert_eq!(is_within(tag, range), expected, "{tag} {range}");
        }
    }
}
