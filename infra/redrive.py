"""Shows or processes again what is in a dead-letter queue. `make dlq` and `make redrive` run it; read
runbooks/redrive.md first.

Messages of `analytics` and `notify` go back to their queue. What relay, watch-links or jobs could not process never
was in a queue: its records are given to the same function again, and so are those of a batch that Lambda gave up on, as long as
its stream still has them. A message is deleted only after it was taken over. AWS's own redrive task can't do that, nor does every
emulator have it, so all of them go the same way here. Linkwatch's `rounds` are only shown: what is there is over long since, and
would be left out.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.exceptions import ClientError

from .stack import outputs

HOLD_SECONDS = 120  # how long a message is ours while we work on it

OVER = ["rounds"]  # queues whose messages are worth nothing after a minute

MAX_EMPTY_PAGES = 20  # of a stream, one after another


class Failure(Exception):
    pass


def messages(queue: str, hold: int, until: float) -> Iterator[dict[str, Any]]:
    """Receives the messages that were sent before `until`, each once, so that one that comes back doesn't loop."""
    sqs = boto3.client("sqs")
    seen: set[str] = set()
    younger: list[dict[str, Any]] = []
    misses = 0
    while misses < 3:  # a single empty answer does not mean an empty queue
        found = sqs.receive_message(
            QueueUrl=queue,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=1,
            VisibilityTimeout=hold,
            AttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])
        fresh = [each for each in found if each["MessageId"] not in seen]
        seen |= {each["MessageId"] for each in fresh}
        wanted = [each for each in fresh if int(each["Attributes"]["SentTimestamp"]) <= until * 1000]
        younger += [each for each in fresh if each not in wanted]
        misses = 0 if wanted else misses + 1
        yield from wanted
    for message in younger:
        release(queue, message)


def show(queue: str) -> int:
    """Prints the messages and leaves them where they are, for a redrive to find right afterwards."""
    shown = list(messages(queue, hold=HOLD_SECONDS, until=now()))
    for message in shown:
        release(queue, message)
    for message in shown:
        sent = datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)
        print(f"--- {message['MessageId']}, sent {sent:%Y-%m-%d %H:%M:%S} UTC")
        for name, value in message.get("MessageAttributes", {}).items():
            print(f"{name}: {value.get('StringValue', '(binary)')}")
        try:
            print(json.dumps(json.loads(message["Body"]), indent=2, ensure_ascii=False))
        except ValueError:
            print(message["Body"])
    print(f"{len(shown)} message(s).")
    say_hidden(queue)
    return 0


def release(queue: str, message: dict[str, Any]) -> None:
    boto3.client("sqs").change_message_visibility(
        QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
    )


def say_hidden(queue: str) -> None:
    """Says if somebody else has messages at this moment: otherwise a queue would look empty that isn't."""
    name = "ApproximateNumberOfMessagesNotVisible"
    answer = boto3.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=[name])
    if hidden := int(answer["Attributes"][name]):
        print(f"In use by somebody else at this moment: {hidden}. Look again in {HOLD_SECONDS // 60} minutes.")


def move(source: str, destination: str) -> int:
    sqs = boto3.client("sqs")
    count = 0
    for message in messages(source, HOLD_SECONDS, until=now()):
        attributes = message.get("MessageAttributes", {})
        attributes.pop("reason", None)  # why it was put aside; it may fare better now
        sqs.send_message(QueueUrl=destination, MessageBody=message["Body"], MessageAttributes=attributes)
        sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
        count += 1
    print(f"{count} message(s) sent back.")
    say_hidden(source)
    return 0


def consume_again(source: str, functions: dict[str, str]) -> int:
    """Hands the records to the functions that they come from, which are given by the names of consumers."""
    sqs = boto3.client("sqs")
    done = 0
    kept: list[dict[str, Any]] = []
    for message in messages(source, HOLD_SECONDS, until=now()):
        try:
            records = records_of(message["Body"])
            consumer = consumer_of(message, functions)
            invoke(consumer, functions[consumer], records)
        except Failure as failure:
            print(f"{message['MessageId']} stays: {failure}", file=sys.stderr)
            kept.append(message)
            continue
        sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
        print(f"{message['MessageId']}: {len(records)} record(s) given to {consumer}")
        done += 1
    for message in kept:
        release(source, message)
    print(f"{done} message(s) done, {len(kept)} left.")
    say_hidden(source)
    return 1 if kept else 0


