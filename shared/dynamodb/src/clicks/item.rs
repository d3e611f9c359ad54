//! Keys and attributes of ClicksTable. There are many clicks, and they are kept for long; so names are short, and ids are bytes.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{
    Campaign, Click, ClickId, CorrelationId, CountryCode, DestinationName, Invalid, IpHash, LinkId, Spread, Timestamp,
    UserId, Visitor, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::Result;
use crate::item::{Item, Key, size, to_item};

pub(crate) const CLICK_PREFIX: &str = "CLICK#";

/// A partition of a link's clicks, so that a hot link isn't bound to the 1,000 writes a second of one. The last byte of a click's
/// id, which is random, says which one is the click's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// One of 16. The clicks of a shard are counted together, also when it has several partitions.
    shard: u8,
    /// 0 is where all clicks of a quiet link are. The others have only clicks that are stored wide.
    quarter: u8,
}

impl Partition {
    const SHARDS: u8 = 16;
    const QUARTERS: u8 = 4;

    /// The partition that has the [marker](crate::ClicksTable::widen) of a link.
    pub const OF_MARKER: Self = Self { shard: 0, quarter: 0 };

    /// The partition of the click with this id, if it is stored like this.
    pub fn of(id: &ClickId, spread: Spread) -> Self {
        let [.., last] = id.to_bytes();
        let quarter = match spread {
            Spread::Narrow => 0,
            Spread::Wide => last / Self::SHARDS % Self::QUARTERS,
        };
        Self { shard: last % Self::SHARDS, quarter }
    }

    /// Those of all links.
    pub(super) fn narrow() -> impl Iterator<Item = Self> {
        (0..Self::SHARDS).map(|shard| Self { shard, quarter: 0 })
    }

    /// Those in which nothing but clicks that are stored wide can be.
    pub(super) fn wide_only() -> impl Iterator<Item = Self> {
        Self::narrow().flat_map(|Self { shard, .. }| (1..Self::QUARTERS).map(move |quarter| Self { shard, quarter }))
    }

    /// Among how many partitions the clicks are that may be in this one.
    pub(super) fn siblings(self) -> usize {
        usize::from(Self::SHARDS) * if self.quarter == 0 { 1 } else { usize::from(Self::QUARTERS) }
    }

    /// `CLICK#<link>#a`, and `CLICK#<link>#a1` for another quarter than the first.
    pub(super) fn key(self, link: &LinkId) -> String {
        let Self { shard, quarter } = self;
        match quarter {
            0 => format!("{CLICK_PREFIX}{link}#{shard:x}"),
            _ => format!("{CLICK_PREFIX}{link}#{shard:x}{quarter}"),
        }
    }
}

pub(super) fn click_key(link: &LinkId, id: &ClickId, spread: Spread) -> Key {
    Key::new(Partition::of(id, spread).key(link), id.to_string())
}

/// The sort key of a marker, which is higher than all ids of clicks: whoever reads the latest clicks finds it first.
pub(crate) const MARKER: &str = "~wide";

/// `CLICK#<link>#0` / `~wide`: clicks before a time may be stored wide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MarkerItem {
    #[serde(flatten)]
    key: Key,
    pub until: Timestamp,
    /// Not earlier than that of any click that is stored wide.
    pub ttl: i64,
}

impl MarkerItem {
    pub(super) fn new(link: &LinkId, until: Timestamp, kept_for: Duration) -> Self {
        Self { key: Self::key(link), until, ttl: until.plus(kept_for).unix_seconds() }
    }

    pub(super) fn key(link: &LinkId) -> Key {
        Key::new(Partition::OF_MARKER.key(link), MARKER)
    }

    /// For all clicks that this one or the other is for.
    pub(super) fn joined_with(self, other: &Self) -> Self {
        Self { until: self.until.max(other.until), ttl: self.ttl.max(other.ttl), ..self }
    }
}

