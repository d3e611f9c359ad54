//! The body of a request for a job: each kind has inputs of its own, and what a kind doesn't have is refused, since whoever sends it
//! expects something else to be done.

use std::fmt;

use linklet_domain::{GivenFilter, Invalid, LinkJob, LinkTask, Tag, Timestamp, optional, patched};
use linklet_lambda::http::{Request, Result, ShortUrls};
use linklet_lambda::link_filter::LinkQuery;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What is asked for.
pub(crate) struct NewJob {
    pub work: LinkJob,
    /// Which links the job means.
    pub query: LinkQuery,
    /// Whether it is only to be counted how many links are meant.
    pub is_dry_run: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    kind: String,
    #[serde(default, deserialize_with = "object")]
    filter: Option<GivenFilter>,
    #[serde(default, deserialize_with = "optional")]
    tag: Option<String>,
    #[serde(default, deserialize_with = "optional")]
    from: Option<String>,
    #[serde(default, deserialize_with = "optional")]
    to: Option<String>,
    #[serde(default, deserialize_with = "patched")]
    expires_at: Option<Option<Timestamp>>,
    #[serde(default, deserialize_with = "optional")]
    dry_run: Option<bool>,
}

/// Reads a filter that is an object. A list would be taken for the values of its members, and `[true]` for all links.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GivenFilter>, D::Error> {
    optional::<Object, D>(deserializer).map(|filter| filter.map(|Object(filter)| filter))
}

struct Object(GivenFilter);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object, A::Error> {
        GivenFilter::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

impl NewJob {
    /// Reads the body of a request.
    pub(crate) fn read(request: &Request, short_urls: &ShortUrls) -> Result<Self> {
        let body: Body = request.json()?;
        request.require_future("expires_at", body.expires_at.flatten())?;
        let task = body.task()?;
        let filter = match (body.filter, &task) {
            (Some(filter), _) => filter,
            (None, LinkTask::RenameTag { from, .. }) => GivenFilter::of_tag(from),
            (None, _) => return Err(Invalid::new("filter is required").in_field("filter").into()),
        };
        Invalid::field_when("filter", !filter.says_which(), "filter must say which links; all: true means all")?;
        let query = LinkQuery::of(&filter).map_err(|refused| Invalid::new(refused.to_string()).in_field("filter"))?;
        let short_code = filter.search.as_deref().and_then(|text| short_urls.code_in(request, text));
        let query = query.naming(short_code.as_ref());
        Ok(Self { work: LinkJob { task, filter, short_code }, query, is_dry_run: body.dry_run == Some(true) })
    }
}

impl Body {
    fn task(&self) -> Result<LinkTask, Invalid> {
        let (task, inputs): (_, &[&str]) = match self.kind.as_str() {
            "tag" => (LinkTask::Tag { tag: self.tag("tag", self.tag.as_deref())? }, &["tag"]),
            "untag" => (LinkTask::Untag { tag: self.tag("tag", self.tag.as_deref())? }, &["tag"]),
            "rename_tag" => {
                let (from, to) = (self.tag("from", self.from.as_deref())?, self.tag("to", self.to.as_deref())?);
                (LinkTask::RenameTag { from, to }, &["from", "to"])
            }
            "switch_off" => (LinkTask::SwitchOff, &[]),
            "switch_on" => (LinkTask::SwitchOn, &[]),
            "archive" => (LinkTask::Archive, &[]),
            "unarchive" => (LinkTask::Unarchive, &[]),
            "delete" => (LinkTask::Delete, &[]),
            "purge" => (LinkTask::Purge, &[]),
            "set_expiry" => {
                let expires_at = self.expires_at.ok_or_else(|| self.missing("expires_at"))?;
                (LinkTask::SetExpiry { expires_at }, &["expires_at"])
            }
            _ => return Err(Invalid::new(KINDS).in_field("kind")),
        };
        let given = [
            ("tag", self.tag.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("expires_at", self.expires_at.is_some()),
        ];
        match given.iter().find(|(name, is_given)| *is_given && !inputs.contains(name)) {
            Some((name, _)) => Err(Invalid::new(format!("{name} is no input of {}", self.kind)).in_field(*name)),
            None => Ok(task),
        }
    }

    fn tag(&self, name: &str, text: Option<&str>) -> Result<Tag, Invalid> {
        tag_in(name, text.ok_or_else(|| self.missing(name))?)
    }

    fn missing(&self, name: &str) -> Invalid {
        Invalid::new(format!("{} needs {name}", self.kind)).in_field(name)
    }
}

const KINDS: &str = "kind must be tag, untag, rename_tag, switch_off, switch_on, archive, unarchive, delete, purge or \
                     set_expiry";

/// A tag that is given under this name.
pub(crate) fn tag_in(name: &str, text: &str) -> Result<Tag, Invalid> {
    Tag::parse(text).map_err(|refused| refused.in_field(name))
}
