use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use url::form_urlencoded;

use crate::remote::{block_on, runtime};
use crate::service::access_key;

/// Names the endpoint of a LocalStack, if the stand-ins for SQS and SNS are to hand on to it what they take.
const ENDPOINT: &str = "LOCALSTACK_ENDPOINT";
/// Which subscribes to the topic.
const SUBSCRIBER: &str = "subscriber";
const VERSION: (&str, &str) = ("Version", "2010-03-31");

/// SQS and SNS of a LocalStack, behind a stand-in: an account there that nobody else has.
pub(crate) struct LocalStack {
    endpoint: String,
    account: String,
    /// The URLs of the queues that were created, by the names that tests have for them.
    queues: Mutex<HashMap<String, String>>,
    topic: Mutex<Option<String>>,
}

impl LocalStack {
    /// That of the environment, if it names one.
    pub(crate) fn of_environment() -> Option<Self> {
        let endpoint = std::env::var(ENDPOINT).ok().filter(|endpoint| !endpoint.is_empty())?;
        Some(Self { endpoint, account: access_key(), queues: Mutex::default(), topic: Mutex::default() })
    }

    /// Hands on a request to SQS about this queue, which is created if it is the first.
    pub(crate) async fn sqs(&self, action: &str, queue: &str, mut request: Value) -> (StatusCode, Value) {
        request["QueueUrl"] = self.queue(queue).await.into();
        self.json("/", action, &request).await
    }

    async fn queue(&self, name: &str) -> String {
        let mut queues = self.queues.lock().await;
        if let Some(url) = queues.get(name) {
            return url.clone();
        }
        let request = json!({"QueueName": name});
        let (status, answer) = self.json("/", "AmazonSQS.CreateQueue", &request).await;
        let url = answer["QueueUrl"].as_str().unwrap_or_else(|| panic!("no queue {name}: {status} {answer}"));
        queues.entry(name.to_owned()).or_insert_with(|| url.to_owned()).clone()
    }

    /// The bodies of all messages in a queue, by their ids. They stay there, as if nobody had looked.
    pub(crate) async fn bodies(&self, queue: &str) -> HashMap<String, String> {
        let request = json!({"QueueUrl": self.queue(queue).await});
        let everything = "/_aws/sqs/messages?ShowInvisible=true&ShowDelayed=true";
        let (status, mut answer) = self.json(everything, "AmazonSQS.ReceiveMessage", &request).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let messages = answer["Messages"].take();
        let messages = messages.as_array().into_iter().flatten();
        messages.map(|message| (text(&message["MessageId"]), text(&message["Body"]))).collect()
    }

    /// Hands on a notification to the topic, which is created, with its subscriber, if it is the first.
    pub(crate) async fn publish(&self, request: &str) -> (StatusCode, Bytes) {
        let topic = self.topic().await;
        let members = form_urlencoded::parse(request.as_bytes());
        let members: Vec<_> = members
            .map(|(name, value)| if name == "TopicArn" { (name, Cow::from(&topic)) } else { (name, value) })
            .collect();
        self.form(&members).await
    }

    async fn topic(&self) -> String {
        let mut topic = self.topic.lock().await;
        if let Some(arn) = topic.as_ref() {
            return arn.clone();
        }
        self.queue(SUBSCRIBER).await;
        let arn = |service: &str, name: &str| format!("arn:aws:{service}:eu-central-1:{}:{name}", self.account);
        let (created, subscriber) = (arn("sns", "notifications"), arn("sqs", SUBSCRIBER));
        let create = [("Action", "CreateTopic"), VERSION, ("Name", "notifications")];
        let subscribe =
            [("Action", "Subscribe"), VERSION, ("TopicArn", &created), ("Protocol", "sqs"), ("Endpoint", &subscriber)];
        for members in [&create[..], &subscribe[..]] {
            let (status, answer) = self.form(members).await;
            assert_eq!(status, StatusCode::OK, "{answer:?}");
        }
        topic.insert(created).clone()
    }

    /// What the topic's subscriber has got, once that are so many notifications.
    pub(crate) async fn delivered(&self, count: usize) -> Vec<String> {
        const SLOWEST_DELIVERY: Duration = Duration::from_secs(10);
        let deadline = Instant::now() + SLOWEST_DELIVERY;
        loop {
            let delivered = self.bodies(SUBSCRIBER).await;
            if delivered.len() >= count {
                return delivered.into_values().collect();
            }
            assert!(Instant::now() < deadline, "of {count} notifications, {} were delivered", delivered.len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// SQS's protocol.
    async fn json(&self, path: &str, action: &str, body: &Value) -> (StatusCode, Value) {
        let headers = [("content-type", "application/x-amz-json-1.0"), ("x-amz-target", action)];
        let (status, answer) = self.post(path, "sqs", headers, body.to_string()).await;
        (status, serde_json::from_slice(&answer).unwrap_or_default())
    }

    /// SNS's protocol.
    async fn form<T: AsRef<str>>(&self, members: &[(T, T)]) -> (StatusCode, Bytes) {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(members).finish();
        self.post("/", "sns", headers, body).await
    }

    async fn post<const N: usize>(
        &self,
        path: &str,
        service: &str,
        headers: [(&str, &str); N],
        body: String,
    ) -> (StatusCode, Bytes) {
        // It takes the account and the service from the signature, and doesn't verify it.
        let credential = format!("{}/20260101/eu-central-1/{service}/aws4_request", self.account);
        let signed = format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=0");
        let request = Request::post(format!("{}{path}", self.endpoint)).header(header::AUTHORIZATION, signed);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        send(request.body(body.into()).expect("a request")).await
    }
}

/// Lets it delete what has expired, which it does when it is asked. Others don't know this path, and refuse.
pub(crate) fn delete_expired(endpoint: &str) {
    let request = Request::delete(format!("{endpoint}/_aws/dynamodb/expired"));
    block_on(send(request.body(Body::empty()).expect("a request")));
}

async fn send(request: Request<Body>) -> (StatusCode, Bytes) {
    static CLIENT: LazyLock<Client<HttpConnector, Body>> =
        LazyLock::new(|| Client::builder(TokioExecutor::new()).build_http());
    // Connections belong to the runtime in which they were opened, so all are opened in one.
    let sent = runtime().spawn(async {
        let answer = CLIENT.request(request).await.expect("the service somewhere else answers");
        let (parts, body) = answer.into_parts();
        (parts.status, to_bytes(Body::new(body), usize::MAX).await.expect("an answer is read"))
    });
    sent.await.expect("the call ends")
}