/// `CLICK#<link>#<shard>[<quarter>]` / `<id>`: a click. It is also the message that makes it count.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClickItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(rename = "w")]
    workspace: ByteBuf,
    #[serde(rename = "u")]
    owner: ByteBuf,
    #[serde(rename = "ip")]
    ip_hash: ByteBuf,
    #[serde(rename = "ua", default, skip_serializing_if = "String::is_empty")]
    user_agent: String,
    #[serde(rename = "r", default)]
    referer: Option<String>,
    #[serde(rename = "p", default, skip_serializing_if = "std::ops::Not::not")]
    prefetch: bool,
    #[serde(rename = "c", default)]
    country: Option<CountryCode>,
    #[serde(rename = "t", default)]
    city: Option<String>,
    #[serde(rename = "d", default)]
    destination: Option<DestinationName>,
    #[serde(rename = "q", default, skip_serializing_if = "std::ops::Not::not")]
    has_scanned: bool,
    #[serde(rename = "s", default)]
    campaign_source: Option<String>,
    #[serde(rename = "m", default)]
    campaign_medium: Option<String>,
    #[serde(rename = "k", default)]
    campaign_name: Option<String>,
    #[serde(rename = "i", default, skip_serializing_if = "std::ops::Not::not")]
    imported: bool,
    #[serde(rename = "x")]
    correlation_id: CorrelationId,
    ttl: i64,
}

/// The most that one write unit pays for, in bytes.
pub(super) const WRITE_UNIT: usize = 1_024;

/// A click as an item of one write unit. Only what a visitor sends can be long: the referrer loses its end, then the user agent,
/// and last the campaign.
pub(super) fn item_of(operation: &'static str, click: &Click, spread: Spread, kept_for: Duration) -> Result<Item> {
    let mut item = to_item(operation, &ClickItem::new(click, spread, kept_for))?;
    for attribute in ["r", "ua", "k", "m", "s"] {
        let excess = size(&item).saturating_sub(WRITE_UNIT);
        if excess > 0 {
            shorten(&mut item, attribute, excess);
        }
    }
    Ok(item)
}

fn shorten(item: &mut Item, attribute: &str, bytes: usize) {
    let Some(AttributeValue::S(text)) = item.get_mut(attribute) else { return };
    text.truncate(text.floor_char_boundary(text.len().saturating_sub(bytes)));
    if text.is_empty() {
        item.remove(attribute);
    }
}

impl ClickItem {
    fn new(click: &Click, spread: Spread, kept_for: Duration) -> Self {
        let Visitor {
            ip_hash,
            user_agent,
            referer,
            prefetch,
            country,
            city,
            destination,
            has_scanned,
            campaign,
            imported,
        } = click.visitor.clone();
        let Campaign { source, medium, name } = campaign.unwrap_or_default();
        Self {
            key: click_key(&click.link, &click.id, spread),
            workspace: ByteBuf::from(click.workspace.to_bytes()),
            owner: ByteBuf::from(click.owner.to_bytes()),
            ip_hash: ByteBuf::from(ip_hash.to_bytes()),
            user_agent,
            referer,
            prefetch,
            country,
            city,
            destination,
            has_scanned,
            campaign_source: source,
            campaign_medium: medium,
            campaign_name: name,
            imported,
            correlation_id: click.correlation_id.clone(),
            ttl: click.clicked_at().plus(kept_for).unix_seconds(),
        }
    }

