use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::TargetUrl;
use crate::validated::{bounded_text, optional, optional_text};

/// What chats and social networks show where the link is posted (the [Open Graph protocol](https://ogp.me)), in place of what
/// they would read from the target.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Preview {
    /// The headline.
    #[serde(deserialize_with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub title: Option<PreviewTitle>,
    /// A sentence or two.
    #[serde(deserialize_with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub description: Option<PreviewDescription>,
    /// The address of a picture.
    #[serde(deserialize_with = "image", skip_serializing_if = "Option::is_none")]
    pub image: Option<TargetUrl>,
}

bounded_text! {
    /// The headline of a preview: at most 200 characters.
    PreviewTitle, "preview.title", 200, Line
}

bounded_text! {
    /// The description in a preview: at most 500 characters.
    PreviewDescription, "preview.description", 500, Line
}

fn image<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TargetUrl>, D::Error> {
    let given = optional::<String, D>(deserializer)?;
    given.map(|text| TargetUrl::parse_as("preview.image", &text)).transpose().map_err(D::Error::custom)
}
