//! Filtering, sorting and paging of links in the management view.

use std::{cmp::Ordering, collections::HashMap, ops::Range};

use percent_encoding::percent_decode_str;

use crate::folding::{folded, searched};
use crate::target_url::pasted;
use crate::{
    Availability, Description, Invalid, Link, LinkClicks, LinkId, LinkMetadata, LinkStatus, ShortCode, Tags, Timestamp,
    Title, UserId,
};

/// What of a link decides whether a filter matches it, and where it stands in an order. It is much smaller than the link, so
/// a list can read many of them and then only those links that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSummary {
    /// The code, and which of the links with this code.
    pub id: LinkId,
    /// Who created the link.
    pub owner: UserId,
    /// When the link was created.
    pub created_at: Timestamp,
    /// Whether the link leads to its destination.
    pub availability: Availability,
    /// The link's tags.
    pub tags: Tags,
    /// Whether the link is put away.
    pub archived: bool,
}

impl From<Link> for LinkSummary {
    fn from(link: Link) -> Self {
        Self {
            id: link.identity.id,
            owner: link.identity.owner,
            created_at: link.created_at,
            availability: link.availability,
            tags: link.metadata.tags,
            archived: link.archived,
        }
    }
}

/// A filter for links; all of its conditions must match. Without conditions it matches every link that is neither deleted nor
/// archived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkFilter {
    /// What is asked of the link's tags, all of it.
    pub tags: Vec<TagTerm>,
    /// Who created the link.
    pub created_by: Option<UserId>,
    /// The link's status at the time of the request.
    pub status: StatusFilter,
    /// Whether archived links are shown.
    pub archived: ArchivedFilter,
}

/// Which links a list shows by their status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StatusFilter {
    /// All that aren't deleted.
    #[default]
    Kept,
    /// All.
    All,
    /// Those with this status.
    Only(LinkStatus),
}

impl StatusFilter {
    /// Parses a status, or `all`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text == "all" {
            return Ok(Self::All);
        }
        LinkStatus::parse(text).map(Self::Only).map_err(|_| {
            Invalid::new("status must be active, inactive, scheduled, exhausted, expired, suspended, deleted or all")
        })
    }

    /// Whether links with this status are shown.
    pub fn shows(self, status: LinkStatus) -> bool {
        match self {
            Self::Kept => status != LinkStatus::Deleted,
            Self::All => true,
            Self::Only(wanted) => status == wanted,
        }
    }
}

/// What a filter makes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It matches.
    Shown,
    /// It would match if it weren't archived.
    LeftOut,
    /// It doesn't match.
    Other,
}

/// Which links a list shows by whether they are archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArchivedFilter {
    /// Those that aren't.
    #[default]
    LeftOut,
    /// Those that are.
    Only,
    /// All.
    All,
}

impl ArchivedFilter {
    /// Parses `false`, `true` or `all`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "false" => Ok(Self::LeftOut),
            "true" => Ok(Self::Only),
            "all" => Ok(Self::All),
            _ => Err(Invalid::new("archived must be true, false or all")),
        }
    }

    /// Whether a link is shown that is archived, or isn't.
    pub fn shows(self, archived: bool) -> bool {
        match self {
            Self::LeftOut => !archived,
            Self::Only => archived,
            Self::All => true,
        }
    }
}

/// A condition on the tags of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagTerm {
    /// The link has one of these.
    AnyOf(Vec<String>),
    /// The link has none of these.
    NoneOf(Vec<String>),
}

