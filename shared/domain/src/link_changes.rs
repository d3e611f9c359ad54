//! What a write has changed of a link.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{Invalid, Link, LinkState, Timestamp, UserId};

/// A member of a link before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition<T> {
    /// What it was.
    pub from: T,
    /// What it is.
    pub to: T,
}

/// The members of a link that a write has changed, under the names that the API gives them. Each is a [`Transition`], or `true` where
/// both values would be too much.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinkChanges(Map<String, Value>);

/// A change that somebody has made to where or whether a link leads: an entry of its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// When; later than the change before.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
    /// What.
    pub changes: LinkChanges,
}

impl LinkChanges {
    /// The names of what has changed, as the API calls them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What a member was and is; `None` if it was not changed.
    ///
    /// # Errors
    /// When it is no `T`.
    pub fn of<T: DeserializeOwned>(&self, name: &str) -> Result<Option<Transition<T>>, Invalid> {
        let change = self.0.get(name).map(Transition::deserialize).transpose();
        change.map_err(|error| Invalid::new(error.to_string()))
    }

    /// What `url.updated` tells of a write; `None` if none of the members has changed. `is_active` is not among them: switching a
    /// link on or off is an event of its own.
    pub fn between(before: &Link, after: &Link) -> Option<Self> {
        let mut changes = Self::of_members(&members(before), &members(after));
        if before.routing != after.routing {
            changes.0.insert("rules".to_owned(), json!(true));
        }
        changes.unless_empty()
    }

    /// What the history tells of a write; `None` if the link leads as before. Another password is a change of `is_protected` from
    /// `true` to `true`.
    pub fn for_history(before: &Link, after: &Link, has_new_password: bool) -> Option<Self> {
        let is_protected = after.availability.is_protected;
        if after.availability.is_deleted() {
            let deleted = Map::from_iter([("deleted".to_owned(), json!(true))]);
            return (!before.availability.is_deleted()).then_some(Self(deleted));
        }
        let mut changes = Self::of_members(&members_in_history(before), &members_in_history(after));
        if has_new_password && before.availability.is_protected == is_protected {
            changes.0.insert("is_protected".to_owned(), json!(Transition { from: is_protected, to: is_protected }));
        }
        changes.unless_empty()
    }

    fn of_members(before: &Value, after: &Value) -> Self {
        let names = [before, after].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        // A flag that isn't set is left out.
        let value =
            |one: &Value, other: &Value| if one.is_null() && other.is_boolean() { json!(false) } else { one.clone() };
        let transition = |name: &String| Transition {
            from: value(&before[name], &after[name]),
            to: value(&after[name], &before[name]),
        };
        let changed = names.map(|name| (name.clone(), transition(name))).filter(|(_, change)| change.from != change.to);
        Self(changed.map(|(name, change)| (name, json!(change))).collect())
    }

    fn unless_empty(self) -> Option<Self> {
        (!self.0.is_empty()).then_some(self)
    }
}

/// The members of a link that are told of, but for its rules and variants, which may be many.
fn members(link: &Link) -> Value {
    let availability = &link.availability;
    let mut members = json!({
        "original_url": link.target,
        "expires_at": availability.expires_at,
        "valid_from": availability.valid_from,
        "is_protected": availability.is_protected,
        "watch": link.watch,
        "archived": link.archived,
        "user_id": link.identity.owner,
    });
    for properties in [json!(link.metadata), json!(link.options)] {
        for (name, value) in properties.as_object().into_iter().flatten() {
            members[name] = value.clone();
        }
    }
    members
}

/// The members of a link that decide where or whether it leads.
fn members_in_history(link: &Link) -> Value {
    let availability = &link.availability;
    json!({
        "original_url": link.target,
        "routing": link.routing,
        "fallback_url": link.options.fallback_url,
        "valid_from": availability.valid_from,
        "expires_at": availability.expires_at,
        "max_clicks": link.options.max_clicks,
        "is_active": availability.state == LinkState::Active,
        "is_protected": availability.is_protected,
    })
}
