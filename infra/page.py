"""Sets an alarm of the stack off, to see that somebody is paged: `make page`. CloudWatch takes it back at its next look."""

import sys

import boto3

from .stack import STACK, outputs
from .verify import resources

REASON = "A drill by `make page`. Nothing is wrong."


def main() -> None:
    topic = outputs().get("AlarmTopicArn")
    if topic is None:
        sys.exit("The stack has no alarms: deploy with Monitoring=essential or full.")
    pages = boto3.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
    found = [each for page in pages for each in page["Subscriptions"]]
    for each in found:
        waits = each["SubscriptionArn"] == "PendingConfirmation"
        print(f"{each['Protocol']} {each['Endpoint']}{': not confirmed yet, so nothing arrives there' if waits else ''}")
    if not any(each["SubscriptionArn"].startswith("arn:") for each in found):
        sys.exit("Nobody is told of alarms: deploy with AlarmEmail, and confirm the mail that SNS sends.")
    alarms = [each for each in resources(boto3.client("cloudformation"), STACK) if each["ResourceType"] == "AWS::CloudWatch::Alarm"]
    # That of a dead-letter queue, if there is one: others would take back a gradual deployment.
    alarms.sort(key=lambda each: "Dlq" not in each["LogicalResourceId"])
    alarm = alarms[0]["PhysicalResourceId"]
    boto3.client("cloudwatch").set_alarm_state(AlarmName=alarm, StateValue="ALARM", StateReason=REASON)
    print(f"{alarm} is set off. Each of these gets a message now, and another one when CloudWatch takes it back.")


if __name__ == "__main__":
    main()
