//! What a hostile provider, browser or network could try.

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use linklet_domain::Timestamp;
use linklet_test_support::provider::{FakeProvider, SigningKey, forged};
use serde_json::json;

use super::*;

/// What comes of an ID token with these claims instead of those that would be right.
async fn with_claims(changes: Value) -> String {
    let provider = FakeProvider::start().await;
    let mut person = ada();
    for (name, value) in changes.as_object().unwrap() {
        person[name] = value.clone();
    }
    refusal(sign_in(&provider, &person).await)
}

#[tokio::test]
async fn a_token_for_or_from_anybody_else_is_refused() {
    for (changes, reason) in [
        (json!({"iss": "https://evil.example"}), "iss is another"),
        (json!({"iss": ["https://evil.example"]}), "a claim is invalid"),
        (json!({"aud": "another-client"}), "aud lacks"),
        (json!({"aud": []}), "aud lacks"),
        (json!({"aud": ["linklet", "another-client"]}), "azp is another"),
        (json!({"aud": ["linklet", "another-client"], "azp": "another-client"}), "azp is another"),
        (json!({"azp": "another-client"}), "azp is another"),
        (json!({"nonce": "another"}), "nonce is another"),
        (json!({"nonce": null}), "nonce is another"),
        (json!({"sub": ""}), "sub is empty"),
        (json!({"sub": "x".repeat(256)}), "sub is empty"),
        (json!({"sub": null}), "a claim is invalid"),
        (json!({"exp": null}), "a claim is invalid"),
        (json!({"iat": null}), "a claim is invalid"),
        (json!({"exp": "soon"}), "a claim is invalid"),
    ] {
        let refused = with_claims(changes.clone()).await;
        assert!(refused.contains(reason), "{changes}: {refused}");
    }
    let provider = FakeProvider::start().await;
    let mut person = ada();
    person["aud"] = json!(["another-client", "linklet"]);
    person["azp"] = json!("linklet");
    assert!(sign_in(&provider, &person).await.is_ok());
}

/// What comes of an ID token that is made like this.
async fn with_token(make: impl Fn(&Value, &SigningKey) -> String + Send + 'static) -> String {
    let provider = FakeProvider::start().await;
    let key = SigningKey::generate("only", Algorithm::RS256);
    provider.show_keys(vec![key.public()]);
    provider.issue(move |claims| make(claims, &key));
    refusal(sign_in(&provider, &ada()).await)
}

#[tokio::test]
async fn a_token_that_no_key_of_the_provider_has_signed_is_refused() {
    let stranger = SigningKey::generate("only", Algorithm::RS256);
    let refused = with_token(move |claims, _| stranger.sign(claims)).await;
    assert!(refused.contains("signature"), "{refused}");

    let refused = with_token(|claims, _| forged(&json!({"alg": "none"}), claims, b"")).await;
    assert!(refused.contains("no valid header"), "{refused}");

    let refused = with_token(|claims, _| forged(&json!({"alg": "RS256", "kid": "only"}), claims, b"")).await;
    assert!(refused.contains("signature"), "{refused}");

    // The public key as a secret, which some libraries take for one.
    let refused = with_token(|claims, key| {
        let secret = key.public()["n"].as_str().unwrap().as_bytes().to_vec();
        let header = Header { kid: Some("only".to_owned()), ..Header::new(Algorithm::HS256) };
        jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(&secret)).unwrap()
    })
    .await;
    assert!(refused.contains("algorithm"), "{refused}");

    // Another algorithm of the same key.
    let refused = with_token(|claims, key| {
        let header = Header { kid: Some("only".to_owned()), ..Header::new(Algorithm::PS256) };
        jsonwebtoken::encode(&header, claims, &key.key).unwrap()
    })
    .await;
    assert!(refused.contains("algorithm"), "{refused}");

    // A key that the token brings along.
    let refused = with_token(|claims, _| {
        let own = SigningKey::generate("own", Algorithm::ES256);
        let jwk = serde_json::from_value(own.public()).unwrap();
        let header = Header { jwk: Some(jwk), kid: Some("own".to_owned()), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &own.key).unwrap()
    })
    .await;
    assert!(refused.contains("none of the keys"), "{refused}");

    let refused = with_token(|claims, key| {
        let crit = Some(vec!["exp".to_owned()]);
        let header = Header { kid: Some("only".to_owned()), crit, ..Header::new(Algorithm::RS256) };
        jsonwebtoken::encode(&header, claims, &key.key).unwrap()
    })
    .await;
    assert!(refused.contains("must be understood"), "{refused}");
}

