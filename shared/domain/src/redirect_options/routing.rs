use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{DestinationName, Rule, Traits};
use crate::{Invalid, IpHash, LinkId, TargetUrl};

/// Where a link leads instead of its target: the first rule that matches a visitor decides, and of those that differ from it by
/// language only, the one of the language that they want most; without one, visitors are shared
/// between the variants and the target. There is at least one rule or variant. What is read from an item is believed, so that
/// limits that are lowered later break no links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routing {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules: Vec<Rule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Variant>,
}

/// Leads a share of the visitors elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What statistics call it.
    #[serde(default, deserialize_with = "crate::optional", skip_serializing_if = "Option::is_none")]
    pub name: Option<DestinationName>,
    /// Where it leads.
    pub url: TargetUrl,
    /// How many of a hundred visitors it gets.
    pub weight: u8,
}

/// Where one visitor is led, and what statistics call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination<'a> {
    /// The name.
    pub name: DestinationName,
    /// The URL.
    pub url: &'a TargetUrl,
    /// The place of the rule that has decided.
    pub rule: Option<usize>,
    /// The place of the variant whose share the visitor belongs to.
    pub variant: Option<usize>,
}

/// Why rules and variants are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoutingRefused {
    /// They break a rule, which is named.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// They take more than [`Routing::MOST_BYTES`].
    #[error("rules and variants must have at most 3 KB together")]
    TooLarge,
}

impl Routing {
    /// Maximum number of rules.
    pub const MOST_RULES: usize = 10;
    /// Maximum number of variants.
    pub const MOST_VARIANTS: usize = 5;
    /// Maximum size as JSON in bytes. A redirect reads the link's whole item, which costs another half read unit beyond 4 KB.
    pub const MOST_BYTES: usize = 3_072;

    /// These rules and variants; `None` if there are none.
    ///
    /// # Errors
    /// When there are too many of them, or they are too large.
    pub fn of(rules: Vec<Rule>, variants: Vec<Variant>) -> Result<Option<Self>, RoutingRefused> {
        const WEIGHTS: &str = "each weight must be a whole percentage from 1 on, and all together at most 100";
        Invalid::field_when("rules", rules.len() > Self::MOST_RULES, "rules must be at most 10")?;
        let fits = |rule: &Rule| (1..=Rule::MOST_CONDITIONS).contains(&rule.conditions.len());
        Invalid::field_when("rules", !rules.iter().all(fits), "each of the rules must have 1–5 conditions")?;
        Invalid::field_when("variants", variants.len() > Self::MOST_VARIANTS, "variants must be at most 5")?;
        let has_no_weight = variants.iter().any(|variant| variant.weight == 0);
        Invalid::field_when("variants", has_no_weight || total(&variants) > 100, WEIGHTS)?;
        if rules.is_empty() && variants.is_empty() {
            return Ok(None);
        }
        let routing = Self { rules, variants };
        if routing.to_json().len() > Self::MOST_BYTES {
            return Err(RoutingRefused::TooLarge);
        }
        Ok(Some(routing))
    }

    /// The rules, in the order in which they are judged.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The variants.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Whether these are rules and variants of others, of which some may be missing: in the same order, and none is changed.
    pub fn is_part_of(&self, other: &Self) -> bool {
        fn is_part<T: PartialEq>(some: &[T], all: &[T]) -> bool {
            let mut rest = all.iter();
            some.iter().all(|one| rest.any(|other| other == one))
        }
        is_part(&self.rules, &other.rules) && is_part(&self.variants, &other.variants)
    }

