use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::config::{Builder, Credentials};
use dynoxide::{Database, DynoxideError};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::localstack::delete_expired;
use crate::remote::{LongTimeout, Remote};
use crate::roles::RoleGuard;
use crate::serve_in_background;

/// Names the endpoint at which tests find DynamoDB, if it is to be another one than dynoxide in their own process. The service
/// there must give each access key tables of its own, as DynamoDB Local does; docs/conformance.md tells more.
const ENDPOINT: &str = "DYNAMODB_ENDPOINT";

/// The DynamoDB of one test, with no table at first. It is called in DynamoDB's JSON, and clones are the same one.
#[derive(Clone)]
pub(crate) struct Service {
    endpoint: String,
    access_key: String,
    implementation: Implementation,
    /// What `UpdateTimeToLive` wants, for each table that has a TTL.
    times_to_live: Vec<Value>,
}

#[derive(Clone)]
enum Implementation {
    /// In this process. Calls of the test itself need no way through HTTP.
    Dynoxide(Database),
    Remote(Remote),
}

/// What tests themselves call. The code under test has the SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    CreateTable,
    DeleteTable,
    UpdateTimeToLive,
    DescribeTable,
    PutItem,
    DeleteItem,
    Scan,
    DescribeStream,
    GetShardIterator,
    GetRecords,
}

impl Operation {
    /// The name of the API that it belongs to, as requests have it.
    pub(crate) const fn api(self) -> &'static str {
        match self {
            Self::DescribeStream | Self::GetShardIterator | Self::GetRecords => "DynamoDBStreams_20120810",
            _ => "DynamoDB_20120810",
        }
    }
}

impl Service {
    pub(crate) fn start() -> Self {
        match std::env::var(ENDPOINT) {
            Ok(endpoint) if !endpoint.is_empty() => Self::at(endpoint),
            _ => Self::in_this_process(),
        }
    }

    fn in_this_process() -> Self {
        let database = Database::memory().expect("an in-memory database opens");
        let served = database.clone();
        let address = serve_in_background(move |listener| dynoxide::server::serve_on(listener, served));
        Self {
            endpoint: format!("http://{address}"),
            access_key: "test".to_owned(),
            implementation: Implementation::Dynoxide(database),
            times_to_live: Vec::new(),
        }
    }

    fn at(endpoint: String) -> Self {
        let access_key = access_key();
        let remote = Remote::new(config(&endpoint, &access_key).build());
        Self { endpoint, access_key, implementation: Implementation::Remote(remote), times_to_live: Vec::new() }
    }

    pub(crate) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub(crate) fn access_key(&self) -> &str {
        &self.access_key
    }

    /// Of a client that reaches it.
    pub(crate) fn config(&self) -> Builder {
        let config = config(&self.endpoint, &self.access_key).interceptor(RoleGuard);
        match &self.implementation {
            Implementation::Dynoxide(_) => config,
            Implementation::Remote(_) => config.interceptor(LongTimeout),
        }
    }

    /// Calls it, as nothing in Linklet would.
    ///
    /// # Panics
    /// When it refuses.
    pub(crate) fn call(&self, operation: Operation, request: Value) -> Value {
        let database = match &self.implementation {
            Implementation::Dynoxide(database) => database,
            Implementation::Remote(remote) => return remote.call(operation, request),
        };
        let (status, answer) = execute(database, &format!("{operation:?}"), request);
        assert_eq!(status, 200, "DynamoDB refuses: {answer}");
        answer
    }

    /// All items of a table.
    pub(crate) fn scan(&self, table: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut request = json!({"TableName": table, "ConsistentRead": true});
        loop {
            let mut answer = self.call(Operation::Scan, request.clone());
            items.append(answer["Items"].as_array_mut().expect("a scan answers with items"));
            match answer["LastEvaluatedKey"].take() {
                Value::Null => return items,
                last => request["ExclusiveStartKey"] = last,
            }
        }
    }

    /// Tells it what `UpdateTimeToLive` wants. Nothing is deleted before a [sweep](Self::sweep_ttl).
    ///
    /// A service that deletes by itself is told only then, since it would delete at any moment.
    pub(crate) fn set_times_to_live(&mut self, settings: Vec<Value>) {
        if matches!(self.implementation, Implementation::Dynoxide(_)) {
            for setting in &settings {
                self.call(Operation::UpdateTimeToLive, setting.clone());
            }
        }
        self.times_to_live = settings;
    }