#[tokio::test]
async fn a_token_that_names_no_key_needs_the_only_one() {
    let provider = FakeProvider::start().await;
    let [one, two] = ["one", "two"].map(|kid| SigningKey::generate(kid, Algorithm::ES256));
    let (first, second) = (one.public(), two.public());
    provider.issue(move |claims| jsonwebtoken::encode(&Header::new(Algorithm::ES256), claims, &one.key).unwrap());
    provider.show_keys(vec![first.clone()]);
    assert!(sign_in(&provider, &ada()).await.is_ok());

    provider.show_keys(vec![second, first.clone()]);
    assert!(refusal(sign_in(&provider, &ada()).await).contains("none of the keys"));

    let mut encrypts = first;
    encrypts["use"] = json!("enc");
    provider.show_keys(vec![encrypts]);
    assert!(refusal(sign_in(&provider, &ada()).await).contains("none of the keys"));
}

#[tokio::test]
async fn what_comes_back_must_belong_to_what_was_begun() {
    let provider = FakeProvider::start().await;
    let (client, now) = (client(&provider), Timestamp::now());
    let (trip, address) = client.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let (other, other_address) = client.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let mine = parameters(&provider.sign_in(address.as_str(), &ada()));
    let theirs = parameters(&provider.sign_in(other_address.as_str(), &ada()));

    for (changed, reason) in [
        (CallbackParameters { state: None, ..mine.clone() }, "another state"),
        (CallbackParameters { state: Some(other.state.clone()), ..mine.clone() }, "another state"),
        (CallbackParameters { code: None, ..mine.clone() }, "no code"),
        (CallbackParameters { iss: Some("https://evil.example".to_owned()), ..mine.clone() }, "another provider"),
        (CallbackParameters { iss: None, ..mine.clone() }, "another provider"),
        (
            CallbackParameters { error: Some("access_denied".to_owned()), ..mine.clone() },
            "sent the person back: access_denied",
        ),
        (
            CallbackParameters { error: Some("access_denied".to_owned()), code: None, ..mine.clone() },
            "sent the person back: access_denied",
        ),
    ] {
        let refused = refusal(finish(&client, &trip, &changed, now).await);
        assert!(refused.contains(reason), "{reason}: {refused}");
    }
    // Somebody else's code, put into one's own way back: its verifier is in the other browser.
    let swapped = CallbackParameters { code: theirs.code.clone(), ..mine.clone() };
    assert!(refusal(finish(&client, &trip, &swapped, now).await).contains("refuses"));

    let (trip, address) = client.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let mine = parameters(&provider.sign_in(address.as_str(), &ada()));
    assert!(finish(&client, &trip, &mine, now).await.is_ok());
    assert!(refusal(finish(&client, &trip, &mine, now).await).contains("refuses"), "a code works once");
}

#[tokio::test]
async fn a_provider_gets_no_code_of_another_one() {
    let (honest, evil) = (FakeProvider::start().await, FakeProvider::start().await);
    let (at_honest, at_evil) = (named(&honest, "Honest"), named(&evil, "Evil"));
    let now = Timestamp::now();
    let (trip, _) = at_evil.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let (_, address) = at_honest.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    // The evil provider has sent the person on to the honest one, with the state of its own round trip.
    let mut given = honest.sign_in(address.as_str(), &ada());
    given.insert("state".to_owned(), trip.state.clone());

    let refused = refusal(finish(&at_evil, &trip, &parameters(&given), now).await);
    assert!(refused.contains("another provider"), "{refused}");
    let refused = refusal(finish(&at_honest, &trip, &parameters(&given), now).await);
    assert!(refused.contains("another provider"), "{refused}");
    assert!(!evil.paths().contains(&"token"), "{:?}", evil.paths());
}

#[tokio::test]
async fn a_provider_speaks_for_its_own_issuer_only_and_has_safe_endpoints() {
    for (member, value) in [
        ("issuer", json!("https://accounts.google.com")),
        ("issuer", json!(null)),
        ("token_endpoint", json!("http://evil.example/token")),
        ("jwks_uri", json!("file:///etc/passwd")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("userinfo_endpoint", json!("https://a:b@evil.example/")),
        ("end_session_endpoint", json!("http://10.0.0.1/")),
    ] {
        let provider = FakeProvider::start().await;
        provider.change_metadata(member, value);
        let refused = refusal(sign_in(&provider, &ada()).await);
        assert!(refused.contains("can't be used"), "{member}: {refused}");
    }
}

#[tokio::test]
async fn a_provider_that_leads_into_a_private_network_is_not_asked() {
    let provider = FakeProvider::start().await;
    provider.change_metadata("token_endpoint", json!("https://169.254.169.254/latest"));
    let outcome = sign_in(&provider, &ada()).await;
    assert!(matches!(outcome, Err(OidcError::Unreachable(linklet_fetch::FetchError::NotPublic))), "{outcome:?}");
}