    /// The click.
    ///
    /// # Errors
    /// When the key is not that of a click, or bytes are missing.
    pub(crate) fn into_click(self) -> Result<Click, Invalid> {
        let link = self.key.pk.strip_prefix(CLICK_PREFIX).and_then(|link| link.rsplit_once('#'));
        let (link, _) = link.ok_or_else(|| Invalid::new("the key is not that of a click"))?;
        Ok(Click {
            id: ClickId::parse(&self.key.sk)?,
            link: LinkId::parse(link)?,
            workspace: WorkspaceId::from_bytes(&self.workspace)?,
            owner: UserId::from_bytes(&self.owner)?,
            visitor: Visitor {
                ip_hash: IpHash::from_bytes(&self.ip_hash)?,
                user_agent: self.user_agent,
                referer: self.referer,
                prefetch: self.prefetch,
                country: self.country,
                city: self.city,
                destination: self.destination,
                has_scanned: self.has_scanned,
                campaign: Campaign::of_parts(self.campaign_source, self.campaign_medium, self.campaign_name),
                imported: self.imported,
            },
            correlation_id: self.correlation_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use linklet_domain::{CountryCode, Part, Salt, lifetimes};

    use super::*;
    use crate::item::from_item;

    fn click(visitor: Visitor) -> Click {
        Click {
            id: ClickId::generate(Timestamp::now()),
            link: LinkId::parse("abcdefghij.x7Kf2a").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            visitor,
            correlation_id: CorrelationId::parse(&"c".repeat(128)).unwrap(),
        }
    }

    fn visitor() -> Visitor {
        Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()))
    }

    fn page(path: &str) -> String {
        format!("https://news.example/{path}")
    }

    fn item(visitor: Visitor) -> Item {
        item_of("test", &click(visitor), Spread::Wide, lifetimes::RAW_CLICKS).unwrap()
    }

    fn ids() -> impl Iterator<Item = ClickId> {
        (0..5_000).map(|_| ClickId::generate(Timestamp::now()))
    }

    #[test]
    fn clicks_are_in_16_partitions_and_wide_ones_in_64() {
        let narrow: BTreeSet<Partition> = ids().map(|id| Partition::of(&id, Spread::Narrow)).collect();
        let wide: BTreeSet<Partition> = ids().map(|id| Partition::of(&id, Spread::Wide)).collect();

        assert_eq!((narrow.len(), wide.len()), (16, 64));
        assert_eq!(narrow, Partition::narrow().collect());
        assert_eq!(wide, Partition::narrow().chain(Partition::wide_only()).collect());
    }

    #[test]
    fn the_clicks_of_a_part_share_a_shard_however_they_are_spread() {
        for id in ids() {
            let [narrow, wide] = [Spread::Narrow, Spread::Wide].map(|spread| Partition::of(&id, spread).shard);

            assert_eq!((format!("{narrow:x}"), wide), (Part::of(&id).to_string(), narrow));
        }
    }

    #[test]
    fn a_marker_sorts_after_all_clicks() {
        assert!(MARKER > "zzzzzzzzzzzzzzz");
    }

    #[test]
    fn a_click_takes_one_write_unit_whatever_a_visitor_sends() {
        for (agent, referer) in [(512, 1_024), (512, 0), (10, 1_024), (0, 0)] {
            let visitor = visitor()
                .with_headers(Some(&"ü".repeat(agent / 2)), Some(&page(&"é".repeat(referer / 2))))
                .at_place(CountryCode::parse("DE").ok(), Some(&"ö".repeat(40)))
                .prefetching(true);

            let item = item(visitor);

            assert!(size(&item) <= WRITE_UNIT, "{agent}, {referer}: {}", size(&item));
            assert!(item.values().all(|value| value.as_s().is_ok_and(|text| !text.is_empty()) || !value.is_s()));
        }
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let page = page(&"r".repeat(280));

        let item = item(visitor().with_headers(Some(&"u".repeat(120)), Some(&page)));

        assert_eq!(item["ua"].as_s().unwrap().len(), 120);
        assert_eq!(item["r"].as_s().unwrap(), &page);
    }

    #[test]
    fn a_click_survives_being_stored() {
        let plain = click(visitor());
        let told = click(
            visitor()
                .with_headers(Some("Mozilla/5.0"), Some("https://news.example/"))
                .at_place(CountryCode::parse("DE").ok(), Some("Köln"))
                .prefetching(true),
        );
        for (click, spread) in [(&plain, Spread::Narrow), (&plain, Spread::Wide), (&told, Spread::Wide)] {
            let item = item_of("test", click, spread, lifetimes::RAW_CLICKS).unwrap();

            assert_eq!(from_item::<ClickItem>("test", item).unwrap().into_click().as_ref(), Ok(click));
        }
    }
}
