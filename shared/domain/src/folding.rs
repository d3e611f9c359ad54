//! Texts as they are compared, in which upper and lower case and the spelling of accents make no difference.

use icu_normalizer::{DecomposingNormalizerBorrowed, properties::CanonicalCombiningClassMapBorrowed};

use crate::validated::normalized;

/// What is the same in all spellings of a text. Two texts have it in common if they are a canonical caseless match in Unicode
/// ([D145](https://www.unicode.org/versions/latest/core-spec/chapter-3/#G53513)), so `Straße` is the same as `STRASSE`.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { normalized(&caseless(text)).into_owned() }
}

/// Whether two texts are the same but for their spelling.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() { one.eq_ignore_ascii_case(other) } else { folded(one) == folded(other) }
}

/// What of a text is searched: what is [the same](folded) in all its spellings, without accents.
pub(crate) fn searched(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let classes = CanonicalCombiningClassMapBorrowed::new();
    let is_kept = |character: &char| character.is_ascii() || !is_accent(classes.get_u8(*character));
    let plain: String = caseless(text).chars().filter(is_kept).collect();
    normalized(&plain).into_owned()
}

/// Whether marks of such a combining class are accents, or the points of Hebrew and Arabic. Other classes are those of marks that
/// are a part of their letter, such as the voicing of kana and the vowels of Thai.
fn is_accent(class: u8) -> bool {
    matches!(class, 10..=36 | 200..=240)
}

/// A text without difference between upper and lower case, in which accents follow their letters.
///
/// What the standard library's mappings make of a character there and back is the same for the same characters as with Unicode's
/// [full case folding](https://www.unicode.org/Public/UCD/latest/ucd/CaseFolding.txt), but for two: the dotless i folds to itself and
/// has the upper case of another letter, and the sigma at the end of a word has a lower case of its own.
fn caseless(text: &str) -> String {
    const DOTLESS_I: &str = "ı";
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    let without_case = |part: &str| part.to_lowercase().to_uppercase().to_lowercase().replace('ς', "σ");
    decomposed.split(DOTLESS_I).map(without_case).collect::<Vec<_>>().join(DOTLESS_I)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use icu_normalizer::ComposingNormalizerBorrowed;
    use proptest::prelude::*;

    use super::*;

    /// Texts that the web application's tests compare, too.
    fn cases(name: &str) -> Vec<Vec<String>> {
        let mut cases: BTreeMap<String, Vec<Vec<String>>> =
            serde_json::from_str(include_str!("folding/cases.json")).unwrap();
        cases.remove(name).unwrap()
    }

    #[test]
    fn texts_are_the_same_in_any_case_and_form() {
        for same in cases("same") {
            for other in &same {
                assert!(is_same(&same[0], other) && folded(&same[0]) == folded(other), "{same:?}");
            }
        }
        for different in cases("different") {
            assert!(!is_same(&different[0], &different[1]), "{different:?}");
        }
    }

    #[test]
    fn a_search_disregards_accents_but_no_part_of_a_letter() {
        let is_found = |pair: &[String]| searched(&pair[1]).contains(&searched(&pair[0]));
        for pair in cases("found") {
            assert!(is_found(&pair), "{pair:?}");
        }
        for pair in cases("not_found") {
            assert!(!is_found(&pair), "{pair:?}");
        }
    }

    proptest! {
        #[test]
        fn spelling_makes_no_difference(text in "\\PC{0,12}") {
            let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&text);
            let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&text);
            for spelled in [composed.as_ref(), decomposed.as_ref(), &text.to_lowercase(), &folded(&text)] {
                prop_assert!(is_same(&text, spelled), "{:?}", spelled);
                prop_assert_eq!(folded(&text), folded(spelled));
                prop_assert_eq!(searched(&text), searched(spelled));
            }
            prop_assert_eq!(searched(&searched(&text)), searched(&text));
        }
    }
}
