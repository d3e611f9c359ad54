//! Importing single clicks of links that were imported before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use linklet_domain::{Click, ClickId, CountryCode, IpHash, Link, Record, Salt, ShortCode, Timestamp, Visitor};
use linklet_import::{ClickRow, Content, Row};
use linklet_lambda::http::Result;
use linklet_lambda::link_writer::ImportMode;

use super::{Batch, RowResult, Status, former, host_of};
use crate::Shorten;

/// Positions of the rows of clicks, those of a short URL together.
pub(super) fn by_link(batch: Batch<'_>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (index, row) in batch.rows.iter().enumerate() {
        if let Some(click) = click_of(row) {
            groups.entry((host_of(click.host.as_deref(), batch.from), &click.code)).or_default().push(index);
        }
    }
    groups.into_values().collect()
}

fn click_of(row: &Row) -> Option<&ClickRow> {
    match &row.content {
        Ok(Content::Click(click)) => Some(click),
        _ => None,
    }
}

impl Shorten {
    /// Imports clicks of one short URL, and returns what has become of each.
    ///
    /// # Errors
    /// When a table can't be reached. What was imported stays, and is the same when the request is repeated.
    pub(super) async fn clicks_of_link(
        &self,
        batch: Batch<'_>,
        rows: &[usize],
        mode: ImportMode,
    ) -> Result<Vec<RowResult>> {
        let clicks: Vec<_> = rows.iter().filter_map(|index| click_of(&batch.rows[*index])).collect();
        let without_link = || Ok(clicks.iter().map(|_| RowResult::because(Status::NoLink, NO_LINK)).collect());
        let Some(link) = self.imported_link(batch, clicks.first().copied()).await? else { return without_link() };
        let now = batch.request.received_at;
        let kept_from = now.minus(self.clicks.kept_for);
        let ids = ids_of(&clicks);
        let is_current = |at: Timestamp| (kept_from..=now).contains(&at);
        let wanted: BTreeMap<_, _> =
            ids.iter().copied().zip(clicks.iter().copied()).filter(|(id, _)| is_current(id.at())).collect();
        let Some(fresh) = self.import_fresh(batch, &link, wanted, mode).await? else { return without_link() };
        let result = |(id, click): (&ClickId, &&ClickRow)| {
            let of =
                |status| RowResult { short_code: Some(link.identity.id.code.to_string()), ..RowResult::of(status) };
            match click.at {
                at if at > now => RowResult::because(Status::Invalid, "the click is in the future"),
                at if at < kept_from => of(Status::TooOld),
                _ if fresh.contains(id) => of(Status::Created),
                _ => of(Status::Same),
            }
        };
        Ok(ids.iter().zip(&clicks).map(result).collect())
    }

    /// The workspace's link of a click: with its former short URL as external id, or else with its code, unless that was another host's.
    async fn imported_link(&self, batch: Batch<'_>, click: Option<&ClickRow>) -> Result<Option<Link>> {
        let Some(click) = click else { return Ok(None) };
        let (links, workspace) = (&self.writer.links, &batch.caller.workspace);
        let host = host_of(click.host.as_deref(), batch.from);
        let is_imported = |link: &Link| link.identity.workspace == *workspace && link.imported_clicks.is_some();
        if let Some(former) = former(host.as_deref(), &click.code)
            && let Some(link) = links.with_external_id(workspace, &former).await?.filter(is_imported)
        {
            return Ok(Some(link));
        }
        let Ok(code) = ShortCode::imported(&click.code, &self.writer.reserved, true) else { return Ok(None) };
        let found = match links.find(&code).await? {
            // Logs have codes as visitors typed them.
            None => match links.redirect_target(&code).await? {
                Some(Record::Link(target)) => links.find(&target.identity.id.code).await?,
                _ => None,
            },
            found => found,
        };
        let Some(Record::Link(link)) = found else { return Ok(None) };
        let is_of_host = host.is_none() || link.imported_from.is_none() || link.imported_from == host;
        Ok(Some(link).filter(|link| is_of_host && is_imported(link)))
    }

    /// Stores clicks, but for a dry run, and returns those that weren't there; `None` if the link is gone.
    async fn import_fresh(
        &self,
        Batch { request, .. }: Batch<'_>,
        link: &Link,
        wanted: BTreeMap<ClickId, &ClickRow>,
        mode: ImportMode,
    ) -> Result<Option<BTreeSet<ClickId>>> {
        if mode.is_dry_run {
            let ids: Vec<_> = wanted.keys().copied().collect();
            let stored = self.clicks.stored(&link.identity.id, &ids).await?;
            return Ok(Some(ids.into_iter().filter(|id| !stored.contains(id)).collect()));
        }
        let click = |(id, row): (ClickId, &ClickRow)| Click {
            id,
            link: link.identity.id.clone(),
            workspace: link.identity.workspace,
            owner: link.identity.owner,
            visitor: visitor(row, &self.throttle.salt),
            correlation_id: request.correlation_id.clone(),
        };
        let clicks: Vec<_> = wanted.into_iter().map(click).collect();
        Ok(self.clicks.import(&self.writer.links, &link.identity.id, &clicks).await?)
    }
}

/// Ids that clicks have whenever they are imported: their own if Linklet has exported them, or else by when they happened and by what is
/// known of them. Clicks that are equal in all of that are told apart by their order.
fn ids_of(clicks: &[&ClickRow]) -> Vec<ClickId> {
    let mut equal: HashMap<String, u32> = HashMap::new();
    let id = |click: &&ClickRow| {
        let ClickRow { id, at, referrer, user_agent, country, city, address, .. } = *click;
        if let Some(own) = id.as_deref().and_then(|id| ClickId::parse(id).ok()).filter(|own| own.at() == *at) {
            return own;
        }
        let told_by = match id {
            Some(id) => format!("{at} {id:?}"),
            None => format!("{at} {:?}", (referrer, user_agent, country, city, address)),
        };
        let ordinal = equal.entry(told_by.clone()).or_default();
        *ordinal += 1;
        ClickId::derived(*at, &format!("{told_by} {ordinal}"))
    };
    clicks.iter().map(id).collect()
}

const NO_LINK: &str = "the workspace has imported no link with this short code";

/// The user agents of clicks that come without one: a person's that names no browser, and a bot's.
const UNKNOWN_AGENTS: [&str; 2] = ["Mozilla/5.0", "bot"];

/// A visitor without an address is recognized by user agent and place.
fn visitor(click: &ClickRow, salt: &Salt) -> Visitor {
    let ClickRow { referrer, user_agent, country, city, address, is_bot, .. } = click;
    let agent = user_agent.as_deref().unwrap_or(UNKNOWN_AGENTS[usize::from(*is_bot == Some(true))]);
    let agent_and_place = || format!("{user_agent:?} {country:?} {city:?}");
    let address = address.clone().unwrap_or_else(agent_and_place);
    let country = country.as_deref().and_then(|country| CountryCode::parse(country).ok());
    let visitor = Visitor::new(IpHash::of(&address, salt)).with_headers(Some(agent), referrer.as_deref());
    Visitor { imported: true, ..visitor.at_place(country, city.as_deref()) }
}
