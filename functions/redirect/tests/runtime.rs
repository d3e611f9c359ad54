//! The function as Lambda runs it: what happens before the answer leaves, and what after.

#![expect(clippy::unwrap_used, reason = "a test that meets an unexpected error has failed")]

use std::future::pending;
use std::process::Command;
use std::time::Duration;

use linklet_redirect::REDIRECT;
use linklet_test_support::{FakeLambda, FakeQueues, FakeSecret, Journal, LinkBuilder, Program, TestDynamoDb};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// An environment of the function with a link to follow.
struct Environment {
    db: TestDynamoDb,
    queues: FakeQueues,
    journal: Journal,
    lambda: FakeLambda,
}

impl Environment {
    async fn start(recording: &str, clicks_table: &str) -> Self {
        let direct = |dynamodb| vec![("AWS_ENDPOINT_URL_DYNAMODB", dynamodb)];
        Self::start_reaching_dynamodb(direct, recording, clicks_table).await
    }

    /// With the variables that lead to DynamoDB, given where it is.
    async fn start_reaching_dynamodb(
        way: impl FnOnce(String) -> Vec<(&'static str, String)>,
        recording: &str,
        clicks_table: &str,
    ) -> Self {
        let (db, queues, journal) = (TestDynamoDb::start(), FakeQueues::start(), Journal::default());
        db.store(&LinkBuilder::new("launch").to("https://example.com/landing").build()).await;
        let (dynamodb, sqs) = (journal.in_front_of(db.endpoint()), journal.in_front_of(queues.endpoint()));
        let secrets = FakeSecret::start(&"salt".repeat(16));
        let (way, parking) = (way(dynamodb), queues.url("clicks"));
        let mut variables = vec![
            ("AWS_ACCESS_KEY_ID", db.access_key()),
            ("AWS_ENDPOINT_URL_SQS", sqs.as_str()),
            ("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.endpoint()),
            ("LINKS_TABLE", "LinksTable"),
            ("CLICKS_TABLE", clicks_table),
            ("THROTTLE_TABLE", "ThrottleTable"),
            ("USERS_TABLE", "UsersTable"),
            ("REGISTRATION", "invited"),
            ("ANALYTICS_QUEUE_URL", parking.as_str()),
            ("RAW_CLICK_DAYS", "396"),
            ("CLICK_RECORDING", recording),
            // One in ten is merged, so with this limit every call.
            ("REDIRECT_LIMIT_PER_MINUTE", "10"),
            ("CLICK_SALT_ID", "salt"),
            ("TRUSTED_EDGE", "none"),
        ];
        variables.extend(way.iter().map(|(name, value)| (*name, value.as_str())));
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let program = Program { command: vec![env!("CARGO_BIN_EXE_redirect").into()], variables, memory: 256 };
        let lambda = FakeLambda::start(&program, &journal);
        Self { db, queues, journal, lambda }
    }

    /// Freezes the function's process, or has it go on.
    fn signal(&self, name: &str) {
        let process = self.lambda.process().to_string();
        assert!(Command::new("kill").args(["-s", name, &process]).status().unwrap().success());
    }

    async fn follow(&self) -> Value {
        let event = include_str!("../events/follow.json").to_owned();
        let answer: Value = serde_json::from_slice(&self.lambda.invoke(event).await.answer).unwrap();
        json!([answer["statusCode"], answer["headers"]["location"]])
    }

    /// What happened for the first event before and after the answer, each without order and repetition.
    fn course(&self) -> [Vec<String>; 2] {
        let course = self.entries_of_the_first();
        let answered = course.iter().position(|entry| entry == "answered").unwrap();
        [&course[..answered], &course[answered + 1..]].map(|part| {
            let mut part = part.to_vec();
            part.sort_unstable();
            part.dedup();
            part
        })
    }

    /// From its arrival to the request for the next.
    fn entries_of_the_first(&self) -> Vec<String> {
        let entries = self.journal.entries();
        let mut requests = entries.iter().enumerate().filter(|(_, entry)| *entry == "next").map(|(at, _)| at);
        let (first, second) = (requests.next().unwrap(), requests.next().unwrap());
        entries[first + 1..second].to_vec()
    }
}

fn redirected() -> Value {
    json!([REDIRECT.as_u16(), "https://example.com/landing"])
}

#[tokio::test]
async fn nothing_is_written_before_the_answer_has_left() {
    let environment = Environment::start("after-response", "ClicksTable").await;

    let answer = environment.follow().await;

    assert_eq!(answer, redirected());
    assert_eq!(environment.course(), [vec!["GetItem"], vec!["PutItem", "UpdateItem"]]);
    assert_eq!(environment.db.scan("ClicksTable").len(), 1);
    assert_eq!(environment.follow().await, redirected());
    assert_eq!(environment.db.scan("ClicksTable").len(), 2);
}

#[tokio::test]
async fn inline_the_click_is_stored_first() {
    let environment = Environment::start("inline", "ClicksTable").await;

    let answer = environment.follow().await;

    assert_eq!(answer, redirected());
    assert_eq!(environment.course(), [vec!["GetItem", "PutItem", "UpdateItem"], vec![]]);
}

#[tokio::test]
async fn a_click_that_cannot_be_stored_is_parked_after_the_answer() {
    let environment = Environment::start("after-response", "NoSuchTable").await;

    let answer = environment.follow().await;

    assert_eq!(answer, redirected());
    assert_eq!(environment.course(), [vec!["GetItem"], vec!["PutItem", "SendMessageBatch", "UpdateItem"]]);
    assert_eq!(environment.queues.events("clicks")[0]["short_code"], "launch");
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_used_where_it_should_be() {
    let proxy = |dynamodb| {
        [
            ("AWS_ENDPOINT_URL_DYNAMODB", "http://dynamodb.example".to_owned()),
            ("HTTP_PROXY", dynamodb),
            ("NO_PROXY", "127.0.0.1".to_owned()),
        ]
        .into()
    };
    let environment = Environment::start_reaching_dynamodb(proxy, "after-response", "ClicksTable").await;

    let answer = environment.follow().await;

    assert_eq!(answer, redirected());
    assert_eq!(environment.db.scan("ClicksTable").len(), 1);
}

/// After some frozen minutes, connections may be gone without a word: what a function sends on them is never answered.
#[tokio::test]
async fn connections_that_died_while_the_environment_was_frozen_cost_a_retry_only() {
    let gateway = Gateway::default();
    let through = |dynamodb: String| vec![("AWS_ENDPOINT_URL_DYNAMODB", gateway.in_front_of(&dynamodb))];
    let environment = Environment::start_reaching_dynamodb(through, "after-response", "ClicksTable").await;
    assert_eq!(environment.follow().await, redirected());

    environment.signal("STOP");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let lost = gateway.lose_connections();
    environment.signal("CONT");
    let answer = environment.follow().await;

    assert!(lost > 1, "several calls at once leave several connections");
    assert_eq!(answer, redirected());
    assert_eq!(environment.db.scan("ClicksTable").len(), 2);
}

/// Passes connections on.
#[derive(Default)]
struct Gateway(watch::Sender<()>);

impl Gateway {
    fn in_front_of(&self, endpoint: &str) -> String {
        let (server, losses) = (endpoint.trim_start_matches("http://").to_owned(), self.0.subscribe());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("http://{}", listener.local_addr().unwrap());
        listener.set_nonblocking(true).unwrap();
        tokio::spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((mut client, _)) = listener.accept().await {
                let (mut server, mut losses) = (TcpStream::connect(&server).await.unwrap(), losses.clone());
                losses.mark_unchanged();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = losses.changed() => pending().await,
                    }
                });
            }
        });
        own
    }

    /// From now on nothing comes through the connections that there are, and nobody is told. Returns how many they are.
    fn lose_connections(&self) -> usize {
        self.0.send_replace(());
        self.0.receiver_count() - 1
    }
}