    /// Lets TTL delete what has expired.
    ///
    /// # Panics
    /// When it doesn't, within a time that DynamoDB Local keeps, but AWS doesn't promise.
    pub(crate) fn sweep_ttl(&self) {
        match &self.implementation {
            Implementation::Dynoxide(database) => {
                database.sweep_ttl().expect("expired items can be deleted");
            }
            Implementation::Remote(_) => self.times_to_live.iter().for_each(|setting| self.await_ttl(setting)),
        }
    }

    fn await_ttl(&self, setting: &Value) {
        let deadline = Instant::now() + SLOWEST_SWEEP;
        self.delete_what_no_index_has(setting);
        if self.expired_items(setting).is_empty() {
            return;
        }
        self.call(Operation::UpdateTimeToLive, setting.clone());
        delete_expired(&self.endpoint);
        while !self.expired_items(setting).is_empty() {
            assert!(Instant::now() < deadline, "{} doesn't delete what has expired", self.endpoint);
            thread::sleep(Duration::from_millis(50));
        }
        let mut off = setting.clone();
        off["TimeToLiveSpecification"]["Enabled"] = false.into();
        self.call(Operation::UpdateTimeToLive, off);
    }

    /// DynamoDB Local's TTL leaves items alone that are not in each index of their table. AWS deletes these, too.
    fn delete_what_no_index_has(&self, setting: &Value) {
        let table = &setting["TableName"];
        let description = self.call(Operation::DescribeTable, json!({"TableName": table}));
        let indexes = description["Table"]["GlobalSecondaryIndexes"].as_array().cloned().unwrap_or_default();
        let keys: Vec<_> =
            indexes.iter().flat_map(|index| index["KeySchema"].as_array().into_iter().flatten()).collect();
        let is_in_each = |item: &Value| {
            keys.iter().filter_map(|key| key["AttributeName"].as_str()).all(|name| item.get(name).is_some())
        };
        for item in self.expired_items(setting).iter().filter(|item| !is_in_each(item)) {
            let key = json!({"pk": item["pk"], "sk": item["sk"]});
            self.call(Operation::DeleteItem, json!({"TableName": table, "Key": key}));
        }
    }

    fn expired_items(&self, setting: &Value) -> Vec<Value> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
        let table = setting["TableName"].as_str().expect("a TTL is a table's");
        let attribute = setting["TimeToLiveSpecification"]["AttributeName"].as_str().expect("a TTL is in an attribute");
        let is_expired = |item: &Value| {
            let ttl = item[attribute]["N"].as_str().and_then(|ttl| ttl.parse::<u64>().ok());
            ttl.is_some_and(|ttl| ttl < now && ttl + TOO_OLD.as_secs() > now)
        };
        self.scan(table).into_iter().filter(is_expired).collect()
    }
}

/// DynamoDB leaves alone what should have gone so long ago.
const TOO_OLD: Duration = Duration::from_secs(5 * 365 * 24 * 60 * 60);
/// DynamoDB Local looks a second after TTL was enabled, and then every ten.
const SLOWEST_SWEEP: Duration = Duration::from_secs(30);

pub(crate) fn config(endpoint: &str, access_key: &str) -> Builder {
    let credentials = Credentials::new(access_key, "test", None, None, "test");
    local_config!(aws_sdk_dynamodb, endpoint).credentials_provider(credentials)
}

/// A new one. DynamoDB Local takes letters and digits; twelve digits are also an account, which some emulators tell apart.
pub(crate) fn access_key() -> String {
    let random = getrandom::u64().expect("the system has random numbers");
    format!("{:012}", random % 1_000_000_000_000)
}

