use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use super::TargetId;
use crate::{Invalid, Timestamp};

/// The pagination token of the target list: the last target of a page, after which the next page starts.
///
/// It doesn't contain the workspace, so it grants no access to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageToken {
    /// When the target was registered.
    pub created_at: Timestamp,
    /// The target's id, which orders targets with the same `created_at`.
    pub id: TargetId,
}

impl PageToken {
    /// Encodes the token for clients: JSON in URL-safe Base64 without padding (RFC 4648, 5).
    pub fn encode(&self) -> String {
        let Self { created_at, id } = self;
        // Neither value has characters that JSON would have to escape.
        URL_SAFE_NO_PAD.encode(format!(r#"{{"created_at":"{created_at}","id":"{id}"}}"#))
    }

    /// Decodes a token that a client sent.
    ///
    /// # Errors
    /// When the text is not a token made by [`Self::encode`].
    pub fn decode(text: &str) -> Result<Self, Invalid> {
        let decoded = URL_SAFE_NO_PAD.decode(text).ok();
        decoded
            .and_then(|json| serde_json::from_slice(&json).ok())
            .ok_or_else(|| Invalid::new("page_token is not a token of this list"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_the_round_trip_through_a_url() {
        for id in ["t_0000000000000000000000", "t_0000000000000000000007", "t_fzzzzzzzzzzzzzzzzzzzzz"] {
            let token = PageToken { created_at: Timestamp::now(), id: TargetId::parse(id).unwrap() };
            let encoded = token.encode();

            assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            assert_eq!(PageToken::decode(&encoded), Ok(token));
        }
    }

    #[test]
    fn it_is_json_of_both() {
        let token = PageToken {
            created_at: Timestamp::from_unix_seconds(0).unwrap(),
            id: TargetId::parse("t_0000000000000000000007").unwrap(),
        };

        let json = URL_SAFE_NO_PAD.decode(token.encode()).unwrap();

        let expected = r#"{"created_at":"1970-01-01T00:00:00.000Z","id":"t_0000000000000000000007"}"#;
        assert_eq!(String::from_utf8(json).unwrap(), expected);
    }

    #[test]
    fn anything_else_is_refused() {
        let of = |json: &str| URL_SAFE_NO_PAD.encode(json);
        for refused in [
            String::new(),
            "%%%".to_owned(),
            "AAAA".to_owned(),
            of("{}"),
            of("[]"),
            of(r#"{"created_at":"tomorrow","id":"t_0000000000000000000007"}"#),
            of(r#"{"created_at":"2026-03-02T14:05:09Z","id":"t_7#"}"#),
            of(r#"{"created_at":1,"id":2}"#),
        ] {
            let expected = "page_token is not a token of this list";
            assert_eq!(PageToken::decode(&refused).unwrap_err().to_string(), expected, "{refused}");
        }
    }
}
