//! What many tests of routes use.

pub use std::collections::{BTreeMap, BTreeSet};
pub use std::fs;
pub use std::path::Path;
pub use std::time::{Duration, Instant};

pub use futures_util::future::join_all;
pub use linklet_account::Account;
pub use linklet_auth::Auth;
pub use linklet_delete::Delete;
pub use linklet_domain::{
    ApiKeySecret, CheckError, CheckOutcome, Click, EmailAddress, ExternalId, Invitation, IpHash, Link, LinkPatch,
    LinkState, OneTimeToken, RateLimit, Record, RegistrationPolicy, Role, SessionId, Target, Timestamp, TokenPurpose,
    UserId, WorkspaceId, lifetimes,
};
pub use linklet_dynamodb::{
    AddressStep, ClicksTable, Creation, LinksTable, NewToken, PersonChange, StatsTable, ThrottleTable, TokenDelivery,
    UsersTable, WatchTable,
};
pub use linklet_lambda::batch::Consumer;
pub use linklet_lambda::http::{DeferringHandler, Pages, ShortUrls};
pub use linklet_lambda::identity::Authenticator;
pub use linklet_lambda::link_writer::LinkWriter;
pub use linklet_lambda::metrics::Metric;
pub use linklet_list::List;
pub use linklet_redirect::Redirect;
pub use linklet_shorten::Shorten;
pub use linklet_stats::Stats;
pub use linklet_test_support::{
    Answer, ApiKeyBuilder, CapacityMeter, ClickBuilder, Contract, FakeQueues, Fault, Faults, LinkBuilder, Person,
    RequestBuilder, Route, TOKEN_SECRET, TargetBuilder, Template, TestDynamoDb, a_session, an_origin, an_origin_at,
    authenticator, event_batch, issuer, link_id, operator, removal, token_for, token_of, token_without_workspace,
    tokens, users_by,
};
pub use linklet_update::Update;
pub use serde_json::{Value, json};

pub use crate::calls::Calls;
pub use crate::fixture::{
    self, REDIRECT, account, analytics, auth, check, colleague, correlation, guesses, limits, list, mail_orders,
    person_of, redirect, salt, send, with_link, with_people, with_person,
};

/// The time that is written so.
pub fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}