    /// Where a visitor of a link is led; `None` for the link's target. Of the same address, it is always the same variant.
    pub fn destination(&self, link: &LinkId, visitor: &Traits<'_>) -> Option<Destination<'_>> {
        let by_rule = self.rule_for(visitor).map(|(position, rule)| {
            let name = rule.name.clone().unwrap_or_else(|| DestinationName::of_rule(position));
            Destination { name, url: &rule.url, rule: Some(position), variant: None }
        });
        by_rule.or_else(|| self.variant(link, visitor.address))
    }

    /// The first rule that matches, or that of the visitor's favourite language among it and the later ones that differ from it
    /// by language only.
    fn rule_for(&self, visitor: &Traits<'_>) -> Option<(usize, &Rule)> {
        let mut matching = self.rules.iter().enumerate().filter(|(_, rule)| rule.matches(visitor));
        let first = matching.next()?;
        let alike = matching.filter(|(_, rule)| rule.differs_by_language_only(first.1));
        Some(alike.fold(first, |best, other| {
            if other.1.language_weight(visitor) > best.1.language_weight(visitor) { other } else { best }
        }))
    }

    fn variant(&self, link: &LinkId, address: &IpHash) -> Option<Destination<'_>> {
        let mut place = if self.variants.is_empty() { return None } else { place_of(link, address) };
        for (position, variant) in self.variants.iter().enumerate() {
            match place.checked_sub(variant.weight) {
                Some(rest) => place = rest,
                None => {
                    let name = variant.name.clone().unwrap_or_else(|| DestinationName::of_variant(position));
                    return Some(Destination { name, url: &variant.url, rule: None, variant: Some(position) });
                }
            }
        }
        None
    }

    fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The place of an address among a hundred, another one for each link.
fn place_of(link: &LinkId, address: &IpHash) -> u8 {
    let digest = Sha256::new().chain_update(link.to_string()).chain_update(address.as_str()).finalize();
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    u8::try_from(number % 100).unwrap_or_default()
}

fn total(variants: &[Variant]) -> u32 {
    variants.iter().map(|variant| u32::from(variant.weight)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BrowserFamily, Condition, CountryCode, Platform, Salt, Timestamp};

    fn link() -> LinkId {
        LinkId::parse("launch.x7Kf2a").unwrap()
    }

    fn address(number: u32) -> IpHash {
        IpHash::of(&number.to_string(), &Salt::parse(&"s".repeat(32)).unwrap())
    }

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn visitor(address: &IpHash) -> Traits<'_> {
        Traits {
            at: noon(),
            address,
            platforms: Vec::new(),
            browser: None,
            accept_language: "",
            country: None,
            query: "",
        }
    }

    fn url(path: &str) -> TargetUrl {
        TargetUrl::parse(&format!("https://example.com/{path}")).unwrap()
    }

    fn rule(path: &str, conditions: Vec<Condition>) -> Rule {
        Rule { name: None, url: url(path), conditions }
    }

    fn variant(path: &str, weight: u8) -> Variant {
        Variant { name: None, url: url(path), weight }
    }

    fn of(rules: Vec<Rule>, variants: Vec<Variant>) -> Routing {
        Routing::of(rules, variants).unwrap().unwrap()
    }

    fn led_to(routing: &Routing, visitor: &Traits<'_>) -> Option<String> {
        routing.destination(&link(), visitor).map(|destination| destination.name.to_string())
    }

    #[test]
    fn a_date_begins_in_its_very_moment() {
        let address = address(1);
        let before = visitor(&address);
        let holds = |condition: Condition, at: Timestamp| condition.holds(&Traits { at, ..before.clone() });
        let earlier = noon().minus(std::time::Duration::from_millis(1));

        assert!(holds(Condition::AfterDate(noon()), noon()) && !holds(Condition::AfterDate(noon()), earlier));
        assert!(holds(Condition::BeforeDate(noon()), earlier) && !holds(Condition::BeforeDate(noon()), noon()));
    }

    #[test]
    fn a_rule_that_contradicts_itself_never_matches() {
        let address = address(1);
        let never = rule("never", vec![Condition::BeforeDate(noon()), Condition::AfterDate(noon())]);
        let nowhere = ["DE", "FR"].map(|country| Condition::Country(vec![CountryCode::parse(country).unwrap()]));
        let routing = of(vec![never, rule("nowhere", nowhere.into())], vec![]);

        let french = Traits { country: CountryCode::parse("fr").ok(), ..visitor(&address) };
        assert_eq!(led_to(&routing, &french), None);
    }

