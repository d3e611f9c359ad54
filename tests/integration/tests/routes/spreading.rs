//! From when on a redirect stores clicks wide, and what comes before that.

use linklet_lambda::following::{ClickRecording, Recorder};

use crate::prelude::*;

/// An environment that has stored nothing yet.
struct Environment {
    db: TestDynamoDb,
    /// Of the calls to ClicksTable.
    faults: Faults,
    redirect: Redirect,
}

impl Environment {
    async fn start(recording: ClickRecording) -> Self {
        let (db, faults) = (TestDynamoDb::start(), Faults::default());
        db.store(&LinkBuilder::new("launch").build()).await;
        let redirect = fixture::redirect(&db);
        let clicks = ClicksTable::new(db.table_with(faults.clone(), "ClicksTable"));
        let redirect = Redirect { recorder: Recorder { clicks, ..redirect.recorder }, recording, ..redirect };
        Self { db, faults, redirect }
    }

    /// So many follow the link, one each millisecond.
    async fn follow(&self, count: u64) {
        let noon = Timestamp::parse("2026-03-02T12:00:00Z").unwrap();
        for number in 0..count {
            let at = noon.plus(Duration::from_millis(number));
            assert_eq!(RequestBuilder::new("GET", "/launch").at(at).send_to(&self.redirect).await.status, REDIRECT);
        }
    }

    fn is_marked(&self) -> bool {
        self.db.scan("ClicksTable").iter().any(|row| row["sk"]["S"] == "~wide")
    }

    /// How many clicks are stored, and how many of them where only wide ones are.
    fn clicks(&self) -> (usize, usize) {
        let rows = self.db.scan("ClicksTable");
        let is_wide = |row: &&Value| row["pk"]["S"].as_str().unwrap().rsplit('#').next().unwrap().len() == 2;
        (rows.iter().filter(|row| row["sk"]["S"] != "~wide").count(), rows.iter().filter(is_wide).count())
    }
}

#[tokio::test]
async fn clicks_are_stored_wide_from_the_32nd_within_a_second_on() {
    for recording in [ClickRecording::AfterResponse, ClickRecording::Inline] {
        let environment = Environment::start(recording).await;
        environment.follow(31).await;
        assert_eq!((environment.is_marked(), environment.clicks()), (false, (31, 0)));

        environment.follow(100).await;

        let (all, wide) = environment.clicks();
        assert!(environment.is_marked() && all == 131 && wide > 40, "{recording:?}: {wide} of {all}");
    }
}

#[tokio::test]
async fn the_marker_comes_before_the_first_click_that_is_stored_wide() {
    let environment = Environment::start(ClickRecording::AfterResponse).await;
    environment.faults.plan_all((32..1_000).map(|call| (call, Fault::NotSent)));

    environment.follow(32).await;

    assert_eq!((environment.is_marked(), environment.clicks()), (true, (31, 0)));
}
