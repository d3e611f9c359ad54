//! The redirect options of a link, of which a plain link has none.

mod destination_name;
mod forwarding;
mod language;
mod limit;
mod preview;
mod routing;
mod rule;

use serde::{Deserialize, Deserializer, Serialize, de::Error};

pub use self::destination_name::DestinationName;
pub use self::limit::{ClickLimit, Uses};
pub use self::preview::{Preview, PreviewDescription, PreviewTitle};
pub use self::routing::{Destination, Routing, RoutingRefused, Variant};
pub use self::rule::{Condition, Platform, Rule, Traits};
use crate::TargetUrl;
use crate::validated::{null_as_default, optional};

/// What is agreed about following a link, but for its [rules and variants](Routing). Request bodies, answers and items have these
/// members under the same names, so a new one belongs here and in [`LinkPatch`](crate::LinkPatch).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RedirectOptions {
    /// Where visitors are led when the link doesn't lead to its target yet, or not any more.
    #[serde(deserialize_with = "fallback_url", skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<TargetUrl>,
    /// How often the link may be followed.
    #[serde(deserialize_with = "optional", skip_serializing_if = "Option::is_none")]
    pub max_clicks: Option<ClickLimit>,
    /// Whether the parameters of a visitor's address go onto the target.
    #[serde(deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub forward_query: bool,
    /// What is shown where the link is posted.
    #[serde(deserialize_with = "preview", skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
}

impl RedirectOptions {
    /// Whether there are none, as for a plain link.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads an optional `fallback_url`. Its errors name this member, where those of a target speak of `url`.
pub(crate) fn fallback_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TargetUrl>, D::Error> {
    let given = optional::<String, D>(deserializer)?;
    given.map(|text| TargetUrl::parse_as("fallback_url", &text)).transpose().map_err(D::Error::custom)
}

/// Reads an optional preview. One that says nothing is none.
pub(crate) fn preview<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Preview>, D::Error> {
    optional::<Preview, D>(deserializer).map(|given| given.filter(|preview| *preview != Preview::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<RedirectOptions, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_absent_null_or_empty_is_no_term() {
        for none in [
            "{}",
            r#"{"fallback_url": null, "max_clicks": null, "forward_query": null, "preview": null}"#,
            r#"{"fallback_url": "", "max_clicks": "", "forward_query": false, "preview": {}}"#,
            r#"{"preview": {"title": "", "description": " ", "image": null}}"#,
        ] {
            assert!(read(none).unwrap().are_none(), "{none}");
        }
        assert_eq!(serde_json::to_string(&RedirectOptions::default()).unwrap(), "{}");
    }

    #[test]
    fn terms_are_written_as_they_are_read() {
        let json = r#"{"fallback_url":"https://example.com/over","max_clicks":100,"forward_query":true,"preview":{"title":"Ours"}}"#;

        assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
    }

    #[test]
    fn each_member_is_refused_by_its_own_name() {
        for (json, sentence) in [
            (r#"{"fallback_url": "example.com"}"#, "fallback_url must include scheme and host"),
            (r#"{"max_clicks": 0}"#, "max_clicks must be a whole number from 1 to 1,000,000"),
            (r#"{"max_clicks": 1000001}"#, "max_clicks must be a whole number from 1 to 1,000,000"),
            (
                r#"{"preview": {"image": "ftp://example.com/a.png"}}"#,
                "preview.image must begin with http:// or https://, not ftp:",
            ),
        ] {
            let refused = read(json).unwrap_err();
            assert!(refused.starts_with(sentence), "{json}: {refused}");
        }
    }
}
