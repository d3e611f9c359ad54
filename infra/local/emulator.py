"""Starts the AWS emulator, closer to AWS wherever a difference would hide or invent an error of ours.

Written for the version pinned in infra/requirements/emulator.txt, whose parts it names; `system.py` runs it with the
emulator's own Python. If an update of the emulator renames one of them, this fails at once instead of doing nothing.
"""

import copy
import http.server
import json
import mimetypes
import re
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.core.responses import request_scope
from ministack.services import apigateway, dynamodb, eventbridge, lambda_svc, ses_v2
from ministack.services.cloudformation import engine, provisioners

SOURCES = Path(__file__).resolve().parents[2] / "functions" / "web" / "app"
Map = dict[str, Any]

HANDLERS = provisioners._RESOURCE_HANDLERS


def instead_of(place: Any, *names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replaces these functions of a module or a dictionary by one that gets the replaced one first."""
    functions = place if isinstance(place, dict) else vars(place)

    def replace(function: Callable[..., Any]) -> Callable[..., Any]:
        functions.update({name: partial(function, functions[name]) for name in names})
        return function

    return replace


# The Runtime API writes the headers of an invocation and its body separately. By Nagle's algorithm, the body would wait until the
# function has acknowledged the headers, which it delays by 40 ms from its second invocation on.
http.server.BaseHTTPRequestHandler.disable_nagle_algorithm = True


@instead_of(lambda_svc, "_execute_function")
def retry_partly_failed_stream_batches(execute: Callable[..., Map], function: Map, event: Any) -> Map:
    """A stream's consumer answers with the record from which it wants to go on. The emulator does not look at that and
    moves on, so the records would be lost. Here, such a batch fails as a whole and is delivered again as a whole: more
    than AWS repeats, which a consumer has to bear anyway."""
    result = execute(function, event)
    body = result.get("body")
    records = event.get("Records") if isinstance(event, dict) else None
    is_from_stream = isinstance(records, list) and records[0].get("eventSource") == "aws:dynamodb"
    if is_from_stream and isinstance(body, dict) and body.get("batchItemFailures"):
        error = {"errorType": "PartialFailure", "errorMessage": "the batch is delivered again"}
        return result | {"error": True, "body": error}
    return result


@instead_of(iam_actions, "extract_iam_action")
def name_actions_as_iam_does(extract: Callable[..., str | None], *arguments: Any, **options: Any) -> str | None:
    """To send or delete messages in batches takes the same permission as to do it singly. And who may send mail as whom
    depends on identities that the emulator has no notion of, so here everyone may."""
    action = extract(*arguments, **options)
    if action == "ses:SendEmail":
        return None
    return action.removesuffix("Batch") if action and action.startswith("sqs:") else action


# Roles allow parts of a table by the partition keys that a call names (dynamodb:LeadingKeys). The emulator doesn't tell policies
# which these are, so they would allow all.


@instead_of(iam_actions, "dynamodb_service_context")
def tell_the_keys_of_a_call(context_of: Callable[[bytes], Map], body: bytes) -> Map:
    return context_of(body) | with_leading_keys(keys_of_call(json.loads(body or b"{}")))


@instead_of(iam_actions, "dynamodb_transaction_checks")
def keep_the_keys_of_a_transaction(checks_of: Callable[..., list[tuple[str, str]]], action: str, body: bytes, *place: str) -> Any:
    checks = checks_of(action, body, *place)
    details = [detail for item in json.loads(body)["TransactItems"] for detail in item.values()] if checks else []
    return [(ItemAction(name, keys_of_call(detail)), table) for (name, table), detail in zip(checks, details, strict=True)]


@instead_of(iam_evaluator, "enforce")
def tell_the_keys_of_a_transaction(enforce: Callable[..., Any], caller: str, action: str, *rest: Any, **options: Any) -> Any:
    if isinstance(action, ItemAction):
        options["service_context"] = options["service_context"] | with_leading_keys(action.keys)
    return enforce(caller, action, *rest, **options)


class ItemAction(str):
    """An action of a transaction, with the keys that it names."""

    keys: list[str]

    def __new__(cls, name: str, keys: list[str]) -> "ItemAction":
        action = super().__new__(cls, name)
        action.keys = keys
        return action


def with_leading_keys(keys: list[str]) -> dict[str, list[str]]:
    return {"dynamodb:LeadingKeys": keys} if keys else {}


def keys_of_call(request: Map) -> list[str]:
    """The partition keys that a call names, or an action of a transaction: in its key or item, in those of its batch, or in the
    first comparison of its query."""
    items = [request.get("Key"), request.get("Item")]
    for batch in request.get("RequestItems", {}).values():
        if isinstance(batch, dict):
            items += batch["Keys"]
        else:
            items += [write.get("Key") or write.get("Item") for member in batch for write in member.values()]
    keys = [item["pk"]["S"] for item in items if item and "pk" in item]
    queried = re.match(r"\S+ = (:\w+)", request.get("KeyConditionExpression", ""))
    if queried:
        keys.append(request["ExpressionAttributeValues"][queried[1]]["S"])
    return keys


@instead_of(provisioners, "_cw_metric_alarm_record")
def keep_alarms_on_metric_math(record: Callable[[str, Map], Any], name: str, properties: Map) -> Any:
    """The emulator refuses an alarm that is computed from several metrics, and the whole stack with it. Here it exists,
    on a metric that nobody writes, so it never goes off."""
    if properties.get("Metrics"):
        properties = properties | {"Metrics": None, "Namespace": "metric math", "MetricName": "none"}
    return record(name, properties)


@instead_of(lambda_svc, "_sqs_esm_concurrency")
def count_consumers_in_numbers(concurrency: Callable[..., int], source: Map, *others: Any, **options: Any) -> int:
    """CloudFormation makes a number of a limit that a template chooses from a list of texts. The emulator compares the text."""
    scaling = source.get("ScalingConfig") or {}
    if limit := scaling.get("MaximumConcurrency"):
        source = source | {"ScalingConfig": scaling | {"MaximumConcurrency": int(limit)}}
    return concurrency(source, *others, **options)


@instead_of(eventbridge, "_invoke_target")
def tell_the_scheduled_time(invoke: Callable[..., None], target: Map, event: Map, *rest: Any) -> None:
    """The Scheduler replaces a placeholder in a target's input by the time that a call is meant for. The emulator calls some
    seconds later than that and leaves the placeholder alone."""
    placeholder = "<aws.scheduler.scheduled-time>"
    if event.get("Source") == "aws.scheduler" and placeholder in target.get("Input", ""):
        minute = datetime.fromtimestamp(event["Time"] // 60 * 60, UTC)
        target = target | {"Input": target["Input"].replace(placeholder, f"{minute:%Y-%m-%dT%H:%M:%SZ}")}
    invoke(target, event, *rest)


@instead_of(apigateway, "_cors_response_headers", "_cors_preflight_response")
def read_cors_as_templates_spell_it(answer: Callable[[Map, str], Any], configuration: Map, origin: str) -> Any:
    """The emulator keeps a template's CorsConfiguration as it is, and looks in it for members that begin in lower case. A list
    that is a parameter arrives as text."""
    lower = {name[:1].lower() + name[1:]: value for name, value in configuration.items()}
    if isinstance(lower.get("allowOrigins"), str):
        lower["allowOrigins"] = lower["allowOrigins"].split(",")
    return answer(lower, origin)


# The emulator ignores a template's TTL, and what it deletes by TTL leaves no stream record. Here, an item is deleted within a minute
# after its time, and the stream says so.


@instead_of(HANDLERS["AWS::DynamoDB::Table"], "create")
def create_with_ttl(create: Callable[..., Any], logical_id: str, properties: Map, stack: str) -> Any:
    created = create(logical_id, properties, stack)
    if specification := properties.get("TimeToLiveSpecification"):
        dynamodb._update_ttl({"TableName": created[0], "TimeToLiveSpecification": specification})
    return created


@instead_of(dynamodb, "_remove_item")
def remove_and_record(remove: Callable[..., None], table: Map, partition: str, sort: str) -> None:
    item = table["items"].get(partition, {}).get(sort)
    remove(table, partition, sort)
    if item and threading.current_thread().name == "dynamodb-ttl-reaper":
        region, account = table["TableArn"].split(":")[3:5]
        with request_scope(account, region):
            dynamodb._emit_stream_event(table["TableName"], "REMOVE", item, None)


@instead_of(dynamodb, "_restore_table_to_point_in_time")
def restore_what_was_backed_up(restore: Callable[[Map], Any], request: Map) -> Any:
    """The emulator restores a table as it is now. Here it has what its last backup by that time has."""
    answer = restore(request)
    of_table = [each for each in dynamodb._backups.values() if each["SourceTableDetails"]["TableName"] == request["SourceTableName"]]
    by_then = [each for each in of_table if each["BackupDetails"]["BackupCreationDateTime"] <= request["RestoreDateTime"]]
    if answer[0] == 200 and by_then:
        table = dynamodb._tables[request["TargetTableName"]]
        table["items"] = defaultdict(dict, copy.deepcopy(by_then[-1]["_items_snapshot"]))
        dynamodb._items_replaced(table)
    return answer


# A log group without a name gets one of its own with each deployment. The emulator's would be the same each time, and take over what
# an earlier stack has left.


@instead_of(HANDLERS["AWS::Logs::LogGroup"], "create")
def create_with_name(create: Callable[..., Any], logical_id: str, properties: Map, stack: str) -> Any:
    name = properties.get("LogGroupName") or f"{stack}-{logical_id}-{secrets.token_hex(6)}"
    return create(logical_id, properties | {"LogGroupName": name}, stack)


@instead_of(HANDLERS["AWS::Logs::LogGroup"], "update")
def update_with_name(update: Callable[..., Any], group: str, old: Map, new: Map, *rest: Any) -> Any:
    return update(group, old, {"LogGroupName": group} | new, *rest)


@instead_of(provisioners, "_check_nested_stack_capabilities")
def expand_the_loops_of_child_stacks(check: Callable[..., None], parent: str, child: Map) -> None:
    """The emulator applies the transforms of a template, but none of a child stack's, as CloudFormation does."""
    check(parent, child)
    expanded = engine._apply_transforms(child)
    if isinstance(expanded, engine._TransformFailed):
        raise ValueError(expanded.error)
    child.clear()
    child.update(expanded)


def fullmatch(pattern: str, path: str) -> re.Match[str] | None:
    """The emulator matches `{path+}` with a dot, which stops at a line end, and takes nothing less than one character. A path
    with `%0A`, or one that ends where `{path+}` begins, would get the emulator's 404 and never reach the function whose route
    it is."""
    return re.fullmatch(pattern.replace("(.+)", "(.*)"), path, re.DOTALL)


apigateway.re = SimpleNamespace(**(vars(re) | {"fullmatch": fullmatch}))


@instead_of(app, "_parse_execute_api_url")
def keep_the_slash_behind_a_single_name(parse: Callable[..., Any], host: str, path: str) -> tuple[str, str, str] | None:
    """The emulator takes `<API>/app/` for the root of a stage named `app`, and, as there is none, for `/app`. To API Gateway,
    these are two paths."""
    parsed = parse(host, path)
    if parsed and parsed[1:] != ("$default", "/") and parsed[2] == "/" and path.endswith("/"):
        return parsed[0], "$default", f"/{parsed[1]}/"
    return parsed


@instead_of(ses_v2, "_message_rejection")
def take_mail_to_everybody(reject: Callable[[None], Any], _sender: str | None, _recipients: object = ()) -> Any:
    """SES takes mail from and to addresses that it has verified, as long as an account is in its sandbox. Here no mail leaves the
    machine, so it takes all: `make mails` prints them."""
    return reject(None)


@instead_of(apigateway, "handle_execute")
async def serve_the_sources_of_the_web_application(
    execute: Callable[..., Any], api: str, stage: str, path: str, method: str, headers: dict[str, str], *rest: Any, **options: Any
) -> Any:
    """At /app there is the application that is deployed, and at /app-source the one that is being edited. The latter's files have
    other addresses than the deployed ones, which are in a folder named by their hash."""
    file = (SOURCES / path.removeprefix("/app/")).resolve()
    if path.startswith("/app/") and file.is_relative_to(SOURCES) and file.is_file():
        kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
        return 200, {"Content-Type": kind, "Cache-Control": "no-cache"}, file.read_bytes()
    if path != "/app-source":
        return await execute(api, stage, path, method, headers, *rest, **options)
    # The headers are those of the deployed page, whole and not compressed.
    asked = {name: value for name, value in headers.items() if name not in ("accept-encoding", "if-none-match")}
    status, sent, _ = await execute(api, stage, "/app", method, asked, *rest, **options)
    return status, sent, (SOURCES / "index.html").read_bytes()


if __name__ == "__main__":
    app.main()
