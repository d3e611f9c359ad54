//! The DynamoDB of the tests, called without a network, behind the limits of AWS.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use dynoxide::Database;
use linklet_test_support::{Consumption, Template, execute, keys_of, serve_api};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::capacity::{Access, Partitions, Refusal};
use crate::clock::Clock;
use crate::lambda::Processor;
use crate::limits;
use crate::sdk::{config_for, without_network};
use crate::stream::Stream;

pub const CLICKS: &str = "ClicksTable";
pub const STATS: &str = "StatsTable";

/// What has happened to a table.
#[derive(Debug, Clone, Default)]
pub struct TableReport {
    pub units: Consumption,
    /// How many calls were refused, and when for the first time.
    pub refused: BTreeMap<Refusal, (Duration, usize)>,
    /// The most that a write of one item has cost, in units of a kilobyte: no row is larger.
    pub largest_write: f64,
}

/// A table with its limits.
struct Table {
    partitions: Partitions,
    report: TableReport,
}

/// All tables of a simulated account.
#[derive(Clone)]
pub struct DynamoDb(Arc<Shared>);

struct Shared {
    database: Database,
    clock: Clock,
    tables: Mutex<BTreeMap<String, Table>>,
    /// When every call fails.
    outage: Range<Duration>,
    clicks: Stream,
    /// The ids of clicks whose items aren't kept, see [`KEPT`].
    recorded: Mutex<HashSet<String>>,
    /// Of so many parts of a link one is played.
    parts: f64,
    /// Where it is served, if that isn't simulated.
    endpoint: OnceLock<String>,
}

/// Of so many clicks, the item of one is kept in the database. Of the others it is only known that they are there, which is all
/// that storing, reading the stream and counting need. Everything else about them is real.
const KEPT: u32 = 16;

impl DynamoDb {
    /// Creates the tables of the template. They have no streams: this implementation looks through a whole stream at each write.
    pub fn start(
        clock: Clock,
        warm: impl Fn(&str) -> f64,
        outage: Range<Duration>,
        clicks: Stream,
        parts: f64,
    ) -> Self {
        let database = Database::memory().expect("a database in memory opens");
        let mut tables = BTreeMap::new();
        for (name, mut table) in Template::load().tables() {
            table.as_object_mut().expect("a table is an object").remove("StreamSpecification");
            let request = serde_json::from_value(table).expect("the template's table has the operation's form");
            database.create_table(request).expect("a table can be created");
            let partitions = Partitions::warmed(warm(&name));
            tables.insert(name, Table { partitions, report: TableReport::default() });
        }
        let (tables, recorded) = (Mutex::new(tables), Mutex::default());
        Self(Arc::new(Shared { database, clock, tables, outage, clicks, recorded, parts, endpoint: OnceLock::new() }))
    }

    /// A client of an environment with this processor, which tries as the product's do.
    pub fn client(&self, processor: &Processor) -> Client {
        if let Some(endpoint) = self.0.endpoint.get() {
            return Client::from_conf(config_for!(aws_sdk_dynamodb).endpoint_url(endpoint).build());
        }
        let shared = self.clone();
        let http = without_network(processor, limits::CALL, move |operation, body| shared.call(operation, body));
        Client::from_conf(config_for!(aws_sdk_dynamodb).http_client(http).build())
    }

    /// Has all clients that are made from now on call it through a server.
    pub fn serve(&self) {
        let shared = self.clone();
        self.0.endpoint.get_or_init(|| serve_api(move |operation, body| shared.call(operation, body)));
    }

    /// What has happened to a table so far.
    pub fn report(&self, table: &str) -> TableReport {
        self.0.tables.lock()[table].report.clone()
    }

    /// In which partition a click's key is, which is also its stream's shard.
    pub fn shard_of(&self, key: &str) -> usize {
        self.0.tables.lock()[CLICKS].partitions.number_of(key)
    }

    /// Lets a call in or refuses it, carries it out, and has it pay.
    pub fn call(&self, operation: &str, mut request: Value) -> (u16, Value) {
        let now = self.0.clock.elapsed();
        if self.0.outage.contains(&now) {
            return (500, json!({"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": "down"}));
        }
        let access = if Consumption::is_write(operation) { Access::Write } else { Access::Read };
        let keys = keys_of(operation, &request);
        if let Err(refused) = self.admit(&keys, access, now) {
            return (400, refused);
        }
        if operation == "PutItem" && request["TableName"] == CLICKS && is_click(&request) {
            return self.record(&keys, request);
        }
        Consumption::ask(operation, &mut request);
        let (status, answer) = execute(&self.0.database, operation, request.clone());
        let consumption = Consumption::of(operation, &request, &answer, status != 200).expect("an answer has items");
        self.pay(&keys, access, consumption);
        (status, answer)
    }

    /// Stores a click, which costs one unit by its size, and appends its record to the stream if it is new.
    fn record(&self, keys: &[(String, String)], request: Value) -> (u16, Value) {
        let id = request["Item"]["sk"]["S"].as_str().unwrap_or_default().to_owned();
        self.pay(keys, Access::Write, Consumption { calls: 1, write_units: 1.0, ..Consumption::default() });
        if self.0.recorded.lock().insert(id) {
            self.0.clicks.append(self.shard_of(&keys[0].1), &request["Item"], self.0.clock.now());
            if fastrand::u32(..KEPT) == 0 {
                return execute(&self.0.database, "PutItem", request);
            }
        }
        (200, json!({}))
    }

    fn admit(&self, keys: &[(String, String)], access: Access, now: Duration) -> Result<(), Value> {
        let mut tables = self.0.tables.lock();
        for (name, keys) in by_table(keys) {
            let table = tables.get_mut(name).expect("the template has the table");
            let Err(refusal) = table.partitions.admit(&keys, access, now) else { continue };
            table.report.refused.entry(refusal).or_insert((now, 0)).1 += 1;
            return Err(json!({
                "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
                "message": "Throughput exceeds the current throughput limit",
            }));
        }
        Ok(())
    }

    fn pay(&self, keys: &[(String, String)], access: Access, consumption: Consumption) {
        let mut tables = self.0.tables.lock();
        let share = 1.0 / keys.len().max(1) as f64;
        for (name, keys) in by_table(keys) {
            let table = tables.get_mut(name).expect("the template has the table");
            let units = (consumption.read_units + consumption.write_units) * share * keys.len() as f64;
            table.partitions.pay(&keys, access, units * self.weight(keys[0]));
            table.report.units.add(Consumption {
                read_units: consumption.read_units * share * keys.len() as f64,
                write_units: consumption.write_units * share * keys.len() as f64,
                ..consumption
            });
            if keys.len() == 1 {
                table.report.largest_write = table.report.largest_write.max(consumption.write_units);
            }
        }
    }
}

impl DynamoDb {
    /// What a part of a link shares with the parts that aren't played is used by them as well.
    fn weight(&self, key: &str) -> f64 {
        let is_of_a_part = key.starts_with("CLICK#") || key.len() > 2 && key.as_bytes()[key.len() - 2] == b'#';
        if is_of_a_part { 1.0 } else { self.0.parts }
    }
}

/// Whether an item of the table is a click: there are few others.
fn is_click(request: &Value) -> bool {
    request["Item"].get("ip").is_some()
}

fn by_table(keys: &[(String, String)]) -> BTreeMap<&str, Vec<&str>> {
    let mut tables = BTreeMap::<&str, Vec<&str>>::new();
    for (table, key) in keys {
        tables.entry(table).or_default().push(key);
    }
    tables
}
