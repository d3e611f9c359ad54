//! Keys and attributes of LinksTable.

use std::time::Duration;

use linklet_domain::{
    AnswerKey, Availability, Changer, ClickLimit, CorrelationId, EventId, ExternalId, Generation, Invalid, Link,
    LinkChanges, LinkId, LinkIdentity, LinkMetadata, LinkState, LinkSummary, LinkWrite, NormalizedUrl, Preview,
    RedirectOptions, RedirectSettings, RedirectTarget, RemovalReason, Revision, Routing, ShortCode, SuspensionReason,
    Tags, TargetUrl, Timestamp, Tombstone, UserId, Uses, Visibility, WorkspaceId,
};
use serde::{Deserialize, Serialize};

use crate::Cursor;
pub(super) use crate::item::workspace_partition;
use crate::item::{Key, Stored};

/// The stored response to the first request with an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAnswer {
    /// The fingerprint of the request, to recognise another request with the same key.
    pub fingerprint: String,
    /// The generation of the link in the response, which tells it from a later link with its code.
    pub generation: Generation,
    /// The revision of the link in the response.
    #[serde(default, skip_serializing_if = "Revision::is_first")]
    pub revision: Revision,
    /// The response's HTTP status.
    pub status: u16,
    /// The response's body.
    #[serde(rename = "answer")]
    pub body: String,
}

pub(crate) const LINK_PREFIX: &str = "LINK#";

pub(crate) const EXPIRY_PREFIX: &str = "EXPIRY#";

pub(crate) const USES_PREFIX: &str = "USES#";

/// The attribute [`TOMBSTONE`] of a purged link.
pub(super) const PURGED: &str = "purged";

/// The name of the attribute that only links have.
pub(crate) const AVAILABILITY: &str = "availability";

/// The name of the attribute that distinguishes tombstones from links.
pub(crate) const TOMBSTONE: &str = "tombstone";

pub(crate) fn link_key(code: &ShortCode) -> Key {
    Key::new(format!("{LINK_PREFIX}{code}"), "LINK")
}

/// `URL#<workspace>#<digest>` / `URL`: the reuse entry of a URL.
pub(super) fn reuse_key(workspace: &WorkspaceId, digest: &str) -> Key {
    Key::new(format!("URL#{workspace}#{digest}"), "URL")
}

/// `IDEM#<workspace>#<key>` / `IDEM`: the stored response to a request with this idempotency key. That about one of many links of a
/// request is at `IDEM#<workspace>#<key>` / `IDEM#<index>`.
pub(super) fn idempotency_key(workspace: &WorkspaceId, AnswerKey { key, index }: &AnswerKey) -> Key {
    let sort_key = index.map_or_else(|| "IDEM".to_owned(), |index| format!("IDEM#{index}"));
    Key::new(format!("IDEM#{workspace}#{key}"), sort_key)
}

/// `EXTERNAL#<workspace>#<id>` / `EXTERNAL`: the link that is called this elsewhere. IAM roles in `template.yaml` name the prefix.
pub(super) fn external_id_key(workspace: &WorkspaceId, id: &ExternalId) -> Key {
    Key::new(format!("EXTERNAL#{workspace}#{id}"), "EXTERNAL")
}

/// `FOLD#<lower case>` / `FOLD`: the link whose code was chosen, in whichever case people type it.
pub(super) fn case_alias_key(code: &ShortCode) -> Key {
    Key::new(format!("FOLD#{}", code.folded()), "FOLD")
}

/// Which code somebody has chosen of those that differ by case alone. It stays when the code is free again, and then means nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CaseAliasItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub workspace_id: WorkspaceId,
}

/// `USES#<link>` / `USES`: how often a link with a limit was used. IAM roles in `template.yaml` name the prefix.
pub(super) fn uses_key(link: &LinkId) -> Key {
    Key::new(format!("{USES_PREFIX}{link}"), "USES")
}

/// How often a link with a limit was used. It is apart from the link, so that only this is written when the link is followed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UsesItem {
    #[serde(flatten)]
    pub key: Key,
    pub used: u32,
    pub max: ClickLimit,
    /// The limit of which it was noted that it is used up. The filters of the stream let nothing else of this item through.
    pub full_for: Option<ClickLimit>,
    pub full_at: Option<Timestamp>,
    /// The correlation id of the request that has noted it.
    pub correlation_id: Option<CorrelationId>,
}

