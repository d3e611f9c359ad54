//! Workspaces: their names, slugs and settings.

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

use crate::link_metadata::member;
use crate::validated::{self, string_newtype};
use crate::{
    Closure, Color, Contact, EmailAddress, ExactJson, Invalid, LogoId, Revision, Timestamp, UserId, Visibility,
    WorkspaceId,
};

/// The display name of a workspace: 1–255 characters.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = validated::LONGEST_NAME;

    /// Reads a name, which is kept as all texts of people's.
    ///
    /// # Errors
    /// When the name is empty, invisible or longer than 255 characters, or has characters that disguise others.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        validated::name(text).map(Self).map_err(Invalid::new)
    }

    /// The default name of the workspace that is created with an account.
    pub fn personal(email: &EmailAddress) -> Self {
        Self(format!("{}{PERSONAL}", email.local_part()))
    }

    /// Whether it may be a [personal](Self::personal) one.
    fn is_default(&self) -> bool {
        self.0.ends_with(PERSONAL)
    }
}

/// The end of the name of a workspace whose name nobody has chosen.
const PERSONAL: &str = "'s workspace";

string_newtype!(WorkspaceName);

/// The slug of a workspace, by which a login selects it: 2–100 characters of `[a-z0-9-]`, not starting or ending with a hyphen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SerializeDisplay, DeserializeFromStr)]
pub struct WorkspaceSlug(String);

impl WorkspaceSlug {
    /// Maximum length in characters.
    pub const MAX_LENGTH: usize = 100;

    /// Parses a slug: `^[a-z0-9][a-z0-9-]*[a-z0-9]$`, at most 100 characters.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = (2..=Self::MAX_LENGTH).contains(&text.len());
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        let is_valid = fits && plain && !text.starts_with('-') && !text.ends_with('-');
        Invalid::unless(is_valid, "slug must have 2–100 characters of a-z, 0-9 and inner hyphens")?;
        Ok(Self(text.to_owned()))
    }

    /// Derives a slug from a name and the last characters of the workspace's id, which are random and make it unique.
    pub fn derive(name: &str, workspace: &WorkspaceId) -> Self {
        let id = workspace.to_string();
        let suffix = &id[id.len().saturating_sub(6)..];
        let mut slug = String::new();
        for character in name.to_lowercase().chars().take(40) {
            if character.is_ascii_alphanumeric() {
                slug.push(character);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let stem = slug.trim_end_matches('-');
        Self(if stem.is_empty() { format!("ws-{suffix}") } else { format!("{stem}-{suffix}") })
    }
}

string_newtype!(WorkspaceSlug);

/// Settings that clients store with a workspace: a JSON object of at most 8 KB, which Linklet doesn't interpret. Its numbers
/// come back as they were written.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct WorkspaceSettings(String);

impl WorkspaceSettings {
    /// Maximum length in bytes of the object as JSON without white space.
    pub const MAX_BYTES: usize = 8_192;

    /// Parses a JSON object. The sentences of errors begin with `must`.
    ///
    /// # Errors
    /// When the text is no object, or longer than [`Self::MAX_BYTES`] without white space.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let object = ExactJson::parse(text.as_bytes()).ok().filter(ExactJson::is_object);
        let object = object.ok_or_else(|| Invalid::new("must be an object"))?;
        Invalid::unless(object.as_str().len() <= Self::MAX_BYTES, "must have at most 8,192 bytes")?;
        Ok(Self(object.as_str().to_owned()))
    }
}

string_newtype!(WorkspaceSettings);

impl Default for WorkspaceSettings {
    fn default() -> Self {
        Self("{}".to_owned())
    }
}

/// Whether links of a workspace can be led elsewhere once they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Destinations {
    /// Links lead for ever where they led at first, so that visitors can trust one that they have followed before.
    #[default]
    Fixed,
    /// People may change where links lead.
    Editable,
}

impl Destinations {
    /// Whether it is what a workspace has of which nobody has said anything.
    pub fn are_fixed(&self) -> bool {
        *self == Self::Fixed
    }
}

/// A workspace, the tenant that owns links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// The workspace's id, which never changes.
    #[serde(rename = "workspace_id")]
    pub id: WorkspaceId,
    /// The display name.
    pub name: WorkspaceName,
    /// The slug, unique among all workspaces.
    pub slug: WorkspaceSlug,
    /// Settings that clients store with the workspace.
    #[serde(default)]
    pub settings: WorkspaceSettings,
    /// Whether its links can be led elsewhere.
    #[serde(default, skip_serializing_if = "Destinations::are_fixed")]
    pub destinations: Destinations,
    /// Who may see the statistics of its links, where a link doesn't say.
    pub statistics: Option<Visibility>,
    /// The color of its visitors' pages.
    pub color: Option<Color>,
    /// Whom its visitors may ask.
    pub contact: Option<Contact>,
    /// Its logo.
    pub logo: Option<LogoId>,
    /// Who has created it, who may have left it since.
    pub creator: UserId,
    /// When the workspace was created.
    pub created_at: Timestamp,
    /// When its name, slug or settings were last changed; at first, when it was created.
    pub updated_at: Timestamp,
    /// How often they were changed.
    #[serde(default, skip_serializing_if = "Revision::is_first")]
    pub revision: Revision,
    /// That it is closed, if it is.
    #[serde(flatten)]
    pub closure: Option<Closure>,
}

