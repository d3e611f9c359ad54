//! What a client accepts and has already (RFC 9110, sections 12.5.3 and 13.1.2).

use super::weighted;

/// Whether `Accept-Encoding` allows gzip: by its name, or else by `*`. What isn't mentioned isn't allowed.
pub fn accepts_gzip(accepted: Option<&str>) -> bool {
    weight_of(&["gzip", "x-gzip"], accepted).or_else(|| weight_of(&["*"], accepted)).is_some_and(|weight| weight > 0.0)
}

/// Whether `Accept-Encoding` allows Brotli (RFC 7932) by its name, and doesn't like gzip better.
pub fn prefers_brotli(accepted: Option<&str>) -> bool {
    let gzip = weight_of(&["gzip", "x-gzip"], accepted).unwrap_or_default();
    weight_of(&["br"], accepted).is_some_and(|weight| weight > 0.0 && weight >= gzip)
}

fn weight_of(names: &[&str], accepted: Option<&str>) -> Option<f32> {
    let mut codings = weighted(accepted.unwrap_or_default());
    codings.find(|(name, _)| names.iter().any(|known| name.eq_ignore_ascii_case(known))).map(|(_, weight)| weight)
}

/// Whether `If-None-Match` has this tag, by weak comparison. No tag of ours has a comma in it.
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
    fn gzip_is_accepted_by_name_or_star_unless_its_weight_is_zero() {
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
    fn brotli_is_preferred_by_its_name_unless_gzip_is_liked_better() {
        for accepted in ["br", "gzip, deflate, br", "gzip, deflate, br, zstd", "BR;q=0.5", "gzip;q=0.5, br;q=0.5"] {
            assert!(prefers_brotli(Some(accepted)), "{accepted}");
        }
        for refused in ["", "*", "gzip", "br;q=0", "gzip, br;q=0.9", "brotli"] {
            assert!(!prefers_brotli(Some(refused)), "{refused}");
        }
        assert!(!prefers_brotli(None));
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
