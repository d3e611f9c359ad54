//! Checking monitored URLs.
//!
//! Whoever may watch a URL makes Linklet send a request to it, from inside of an AWS account. So a check must not become a way
//! to reach what only that account can reach, such as metadata, the runtime's API on loopback, or a private network:
//!
//! - All connections are opened by [`Network::connect`], which wants a [`CheckedAddress`], and only the check of all addresses
//!   of a host makes one. So there is no path on which an IP address in the URL, in one of its odd spellings, or behind a
//!   redirect goes unchecked, and no second look at the name between check and connection. That is why there is no HTTP client
//!   here that resolves names or follows redirects by itself, or heeds proxy variables, but only hyper's protocol.
//! - A connection that is kept for the next check has been checked when it was opened, and serves its scheme, host and port only.
//! - Each redirect is a new destination with the same checks, five at most, and none of them is the shortener itself.
//! - One limit of time holds for all of an attempt; head, body and number of kept connections are bounded, and nothing is
//!   ever decompressed.
//!
//! `address` knows which addresses are public, `destination` which URLs are fetched, `connection` speaks HTTP, `fetcher` makes
//! an attempt, `check` repeats it, `rounds` takes checks from their queue and stores what they found.

mod address;
mod check;
mod connection;
mod destination;
mod error;
mod fetcher;
mod network;
mod rounds;
mod settings;
#[cfg(test)]
mod tests;

pub use address::{CheckedAddress, Reach};
pub use check::Check;
pub use error::FetchError;
pub use fetcher::{Fetcher, FetcherError};
pub use network::{Network, SystemNetwork};
pub use rounds::Checker;
pub use settings::own_hosts;
