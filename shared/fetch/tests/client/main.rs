//! Tests with simulated servers, names and addresses, and with paused time. Tests with real sockets are in `sockets`.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

mod addresses;
mod answers;
mod calls;
mod connections;
mod encryption;
mod redirects;
mod resolving;
mod sockets;

use std::time::Duration;

use linklet_domain::{Reach, TargetUrl};
use linklet_fetch::{FetchError, Fetcher, Network};
use linklet_test_support::internet::{Internet, PUBLIC, Server};
use linklet_test_support::some_roots;
use rustls::RootCertStore;
use tokio::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(5);

/// What came of an attempt to fetch a URL.
struct Attempt {
    /// The HTTP status, or the error.
    outcome: Result<u16, &'static str>,
    /// Whether a retry may succeed.
    is_transient: bool,
    latency: Duration,
}

fn fetcher(internet: &Internet) -> Fetcher<Internet> {
    fetcher_trusting(internet, some_roots())
}

fn fetcher_trusting(internet: &Internet, roots: RootCertStore) -> Fetcher<Internet> {
    Fetcher::on((internet.clone(), roots), "link monitoring", Reach::Public, TIMEOUT).unwrap()
}

async fn fetch_with<N: Network>(fetcher: &Fetcher<N>, url: &str) -> Attempt {
    let started = Instant::now();
    let outcome = fetcher.fetch(&TargetUrl::parse(url).unwrap()).await;
    let is_transient = outcome.as_ref().is_err_and(FetchError::is_transient);
    let outcome = outcome.map(|status| status.as_u16()).map_err(|error| error.class().into());
    Attempt { outcome, is_transient, latency: started.elapsed() }
}

async fn fetch(internet: &Internet, url: &str) -> Attempt {
    fetch_with(&fetcher(internet), url).await
}

async fn fetch_server(server: Server) -> Attempt {
    fetch(&Internet::default().server(PUBLIC, server), &format!("http://{PUBLIC}/")).await
}
