//! Keys and attributes of ClicksTable.

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use linklet_domain::{Click, CorrelationId, EventId, Invalid, ShortCode, Timestamp, UserId, Visitor, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::{
    RepositoryError,
    item::{Item, Key, to_item},
};

const KEPT_FOR: Duration = linklet_domain::lifetimes::RAW_CLICKS;

/// The partition of a click: `CLICK#<code>#<shard>` with 16 shards, so that a viral link isn't bound to the 1,000 writes a
/// second of one partition. The shard is the id's last digit, which is random.
pub(crate) fn click_key(code: &ShortCode, id: &EventId) -> Key {
    Key::new(partition(code, shard_of(id)), id.as_str())
}

pub(super) fn shard_of(id: &EventId) -> u32 {
    id.as_str().chars().next_back().and_then(|digit| digit.to_digit(SHARDS)).unwrap_or_default()
}

pub(super) const SHARDS: u32 = 16;

pub(super) fn partition(code: &ShortCode, shard: u32) -> String {
    format!("CLICK#{code}#{shard}")
}

/// `CLICK#<code>#<shard>` / `<id>`: a click. It is also the message that makes it count.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClickItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub clicked_at: Timestamp,
    #[serde(flatten)]
    pub visitor: Visitor,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

/// The most that one write unit pays for, in bytes.
const WRITE_UNIT: usize = 1_024;

/// A click as an item of one write unit. Only what a visitor sends can be long: the referrer loses its end, and then the
/// user agent.
pub(super) fn item_of(operation: &'static str, click: &Click) -> Result<Item, RepositoryError> {
    let mut item = to_item(operation, &ClickItem::from(click))?;
    for attribute in ["referer", "user_agent"] {
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
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        _ => 1,
    };
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

impl From<&Click> for ClickItem {
    fn from(click: &Click) -> Self {
        Self {
            key: click_key(&click.code, &click.id),
            short_code: click.code.clone(),
            workspace_id: click.workspace.clone(),
            user_id: click.owner.clone(),
            clicked_at: click.clicked_at,
            visitor: click.visitor.clone(),
            correlation_id: click.correlation_id.clone(),
            ttl: click.clicked_at.plus(KEPT_FOR).unix_seconds(),
        }
    }
}

impl ClickItem {
    /// The click.
    ///
    /// # Errors
    /// When the sort key is no event id.
    pub(crate) fn into_click(self) -> Result<Click, Invalid> {
        Ok(Click {
            id: EventId::parse(&self.key.sk)?,
            code: self.short_code,
            workspace: self.workspace_id,
            owner: self.user_id,
            clicked_at: self.clicked_at,
            visitor: self.visitor,
            correlation_id: self.correlation_id,
        })
    }
}

#[cfg(test)]
mod tests {
    use linklet_domain::{CountryCode, IpHash, Salt};

    use super::*;

    fn click(visitor: Visitor) -> Click {
        Click {
            id: EventId::generate(),
            code: ShortCode::parse("abcdefghij").unwrap(),
            workspace: WorkspaceId::generate(),
            owner: UserId::generate(),
            clicked_at: Timestamp::now(),
            visitor,
            correlation_id: CorrelationId::parse(&"c".repeat(128)).unwrap(),
        }
    }

    fn visitor() -> Visitor {
        Visitor::new(IpHash::of("203.0.113.9", &Salt::parse(&"s".repeat(32)).unwrap()))
    }

    #[test]
    fn a_click_takes_one_write_unit_whatever_a_visitor_sends() {
        for (agent, referer) in [(512, 1_024), (512, 0), (10, 1_024), (0, 0)] {
            let visitor = visitor()
                .with_headers(Some(&"ü".repeat(agent / 2)), Some(&"é".repeat(referer / 2)))
                .at_place(CountryCode::parse("DE").ok(), Some(&"ö".repeat(40)))
                .prefetching(true);

            let item = item_of("test", &click(visitor)).unwrap();

            assert!(size(&item) <= WRITE_UNIT, "{agent}, {referer}: {}", size(&item));
            assert!(item.values().all(|value| value.as_s().is_ok_and(|text| !text.is_empty()) || !value.is_s()));
        }
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let visitor = visitor().with_headers(Some(&"u".repeat(120)), Some(&"r".repeat(300)));

        let item = item_of("test", &click(visitor)).unwrap();

        assert_eq!(item["user_agent"].as_s().unwrap().len(), 120);
        assert_eq!(item["referer"].as_s().unwrap().len(), 300);
    }
}
