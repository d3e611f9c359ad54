//! DynamoDB with the template's tables and what the functions find in them, and stand-ins for the other services.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use linklet_domain::{Click, Spread, Timestamp};
use linklet_dynamodb::{ClicksTable, Table};
use linklet_test_support::{
    AGENTS, ClickBuilder, FakeQueues, FakeSecret, LinkBuilder, Person, Program, TOKEN_SECRET, TestDynamoDb,
};
use serde_json::Value;

use crate::{analytics, functions};

/// The link that everybody follows.
pub const HOT: &str = "hotlink";
/// The link whose statistics are read.
pub const COUNTED: &str = "counted";
/// How many clicks it has.
pub const CLICKS: usize = 500;
/// The link with many clicks, each of which can be read.
pub const FOLLOWED: &str = "followed0000";
/// A page of a list is some of these.
const LISTED: usize = 30;
/// What a page of many links is filtered by, and searched for.
const TENTH: &str = "tenth";
const NEEDLE: &str = "needle";

/// What the functions talk to.
pub struct Tables {
    queues: FakeQueues,
    /// Creates links.
    pub creator: Person,
    /// Lists links.
    pub lister: Person,
    /// How many there are to follow.
    pub links: usize,
    db: TestDynamoDb,
    secret: FakeSecret,
}

impl Tables {
    /// Starts all of it, with so many links to follow.
    pub async fn start(links: usize) -> Self {
        // With streams, each write would look through all that were before it.
        let db = TestDynamoDb::without_streams();
        let tables = Self {
            queues: FakeQueues::start(),
            creator: db.register("creator").await,
            lister: db.register("lister").await,
            db,
            secret: FakeSecret::start(TOKEN_SECRET),
            links,
        };
        tables.add_links().await;
        for code in [HOT, COUNTED] {
            tables.add_link(code, &tables.creator).await;
        }
        for number in 0..LISTED {
            tables.add_link(&format!("listed{number}"), &tables.lister).await;
        }
        tables.count_clicks().await;
        tables
    }

    /// Where DynamoDB listens.
    pub fn dynamodb(&self) -> &str {
        self.db.endpoint()
    }

    /// An executable in the environment of a function, which finds the services.
    pub fn program(&self, function: &str, executable: PathBuf) -> Program {
        let mut program = functions::program(function, executable, &self.queues);
        program.variables.extend(self.endpoints());
        program
    }

