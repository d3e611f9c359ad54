//! Signing in at a provider that does what a test has it do.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod flow;
mod hostile;
mod outages;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use linklet_domain::{Reach, Timestamp};
use linklet_fetch::Fetcher;
use linklet_oidc::{CallbackParameters, Identity, OidcError, Prompt, Provider, RoundTrip, Settings};
use linklet_test_support::provider::{CLIENT, FakeProvider};
use serde_json::{Value, json};

const BACK: &str = "https://go.example.com/api/auth/oidc/acme/callback";

/// What is true about the person who signs in.
fn ada() -> Value {
    json!({"sub": "ada-1", "email": "Ada@Example.com", "email_verified": true, "name": "Ada Lovelace"})
}

/// A client of a provider on this machine.
fn client(provider: &FakeProvider) -> Provider {
    named(provider, "Acme")
}

fn named(provider: &FakeProvider, name: &str) -> Provider {
    let reach = Reach::PublicAndLoopback;
    let settings = Settings::parse_all(&provider.issuer, CLIENT.0, name, "openid email", reach).unwrap();
    let fetcher = Fetcher::new("sign-in", reach, Duration::from_secs(1)).unwrap();
    Provider::new(settings.into_iter().next().unwrap(), Arc::new(fetcher), reach)
}

/// What a browser brings back.
fn parameters(given: &HashMap<String, String>) -> CallbackParameters {
    serde_json::from_value(json!(given)).unwrap()
}

async fn finish(
    client: &Provider,
    trip: &RoundTrip,
    given: &CallbackParameters,
    now: Timestamp,
) -> Result<Identity, OidcError> {
    client.finish(trip, given, CLIENT.1, BACK, now).await
}

/// Somebody goes to the provider, signs in and comes back.
async fn sign_in_at(
    client: &Provider,
    provider: &FakeProvider,
    person: &Value,
    now: Timestamp,
) -> Result<Identity, OidcError> {
    let (trip, address) = client.begin(BACK, Prompt::IfNeeded, now).await?;
    let given = provider.sign_in(address.as_str(), person);
    finish(client, &trip, &parameters(&given), now).await
}

async fn sign_in(provider: &FakeProvider, person: &Value) -> Result<Identity, OidcError> {
    sign_in_at(&client(provider), provider, person, Timestamp::now()).await
}

/// Why a sign-in was refused.
fn refusal(outcome: Result<Identity, OidcError>) -> String {
    outcome.unwrap_err().to_string()
}
