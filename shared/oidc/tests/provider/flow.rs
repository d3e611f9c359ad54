//! What works.

use jsonwebtoken::Algorithm;
use linklet_domain::{EmailAddress, Timestamp};
use linklet_test_support::provider::{FakeProvider, SigningKey};
use serde_json::json;

use super::*;

#[tokio::test]
async fn who_signs_in_is_who_the_provider_says() {
    let provider = FakeProvider::start().await;

    let identity = sign_in(&provider, &ada()).await.unwrap();

    let email = EmailAddress::parse("ada@example.com").ok();
    let (issuer, subject, name) = (provider.issuer.clone(), "ada-1".to_owned(), Some("Ada Lovelace".to_owned()));
    let (groups, id_token) = (Some(Vec::new()), identity.id_token.clone());
    assert_eq!(identity, Identity { issuer, subject, email, email_verified: Some(true), name, groups, id_token });
    assert_eq!(provider.paths(), ["metadata", "token", "keys"]);
}

#[tokio::test]
async fn the_browser_is_sent_with_everything_that_a_provider_needs() {
    let provider = FakeProvider::start().await;
    let (trip, address) = client(&provider).begin(BACK, Prompt::IfNeeded, Timestamp::now()).await.unwrap();

    let given: HashMap<_, _> = address.query_pairs().into_owned().collect();
    assert_eq!((given["redirect_uri"].as_str(), given["scope"].as_str()), (BACK, "openid email"));
    assert_eq!(given["state"], trip.state);
    assert_eq!(given["tenant"], "1", "what the endpoint has of its own stays");
    let kept = serde_json::to_value(&trip).unwrap();
    assert_ne!(given["code_challenge"], kept["verifier"].as_str().unwrap());
    let (another, _) = client(&provider).begin(BACK, Prompt::IfNeeded, Timestamp::now()).await.unwrap();
    assert_ne!((another.state, &serde_json::to_value(&trip).unwrap()), (trip.state, &kept["nonce"]));
}

#[tokio::test]
async fn both_algorithms_and_both_ways_to_show_the_secret_work() {
    for (algorithm, method) in [(Algorithm::RS256, "client_secret_post"), (Algorithm::ES256, "client_secret_basic")] {
        let provider = FakeProvider::start().await;
        let key = SigningKey::generate("k", algorithm);
        provider.show_keys(vec![json!({"kty": "OKP", "crv": "X", "x": "AA"}), json!({"kty": "new"}), key.public()]);
        provider.issue(move |claims| key.sign(claims));
        provider.change_metadata("token_endpoint_auth_methods_supported", json!([method]));

        assert_eq!(sign_in(&provider, &ada()).await.unwrap().subject, "ada-1", "{method}");
    }
}

#[tokio::test]
async fn an_address_that_the_token_lacks_is_asked_for() {
    let provider = FakeProvider::start().await;
    provider.say_apart(json!({"sub": "ada-1", "email": "ada@example.com", "email_verified": "true"}));

    let identity = sign_in(&provider, &json!({"sub": "ada-1"})).await.unwrap();
    assert!(identity.email.is_some() && identity.email_verified == Some(true));

    provider.say_apart(json!({"sub": "bob-2", "email": "bob@example.com", "email_verified": true}));
    let refused = refusal(sign_in(&provider, &json!({"sub": "ada-1"})).await);
    assert!(refused.contains("another sub"), "{refused}");
}

#[tokio::test]
async fn an_address_counts_as_proven_only_if_the_provider_says_so() {
    let provider = FakeProvider::start().await;
    for (claim, is_verified) in [
        (json!(true), true),
        (json!("true"), true),
        (json!(false), false),
        (json!("false"), false),
        (json!(1), false),
        (json!("yes"), false),
        (json!(null), false),
        (json!(["true"]), false),
    ] {
        let person = json!({"sub": "ada-1", "email": "ada@example.com", "email_verified": claim});
        assert_eq!(sign_in(&provider, &person).await.unwrap().email_verified, Some(is_verified), "{claim}");
    }
    let person = json!({"sub": "ada-1", "email": "ada@example.com"});
    assert_eq!(sign_in(&provider, &person).await.unwrap().email_verified, None);
    let person = json!({"sub": "ada-1", "email": "no address", "email_verified": true});
    let identity = sign_in(&provider, &person).await.unwrap();
    assert_eq!(identity.email, None);
}

#[tokio::test]
async fn clocks_may_differ_by_a_minute() {
    let provider = FakeProvider::start().await;
    let now = Timestamp::now();
    let at = |time: i64, until: i64| {
        let mut person = ada();
        person["iat"] = json!(now.unix_seconds() + time);
        person["exp"] = json!(now.unix_seconds() + until);
        person
    };
    for (issued, expires, is_taken) in
        [(0, 300, true), (55, 300, true), (65, 300, false), (-300, -55, true), (-300, -65, false)]
    {
        let outcome = sign_in_at(&client(&provider), &provider, &at(issued, expires), now).await;
        assert_eq!(outcome.is_ok(), is_taken, "{issued} {expires}");
    }
    let mut early = ada();
    early["nbf"] = json!(now.unix_seconds() + 65);
    assert!(sign_in_at(&client(&provider), &provider, &early, now).await.is_err());
}

