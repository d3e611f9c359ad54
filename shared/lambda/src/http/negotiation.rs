//! What a client accepts and has already (RFC 9110, sections 12.5.3 and 13.1.2).

use super::weighted;

/// Whether `Accept-Encoding` allows gzip: by its name, or else by `*`. What isn't mentioned isn't allowed.
#[must_use]
pub fn accepts_gzip(accepted: Option<&str>) -> bool {
    let weight_of = |names: &[&str]| {
        let mut codings = weighted(accepted.unwrap_or_default());
        codings.find(|(name, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known))).map(|(_, weight)| weight)
    };
    weight_of(&["gzip", "x-gzip"]).or_else(|| weight_of(&["*"])).is_some_and(|weight| weight > 0.0)
}

/// Whether `If-None-Match` has this tag, by weak comparison. No tag of ours has a comma in it.
#[must_use]
pub fn matches(known: Option<&str>, tag: &str) -> bool {
    let tag = tag.strip_prefix("W/").unwrap_or(tag);
    known.is_some_and(|known| {
        known.trim() == "*"
            || known.split(',').map(str::trim).any(|item| item.strip_prefix("W/").unwrap_or(item) == tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_accepted_by_name_or_by_star_unless_its_weight_is_zero() {
        for accepted in
            ["gzip", "GZIP", "x-gzip", "deflate, gzip;q=0.5", "br;q=1.0,gzip ; q=0.001", "*", "identity;q=0, *;q=0.1"]
        {
            assert!(accepts_gzip(Some(accepted)), "{accepted}");
        }
        for refused in [
            "",
            "br",
            "identity",
            "gzip;q=0",
            "gzip;q=0.000",
            "gzip;Q=0",
            "*;q=0",
            "*, gzip;q=0",
            "gzip;q=x",
            "gzipped",
        ] {
            assert!(!accepts_gzip(Some(refused)), "{refused}");
        }
        assert!(!accepts_gzip(None));
    }

    #[test]
    fn a_tag_matches_alone_in_a_list_weak_and_by_star() {
        for known in ["\"a1\"", "W/\"a1\"", "\"b\", \"a1\"", "\"b\",W/\"a1\" ", "*", " * "] {
            assert!(matches(Some(known), "\"a1\""), "{known}");
        }
        for known in ["", "a1", "\"a1", "\"A1\"", "\"b\"", "w/\"a1\"", "\"*\""] {
            assert!(!matches(Some(known), "\"a1\""), "{known}");
        }
        assert!(!matches(None, "\"a1\""));
        assert!(matches(Some("\"a1\""), "W/\"a1\"") && matches(Some("W/\"a1\""), "W/\"a1\""));
    }
}
