//! Small floods, in which every count is compared. `make simulate` plays the large ones.

use std::time::Duration;

use linklet_simulate::play;
use linklet_simulate::traces::{self, Trace};

/// A trace, as long as this.
fn shortened(name: &str, lasts: u64, waiting: usize) -> Trace {
    let found = traces::all().into_iter().find(|trace| trace.name == name);
    let Some(mut trace) = found else { panic!("there is no trace {name}") };
    trace.arrivals.lasts = Duration::from_secs(lasts);
    trace.waiting = waiting;
    trace
}

fn assert_faultless(trace: &Trace) -> serde_json::Value {
    let report = play(trace);

    assert!(report.faults.is_empty(), "{:?}", report.faults);
    assert!(report.numbers["clicks"].as_u64() > Some(1_000), "{}", report.numbers);
    report.numbers
}

#[test]
fn each_click_of_an_ordinary_minute_is_counted_once() {
    let numbers = assert_faultless(&shortened("ordinary-day", 1, 0));

    assert_eq!(numbers["dead"], 0);
    assert!(numbers["late"][1].as_f64() < Some(60.0), "{numbers}");
}

#[test]
fn a_viral_link_is_counted_in_parts_and_rows_stay_small() {
    let numbers = assert_faultless(&shortened("viral", 4, 0));

    assert!(numbers["counting_writes"].as_f64() < numbers["clicks"].as_f64().map(|clicks| 0.15 * clicks), "{numbers}");
}

#[test]
fn clicks_that_wait_keep_no_redirect_from_an_account_of_ten_executions() {
    let numbers = assert_faultless(&shortened("new-account", 10, 5_000));

    assert_eq!(numbers["refused"], 0, "{numbers}");
}

#[test]
fn clicks_are_stored_and_counted_after_an_outage() {
    let mut trace = shortened("outage", 20, 0);
    trace.outage = Duration::from_secs(3)..Duration::from_secs(12);

    let numbers = assert_faultless(&trace);

    assert!(numbers["parked"].as_u64() > Some(0), "{numbers}");
}