impl UsesItem {
    /// The link.
    pub(super) fn link(&self) -> Result<LinkId, Invalid> {
        LinkId::parse(self.key.pk.strip_prefix(USES_PREFIX).unwrap_or_default())
    }
}

impl From<UsesItem> for Uses {
    fn from(UsesItem { used, max, full_for, .. }: UsesItem) -> Self {
        Self { used, max, full_for }
    }
}

/// `LOCK#<link>` / `LOCK`: the hash of a link's password. IAM roles in `template.yaml` name the prefix.
pub(super) fn link_password_key(link: &LinkId) -> Key {
    Key::new(format!("LOCK#{link}"), "LOCK")
}

/// The hash of a link's password. No index has it, no event source, and no function but the one that verifies passwords may read
/// it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LinkPasswordItem {
    #[serde(flatten)]
    pub key: Key,
    pub password_hash: String,
}

pub(super) fn history_partition(link: &LinkId) -> String {
    format!("HISTORY#{link}")
}

/// `HISTORY#<link>` / `<time>#<change id>`: a change of where or whether a link leads. IAM roles in `template.yaml` name the
/// prefix.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HistoryItem {
    #[serde(flatten)]
    pub key: Key,
    pub changed_at: Timestamp,
    pub change_id: EventId,
    pub user_id: UserId,
    pub changes: LinkChanges,
}

impl HistoryItem {
    pub(super) fn new(link: &LinkId, at: Timestamp, by: UserId, id: &EventId, changes: LinkChanges) -> Self {
        let key = Key::new(history_partition(link), Cursor { at, id: id.clone() }.sort_key());
        Self { key, changed_at: at, change_id: id.clone(), user_id: by, changes }
    }
}

/// `CLEANUP#<workspace>` / `CLEANUP`: the statistics of the cleanup.
pub(super) fn cleanup_key(workspace: &WorkspaceId) -> Key {
    Key::new(format!("CLEANUP#{workspace}"), "CLEANUP")
}

/// `LINK#<code>` / `LINK`: a link. Its events are made from this item's stream records, so it has all that events contain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LinkItem {
    #[serde(flatten)]
    pub key: Key,
    pub by_workspace_pk: String,
    pub by_workspace_sk: String,
    #[serde(flatten)]
    pub identity: LinkIdentity,
    pub original_url: TargetUrl,
    pub created_at: Timestamp,
    /// The time of the last change; absent as long as there was none.
    pub updated_at: Option<Timestamp>,
    pub availability: AvailabilityMap,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expiry_is_published: bool,
    #[serde(flatten)]
    pub metadata: LinkMetadata,
    #[serde(flatten)]
    pub options: RedirectOptions,
    /// Rules and variants as JSON, so that their size is the one that is limited, and a redirect reads them only if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_json")]
    pub routing: Option<Routing>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watch: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    pub imported_clicks: Option<u64>,
    pub imported_from: Option<String>,
    pub deleted_by: Option<UserId>,
    /// Who has made the latest change, if others hear of that.
    pub changed_by: Option<Changer>,
    /// Absent as long as nothing was changed.
    #[serde(default, skip_serializing_if = "Revision::is_first")]
    pub revision: Revision,
    /// Whether nobody is notified of the link's creation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    /// Whether the latest write has an event that somebody reads. The filters of the stream leave out what is no news.
    pub is_news: bool,
    #[serde(flatten)]
    pub last_write: LinkWrite,
}

/// The attribute `availability`: one map, so that an index which has it has each of its members, also later ones.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct AvailabilityMap {
    expires_at: Option<Timestamp>,
    /// Absent as long as the link was never switched off.
    is_active: Option<bool>,
    deleted_at: Option<Timestamp>,
    valid_from: Option<Timestamp>,
    exhausted_at: Option<Timestamp>,
    /// Absent where there is no password.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_protected: bool,
    /// What suspends the link, as a set of words. Absent where nothing does, as a set of DynamoDB can't be empty. A word that this
    /// version doesn't know suspends, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "serde_dynamo::string_set")]
    suspended_by: Vec<String>,
}