    /// Where functions find the services.
    pub fn endpoints(&self) -> BTreeMap<String, String> {
        [
            ("AWS_ENDPOINT_URL_DYNAMODB", self.db.endpoint()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", self.secret.endpoint()),
            ("AWS_ENDPOINT_URL_SQS", self.queues.endpoint()),
        ]
        .map(|(name, endpoint)| (name.to_owned(), endpoint.to_owned()))
        .into()
    }

    async fn add_link(&self, code: &str, owner: &Person) {
        let link = LinkBuilder::new(code).to(&target(code)).in_workspace(&owner.workspace).owned_by(&owner.id);
        self.db.store(&link.build()).await;
    }

    /// Creating each as Linklet does would take long, so all but the first are copies with another code.
    async fn add_links(&self) {
        let first = code(0);
        self.add_link(&first, &self.creator).await;
        let is_link = |item: &Value| item["sk"]["S"] == "LINK" && item["pk"]["S"] == format!("LINK#{first}");
        let links = self.db.scan("LinksTable");
        let original = links.into_iter().find(is_link).expect("the first link is there").to_string();
        for number in 1..self.links {
            let copy = original.replace(&first, &code(number));
            self.db.put("LinksTable", &serde_json::from_str(&copy).expect("a code needs no escaping"));
        }
    }

    /// Gives somebody so many links of 3.7 KB, each with clicks. Every tenth is tagged, every hundredth titled as a needle.
    pub async fn add_heavy_links(&self, count: usize) -> Person {
        let (owner, first) = (self.db.register("collector").await, heavy_code(0));
        self.add_heavy_link(&first, &owner).await;
        let row = self.stored("LinksTable", &format!("LINK#{first}LINK"));
        let total = self.stored("StatsTable", &format!("TOTAL#{first}"));
        for number in 1..count {
            let code = heavy_code(number);
            let tag = if number.is_multiple_of(10) { TENTH } else { "other" };
            let title = if number.is_multiple_of(100) { NEEDLE } else { "straws" };
            let row = row.replace(&first, &code).replace(TENTH, tag).replace(NEEDLE, title);
            for (table, copy) in [("LinksTable", row), ("StatsTable", total.replace(&first, &code))] {
                self.db.put(table, &serde_json::from_str(&copy).expect("a code needs no escaping"));
            }
        }
        owner
    }

    async fn add_heavy_link(&self, code: &str, owner: &Person) {
        let url = format!("https://example.com/{}", "u".repeat(1_200));
        let link = LinkBuilder::new(code).to(&url).in_workspace(&owner.workspace).owned_by(&owner.id);
        let mut link = link.build();
        link.metadata.title = NEEDLE.parse().ok();
        link.metadata.description = "d".repeat(2_000).parse().ok();
        link.metadata.tags = vec![TENTH.to_owned()].try_into().expect("a tag");
        self.db.store(&link).await;
        let click = ClickBuilder::new(code).in_workspace(&owner.workspace).build();
        analytics::count(&self.db.client(), &self.queues, &[click]).await;
    }

    /// Gives somebody so many links, each with so many clicks in the last 30 days. The first has them one by one, too.
    pub async fn add_followed_links(&self, links: usize, clicks: usize) -> Person {
        let owner = self.db.register("follower").await;
        self.add_link(FOLLOWED, &owner).await;
        let (now, raw) = (Timestamp::now(), ClicksTable::new(Table::new(self.db.client(), "ClicksTable")));
        let click = |number: usize| {
            let ago = Duration::from_secs(30 * 86_400 / clicks as u64 * number as u64);
            let click = ClickBuilder::new(FOLLOWED).in_workspace(&owner.workspace).at(now.minus(ago));
            let page = format!("https://news.example/{}?{}", number % 40, "q".repeat(100));
            click.by(&format!("203.0.{}", number % 9_000)).with(AGENTS[number % AGENTS.len()].text).from(&page).build()
        };
        let clicks: Vec<_> = (0..clicks).rev().map(click).collect();
        for event in &clicks {
            let click = Click::from_event(event.clone()).expect("it is a click");
            raw.record(&click, Spread::Narrow).await.expect("a click can be stored");
        }
        analytics::count(&self.db.client(), &self.queues, &clicks).await;
        let is_copied = |item: &Value| {
            let [partition, sort_key] = ["pk", "sk"].map(|key| item[key]["S"].as_str().unwrap_or_default());
            let is_meant = ["LINK", "DAY#", "TOTAL#"].iter().any(|kind| sort_key.starts_with(kind));
            is_meant && (partition.to_owned() + sort_key).contains(FOLLOWED)
        };
        for table in ["LinksTable", "StatsTable"] {
            for item in self.db.scan(table).into_iter().filter(is_copied) {
                for number in 1..links {
                    let copy = item.to_string().replace(FOLLOWED, &format!("followed{number:04}"));
                    self.db.put(table, &serde_json::from_str(&copy).expect("a code needs no escaping"));
                }
            }
        }
        owner
    }

    /// The item whose keys, one after the other, contain this, as JSON.
    fn stored(&self, table: &str, keys: &str) -> String {
        let text = |key: &Value| key["S"].as_str().unwrap_or_default().to_owned();
        let is_meant = |item: &Value| (text(&item["pk"]) + &text(&item["sk"])).contains(keys);
        self.db.scan(table).into_iter().find(is_meant).expect("the item is there").to_string()
    }

    async fn count_clicks(&self) {
        let clicks: Vec<_> = (0..CLICKS)
            .map(|number| {
                ClickBuilder::new(COUNTED).by(&format!("203.0.{number}")).from("https://news.example/").build()
            })
            .collect();
        analytics::count(&self.db.client(), &self.queues, &clicks).await;
    }
}

/// The code of a link that is followed once.
pub fn code(number: usize) -> String {
    format!("cold{number:06}")
}

/// Where a link leads.
pub fn target(code: &str) -> String {
    format!("https://example.com/landing/{code}")
}

fn heavy_code(number: usize) -> String {
    format!("link{number:06}")
}
