use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use futures_util::future::join_all;
use linklet_domain::{LimitedRoute, RateLimit, ThrottleSubject, Timestamp, UserId, Window};
use linklet_dynamodb::{CountOutcome, Table, ThrottleTable};
use linklet_test_support::{CapacityMeter, Consumption, Fault, Faults, TestDynamoDb};
use serde_json::{Value, json};

use crate::fixture::{noon, salt};

const ADDRESS: &str = "203.0.113.9";
const ROUTE: LimitedRoute = LimitedRoute::Shorten;
const MINUTE: Duration = RateLimit::WINDOW;

fn ada() -> ThrottleSubject {
    ThrottleSubject::at(ADDRESS, &salt())
}

fn ten() -> RateLimit {
    RateLimit::per_minute(10).unwrap()
}

fn table(client: Client) -> ThrottleTable {
    ThrottleTable::new(Table::new(client, "ThrottleTable"))
}

/// How many of so many calls at this time pass, one after another.
async fn passed(table: &ThrottleTable, calls: usize, now: Timestamp) -> usize {
    let mut passed = 0;
    for _ in 0..calls {
        let outcome = table.count(ROUTE, &ada(), ten(), 1, now).await.unwrap();
        passed += usize::from(matches!(outcome, CountOutcome::Counted(_)));
    }
    passed
}

/// The counts in the table, in order.
fn hits(db: &TestDynamoDb) -> Vec<u32> {
    let mut hits: Vec<u32> =
        db.scan("ThrottleTable").iter().map(|item| item["hits"]["N"].as_str().unwrap().parse().unwrap()).collect();
    hits.sort_unstable();
    hits
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_calls_at_once_exactly_ten_pass() {
    let table = TestDynamoDb::start().calls();
    for now in [noon(), noon().plus(MINUTE)] {
        let ada = ada();
        let outcomes = join_all((0..50).map(|_| table.count(ROUTE, &ada, ten(), 1, now))).await;

        let counted = outcomes.iter().filter(|outcome| matches!(outcome, Ok(CountOutcome::Counted(_)))).count();
        let refused = outcomes.iter().filter(|outcome| matches!(outcome, Ok(CountOutcome::Refused(_)))).count();
        assert_eq!((counted, refused), (10, 40), "{outcomes:?}");
    }
}

#[tokio::test]
async fn a_window_begins_with_the_first_call_and_counts_its_calls() {
    let db = TestDynamoDb::start();
    let ends_at = noon().plus(MINUTE);

    for calls in 1..=10 {
        let now = noon().plus(Duration::from_secs(u64::from(calls) - 1));
        let counted = db.calls().count(ROUTE, &ada(), ten(), 1, now).await.unwrap();
        assert_eq!(counted, CountOutcome::Counted(Window { ends_at, hits: calls }));
    }
    let refused = db.calls().count(ROUTE, &ada(), ten(), 1, noon().plus(Duration::from_secs(59))).await.unwrap();
    assert_eq!(refused, CountOutcome::Refused(Window { ends_at, hits: 10 }));
}

#[tokio::test]
async fn a_window_ends_after_a_minute_despite_refused_calls() {
    let db = TestDynamoDb::start();
    assert_eq!(passed(&db.calls(), 12, noon()).await, 10);
    assert_eq!(hits(&db), [10], "a refused call is not counted");
    assert_eq!(passed(&db.calls(), 1, noon().plus(MINUTE - Duration::from_millis(1))).await, 0);

    assert_eq!(passed(&db.calls(), 12, noon().plus(MINUTE)).await, 10);
}

#[tokio::test]
async fn subjects_and_routes_are_counted_apart() {
    let db = TestDynamoDb::start();
    assert_eq!(passed(&db.calls(), 10, noon()).await, 10);
    let others = [
        (ROUTE, ThrottleSubject::at("203.0.113.10", &salt())),
        (ROUTE, ThrottleSubject::Person(UserId::generate())),
        (LimitedRoute::Redirect, ada()),
    ];

    for (route, subject) in &others {
        let outcome = db.calls().count(*route, subject, ten(), 1, noon()).await.unwrap();
        assert!(matches!(outcome, CountOutcome::Counted(Window { hits: 1, .. })), "{route:?} {subject:?}");
    }
    assert_eq!(hits(&db), [1, 1, 1, 10]);
}

#[tokio::test]
async fn no_address_is_stored_and_ttl_removes_what_is_over() {
    let db = TestDynamoDb::start();
    db.calls().count(ROUTE, &ada(), ten(), 1, Timestamp::now().minus(MINUTE * 5)).await.unwrap();
    let user = UserId::generate();
    db.calls().count(ROUTE, &ThrottleSubject::Person(user), ten(), 1, Timestamp::now()).await.unwrap();
    assert!(!format!("{:?}", db.scan("ThrottleTable")).contains(ADDRESS));

    db.sweep_ttl();

    let left: Vec<_> = db.scan("ThrottleTable").iter().map(|item| item["pk"]["S"].clone()).collect();
    assert_eq!(left, [format!("PERSON#{user}")]);
}

/// Lets somebody else begin a window with nine calls just before the call with this number leaves.
struct Overtaking {
    db: Arc<TestDynamoDb>,
    at: usize,
    calls: AtomicUsize,
}

impl Overtaking {
    fn at(db: &Arc<TestDynamoDb>, at: usize) -> Self {
        Self { db: db.clone(), at, calls: AtomicUsize::new(0) }
    }

    /// The key of Ada's window, and the window that is put there.
    fn window() -> Value {
        let ThrottleSubject::Address(_, hash) = ada() else { panic!("Ada is an address") };
        json!({
            "pk": {"S": format!("IP#{hash}")}, "sk": {"S": "shorten"},
            "hits": {"N": "9"}, "window_ends": {"S": noon().plus(MINUTE * 2)},
        })
    }
}

impl fmt::Debug for Overtaking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Overtaking")
    }
}