#[tokio::test]
async fn an_empty_endpoint_of_a_service_leaves_the_general_one() {
    let general = |dynamodb| [("AWS_ENDPOINT_URL_DYNAMODB", String::new()), ("AWS_ENDPOINT_URL", dynamodb)].into();
    let environment = Environment::start_reaching_dynamodb(general, "after-response", "ClicksTable").await;

    let answer = environment.follow().await;

    assert_eq!(answer, redirected());
    assert_eq!(environment.db.scan("ClicksTable").len(), 1);
}

#[tokio::test]
async fn with_an_empty_endpoint_the_service_is_looked_for_at_aws() {
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", proxy.local_addr().unwrap());
    let empty = |_| {
        [("AWS_ENDPOINT_URL", String::new()), ("HTTPS_PROXY", address), ("NO_PROXY", "127.0.0.1".to_owned())].into()
    };
    let _environment = Environment::start_reaching_dynamodb(empty, "after-response", "ClicksTable").await;

    let asked = first_line(proxy).await;

    assert_eq!(asked, "CONNECT dynamodb.eu-central-1.amazonaws.com:443 HTTP/1.1");
}

/// What the first one to connect says first.
async fn first_line(listener: TcpListener) -> String {
    let first_line = async {
        let (connection, _) = listener.accept().await.unwrap();
        let mut line = String::new();
        BufReader::new(connection).read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    };
    tokio::time::timeout(Duration::from_secs(20), first_line).await.unwrap()
}
