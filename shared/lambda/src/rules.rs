//! Rules and variants of links in requests and answers.

use linklet_domain::{Routing, RoutingRefused, Rule, Variant, optional};
use serde::{Deserialize, Serialize};

use crate::http::{Edge, Problem, Request, Result, ShortUrls};

/// Rules and variants as a request has them.
#[serde_with::apply(Option => #[serde(default, deserialize_with = "optional")])]
#[derive(Debug, Deserialize)]
pub struct GivenRules {
    rules: Option<Vec<Rule>>,
    variants: Option<Vec<Variant>>,
}

impl GivenRules {
    /// Whether the request has any of both, if only an empty list.
    pub fn is_given(&self) -> bool {
        self.rules.is_some() || self.variants.is_some()
    }

    /// The rules and variants; `None` if there are none.
    ///
    /// # Errors
    /// When there are too many, or they are too large.
    pub fn into_routing(self) -> Result<Option<Routing>> {
        Routing::of(self.rules.unwrap_or_default(), self.variants.unwrap_or_default()).map_err(
            |refused| match refused {
                RoutingRefused::Invalid(invalid) => invalid.into(),
                RoutingRefused::TooLarge => Problem::RulesTooLarge.into(),
            },
        )
    }
}

/// Refuses rules and variants that lead to the shortener itself.
///
/// # Errors
/// When one of them does.
pub fn refuse_own(short_urls: &ShortUrls, request: &Request, routing: &Routing) -> Result<()> {
    for rule in routing.rules() {
        short_urls.refuse_own(request, "rules", &rule.url)?;
    }
    for variant in routing.variants() {
        short_urls.refuse_own(request, "variants", &variant.url)?;
    }
    Ok(())
}

/// A link's rules and variants in an answer.
#[derive(Debug, Serialize)]
pub struct RulesView<'a> {
    rules: &'a [Rule],
    variants: &'a [Variant],
    countries_known: bool,
}

impl<'a> RulesView<'a> {
    /// The rules and variants of a link, where this edge tells countries or none does.
    pub fn new(routing: Option<&'a Routing>, edge: Edge) -> Self {
        let (rules, variants) = routing.map_or_else(Default::default, |routing| (routing.rules(), routing.variants()));
        Self { rules, variants, countries_known: edge != Edge::None }
    }
}
