//! The tables that the functions work on, and what counts their calls.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_LENGTH, HOST},
    http::{request, uri::PathAndQuery},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use linklet_test_support::Consumption;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::net::TcpListener;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Stands between a function and DynamoDB, and adds up what its calls cost. It takes time, so nothing is timed meanwhile.
pub struct CountingProxy {
    dynamodb: String,
    client: Client<HttpConnector, Full<Bytes>>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    total: Consumption,
    early_writes: usize,
    /// Tells whether the current event is answered.
    is_answered: Option<Box<dyn Fn() -> bool + Send>>,
    failure: Option<String>,
}

/// What the calls of a function cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    pub consumption: Consumption,
    /// The writes that came before the answer.
    pub early_writes: usize,
}

impl CountingProxy {
    /// Starts one in front of an endpoint, on the runtime of the caller.
    ///
    /// # Errors
    /// When no port is free.
    pub async fn start(dynamodb: &str) -> io::Result<(Arc<Self>, SocketAddr)> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let proxy = Arc::new(Self { dynamodb: dynamodb.to_owned(), client, counts: Mutex::default() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(proxy.clone().serve(listener));
        Ok((proxy, address))
    }

    /// Counts from zero. The function tells whether the event that is worked on is answered.
    pub fn reset(&self, is_answered: impl Fn() -> bool + Send + 'static) {
        *self.counts.lock() = Counts { is_answered: Some(Box::new(is_answered)), ..Counts::default() };
    }

    /// What has been counted.
    ///
    /// # Errors
    /// When a call could not be passed on.
    pub fn counted(&self) -> Result<Counted, String> {
        let counts = self.counts.lock();
        match &counts.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(Counted { consumption: counts.total, early_writes: counts.early_writes }),
        }
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) {
        while let Ok((connection, _)) = listener.accept().await {
            // A call that is held up only takes longer here.
            drop(connection.set_nodelay(true));
            let proxy = self.clone();
            let service = service_fn(move |request| {
                let proxy = proxy.clone();
                async move { Ok::<_, Infallible>(proxy.answer(request).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        self.pass_on(request).await.unwrap_or_else(|error| {
            self.counts.lock().failure.get_or_insert(format!("a call could not be counted: {error}"));
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            response
        })
    }

    async fn pass_on(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Error> {
        let (mut head, body) = request.into_parts();
        let operation = operation_of(&head);
        self.note(&operation);
        let body = asking(&operation, &body.collect().await?.to_bytes())?;
        let path = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        head.uri = format!("{}{path}", self.dynamodb).parse()?;
        head.headers.remove(HOST);
        head.headers.remove(CONTENT_LENGTH);
        let response = self.client.request(Request::from_parts(head, Full::new(body.clone()))).await?;
        let (head, answer) = response.into_parts();
        let answer = answer.collect().await?.to_bytes();
        let (sent, received) = (serde_json::from_slice(&body)?, serde_json::from_slice(&answer)?);
        let cost = Consumption::of(&operation, &sent, &received, !head.status.is_success())?;
        self.counts.lock().total.add(cost);
        Ok(Response::from_parts(head, Full::new(answer)))
    }

    /// Called when a request arrives, since what counts is what was sent before the answer.
    fn note(&self, operation: &str) {
        let mut counts = self.counts.lock();
        let is_answered = counts.is_answered.as_ref().is_some_and(|is_answered| is_answered());
        counts.early_writes += usize::from(Consumption::is_write(operation) && !is_answered);
    }
}

fn operation_of(head: &request::Parts) -> String {
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    target.rsplit('.').next().unwrap_or_default().to_owned()
}

/// A request's body with a question for what it costs.
fn asking(operation: &str, body: &[u8]) -> Result<Bytes, serde_json::Error> {
    let mut request: Value = serde_json::from_slice(body)?;
    Consumption::ask(operation, &mut request);
    Ok(request.to_string().into())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use aws_sdk_dynamodb::{
        Client,
        types::{AttributeValue, Put, TransactWriteItem},
    };
    use linklet_test_support::TestDynamoDb;

    use super::*;

    const TABLE: &str = "UsersTable";

    async fn bench() -> (TestDynamoDb, Arc<CountingProxy>, Client) {
        let db = TestDynamoDb::start();
        let (proxy, address) = CountingProxy::start(db.endpoint()).await.unwrap();
        let config = db.client().config().to_builder().endpoint_url(format!("http://{address}")).build();
        (db, proxy, Client::from_conf(config))
    }

    fn item(name: &str) -> HashMap<String, AttributeValue> {
        ["pk", "sk"].map(|part| (part.to_owned(), AttributeValue::S(name.to_owned()))).into()
    }

    async fn put(client: &Client, name: &str) {
        client.put_item().table_name(TABLE).set_item(Some(item(name))).send().await.unwrap();
    }

    fn counted(calls: usize, read_units: f64, write_units: f64, early_writes: usize) -> Counted {
        let consumption = Consumption { calls, read_units, write_units, ..Consumption::default() };
        Counted { consumption, early_writes }
    }

    #[tokio::test]
    async fn calls_that_do_not_ask_for_their_cost_are_counted_with_it() {
        let (_db, proxy, client) = bench().await;
        proxy.reset(|| false);

        put(&client, "a").await;
        let read = client.get_item().table_name(TABLE).set_key(Some(item("a"))).send().await.unwrap();

        assert_eq!(read.item, Some(item("a")));
        assert_eq!(proxy.counted(), Ok(counted(2, 0.5, 1.0, 1)));
    }

    #[tokio::test]
    async fn a_transaction_costs_what_its_tables_say() {
        let (_db, proxy, client) = bench().await;
        proxy.reset(|| true);

        let write = |table: &str| {
            let put = Put::builder().table_name(table).set_item(Some(item("a"))).build().unwrap();
            TransactWriteItem::builder().put(put).build()
        };
        let actions = vec![write(TABLE), write("LinksTable")];
        client.transact_write_items().set_transact_items(Some(actions)).send().await.unwrap();

        assert_eq!(proxy.counted(), Ok(counted(1, 0.0, 4.0, 0)));
    }

    #[tokio::test]
    async fn a_refused_write_costs_too_and_stays_refused() {
        let (_db, proxy, client) = bench().await;
        proxy.reset(|| true);

        let put = client.put_item().table_name(TABLE).set_item(Some(item("a")));
        put.condition_expression("attribute_exists(pk)").send().await.unwrap_err();

        let counted = proxy.counted().unwrap().consumption;
        assert_eq!((counted.refusals, counted.write_units), (1, 1.0));
    }

    #[tokio::test]
    async fn writes_before_the_answer_are_told_from_those_after_it() {
        let (_db, proxy, client) = bench().await;

        proxy.reset(|| false);
        put(&client, "a").await;
        client.get_item().table_name(TABLE).set_key(Some(item("a"))).send().await.unwrap();
        assert_eq!(proxy.counted().unwrap().early_writes, 1);

        proxy.reset(|| true);
        put(&client, "b").await;
        assert_eq!(proxy.counted().unwrap().early_writes, 0);
    }

    #[tokio::test]
    async fn a_call_that_cannot_be_passed_on_is_reported() {
        let (proxy, address) = CountingProxy::start("http://127.0.0.1:9").await.unwrap();
        let config =
            TestDynamoDb::unreachable().config().to_builder().endpoint_url(format!("http://{address}")).build();

        let read = Client::from_conf(config).get_item().table_name(TABLE).set_key(Some(item("a"))).send().await;

        assert!(read.is_err());
        assert!(proxy.counted().is_err());
    }
}