impl From<Availability> for AvailabilityMap {
    fn from(availability: Availability) -> Self {
        let Availability { state, valid_from, expires_at, exhausted_at, is_protected, suspensions } = availability;
        let (is_active, deleted_at) = match state {
            LinkState::Active => (None, None),
            LinkState::Inactive => (Some(false), None),
            LinkState::Deleted(at) => (None, Some(at)),
        };
        let suspended_by = suspensions.iter().map(|reason| reason.to_string()).collect();
        Self { expires_at, is_active, deleted_at, valid_from, exhausted_at, is_protected, suspended_by }
    }
}

impl From<AvailabilityMap> for Availability {
    fn from(stored: AvailabilityMap) -> Self {
        let AvailabilityMap { expires_at, is_active, deleted_at, valid_from, exhausted_at, is_protected, suspended_by } =
            stored;
        let state = match deleted_at {
            Some(at) => LinkState::Deleted(at),
            None if is_active == Some(false) => LinkState::Inactive,
            None => LinkState::Active,
        };
        let reasons = suspended_by.iter().map(|word| word.parse().unwrap_or(SuspensionReason::Other));
        Self { state, valid_from, expires_at, exhausted_at, is_protected, suspensions: reasons.collect() }
    }
}

/// Reads and writes a value as a text of JSON.
mod as_json {
    use serde::{
        Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, de::Error as _, ser::Error as _,
    };

    pub(super) fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.serialize_some(&serde_json::to_string(value).map_err(S::Error::custom)?),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| serde_json::from_str(&text)).transpose().map_err(D::Error::custom)
    }
}

impl LinkItem {
    pub(crate) fn new(link: &Link) -> Self {
        Self {
            key: link_key(link.code()),
            by_workspace_pk: workspace_partition(&link.identity.workspace),
            by_workspace_sk: Cursor { at: link.created_at, id: link.code().clone() }.sort_key(),
            identity: link.identity.clone(),
            original_url: link.target.clone(),
            created_at: link.created_at,
            updated_at: (link.updated_at != link.created_at).then_some(link.updated_at),
            availability: link.availability.into(),
            expiry_is_published: link.expiry_is_published,
            metadata: link.metadata.clone(),
            options: link.options.clone(),
            routing: link.routing.clone(),
            watch: link.watch,
            archived: link.archived,
            imported_clicks: link.imported_clicks,
            imported_from: link.imported_from.clone(),
            deleted_by: None,
            changed_by: None,
            revision: link.revision,
            quiet: false,
            is_news: true,
            last_write: link.last_write.clone(),
        }
    }

    pub(crate) fn into_link(self) -> Link {
        Link {
            identity: self.identity,
            target: self.original_url,
            created_at: self.created_at,
            updated_at: self.updated_at.unwrap_or(self.created_at),
            availability: self.availability.into(),
            expiry_is_published: self.expiry_is_published,
            metadata: self.metadata,
            options: self.options,
            routing: self.routing,
            watch: self.watch,
            archived: self.archived,
            imported_clicks: self.imported_clicks,
            imported_from: self.imported_from,
            revision: self.revision,
            last_write: self.last_write,
        }
    }
}

/// What the index `by-workspace-lean` has of a link. Code and time of creation are in the key.
#[derive(Debug, Deserialize)]
pub(super) struct LeanItem {
    by_workspace_sk: String,
    generation: Generation,
    user_id: UserId,
    #[serde(default)]
    tags: Tags,
    #[serde(default)]
    archived: bool,
    availability: AvailabilityMap,
}

impl LeanItem {
    pub(super) fn into_summary(self) -> Result<LinkSummary, Invalid> {
        let Cursor { at, id: code } = Cursor::from_sort_key(&self.by_workspace_sk)
            .ok_or_else(|| Invalid::new("a place in a list is a time and a code"))?;
        Ok(LinkSummary {
            id: LinkId { code, generation: self.generation },
            owner: self.user_id,
            created_at: at,
            availability: self.availability.into(),
            tags: self.tags,
            archived: self.archived,
        })
    }
}

/// `EXPIRY#<link>` / `EXPIRY`: the marker of a link that expires. Its deletion by TTL says that something is to be done about the
/// link; what that is, the link itself says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ExpiryMarkerItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub generation: Generation,
    pub correlation_id: CorrelationId,
    pub ttl: i64,
}

