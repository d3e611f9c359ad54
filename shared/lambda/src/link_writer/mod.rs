//! What creating and changing links has in common, and how links are created.

mod creation;
mod imported;
mod new_link;

pub use self::imported::{Arrival, ImportMode, ImportOutcome};
pub use self::new_link::{Named, Past};

use aws_sdk_secretsmanager::Client as SecretsManager;
use linklet_domain::{LimitedRoute, ReservedCodes, RouteLimits, Salt, ShortCode};
use linklet_dynamodb::{LinksTable, ThrottleTable, WatchTable, Workspaces};

use crate::aws::Tables;
use crate::blocks::Blocks;
use crate::hashing::LinkHashing;
use crate::http::ShortUrls;
use crate::throttle::Throttle;
use crate::watching::{self, TargetRoom};
use crate::{StartError, config, secrets};

/// Creates links, and has what else changes them.
pub struct LinkWriter {
    /// The repository of links.
    pub links: LinksTable,
    /// Knows whether there is room for what a link watches.
    pub room: TargetRoom,
    /// What operators have blocked.
    pub blocks: Blocks,
    /// Builds short URLs.
    pub short_urls: ShortUrls,
    /// Hashes the passwords of links.
    pub hashing: LinkHashing,
    /// Codes that no link gets.
    pub reserved: ReservedCodes,
    /// Generates codes.
    pub generate_code: CodeGenerator,
}

impl LinkWriter {
    /// By the settings, tables and secrets that the environment names, with the limit on new links.
    ///
    /// # Errors
    /// When a variable is missing or invalid, or the secret can't be read.
    pub async fn from_env(tables: &Tables, secrets: &SecretsManager) -> Result<(Self, Throttle), StartError> {
        let limits = RouteLimits {
            by_person: config::parsed("SHORTEN_PER_MINUTE")?,
            by_address: config::parsed("SHORTEN_PER_MINUTE_AND_ADDRESS")?,
        };
        let (edge, hashes) = (config::parsed("TRUSTED_EDGE")?, config::parsed("HASHES_PER_SECOND")?);
        let links = tables.at("LINKS_TABLE", LinksTable)?;
        let room = TargetRoom {
            targets: tables.at("WATCH_TABLE", WatchTable::new)?.with_quota(watching::quota_from_env()?),
            users: tables.at("USERS_TABLE", Workspaces)?,
            reach: watching::reach_from_env()?,
        };
        let calls = tables.at("THROTTLE_TABLE", ThrottleTable::new)?;
        let salt = secrets::current(secrets, &config::required("CLICK_SALT_ID")?).await?;
        let throttle = Throttle::new(calls, LimitedRoute::Shorten, limits, (edge, Salt::parse(&salt)?));
        let writer = Self {
            blocks: Blocks::new(links.clone()),
            links,
            room,
            short_urls: ShortUrls::from_env(),
            hashing: LinkHashing::beside(&throttle, hashes),
            reserved: config::parsed_or_default("RESERVED_CODES")?,
            generate_code: ShortCode::generate,
        };
        Ok((writer, throttle))
    }
}

/// Where generated codes come from.
pub type CodeGenerator = fn() -> Result<ShortCode, getrandom::Error>;
