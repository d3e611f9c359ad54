//! Filtering, sorting and paging of links in the management view.

use std::{cmp::Ordering, collections::HashMap};

use crate::{Description, Invalid, Link, LinkId, LinkMetadata, LinkStatus, Timestamp, Title, UserId};

/// A filter for links; all of its conditions must match. `None` matches every link.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkFilter {
    /// A part of the original URL, the code, the title, the description or a tag, in upper or lower case.
    pub search: Option<String>,
    /// Tags of the link, all of them.
    pub tags: Vec<String>,
    /// Who created the link.
    pub created_by: Option<UserId>,
    /// The link's status at the time of the request.
    pub status: Option<LinkStatus>,
}

impl LinkFilter {
    /// Whether the filter has no conditions and matches every link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `link` matches the filter at `now`.
    #[must_use]
    pub fn matches(&self, link: &Link, now: Timestamp) -> bool {
        self.status.is_none_or(|status| link.status(now) == status)
            && self.created_by.as_ref().is_none_or(|creator| *creator == link.owner)
            && self.tags.iter().all(|tag| link.metadata.tags.contains(tag))
            && self.search.as_deref().is_none_or(|text| is_found(link, text))
    }
}

fn is_found(link: &Link, text: &str) -> bool {
    let text = text.to_lowercase();
    let LinkMetadata { title, description, tags } = &link.metadata;
    [link.target.as_str(), link.code.as_str()]
        .into_iter()
        .chain(title.as_ref().map(Title::as_str))
        .chain(description.as_ref().map(Description::as_str))
        .chain(tags.iter())
        .any(|known| known.to_lowercase().contains(&text))
}

/// The criterion by which links are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    /// Time of creation.
    #[default]
    CreatedAt,
    /// Number of clicks.
    Clicks,
}

impl SortBy {
    /// Parses `created_at` or `clicks`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "created_at" => Ok(Self::CreatedAt),
            "clicks" => Ok(Self::Clicks),
            _ => Err(Invalid::new("sort must be created_at or clicks")),
        }
    }
}

/// The direction in which links are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest or most clicked first.
    #[default]
    Descending,
    /// Oldest or least clicked first.
    Ascending,
}

impl Order {
    /// Parses `desc` or `asc`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "desc" => Ok(Self::Descending),
            "asc" => Ok(Self::Ascending),
            _ => Err(Invalid::new("order must be desc or asc")),
        }
    }

    fn apply(self, ordering: Ordering) -> Ordering {
        match self {
            Self::Ascending => ordering,
            Self::Descending => ordering.reverse(),
        }
    }
}

/// A page of the management view, within the first [`Self::LAST_ROW`] rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageNumber {
    page: usize,
    per_page: usize,
}

impl PageNumber {
    /// The last row that can be reached by page number.
    pub const LAST_ROW: usize = 10_000;

    /// The page with this number, counted from 1, with 1–100 rows per page.
    ///
    /// # Errors
    /// When a number is out of range, or the page starts after [`Self::LAST_ROW`].
    pub fn new(page: usize, per_page: usize) -> Result<Self, Invalid> {
        if page == 0 {
            return Err(Invalid::new("page must be a number from 1 on").in_field("page"));
        }
        if !(1..=100).contains(&per_page) {
            return Err(Invalid::new("per_page must be a number from 1 to 100").in_field("per_page"));
        }
        if page.saturating_sub(1).saturating_mul(per_page) >= Self::LAST_ROW {
            return Err(Invalid::new(
                "pages end at row 10,000; narrow the dates or the search, or use the cursor of /api/urls",
            )
            .in_field("page"));
        }
        Ok(Self { page, per_page })
    }

    /// The page's number, counted from 1.
    #[must_use]
    pub fn page(self) -> usize {
        self.page
    }

    /// Maximum number of rows per page.
    #[must_use]
    pub fn per_page(self) -> usize {
        self.per_page
    }

    /// Number of pages that `rows` rows fill.
    #[must_use]
    pub fn pages(self, rows: usize) -> usize {
        rows.div_ceil(self.per_page)
    }

    /// Selects the page's rows from all rows.
    #[must_use]
    pub fn select<T>(self, rows: Vec<T>) -> Vec<T> {
        rows.into_iter().take(Self::LAST_ROW).skip((self.page - 1) * self.per_page).take(self.per_page).collect()
    }
}

/// Sorts links by a criterion, then by time of creation and by code, so that the order is total and pages never overlap.
pub fn sort_links(links: &mut [Link], by: SortBy, order: Order, clicks: &HashMap<LinkId, u64>) {
    let clicks_of = |link: &Link| match by {
        SortBy::CreatedAt => 0,
        SortBy::Clicks => clicks.get(&link.id()).copied().unwrap_or_default(),
    };
    links.sort_by(|left, right| {
        let key = |link: &Link| (clicks_of(link), link.created_at);
        order.apply(key(left).cmp(&key(right)).then_with(|| left.code.cmp(&right.code)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_limits() {
        let refused = |page, per_page| PageNumber::new(page, per_page).unwrap_err().to_string();

        assert_eq!(refused(0, 20), "page must be a number from 1 on");
        assert_eq!(refused(1, 0), "per_page must be a number from 1 to 100");
        assert_eq!(refused(1, 101), "per_page must be a number from 1 to 100");
        assert!(refused(101, 100).starts_with("pages end at row 10,000"));
        assert!(refused(usize::MAX, 100).starts_with("pages end at row 10,000"));
        assert!(PageNumber::new(100, 100).is_ok());
    }

    #[test]
    fn pages_cover_the_rows_without_overlap() {
        let rows: Vec<u32> = (0..25).collect();
        let page = |number| PageNumber::new(number, 10).unwrap();

        let covered: Vec<u32> = (1..=3).flat_map(|number| page(number).select(rows.clone())).collect();

        assert_eq!(covered, rows);
        assert_eq!(page(1).pages(25), 3);
        assert_eq!(page(1).pages(0), 0);
        assert!(page(4).select(rows).is_empty());
    }

    #[test]
    fn no_row_behind_the_last_one_is_shown() {
        let page = PageNumber::new(334, 30).unwrap();

        assert_eq!(page.select((0..20_000).collect::<Vec<u32>>()), (9_990..10_000).collect::<Vec<u32>>());
    }
}