    #[test]
    fn what_is_unknown_of_a_visitor_matches_no_rule_about_it() {
        let address = address(1);
        let routing = of(
            vec![
                rule(
                    "country",
                    vec![Condition::Country(vec![
                        CountryCode::parse("FR").unwrap(),
                        CountryCode::parse("DE").unwrap(),
                    ])],
                ),
                rule("browser", vec![Condition::Browser(vec![BrowserFamily::Chrome])]),
                rule("device", vec![Condition::Device(vec![Platform::Ios])]),
                rule("language", vec![Condition::Language(vec!["de".to_owned()])]),
                rule("query", vec![Condition::QueryParam { key: "a".to_owned(), value: String::new() }]),
            ],
            vec![],
        );

        assert_eq!(led_to(&routing, &visitor(&address)), None);
        assert_eq!(led_to(&routing, &Traits { query: "a", ..visitor(&address) }).as_deref(), Some("rule 5"));
    }

    #[test]
    fn of_rules_that_differ_by_language_only_the_highest_weight_decides() {
        let address = address(1);
        let language = |language: &str| Condition::Language(vec![language.to_owned()]);
        let routing = of(
            vec![
                rule("en on ios", vec![language("en"), Condition::Device(vec![Platform::Ios])]),
                rule("fr on ios", vec![Condition::Device(vec![Platform::Ios]), language("fr")]),
                rule("en", vec![language("en")]),
                rule("de", vec![language("de")]),
                rule("de-AT", vec![language("de-AT")]),
                rule("fr and it", vec![language("fr"), language("it")]),
                rule("ios", vec![Condition::Device(vec![Platform::Ios])]),
            ],
            vec![],
        );
        let led = |accept_language: &str, platforms: &[Platform]| {
            led_to(&routing, &Traits { accept_language, platforms: platforms.to_vec(), ..visitor(&address) })
        };

        for (accepted, expected) in [
            ("de,en;q=0.9", Some("rule 4")),
            ("en,de;q=0.9", Some("rule 3")),
            ("de,en", Some("rule 3")),
            ("de;q=0.8", Some("rule 4")),
            ("de-AT", Some("rule 4")),
            ("de-AT,de;q=0.9,en;q=0.9", Some("rule 4")),
            ("de;q=0.9,fr;q=0.9,it", Some("rule 6")),
            ("it", None),
        ] {
            assert_eq!(led(accepted, &[]).as_deref(), expected, "{accepted}");
        }
        assert_eq!(led("fr,en;q=0.9", &[Platform::Ios]).as_deref(), Some("rule 2"));
        assert_eq!(led("de,en;q=0.9", &[Platform::Ios]).as_deref(), Some("rule 1"), "rule 4 asks for no device");
        assert_eq!(led("ja", &[Platform::Ios]).as_deref(), Some("rule 7"));
    }

    #[test]
    fn rules_and_variants_are_part_of_others_only_unchanged_and_in_order() {
        let [first, second] = [
            rule("a", vec![Condition::Device(vec![Platform::Ios])]),
            rule("b", vec![Condition::Device(vec![Platform::Android])]),
        ];
        let both = of(vec![first.clone(), second.clone()], vec![variant("c", 50)]);

        assert!(of(vec![second.clone()], vec![]).is_part_of(&both) && both.is_part_of(&both));
        assert!(!of(vec![second, first.clone()], vec![]).is_part_of(&both));
        assert!(!of(vec![first], vec![variant("c", 51)]).is_part_of(&both));
    }

