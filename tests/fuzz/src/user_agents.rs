use std::sync::LazyLock;

use linklet_domain::{Device, IpHash, Salt, Visitor};
use linklet_user_agents::Classifier;

use crate::text;

static CLASSIFIER: LazyLock<Classifier> = LazyLock::new(|| Classifier::load().expect("the rules are sound"));
static HASH: LazyLock<IpHash> =
    LazyLock::new(|| IpHash::of("203.0.113.9", &Salt::parse(&"salt".repeat(8)).expect("a salt")));

/// User agents, from the header to the names that are counted.
pub fn user_agents(input: &[u8]) {
    let text = text(input);
    let visitor = Visitor::new(HASH.clone()).with_headers(Some(&text), Some(&text)).at_place(None, Some(&text));
    assert!(text.starts_with(&visitor.user_agent) && visitor.user_agent.len() <= Visitor::MAX_USER_AGENT);
    assert!(visitor.referer.as_ref().is_none_or(|referer| referer.len() <= Visitor::MAX_REFERER));
    assert!(visitor.city.as_ref().is_none_or(|city| city.len() <= Visitor::MAX_CITY));

    let client = CLASSIFIER.classify(&visitor.user_agent);
    for name in [&client.browser, &client.os] {
        assert!((1..=40).contains(&name.len()) && name.trim() == name, "{client:?}");
    }
    assert!(client.version.len() <= 20, "{client:?}");
    assert_eq!(CLASSIFIER.classify(&visitor.user_agent), client, "the same user agent, another answer");
    if visitor.user_agent.trim().is_empty() {
        assert_eq!(client.device, Device::Bot);
    }
}
