use aws_lambda_events::dynamodb::Event as StreamEvent;
use aws_sdk_dynamodb::{
    Client,
    config::{Builder, Intercept},
};
use dynoxide::Database;
use linklet_domain::{CorrelationId, Link, Record};
use linklet_dynamodb::{ClicksTable, CreateOutcome, Creation, LinksTable, NotificationsTable, StatsTable, UsersTable};
use serde_json::{Value, json};

use crate::{Template, serve_in_background};

/// DynamoDB with the template's tables, each test's own. It ends with the test's process.
pub struct TestDynamoDb {
    database: Database,
    endpoint: String,
    client: Client,
}

impl TestDynamoDb {
    /// Starts it, empty.
    ///
    /// # Panics
    /// When it can't start.
    #[must_use]
    pub fn start() -> Self {
        let database = Database::memory().expect("an in-memory database opens");
        let template = Template::load();
        for request in template.tables().into_values() {
            let request = serde_json::from_value(request).expect("the template's table is a request");
            database.create_table(request).expect("the template's table can be created");
        }
        for request in template.time_to_live() {
            let request = serde_json::from_value(request).expect("the template's TTL is a request");
            database.update_time_to_live(request).expect("the template's TTL can be set");
        }
        let served = database.clone();
        let address = serve_in_background(move |listener| dynoxide::server::serve_on(listener, served));
        let endpoint = format!("http://{address}");
        Self { database, client: Client::from_conf(config(&endpoint).build()), endpoint }
    }

    /// A client of a DynamoDB that doesn't answer, since nothing listens there.
    #[must_use]
    pub fn unreachable() -> Client {
        Client::from_conf(config("http://127.0.0.1:9").build())
    }

    /// The SDK's client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Another client, with this between it and DynamoDB.
    #[must_use]
    pub fn client_with(&self, interceptor: impl Intercept + 'static) -> Client {
        Client::from_conf(config(&self.endpoint).interceptor(interceptor).build())
    }

    /// The table of links.
    #[must_use]
    pub fn links(&self) -> LinksTable {
        LinksTable::new(self.client(), "LinksTable")
    }

    /// The table of raw clicks.
    #[must_use]
    pub fn clicks(&self) -> ClicksTable {
        ClicksTable::new(self.client(), "ClicksTable")
    }

    /// The table of statistics.
    #[must_use]
    pub fn stats(&self) -> StatsTable {
        StatsTable::new(self.client(), "StatsTable")
    }

    /// The table of accounts.
    #[must_use]
    pub fn users(&self) -> UsersTable {
        UsersTable::new(self.client(), "UsersTable")
    }

    /// The table of notifications.
    #[must_use]
    pub fn notifications(&self) -> NotificationsTable {
        NotificationsTable::new(self.client(), "NotificationsTable")
    }

    /// Stores a link as it is.
    ///
    /// # Panics
    /// When its code is taken.
    pub async fn store(&self, link: &Link) {
        let correlation_id = CorrelationId::generate();
        let creation = Creation { link, correlation_id: &correlation_id, reusable: None, answer: None };
        let outcome = self.links().create(&creation).await.expect("a link can be stored");
        assert_eq!(outcome, CreateOutcome::Created);
    }

    /// A link that has to be there.
    ///
    /// # Panics
    /// When it isn't.
    pub async fn link(&self, code: &str) -> Link {
        match self.record(code).await {
            Some(Record::Link(link)) => link,
            other => panic!("{code} is no link but {other:?}"),
        }
    }

    /// What stands under a code.
    ///
    /// # Panics
    /// When the code is none.
    pub async fn record(&self, code: &str) -> Option<Record<Link>> {
        self.links().find(&code.parse().expect("a code")).await.expect("the table can be read")
    }

    /// Lets DynamoDB's TTL delete what has expired; the stream says that the service did it.
    ///
    /// # Panics
    /// When it can't.
    pub fn sweep_ttl(&self) {
        self.database.sweep_ttl().expect("expired items can be deleted");
    }

    /// All items of a table, in no order, in DynamoDB's JSON.
    ///
    /// # Panics
    /// When the table can't be scanned.
    #[must_use]
    pub fn scan(&self, table: &str) -> Vec<Value> {
        let request = serde_json::from_value(json!({"TableName": table})).expect("a scan request");
        let answer = self.database.scan(request).expect("the table can be scanned");
        match serde_json::to_value(answer).expect("an answer is JSON")["Items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        }
    }

    /// Everything that has happened to a table, as Lambda would deliver it from the table's stream.
    ///
    /// # Panics
    /// When the table has no stream.
    #[must_use]
    pub fn stream(&self, table: &str) -> StreamEvent {
        let request = serde_json::from_value(json!({"TableName": table})).expect("a describe request");
        let description = self.database.describe_table(request).expect("the table exists");
        let description = serde_json::to_value(description).expect("an answer is JSON");
        let stream = &description["Table"]["LatestStreamArn"];
        let shard = json!({
            "StreamArn": stream, "ShardId": format!("shardId-00000001-{table}"), "ShardIteratorType": "TRIM_HORIZON",
        });
        let iterator = self
            .database
            .get_shard_iterator(serde_json::from_value(shard).expect("an iterator request"))
            .expect("the table has a stream");
        let mut records = Vec::new();
        let mut next = iterator.shard_iterator;
        while let Some(iterator) = next {
            let request = json!({"ShardIterator": iterator, "Limit": 1_000});
            let request = serde_json::from_value(request).expect("a records request");
            let answer = self.database.get_records(request).expect("the stream can be read");
            next = answer.next_shard_iterator.filter(|_| !answer.records.is_empty());
            records.extend(answer.records);
        }
        serde_json::from_value(json!({"Records": records})).expect("records have Lambda's form")
    }
}

fn config(endpoint: &str) -> Builder {
    local_config!(aws_sdk_dynamodb, endpoint)
}
