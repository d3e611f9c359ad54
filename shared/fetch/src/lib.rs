//! Fetches URLs that strangers have chosen, and calls servers that operators have chosen, from inside an AWS account.
//!
//! So fetching must be safe against server-side request forgery (SSRF), for example of instance metadata, the Lambda Runtime API on
//! loopback, or private networks:
//!
//! - All connections are opened by [`Network::connect`], which requires a [`CheckedAddress`], and only the check of all
//!   addresses of a host creates one. So addresses in URLs, in any spelling, and those of redirects are always checked, and a
//!   name isn't resolved again between check and connection. For this reason there is no HTTP client that resolves names,
//!   follows redirects or uses proxy variables by itself, but only hyper's implementation of the protocol.
//! - An idle connection was checked when it was opened, and is used only for the same scheme, host and port.
//! - Each redirect, of at most ten, is checked like the first URL, and must not lead to the shortener itself.
//! - Of a URL that is only resolved, no body is read. A call is never redirected.
//! - Cookies go back only to the host that set them, and only within one attempt.
//! - Each attempt has a timeout; the sizes of head and body and the number of idle connections are limited, and nothing is
//!   decompressed.
//!
//! [`Reach`](linklet_domain::Reach) has the rules for addresses and ports, `destination` those for URLs; `cookies` keeps cookies,
//! `connection` implements HTTP, `fetcher` one attempt.

mod address;
mod connection;
mod cookies;
mod destination;
mod error;
mod fetcher;
mod network;

pub use address::CheckedAddress;
pub use error::FetchError;
pub use fetcher::{Answer, Call, Fetcher, FetcherError, Lost, Resolved};
pub use network::{Network, SystemNetwork};