#[tokio::test]
async fn people_are_signed_out_where_the_provider_does_that() {
    let provider = FakeProvider::start().await;
    let back = "https://go.example.com/app";
    let expected = "/logout?client_id=linklet&post_logout_redirect_uri=https%3A%2F%2Fgo.example.com%2Fapp";
    for (id_token, hint) in [(None, ""), (Some("a.b.c"), "&id_token_hint=a.b.c")] {
        let address = client(&provider).end_session(id_token, back, Timestamp::now()).await.unwrap().unwrap();
        assert_eq!(address.as_str(), format!("{}{expected}{hint}", provider.issuer));
    }

    provider.change_metadata("end_session_endpoint", json!(null));
    assert_eq!(client(&provider).end_session(None, back, Timestamp::now()).await.unwrap(), None);
}

/// The client of a provider that lists groups in this claim.
fn with_groups(provider: &FakeProvider, claim: &str) -> Provider {
    let settings = Settings { groups_claim: Some(claim.to_owned()), ..client(provider).settings };
    let reach = Reach::PublicAndLoopback;
    let fetcher = Fetcher::new("sign-in", reach, Duration::from_secs(1)).unwrap();
    Provider::new(settings, Arc::new(fetcher), reach)
}

#[tokio::test]
async fn groups_are_a_list_or_one_of_the_token_or_else_of_userinfo() {
    let provider = FakeProvider::start().await;
    provider.say_apart(json!({"sub": "ada-1", "email": "other@example.com", "groups": ["Apart"]}));
    let (none, all) = (Vec::<&str>::new(), vec!["Engineering", "Staff"]);
    for (claim, said, expected) in [
        ("groups", json!({"groups": ["Engineering", "Staff"]}), Some(all.clone())),
        ("groups", json!({"groups": "Staff"}), Some(vec!["Staff"])),
        ("groups", json!({"groups": []}), Some(none.clone())),
        ("groups", json!({"groups": null}), Some(none.clone())),
        ("groups", json!({}), Some(vec!["Apart"])),
        ("https://acme/roles", json!({"https://acme/roles": all, "groups": ["x"]}), Some(all.clone())),
        ("groups", json!({"groups": ["Staff", {"name": "x"}]}), None),
        ("groups", json!({"groups": {"Staff": true}}), None),
        // Entra ID says like this that there are too many.
        ("groups", json!({"_claim_names": {"groups": "src1"}}), None),
        ("groups", json!({"hasgroups": true}), None),
        ("roles", json!({"roles": ["Staff"], "_claim_names": {"groups": "src1"}}), Some(vec!["Staff"])),
    ] {
        let mut person = ada();
        person.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let client = with_groups(&provider, claim);
        let identity = sign_in_at(&client, &provider, &person, Timestamp::now()).await.unwrap();

        let groups = identity.groups.as_ref().map(|groups| groups.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(groups, expected, "{said}");
        assert_eq!(identity.email, EmailAddress::parse("ada@example.com").ok(), "the token's address counts: {said}");
    }
}

#[tokio::test]
async fn who_proves_it_again_has_just_signed_in_as_far_as_the_provider_says() {
    let provider = FakeProvider::start().await;
    let asked_with = async |client: &Provider| {
        let (_, address) = client.begin(BACK, Prompt::Always, Timestamp::now()).await.unwrap();
        let given: HashMap<_, _> = address.query_pairs().into_owned().collect();
        (given.get("prompt").cloned(), given.get("max_age").cloned())
    };
    let login = Some("login".to_owned());
    assert_eq!(asked_with(&client(&provider)).await, (login.clone(), None));

    provider.change_metadata("claims_supported", json!(["sub", "auth_time"]));
    let client = client(&provider);
    assert_eq!(asked_with(&client).await, (login, Some("600".to_owned())));
    let now = Timestamp::now();
    for (ago, is_taken) in [(Some(0), true), (Some(55), true), (Some(65), false), (None, false)] {
        let mut person = ada();
        if let Some(ago) = ago {
            person["auth_time"] = json!(now.unix_seconds() - ago);
        }
        let (trip, address) = client.begin(BACK, Prompt::Always, now).await.unwrap();
        let given = provider.sign_in(address.as_str(), &person);
        let outcome = finish(&client, &trip, &parameters(&given), now).await;
        assert_eq!(outcome.is_ok(), is_taken, "{ago:?}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_wrong_client_secret_is_no_wrong_code() {
    let provider = FakeProvider::start().await;
    let (client, now) = (client(&provider), Timestamp::now());
    let (trip, address) = client.begin(BACK, Prompt::IfNeeded, now).await.unwrap();
    let given = parameters(&provider.sign_in(address.as_str(), &ada()));

    let wrong_secret = client.finish(&trip, &given, "another secret", BACK, now).await;
    assert!(
        matches!(&wrong_secret, Err(OidcError::Refused(code)) if code.as_str() == "invalid_client"),
        "{wrong_secret:?}"
    );
    let made_up = CallbackParameters { code: Some("made up".to_owned()), ..given };
    let made_up = finish(&client, &trip, &made_up, now).await;
    assert!(matches!(made_up, Err(OidcError::Token(_))), "{made_up:?}");
}