impl ExpiryMarkerItem {
    pub(super) fn new(link: &LinkId, due: Timestamp, correlation_id: &CorrelationId) -> Self {
        Self {
            key: Key::new(format!("{EXPIRY_PREFIX}{link}"), "EXPIRY"),
            short_code: link.code.clone(),
            generation: link.generation.clone(),
            correlation_id: correlation_id.clone(),
            // Rounded up, since a marker that is gone before its time has to be written again.
            ttl: due.plus(Duration::from_millis(999)).unix_seconds(),
        }
    }
}

/// `LINK#<code>` / `LINK`: the tombstone of a removed link. Writing that of a purged one publishes `url.purged`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TombstoneItem {
    #[serde(flatten)]
    pub key: Key,
    #[serde(flatten)]
    pub tombstone: Tombstone,
    /// Who has purged it, if it was a person.
    pub purged_by: Option<Changer>,
    /// As of a link.
    pub is_news: bool,
    pub ttl: Option<i64>,
}

impl TombstoneItem {
    pub(crate) fn new(tombstone: &Tombstone) -> Self {
        Self {
            key: link_key(&tombstone.identity.id.code),
            tombstone: tombstone.clone(),
            purged_by: None,
            is_news: tombstone.reason == RemovalReason::Purged,
            ttl: tombstone.kept_until().map(Timestamp::unix_seconds),
        }
    }
}

/// The attributes of a link that a redirect needs. The whole item is read, since a projection saves no read units, and naming
/// the attributes takes longer than skipping the others.
#[derive(Debug, Deserialize)]
pub(super) struct RedirectItem {
    pub short_code: ShortCode,
    pub generation: Generation,
    pub original_url: TargetUrl,
    pub workspace_id: WorkspaceId,
    pub user_id: UserId,
    pub availability: AvailabilityMap,
    pub fallback_url: Option<TargetUrl>,
    pub max_clicks: Option<ClickLimit>,
    #[serde(default)]
    pub forward_query: bool,
    pub preview: Option<Preview>,
    #[serde(default, with = "as_json")]
    pub routing: Option<Routing>,
    pub statistics: Option<Visibility>,
}

impl From<RedirectItem> for RedirectTarget {
    fn from(item: RedirectItem) -> Self {
        let RedirectItem { fallback_url, max_clicks, forward_query, preview, .. } = item;
        let options = RedirectOptions { fallback_url, max_clicks, forward_query, preview };
        Self {
            identity: LinkIdentity {
                id: LinkId { code: item.short_code, generation: item.generation },
                workspace: item.workspace_id,
                owner: item.user_id,
            },
            target: item.original_url,
            availability: item.availability.into(),
            settings: RedirectSettings::of(options, item.routing),
            statistics: item.statistics,
        }
    }
}

/// `URL#<workspace>#<digest>` / `URL`: the reuse entry, the link to return when the URL is shortened again. The link may have
/// been removed since, so readers have to check it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ReuseItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
}

impl ReuseItem {
    pub(super) fn key_of(link: &Link) -> Key {
        reuse_key(&link.identity.workspace, &NormalizedUrl::of(&link.target).digest())
    }

    pub(super) fn new(link: &Link) -> Self {
        Self { key: Self::key_of(link), short_code: link.code().clone() }
    }
}

/// `EXTERNAL#<workspace>#<id>` / `EXTERNAL`: the link that is called this elsewhere. The link may have been removed since, so
/// readers have to check it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExternalIdItem {
    #[serde(flatten)]
    pub key: Key,
    pub short_code: ShortCode,
    pub generation: Generation,
    /// Tells the entry from others of the same link.
    pub claim: EventId,
}

impl ExternalIdItem {
    pub(super) fn new(workspace: &WorkspaceId, link: &LinkId, id: &ExternalId) -> Self {
        Self {
            key: external_id_key(workspace, id),
            short_code: link.code.clone(),
            generation: link.generation.clone(),
            claim: EventId::generate(),
        }
    }
}

/// `IDEM#<workspace>#<key>` / `IDEM`: the stored response to a request with this idempotency key.
pub(super) type IdempotencyItem = Stored<FirstAnswer>;
