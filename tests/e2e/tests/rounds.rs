//! Rounds of checks that begin at once, beside those of the schedule.

use std::env;

use aws_config::BehaviorVersion;
use aws_sdk_sqs::Client;
use linklet_domain::{CheckInterval, CorrelationId, Phase, PlannedRound, Timestamp};

/// The queue of rounds.
pub struct Rounds(Client, String);

impl Rounds {
    pub async fn of_the_stack() -> Self {
        let stack = env::var("STACK_NAME").expect("who has servers on this machine checked sets STACK_NAME");
        let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
        let found = client.get_queue_url().queue_name(format!("{stack}-rounds")).send().await;
        let url = found.expect("the stack has the queue").queue_url.expect("a queue has a URL");
        Self(client, url)
    }

    /// Has all targets checked, in rounds of a minute with this name.
    pub async fn begin(&self, slot: Timestamp) {
        let interval = CheckInterval::from_seconds(60).unwrap();
        for phase in Phase::all() {
            let body = serde_json::to_string(&PlannedRound {
                phase,
                slot,
                interval,
                correlation_id: CorrelationId::generate(),
            })
            .unwrap();
            self.0.send_message().queue_url(&self.1).message_body(body).send().await.unwrap();
        }
    }
}