/// Has DynamoDB carry out a call with such a body, and returns its status and answer.
///
/// # Panics
/// When the operation is none of those that Linklet or its tests use, or the body hasn't its form.
pub fn execute(database: &Database, operation: &str, request: Value) -> (u16, Value) {
    match operation {
        "CreateTable" => answer(database.create_table(typed(request))),
        "DeleteTable" => answer(database.delete_table(typed(request))),
        "UpdateTimeToLive" => answer(database.update_time_to_live(typed(request))),
        "DescribeTable" => answer(database.describe_table(typed(request))),
        "PutItem" => answer(database.put_item(typed(request))),
        "GetItem" => answer(database.get_item(typed(request))),
        "UpdateItem" => answer(database.update_item(typed(request))),
        "DeleteItem" => answer(database.delete_item(typed(request))),
        "Query" => answer(database.query(typed(request))),
        "Scan" => answer(database.scan(typed(request))),
        "BatchGetItem" => answer(database.batch_get_item(typed(request))),
        "BatchWriteItem" => answer(database.batch_write_item(typed(request))),
        "TransactWriteItems" => answer(database.transact_write_items(typed(request))),
        "TransactGetItems" => answer(database.transact_get_items(typed(request))),
        "DescribeStream" => answer(database.describe_stream(typed(request))),
        "GetShardIterator" => answer(database.get_shard_iterator(typed(request))),
        "GetRecords" => answer(database.get_records(typed(request))),
        other => panic!("the tests don't know {other}"),
    }
}

fn typed<T: DeserializeOwned>(request: Value) -> T {
    serde_json::from_value(request).expect("the request has the operation's form")
}

fn answer<T: Serialize>(answer: Result<T, DynoxideError>) -> (u16, Value) {
    match answer {
        Ok(answer) => (200, serde_json::to_value(answer).expect("an answer is JSON")),
        Err(error) => (error.status_code(), serde_json::from_str(&error.to_json()).expect("an error is JSON")),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::Client;
    use aws_sdk_dynamodb::config::Config;
    use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
    use axum::{Json, Router};

    use super::*;
    use crate::{Template, serve};

    const TABLE: &str = "LinksTable";

    fn with_table() -> Service {
        let service = Service::in_this_process();
        service.call(Operation::CreateTable, Template::load().tables()[TABLE].clone());
        service
    }

    /// This service, which doesn't mind the access key.
    fn from_elsewhere(service: &Service) -> Service {
        Service::at(service.endpoint().to_owned())
    }

    #[tokio::test]
    async fn what_is_somewhere_else_is_called_in_the_same_json() {
        let own = with_table();
        let remote = from_elsewhere(&own);
        let item = json!({"pk": {"S": "a"}, "sk": {"S": "b"}});

        remote.call(Operation::PutItem, json!({"TableName": TABLE, "Item": item}));

        assert_eq!((own.scan(TABLE), remote.scan(TABLE)), (vec![item.clone()], vec![item]));
        let description = json!({"TableName": TABLE});
        assert_eq!(
            remote.call(Operation::DescribeTable, description.clone())["Table"]["LatestStreamArn"],
            own.call(Operation::DescribeTable, description)["Table"]["LatestStreamArn"],
        );
    }

    #[tokio::test]
    #[should_panic(expected = "ResourceNotFoundException")]
    async fn a_refusal_somewhere_else_ends_the_test() {
        from_elsewhere(&with_table()).scan("NoTable");
    }

    #[test]
    fn each_service_somewhere_else_has_an_access_key_of_its_own() {
        let keys = [(); 2].map(|()| Service::at("http://127.0.0.1:9".to_owned()).access_key().to_owned());

        assert!(keys.iter().all(|key| key.len() == 12 && key.bytes().all(|digit| digit.is_ascii_digit())), "{keys:?}");
        assert_ne!(keys[0], keys[1]);
    }

    #[tokio::test]
    async fn somewhere_else_no_time_limit_ends_a_call() {
        let slow = async || {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Json(json!({}))
        };
        let router = Router::new().fallback(slow);
        let endpoint = serve(router);
        let call = async |config: Config| {
            let limit = TimeoutConfig::builder().operation_timeout(Duration::from_millis(20)).build();
            let hurried = Config::builder().timeout_config(limit);
            Client::from_conf(config).list_tables().customize().config_override(hurried).send().await
        };

        call(config(&endpoint, "test").build()).await.unwrap_err();
        call(Service::at(endpoint).config().build()).await.unwrap();
    }
}
