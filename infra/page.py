"""Sets an alarm of the stack off for each topic, to see that somebody hears of it: `make page`. CloudWatch takes it back at its next look."""

import sys
from typing import Any

import boto3

from .stack import STACK, outputs
from .verify import resources

REASON = "A drill by `make page`. Nothing is wrong."
TOPICS = ("AlarmTopicArn", "TicketTopicArn")


def listeners(topic: str) -> int:
    """How many hear of a topic's alarms. Prints all who were asked."""
    pages = boto3.client("sns").get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
    found = [each for page in pages for each in page["Subscriptions"]]
    for each in found:
        waits = each["SubscriptionArn"] == "PendingConfirmation"
        print(f"{each['Protocol']} {each['Endpoint']}{': not confirmed yet, so nothing arrives there' if waits else ''}")
    return sum(each["SubscriptionArn"].startswith("arn:") for each in found)


def alarms_of_stack() -> list[dict[str, Any]]:
    """Those of the child stack first, since the others would take back a gradual deployment."""
    found = resources(boto3.client("cloudformation"), STACK)
    ours = {each["PhysicalResourceId"] for each in found if each["ResourceType"] == "AWS::CloudWatch::Alarm"}
    pages = boto3.client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{STACK}-")
    alarms = [each for page in pages for each in page["MetricAlarms"] if each["AlarmName"] in ours]
    return sorted(alarms, key=lambda each: "-Observability-" not in each["AlarmName"])


def main() -> None:
    ends, alarms = outputs(), alarms_of_stack()
    if not alarms:
        sys.exit("The stack has no alarms: deploy with Monitoring=essential or full.")
    for topic in [ends[name] for name in TOPICS]:
        print(f"{topic}:")
        if not listeners(topic):
            sys.exit("Nobody is told of its alarms: deploy with AlarmEmail, and confirm the mail that SNS sends.")
        for alarm in [each["AlarmName"] for each in alarms if topic in each["AlarmActions"]][:1]:
            boto3.client("cloudwatch").set_alarm_state(AlarmName=alarm, StateValue="ALARM", StateReason=REASON)
            print(f"{alarm} is set off. Each of these gets a message now, and another one when CloudWatch takes it back.")


if __name__ == "__main__":
    main()
