//! Providers that are slow or down, and keys that change.

use jsonwebtoken::Algorithm;
use linklet_domain::Timestamp;
use linklet_fetch::FetchError;
use linklet_test_support::provider::{FakeProvider, ProviderManner, SigningKey};

use super::*;

#[tokio::test]
async fn a_provider_that_is_slow_or_down_keeps_nobody_waiting() {
    let provider = FakeProvider::start().await;
    provider.answer(ProviderManner::AnswersAfter(Duration::from_secs(30)));
    let outcome = sign_in(&provider, &ada()).await;
    assert!(matches!(outcome, Err(OidcError::Unreachable(FetchError::Timeout))), "{outcome:?}");

    provider.answer(ProviderManner::Fails(503));
    assert!(refusal(sign_in(&provider, &ada()).await).contains("another status"));

    // Nothing of a failure is held.
    let client = client(&provider);
    assert!(client.begin(BACK, Prompt::IfNeeded, Timestamp::now()).await.is_err());
    provider.answer(ProviderManner::Answers);
    assert!(sign_in_at(&client, &provider, &ada(), Timestamp::now()).await.is_ok());
}

#[tokio::test]
async fn a_provider_that_fails_late_fails_this_sign_in_only() {
    let provider = FakeProvider::start().await;
    let (client, now) = (client(&provider), Timestamp::now());
    let (trip, address) = client.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let given = parameters(&provider.sign_in(address.as_str(), &ada()));
    provider.answer(ProviderManner::Fails(500));
    assert!(finish(&client, &trip, &given, now).await.is_err());

    provider.answer(ProviderManner::Answers);
    assert!(finish(&client, &trip, &given, now).await.is_ok(), "the code wasn't used");
}

#[tokio::test]
async fn what_a_provider_says_is_held_for_an_hour() {
    let provider = FakeProvider::start().await;
    let (client, now) = (client(&provider), Timestamp::now());
    for minutes in [0, 1, 59] {
        let then = now.plus(Duration::from_secs(minutes * 60));
        sign_in_at(&client, &provider, &lasting(), then).await.unwrap();
    }
    assert_eq!(count(&provider, "metadata"), 1);
    assert_eq!(count(&provider, "keys"), 1);

    sign_in_at(&client, &provider, &lasting(), now.plus(Duration::from_secs(3_600))).await.unwrap();
    assert_eq!((count(&provider, "metadata"), count(&provider, "keys")), (2, 2));
}

/// A person whose ID tokens last for two hours.
fn lasting() -> Value {
    let mut person = ada();
    person["exp"] = json!(Timestamp::now().unix_seconds() + 7_200);
    person
}

fn count(provider: &FakeProvider, path: &str) -> usize {
    provider.paths().iter().filter(|asked| **asked == path).count()
}

#[tokio::test]
async fn rotated_keys_are_read_at_once_but_not_again_and_again() {
    let provider = FakeProvider::start().await;
    let (client, now) = (client(&provider), Timestamp::now());
    let after = |seconds| now.plus(Duration::from_secs(seconds));
    sign_in_at(&client, &provider, &ada(), now).await.unwrap();

    let next = SigningKey::generate("next", Algorithm::RS256);
    provider.show_keys(vec![next.public()]);
    provider.issue(move |claims| next.sign(claims));
    sign_in_at(&client, &provider, &ada(), after(31)).await.unwrap();
    assert_eq!(count(&provider, "keys"), 2);

    let unknown = SigningKey::generate("unknown", Algorithm::RS256);
    provider.issue(move |claims| unknown.sign(claims));
    for seconds in [32, 40, 60] {
        assert!(refusal(sign_in_at(&client, &provider, &ada(), after(seconds)).await).contains("none of the keys"));
    }
    assert_eq!(count(&provider, "keys"), 2, "forged tokens cause no requests within the interval");
    assert!(sign_in_at(&client, &provider, &ada(), after(62)).await.is_err());
    assert_eq!(count(&provider, "keys"), 3);
}