    prop_compose! {
        fn conditions()(kind in 0_usize..7, number in 0_u32..5) -> Condition {
            match kind {
                0 => Condition::Device(vec![[Platform::Ios, Platform::Android, Platform::Mobile, Platform::Desktop, Platform::Linux][number as usize]]),
                1 => Condition::Browser(vec![[BrowserFamily::Chrome, BrowserFamily::Edge, BrowserFamily::Opera, BrowserFamily::Safari, BrowserFamily::Samsung][number as usize]]),
                2 => Condition::Language(vec![["de", "fr", "en-US", "en", "pt-BR"][number as usize].to_owned()]),
                3 => Condition::Country(vec![CountryCode::parse(["DE", "FR", "US", "BR", "JP"][number as usize]).unwrap()]),
                4 => Condition::QueryParam { key: "k".to_owned(), value: number.to_string() },
                5 => Condition::BeforeDate(noon().plus(std::time::Duration::from_secs(number.into()))),
                _ => Condition::AfterDate(noon().plus(std::time::Duration::from_secs(number.into()))),
            }
        }
    }

    prop_compose! {
        fn routings()(
            rules in prop::collection::vec(prop::collection::vec(conditions(), 1..=5), 0..=10),
            weights in prop::collection::vec(1_u8..=20, 0..=5),
        ) -> Option<Routing> {
            let rules = rules.into_iter().enumerate().map(|(number, conditions)| rule(&number.to_string(), conditions)).collect();
            Routing::of(rules, weights.iter().map(|weight| variant("v", *weight)).collect()).ok().flatten()
        }
    }

    proptest! {
        #[test]
        fn rules_are_stored_as_they_were_given(routing in routings()) {
            let Some(routing) = routing else { return Ok(()) };
            let json = serde_json::to_string(&routing).unwrap();

            prop_assert!(json.len() <= Routing::MOST_BYTES);
            prop_assert_eq!(serde_json::from_str::<Routing>(&json).unwrap(), routing);
        }

        #[test]
        fn the_first_rule_that_matches_decides_among_those_like_it(
            routing in routings(), who in 0_u32..1_000, seconds in 0_u64..6, query in "k=[0-5]", language in "de|fr;q=0.9|en-US, de;q=0.5|pt-BR",
            country in prop::option::of("DE|FR|US"), ios in any::<bool>(),
        ) {
            let Some(routing) = routing else { return Ok(()) };
            let address = address(who);
            let visitor = Traits {
                at: noon().plus(std::time::Duration::from_secs(seconds)),
                platforms: if ios { vec![Platform::Ios, Platform::Mobile] } else { vec![Platform::Linux, Platform::Desktop] },
                browser: Some(BrowserFamily::Safari),
                accept_language: &language,
                country: country.as_deref().and_then(|country| CountryCode::parse(country).ok()),
                query: &query,
                ..visitor(&address)
            };

            let led = routing.destination(&link(), &visitor);

            let first = routing.rules().iter().position(|rule| rule.conditions.iter().all(|one| one.holds(&visitor)));
            let decided = led.as_ref().and_then(|led| led.rule);
            prop_assert_eq!(decided.is_some(), first.is_some());
            if let Some((decided, first)) = decided.zip(first).filter(|(decided, first)| decided != first) {
                let [decided, first] = [decided, first].map(|position| &routing.rules()[position]);
                prop_assert!(decided.matches(&visitor) && decided.differs_by_language_only(first));
                prop_assert!(decided.language_weight(&visitor) > first.language_weight(&visitor));
            }
            prop_assert_eq!(&led, &routing.destination(&link(), &visitor), "the same visitor is led to the same place");
            if first.is_none() {
                let weights: u32 = routing.variants().iter().map(|variant| u32::from(variant.weight)).sum();
                prop_assert!(led.is_some() || weights < 100);
            }
        }

        #[test]
        fn whatever_is_sent_as_a_condition_is_one_or_is_refused(kind in "\\PC{0,12}|device|language|country|query-param|before-date", value in "\\PC{0,40}", key in prop::option::of("\\PC{0,20}")) {
            let json = serde_json::json!({"type": kind, "value": value, "key": key});

            if let Ok(condition) = serde_json::from_value::<Condition>(json) {
                let again = serde_json::to_value(&condition).unwrap();
                prop_assert_eq!(serde_json::from_value::<Condition>(again).unwrap(), condition);
            }
        }
    }
}
