//! `GET /api/export/links`: the links that filters find, each with all that it is, the oldest first.

use linklet_domain::{GivenFilter, Link, Rule, SortOrder, Variant, Verdict};
use linklet_dynamodb::{Cursor, LinkRange, RepositoryError};
use linklet_lambda::http::{ExportPage, Request, Response, Result};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_filter::LinkQuery;
use linklet_lambda::link_view::{LinkView, Surroundings};
use serde::Serialize;

use crate::List;
use crate::management::given;

/// Of how many links their surroundings are read at a time.
const AT_ONCE: usize = 100;

const COLUMNS: &str = "short_code,short_url,original_url,title,description,tags,created_at,valid_from,expires_at,max_clicks,\
    fallback_url,forward_query,is_active,is_protected,archived,watch,statistics,preview,rules,variants,external_id,\
    metadata,status,total_clicks,imported_clicks,used,exhausted_at,updated_at,created_by,created_by_name";

impl List {
    pub(crate) async fn export(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let (given, now) = (given(request), request.received_at);
        let archived = given.archived.or_else(|| Some("all".to_owned()));
        let named = request.query("search").and_then(|text| self.short_urls.code_in(request, text));
        let query = LinkQuery::of(&GivenFilter { archived, ..given })?.naming(named.as_ref());
        let after = request.after(Cursor::decode)?;
        let mut page = ExportPage::of(request, "links", COLUMNS)?;
        let is_meant = |link: &Link| query.verdict(link, now) == Verdict::Shown;
        if let Some(id) = &query.external_id {
            let found = self.links.with_external_id(&caller.workspace, id).await?.filter(is_meant);
            self.take_along(request, &mut page, found.as_slice()).await?;
            return page.answer(request, None);
        }
        let wanted = query.means_nearly_all().then_some(page.room + 1);
        let order = SortOrder::Ascending;
        let mut reader =
            self.links.whole(&LinkRange { workspace: &caller.workspace, created: query.created, order, after, wanted });
        let mut last = None;
        while !page.is_late()
            && let Some(mut links) = reader.next().await?
        {
            links.retain(is_meant);
            for some in links.chunks(AT_ONCE) {
                let taken = if page.is_late() && last.is_some() {
                    0
                } else {
                    self.take_along(request, &mut page, some).await?
                };
                last = taken.checked_sub(1).map(|taken| place_of(&some[taken])).or(last);
                if taken < some.len() {
                    return page.answer(request, last.map(|last| last.encode()));
                }
            }
        }
        page.answer(request, reader.rest().map(Cursor::encode))
    }

    /// Adds links to a page as long as they fit in, and returns how many these are.
    async fn take_along(&self, request: &Request, page: &mut ExportPage, links: &[Link]) -> Result<usize> {
        let around = self.around(links).await?;
        for (taken, link) in links.iter().enumerate() {
            if page.is_full() {
                return Ok(taken);
            }
            let (rules, variants) =
                link.routing.as_ref().map_or_else(Default::default, |routing| (routing.rules(), routing.variants()));
            let link = LinkView::new(request, &self.short_urls, link.clone(), &around);
            page.add(&ExportedLink { link, rules, variants })?;
        }
        Ok(links.len())
    }

    /// What is shown with links, all of it: what is taken along must not lack anything.
    async fn around(&self, links: &[Link]) -> Result<Surroundings, RepositoryError> {
        let Some(first) = links.first() else { return Ok(Surroundings::of_new_link()) };
        let ids: Vec<_> = links.iter().map(Link::id).cloned().collect();
        let limited: Vec<_> = links.iter().filter(|link| link.options.max_clicks.is_some()).map(Link::id).collect();
        let (clicks, names, uses) = tokio::try_join!(
            self.stats.totals(&first.identity.workspace, &ids),
            self.people.names(links.iter().map(|link| &link.identity.owner).collect()),
            self.links.uses(&limited)
        )?;
        Ok(Surroundings { clicks: Some(clicks), names: Some(names), uses: Some(uses) })
    }
}

fn place_of(link: &Link) -> Cursor<linklet_domain::ShortCode> {
    Cursor { at: link.created_at, id: link.code().clone() }
}

#[derive(Serialize)]
struct ExportedLink<'a> {
    #[serde(flatten)]
    link: LinkView,
    rules: &'a [Rule],
    variants: &'a [Variant],
}
