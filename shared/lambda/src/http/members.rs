//! Which members a body's struct has, and which of them somebody has meant who calls one otherwise.

use serde::de::value::Error as NoValue;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use super::nearest::plain;

/// What other systems call a member of ours: Bitly, Dub, Kutt, Rebrandly, Short.io, Shlink and YOURLS.
const WORDS_OF_OTHERS: [(&str, &[&str]); 6] = [
    ("url", &["long_url", "destination", "destination_url", "target", "target_url"]),
    ("custom_code", &["slug", "custom_slug", "key", "keyword", "alias", "slashtag", "back_half", "short_code", "code"]),
    ("expires_at", &["valid_until", "expiration", "expiry", "expire_at", "expire_in"]),
    ("valid_from", &["valid_since", "starts_at"]),
    ("max_clicks", &["max_visits", "click_limit", "clicks_limit"]),
    ("fallback_url", &["expired_url", "expiration_url"]),
];

/// The names of a struct's members; none if its form isn't known, as of one with flattened parts.
pub(super) fn members_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The reader has no value, so it always fails.
    let _: Result<T, NoValue> = T::deserialize(Names(&mut names));
    names
}

/// The member that was meant by a name, if a struct has these members: the same in another spelling, or another system's word for it.
pub(super) fn meant<'k>(name: &str, members: &[&'k str]) -> Option<&'k str> {
    // No name of ours or of others is longer.
    const LONGEST: usize = 40;
    if name.len() > LONGEST || members.contains(&name) {
        return None;
    }
    let name = plain(name);
    let ours = |member: &str| {
        let words = WORDS_OF_OTHERS.iter().find(|(ours, _)| *ours == member);
        name == plain(member) || words.is_some_and(|(_, theirs)| theirs.iter().any(|word| name == plain(word)))
    };
    members.iter().copied().find(|member| ours(member))
}

/// A reader that notes the names which a struct asks for.
struct Names<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = NoValue;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        *self.0 = names;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "only the names are read")]
    struct Body {
        #[serde(alias = "original_url")]
        url: String,
        custom_code: Option<String>,
        expires_at: Option<String>,
    }

    #[test]
    fn a_known_member_in_other_words_is_recognised() {
        let members = members_of::<Body>();
        for (name, expected) in [
            ("expiresAt", Some("expires_at")),
            ("Expires-At", Some("expires_at")),
            ("longUrl", Some("url")),
            ("customSlug", Some("custom_code")),
            ("shortCode", Some("custom_code")),
            ("key", Some("custom_code")),
            ("url", None),
            ("original_url", None),
            ("maxVisits", None),
            ("note", None),
            ("", None),
        ] {
            assert_eq!(meant(name, members), expected, "{name}");
        }
        assert_eq!(members_of::<String>(), [""; 0]);
    }
}