impl Intercept for Overtaking {
    fn name(&self) -> &'static str {
        "Overtaking"
    }

    fn read_before_transmit(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.at {
            self.db.put("ThrottleTable", &Self::window());
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_call_overtaken_at_the_start_counts_in_the_winners_window() {
    let db = Arc::new(TestDynamoDb::start());
    passed(&db.calls(), 1, noon()).await;
    let table = table(db.client_with(Overtaking::at(&db, 0)));

    let outcome = table.count(ROUTE, &ada(), ten(), 1, noon().plus(MINUTE)).await.unwrap();

    assert_eq!(outcome, CountOutcome::Counted(Window { ends_at: noon().plus(MINUTE * 2), hits: 10 }));
}

/// The environment knows a window that isn't there any more, and meanwhile another one begins.
#[tokio::test]
async fn what_an_environment_knows_of_a_window_does_not_decide_anything() {
    let db = Arc::new(TestDynamoDb::start());
    // The first call begins a window, the second meets no window, the third is overtaken.
    let table = table(db.client_with(Overtaking::at(&db, 2)));
    passed(&table, 1, noon()).await;
    db.remove("ThrottleTable", &db.scan("ThrottleTable")[0]);

    let outcome = table.count(ROUTE, &ada(), ten(), 1, noon()).await.unwrap();

    assert_eq!(outcome, CountOutcome::Counted(Window { ends_at: noon().plus(MINUTE * 2), hits: 10 }));
}

#[tokio::test]
async fn a_call_is_sent_once_whatever_becomes_of_it() {
    let (db, faults) = (TestDynamoDb::start(), Faults::default());
    let table = table(db.client_retrying(&faults, 3));
    passed(&table, 1, noon()).await;
    for (fault, counted) in [(Fault::AnswerLost, 2), (Fault::NotSent, 2), (Fault::Throttled, 2)] {
        faults.plan(Some((0, fault)));

        table.count(ROUTE, &ada(), ten(), 1, noon()).await.unwrap_err();

        assert_eq!((faults.calls(), hits(&db)), (1, vec![counted]), "{fault:?}");
    }
}

#[tokio::test]
async fn a_table_that_does_not_answer_is_not_waited_for() {
    // It accepts connections and never answers. Without a limit of its own, the call would never end.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let client = TestDynamoDb::unreachable();
    let table = table(Client::from_conf(client.config().to_builder().endpoint_url(endpoint).build()));

    // Half a second is the limit; the SDK's own would be several times as long.
    let given_up = tokio::time::timeout(Duration::from_secs(2), table.count(ROUTE, &ada(), ten(), 1, noon())).await;

    given_up.expect("it gives up").unwrap_err();
}

#[tokio::test]
async fn giving_a_call_back_makes_room_only_in_its_own_window() {
    let db = TestDynamoDb::start();
    passed(&db.calls(), 10, noon()).await;
    let window = Window { ends_at: noon().plus(MINUTE), hits: 10 };

    db.calls().uncount(ROUTE, &ada(), window).await.unwrap();
    assert_eq!(passed(&db.calls(), 2, noon()).await, 1);

    assert_eq!(passed(&db.calls(), 1, noon().plus(MINUTE)).await, 1);
    db.calls().uncount(ROUTE, &ada(), window).await.unwrap();
    assert_eq!(hits(&db), [1]);
}

#[tokio::test]
async fn merged_calls_join_the_window_that_lasts_whatever_the_limit() {
    let db = TestDynamoDb::start();
    passed(&db.calls(), 9, noon()).await;
    let counted = Window { ends_at: noon().plus(MINUTE * 2), hits: 30 };

    let total = db.calls().merge(ROUTE, &ada(), counted, noon().plus(Duration::from_secs(59))).await.unwrap();

    assert_eq!(total, Window { ends_at: noon().plus(MINUTE), hits: 39 });
}

#[tokio::test]
async fn merged_calls_bring_their_window_when_none_lasts() {
    let db = TestDynamoDb::start();
    passed(&db.calls(), 9, noon()).await;
    let counted = Window { ends_at: noon().plus(MINUTE + Duration::from_secs(10)), hits: 30 };

    let total = db.calls().merge(ROUTE, &ada(), counted, noon().plus(MINUTE)).await.unwrap();

    assert_eq!(total, counted);
    assert_eq!(hits(&db), [30]);
}

#[tokio::test]
async fn a_call_costs_one_unit_or_two_when_joining_anothers_window() {
    let (db, meter) = (TestDynamoDb::start(), CapacityMeter::default());
    let environment = || table(db.client_with(meter.clone()));
    let (one, other) = (environment(), environment());
    let cost = async |table: &ThrottleTable, calls, now| {
        meter.reset();
        passed(table, calls, now).await;
        meter.by_operation()
    };
    let updates = |calls, refusals| {
        let write_units = f64::from(u8::try_from(calls).unwrap());
        let consumption = Consumption { calls, refusals, write_units, ..Consumption::default() };
        BTreeMap::from([("UpdateItem".to_owned(), consumption)])
    };

    assert_eq!(cost(&one, 1, noon()).await, updates(1, 0));
    assert_eq!(cost(&one, 4, noon()).await, updates(4, 0));
    assert_eq!(cost(&other, 1, noon()).await, updates(2, 1), "it doesn't know the window yet");
    assert_eq!(cost(&other, 4, noon()).await, updates(4, 0));
    assert_eq!(cost(&one, 5, noon()).await, updates(5, 5), "refused");
    assert_eq!(cost(&environment(), 1, noon()).await, updates(1, 1), "refused by what the first update has seen");
    assert_eq!(cost(&one, 1, noon().plus(MINUTE)).await, updates(1, 0), "the next window");
}
