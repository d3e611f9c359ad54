use std::fmt::{Debug, Display};
use std::str::FromStr;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{EventId, ShortCode};
use linklet_dynamodb::Cursor;

use crate::text;

/// Cursors that clients bring back, both as they come and as what is inside them.
pub fn cursors(input: &[u8]) {
    for brought in [text(input).into_owned(), URL_SAFE_NO_PAD.encode(input)] {
        survives::<ShortCode>(&brought);
        survives::<EventId>(&brought);
    }
}

fn survives<C: Display + FromStr + PartialEq + Debug>(brought: &str) {
    let Ok(cursor) = Cursor::<C>::decode(brought) else { return };
    let encoded = cursor.encode();
    assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{encoded:?}");
    assert_eq!(Cursor::decode(&encoded), Ok(cursor));
}
