//! What somebody may have meant who has misspelt a name.

use strsim::osa_distance;

/// The known name that is most similar to this one, if one is: the same in another spelling, such as `expiresAt`, or with at most two
/// slips of the pen, in short names one.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Names of ours are shorter. The distance of long ones would take long to compute.
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    let wanted = plain(name);
    let distance = |known: &'k str| (osa_distance(&wanted, &plain(known)), known);
    let slips = if wanted.len() > 5 { 2 } else { 1 };
    let (found, known) = known.into_iter().map(distance).min_by_key(|(distance, _)| *distance)?;
    (found <= slips && found < wanted.len()).then_some(known)
}

/// The letters and digits of a name, in lower case: the same of all its spellings.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_and_another_spelling_are_near() {
        let known = ["search", "tag", "expires_at", "created_after", "limit"];
        for (name, meant) in [
            ("serch", Some("search")),
            ("saerch", Some("search")),
            ("tags", Some("tag")),
            ("expiresAt", Some("expires_at")),
            ("Expires-At", Some("expires_at")),
            ("createdafter", Some("created_after")),
            ("limits", Some("limit")),
            ("t", None),
            ("", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
        assert_eq!(nearest(&"x".repeat(10_000), known), None);
        assert_eq!(nearest("search", []), None);
    }
}