impl TagTerm {
    /// Parses tags with commas between them, of which a link has one, or behind a `-` none. A comma or a `-` that belongs to a
    /// tag has a backslash before it, and so has a backslash.
    ///
    /// # Errors
    /// When there is no tag.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (is_excluded, list) = text.strip_prefix('-').map_or((false, text), |list| (true, list));
        let (mut tags, mut characters) = (vec![String::new()], list.chars());
        while let Some(character) = characters.next() {
            match (character, tags.last_mut()) {
                (',', _) => tags.push(String::new()),
                ('\\', Some(tag)) => tag.push(characters.next().unwrap_or('\\')),
                (_, Some(tag)) => tag.push(character),
                (_, None) => {}
            }
        }
        let tags: Vec<_> = tags.iter().map(|tag| tag.trim()).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
        Invalid::when(tags.is_empty(), "tag must name a tag")?;
        Ok(if is_excluded { Self::NoneOf(tags) } else { Self::AnyOf(tags) })
    }

    fn matches(&self, tags: &Tags) -> bool {
        let has_any = |labels: &[String]| labels.iter().any(|label| tags.contains(label));
        match self {
            Self::AnyOf(labels) => has_any(labels),
            Self::NoneOf(labels) => !has_any(labels),
        }
    }
}

impl LinkFilter {
    /// Whether the filter matches every link, but perhaps deleted and archived ones.
    pub fn matches_nearly_all(&self) -> bool {
        let Self { tags, created_by, status, archived } = self;
        let is_narrow = matches!(status, StatusFilter::Only(_)) || *archived == ArchivedFilter::Only;
        !is_narrow && tags.is_empty() && created_by.is_none()
    }

    /// What the filter makes of a link at `now`.
    pub fn verdict(&self, link: &LinkSummary, now: Timestamp) -> Verdict {
        let Self { tags, created_by, status, archived } = self;
        let is_wanted = status.shows(link.availability.status(now))
            && created_by.as_ref().is_none_or(|creator| *creator == link.owner)
            && tags.iter().all(|term| term.matches(&link.tags));
        match (is_wanted, archived.shows(link.archived)) {
            (true, true) => Verdict::Shown,
            (true, false) if link.archived => Verdict::LeftOut,
            _ => Verdict::Other,
        }
    }
}

/// A text to find in links, in upper or lower case, with or without accents: at most 200 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSearch(Sought);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sought {
    /// What [is searched](searched) of a text.
    Text(String),
    /// A code in lower case.
    Code(String),
}

impl LinkSearch {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 200;

    /// Searches for this text, without white space and invisible characters around it.
    ///
    /// # Errors
    /// When the text is too long.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = pasted(text);
        if text.chars().count() > Self::MAX_LENGTH {
            return Err(Invalid::new(format!("search must have at most {} characters", Self::MAX_LENGTH)));
        }
        // A text of accents alone would be found everywhere.
        let text = Some(searched(text)).filter(|searched| !searched.is_empty()).unwrap_or_else(|| folded(text));
        Ok(Self(Sought::Text(text)))
    }

    /// Searches for the link with this code.
    pub fn for_code(code: &ShortCode) -> Self {
        Self(Sought::Code(code.folded()))
    }

    /// Whether it searches for nothing, which each link has.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Sought::Text(text) if text.is_empty())
    }

    /// Whether the text is a part of the link's URL, also percent-decoded, or of its code, title, description or one of its tags.
    pub fn finds(&self, link: &Link) -> bool {
        let text = match &self.0 {
            Sought::Text(text) => text,
            Sought::Code(code) => return link.code().folded() == *code,
        };
        let LinkMetadata { title, description, tags, .. } = &link.metadata;
        let target = link.target.as_str();
        let decoded = target.contains('%').then(|| percent_decode_str(target).decode_utf8_lossy());
        [target, link.code().as_str()]
            .into_iter()
            .chain(decoded.as_deref())
            .chain(title.as_ref().map(Title::as_str))
            .chain(description.as_ref().map(Description::as_str))
            .chain(tags.iter())
            .any(|known| searched(known).contains(text))
    }
}

/// The criterion by which links are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum SortBy {
    /// Time of creation.
    #[default]
    CreatedAt,
    /// Number of clicks.
    Clicks,
    /// Time of the latest click; a link without clicks counts as clicked before all others.
    LastClick,
}