def consumer_of(message: dict[str, Any], functions: dict[str, str]) -> str:
    """Which function could not process it: an attribute says so, or Lambda names the function whose batch it gave up on."""
    named = message.get("MessageAttributes", {}).get("consumer", {}).get("StringValue")
    if named in functions:
        return named
    content = json.loads(message["Body"])
    arn = content.get("requestContext", {}).get("functionArn", "") if isinstance(content, dict) else ""
    return next((consumer for consumer, name in functions.items() if name in arn.split(":")), "relay")


def records_of(body: str) -> list[dict[str, Any]]:
    """The stream records that a message stands for."""
    try:
        content = json.loads(body)
    except ValueError:
        raise Failure("it is not JSON") from None
    if not isinstance(content, dict):
        raise Failure("it is neither a stream record nor a failed batch")
    if "DDBStreamBatchInfo" in content:
        return records_in_stream(content["DDBStreamBatchInfo"])
    record = content.get("record", content)  # what a function has parked: the record, alone or beside the reason
    if not isinstance(record, dict) or "dynamodb" not in record:
        raise Failure("it is neither a stream record nor a failed batch")
    return [record]


def records_in_stream(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Reads a batch that Lambda gave up on, of which it keeps only the place."""
    streams = boto3.client("dynamodbstreams")
    found: list[dict[str, Any]] = []
    try:
        iterator = streams.get_shard_iterator(
            StreamArn=batch["streamArn"],
            ShardId=batch["shardId"],
            ShardIteratorType="AT_SEQUENCE_NUMBER",
            SequenceNumber=batch["startSequenceNumber"],
        )["ShardIterator"]
        last = batch["endSequenceNumber"]
        empty_pages = 0
        while iterator:
            answer = streams.get_records(ShardIterator=iterator, Limit=100)
            for record in answer["Records"]:
                if int(record["dynamodb"]["SequenceNumber"]) > int(last):
                    return found
                found.append(as_event(record, batch["streamArn"]))
                if record["dynamodb"]["SequenceNumber"] == last:
                    return found
            # A page may be empty before the end of the batch; an open shard goes on for ever, but not without records.
            empty_pages = 0 if answer["Records"] else empty_pages + 1
            if empty_pages > MAX_EMPTY_PAGES:
                break
            iterator = answer.get("NextShardIterator")
    except ClientError as error:
        if error.response["Error"]["Code"] == "TrimmedDataAccessException":
            raise Failure("its records left the stream after 24 hours; see the runbook") from None
        raise Failure(f"its records can't be read: {error}") from None
    raise Failure("not all of its records could be found in the stream; see the runbook")


def as_event(record: dict[str, Any], stream: str) -> dict[str, Any]:
    """What Lambda makes of a record: the API's answer with plain numbers for times and base64 for bytes."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        raise TypeError(type(value))

    event = record | {"eventSourceARN": stream}
    if identity := record.get("userIdentity"):
        # The API writes these two with capitals. They say that DynamoDB itself has deleted an item.
        event["userIdentity"] = {"type": identity["Type"], "principalId": identity["PrincipalId"]}
    return json.loads(json.dumps(event, default=plain))


def invoke(consumer: str, function: str, records: list[dict[str, Any]]) -> None:
    """Lets a function work on the records. It puts what it still can't read into the dead-letter queue again."""
    answer = boto3.client("lambda").invoke(FunctionName=function, Payload=json.dumps({"Records": records}).encode())
    result = json.load(answer["Payload"])
    if answer.get("FunctionError"):
        raise Failure(f"{consumer} failed: {result.get('errorMessage') if isinstance(result, dict) else result}")
    if isinstance(result, dict) and result.get("batchItemFailures"):
        raise Failure(f"{consumer} could not process all of it; what was processed has no effect a second time")


def now() -> float:
    return datetime.now(UTC).timestamp()


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows or processes again what is in a dead-letter queue")
    parser.add_argument("action", choices=["show", "redrive"])
    parser.add_argument("queue", choices=["analytics", "notify", "relay", *OVER])
    arguments = parser.parse_args()
    if arguments.action == "redrive" and arguments.queue in OVER:
        parser.error(f"messages of {arguments.queue} are over and would be left out; see infra/runbooks/watch.md")

    stack = outputs()
    name = arguments.queue.title()
    dead = stack[f"{name}DlqUrl"]
    if arguments.action == "show":
        sys.exit(show(dead))
    if arguments.queue == "relay":
        consumers = {"relay": "Relay", "watch-links": "WatchLinks", "jobs": "Jobs"}
        functions = {consumer: stack[f"{name}FunctionName"] for consumer, name in consumers.items()}
        sys.exit(consume_again(dead, functions))
    sys.exit(move(dead, stack[f"{name}QueueUrl"]))


if __name__ == "__main__":
    main()
