//! Tests with simulated servers, names and addresses, and with paused time. Tests with real sockets are in `sockets`.

mod addresses;
mod answers;
mod connections;
mod encryption;
mod internet;
mod redirects;
mod retries;
mod sockets;

use std::time::Duration;

use linklet_domain::{Reach, TargetUrl, Timestamp};
use rustls::RootCertStore;

use self::internet::{Internet, Server};
use crate::check::{Check, Deadline};
use crate::{Fetcher, Network};

const TIMEOUT: Duration = Duration::from_secs(5);

/// A public address.
const PUBLIC: &str = "93.184.216.34";
/// Another public address.
const OTHER: &str = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";

fn fetcher(internet: &Internet) -> Fetcher<Internet> {
    fetcher_trusting(internet, encryption::some_roots())
}

fn fetcher_trusting(internet: &Internet, roots: RootCertStore) -> Fetcher<Internet> {
    Fetcher::on(internet.clone(), roots, Reach::Public, TIMEOUT).unwrap()
}

fn url(text: &str) -> TargetUrl {
    TargetUrl::parse(text).unwrap()
}

impl<N: Network> Fetcher<N> {
    /// A check that has as much time as it takes.
    async fn check_in_peace(&self, url: &TargetUrl) -> Check {
        let deadline = Deadline { at: Timestamp::now().plus(Duration::from_hours(1)), clock: &Timestamp::now };
        self.check(url, deadline).await.unwrap()
    }
}

async fn check(internet: &Internet, text: &str) -> Check {
    fetcher(internet).check_in_peace(&url(text)).await
}

async fn check_server(server: Server) -> Check {
    check(&Internet::default().server(PUBLIC, server), &format!("http://{PUBLIC}/")).await
}

/// The HTTP status of a check, or its error.
fn outcome(check: &Check) -> Result<u16, &'static str> {
    check.outcome.as_ref().map(|status| status.as_u16()).map_err(|error| error.class().into())
}