impl SortBy {
    /// Parses `created_at`, `clicks` or `last_click`.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text.parse().map_err(|_| Invalid::new("sort must be created_at, clicks or last_click"))
    }

    fn compare(self, left: LinkClicks, right: LinkClicks) -> Ordering {
        match self {
            Self::CreatedAt => Ordering::Equal,
            Self::Clicks => left.total.cmp(&right.total),
            Self::LastClick => left.last.cmp(&right.last),
        }
    }
}

/// The direction in which links are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    /// Newest, most clicked or last clicked first.
    #[default]
    Descending,
    /// Oldest, least clicked or longest not clicked first.
    Ascending,
}

impl SortOrder {
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
        const LATE: &str = "pages end at row 10,000; narrow the dates or the search, or follow next_cursor";
        let is_size = (1..=100).contains(&per_page);
        Invalid::field_when("page", page == 0, "page must be a number from 1 on")?;
        Invalid::field_when("per_page", !is_size, "per_page must be a number from 1 to 100")?;
        Invalid::field_when("page", page.saturating_sub(1).saturating_mul(per_page) >= Self::LAST_ROW, LATE)?;
        Ok(Self { page, per_page })
    }

    /// The page's number, counted from 1.
    pub fn page(self) -> usize {
        self.page
    }

    /// Maximum number of rows per page.
    pub fn per_page(self) -> usize {
        self.per_page
    }

    /// Number of pages that `rows` rows fill.
    pub fn pages(self, rows: usize) -> usize {
        rows.div_ceil(self.per_page)
    }

    /// The page's rows, counted from 0.
    pub fn rows(self) -> Range<usize> {
        let first = (self.page - 1) * self.per_page;
        first..(first + self.per_page).min(Self::LAST_ROW)
    }
}

/// The rows of a page, picked from all rows as these come one after another. The others are only counted.
#[derive(Debug)]
pub struct PageRows<T> {
    wanted: Range<usize>,
    picked: Vec<T>,
    /// How many rows have come.
    pub seen: usize,
}

impl<T> PageRows<T> {
    /// Nothing of this page yet.
    pub fn of(page: PageNumber) -> Self {
        Self { wanted: page.rows(), picked: Vec::new(), seen: 0 }
    }

    /// Takes the next row, which is kept if it belongs to the page.
    pub fn take(&mut self, row: T) {
        if self.wanted.contains(&self.seen) {
            self.picked.push(row);
        }
        self.seen += 1;
    }

    /// Whether the page has all the rows that it has room for.
    pub fn is_full(&self) -> bool {
        self.seen >= self.wanted.end
    }

    /// Whether rows have come that belong to later pages.
    pub fn has_later(&self) -> bool {
        self.seen > self.wanted.end
    }

    /// The page's rows.
    pub fn into_rows(self) -> Vec<T> {
        self.picked
    }
}

