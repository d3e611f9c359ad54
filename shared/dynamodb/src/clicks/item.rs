//! Keys and attributes of ClicksTable. There are many clicks, and they are kept for long; so names are short, and ids are bytes.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{
    Click, ClickId, CorrelationId, CountryCode, Invalid, IpHash, LinkId, UserId, Visitor, WorkspaceId,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::{
    RepositoryError,
    item::{Item, Key, to_item},
};

pub(crate) const CLICK_PREFIX: &str = "CLICK#";

/// The partition of a click: `CLICK#<link>#<shard>` with 16 shards, so that a viral link isn't bound to the 1,000 writes a
/// second of one partition. The shard is the last four bits of the id's bytes, which are random.
pub(super) fn click_key(link: &LinkId, id: &ClickId) -> Key {
    Key::new(partition(link, shard_of(id)), id.to_string())
}

pub(super) fn shard_of(id: &ClickId) -> u32 {
    u32::from(id.to_bytes()[ClickId::BYTES - 1]) % SHARDS
}

pub(super) const SHARDS: u32 = 16;

pub(super) fn partition(link: &LinkId, shard: u32) -> String {
    format!("{CLICK_PREFIX}{link}#{shard:x}")
}

/// `CLICK#<link>#<shard>` / `<id>`: a click. It is also the message that makes it count.
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
    #[serde(rename = "x")]
    correlation_id: CorrelationId,
    ttl: i64,
}

/// The most that one write unit pays for, in bytes.
const WRITE_UNIT: usize = 1_024;

/// A click as an item of one write unit. Only what a visitor sends can be long: the referrer loses its end, and then the
/// user agent.
pub(super) fn item_of(operation: &'static str, click: &Click, kept_for: Duration) -> Result<Item, RepositoryError> {
    let mut item = to_item(operation, &ClickItem::new(click, kept_for))?;
    for attribute in ["r", "ua"] {
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

/// An item's size as DynamoDB counts it: names and values in UTF-8, numbers with one byte per two digits and one more.
fn size(item: &Item) -> usize {
    let value_size = |value: &AttributeValue| match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        _ => 1,
    };
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

impl ClickItem {
    fn new(click: &Click, kept_for: Duration) -> Self {
        let Visitor { ip_hash, user_agent, referer, prefetch, country, city } = click.visitor.clone();
        Self {
            key: click_key(&click.link, &click.id),
            workspace: ByteBuf::from(click.workspace.to_bytes()),
            owner: ByteBuf::from(click.owner.to_bytes()),
            ip_hash: ByteBuf::from(ip_hash.to_bytes()),
            user_agent,
            referer,
            prefetch,
            country,
            city,
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
            },
            correlation_id: self.correlation_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::{CountryCode, Salt, Timestamp, lifetimes};

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
        item_of("test", &click(visitor), lifetimes::RAW_CLICKS).unwrap()
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
        for click in [plain, told] {
            let item = item_of("test", &click, lifetimes::RAW_CLICKS).unwrap();

            assert_eq!(from_item::<ClickItem>("test", item).unwrap().into_click(), Ok(click));
        }
    }
}