impl Workspace {
    /// The workspace with a patch applied.
    pub fn changed_by(&self, patch: &WorkspacePatch) -> Self {
        Self {
            name: patch.name.as_ref().unwrap_or(&self.name).clone(),
            slug: patch.slug.as_ref().unwrap_or(&self.slug).clone(),
            settings: patch.settings.as_ref().unwrap_or(&self.settings).clone(),
            destinations: patch.destinations.unwrap_or(self.destinations),
            statistics: patch.statistics.unwrap_or(self.statistics),
            color: patch.color.unwrap_or(self.color),
            contact: member(patch.contact.as_ref(), &self.contact),
            logo: member(patch.logo.as_ref(), &self.logo),
            ..self.clone()
        }
    }

    /// What strangers may know of it.
    pub fn in_public(&self) -> PublicWorkspace {
        let Self { name, statistics, color, contact, logo, .. } = self.clone();
        PublicWorkspace { name, statistics, color, contact, logo }
    }
}

/// What answers to strangers show of a workspace, or depend on. It names no people but whom an admin has named as the contact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublicWorkspace {
    /// The display name.
    pub name: WorkspaceName,
    /// Who may see the statistics of its links, where a link doesn't say.
    pub statistics: Option<Visibility>,
    /// The color of its visitors' pages.
    pub color: Option<Color>,
    /// Whom its visitors may ask.
    pub contact: Option<Contact>,
    /// Its logo.
    pub logo: Option<LogoId>,
}

impl PublicWorkspace {
    /// The name, unless nobody may have chosen it: the default one has a part of its creator's address.
    pub fn chosen_name(&self) -> Option<&WorkspaceName> {
        let is_branded = self.color.is_some() || self.contact.is_some() || self.logo.is_some();
        Some(&self.name).filter(|name| is_branded || !name.is_default())
    }
}

/// Changes to a workspace. `None` leaves a property unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspacePatch {
    /// The new name.
    pub name: Option<WorkspaceName>,
    /// The new slug.
    pub slug: Option<WorkspaceSlug>,
    /// The new settings, which replace the old ones completely.
    pub settings: Option<WorkspaceSettings>,
    /// Whether its links can be led elsewhere from now on.
    pub destinations: Option<Destinations>,
    /// Who may see the statistics of its links; `Some(None)` leaves it to the system.
    pub statistics: Option<Option<Visibility>>,
    /// The color of its visitors' pages; `Some(None)` is that of all.
    pub color: Option<Option<Color>>,
    /// Whom its visitors may ask; `Some(None)` is nobody.
    pub contact: Option<Option<Contact>>,
    /// Its logo; `Some(None)` is none.
    pub logo: Option<Option<LogoId>>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_default_name_is_public_only_beside_a_color_contact_or_logo() {
        let named = |name: &str, color: Option<Color>| {
            let name = WorkspaceName::parse(name).unwrap();
            let public = PublicWorkspace { name, statistics: None, color, contact: None, logo: None };
            public.chosen_name().map(ToString::to_string)
        };

        assert_eq!(named("ada's workspace", None), None);
        assert_eq!(named("Looms", None).as_deref(), Some("Looms"));
        assert_eq!(named("ada's workspace", Color::parse("#123456").ok()).as_deref(), Some("ada's workspace"));
    }

    #[test]
    fn a_slug_has_letters_digits_and_inner_hyphens() {
        for accepted in ["acme-corp", "ab", &"a".repeat(100)] {
            assert!(WorkspaceSlug::parse(accepted).is_ok(), "{accepted}");
        }
        for refused in ["", "a", "-acme", "acme-", "Acme", "ac_me", &"a".repeat(101)] {
            assert!(WorkspaceSlug::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn settings_are_an_object_of_at_most_eight_kilobytes_kept_verbatim() {
        let of_length = |bytes: usize| format!(r#"{{"k":"{}"}}"#, "x".repeat(bytes - r#"{"k":""}"#.len()));
        let sentence = |text: &str| WorkspaceSettings::parse(text).unwrap_err().to_string();
        let mixed = r#"{"a":[1,2.50,null,true,1e400],"b":{"ü":"\"\u0000"}}"#;

        assert_eq!(WorkspaceSettings::parse(mixed).unwrap().as_str(), mixed);
        assert_eq!(WorkspaceSettings::parse(WorkspaceSettings::default().as_str()), Ok(WorkspaceSettings::default()));
        assert!(WorkspaceSettings::parse(&of_length(8_192)).is_ok());
        assert_eq!(sentence(&of_length(8_193)), "must have at most 8,192 bytes");
        for refused in ["[]", "", "null", "{", "5"] {
            assert_eq!(sentence(refused), "must be an object", "{refused}");
        }
    }

    proptest! {
        #[test]
        fn a_derived_slug_is_always_a_slug(name in any::<String>()) {
            let slug = WorkspaceSlug::derive(&name, &WorkspaceId::generate());

            prop_assert_eq!(WorkspaceSlug::parse(slug.as_str()), Ok(slug));
        }
    }
}
