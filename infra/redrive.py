"""Shows or processes again what is in a dead-letter queue, or deletes one message. `make dlq` and `make redrive` run it; read
runbooks/redrive.md first.

Messages of `analytics` and `notify` go back to their queue. What relay, watch-links or jobs could not process never
was in a queue: its records are given to the same function again, and so are those of a batch that Lambda gave up on, as long as
its stream still has them. A message is deleted only after it was taken over. AWS's own redrive task can't do that, nor does every
emulator have it, so all of them go the same way here. Linkwatch's `ticks` are only shown: what is there is over long since, and
would be left out.
"""

import argparse
import base64
import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.exceptions import ClientError

from .local.installer import Failure
from .stack import outputs

HOLD_SECONDS = 120  # how long a message is ours while we work on it
OVER = ["ticks"]  # queues whose messages are worth nothing after a minute
MAX_EMPTY_PAGES = 20  # of a stream, one after another

Message = dict[str, Any]


def messages(queue: str) -> Iterator[Message]:
    """Receives the messages that are there now, each once, so that one that comes back doesn't loop."""
    sqs, now = boto3.client("sqs"), datetime.now(UTC).timestamp() * 1000
    seen: set[str] = set()
    younger: list[Message] = []
    misses = 0
    while misses < 3:  # a single empty answer does not mean an empty queue
        found = sqs.receive_message(
            QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1, VisibilityTimeout=HOLD_SECONDS,
            AttributeNames=["SentTimestamp", "ApproximateReceiveCount"], MessageAttributeNames=["All"],
        ).get("Messages", [])
        fresh = [each for each in found if each["MessageId"] not in seen]
        seen |= {each["MessageId"] for each in fresh}
        wanted = [each for each in fresh if int(each["Attributes"]["SentTimestamp"]) <= now]
        younger += [each for each in fresh if each not in wanted]
        misses = 0 if wanted else misses + 1
        yield from wanted
    release(queue, younger)


def release(queue: str, held: list[Message]) -> None:
    """Those that we have held for too long are there again already, which a batch only reports."""
    sqs = boto3.client("sqs")
    for start in range(0, len(held), 10):
        some = enumerate(held[start : start + 10])
        entries = [{"Id": str(number), "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0} for number, message in some]
        sqs.change_message_visibility_batch(QueueUrl=queue, Entries=entries)


def show(queue: str) -> None:
    """Prints the messages and leaves them where they are, for a redrive to find right afterwards."""
    shown = []
    for message in messages(queue):
        shown.append(message)
        sent = datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)
        print(f"--- {message['MessageId']}, sent {sent:%Y-%m-%d %H:%M:%S} UTC")
        for name, value in message.get("MessageAttributes", {}).items():
            print(f"{name}: {value.get('StringValue', '(binary)')}")
        try:
            print(json.dumps(json.loads(message["Body"]), indent=2, ensure_ascii=False))
        except ValueError:
            print(message["Body"])
    release(queue, shown)
    print(f"{len(shown)} message(s).")


def delete(queue: str, message_id: str) -> bool:
    """Deletes a message that nothing can process, and shows it. Whether it was there."""
    held, is_there = [], False
    for message in messages(queue):
        if is_there := message["MessageId"] == message_id:
            print(message["Body"])
            boto3.client("sqs").delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
            break
        held.append(message)
    release(queue, held)
    print(f"{int(is_there)} message(s) deleted.")
    return is_there


def redrive(queue: str, take: Callable[[Message], str], comes_back: bool = False) -> bool:
    """Deletes each message that `take` takes over, which says who has it now. Whether that are all of them, and, if what fails again
    comes back at once, none has come back."""
    taken, kept = 0, []
    for message in messages(queue):
        try:
            print(f"{message['MessageId']}: {take(message)}")
            boto3.client("sqs").delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
            taken += 1
        except Failure as failure:
            print(f"{message['MessageId']} stays: {failure}", file=sys.stderr)
            kept.append(message)
    known = {message["MessageId"] for message in kept}
    back = [message for message in messages(queue) if message["MessageId"] not in known] if comes_back and taken else []
    release(queue, kept + back)
    again = f", of which {len(back)} came back or arrived" if back else ""
    print(f"{taken} message(s) sent back{again}, {len(kept) + len(back)} left.")
    return not kept and not back


def say_hidden(queue: str) -> None:
    """Says if somebody else has messages at this moment: otherwise a queue would look empty that isn't."""
    name = "ApproximateNumberOfMessagesNotVisible"
    answer = boto3.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=[name])
    if hidden := int(answer["Attributes"][name]):
        print(f"In use by somebody else at this moment: {hidden}. Look again in {HOLD_SECONDS // 60} minutes.")