/// Sorts links by a criterion, then by time of creation and by code, so that the order is total and pages never overlap.
/// Without clicks it is the order of creation.
pub fn sort_links(links: &mut [LinkSummary], by: SortBy, order: SortOrder, clicks: &HashMap<LinkId, LinkClicks>) {
    let clicks_of = |link: &LinkSummary| clicks.get(&link.id).copied().unwrap_or_default();
    links.sort_by(|left, right| {
        let wanted = by.compare(clicks_of(left), clicks_of(right)).then(left.created_at.cmp(&right.created_at));
        order.apply(wanted.then_with(|| left.id.code.cmp(&right.id.code)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generation, ShortCode};

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn link(code: &str, created_at: &str) -> LinkSummary {
        let code = ShortCode::parse(code).unwrap();
        LinkSummary {
            id: LinkId { code, generation: Generation::parse("000000").unwrap() },
            owner: UserId::generate(),
            created_at: at(created_at),
            availability: Availability::default(),
            tags: Tags::default(),
            archived: false,
        }
    }

    #[test]
    fn links_sort_by_last_click_and_those_without_clicks_by_creation() {
        let mut links = [
            link("unused", "2026-03-01T00:00:00Z"),
            link("newest", "2026-03-04T00:00:00Z"),
            link("forgotten", "2026-03-03T00:00:00Z"),
            link("fresh", "2026-03-02T00:00:00Z"),
            link("twin", "2026-03-01T00:00:00Z"),
        ];
        let clicked = |total, last: &str| LinkClicks { total, last: Some(at(last)) };
        let clicks = HashMap::from([
            (links[2].id.clone(), clicked(900, "2026-03-03T01:00:00Z")),
            (links[3].id.clone(), clicked(1, "2026-03-05T00:00:00.001Z")),
            (links[4].id.clone(), clicked(1, "2026-03-05T00:00:00Z")),
        ]);
        let mut sorted = |by, order| {
            sort_links(&mut links, by, order, &clicks);
            links.each_ref().map(|link| link.id.code.to_string())
        };

        let newest = ["fresh", "twin", "forgotten", "newest", "unused"];
        assert_eq!(sorted(SortBy::LastClick, SortOrder::Descending), newest);
        let mut longest_ago = newest;
        longest_ago.reverse();
        assert_eq!(sorted(SortBy::LastClick, SortOrder::Ascending), longest_ago);
        assert_eq!(sorted(SortBy::Clicks, SortOrder::Descending), ["forgotten", "fresh", "twin", "newest", "unused"]);
    }

    #[test]
    fn a_term_names_tags_of_which_a_link_has_any_or_none() {
        let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
        for (text, expected) in [
            ("a", TagTerm::AnyOf(labels(&["a"]))),
            (" a , b c ,", TagTerm::AnyOf(labels(&["a", "b c"]))),
            ("-a,b", TagTerm::NoneOf(labels(&["a", "b"]))),
            ("a-b,-c", TagTerm::AnyOf(labels(&["a-b", "-c"]))),
            ("\\-a", TagTerm::AnyOf(labels(&["-a"]))),
            ("--a", TagTerm::NoneOf(labels(&["-a"]))),
            ("1\\,5,2", TagTerm::AnyOf(labels(&["1,5", "2"]))),
            ("a\\\\,b\\", TagTerm::AnyOf(labels(&["a\\", "b\\"]))),
        ] {
            assert_eq!(TagTerm::parse(text), Ok(expected), "{text}");
        }
        for none in ["", "-", ",", " ", "-, ,"] {
            assert!(TagTerm::parse(none).is_err(), "{none:?}");
        }
    }

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

    /// What a page picks from so many rows.
    fn picked(page: PageNumber, rows: u32) -> PageRows<u32> {
        let mut picked = PageRows::of(page);
        (0..rows).for_each(|row| picked.take(row));
        picked
    }

    #[test]
    fn pages_cover_the_rows_without_overlap() {
        let page = |number| PageNumber::new(number, 10).unwrap();

        let covered: Vec<u32> = (1..=3).flat_map(|number| picked(page(number), 25).into_rows()).collect();

        assert_eq!(covered, (0..25).collect::<Vec<_>>());
        assert_eq!(page(1).pages(25), 3);
        assert_eq!(page(1).pages(0), 0);
        assert!(picked(page(4), 25).into_rows().is_empty());
    }

    #[test]
    fn a_page_knows_whether_it_is_full_and_whether_it_is_last() {
        let page = PageNumber::new(2, 10).unwrap();
        let state = |rows| {
            let picked = picked(page, rows);
            (picked.is_full(), picked.has_later(), picked.seen)
        };

        assert_eq!(state(19), (false, false, 19));
        assert_eq!(state(20), (true, false, 20));
        assert_eq!(state(21), (true, true, 21));
    }

    #[test]
    fn no_row_behind_the_last_one_is_shown() {
        let page = PageNumber::new(334, 30).unwrap();

        let picked = picked(page, 20_000);

        assert!(picked.is_full() && picked.has_later());
        assert_eq!(picked.into_rows(), (9_990..10_000).collect::<Vec<u32>>());
    }
}
