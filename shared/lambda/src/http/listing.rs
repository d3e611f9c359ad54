//! Lists page by page: `limit` and `after` in, `next_cursor` and `has_more` out.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use linklet_domain::{Invalid, SortOrder};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{Request, Response, StatusCode, json};

/// The page of a list that was read as a whole.
pub type ListPage<T> = (Vec<T>, NextPage);

/// Where a list goes on after a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextPage {
    /// What the parameter `after` of the next page has; `None` on the last page.
    pub next_cursor: Option<String>,
    has_more: bool,
}

/// A page of a list whose items are under their own name.
#[derive(Serialize)]
struct ListBody<T> {
    #[serde(flatten)]
    items: BTreeMap<&'static str, Vec<T>>,
    #[serde(flatten)]
    next: NextPage,
}

/// The parameters that may change from one page to the next.
const OF_A_PAGE: [&str; 6] = ["after", "limit", "page", "per_page", "format", "bom"];

impl Request {
    /// The query parameter `after`: a position within the list that the request asks for.
    ///
    /// # Errors
    /// When it is no cursor, or one of another list, filter or order.
    pub fn after<T>(&self, decode: impl FnOnce(&str) -> Result<T, Invalid>) -> Result<Option<T>, Invalid> {
        self.parsed("after", |text| {
            let position = text.rsplit_once('.').filter(|(_, list)| *list == self.list_digest());
            position.and_then(|(position, _)| decode(position).ok()).ok_or_else(|| {
                Invalid::new("after must be the next_cursor of a page of this list, with the same filters and order")
            })
        })
    }

    /// What an answer says about the next page, which begins at this position if there is one.
    pub fn next_page(&self, position: Option<String>) -> NextPage {
        let next_cursor = position.map(|position| format!("{position}.{}", self.list_digest()));
        NextPage { has_more: next_cursor.is_some(), next_cursor }
    }

    /// A digest of which list the request asks for: the path, the workspace of the caller, and all that filters and orders.
    fn list_digest(&self) -> String {
        const BYTES: usize = 6;
        let workspace = self.actor().and_then(|actor| actor.workspace).map(|workspace| workspace.to_string());
        let mut pairs: Vec<_> = url::form_urlencoded::parse(self.raw_query().as_bytes()).collect();
        pairs.retain(|(name, value)| !value.is_empty() && !OF_A_PAGE.contains(&name.as_ref()));
        pairs.sort();
        let digest = Sha256::digest(format!("{}\n{workspace:?}\n{pairs:?}", self.path()));
        URL_SAFE_NO_PAD.encode(&digest[..BYTES])
    }

    /// A page of a list that was read as a whole, since it is short: in the order of a key that each item has for itself.
    ///
    /// # Errors
    /// As of [`Self::page_size`] and [`Self::after`].
    pub fn page_of<T>(
        &self,
        mut items: Vec<T>,
        order: SortOrder,
        key: impl Fn(&T) -> String,
    ) -> Result<ListPage<T>, Invalid> {
        let limit = self.page_size_or(Self::MOST_OF_A_PAGE)?;
        let after = self.after(|text| {
            let bytes = URL_SAFE_NO_PAD.decode(text).ok();
            bytes.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| Invalid::new("no key"))
        })?;
        let is_ascending = order == SortOrder::Ascending;
        items.sort_by_cached_key(&key);
        if !is_ascending {
            items.reverse();
        }
        if let Some(after) = after {
            items.retain(|item| if is_ascending { key(item) > after } else { key(item) < after });
        }
        let has_more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| has_more).map(|item| URL_SAFE_NO_PAD.encode(key(item)));
        Ok((items, self.next_page(last)))
    }
}

/// The answer of a list whose items have this name.
pub fn list_response<T: Serialize>(name: &'static str, items: Vec<T>, next: NextPage) -> Response {
    json(StatusCode::OK, &ListBody { items: BTreeMap::from([(name, items)]), next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::GatewayEvent;

    fn asking(path: &str, query: &str) -> Request {
        let event =
            GatewayEvent { raw_path: Some(path.into()), raw_query_string: Some(query.into()), ..Default::default() };
        event.into()
    }

    fn text(text: &str) -> Result<String, Invalid> {
        Ok(text.to_owned())
    }

    #[test]
    fn a_cursor_is_only_that_of_its_list_filter_and_order() {
        let cursor = asking("/api/links", "tag=a&order=asc").next_page(Some("here".into())).next_cursor.unwrap();
        let after = |path, query: &str| asking(path, &format!("{query}&after={cursor}")).after(text);

        for query in ["tag=a&order=asc", "order=asc&tag=a&limit=5", "order=asc&tag=a&search=&format=csv"] {
            assert_eq!(after("/api/links", query), Ok(Some("here".to_owned())), "{query}");
        }
        for (path, query) in
            [("/api/urls", "tag=a&order=asc"), ("/api/links", "tag=b&order=asc"), ("/api/links", "tag=a&order=desc")]
        {
            assert_eq!(after(path, query).unwrap_err().field(), Some("after"), "{path}?{query}");
        }
        assert!(asking("/api/links", "after=here").after(text).is_err());
        assert_eq!(asking("/api/links", "after=").after(text), Ok(None));
    }

    #[test]
    fn a_short_list_has_pages_in_the_order_of_its_keys() {
        let items = vec!["b", "d", "a", "c"];
        let page = |query: &str, order| {
            let page = asking("/api/keys", query).page_of(items.clone(), order, |item| (*item).to_owned());
            let (items, next) = page.unwrap();
            serde_json::from_slice::<serde_json::Value>(list_response("keys", items, next).body()).unwrap()
        };

        let first = page("limit=3", SortOrder::Ascending);
        assert_eq!((&first["keys"], &first["has_more"]), (&serde_json::json!(["a", "b", "c"]), &true.into()));
        let cursor = first["next_cursor"].as_str().unwrap();
        let last = page(&format!("limit=3&after={cursor}"), SortOrder::Ascending);
        assert_eq!(last, serde_json::json!({"keys": ["d"], "next_cursor": null, "has_more": false}));
        assert_eq!(page("", SortOrder::Descending)["keys"], serde_json::json!(["d", "c", "b", "a"]));
    }
}