def send(message: Message, queue: str) -> str:
    attributes = message.get("MessageAttributes", {})
    attributes.pop("reason", None)  # why it was put aside; it may fare better now
    boto3.client("sqs").send_message(QueueUrl=queue, MessageBody=message["Body"], MessageAttributes=attributes)
    return "sent to its queue"


def consume(message: Message, functions: dict[str, str]) -> str:
    """Hands its records to the function that they come from, which is one of those that are given by the names of consumers. It puts
    what it still can't read into the dead-letter queue again."""
    records, consumer = records_of(message["Body"]), consumer_of(message, functions)
    payload = json.dumps({"Records": records}).encode()
    answer = boto3.client("lambda").invoke(FunctionName=functions[consumer], Payload=payload)
    result = json.load(answer["Payload"])
    if answer.get("FunctionError"):
        raise Failure(f"{consumer} failed: {result.get('errorMessage') if isinstance(result, dict) else result}")
    if isinstance(result, dict) and result.get("batchItemFailures"):
        raise Failure(f"{consumer} could not process all of it; what was processed has no effect a second time")
    return f"{len(records)} record(s) given to {consumer}"


def consumer_of(message: Message, functions: dict[str, str]) -> str:
    """Which function could not process it: an attribute says so, or Lambda names the function whose batch it gave up on."""
    named = message.get("MessageAttributes", {}).get("consumer", {}).get("StringValue")
    if named:
        if named not in functions:
            raise Failure(f"it comes from {named}, which the stack has no output for")
        return named
    content = json.loads(message["Body"])
    arn = content.get("requestContext", {}).get("functionArn", "") if isinstance(content, dict) else ""
    return next((consumer for consumer, name in functions.items() if name in arn.split(":")), "relay")


def functions_of(stack: dict[str, str]) -> dict[str, str]:
    """The functions that the stack's outputs name, by the names of their folders, such as watch-links."""
    named = ((re.match(r"(\w+)FunctionName$", output), function) for output, function in stack.items())
    return {re.sub(r"(?<=.)(?=[A-Z])", "-", match[1]).lower(): function for match, function in named if match}


def records_of(body: str) -> list[dict[str, Any]]:
    """The stream records that a message stands for."""
    content: Any = None
    with contextlib.suppress(ValueError):
        content = json.loads(body)
    if isinstance(content, dict) and "DDBStreamBatchInfo" in content:
        return records_in_stream(content["DDBStreamBatchInfo"])
    # What a function has parked: the record, alone or beside the reason.
    record = content.get("record", content) if isinstance(content, dict) else None
    if not isinstance(record, dict) or "dynamodb" not in record:
        raise Failure("it is neither a stream record nor a failed batch")
    return [record]


def records_in_stream(batch: dict[str, Any]) -> list[dict[str, Any]]:
    """Reads a batch that Lambda gave up on, of which it keeps only the place."""
    streams = boto3.client("dynamodbstreams")
    found: list[dict[str, Any]] = []
    try:
        place = {"StreamArn": batch["streamArn"], "ShardId": batch["shardId"], "SequenceNumber": batch["startSequenceNumber"]}
        iterator = streams.get_shard_iterator(ShardIteratorType="AT_SEQUENCE_NUMBER", **place)["ShardIterator"]
        last, empty_pages = int(batch["endSequenceNumber"]), 0
        while iterator:
            answer = streams.get_records(ShardIterator=iterator, Limit=100)
            for record in answer["Records"]:
                number = int(record["dynamodb"]["SequenceNumber"])
                if number <= last:
                    found.append(as_event(record, batch["streamArn"]))
                if number >= last:
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Shows or processes again what is in a dead-letter queue")
    parser.add_argument("action", choices=["show", "redrive"])
    parser.add_argument("queue", choices=["analytics", "notify", "relay", *OVER])
    parser.add_argument("--delete", metavar="MESSAGE_ID", help="delete this message instead, which nothing can process")
    arguments = parser.parse_args()
    if arguments.action == "redrive" and arguments.queue in OVER:
        parser.error(f"messages of {arguments.queue} are over and would be left out; see infra/runbooks/watch.md")

    stack, name, done = outputs(), arguments.queue.title(), True
    dead = stack[f"{name}DlqUrl"]
    if arguments.delete:
        done = delete(dead, arguments.delete)
    elif arguments.action == "show":
        show(dead)
    elif arguments.queue == "relay":
        done = redrive(dead, lambda message: consume(message, functions_of(stack)), comes_back=True)
    else:
        done = redrive(dead, lambda message: send(message, stack[f"{name}QueueUrl"]))
    say_hidden(dead)
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
