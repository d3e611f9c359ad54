//! What watches over the stack. Needs `STACK_NAME` and AWS credentials (any will do for an emulator).

use std::{collections::BTreeSet, env};

use aws_config::BehaviorVersion;
use aws_sdk_cloudwatch::Client;
use linklet_test_support::Template;
use serde_json::Value;

/// CloudFormation makes an alarm's name of the stack's, the logical id, and something random.
fn logical_id<'n>(stack: &str, alarm_name: &'n str) -> Option<&'n str> {
    alarm_name.strip_prefix(stack)?.strip_prefix('-')?.split('-').next()
}

#[tokio::test]
async fn every_alarm_is_deployed_and_on_the_dashboard() {
    let Ok(stack) = env::var("STACK_NAME") else {
        eprintln!("skipped: STACK_NAME is not set, so CloudWatch can't be asked");
        return;
    };
    let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
    let client = Client::new(&config);
    let template = Template::load();
    let expected: BTreeSet<_> = template.of_type("AWS::CloudWatch::Alarm").map(|(id, _)| id).collect();

    let answer = client.describe_alarms().alarm_name_prefix(format!("{stack}-")).max_records(100).send().await.unwrap();
    let dashboard = format!("{stack}-{}", config.region().unwrap());
    let body = client.get_dashboard().dashboard_name(dashboard).send().await.unwrap().dashboard_body.unwrap();

    let body: Value = serde_json::from_str(&body).unwrap();
    let shown: BTreeSet<_> = body["widgets"][0]["properties"]["alarms"].as_array().unwrap().iter().map(text).collect();
    let alarms: Vec<_> =
        answer.metric_alarms().iter().filter(|alarm| shown.contains(alarm.alarm_arn().unwrap())).collect();
    let deployed: BTreeSet<_> =
        alarms.iter().filter_map(|alarm| logical_id(&stack, alarm.alarm_name().unwrap())).collect();
    assert_eq!(deployed, expected);
    for alarm in alarms {
        assert!(alarm.actions_enabled().unwrap_or_default(), "{alarm:?}");
        assert!(alarm.alarm_actions().iter().any(|action| action.contains("AlarmTopic")), "{alarm:?}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
