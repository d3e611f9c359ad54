use aws_lambda_events::dynamodb::Event as StreamEvent;
use aws_sdk_dynamodb::{
    Client,
    config::{Builder, Intercept},
};
use dynoxide::{Database, types::AttributeValue};
use linklet_domain::{
    Account, ApiKey, CorrelationId, EmailAddress, Link, Membership, Record, Role, Target, Timestamp, UserId,
    WorkspaceId, WorkspaceName, WorkspaceSlug,
};
use linklet_dynamodb::{
    ApiKeysTable, ClicksTable, CreateKeyOutcome, CreateOutcome, Creation, LinksTable, NotificationsTable,
    RegisterOutcome, Registration, StatsTable, ThrottleTable, UsersTable, WatchTable,
};
use linklet_lambda::identity::Authenticator;
use serde_json::{Value, json};

use crate::{Person, Template, serve_in_background, tokens};

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
        Self::with_tables(Template::load().tables().into_values())
    }

    /// The same without the tables' streams, for tests and measurements with very many writes: this implementation looks
    /// through a table's whole stream at each of them.
    ///
    /// # Panics
    /// When it can't start.
    #[must_use]
    pub fn without_streams() -> Self {
        Self::with_tables(Template::load().tables().into_values().map(|mut table| {
            table.as_object_mut().expect("a table is an object").remove("StreamSpecification");
            table
        }))
    }

    fn with_tables(tables: impl Iterator<Item = Value>) -> Self {
        let database = Database::memory().expect("an in-memory database opens");
        let template = Template::load();
        for request in tables {
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

    /// Where it listens.
    #[must_use]
    pub fn endpoint(&self) -> &str {
        &self.endpoint
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

    /// The table of accounts, as far as it lets requests in by their keys.
    #[must_use]
    pub fn api_keys(&self) -> ApiKeysTable {
        ApiKeysTable::new(self.client(), "UsersTable")
    }

    /// Accepts the tokens of [`token_for`](crate::token_for), and the keys of this database.
    #[must_use]
    pub fn authenticator(&self) -> Authenticator {
        Authenticator::new(tokens(), self.api_keys())
    }

    /// The table of notifications.
    #[must_use]
    pub fn notifications(&self) -> NotificationsTable {
        NotificationsTable::new(self.client(), "NotificationsTable")
    }

    /// The table of calls.
    #[must_use]
    pub fn calls(&self) -> ThrottleTable {
        ThrottleTable::new(self.client(), "ThrottleTable")
    }

    /// The table of monitored URLs.
    #[must_use]
    pub fn watch(&self) -> WatchTable {
        WatchTable::new(self.client(), "WatchTable")
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

    /// Registers somebody, without the cost of hashing a password. Their workspace's slug is their name.
    ///
    /// # Panics
    /// When the name is taken, or can't be part of an address and a slug.
    pub async fn register(&self, name: &str) -> Person {
        let (id, workspace, now) = (UserId::generate(), WorkspaceId::generate(), Timestamp::now());
        let email = EmailAddress::parse(&format!("{name}@example.com")).expect("an address");
        let registration = Registration {
            account: Account {
                id: id.clone(),
                email: email.clone(),
                full_name: None,
                password_hash: "none".to_owned(),
                created_at: now,
            },
            membership: Membership { workspace: workspace.clone(), role: Role::Admin, joined_at: now },
            workspace_name: WorkspaceName::parse(name).expect("a name"),
            workspace_slug: WorkspaceSlug::parse(name).expect("a slug"),
        };
        let outcome = self.users().register(&registration).await.expect("an account can be stored");
        assert_eq!(outcome, RegisterOutcome::Registered);
        Person { id, email, workspace }
    }

    /// Stores an API key as it is.
    ///
    /// # Panics
    /// When its creator isn't an admin of its workspace.
    pub async fn store_key(&self, key: &ApiKey) {
        let outcome = self.users().create_key(key).await.expect("a key can be stored");
        assert_eq!(outcome, CreateKeyOutcome::Created);
    }

    /// Registers a target.
    ///
    /// # Panics
    /// When its URL is registered in its workspace.
    pub async fn store_target(&self, target: &Target) -> Target {
        let registered = self.watch().register(target, None, &CorrelationId::generate()).await;
        let registered = registered.expect("a target can be registered");
        assert!(registered.is_new, "{} is registered", target.url);
        registered.target
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

    /// Writes an item, in DynamoDB's JSON, as nothing in Linklet would.
    ///
    /// # Panics
    /// When it can't.
    pub fn put(&self, table: &str, item: &Value) {
        let request = json!({"TableName": table, "Item": item});
        let request = serde_json::from_value(request).expect("a put request");
        self.database.put_item(request).expect("the item can be written");
    }

    /// Takes an item away, as nothing in Linklet would.
    ///
    /// # Panics
    /// When it can't.
    pub fn remove(&self, table: &str, item: &Value) {
        let request = json!({"TableName": table, "Key": {"pk": item["pk"], "sk": item["sk"]}});
        let request = serde_json::from_value(request).expect("a delete request");
        self.database.delete_item(request).expect("the item can be deleted");
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
        self.stream_reader(table).read_on("")
    }

    /// A reader of a table's stream that stands at its beginning.
    ///
    /// # Panics
    /// When the table has no stream.
    #[must_use]
    pub fn stream_reader(&self, table: &str) -> StreamReader {
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
        StreamReader { database: self.database.clone(), iterator: iterator.shard_iterator }
    }
}

/// Reads a stream on from where it has come to.
pub struct StreamReader {
    database: Database,
    iterator: Option<String>,
}

impl StreamReader {
    /// What has happened since it last read, to items whose sort key begins so: a filter as an event source mapping has it.
    ///
    /// # Panics
    /// When the stream can't be read.
    pub fn read_on(&mut self, sort_key_prefix: &str) -> StreamEvent {
        let mut records = Vec::new();
        while let Some(iterator) = &self.iterator {
            let request = json!({"ShardIterator": iterator, "Limit": 1_000});
            let request = serde_json::from_value(request).expect("a records request");
            let answer = self.database.get_records(request).expect("the stream can be read");
            let is_end = answer.records.is_empty();
            self.iterator = answer.next_shard_iterator;
            let begins_so =
                |key: &AttributeValue| matches!(key, AttributeValue::S(sk) if sk.starts_with(sort_key_prefix));
            records.extend(
                answer.records.into_iter().filter(|record| record.dynamodb.keys.get("sk").is_some_and(begins_so)),
            );
            if is_end {
                break;
            }
        }
        serde_json::from_value(json!({"Records": records})).expect("records have Lambda's form")
    }
}

fn config(endpoint: &str) -> Builder {
    local_config!(aws_sdk_dynamodb, endpoint)
}
