use std::str::FromStr;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{Invalid, Timestamp};

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, C> {
    /// The page's items in order.
    pub items: Vec<T>,
    /// The cursor for the next page; `None` on the last page.
    pub next: Option<Cursor<C>>,
}

impl<T, C> Page<T, C> {
    /// Makes a page of at most `limit` rows from up to `limit + 1` rows; the extra row only shows that there is a next page.
    pub(crate) fn of(mut rows: Vec<T>, limit: usize, cursor: impl Fn(&T) -> Cursor<C>) -> Self {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = if has_more { rows.last().map(cursor) } else { None };
        Self { items: rows, next }
    }
}

/// A pagination cursor: time and id of the last item of a page. It is opaque to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor<C> {
    /// The item's time, usually that of its creation.
    pub at: Timestamp,
    /// The item's id, which orders items of the same time.
    pub id: C,
}

impl<C: std::fmt::Display + FromStr> Cursor<C> {
    /// Encodes the cursor for clients as URL-safe Base64.
    pub fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.sort_key())
    }

    /// Decodes a cursor that a client sent.
    ///
    /// # Errors
    /// When the text is not a cursor made by [`Self::encode`].
    pub fn decode(text: &str) -> Result<Self, Invalid> {
        let decoded = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        decoded
            .as_deref()
            .and_then(Self::from_sort_key)
            .ok_or_else(|| Invalid::new("after is not a cursor of this list"))
    }

    /// The sort key of the item in its table or index: `<time>#<id>`.
    pub(crate) fn sort_key(&self) -> String {
        format!("{}#{}", self.at, self.id)
    }

    pub(crate) fn from_sort_key(text: &str) -> Option<Self> {
        let (at, id) = text.split_once('#')?;
        Some(Self { at: Timestamp::parse(at).ok()?, id: id.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::ShortCode;

    use super::*;

    #[test]
    fn a_cursor_survives_the_round_trip() {
        let cursor = Cursor { at: Timestamp::now(), id: ShortCode::parse("abc1234").unwrap() };

        assert_eq!(Cursor::decode(&cursor.encode()), Ok(cursor));
    }

    #[test]
    fn anything_else_is_refused() {
        let forged = URL_SAFE_NO_PAD.encode("2026-03-02T14:05:09.000Z#../../x");
        for refused in ["", "%%%", "AAAA", &forged] {
            assert!(Cursor::<ShortCode>::decode(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn only_a_full_page_with_more_behind_it_has_a_next() {
        let cursor = |row: &u32| Cursor { at: Timestamp::from_unix_seconds(0).unwrap(), id: *row };

        assert_eq!(Page::of(vec![1, 2], 2, cursor).next, None);
        assert_eq!(Page::of(vec![1, 2, 3], 2, cursor).next, Some(cursor(&2)));
    }
}
